package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Swept is a target that the sweeper moved.
type Swept struct {
	Tenant model.TenantID
	Target model.TargetID
	State  model.State
}

// SweepClaims moves targets whose claim is older than stale: to unknown_outcome
// if the commit call may have begun, to retry_scheduled if it was not.
func (p *Pipeline) SweepClaims(ctx context.Context, shard string, stale time.Duration, reconcileAt, retryAt time.Time, limit int) (list []Swept, err error) {
	defer wrap(&err, "sweep claims of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.sweep_claims($1, $2, $3, $4, $5)`, stale, p.now(), reconcileAt, retryAt, limit)
	if err != nil {
		return nil, err
	}
	if list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Swept]); err != nil {
		return nil, err
	}
	for _, one := range list {
		p.tell(one.Tenant)
	}
	return list, nil
}

const sqlDispatchStale = `
	SELECT shard, tenant_id, target_id, version_id, seq, task, due_at FROM control.publish_dispatch_index
	 WHERE status = 'enqueued' AND enqueued_at <= $1 ORDER BY enqueued_at LIMIT $2`

// Enqueued lists dispatches enqueued at or before a time.
func (p *Pipeline) Enqueued(ctx context.Context, before time.Time, limit int) (list []Dispatch, err error) {
	defer wrap(&err, "list enqueued dispatches")
	rows, err := p.control.Query(ctx, sqlDispatchStale, before, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanDispatch)
}

// RestoreOwed finds targets of a shard that were due before a time and that
// nothing in the dispatch index would bring back, and puts them there. It says
// how many.
func (p *Pipeline) RestoreOwed(ctx context.Context, shard string, before time.Time, limit int) (n int, err error) {
	defer wrap(&err, "restore owed targets of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	rows, err := pool.Query(ctx, `SELECT tenant_id, target_id, version_id, seq, task, due_at FROM tenant.owed_targets($1, $2)`, before, limit)
	if err != nil {
		return 0, err
	}
	owed, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d Dispatch, err error) {
		d.Shard = shard
		err = row.Scan(&d.Tenant, &d.Target, &d.Version, &d.Seq, &d.Task, &d.DueAt)
		return d, err
	})
	if err != nil || len(owed) == 0 {
		return 0, err
	}
	return p.restore(ctx, owed)
}

const sqlDispatchRestore = `
	INSERT INTO control.publish_dispatch_index AS d (tenant_id, target_id, version_id, task, shard, seq, due_at, status, updated_at)
	SELECT tenant_id, target_id, version_id, task, $1, seq, due_at, 'pending', $7
	  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $8::timestamptz[]) AS e(tenant_id, target_id, version_id, task, seq, due_at)
	 ORDER BY 1, 2, 3, 4
	ON CONFLICT ON CONSTRAINT dispatch_once DO UPDATE
	   SET seq = excluded.seq, due_at = excluded.due_at, status = 'pending', enqueued_at = NULL, updated_at = excluded.updated_at
	 WHERE d.seq < excluded.seq OR d.seq = excluded.seq AND d.status IN ('done', 'cancelled')`

func (p *Pipeline) restore(ctx context.Context, owed []Dispatch) (int, error) {
	var k keyColumns
	var tasks []string
	var dues []time.Time
	for _, d := range owed {
		k.tenants, k.targets, k.versions, k.seqs = append(k.tenants, d.Tenant), append(k.targets, d.Target), append(k.versions, d.Version), append(k.seqs, d.Seq)
		tasks, dues = append(tasks, d.Task), append(dues, d.DueAt)
	}
	tag, err := p.control.Exec(ctx, sqlDispatchRestore, owed[0].Shard, k.tenants, k.targets, k.versions, tasks, k.seqs, p.now(), dues)
	return int(tag.RowsAffected()), err
}

// By ctid, as in sqlDispatchTake. The conditions stand twice, so that a row that
// came back to life meanwhile is looked at again and stays.
const sqlDispatchForget = `
	DELETE FROM control.publish_dispatch_index
	 WHERE ctid = ANY (ARRAY(SELECT ctid FROM control.publish_dispatch_index
	         WHERE status IN ('done', 'cancelled') AND updated_at < $1 LIMIT $2)) AND status IN ('done', 'cancelled') AND updated_at < $1`

// Forget deletes what is over and older than before: relayed events, finished
// dispatches, expired sessions, emptied throttles. At most limit rows of each.
func (p *Pipeline) Forget(ctx context.Context, before time.Time, limit int) (err error) {
	defer wrap(&err, "forget what is over")
	for _, shard := range p.Shards() {
		if _, err := p.shards[shard].Exec(ctx, `SELECT tenant.sweep_outbox($1, $2)`, before, limit); err != nil {
			return err
		}
	}
	if _, err := p.control.Exec(ctx, sqlDispatchForget, before, limit); err != nil {
		return err
	}
	if _, err := p.control.Exec(ctx, `DELETE FROM control.sessions WHERE expires_at < $1`, p.now()); err != nil {
		return err
	}
	_, err = p.control.Exec(ctx, `DELETE FROM control.throttles WHERE at < $1`, before)
	return err
}
