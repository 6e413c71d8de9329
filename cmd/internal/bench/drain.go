package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
)

// drained is what one drain measured.
type drained struct {
	PerSecond  float64
	Relay      time.Duration // outbox events into the dispatch index, before the clock starts
	Statements float64       // per publish
	Commits    float64
	RedisCmds  float64
	RedisTrips float64
	Late       lateness
}

// lateness is how late posts became public, counted at the network.
type lateness struct {
	P50, P99, Max time.Duration
	Early         int // became public before they were due
}

// drain schedules n targets due at once over two shards and ten workspaces, and
// measures from the moment the worker may see them to the last one published.
func (w *world) drain(ctx context.Context, first int64, n, concurrency int) (d drained, err error) {
	w.sim.Reset()
	due := time.Now().Add(-time.Second)
	const spaces = 10
	for i := range spaces {
		// a microsecond apart, so that the workspaces' posts come in turn
		s := batchSeed{shard: shardOf(i), tenant: model.TenantID(i + 1), first: first + int64(i*n), count: n / spaces,
			due: func(k int) time.Time { return due.Add(time.Duration(k*spaces+i) * time.Microsecond) }}
		if err := w.targets(ctx, s); err != nil {
			return d, err
		}
	}
	if err := w.settle(ctx); err != nil {
		return d, err
	}
	server, pipe, err := w.worker(ctx, concurrency)
	if err != nil {
		return d, err
	}
	defer pipe.Close()
	began := time.Now()
	if err := relayAll(ctx, server, pipe); err != nil {
		return d, err
	}
	d.Relay = time.Since(began)
	w.counted.reset()
	w.seen.Store(0)
	began = time.Now()
	if err := server.Start(ctx); err != nil {
		return d, err
	}
	server.Nudge()
	err = w.awaitPublished(ctx, n)
	took := time.Since(began)
	per := float64(n)
	d.PerSecond, d.Statements, d.Commits = per/took.Seconds(), float64(w.counted.statements.Load())/per, float64(w.counted.commits.Load())/per
	d.RedisCmds, d.RedisTrips = float64(w.counted.redisCmds.Load())/per, float64(w.counted.redisTrips.Load())/per
	server.Stop()
	if err != nil {
		return d, err
	}
	d.Late = w.late(began)
	return d, w.exactlyOnce(ctx, n)
}

func shardOf(i int) string {
	if i%2 == 0 {
		return db.MainShard
	}
	return secondShard
}

func relayAll(ctx context.Context, server *jobs.Server, pipe *db.Pipeline) error {
	_, ticker, _ := server.Verbs()
	for _, shard := range pipe.Shards() {
		if _, err := ticker.Relay(ctx, shard); err != nil {
			return err
		}
	}
	return nil
}

// awaitPublished waits until the network has seen n publishes and their
// dispatches are done. Postgres is not asked before, so as not to be measured.
func (w *world) awaitPublished(ctx context.Context, n int) error {
	deadline := time.Now().Add(5 * time.Minute)
	for w.seen.Load() < int64(n) && time.Now().Before(deadline) && ctx.Err() == nil {
		time.Sleep(2 * time.Millisecond)
	}
	for {
		var left int
		err := w.super[db.MainShard].QueryRow(ctx, `SELECT count(*) FROM control.publish_dispatch_index WHERE status IN ('pending', 'enqueued') AND task = 'publish' AND due_at < now() + interval '1 hour'`).Scan(&left)
		if err != nil || left == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d targets are not published after five minutes", left, n)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// exactlyOnce checks the count at the network against what Herald says, and
// forgets both for the next round.
func (w *world) exactlyOnce(ctx context.Context, n int) error {
	public := len(w.posts())
	published := 0
	for shard := range w.super {
		var here int
		if err := w.super[shard].QueryRow(ctx, `SELECT count(*) FROM tenant.targets WHERE state = 'published'`).Scan(&here); err != nil {
			return err
		}
		published += here
		if err := w.forget(ctx, shard); err != nil {
			return err
		}
	}
	if public != n || published != n {
		return fmt.Errorf("%d targets were due: %d are published and %d are public", n, published, public)
	}
	return nil
}

func (w *world) forget(ctx context.Context, shard string) error {
	err := w.exec(ctx, shard, `TRUNCATE tenant.targets, tenant.post_versions, tenant.posts, tenant.target_changes, tenant.attempts, tenant.outbox, tenant.publish_guards, tenant.account_rates, tenant.usage_months CASCADE`)
	if err == nil && shard == db.MainShard {
		err = w.exec(ctx, shard, `TRUNCATE control.publish_dispatch_index`)
	}
	return err
}

// posted is one public post: when it became so, and when it was due.
type posted struct{ at, due time.Time }

func (w *world) posts() []posted {
	var list []posted
	for i := range 64 {
		for k := range accounts {
			for _, p := range w.sim.Posts(network.Facebook, fmt.Sprintf("%d%04d", i+1, k)) {
				var id, micros int64
				if _, err := fmt.Sscanf(strings.TrimSpace(p.Text), "post %d due %d", &id, &micros); err == nil {
					list = append(list, posted{p.Time, time.UnixMicro(micros)})
				}
			}
		}
	}
	return list
}

// late measures from the later of the due instant and from.
func (w *world) late(from time.Time) (l lateness) {
	var all []time.Duration
	for _, p := range w.posts() {
		since := p.due
		if from.After(since) {
			since = from
		}
		d := p.at.Sub(since)
		if d < 0 {
			l.Early++
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return l
	}
	slices.Sort(all)
	l.P50, l.P99, l.Max = all[len(all)/2], all[len(all)*99/100], all[len(all)-1]
	return l
}
