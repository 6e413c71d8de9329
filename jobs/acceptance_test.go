package jobs_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/sim"
)

// fourShapes are the networks that cover the shapes of calls, and tenNetworks as many
// different ones. The last two of each refuse.
var (
	fourShapes = []network.Name{network.Facebook, network.Instagram, network.Mastodon, network.Webhook, network.Facebook,
		network.Instagram, network.Mastodon, network.Webhook, network.Mastodon, network.Webhook}
	tenNetworks = []network.Name{network.Bluesky, network.Facebook, network.GoogleBusiness, network.Instagram, network.LinkedIn,
		network.Mastodon, network.Threads, network.X, network.Discord, network.Telegram}
)

// TestOfTenTargetsTwoRefusedEightAppearOnce is the seed's acceptance case, on
// both shards at once: over the four shapes, and over ten different networks.
func TestOfTenTargetsTwoRefusedEightAppearOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	agencies := map[string]*dbtest.Agency{}
	posts := map[string]model.PostID{}
	for shard, nets := range map[string][]network.Name{db.MainShard: fourShapes, dbtest.SecondShard: tenNetworks} {
		a := s.Agency(t, "agency-"+shard, shard)
		agencies[shard], posts[shard] = a, s.tenTargets(t, a, nets)
	}
	worker := s.start(t)
	s.await(t, "both posts at their end", func() bool { return s.settled(t) })
	for shard, a := range agencies {
		s.wantEightOfTen(t, a, posts[shard])
	}
	before := s.tally(t)

	s.replayEverything(t, worker)
	for shard, a := range agencies {
		s.wantEightOfTen(t, a, posts[shard])
	}
	if after := s.tally(t); after != before {
		t.Errorf("replay changed something:\nbefore %s\nafter  %s", before, after)
	}

	s.sim.ClearFaults()
	for shard, a := range agencies {
		s.retryBoth(t, a, posts[shard])
	}
}

// tenTargets plans a post with a picture for ten accounts, of which the ninth
// and the tenth are refused for good.
func (s *stack) tenTargets(t *testing.T, a *dbtest.Agency, nets []network.Name) model.PostID {
	t.Helper()
	client := a.Client(t, "bakery")
	var accounts []model.AccountID
	for i, net := range nets {
		accounts = append(accounts, s.account(t, a, client, net))
		if i >= 8 {
			if err := s.sim.Fault(sim.Fault{Network: net, Account: s.remote(t, a, accounts[i]), Step: sim.Commit, Kind: sim.Invalid}); err != nil {
				t.Fatal(err)
			}
		}
	}
	content := model.Content{Text: "Fresh bread on " + a.Slug, Accounts: accounts, Media: []model.ContentMedia{s.media(t, a, client, "loaf-"+a.Slug)}}
	return s.write(t, a, content, 200*time.Millisecond).Post.ID
}

