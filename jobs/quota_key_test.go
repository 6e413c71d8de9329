package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
)

// routed is an account that a publisher reaches with a key.
func (r *rig) routed(t *testing.T, a *dbtest.Agency, client model.ClientID, on network.Name, by network.Publisher, key string) model.AccountID {
	t.Helper()
	id := a.Account(t, client, on)
	r.Super(t, a.Shard, `UPDATE tenant.accounts SET publisher = $3, token = $4 WHERE tenant_id = $1 AND id = $2`, a.ID, id, by, r.Ring.Seal(key, db.TokenAAD(a.ID, id, "token")))
	return id
}

// A key is one, whichever workspace, network, account or process uses it.
func TestTheLimitOfAPublishersKeyIsKeptOverAllThatItReaches(t *testing.T) {
	t.Parallel()
	r, client := counted(t, network.Rate{Max: 1000, Per: time.Hour})
	second := r.process(t)
	r.count(t, second, client, network.Rate{Max: 1000, Per: time.Hour})
	r.pub.Aggregators, second.Aggregators = aggregated(r, network.Blotato), aggregated(r, network.Blotato)
	north, south := r.Agency(t, "north", db.MainShard), r.Agency(t, "south", dbtest.SecondShard)
	bakery, cafe := north.Client(t, "bakery"), south.Client(t, "cafe")
	shared := []model.AccountID{r.routed(t, north, bakery, network.X, network.Blotato, "one"), r.routed(t, north, bakery, network.Facebook, network.Blotato, "one")}
	there := r.routed(t, south, cafe, network.X, network.Blotato, "one")
	for i := range 32 {
		if i%4 == 3 {
			south.Due(t, fmt.Sprintf("Coffee %d", i), 0, there)
			continue
		}
		north.Due(t, fmt.Sprintf("Bread %d", i), 0, shared[i%2])
	}
	other := north.Due(t, "By another key", 0, r.routed(t, north, bakery, network.X, network.Blotato, "two")).Targets[0].ID
	r.together(t, r.due(t), r.pub, second)
	waits := r.states(t, north, model.RetryScheduled, "rate_limited") + r.states(t, south, model.RetryScheduled, "rate_limited")
	if waits != 2 || r.net.commits != 31 {
		t.Errorf("%d wait after %d commits, want 2 after 31", waits, r.net.commits)
	}
	if got := r.target(t, north, other); got.State != model.Published {
		t.Errorf("that of another key is %s (%s)", got.State, got.Reason)
	}
	say := ""
	for _, a := range []*dbtest.Agency{north, south} {
		say += dbtest.Look[string](t, r.World, a.Shard, `SELECT coalesce(max(say), '') FROM tenant.targets WHERE reason = 'rate_limited'`)
	}
	if !strings.Contains(say, "Blotato takes 30 posts in 60 s of a key") {
		t.Errorf("it says %q", say)
	}
	for _, name := range client.Keys(t.Context(), "herald:quota:*").Val() {
		if strings.Contains(name, "one") || strings.Contains(name, "two") {
			t.Errorf("%s tells the key", name)
		}
	}
	r.Clock.Advance(time.Minute)
	r.workAll(t)
	if r.net.commits != 33 {
		t.Errorf("a minute later %d commits, want 33", r.net.commits)
	}
}

// A limit on calls counts what a publish makes of them: the post, and the question
// what became of it.
func TestALimitOnCallsCountsTheCallsOfAPublish(t *testing.T) {
	t.Parallel()
	r, _ := counted(t, network.Rate{Max: 1000, Per: time.Hour})
	r.pub.Aggregators = aggregated(r, network.Bundle)
	a := r.Agency(t, "north", db.MainShard)
	account := r.routed(t, a, a.Client(t, "bakery"), network.X, network.Bundle, "one")
	for i := range 3 {
		a.Due(t, fmt.Sprintf("Bread %d", i), 0, account)
	}
	r.workAll(t)
	if waits := r.states(t, a, model.RetryScheduled, "rate_limited"); waits != 1 || r.net.commits != 2 {
		t.Errorf("%d wait after %d commits, want 1 after 2: five calls a second are two posts", waits, r.net.commits)
	}
	r.Clock.Advance(2 * time.Second)
	r.workAll(t)
	if r.net.commits != 3 {
		t.Errorf("%d commits, want 3", r.net.commits)
	}
}

// aggregated has the rig's network stand for a publisher.
func aggregated(r *rig, p network.Publisher) map[network.Publisher]networks.Adapter {
	return map[network.Publisher]networks.Adapter{p: r.net}
}
