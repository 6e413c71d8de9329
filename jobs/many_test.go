package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/sim"
)

// many plans n posts in two workspaces on two shards, each for three accounts,
// and returns the texts; every text is public three times in the end.
func (s *stack) many(t *testing.T, n int, after time.Duration) (texts []string) {
	t.Helper()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		a := s.Agency(t, "many-"+shard, shard)
		client := a.Client(t, "bakery")
		accounts := []model.AccountID{s.account(t, a, client, network.Facebook), s.account(t, a, client, network.Mastodon), s.account(t, a, client, network.Webhook)}
		for i := range n / 2 {
			texts = append(texts, fmt.Sprintf("Bread %d on %s", i, shard))
			s.write(t, a, model.Content{Text: texts[len(texts)-1], Accounts: accounts}, after)
		}
	}
	return texts
}

// wantEachOnce checks that every text is public once on each of its three
// accounts, and that the database says the same.
func (s *stack) wantEachOnce(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		if n := s.public(text); n != 3 {
			t.Errorf("%q is public %d times, want 3", text, n)
		}
	}
	published := 0
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		published += dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.targets WHERE state = 'published'`)
		if n := dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.posts WHERE state <> 'published'`); n != 0 {
			t.Errorf("%d posts on %s are not published", n, shard)
		}
		if n := dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.publish_guards`); n != 0 {
			t.Errorf("%d guards left on %s", n, shard)
		}
	}
	if published != 3*len(texts) {
		t.Errorf("%d targets published, want %d", published, 3*len(texts))
	}
}

func TestThreeWorkersWithTheirSchedulersPublishEachOf300TargetsOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	texts := s.many(t, 100, 0)
	for range 3 {
		s.start(t)
	}
	s.await(t, "all published", func() bool { return s.settled(t) })
	s.wantEachOnce(t, texts)
	if n := len(s.commits()); n != 300 {
		t.Errorf("%d commits for 300 targets", n)
	}
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		if n := dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.attempts`); n != 150 {
			t.Errorf("%d attempts on %s for 150 targets; those that are not published: %s", n, shard,
				dbtest.Look[string](t, s.World, shard, `SELECT coalesce(string_agg(to_jsonb(a)::text, E'\n'), '') FROM tenant.attempts a WHERE a.state <> 'published'`))
		}
	}
}

func TestARedisThatIsEmptiedWhileTasksAreInFlightLosesNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	texts := s.many(t, 40, 0)
	for _, net := range []network.Name{network.Facebook, network.Mastodon, network.Webhook} {
		s.fault(t, sim.Fault{Network: net, Step: sim.Commit, Kind: sim.Stall, Delay: 60 * time.Millisecond}) // so that much is in flight
	}
	s.start(t)
	s.start(t)
	for _, share := range []int{5, 40, 80} {
		s.await(t, fmt.Sprintf("%d posts", share), func() bool { return len(s.sim.Posts("", "")) >= share })
		if err := s.redis.FlushDB(t.Context()).Err(); err != nil { // every test has a database; FLUSHALL would empty all
			t.Fatal(err)
		}
	}
	s.await(t, "all published", func() bool { return s.settled(t) })
	s.wantEachOnce(t, texts)
	if n := len(s.commits()); n != 120 {
		t.Errorf("%d commits for 120 targets", n)
	}
}

// TestPostgresMayBeGoneForAWhileAndNoResultIsLost: calls end while the database
// is away, and others become due. `task chaos` keeps it away for 30 s.
func TestPostgresMayBeGoneForAWhileAndNoResultIsLost(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.settings.StaleInFlight = time.Minute
	line := plug(t, s.World)
	texts := s.many(t, 4, 0)
	for _, net := range []network.Name{network.Facebook, network.Mastodon, network.Webhook} {
		s.fault(t, sim.Fault{Network: net, Step: sim.Commit, Kind: sim.Stall, Delay: 700 * time.Millisecond, Times: 4})
	}
	pipe, err := db.OpenPipeline(t.Context(), line.through(s.Options()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pipe.Close)
	s.settings.Workers = 16
	s.start(t, func(d *jobs.Deps) { d.Pipe.Close(); d.Pipe = pipe })
	s.await(t, "all calls under way", func() bool { return len(s.sim.Posts("", "")) == 12 })
	line.cut()
	a := s.Agency(t, "later", dbtest.SecondShard)
	account := s.account(t, a, a.Client(t, "bakery"), network.Mastodon)
	late := s.write(t, a, model.Content{Text: "Due meanwhile", Accounts: []model.AccountID{account}}, 0)
	time.Sleep(2500 * time.Millisecond) // the outage itself
	if n := dbtest.Look[int](t, s.World, db.MainShard, `SELECT count(*) FROM tenant.targets WHERE state = 'publishing'`); n == 0 {
		t.Error("nothing was under way when the database went; this proves nothing")
	}
	line.mend()
	s.await(t, "all published", func() bool { return s.settled(t) })
	s.wantTarget(t, a, late.Targets[0].ID, model.Published, "")
	for _, text := range texts {
		if n := s.public(text); n != 3 {
			t.Errorf("%q is public %d times, want 3", text, n)
		}
	}
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		if n := dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.findings`); n != 0 {
			t.Errorf("%d look-ups on %s: results were forgotten", n, shard)
		}
		if n := dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.targets WHERE state <> 'published'`); n != 0 {
			t.Errorf("%d targets on %s are not published", n, shard)
		}
	}
}
