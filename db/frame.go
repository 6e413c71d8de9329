package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Frame is what every screen of a workspace shows around its content.
type Frame struct {
	Email        string
	Workspaces   []Workspace // the person's
	Waiting      int         // approval requests that wait for the person: the size of BoxMine
	Disconnected int         // accounts that need reconnecting
}

const sqlFramePlaces = `
	SELECT u.email, w.id, w.slug, w.name, w.zone, w.shard, w.state, w.paused_at IS NOT NULL
	  FROM control.users u JOIN control.memberships m ON m.user_id = u.id JOIN control.workspaces w ON w.id = m.workspace_id
	 WHERE u.id = $1 ORDER BY w.name`

const sqlFrameCounts = `
	SELECT (SELECT count(*) FROM tenant.approval_requests r WHERE r.tenant_id = $1 AND r.state = 'open' AND ($2 OR r.client_id = ANY ($3)) AND ` + waitsForMe + `),
	       (SELECT count(*) FROM tenant.accounts a WHERE a.tenant_id = $1 AND a.state = 'needs_reconnect' AND a.disconnected_at IS NULL AND ($2 OR a.client_id = ANY ($3)))`

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
		return tx.QueryRow(ctx, sqlFrameCounts, sc.Actor.Tenant, all, clients, sc.Actor.User).Scan(&f.Waiting, &f.Disconnected)
	})
	return f, err
}
