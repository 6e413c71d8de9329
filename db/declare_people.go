package db

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// seats are who may sign in to the workspaces that a run is about.
type seats map[model.TenantID]team

const sqlDeclaredSeats = `
	SELECT w.id AS workspace, w.slug, u.id, u.name, u.email, m.role FROM control.memberships m
	  JOIN control.users u ON u.id = m.user_id AND u.disabled_at IS NULL
	  JOIN control.workspaces w ON w.id = m.workspace_id
	 WHERE w.slug = ANY ($1) OR w.id IN (SELECT o.workspace_id FROM control.memberships o JOIN control.users x ON x.id = o.user_id WHERE x.email = ANY ($2))`

// seats reads the members of the workspaces that are named, and of those that a
// named user belongs to: shutting somebody out is felt there too.
func (d *declaring) seats(ctx context.Context, tx pgx.Tx) (seats, error) {
	slugs, users := []string{}, []string{}
	for _, w := range d.doc.Workspaces {
		slugs = append(slugs, w.Slug)
	}
	for _, u := range d.doc.Users {
		if u.Disabled != nil {
			users = append(users, u.Email)
		}
	}
	rows, err := tx.Query(ctx, sqlDeclaredSeats, slugs, users)
	if err != nil {
		return nil, err
	}
	all := seats{}
	var at model.TenantID
	var slug string
	var m teammate
	_, err = pgx.ForEachRow(rows, []any{&at, &slug, &m.ID, &m.Name, &m.Email, &m.Role}, func() error {
		if all[at] == nil {
			all[at] = team{}
			d.slugs[at] = slug
		}
		all[at][m.ID] = m
		return nil
	})
	return all, err
}

// owners are the addresses of a team's owners, sorted.
func (t team) owners() (list []string) {
	for _, m := range t {
		if m.Role == model.Owner {
			list = append(list, m.Email)
		}
	}
	slices.Sort(list)
	return list
}

// ownersStay refuses to take its last owner from a workspace: nobody could let
// anybody in any more, or do what only an owner may.
func (d *declaring) ownersStay() {
	for _, id := range slices.Sorted(maps.Keys(d.before)) {
		if had := d.before[id].owners(); len(had) > 0 && len(d.after[id].owners()) == 0 {
			d.refuse(d.whereSaid(d.slugs[id], had), "this takes the last owner, %s, from the workspace %s; make somebody else an owner %s",
				strings.Join(had, " and "), d.slugs[id], d.wayOut("in the same file", "first"))
		}
	}
}

// whereSaid finds where the files say something of one of the people in a
// workspace: as a member, as a user, else the workspace itself.
func (d *declaring) whereSaid(slug string, emails []string) string {
	at := ""
	for _, w := range d.doc.Workspaces {
		if w.Slug != slug {
			continue
		}
		at = w.At
		for _, m := range w.Members {
			if slices.Contains(emails, m.User) {
				return m.At
			}
		}
	}
	for _, u := range d.doc.Users {
		if slices.Contains(emails, u.Email) && u.Disabled != nil {
			return u.At
		}
	}
	return at
}

// felt are the workspaces that nobody named and whose members changed all the same.
func (d *declaring) felt() []model.TenantID {
	list := []model.TenantID{}
	for id := range d.before {
		if !maps.Equal(d.before[id], d.after[id]) {
			list = append(list, id)
		}
	}
	return list
}
