package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Frame is what every screen of a workspace shows around its content.
type Frame struct {
	Email        string
	Workspaces   []Workspace  // the person's
	Waiting      int          // approval requests that wait for the person: the size of BoxMine
	Disconnected int          // accounts that need reconnecting
	Clients      []ClientLine // those that were used last, the chosen one first
	More         bool         // there are other clients
}

const sqlFramePlaces = `
	SELECT u.email, w.id, w.slug, w.name, w.zone, w.shard, w.state, w.paused_at IS NOT NULL
	  FROM control.users u JOIN control.memberships m ON m.user_id = u.id JOIN control.workspaces w ON w.id = m.workspace_id
	 WHERE u.id = $1 ORDER BY w.name`

const sqlFrameCounts = `
	SELECT (SELECT count(*) FROM tenant.approval_requests r WHERE r.tenant_id = $1 AND r.state = 'open' AND ($2 OR r.client_id = ANY ($3)) AND ` + waitsForMe + `),
	       (SELECT count(*) FROM tenant.accounts a WHERE a.tenant_id = $1 AND a.state = 'needs_reconnect' AND a.disconnected_at IS NULL AND ($2 OR a.client_id = ANY ($3))),
	       (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'chosen', chosen) ORDER BY place), '[]') FROM (
	               SELECT c.id, c.name, coalesce(u.chosen, false) AS chosen, row_number() OVER (ORDER BY u.chosen DESC NULLS LAST, u.used_at DESC NULLS LAST, c.name, c.id) AS place
	                 FROM tenant.clients c LEFT JOIN tenant.client_uses u ON u.tenant_id = c.tenant_id AND u.client_id = c.id AND u.user_id = $4
	                WHERE c.tenant_id = $1 AND ($2 OR c.id = ANY ($3)) AND (c.archived_at IS NULL OR u.chosen)
	                ORDER BY place LIMIT $5) l)`

// Frame reads the frame of a person's screens.
func (s *Store) Frame(ctx context.Context, sc *Scope) (f Frame, err error) {
	defer wrap(&err, "read frame")
	rows, err := s.control.Query(ctx, sqlFramePlaces, sc.Actor.User)
	if err != nil {
		return f, err
	}
	var w Workspace
	_, err = pgx.ForEachRow(rows, []any{&f.Email, &w.ID, &w.Slug, &w.Name, &w.Zone, &w.Shard, &w.State, &w.Paused}, func() error {
		f.Workspaces = append(f.Workspaces, w)
		return nil
	})
	if err != nil {
		return f, err
	}
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sqlFrameCounts, sc.Actor.Tenant, all, clients, sc.Actor.User, clientMenu+1).Scan(&f.Waiting, &f.Disconnected, &f.Clients)
	})
	if f.More = len(f.Clients) > clientMenu; f.More {
		f.Clients = f.Clients[:clientMenu]
	}
	return f, err
}
