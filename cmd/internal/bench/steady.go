package bench

import (
	"context"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
)

// steady publishes perSecond targets a second for a while, and measures how late
// each became public.
func (w *world) steady(ctx context.Context, first int64, perSecond int, span time.Duration) (l lateness, err error) {
	w.sim.Reset()
	start := time.Now().Add(4 * time.Second)
	n := int(span.Seconds()) * perSecond
	const spaces = 10
	for i := range spaces {
		s := batchSeed{shard: shardOf(i), tenant: model.TenantID(i + 1), first: first + int64(i*n), count: n / spaces,
			due: func(k int) time.Time {
				return start.Add(time.Duration(k*spaces+i) * time.Second / time.Duration(perSecond))
			}}
		if err := w.targets(ctx, s); err != nil {
			return l, err
		}
	}
	server, pipe, err := w.worker(ctx, 32)
	if err != nil {
		return l, err
	}
	defer pipe.Close()
	if err := server.Start(ctx); err != nil {
		return l, err
	}
	defer server.Stop()
	w.seen.Store(0)
	server.Nudge()
	select {
	case <-time.After(time.Until(start.Add(span + time.Second))):
	case <-ctx.Done():
		return l, ctx.Err()
	}
	if err := w.awaitPublished(ctx, n); err != nil {
		return l, err
	}
	l = w.late(time.Time{})
	return l, w.exactlyOnce(ctx, n)
}

// single publishes one workspace's n targets and another's one, all due at the
// same instant, and says how late the one was.
func (w *world) single(ctx context.Context, first int64, n int) (late time.Duration, err error) {
	w.sim.Reset()
	due := time.Now().Add(6 * time.Second)
	at := func(int) time.Time { return due }
	if err := w.targets(ctx, batchSeed{shard: db.MainShard, tenant: 1, first: first, count: n, due: at}); err != nil {
		return 0, err
	}
	if err := w.targets(ctx, batchSeed{shard: db.MainShard, tenant: 3, first: first + int64(n), count: 1, due: at}); err != nil {
		return 0, err
	}
	server, pipe, err := w.worker(ctx, 32)
	if err != nil {
		return 0, err
	}
	defer pipe.Close()
	if err := server.Start(ctx); err != nil {
		return 0, err
	}
	defer server.Stop()
	w.seen.Store(0)
	server.Nudge()
	time.Sleep(time.Until(due))
	if err := w.awaitPublished(ctx, n+1); err != nil {
		return 0, err
	}
	var published time.Time
	if err := w.super[db.MainShard].QueryRow(ctx, `SELECT published_at FROM tenant.targets WHERE tenant_id = 3`).Scan(&published); err != nil {
		return 0, err
	}
	return published.Sub(due), w.exactlyOnce(ctx, n+1)
}

// idle measures a tick with nothing due, the median of many, with a number of
// workspaces that each have a future post and a finished one.
func (w *world) idle(ctx context.Context, workspaces int) (tick time.Duration, err error) {
	for _, shard := range []string{db.MainShard, secondShard} {
		if err := w.idleRows(ctx, shard, workspaces); err != nil {
			return 0, err
		}
	}
	if err := w.settle(ctx); err != nil {
		return 0, err
	}
	server, pipe, err := w.worker(ctx, 32)
	if err != nil {
		return 0, err
	}
	defer pipe.Close()
	_, ticker, _ := server.Verbs()
	var all []time.Duration
	for range 200 {
		began := time.Now()
		if err := ticker.Tick(ctx); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	for shard := range w.super {
		if err := w.forget(ctx, shard); err != nil {
			return 0, err
		}
	}
	return all[len(all)/2], nil
}

// idleRows are relayed events and dispatches that are not due: what a tick must
// not have to look at.
func (w *world) idleRows(ctx context.Context, shard string, workspaces int) error {
	err := w.exec(ctx, shard, `
		INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at, relayed_at)
		SELECT 1000 + i, 'publish:1:1', 'target.publish', 1, 1, 1, now() + interval '1 day', now(), now() FROM generate_series(1, $1) i`, workspaces)
	if err != nil || shard != db.MainShard {
		return err
	}
	return w.exec(ctx, shard, `
		INSERT INTO control.publish_dispatch_index (tenant_id, target_id, version_id, task, shard, seq, due_at, status, updated_at)
		SELECT 1000 + i, k, 1, 'publish', 'main', 1, now() + (CASE k WHEN 1 THEN interval '1 day' ELSE interval '-1 day' END), CASE k WHEN 1 THEN 'pending' ELSE 'done' END, now()
		  FROM generate_series(1, $1) i, generate_series(1, 2) k`, workspaces)
}
