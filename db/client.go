package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

const sqlClientLock = `SELECT name, paused_at FROM tenant.clients WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`

const sqlClientPause = `UPDATE tenant.clients SET paused_at = $3 WHERE tenant_id = $1 AND id = $2`

// PauseClient holds back what is due for a client, or lets it go again. Asking
// for what is so already changes nothing.
func (sc *Scope) PauseClient(ctx context.Context, id model.ClientID, paused bool) (name string, err error) {
	defer wrap(&err, "pause client %d", id)
	if err := sc.need(model.ClientsManage, id, "client"); err != nil {
		return "", err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		var since *time.Time
		if err := tx.QueryRow(ctx, sqlClientLock, sc.Actor.Tenant, id).Scan(&name, &since); noRows(err) {
			return model.Refuse(model.NotFound, "There is no such client.")
		} else if err != nil || (since != nil) == paused {
			return err
		}
		if _, err := tx.Exec(ctx, sqlClientPause, sc.Actor.Tenant, id, sc.since(paused)); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: pauseVerb(paused), subject: "client", id: int64(id), client: id})
	})
	return name, err
}

const sqlTenantPause = `UPDATE tenant.tenants SET paused_at = $2 WHERE tenant_id = $1 AND (paused_at IS NOT NULL) <> ($2::timestamptz IS NOT NULL)`

// PauseWorkspace holds back everything that is due, or lets it go again. The
// shard, whose word counts, comes first; the control plane's copy follows, and
// asking again repairs a crash in between.
func (sc *Scope) PauseWorkspace(ctx context.Context, paused bool) (err error) {
	defer wrap(&err, "pause workspace")
	if !sc.Actor.MayAnywhere(model.WorkspaceManage) {
		return model.Refuse(model.Forbidden, "Only an owner or admin can pause the workspace.")
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		did, err := tx.Exec(ctx, sqlTenantPause, sc.Actor.Tenant, sc.since(paused))
		if err != nil || did.RowsAffected() == 0 {
			return err
		}
		return sc.audit(ctx, tx, note{verb: pauseVerb(paused), subject: "workspace", id: int64(sc.Actor.Tenant)})
	})
	if err != nil {
		return err
	}
	_, err = sc.control.Exec(ctx, `UPDATE control.workspaces SET paused_at = $2 WHERE id = $1`, sc.Actor.Tenant, sc.since(paused))
	return err
}
