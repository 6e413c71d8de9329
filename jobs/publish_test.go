package jobs_test

import (
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

func (r *rig) target(t *testing.T, a *dbtest.Agency, id model.TargetID) db.Target {
	t.Helper()
	target, err := a.Owner.Target(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestADueTargetIsPublishedOnceHoweverOftenItsTaskRuns(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		r := newRig(t)
		a := r.Agency(t, "north", shard)
		page := a.Due(t, "Fresh bread", time.Hour, a.Account(t, a.Client(t, "bakery"), network.Webhook))
		if early := r.due(t); len(early) != 0 {
			t.Fatalf("%s: %d dispatches an hour early", shard, len(early))
		}
		r.Clock.Advance(time.Hour)
		due := r.due(t)
		if len(due) != 1 {
			t.Fatalf("%s: %d dispatches, want 1", shard, len(due))
		}
		for range 3 {
			r.work(t, due[0])
		}
		target := r.target(t, a, page.Targets[0].ID)
		if target.State != model.Published || target.Permalink == "" || len(r.net.public) != 1 {
			t.Errorf("%s: target %s at %q, %d public posts; want published once", shard, target.State, target.Permalink, len(r.net.public))
		}
		post, err := a.Owner.Post(t.Context(), page.Post.ID)
		if err != nil || post.Post.State != model.PostPublished {
			t.Errorf("%s: post %s, %v; want published", shard, post.Post.State, err)
		}
		status := ""
		for range 100 { // another database's dispatches are marked in bulk, a moment later
			if status = dbtest.Look[string](t, r.World, db.MainShard, `SELECT status FROM control.publish_dispatch_index`); status == "done" {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if status != "done" {
			t.Errorf("%s: dispatch is %s, want done", shard, status)
		}
		if n := dbtest.Look[int](t, r.World, shard, `SELECT count(*) FROM tenant.publish_guards`); n != 0 {
			t.Errorf("%s: %d guards left", shard, n)
		}
	}
}

func TestAnUnknownOutcomeIsNeverRetriedBeforeTheNetworkWasAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	page := a.Due(t, "Fresh bread", time.Hour, a.Account(t, a.Client(t, "bakery"), network.Mastodon))
	id := page.Targets[0].ID
	r.Clock.Advance(time.Hour)
	r.net.commit, r.net.stored = []error{errUnknown}, true
	r.workAll(t)
	if s := r.target(t, a, id).State; s != model.UnknownOutcome {
		t.Fatalf("state %s, want unknown_outcome", s)
	}
	r.Clock.Advance(time.Minute)
	r.net.find = []networks.Finding{{Verdict: networks.Found, Receipt: networks.Receipt{ExternalID: "post-1", Permalink: "https://net.example/post-1"}, Say: "Seen in the list."}}
	r.workAll(t)
	if target := r.target(t, a, id); target.State != model.Published || target.Permalink != "https://net.example/post-1" {
		t.Errorf("target %s at %q, want published where it was found", target.State, target.Permalink)
	}
	if r.net.commits != 1 {
		t.Errorf("%d commits, want 1", r.net.commits)
	}
}

func TestAbsenceCountsOnTheSecondLookOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	id := a.Due(t, "Fresh bread", time.Hour, a.Account(t, a.Client(t, "bakery"), network.Mastodon)).Targets[0].ID
	r.Clock.Advance(time.Hour)
	r.net.commit = []error{errUnknown}
	r.workAll(t)
	absent := networks.Finding{Verdict: networks.Absent, Say: "Not in a complete list."}
	r.net.find = []networks.Finding{absent, absent}
	r.Clock.Advance(time.Minute)
	r.workAll(t)
	if s := r.target(t, a, id).State; s != model.UnknownOutcome {
		t.Fatalf("after the first look %s, want still unknown_outcome", s)
	}
	r.Clock.Advance(time.Hour)
	r.workAll(t)
	if s := r.target(t, a, id).State; s != model.RetryScheduled {
		t.Fatalf("after the second look %s, want retry_scheduled", s)
	}
	r.Clock.Advance(2 * time.Hour)
	r.workAll(t)
	if s := r.target(t, a, id).State; s != model.Published || len(r.net.public) != 1 {
		t.Errorf("%s with %d public posts, want published once", s, len(r.net.public))
	}
}

func TestTransientFaultsBackOffAndEndAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Fresh bread", time.Hour, a.Account(t, a.Client(t, "bakery"), network.Webhook)).Targets[0].ID
	r.Clock.Advance(time.Hour)
	for range 5 {
		r.net.commit = []error{fault.New(fault.Transient, "refused", "No connection.")}
		r.workAll(t)
		r.Clock.Advance(2 * time.Hour)
	}
	target := r.target(t, a, id)
	if target.State != model.Failed || target.Reason != "attempts_used_up" || r.net.commits != 5 {
		t.Errorf("%s (%s) after %d commits, want failed after 5", target.State, target.Reason, r.net.commits)
	}
	if _, err := a.Owner.RetryTarget(t.Context(), id, target.Revision); err != nil {
		t.Fatal(err)
	}
	r.workAll(t)
	if s := r.target(t, a, id).State; s != model.Published {
		t.Errorf("after a person's retry %s, want published", s)
	}
}

func TestAMaterialEditTakesBackDelivery(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	page := a.Due(t, "Fresh bread", time.Hour, a.Account(t, a.Client(t, "bakery"), network.Webhook))
	r.Clock.Advance(time.Hour)
	due := r.due(t)
	content := page.Version.Content
	content.Text = "Stale bread"
	page, err := a.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range due {
		r.work(t, d)
	}
	r.workAll(t)
	if page.Targets[0].State != model.Draft || len(r.net.public) != 0 {
		t.Errorf("target %s, %d public posts; want draft and none", page.Targets[0].State, len(r.net.public))
	}
}
