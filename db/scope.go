package db

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
	"herald/db/secret"
)

// Scope is the only door to a workspace's data: one person in one workspace.
// Each method is one transaction that sets the workspace for row-level security
// before its first statement, and forgets it with the commit.
type Scope struct {
	Actor     model.Actor
	Workspace Workspace
	pool      *pgxpool.Pool
	control   *pgxpool.Pool // for names and addresses of members; never inside a transaction of pool
	ring      *secret.Ring
	now       func() time.Time
	held      *heldLink            // the link by which whoever acts came in; nil for members
	changed   func(model.TenantID) // after a write; may be nil
}

const sqlScopeEnter = `
	SELECT w.id, w.slug, w.name, w.zone, w.shard, w.state, w.paused_at IS NOT NULL AS paused, m.role, u.name
	  FROM control.workspaces w
	  JOIN control.memberships m ON m.workspace_id = w.id AND m.user_id = $1
	  JOIN control.users u ON u.id = m.user_id AND u.disabled_at IS NULL
	 WHERE w.slug = $2`

// Enter opens the workspace for a user. It refuses with NotFound, whether there
// is no such workspace or the user is not in it.
func (s *Store) Enter(ctx context.Context, user model.UserID, slug string) (_ *Scope, err error) {
	defer wrap(&err, "enter workspace")
	var w Workspace
	actor := model.Actor{User: user}
	err = s.control.QueryRow(ctx, sqlScopeEnter, user, slug).
		Scan(&w.ID, &w.Slug, &w.Name, &w.Zone, &w.Shard, &w.State, &w.Paused, &actor.Role, &actor.Name)
	if noRows(err) {
		return nil, model.Refuse(model.NotFound, "There is no such workspace.")
	}
	if err != nil {
		return nil, err
	}
	actor.Tenant = w.ID
	pool, err := s.shard(w.Shard)
	if err != nil {
		return nil, err
	}
	sc := &Scope{Actor: actor, Workspace: w, pool: pool, control: s.control, ring: s.ring, now: s.now, changed: s.changed}
	if !actor.Role.EveryClient() {
		sc.Actor.Clients, err = sc.access(ctx)
	}
	return sc, err
}

const sqlAccessList = `SELECT client_id, permissions FROM tenant.client_access WHERE tenant_id = $1 AND user_id = $2`

// access reads what the actor may do at each client. No permission widens the
// role: what the role does not grant is dropped.
func (sc *Scope) access(ctx context.Context) (map[model.ClientID][]model.Permission, error) {
	clients := map[model.ClientID][]model.Permission{}
	err := sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlAccessList, sc.Actor.Tenant, sc.Actor.User)
		if err != nil {
			return err
		}
		var id model.ClientID
		var granted []model.Permission
		_, err = pgx.ForEachRow(rows, []any{&id, &granted}, func() error {
			clients[id] = slices.DeleteFunc(granted, func(p model.Permission) bool { return !slices.Contains(sc.Actor.Role.Grants(), p) })
			granted = nil
			return nil
		})
		return err
	})
	return clients, err
}

// read runs f in a read-only transaction of the workspace.
func (sc *Scope) read(ctx context.Context, f func(pgx.Tx) error) error {
	return sc.within(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly}, f)
}

// write runs f in a transaction of the workspace; all of it happens or nothing.
// A constraint that f breaks comes back as its sentence.
func (sc *Scope) write(ctx context.Context, f func(pgx.Tx) error) error {
	err := refused(sc.within(ctx, pgx.TxOptions{}, f))
	if err == nil && sc.changed != nil {
		sc.changed(sc.Actor.Tenant)
	}
	return err
}

func (sc *Scope) within(ctx context.Context, o pgx.TxOptions, f func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, sc.pool, o, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlScopeSet, strconv.FormatInt(int64(sc.Actor.Tenant), 10), userSetting(sc.Actor.User)); err != nil {
			return err
		}
		if sc.held != nil {
			if _, err := tx.Exec(ctx, sqlReviewerSet, strconv.FormatInt(int64(sc.held.client), 10)); err != nil {
				return err
			}
		}
		return f(tx)
	})
}

// The settings end with the transaction, so no pool or pooler can carry them on.
const sqlScopeSet = `SELECT set_config('herald.tenant', $1, true), set_config('herald.user', $2, true)`

func userSetting(id model.UserID) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(int64(id), 10)
}

// need refuses unless the actor has p for the client. Where the actor may not
// even look at the client, the answer is that there is no such thing.
func (sc *Scope) need(p model.Permission, client model.ClientID, thing string) error {
	if sc.Actor.May(p, client) {
		return nil
	}
	if !sc.Actor.May(model.PostsView, client) {
		return model.Refuse(model.NotFound, "There is no such "+thing+".")
	}
	return model.Refuse(model.Forbidden, "Your role does not allow that for this client. Ask an owner or admin of the workspace.")
}
