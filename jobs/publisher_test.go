package jobs_test

import (
	"strings"
	"testing"

	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks"
	"herald/jobs/networks/bundle"
	"herald/jobs/networks/httpx"
	"herald/jobs/sim"
)

// TestOnePublisherTakesAVersionsFileOnce: the fan-out shares it, what the publisher
// only accepted is asked about until it is published, and each account has its post.
func TestOnePublisherTakesAVersionsFileOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	content := model.Content{Text: "Fresh bread", Media: []model.ContentMedia{s.media(t, a, client, "loaf")}}
	for range 3 {
		content.Accounts = append(content.Accounts, s.account(t, a, client, network.Facebook))
	}
	s.Super(t, a.Shard, `UPDATE tenant.accounts SET publisher = 'bundle', remote_id = 'team1' WHERE tenant_id = $1`, a.ID)
	at := network.Name(network.Bundle)
	if err := s.sim.Fault(sim.Fault{Network: at, Kind: sim.AsyncPending, Times: 2}); err != nil {
		t.Fatal(err)
	}
	s.start(t, func(d *jobs.Deps) {
		o := httpx.Options{Timeout: s.settings.ProviderTimeout, Now: s.Clock.Now}
		d.Aggregators = map[network.Publisher]networks.Adapter{network.Bundle: bundle.New(networks.Env{Base: s.net + "/bundle", HTTP: httpx.New(o), Guarded: httpx.NewGuarded(o, s.private), Now: s.Clock.Now})}
	})
	page := s.write(t, a, content, 0)
	s.await(t, "published everywhere", func() bool { return s.settled(t) })
	for _, target := range page.Targets {
		if got := s.wantTarget(t, a, target.ID, model.Published, "found_by_look_up"); got.Permalink == "" {
			t.Errorf("target %d has no address", target.ID)
		}
	}
	if posts := s.sim.Posts(at, "team1"); len(posts) != 3 {
		t.Errorf("%d posts, want 3", len(posts))
	}
	uploads := 0
	for _, c := range s.sim.Calls(at, "") {
		if strings.HasSuffix(c.Path, "/upload/") {
			uploads++
		}
	}
	if uploads != 1 {
		t.Errorf("%d uploads, want one for all", uploads)
	}
}
