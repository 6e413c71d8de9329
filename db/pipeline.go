package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
	"herald/db/secret"
)

// Pipeline is the databases as workers reach them: the dispatch index of the
// control plane, and each shard through the functions of its schema. Its role
// has no grant on any tenant table.
type Pipeline struct {
	control *pgxpool.Pool
	shards  map[string]*pgxpool.Pool
	ring    *secret.Ring
	now     func() time.Time
	fail    func(point string)
	changed func(model.TenantID)
}

// FailAt has f called at the points where a crash test ends the process. It is
// set before the pipeline is used, and nil outside of such tests.
func (p *Pipeline) FailAt(f func(point string)) { p.fail = f }

// OpenPipeline connects as the worker's role. The caller closes it.
func OpenPipeline(ctx context.Context, o Options) (_ *Pipeline, err error) {
	defer wrap(&err, "open pipeline")
	control, shards, err := o.connect(ctx, workerRole)
	if err != nil {
		return nil, err
	}
	return &Pipeline{control: control, shards: shards, ring: o.Ring, now: o.Now, changed: o.Changed}, nil
}

// tell says which workspaces a commit changed.
func (p *Pipeline) tell(tenants ...model.TenantID) {
	if p.changed == nil {
		return
	}
	for _, t := range tenants {
		p.changed(t)
	}
}

// Close gives all connections back.
func (p *Pipeline) Close() { closeAll(p.control, p.shards) }

// Ping says whether every database answers.
func (p *Pipeline) Ping(ctx context.Context) error {
	for _, name := range p.Shards() {
		if err := p.shards[name].Ping(ctx); err != nil {
			return fmt.Errorf("shard %s: %w", name, err)
		}
	}
	return nil
}

// Shards lists the shards by name.
func (p *Pipeline) Shards() []string { return slices.Sorted(maps.Keys(p.shards)) }

func (p *Pipeline) shard(name string) (*pgxpool.Pool, error) {
	pool, ok := p.shards[name]
	if !ok {
		return nil, fmt.Errorf("shard %q has no address", name)
	}
	return pool, nil
}

// together says whether the shard shares the control plane's database, so that
// one transaction can write both.
func (p *Pipeline) together(shard string) bool { return p.shards[shard] == p.control }

// Key names one dispatch: this target and version, for this task, as of this
// event. It is all that a queue carries.
type Key struct {
	Shard   string          `json:"s"`
	Tenant  model.TenantID  `json:"t"`
	Target  model.TargetID  `json:"g"`
	Version model.VersionID `json:"v"`
	Seq     int64           `json:"q"`
}

// Dispatch is one row of the dispatch index that is due.
type Dispatch struct {
	Key
	Task  string // publish, reconcile, follow_up
	DueAt time.Time
}

// By ctid, since a join could be planned as a scan of the whole index: of a
// LIMIT the planner knows how many rows there may be, not how few there are.
const sqlDispatchTake = `
	UPDATE control.publish_dispatch_index d SET status = 'enqueued', enqueued_at = $1, updated_at = $1
	 WHERE d.ctid = ANY (ARRAY(SELECT ctid FROM control.publish_dispatch_index
	         WHERE status = 'pending' AND due_at <= $2 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
	RETURNING d.shard, d.tenant_id, d.target_id, d.version_id, d.seq, d.task, d.due_at`

// TakeDue takes up to limit rows that are due by until, hands them to enqueue,
// and marks them enqueued in the same transaction: a crash, or an enqueue that
// fails, leaves them pending. Several dispatchers share the rows.
func (p *Pipeline) TakeDue(ctx context.Context, until time.Time, limit int, enqueue func([]Dispatch) error) (n int, err error) {
	defer wrap(&err, "take due dispatches")
	err = pgx.BeginFunc(ctx, p.control, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlDispatchTake, p.now(), until, limit)
		if err != nil {
			return err
		}
		due, err := pgx.CollectRows(rows, scanDispatch)
		if err != nil || len(due) == 0 {
			return err
		}
		slices.SortFunc(due, func(a, b Dispatch) int { return a.DueAt.Compare(b.DueAt) })
		n = len(due)
		return enqueue(due)
	})
	return n, err
}

func scanDispatch(row pgx.CollectableRow) (d Dispatch, err error) {
	err = row.Scan(&d.Shard, &d.Tenant, &d.Target, &d.Version, &d.Seq, &d.Task, &d.DueAt)
	return d, err
}

const sqlDispatchRelease = `
	UPDATE control.publish_dispatch_index d SET status = 'pending', updated_at = $6
	  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS k(tenant_id, target_id, version_id, seq)
	 WHERE d.tenant_id = k.tenant_id AND d.target_id = k.target_id AND d.version_id = k.version_id AND d.task = $5 AND d.seq = k.seq AND d.status = 'enqueued'`

// Release gives dispatches back that were taken but will not be worked on.
func (p *Pipeline) Release(ctx context.Context, task string, keys []Key) (err error) {
	defer wrap(&err, "release dispatches")
	k := columns(keys)
	_, err = p.control.Exec(ctx, sqlDispatchRelease, k.tenants, k.targets, k.versions, k.seqs, task, p.now())
	return err
}

const sqlDispatchDone = `
	UPDATE control.publish_dispatch_index d SET status = 'done', updated_at = $6
	  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS k(tenant_id, target_id, version_id, seq)
	 WHERE d.tenant_id = k.tenant_id AND d.target_id = k.target_id AND d.version_id = k.version_id AND d.task = $5 AND d.seq = k.seq AND d.status <> 'done'`

