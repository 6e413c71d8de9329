package jobs_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/sim"
)

func TestABeginWhoseAnswerWasLostMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Webhook))
	key := r.due(t)[0].Key
	owner := uuid.New()
	work, err := r.pub.Committer.Claim(t.Context(), key, owner)
	if err != nil || work.Verdict != db.Claimed {
		t.Fatalf("claim: %s, %v", work.Verdict, err)
	}
	step := db.Step{Key: key, Owner: owner, Attempt: work.Attempt}
	for range 2 {
		if err := r.pub.Committer.Begin(t.Context(), step); err != nil {
			t.Errorf("begin by the holder: %v", err)
		}
	}
	step.Owner = uuid.New()
	if err := r.pub.Committer.Begin(t.Context(), step); err == nil {
		t.Error("another may begin the call too")
	}
}

func TestAClaimWhoseAnswerWasLostMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Webhook))
	claim := db.Claim{Key: r.due(t)[0].Key, Owner: uuid.New()}
	var works []db.Work
	for range 2 {
		group := &db.Group{Claims: []db.Claim{claim}}
		if err := r.pipe.Write(t.Context(), a.Shard, r.guards(), group); err != nil {
			t.Fatal(err)
		}
		works = append(works, group.Works[0])
	}
	if works[1].Verdict != db.Claimed || works[1].Attempt != works[0].Attempt || works[1].Part.Text != "Fresh bread" {
		t.Errorf("asked again: %s, attempt %d, %q; want the same claim", works[1].Verdict, works[1].Attempt, works[1].Part.Text)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.attempts`); n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
	claim.Owner = uuid.New()
	group := &db.Group{Claims: []db.Claim{claim}}
	if err := r.pipe.Write(t.Context(), a.Shard, r.guards(), group); err != nil || group.Works[0].Verdict != db.Busy {
		t.Errorf("another's claim: %s, %v; want busy", group.Works[0].Verdict, err)
	}
}

// TestAWorkerThatSleptThroughItsClaimDoesNotCall: a process that is stopped (a
// laptop's lid, a frozen machine) between its claim and its call wakes when
// others have long looked, found nothing and published.
func TestAWorkerThatSleptThroughItsClaimDoesNotCall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Mastodon)).Targets[0].ID
	other := r.process(t)
	absent := networks.Finding{Verdict: networks.Absent, Say: "Not there."}
	r.pub.Fail = func(point string) {
		if point != "before_commit" {
			return
		}
		r.pub.Fail = nil
		r.net.find = []networks.Finding{absent, absent}
		for range 8 {
			r.Clock.Advance(11 * time.Minute)
			if _, err := r.pipe.SweepClaims(t.Context(), a.Shard, r.settings.StaleInFlight, r.Clock.Now(), r.Clock.Now(), 10); err != nil {
				t.Error(err)
			}
			for _, d := range r.due(t) {
				if d.Task == "publish" {
					if err := other.Publish(t.Context(), d.Key, d.DueAt); err != nil {
						t.Error(err)
					}
				} else if err := other.Reconcile(t.Context(), d.Key); err != nil {
					t.Error(err)
				}
			}
		}
		if s := r.target(t, a, id).State; s != model.Published {
			t.Errorf("the others left it %s", s)
		}
	}
	r.workAll(t)
	if r.net.commits != 1 || r.target(t, a, id).State != model.Published {
		t.Errorf("%d posts, target %s; want 1, published", r.net.commits, r.target(t, a, id).State)
	}
}

func TestAClockSetBackDoesNotLoseATaskThatIsHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Fresh bread", time.Second, a.Account(t, a.Client(t, "bakery"), network.Mastodon)).Targets[0].ID
	asked := 0
	r.pub.Now = func() time.Time { // each look at the clock is a quarter second later, but for one
		if asked++; asked == 2 {
			r.Clock.Advance(-time.Second)
		}
		r.Clock.Advance(time.Second / 4)
		return r.Clock.Now()
	}
	for _, shard := range r.pipe.Shards() {
		if _, err := r.pipe.Relay(t.Context(), shard, 10, nil); err != nil {
			t.Fatal(err)
		}
	}
	var due []db.Dispatch
	if _, err := r.pipe.TakeDue(t.Context(), dbtest.Noon.Add(time.Minute), 10, func(d []db.Dispatch) error { due = d; return nil }); err != nil {
		t.Fatal(err)
	}
	r.work(t, due[0])
	if s := r.target(t, a, id).State; s != model.Published {
		t.Errorf("target is %s, want published", s)
	}
}

// TestACallThatOutlivesTheDrainIsLeftToTheSweeper: the process goes on time, and
// what it could not write down is found out by the next one.
func TestACallThatOutlivesTheDrainIsLeftToTheSweeper(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.settings.StaleInFlight, s.settings.Drain = 4*time.Second, 300*time.Millisecond
	a := s.Agency(t, "north", db.MainShard)
	account := s.account(t, a, a.Client(t, "bakery"), network.Mastodon)
	s.fault(t, sim.Fault{Network: network.Mastodon, Step: sim.Commit, Kind: sim.Stall, Delay: 4 * time.Second, Times: 1})
	page := s.write(t, a, model.Content{Text: "Fresh bread", Accounts: []model.AccountID{account}}, 0)
	server := s.worker(t)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.await(t, "the call under way", func() bool { return s.public("Fresh bread") == 1 })
	began := time.Now()
	server.Stop()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("draining took %v", took)
	}
	s.start(t)
	s.await(t, "published", func() bool {
		target, err := a.Owner.Target(t.Context(), page.Targets[0].ID)
		return err == nil && target.State == model.Published
	})
	if n := len(s.sim.Posts(network.Mastodon, "")); n != 1 {
		t.Errorf("%d public posts, want 1", n)
	}
}

func TestDrainingGivesBackWhatWaitsForItsInstant(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.settings.Lookahead = time.Minute
	a := s.Agency(t, "north", dbtest.SecondShard)
	account := s.account(t, a, a.Client(t, "bakery"), network.Webhook)
	for i := range 5 {
		s.write(t, a, model.Content{Text: "Bread " + string(rune('a'+i)), Accounts: []model.AccountID{account}}, 30*time.Second)
	}
	server := s.worker(t)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	dispatches := func(status string) int {
		return dbtest.Look[int](t, s.World, db.MainShard, `SELECT count(*) FROM control.publish_dispatch_index WHERE status = $1`, status)
	}
	s.await(t, "five tasks held", func() bool { return dispatches("enqueued") == 5 })
	s.await(t, "none left in the queue", func() bool { return s.redis.LLen(t.Context(), "asynq:{publish}:pending").Val() == 0 })
	server.Stop()
	if n := dispatches("pending"); n != 5 {
		t.Fatalf("%d given back, want 5", n)
	}
	if n := s.redis.Exists(t.Context(), "asynq:{publish}:active").Val(); n != 0 {
		t.Error("the queue still has them as active")
	}
	s.start(t)
	s.skip(30 * time.Second)
	s.await(t, "all published", func() bool { return s.settled(t) })
	if n := len(s.sim.Posts(network.Webhook, "")); n != 5 {
		t.Errorf("%d public posts, want 5", n)
	}
}

// TestADeadlockIsAskedAgain: a result is given up for what it says only, never
// because Postgres was busy, full or in each other's way.
func TestADeadlockIsAskedAgain(t *testing.T) {
	t.Parallel()
	for code, bad := range map[string]bool{"40P01": false, "40001": false, "53300": false, "53100": false, "55P03": false, "57P01": false, "08006": false, "58030": false,
		"22P02": true, "23503": true, "42P01": true} {
		if got := db.BadRow(fmt.Errorf("write: %w", &pgconn.PgError{Code: code})); got != bad {
			t.Errorf("%s: bad row %t, want %t", code, got, bad)
		}
	}
	if db.BadRow(io.ErrUnexpectedEOF) {
		t.Error("a connection that broke is no bad row")
	}
}
