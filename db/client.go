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
	if err != nil || paused {
		return name, err
	}
	return name, sc.release(ctx)
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
	if err == nil && !paused {
		err = sc.release(ctx)
	}
	if err != nil {
		return err
	}
	_, err = sc.control.Exec(ctx, `UPDATE control.workspaces SET paused_at = $2 WHERE id = $1`, sc.Actor.Tenant, sc.since(paused))
	return err
}

// The posts' locks come first, as wherever targets change.
const sqlTargetsRelease = `
	WITH free AS (
		SELECT t.id, t.post_id FROM tenant.targets t
		  JOIN tenant.tenants w ON w.tenant_id = t.tenant_id
		  JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
		  JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = t.account_id
		 WHERE t.tenant_id = $1 AND t.state = 'retry_scheduled' AND t.reason IN ('workspace_suspended', 'workspace_paused', 'client_paused', 'account_paused')
		   AND CASE t.reason WHEN 'account_paused' THEN a.paused_at WHEN 'client_paused' THEN c.paused_at
		                     WHEN 'workspace_paused' THEN w.paused_at ELSE w.suspended_at END IS NULL
	), posts AS MATERIALIZED (
		SELECT p.id FROM tenant.posts p WHERE p.tenant_id = $1 AND p.id IN (SELECT post_id FROM free) ORDER BY p.id FOR NO KEY UPDATE
	), gone AS (
		UPDATE tenant.targets t SET next_at = $2, seq = t.seq + 1, revision = t.revision + 1, updated_at = $2
		  FROM free f
		 WHERE t.tenant_id = $1 AND t.id = f.id AND f.post_id IN (SELECT id FROM posts)
		   AND t.state = 'retry_scheduled' AND t.reason IN ('workspace_suspended', 'workspace_paused', 'client_paused', 'account_paused')
		RETURNING t.tenant_id, t.id, t.version_id, t.seq, t.next_at)
	INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
	SELECT tenant_id, 'publish:' || id || ':' || seq, 'target.publish', id, version_id, seq, next_at, $2 FROM gone`

// release sends what was held back by a pause that is over on its way at once; whether
// another one holds it the claim says. It comes after the transaction that ended the
// pause: that one waits for claims that hold something back at this moment, and a claim
// may hold what this one waits for. A crash in between costs at most the hour
// after which a claim is asked again.
func (sc *Scope) release(ctx context.Context) error {
	return sc.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlTargetsRelease, sc.Actor.Tenant, sc.now()); err != nil {
			return err
		}
		return wakeRelay(ctx, tx)
	})
}
