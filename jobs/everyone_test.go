package jobs_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks/fault"
)

// overLimit is the answer of a network whose limit of the whole app, or of one
// account, is used up for ten minutes.
func overLimit(everyone bool) *fault.Fault {
	f := fault.New(fault.RateLimited, "app_limit", "The network asked us to slow down.")
	f.Wait, f.Everyone = 10*time.Minute, everyone
	return f
}

func TestTheLimitOfTheAppHoldsBackEveryAccountOfTheNetwork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	north, south := r.Agency(t, "north", db.MainShard), r.Agency(t, "south", dbtest.SecondShard)
	bakery, cafe := north.Client(t, "bakery"), south.Client(t, "cafe")
	met := north.Due(t, "Met the limit", 0, north.Account(t, bakery, network.Facebook)).Targets[0].ID
	r.net.commit = []error{overLimit(true)}
	r.workAll(t)
	ends := r.Clock.Now().Add(10 * time.Minute)

	beside := north.Due(t, "Of the same client", time.Minute, north.Account(t, bakery, network.Facebook)).Targets[0].ID
	away := south.Account(t, cafe, network.Facebook)
	foreign := south.Due(t, "Of another agency, on another shard", time.Minute, away).Targets[0].ID
	other := south.Due(t, "On another network", time.Minute, south.Account(t, cafe, network.Webhook)).Targets[0].ID
	routed := south.Account(t, cafe, network.Facebook)
	r.Super(t, south.Shard, `UPDATE tenant.accounts SET publisher = 'bundle' WHERE id = $1`, routed)
	byOther := south.Due(t, "By another route", time.Minute, routed).Targets[0].ID
	r.Clock.Advance(time.Minute)
	r.pub = r.process(t) // and in another process
	r.workAll(t)
	for who, want := range map[string]struct {
		agency *dbtest.Agency
		id     model.TargetID
		state  model.State
		reason string
	}{
		"the one that met it": {north, met, model.RetryScheduled, "rate_limited"}, "the client's other account": {north, beside, model.RetryScheduled, "network_rate"},
		"another agency's": {south, foreign, model.RetryScheduled, "network_rate"}, "another network's": {south, other, model.Published, ""}, "another route's": {south, byOther, model.Published, ""},
	} {
		got := r.target(t, want.agency, want.id)
		if got.State != want.state || got.Reason != want.reason {
			t.Errorf("%s is %s (%s), want %s (%s)", who, got.State, got.Reason, want.state, want.reason)
		}
		if want.reason == "network_rate" && !got.NextAt.Equal(ends) {
			t.Errorf("%s comes back at %v, want %v", who, got.NextAt, ends)
		}
	}
	if card, err := south.Owner.Account(t.Context(), away); err != nil || card.ClosedUntil == nil || !card.ClosedUntil.Equal(ends) {
		t.Errorf("the account says it waits until %v, %v", card.ClosedUntil, err)
	}
	if r.net.commits != 3 {
		t.Errorf("%d calls, want one that met the limit and two that had nothing to do with it", r.net.commits)
	}
	r.Clock.Set(ends)
	r.workAll(t)
	for agency, id := range map[*dbtest.Agency]model.TargetID{north: beside, south: foreign} {
		if got := r.target(t, agency, id); got.State != model.Published {
			t.Errorf("after the limit it is %s (%s)", got.State, got.Reason)
		}
	}
}

func TestTheLimitOfOneAccountHoldsBackNobodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	a.Due(t, "Met the limit", 0, a.Account(t, client, network.Facebook))
	r.net.commit = []error{overLimit(false)}
	r.workAll(t)
	id := a.Due(t, "Another account", time.Minute, a.Account(t, client, network.Facebook)).Targets[0].ID
	r.Clock.Advance(time.Minute)
	r.workAll(t)
	if got := r.target(t, a, id); got.State != model.Published {
		t.Errorf("it is %s (%s)", got.State, got.Reason)
	}
}

func TestAShorterLimitDoesNotOpenANetworkEarly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Facebook)
	long, short := r.Clock.Now().Add(time.Hour), r.Clock.Now().Add(time.Minute)
	for _, until := range []time.Time{long, short} {
		if err := r.pipe.LimitNetwork(t.Context(), a.Shard, a.ID, account, until); err != nil {
			t.Fatal(err)
		}
	}
	for _, shard := range r.pipe.Shards() {
		if got := dbtest.Look[time.Time](t, r.World, shard, `SELECT closed_until FROM tenant.network_limits WHERE network = 'facebook' AND publisher = 'direct'`); !got.Equal(long) {
			t.Errorf("%s: closed until %v, want %v", shard, got, long)
		}
	}
}
