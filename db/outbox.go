package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// outboxChannel is what Postgres notifies on when an event was committed, so
// that the relay need not wait for its tick.
const outboxChannel = "herald_outbox"

const sqlOutboxPublish = `
	WITH bumped AS (
		UPDATE tenant.targets SET seq = seq + 1 WHERE tenant_id = $1 AND id = ANY ($2)
		RETURNING tenant_id, id, version_id, seq, due_at)
	INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
	SELECT tenant_id, 'publish:' || id || ':' || seq, 'target.publish', id, version_id, seq, due_at, $3 FROM bumped`

// askPublish asks the pipeline to publish the targets at their due instants. It
// replaces whatever was asked for them before.
func (sc *Scope) askPublish(ctx context.Context, tx pgx.Tx, ids []model.TargetID) error {
	if _, err := tx.Exec(ctx, sqlOutboxPublish, sc.Actor.Tenant, ids, sc.now()); err != nil {
		return err
	}
	return wakeRelay(ctx, tx)
}

const sqlOutboxCancel = `
	WITH bumped AS (
		UPDATE tenant.targets SET seq = seq + 1 WHERE tenant_id = $1 AND id = ANY ($2)
		RETURNING tenant_id, id, version_id, seq)
	INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, made_at)
	SELECT tenant_id, 'cancel:' || id || ':' || seq, 'target.cancel', id, version_id, seq, $3 FROM bumped`

// askCancel takes back what was asked for the targets' present versions. It must
// run before a target is given another version.
func (sc *Scope) askCancel(ctx context.Context, tx pgx.Tx, ids []model.TargetID) error {
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, sqlOutboxCancel, sc.Actor.Tenant, ids, sc.now()); err != nil {
		return err
	}
	return wakeRelay(ctx, tx)
}

// wakeRelay tells the relays at commit that there is something for them.
func wakeRelay(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "SELECT pg_notify('"+outboxChannel+"', '')")
	return err
}