// Done marks dispatches as worked off. A newer event's row is left alone.
func (p *Pipeline) Done(ctx context.Context, task string, keys []Key) (err error) {
	defer wrap(&err, "finish dispatches")
	k := columns(keys)
	_, err = p.control.Exec(ctx, sqlDispatchDone, k.tenants, k.targets, k.versions, k.seqs, task, p.now())
	return err
}

// keyColumns are keys as the arrays a statement takes.
type keyColumns struct {
	tenants  []model.TenantID
	targets  []model.TargetID
	versions []model.VersionID
	seqs     []int64
}

func columns(keys []Key) (k keyColumns) {
	for _, one := range keys {
		k.tenants = append(k.tenants, one.Tenant)
		k.targets = append(k.targets, one.Target)
		k.versions = append(k.versions, one.Version)
		k.seqs = append(k.seqs, one.Seq)
	}
	return k
}

// Event is one outbox event.
type Event struct {
	Tenant  model.TenantID
	ID      int64
	Kind    string
	Target  *model.TargetID
	Version *model.VersionID
	Account *model.AccountID
	Seq     int64
	DueAt   *time.Time
}

// Relay takes up to limit events of a shard, has them carried out (dispatch rows
// upserted, notices turned into mail by notify), and marks them relayed. Events
// stay locked meanwhile, so relays share the work; a crash in between repeats
// events, which is harmless: an older one never overrides a newer.
func (p *Pipeline) Relay(ctx context.Context, shard string, limit int, notify func(context.Context, Event) error) (n int, err error) {
	defer wrap(&err, "relay shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		events, err := takeEvents(ctx, tx, limit)
		if err != nil || len(events) == 0 {
			return err
		}
		n = len(events)
		if err := p.carry(ctx, shard, events, notify); err != nil {
			return err
		}
		if p.fail != nil {
			p.fail("relay_upserted")
		}
		return markRelayed(ctx, tx, events, p.now())
	})
	return n, err
}

func takeEvents(ctx context.Context, tx pgx.Tx, limit int) ([]Event, error) {
	rows, err := tx.Query(ctx, `SELECT * FROM tenant.take_outbox($1)`, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Event, err error) {
		err = row.Scan(&e.Tenant, &e.ID, &e.Kind, &e.Target, &e.Version, &e.Account, &e.Seq, &e.DueAt)
		return e, err
	})
}

func markRelayed(ctx context.Context, tx pgx.Tx, events []Event, now time.Time) error {
	var tenants []model.TenantID
	var ids []int64
	for _, e := range events {
		tenants, ids = append(tenants, e.Tenant), append(ids, e.ID)
	}
	_, err := tx.Exec(ctx, `SELECT tenant.mark_relayed($1, $2, $3)`, tenants, ids, now)
	return err
}

// carry upserts dispatch rows in one statement and hands notices to notify.
func (p *Pipeline) carry(ctx context.Context, shard string, events []Event, notify func(context.Context, Event) error) error {
	latest := map[[4]int64]Event{} // one statement may touch a row once: the newest event wins
	for _, e := range events {
		task, ok := dispatchTasks[e.Kind]
		if !ok {
			if err := notify(ctx, e); err != nil {
				return err
			}
			continue
		}
		key := [4]int64{int64(e.Tenant), int64(*e.Target), int64(*e.Version), task.index}
		if old, ok := latest[key]; !ok || old.Seq < e.Seq {
			latest[key] = e
		}
	}
	if len(latest) == 0 {
		return nil
	}
	return p.upsert(ctx, shard, slices.Collect(maps.Values(latest)))
}

type dispatchTask struct {
	name  string
	index int64
}

var dispatchTasks = map[string]dispatchTask{
	"target.publish":   {"publish", 0},
	"target.cancel":    {"publish", 0},
	"target.reconcile": {"reconcile", 1},
	"target.follow_up": {"follow_up", 2},
}

const sqlDispatchUpsert = `
	INSERT INTO control.publish_dispatch_index AS d (tenant_id, target_id, version_id, task, shard, seq, due_at, status, updated_at)
	SELECT tenant_id, target_id, version_id, task, $1, seq, coalesce(due_at, $8), status, $8
	  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::timestamptz[], $9::text[])
	       AS e(tenant_id, target_id, version_id, task, seq, due_at, status)
	 ORDER BY 1, 2, 3, 4
	ON CONFLICT ON CONSTRAINT dispatch_once DO UPDATE
	   SET seq = excluded.seq, due_at = excluded.due_at, status = excluded.status, enqueued_at = NULL, updated_at = excluded.updated_at
	 WHERE d.seq < excluded.seq`

func (p *Pipeline) upsert(ctx context.Context, shard string, events []Event) error {
	var k keyColumns
	var tasks, statuses []string
	var dues []*time.Time
	for _, e := range events {
		k.tenants, k.targets, k.versions, k.seqs = append(k.tenants, e.Tenant), append(k.targets, *e.Target), append(k.versions, *e.Version), append(k.seqs, e.Seq)
		tasks, dues = append(tasks, dispatchTasks[e.Kind].name), append(dues, e.DueAt)
		if e.Kind == "target.cancel" {
			statuses = append(statuses, "cancelled")
		} else {
			statuses = append(statuses, "pending")
		}
	}
	_, err := p.control.Exec(ctx, sqlDispatchUpsert, shard, k.tenants, k.targets, k.versions, tasks, k.seqs, dues, p.now(), statuses)
	return err
}

// Wake calls f whenever a schedule was committed on the shard, until ctx ends.
// It holds one connection. It returns when that connection breaks.
func (p *Pipeline) Wake(ctx context.Context, shard string, f func()) (err error) {
	defer wrap(&err, "listen to shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "LISTEN "+outboxChannel); err != nil {
		return err
	}
	for {
		if _, err := conn.Conn().WaitForNotification(ctx); err != nil {
			return err
		}
		f()
	}
}