func (s *stack) wantEightOfTen(t *testing.T, a *dbtest.Agency, id model.PostID) {
	t.Helper()
	page, err := a.Owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if page.Post.State != model.PostPartiallyFailed {
		t.Errorf("%s: post is %s, want partially_failed", a.Slug, page.Post.State)
	}
	states := map[model.State]int{}
	for i, target := range page.Targets {
		states[target.State]++
		remote := s.remote(t, a, target.AccountID)
		public, want := len(s.sim.Posts(target.Network, remote)), 1
		if target.State == model.Failed {
			want = 0
		}
		if public != want {
			t.Errorf("%s: target %d on %s is %s with %d public posts, want %d", a.Slug, i+1, target.Network, target.State, public, want)
		}
		if target.State == model.Published && (target.Permalink == "" && target.Network != network.Webhook) {
			t.Errorf("%s: target %d on %s is published without an address", a.Slug, i+1, target.Network)
		}
		if target.State == model.Failed && (target.Reason != "refused_by_network" || target.Say == "") {
			t.Errorf("%s: target %d failed for %q, %q", a.Slug, i+1, target.Reason, target.Say)
		}
	}
	if !maps.Equal(states, map[model.State]int{model.Published: 8, model.Failed: 2}) {
		t.Errorf("%s: %v, want 8 published and 2 failed\n%s", a.Slug, states, s.picture(t))
	}
	if n := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.targets WHERE tenant_id = $1 AND state = 'published'`, a.ID); n != 8 {
		t.Errorf("%s: %d published rows, want 8", a.Slug, n)
	}
}

// tally is everything that a replay must not change.
func (s *stack) tally(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		for _, table := range []string{"targets", "attempts", "target_changes", "findings", "mails", "publish_guards", "usage_months"} {
			fmt.Fprintf(&b, "%s.%s %d, ", shard, table, dbtest.Look[int](t, s.World, shard, `SELECT count(*) FROM tenant.`+table))
		}
	}
	fmt.Fprintf(&b, "%d dispatches, ", dbtest.Look[int](t, s.World, db.MainShard, `SELECT count(*) FROM control.publish_dispatch_index`))
	fmt.Fprintf(&b, "%d commits, %d public", len(s.commits()), len(s.sim.Posts("", "")))
	return b.String()
}

// replayEverything relays every event again, enqueues every dispatch again, and
// runs the verb of every dispatch twice at once beside that.
func (s *stack) replayEverything(t *testing.T, worker *jobs.Server) {
	t.Helper()
	publisher, _, _ := worker.Verbs()
	var dispatches []db.Dispatch
	for _, raw := range strings.Fields(dbtest.Look[string](t, s.World, db.MainShard, `
		SELECT string_agg(concat_ws('|', shard, tenant_id, target_id, version_id, seq, task), ' ') FROM control.publish_dispatch_index`)) {
		var d db.Dispatch
		if _, err := fmt.Sscanf(strings.ReplaceAll(raw, "|", " "), "%s %d %d %d %d %s", &d.Shard, &d.Tenant, &d.Target, &d.Version, &d.Seq, &d.Task); err != nil {
			t.Fatal(err)
		}
		dispatches = append(dispatches, d)
	}
	if len(dispatches) < 20 {
		t.Fatalf("%d dispatches to replay, want one per target at least", len(dispatches))
	}
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		s.Super(t, shard, `UPDATE tenant.outbox SET relayed_at = NULL`)
	}
	s.Super(t, db.MainShard, `UPDATE control.publish_dispatch_index SET status = 'pending', due_at = $1`, s.Clock.Now())
	worker.Nudge()
	var wg sync.WaitGroup
	for _, d := range append(dispatches, dispatches...) {
		wg.Go(func() {
			var err error
			switch d.Task {
			case "publish":
				err = publisher.Publish(t.Context(), d.Key, s.Clock.Now())
			case "reconcile":
				err = publisher.Reconcile(t.Context(), d.Key)
			case "follow_up":
				err = publisher.FollowUp(t.Context(), d.Key)
			}
			if err != nil {
				t.Errorf("replay of %s: %v", d.Task, err)
			}
		})
	}
	wg.Wait()
	s.await(t, "the replay at its end", func() bool { return s.settled(t) })
}

// retryBoth does what the screen offers for the two failures.
func (s *stack) retryBoth(t *testing.T, a *dbtest.Agency, id model.PostID) {
	t.Helper()
	page, err := a.Owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := a.Owner.RetryFailed(t.Context(), id, page.Post.Revision); err != nil || n != 2 {
		t.Fatalf("%s: retry of the failures: %d, %v", a.Slug, n, err)
	}
	s.await(t, "the retried targets published", func() bool {
		page, err := a.Owner.Post(t.Context(), id)
		return err == nil && page.Post.State == model.PostPublished
	})
	for _, target := range page.Targets {
		if n := len(s.sim.Posts(target.Network, s.remote(t, a, target.AccountID))); n != 1 {
			t.Errorf("%s: %d public posts on %s after the retry, want 1", a.Slug, n, target.Network)
		}
	}
}
