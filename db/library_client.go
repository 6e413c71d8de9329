package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// LibraryClient is a client whose library the actor may see.
type LibraryClient struct {
	ID       model.ClientID
	Name     string
	Archived bool
	MayWrite bool `db:"-"`
}

const sqlLibraryClients = `
	SELECT c.id, c.name, c.archived_at IS NOT NULL AS archived FROM tenant.clients c
	 WHERE c.tenant_id = $1 AND ($2 OR c.id = ANY ($3)) ORDER BY lower(c.name), c.id`

// LibraryClients lists the clients whose library the actor may see, by name.
func (sc *Scope) LibraryClients(ctx context.Context) (list []LibraryClient, err error) {
	defer wrap(&err, "list clients with a library")
	ids, all := sc.Actor.ClientsWith(model.MediaView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlLibraryClients, sc.Actor.Tenant, all, ids)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[LibraryClient])
		return err
	})
	for i := range list {
		list[i].MayWrite = !list[i].Archived && sc.Actor.May(model.MediaWrite, list[i].ID)
	}
	return list, err
}

// MediaUses names posts that use any of the assets, those on their way first, and
// counts the others. It refuses with NotFound if one is not there or hidden.
func (sc *Scope) MediaUses(ctx context.Context, ids []model.MediaID) (used InUse, err error) {
	defer wrap(&err, "read uses of media")
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if _, err := sc.Media(ctx, ids); err != nil {
		return used, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		used, err = sc.inUse(ctx, tx, ids)
		return err
	})
	return used, err
}
