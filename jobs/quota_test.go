package jobs_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks/fault"
)

// counted is a rig with X, whose app may make as many posts as said.
func counted(t *testing.T, app network.Rate) (*rig, *redis.Client) {
	t.Helper()
	r := newRig(t, func(s *jobs.Settings) { s.AccountCap = 100_000 })
	client := redisClient(redisNumber(t))
	t.Cleanup(func() { client.Close() })
	r.count(t, r.pub, client, app)
	return r, client
}

// count makes a process keep to quotas.
func (r *rig) count(t *testing.T, p *jobs.Publisher, client *redis.Client, app network.Rate) {
	p.Networks[network.X] = r.net
	p.Quotas = &jobs.Quotas{Redis: client, Pipe: p.Pipe, Now: r.Clock.Now, Log: slog.New(slog.DiscardHandler), Apps: map[network.Name]network.Rate{network.X: app}}
}

func TestTheQuotaOfTheAppIsKeptOverAllAccountsProcessesAndShards(t *testing.T) {
	t.Parallel()
	three := network.Rate{Max: 3, Per: time.Hour}
	r, client := counted(t, three)
	second := r.process(t)
	r.count(t, second, client, three)
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		a := r.Agency(t, "agency-"+shard, shard)
		bakery := a.Client(t, "bakery")
		for i := range 4 {
			a.Due(t, fmt.Sprintf("Bread %d of %s", i, shard), 0, a.Account(t, bakery, network.X))
		}
	}
	r.together(t, r.due(t), r.pub, second)
	if r.net.commits != 3 || r.net.prepares != 3 {
		t.Errorf("%d commits and %d preparations, want 3: nothing is prepared that has no room", r.net.commits, r.net.prepares)
	}
	say := dbtest.Look[string](t, r.World, db.MainShard, `SELECT coalesce(max(say), '') FROM tenant.targets WHERE reason = 'rate_limited'`) +
		dbtest.Look[string](t, r.World, dbtest.SecondShard, `SELECT coalesce(max(say), '') FROM tenant.targets WHERE reason = 'rate_limited'`)
	if !strings.Contains(say, "X takes 3 posts in 1 h of Herald's app") {
		t.Errorf("it says %q", say)
	}
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT coalesce(sum(attempts_used), 0) FROM tenant.targets WHERE state <> 'published'`); n != 0 {
		t.Errorf("waiting used %d attempts", n)
	}
	r.Clock.Advance(time.Hour)
	r.workAll(t)
	if r.net.commits != 6 {
		t.Errorf("an hour later %d commits, want 6", r.net.commits)
	}
}

func TestAQuotaOutlivesTheLossOfRedis(t *testing.T) {
	t.Parallel()
	r, client := counted(t, network.Rate{Max: 3, Per: time.Hour})
	north, south := r.Agency(t, "north", db.MainShard), r.Agency(t, "south", dbtest.SecondShard)
	bakery, cafe := north.Client(t, "bakery"), south.Client(t, "cafe")
	north.Due(t, "One", 0, north.Account(t, bakery, network.X))
	south.Due(t, "Two", 0, south.Account(t, cafe, network.X))
	routed := south.Account(t, cafe, network.X)
	r.Super(t, south.Shard, `UPDATE tenant.accounts SET publisher = 'bundle' WHERE id = $1`, routed)
	south.Due(t, "By another route", 0, routed) // counts for the aggregator's app, not for ours
	r.workAll(t)
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	r.Clock.Advance(time.Minute)
	north.Due(t, "Three", 0, north.Account(t, bakery, network.X))
	r.workAll(t)
	last := north.Due(t, "Four", 0, north.Account(t, bakery, network.X)).Targets[0].ID
	r.workAll(t)
	if r.net.commits != 4 {
		t.Errorf("%d commits, want four: one of them is not ours to count", r.net.commits)
	}
	if got := r.target(t, north, last); got.State != model.RetryScheduled || got.Reason != "rate_limited" {
		t.Errorf("the fourth is %s (%s)", got.State, got.Reason)
	}
}

func TestWithoutRedisTheNetworkItselfSaysWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	r, client := counted(t, network.Rate{Max: 1, Per: time.Hour})
	a := r.Agency(t, "north", db.MainShard)
	bakery := a.Client(t, "bakery")
	client.Close()
	for i := range 2 {
		a.Due(t, fmt.Sprintf("Bread %d", i), 0, a.Account(t, bakery, network.X))
	}
	r.workAll(t)
	if r.net.commits != 2 {
		t.Errorf("%d commits, want 2", r.net.commits)
	}
}

func TestAPublishThatWaitsCountsOnce(t *testing.T) {
	t.Parallel()
	r, _ := counted(t, network.Rate{Max: 2, Per: 24 * time.Hour})
	a := r.Agency(t, "north", db.MainShard)
	bakery := a.Client(t, "bakery")
	slow := a.Due(t, "Slow", 0, a.Account(t, bakery, network.X)).Targets[0].ID
	wait := fault.Wait(10*time.Second, "processing", "X is still working on it.")
	r.net.prepare = []error{wait, wait, wait}
	for range 4 {
		r.workAll(t)
		r.Clock.Advance(10 * time.Second)
	}
	other := a.Due(t, "Beside it", 0, a.Account(t, bakery, network.X)).Targets[0].ID
	r.workAll(t)
	for _, id := range []model.TargetID{slow, other} {
		if got := r.target(t, a, id); got.State != model.Published {
			t.Errorf("it is %s (%s)", got.State, got.Reason)
		}
	}
}

func TestTheQuotaOfAnAccountHoldsBackNoOther(t *testing.T) {
	t.Parallel()
	r, _ := counted(t, network.Rate{Max: 10_000, Per: 24 * time.Hour})
	a := r.Agency(t, "north", db.MainShard)
	bakery := a.Client(t, "bakery")
	busy := a.Account(t, bakery, network.X)
	for i := range 101 {
		a.Due(t, fmt.Sprintf("Bread %d", i), 0, busy)
	}
	r.workAll(t)
	if published, waits := r.states(t, a, model.Published, ""), r.states(t, a, model.RetryScheduled, "rate_limited"); published != 100 || waits != 1 {
		t.Errorf("%d published and %d wait, want 100 and 1", published, waits)
	}
	quiet := a.Due(t, "Of another account", 0, a.Account(t, bakery, network.X)).Targets[0].ID
	r.workAll(t)
	if got := r.target(t, a, quiet); got.State != model.Published {
		t.Errorf("another account's is %s (%s)", got.State, got.Reason)
	}
	r.Clock.Advance(15 * time.Minute)
	r.workAll(t)
	if n := r.states(t, a, model.Published, ""); n != 102 {
		t.Errorf("%d published a quarter of an hour later, want 102", n)
	}
}

// TestALimitThatNamesNoWaitIsMetEverMoreSeldom: what stands before a network shuts
// Herald out without a word on how long.
func TestALimitThatNamesNoWaitIsMetEverMoreSeldom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Facebook)).Targets[0].ID
	for range 200 {
		r.net.commit = append(r.net.commit, fault.New(fault.RateLimited, "http_429", "The network asked us to slow down."))
	}
	var first time.Duration
	for range 200 {
		r.workAll(t)
		target := r.target(t, a, id)
		if target.State == model.Failed {
			break
		}
		wait := target.NextAt.Sub(r.Clock.Now())
		if first == 0 {
			first = wait
		}
		if wait < time.Minute || wait > time.Hour {
			t.Fatalf("after %d refusals it waits %v", r.net.commits, wait)
		}
		r.Clock.Set(*target.NextAt)
	}
	if got := r.target(t, a, id); got.Reason != "rate_limited_too_long" || first > 2*time.Minute || r.net.commits < 24 || r.net.commits > 80 {
		t.Errorf("%s after %d calls in a day, the first wait %v; want a call an hour in the end", got.Reason, r.net.commits, first)
	}
}
