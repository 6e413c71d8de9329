package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// PlanPost keeps the time that the writer has in mind with what is not on its
// way yet: calendar and approvers see it, and it is there to be confirmed once
// the post is approved. It schedules nothing. A zero when takes the time away.
// It refuses a time that has passed, is too far ahead or lies in a blackout.
func (sc *Scope) PlanPost(ctx context.Context, id model.PostID, seen int, when model.When) (page PostPage, err error) {
	defer wrap(&err, "plan post %d", id)
	return sc.change(ctx, id, seen, func(tx pgx.Tx, page PostPage) error {
		if err := sc.needAll(model.PostsWrite, page); err != nil {
			return err
		}
		if !when.At.IsZero() {
			if err := sc.timely(when); err != nil {
				return err
			}
		}
		return sc.wish(ctx, tx, id, page.Targets, when)
	})
}

// wish keeps a time in mind with targets of a post; a zero when forgets it.
func (sc *Scope) wish(ctx context.Context, tx pgx.Tx, post model.PostID, targets []Target, when model.When) error {
	note := note{verb: "planned", subject: "post", id: int64(post), client: onlyClient(targets), detail: auditWhen(when, len(targets))}
	if when.At.IsZero() {
		note.verb = "unplanned"
	} else if err := sc.outsideBlackouts(ctx, tx, clientsOf(targets), when); err != nil {
		return err
	}
	if err := sc.wishTimes(ctx, tx, timesOf(targets, when)); err != nil {
		return err
	}
	return sc.audit(ctx, tx, note)
}

// Editable refuses with the reason why the actor cannot write this post now.
func (sc *Scope) Editable(page PostPage) error {
	if err := sc.needAll(model.PostsWrite, page); err != nil {
		return err
	}
	if page.Post.ArchivedAt != nil {
		return model.Refuse(model.Conflict, "This post was put away. Duplicate it to use it again.")
	}
	if err := noneInFlight(page.Targets); err != nil {
		return err
	}
	for _, t := range page.Targets {
		if t.State == model.Draft || t.State.MayBecome(model.Draft) {
			return nil
		}
	}
	if len(page.Targets) == 0 {
		return nil
	}
	return model.Refuse(model.Conflict, "Everything in this post has been published or cancelled. Duplicate it to publish it again.")
}

// VersionLine is one version in the list of a post's versions.
type VersionLine struct {
	ID       model.VersionID
	Number   int
	By       string
	At       time.Time
	Excerpt  string
	Current  bool
	Approved bool
}

const sqlVersionList = `
	SELECT id, number, content, created_by, created_at FROM tenant.post_versions
	 WHERE tenant_id = $1 AND post_id = $2 ORDER BY number DESC LIMIT 100`

// Versions lists a post's versions, newest first.
func (sc *Scope) Versions(ctx context.Context, id model.PostID) (list []VersionLine, err error) {
	defer wrap(&err, "list versions of post %d", id)
	team, err := sc.team(ctx)
	if err != nil {
		return nil, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		page, err := sc.postPage(ctx, tx, id, sqlPostGet)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlVersionList, sc.Actor.Tenant, id)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, readVersion)
		if err != nil {
			return err
		}
		eyes, err := sc.eyesFor(ctx, tx, all)
		for _, v := range all {
			list = append(list, VersionLine{ID: v.ID, Number: v.Number, By: team.name(v.CreatedBy), At: v.CreatedAt, Excerpt: eyes.words(v),
				Current: v.ID == page.Post.CurrentVersionID, Approved: page.Post.ApprovedVersionID != nil && v.ID == *page.Post.ApprovedVersionID})
		}
		return err
	})
	return list, err
}

func readVersion(row pgx.CollectableRow) (v Version, err error) {
	var canonical []byte
	if err := row.Scan(&v.ID, &v.Number, &canonical, &v.CreatedBy, &v.CreatedAt); err != nil {
		return v, err
	}
	v.Content, err = model.ReadContent(canonical)
	return v, err
}

func (t team) name(id model.UserID) string {
	if m, ok := t[id]; ok {
		return m.Name
	}
	return "A former member"
}

const sqlVersionByNumber = `SELECT id FROM tenant.post_versions WHERE tenant_id = $1 AND post_id = $2 AND number = $3`

// PostVersion reads one version of a post that the actor may see, and of what it
// says that which the accounts of their clients get, or got.
func (sc *Scope) PostVersion(ctx context.Context, id model.PostID, number int) (v Version, err error) {
	defer wrap(&err, "read version %d of post %d", number, id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if _, err := sc.postPage(ctx, tx, id, sqlPostGet); err != nil {
			return err
		}
		var version model.VersionID
		err := tx.QueryRow(ctx, sqlVersionByNumber, sc.Actor.Tenant, id, number).Scan(&version)
		if noRows(err) {
			return model.Refuse(model.NotFound, "This post has no such version.")
		}
		if err != nil {
			return err
		}
		if v, err = sc.version(ctx, tx, version); err != nil {
			return err
		}
		eyes, err := sc.eyesFor(ctx, tx, []Version{v})
		if err != nil {
			return err
		}
		accounts := len(v.Content.Accounts)
		v.Content = eyes.content(v)
		v.Hidden = accounts - len(v.Content.Accounts)
		v.Accounts, err = sc.versionAccounts(ctx, tx, v.Content.Accounts)
		return err
	})
	return v, err
}

// VersionAccount is an account that a version is for, whether or not it gets the
// post today.
type VersionAccount struct {
	ID      model.AccountID
	Network network.Name
	Handle  string
	Client  string
}

const sqlVersionAccounts = `
	SELECT a.id, a.network, a.handle, c.name AS client
	  FROM tenant.accounts a JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE a.tenant_id = $1 AND a.id = ANY ($2) ORDER BY c.name, a.network, a.handle, a.id`

// versionAccounts names the accounts of what the actor may read of a version.
func (sc *Scope) versionAccounts(ctx context.Context, tx pgx.Tx, ids []model.AccountID) ([]VersionAccount, error) {
	rows, err := tx.Query(ctx, sqlVersionAccounts, sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[VersionAccount])
}
