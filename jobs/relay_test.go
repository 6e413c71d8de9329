package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
)

func (r *rig) relayAll(t *testing.T) {
	t.Helper()
	for _, shard := range r.pipe.Shards() {
		if _, err := r.pipe.Relay(t.Context(), shard, 500, func(context.Context, db.Event) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEventsOfOneTargetMayBeRelayedInAnyOrderAndTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i, order := range [][]int{{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}} {
		a := r.Agency(t, fmt.Sprintf("order%d", i), []string{db.MainShard, dbtest.SecondShard}[i%2])
		page := a.Due(t, "Fresh bread", time.Hour, a.Account(t, a.Client(t, "bakery"), network.Webhook))
		target := page.Targets[0]
		when, err := model.At(r.Clock.Now().Add(2*time.Hour), "Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		if target, err = a.Owner.Reschedule(t.Context(), target.ID, target.Revision, when); err != nil {
			t.Fatal(err)
		}
		if _, err = a.Owner.CancelTarget(t.Context(), target.ID, target.Revision); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT max(seq) FROM tenant.outbox WHERE tenant_id = $1`, a.ID); n != 3 {
			t.Fatalf("the last event is number %d, want 3", n)
		}
		for range 2 {
			for _, seq := range order {
				r.Super(t, a.Shard, `UPDATE tenant.outbox SET relayed_at = CASE WHEN seq = $2 THEN NULL ELSE $3::timestamptz END WHERE tenant_id = $1`, a.ID, seq, r.Clock.Now())
				r.relayAll(t)
			}
		}
		got := dbtest.Look[string](t, r.World, db.MainShard, `SELECT status || ' ' || seq FROM control.publish_dispatch_index WHERE tenant_id = $1`, a.ID)
		if got != "cancelled 3" {
			t.Errorf("relayed in the order %v: %s, want cancelled 3", order, got)
		}
	}
	r.Clock.Advance(3 * time.Hour)
	r.workAll(t)
	if r.net.commits != 0 {
		t.Errorf("%d commits of what was cancelled", r.net.commits)
	}
}

func TestARelayThatDiesBetweenItsTwoWritesRepeatsHarmlessly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	for i := range 20 {
		a.Due(t, fmt.Sprintf("Bread %d", i), 0, a.Account(t, client, network.Webhook))
	}
	died := errors.New("died")
	r.pipe.FailAt(func(point string) {
		if point == "relay_upserted" {
			panic(died)
		}
	})
	func() {
		defer func() {
			if v := recover(); v != died {
				t.Errorf("it ended with %v", v)
			}
		}()
		_, _ = r.pipe.Relay(t.Context(), a.Shard, 500, nil)
	}()
	r.pipe.FailAt(nil)
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.outbox WHERE relayed_at IS NULL`); n != 20 {
		t.Fatalf("%d events left to relay, want 20", n)
	}
	r.workAll(t)
	r.workAll(t)
	if r.net.commits != 20 || r.states(t, a, model.Published, "") != 20 {
		t.Errorf("%d commits, want 20", r.net.commits)
	}
}

func TestADispatcherThatDiesBetweenEnqueueAndCommitRepeatsHarmlessly(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	for i := range 20 {
		s.write(t, a, model.Content{Text: fmt.Sprintf("Bread %d", i), Accounts: []model.AccountID{s.account(t, a, client, network.Webhook)}}, 0)
	}
	died := errors.New("died")
	_, ticker, _ := s.worker(t, func(d *jobs.Deps) {
		d.Fail = func(point string) {
			if point == "dispatch_enqueued" {
				panic(died)
			}
		}
	}).Verbs()
	func() {
		defer func() {
			if v := recover(); v != died {
				t.Errorf("it ended with %v", v)
			}
		}()
		_ = ticker.Tick(t.Context())
	}()
	if n := dbtest.Look[int](t, s.World, db.MainShard, `SELECT count(*) FROM control.publish_dispatch_index WHERE status = 'pending'`); n != 20 {
		t.Fatalf("%d rows pending, want 20", n)
	}
	if n := s.redis.LLen(t.Context(), "asynq:{publish}:pending").Val() + s.redis.LLen(t.Context(), "asynq:{publish_bulk}:pending").Val(); n != 20 {
		t.Fatalf("%d tasks in Redis, want 20", n)
	}
	s.start(t)
	s.await(t, "all published", func() bool { return s.settled(t) })
	if n := len(s.commits()); n != 20 || len(s.sim.Posts("", "")) != 20 {
		t.Errorf("%d commits, want 20", n)
	}
}

func TestPublishNowPressedTwicePublishesOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	account := s.account(t, a, a.Client(t, "bakery"), network.Facebook)
	page := s.approved(t, a, model.Content{Text: "Fresh bread", Accounts: []model.AccountID{account}})
	s.start(t)
	s.start(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			_, err := a.Owner.PublishNow(t.Context(), page.Post.ID, page.Post.Revision)
			if _, refused := model.Refused(err); err != nil && !refused {
				t.Errorf("publish now: %v", err)
			}
		})
	}
	wg.Wait()
	s.await(t, "published", func() bool { return s.settled(t) && s.public("Fresh bread") > 0 })
	s.wantTarget(t, a, page.Targets[0].ID, model.Published, "")
	if n := len(s.commits()); n != 1 || s.public("Fresh bread") != 1 {
		t.Errorf("%d commits, %d public posts; want 1", n, s.public("Fresh bread"))
	}
}

// TestManyEventsRenewTheStatistics: after a burst the planner knows that the tables
// are no longer empty, without waiting for autovacuum.
func TestManyEventsRenewTheStatistics(t *testing.T) {
	t.Parallel()
	r := newRigIn(t, dbtest.Untouched(t)) // how large tables are decides
	a := r.Agency(t, "north", db.MainShard)
	r.Super(t, db.MainShard, `ANALYZE`)
	r.Super(t, db.MainShard, `INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
		SELECT $1, 'x' || n, 'target.publish', n, n, 1, $2, $2 FROM generate_series(1, 700) n`, a.ID, r.Clock.Now())
	ticker := &jobs.Ticker{Pipe: r.pipe, Notify: func(context.Context, string, db.Event) error { return nil }, Log: r.pub.Log}
	if _, err := ticker.Relay(t.Context(), db.MainShard); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"tenant.outbox", "control.publish_dispatch_index"} {
		if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT reltuples::int FROM pg_class WHERE oid = $1::regclass`, table); n < 500 {
			t.Errorf("the planner counts %d rows in %s, want at least 500", n, table)
		}
	}
}
