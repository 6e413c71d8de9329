package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// ClientLine is a client in a list that somebody chooses from.
type ClientLine struct {
	ID     model.ClientID `json:"id"`
	Name   string         `json:"name"`
	Chosen bool           `json:"chosen"` // the one whose lists the actor looks at
}

// clientMenu is how many clients a menu shows: those that were used last.
const clientMenu = 8

const sqlClientUsed = `SELECT client_id FROM tenant.client_uses WHERE tenant_id = $1 AND user_id = $2 AND chosen`

// UsedClient is the client whose lists the actor looks at; zero for all clients.
func (sc *Scope) UsedClient(ctx context.Context) (id model.ClientID, err error) {
	defer wrap(&err, "read used client")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, sqlClientUsed, sc.Actor.Tenant, sc.Actor.User).Scan(&id)
		if noRows(err) {
			return nil
		}
		return err
	})
	if !sc.Actor.May(model.PostsView, id) {
		id = 0
	}
	return id, err
}

const sqlClientLeave = `UPDATE tenant.client_uses SET chosen = false WHERE tenant_id = $1 AND user_id = $2 AND client_id <> $3 AND chosen`

const sqlClientUse = `
	INSERT INTO tenant.client_uses (tenant_id, user_id, client_id, used_at, chosen) SELECT c.tenant_id, $2, c.id, $4, true FROM tenant.clients c WHERE c.tenant_id = $1 AND c.id = $3
	ON CONFLICT (tenant_id, user_id, client_id) DO UPDATE SET used_at = excluded.used_at, chosen = true`

// One person's pages take turns, so that none leaves two clients chosen.
const sqlClientUseTurn = `SELECT pg_advisory_xact_lock(hashtextextended('client of ' || $1::bigint || ' ' || $2::bigint, 0))`

// UseClient remembers the client whose lists the actor looks at; zero is all
// clients. Nobody else's page changes by it.
func (sc *Scope) UseClient(ctx context.Context, id model.ClientID) (err error) {
	defer wrap(&err, "use client %d", id)
	if id != 0 {
		if err := sc.need(model.PostsView, id, "client"); err != nil {
			return err
		}
	}
	return refused(sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlClientUseTurn, sc.Actor.Tenant, sc.Actor.User); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlClientLeave, sc.Actor.Tenant, sc.Actor.User, id); err != nil || id == 0 {
			return err
		}
		did, err := tx.Exec(ctx, sqlClientUse, sc.Actor.Tenant, sc.Actor.User, id, sc.now())
		if err == nil && did.RowsAffected() == 0 {
			err = model.Refuse(model.NotFound, "There is no such client.")
		}
		return err
	}))
}

// clientsMost is how many clients one search shows.
const clientsMost = 50

const sqlClientsFind = `
	SELECT c.id, c.name, coalesce(u.chosen, false) AS chosen
	  FROM tenant.clients c LEFT JOIN tenant.client_uses u ON u.tenant_id = c.tenant_id AND u.client_id = c.id AND u.user_id = $4
	 WHERE c.tenant_id = $1 AND ($2 OR c.id = ANY ($3)) AND c.archived_at IS NULL AND ($5 = '' OR c.name ILIKE $5)
	 ORDER BY u.used_at DESC NULLS LAST, c.name, c.id LIMIT $6`

// FindClients lists clients whose posts the actor may see and whose names hold some
// words, those that were used last first. more says that there are others.
func (sc *Scope) FindClients(ctx context.Context, words string) (list []ClientLine, more bool, err error) {
	defer wrap(&err, "find clients")
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlClientsFind, sc.Actor.Tenant, all, clients, sc.Actor.User, likeWords(words), clientsMost+1)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[ClientLine])
		return err
	})
	if more = len(list) > clientsMost; more {
		list = list[:clientsMost]
	}
	return list, more, err
}
