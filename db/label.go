package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// LabelKind tells labels, any number to a post, from campaigns, of which a post
// has at most one.
type LabelKind string

// The kinds.
const (
	PlainLabel LabelKind = "label"
	Campaign   LabelKind = "campaign"
)

// Label is what posts are found again by. It reaches no network and no client.
type Label struct {
	ID       model.LabelID
	ClientID model.ClientID // zero: of the whole workspace
	Client   string
	Kind     LabelKind
	Name     string
	Tint     int // which of Tints
}

// Tints are the colours that a label can have, by the names that people read.
var Tints = []string{"Blue", "Teal", "Green", "Amber", "Orange", "Red", "Purple", "Violet"}

// maxLabels is how many labels and campaigns a workspace keeps, and maxPostLabels
// how many a post has.
const (
	maxLabels     = 500
	maxPostLabels = 30
)

const sqlLabelList = `
	SELECT l.id, coalesce(l.client_id, 0) AS client_id, coalesce(c.name, '') AS client, l.kind, l.name, l.tint
	  FROM tenant.labels l LEFT JOIN tenant.clients c ON c.tenant_id = l.tenant_id AND c.id = l.client_id
	 WHERE l.tenant_id = $1 AND (l.client_id IS NULL OR $2 OR l.client_id = ANY ($3)) ORDER BY lower(l.name), l.id`

// labels reads those of the workspace and of the clients that the actor may see.
func (sc *Scope) labels(ctx context.Context, tx pgx.Tx) ([]Label, error) {
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	rows, err := tx.Query(ctx, sqlLabelList, sc.Actor.Tenant, all, clients)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Label])
}

// Labels lists the labels and campaigns that the actor may see, by name.
func (sc *Scope) Labels(ctx context.Context) (list []Label, err error) {
	defer wrap(&err, "list labels")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		list, err = sc.labels(ctx, tx)
		return err
	})
	return list, err
}

// MayKeep says whether the actor may change what is kept for a client, as labels and
// notes of days are, or, for zero, for the workspace.
func (sc *Scope) MayKeep(client model.ClientID) bool {
	if client == 0 {
		_, all := sc.Actor.ClientsWith(model.PostsWrite)
		return all
	}
	return sc.Actor.May(model.PostsWrite, client)
}

func (sc *Scope) needKeep(client model.ClientID) error {
	switch {
	case sc.MayKeep(client):
		return nil
	case client == 0:
		return model.Refuse(model.Forbidden, "What belongs to the whole workspace is kept by its owners and admins. Make it for one of your clients.")
	}
	return sc.need(model.PostsWrite, client, "client")
}

const sqlLabelInsert = `
	INSERT INTO tenant.labels (tenant_id, client_id, kind, name, tint, created_at)
	SELECT $1, nullif($2::bigint, 0), $3, $4, $5, $6 WHERE (SELECT count(*) FROM tenant.labels WHERE tenant_id = $1) < $7 RETURNING id`

// AddLabel makes a label or campaign. It refuses a name that is taken there.
func (sc *Scope) AddLabel(ctx context.Context, l Label) (id model.LabelID, err error) {
	defer wrap(&err, "add label")
	if err := sc.needKeep(l.ClientID); err != nil {
		return 0, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if err := sc.clientThere(ctx, tx, l.ClientID); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, sqlLabelInsert, sc.Actor.Tenant, l.ClientID, l.Kind, tidyName(l.Name), l.Tint, sc.now(), maxLabels).Scan(&id)
		if noRows(err) {
			return model.Refuse(model.Conflict, "This workspace has 500 labels and campaigns. Remove some that are not used any more.")
		}
		if err != nil {
			return err
		}
		return sc.audit(ctx, tx, labelNote("made", id, l))
	})
	return id, err
}

const sqlLabelGet = `
	SELECT l.id, coalesce(l.client_id, 0) AS client_id, '' AS client, l.kind, l.name, l.tint FROM tenant.labels l WHERE l.tenant_id = $1 AND l.id = $2 FOR UPDATE`

// keptLabel locks a label that the actor may change.
func (sc *Scope) keptLabel(ctx context.Context, tx pgx.Tx, id model.LabelID) (l Label, err error) {
	rows, err := tx.Query(ctx, sqlLabelGet, sc.Actor.Tenant, id)
	if err != nil {
		return l, err
	}
	l, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Label])
	if noRows(err) || err == nil && l.ClientID != 0 && !sc.Actor.May(model.PostsView, l.ClientID) {
		return l, errNoLabel
	}
	if err != nil {
		return l, err
	}
	return l, sc.needKeep(l.ClientID)
}

var errNoLabel = model.Refuse(model.NotFound, "There is no such label.")

const sqlLabelChange = `UPDATE tenant.labels SET name = $3, tint = $4 WHERE tenant_id = $1 AND id = $2`

// ChangeLabel gives a label another name and colour, on every post that has it.
func (sc *Scope) ChangeLabel(ctx context.Context, id model.LabelID, name string, tint int) (err error) {
	defer wrap(&err, "change label %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		l, err := sc.keptLabel(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlLabelChange, sc.Actor.Tenant, id, tidyName(name), tint); err != nil {
			return err
		}
		return sc.audit(ctx, tx, labelNote("renamed", id, l))
	})
}

const sqlLabelDelete = `DELETE FROM tenant.labels WHERE tenant_id = $1 AND id = $2`

// RemoveLabel takes a label away, from every post too.
func (sc *Scope) RemoveLabel(ctx context.Context, id model.LabelID) (err error) {
	defer wrap(&err, "remove label %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		l, err := sc.keptLabel(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlLabelDelete, sc.Actor.Tenant, id); err != nil {
			return err
		}
		return sc.audit(ctx, tx, labelNote("removed", id, l))
	})
}

func labelNote(verb string, id model.LabelID, l Label) note {
	return note{verb: verb, subject: string(l.Kind), id: int64(id), client: l.ClientID, detail: map[string]any{"name": l.Name}}
}

// tidyName is a name on one line.
func tidyName(name string) string { return strings.Join(strings.Fields(name), " ") }

// labelsThere refuses labels that the actor may not see.
func (sc *Scope) labelsThere(ctx context.Context, tx pgx.Tx, ids []model.LabelID) ([]Label, error) {
	all, err := sc.labels(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(l Label) bool { return l.ID == id }) {
			return nil, model.Refuse(model.NotFound, "One of the labels is not there any more. Open the page again.")
		}
	}
	return all, nil
}
