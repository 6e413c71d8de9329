package jobs_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks/fault"
)

// states counts the targets of an agency by state and reason.
func (r *rig) states(t *testing.T, a *dbtest.Agency, state model.State, reason string) int {
	t.Helper()
	return dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.targets WHERE tenant_id = $1 AND state = $2 AND ($3 = '' OR reason = $3)`, a.ID, state, reason)
}

// together runs every dispatch at once, shared among processes.
func (r *rig) together(t *testing.T, due []db.Dispatch, processes ...*jobs.Publisher) {
	t.Helper()
	var wg sync.WaitGroup
	for i, d := range due {
		wg.Go(func() {
			if err := processes[i%len(processes)].Publish(t.Context(), d.Key, d.DueAt); err != nil {
				t.Errorf("publish: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestTheMonthlyLimitHoldsHoweverManyClaimAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	processes := []*jobs.Publisher{r.pub, r.process(t), r.process(t)}
	a := r.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	for i := range 60 {
		a.Due(t, fmt.Sprintf("Bread %d", i), 0, a.Account(t, client, network.Webhook))
	}
	r.Super(t, a.Shard, `UPDATE tenant.tenants SET posts_a_month = 25 WHERE tenant_id = $1`, a.ID)
	// Some end unknown: they may be public, so they count.
	for range 5 {
		r.net.commit = append(r.net.commit, errUnknown)
	}
	r.together(t, r.due(t), processes...)
	published, unknown := r.states(t, a, model.Published, ""), r.states(t, a, model.UnknownOutcome, "")
	if published != 20 || unknown != 5 || r.net.commits != 25 {
		t.Errorf("%d published, %d unknown, %d commits; want 20, 5 and 25", published, unknown, r.net.commits)
	}
	if refused := r.states(t, a, model.Failed, "monthly_limit"); refused != 35 {
		t.Errorf("%d refused for the limit, want 35", refused)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT published FROM tenant.usage_months WHERE tenant_id = $1`, a.ID); n != 20 {
		t.Errorf("%d counted, want 20", n)
	}
	// Next month there is room again.
	r.Clock.Set(time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC))
	a.Due(t, "April bread", 0, a.Account(t, client, network.Webhook))
	for _, d := range r.due(t) {
		if d.Task == "publish" {
			r.work(t, d)
		}
	}
	if n := r.states(t, a, model.Published, ""); n != 21 {
		t.Errorf("%d published in April, want one more", n-20)
	}
}

func TestOnlyWhatMayGoTakesRoomFromTheMonthAndTheAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *jobs.Settings) { s.AccountCap = 1 })
	a := r.Agency(t, "north", db.MainShard)
	client, other := a.Client(t, "bakery"), a.Client(t, "paused")
	account := a.Account(t, client, network.Webhook)
	// In front stand an old task, one too many for its account, and one of a
	// client that pauses; behind them one that may go.
	gone := a.Due(t, "Cancelled bread", 0, account)
	front := a.Due(t, "Paused bread", 0, a.Account(t, other, network.Webhook))
	capped := a.Due(t, "Capped bread", 0, a.Account(t, client, network.Webhook))
	last := a.Due(t, "Fresh bread", 0, account)
	due := r.due(t)
	if _, err := a.Owner.CancelTarget(t.Context(), gone.Targets[0].ID, gone.Targets[0].Revision); err != nil {
		t.Fatal(err)
	}
	r.Super(t, a.Shard, `UPDATE tenant.tenants SET posts_a_month = 1 WHERE tenant_id = $1`, a.ID)
	r.Super(t, a.Shard, `UPDATE tenant.clients SET paused_at = $2 WHERE tenant_id = $1 AND id = $3`, a.ID, r.Clock.Now(), other)
	r.Super(t, a.Shard, `INSERT INTO tenant.account_rates VALUES ($1, $2, $3)`, a.ID, capped.Targets[0].AccountID, r.Clock.Now())
	group := &db.Group{}
	for _, d := range due {
		group.Claims = append(group.Claims, db.Claim{Key: d.Key, Owner: uuid.New()})
	}
	if err := r.pipe.Write(t.Context(), a.Shard, r.guards(), group); err != nil {
		t.Fatal(err)
	}
	got := map[model.TargetID]string{}
	for i, c := range group.Claims {
		got[c.Target] = string(group.Works[i].Verdict) + " " + group.Works[i].Reason
	}
	for page, want := range map[*db.PostPage]string{&gone: "obsolete ", &front: "postponed client_paused", &capped: "postponed account_rate", &last: "claimed "} {
		if v := got[page.Targets[0].ID]; v != want {
			t.Errorf("%s: %q, want %q", page.Version.Content.Text, v, want)
		}
	}
}

func TestAnAccountsOwnCapSpreadsItsPostsByTheClock(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *jobs.Settings) { s.AccountCap, s.AccountWindow = 3, time.Hour })
	a := r.Agency(t, "north", db.MainShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Webhook)
	for i := range 7 {
		a.Due(t, fmt.Sprintf("Bread %d", i), 0, account)
	}
	began := r.Clock.Now()
	r.workAll(t)
	if n := r.net.commits; n != 3 {
		t.Fatalf("%d at once, want 3", n)
	}
	if n := r.states(t, a, model.RetryScheduled, "account_rate"); n != 4 {
		t.Fatalf("%d postponed, want 4", n)
	}
	var when []time.Duration
	for seen := 3; r.Clock.Now().Sub(began) < 3*time.Hour; r.Clock.Advance(time.Minute) {
		r.workAll(t)
		for ; seen < r.net.commits; seen++ {
			when = append(when, r.Clock.Now().Sub(began))
		}
	}
	if want := []time.Duration{20 * time.Minute, 40 * time.Minute, time.Hour, 80 * time.Minute}; !slices.Equal(when, want) {
		t.Errorf("the others went after %v, want %v", when, want)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT sum(attempts_used) FROM tenant.targets`); n != 7 {
		t.Errorf("%d attempts used for 7 posts", n)
	}
}

func TestARateLimitOfTheNetworkClosesTheAccountUntilItIsOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Mastodon)
	first := a.Due(t, "First", 0, account).Targets[0].ID
	second := a.Due(t, "Second", time.Minute, account).Targets[0].ID
	r.net.commit = []error{&fault.Fault{Kind: fault.RateLimited, Code: "http_429", Status: 429, Say: "Too many posts.", Wait: 10 * time.Minute}}
	r.workAll(t)
	if x := r.target(t, a, first); x.State != model.RetryScheduled || x.Reason != "rate_limited" {
		t.Fatalf("first is %s (%s)", x.State, x.Reason)
	}
	r.Clock.Advance(time.Minute)
	r.workAll(t)
	if x := r.target(t, a, second); x.State != model.RetryScheduled || x.Reason != "network_rate" || r.net.commits != 1 {
		t.Fatalf("second is %s (%s) after %d commits, want postponed without a call", x.State, x.Reason, r.net.commits)
	}
	r.Clock.Advance(10 * time.Minute)
	r.workAll(t)
	for _, id := range []model.TargetID{first, second} {
		if x := r.target(t, a, id); x.State != model.Published {
			t.Errorf("target %d is %s (%s), want published", id, x.State, x.Reason)
		}
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT max(attempts_used) FROM tenant.targets`); n != 1 {
		t.Errorf("%d attempts used, want 1 each: waiting uses none", n)
	}
}
