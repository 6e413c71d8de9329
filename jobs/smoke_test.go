package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/webhook"
)

// The playbook's smoke list, items 1 to 9, in our words.

func (s *stack) wantTarget(t *testing.T, a *dbtest.Agency, id model.TargetID, state model.State, reason string) db.Target {
	t.Helper()
	target, err := a.Owner.Target(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if target.State != state || target.Reason != reason {
		t.Errorf("target on %s is %s (%s: %s), want %s (%s)", target.Network, target.State, target.Reason, target.Say, state, reason)
	}
	return target
}

func TestSmoke1APictureAppearsOnInstagramNowAndAtItsTime(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	account := s.account(t, a, client, network.Instagram)
	file := s.media(t, a, client, "loaf")
	post := func(text string) model.Content {
		return model.Content{Text: text, Accounts: []model.AccountID{account}, Media: []model.ContentMedia{file}}
	}
	s.start(t)
	now := s.approved(t, a, post("Now"))
	if _, err := a.Owner.PublishNow(t.Context(), now.Post.ID, now.Post.Revision); err != nil {
		t.Fatal(err)
	}
	later := s.write(t, a, post("Later"), 90*time.Second)
	s.await(t, "the one published now", func() bool {
		target, err := a.Owner.Target(t.Context(), now.Targets[0].ID)
		return err == nil && target.State == model.Published && target.Permalink != "" && s.public("Now") == 1
	})
	if s.public("Later") != 0 {
		t.Error("the scheduled one is early")
	}
	s.skip(90 * time.Second)
	s.await(t, "the one at its time", func() bool { return s.settled(t) && s.public("Later") == 1 })
	due := later.Targets[0].DueAt
	for _, p := range s.sim.Posts(network.Instagram, "") {
		if p.Text == "Later" && (due == nil || p.Time.Before(*due)) {
			t.Errorf("public at %v, due at %v", p.Time, due)
		}
		if len(p.Media) != 1 {
			t.Errorf("%d pictures on %q, want 1", len(p.Media), p.Text)
		}
	}
	for _, page := range []db.PostPage{now, later} {
		if target := s.wantTarget(t, a, page.Targets[0].ID, model.Published, ""); target.Permalink == "" {
			t.Error("published without an address")
		}
	}
}

// Media is uploaded for each target here: what an account of a network is given is
// that account's alone.
func TestSmoke2OnePostFansOutToFiveAccountsWithItsMedia(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	content := model.Content{Text: "Fresh bread", Media: []model.ContentMedia{s.media(t, a, client, "loaf")}}
	for _, net := range []network.Name{network.Facebook, network.Instagram, network.Mastodon, network.Mastodon, network.Webhook} {
		content.Accounts = append(content.Accounts, s.account(t, a, client, net))
	}
	s.start(t)
	page := s.write(t, a, content, 0)
	s.await(t, "published everywhere", func() bool { return s.settled(t) })
	for _, target := range page.Targets {
		s.wantTarget(t, a, target.ID, model.Published, "")
		posts := s.sim.Posts(target.Network, s.remote(t, a, target.AccountID))
		if len(posts) != 1 || len(posts[0].Media) != 1 {
			t.Errorf("%s shows %+v, want one post with one picture", target.Network, posts)
		}
	}
	uploads := 0
	for _, c := range s.sim.Calls(network.Mastodon, "") {
		if strings.HasSuffix(c.Path, "/media") {
			uploads++
		}
	}
	if uploads != 2 {
		t.Errorf("%d uploads to two Mastodon accounts", uploads)
	}
}

// broken is a store of media that fails for a while.
type broken struct {
	jobs.MediaSource
	mu   sync.Mutex
	left int
}

// Open fails while any failures are left.
func (b *broken) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left > 0 {
		b.left--
		return nil, errors.New("no such bucket")
	}
	return b.MediaSource.Open(ctx, path)
}

func TestSmoke3AMediaStoreThatIsAwayDelaysAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	content := model.Content{Text: "Fresh bread", Media: []model.ContentMedia{s.media(t, a, client, "loaf")}}
	for range 3 {
		content.Accounts = append(content.Accounts, s.account(t, a, client, network.Mastodon))
	}
	s.start(t, func(d *jobs.Deps) { d.Media = &broken{MediaSource: d.Media, left: 4} })
	page := s.write(t, a, content, 0)
	s.await(t, "published everywhere", func() bool { return s.settled(t) })
	for _, target := range page.Targets {
		s.wantTarget(t, a, target.ID, model.Published, "")
	}
	if n := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.attempts WHERE state = 'transient'`); n != 4 {
		t.Errorf("%d attempts ended transient, want 4", n)
	}
	if n := len(s.commits()); n != 3 {
		t.Errorf("%d commits for 3 targets", n)
	}
}

func TestSmoke4WhatHasEndedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	done, open := a.Account(t, client, network.Webhook), a.Account(t, client, network.Mastodon)
	page := a.Due(t, "Fresh bread", 0, done, open)
	due := r.due(t)
	for _, d := range due {
		if d.Target == page.Targets[0].ID {
			r.work(t, d)
		}
	}
	// The aggregate and the index are lost; the sweeper looks for what is owed.
	r.Super(t, a.Shard, `UPDATE tenant.posts SET state = 'scheduled'`)
	r.Super(t, db.MainShard, `DELETE FROM control.publish_dispatch_index`)
	r.Super(t, a.Shard, `UPDATE tenant.outbox SET relayed_at = NULL`)
	r.Clock.Advance(time.Hour)
	for _, shard := range r.pipe.Shards() {
		if _, err := r.pipe.RestoreOwed(t.Context(), shard, r.Clock.Now(), 100); err != nil {
			t.Fatal(err)
		}
	}
	r.workAll(t)
	r.workAll(t)
	if r.net.commits != 2 {
		t.Errorf("%d commits, want one per account", r.net.commits)
	}
	// An edit reaches no account that has had the post, unless somebody adds it again.
	post, err := a.Owner.Post(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	content := page.Version.Content
	content.Text = "Stale bread"
	_, err = a.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: post.Post.Revision, Content: content})
	if no, ok := model.Refused(err); !ok || no.Kind != model.Conflict {
		t.Errorf("an edit of what is published everywhere: %v, want a refusal", err)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.targets`); n != 2 {
		t.Errorf("%d targets, want 2", n)
	}
}

func TestSmoke5TwoWorkersWithOneTaskMakeOneCall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	var due []db.Dispatch
	for i := range 10 {
		a.Due(t, fmt.Sprintf("Bread %d", i), 0, a.Account(t, client, network.Webhook))
	}
	for _, d := range r.due(t) {
		due = append(due, d, d, d, d)
	}
	r.together(t, due, r.pub, r.process(t), r.process(t), r.process(t))
	if r.net.commits != 10 || r.states(t, a, model.Published, "") != 10 {
		t.Errorf("%d commits, %d published; want 10 of each", r.net.commits, r.states(t, a, model.Published, ""))
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.attempts`); n != 10 {
		t.Errorf("%d attempts, want 10", n)
	}
}

func TestSmoke6ASiblingThatIsPublishedIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	page := a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Webhook))
	r.workAll(t)
	// By hand, past everything: a second target of the same post and account.
	twin := dbtest.Look[model.TargetID](t, r.World, a.Shard, `
		INSERT INTO tenant.targets (tenant_id, post_id, version_id, client_id, account_id, network, state, due_at, local_at, zone, occurrence, seq, created_at, updated_at)
		SELECT tenant_id, post_id, version_id, client_id, account_id, network, 'ready', due_at, local_at, zone, occurrence, 1, created_at, updated_at FROM tenant.targets RETURNING id`)
	r.Super(t, a.Shard, `UPDATE tenant.targets SET state = 'scheduled', next_at = due_at WHERE id = $1`, twin)
	r.Super(t, a.Shard, `INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
		SELECT tenant_id, 'by hand', 'target.publish', id, version_id, 1, due_at, due_at FROM tenant.targets WHERE id = $1`, twin)
	r.workAll(t)
	if target := r.target(t, a, twin); target.State != model.Failed || target.Reason != "sibling_published" || r.net.commits != 1 {
		t.Errorf("the twin is %s (%s) after %d commits, want failed (sibling_published) after 1", target.State, target.Reason, r.net.commits)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.attempts WHERE target_id = $1`, twin); n != 0 {
		t.Errorf("%d attempts of the twin", n)
	}
	if post, err := a.Owner.Post(t.Context(), page.Post.ID); err != nil || post.Post.State != model.PostPartiallyFailed {
		t.Errorf("post is %s, %v", post.Post.State, err)
	}
}

// TestSmoke7ATextThatGrewTooLongIsShortenedOnTheWay: too long is refused when a
// post is saved; here the server lowers its limit after the approval.
func TestSmoke7ATextThatGrewTooLongIsShortenedOnTheWay(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	small, whole := s.account(t, a, client, network.Mastodon), s.account(t, a, client, network.Facebook)
	text := strings.TrimSpace(strings.Repeat("bread and ", 48))
	page := s.write(t, a, model.Content{Text: text, Accounts: []model.AccountID{small, whole}}, 0)
	s.Super(t, a.Shard, `UPDATE tenant.accounts SET settings = '{"max_characters": "300"}' WHERE id = $1`, small)
	s.start(t)
	s.await(t, "published", func() bool { return s.settled(t) })
	for _, target := range page.Targets {
		s.wantTarget(t, a, target.ID, model.Published, "")
	}
	if posts := s.sim.Posts(network.Facebook, ""); len(posts) != 1 || posts[0].Text != text {
		t.Errorf("Facebook shows %+v", posts)
	}
	posts := s.sim.Posts(network.Mastodon, "")
	if len(posts) != 1 || !strings.HasSuffix(posts[0].Text, "…") || len([]rune(posts[0].Text)) > 300 || !strings.HasPrefix(text, strings.TrimSuffix(posts[0].Text, "…")) {
		t.Errorf("Mastodon shows %+v, want a beginning of at most 300 with an ellipsis", posts)
	}
	long, err := a.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: strings.Repeat("bread ", 100), Accounts: []model.AccountID{small}}, Named: []model.ClientID{client}})
	if err != nil || long.Targets[0].State != model.Invalid {
		t.Errorf("600 characters: %s, %v; want invalid", long.Targets[0].State, err)
	}
}

func TestSmoke8APostThatLostItsMediaIsRefusedWithoutACall(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	content := model.Content{Text: "Fresh bread", Media: []model.ContentMedia{s.media(t, a, client, "loaf")}}
	for _, net := range []network.Name{network.Facebook, network.Instagram, network.Mastodon, network.Webhook} {
		content.Accounts = append(content.Accounts, s.account(t, a, client, net))
	}
	page := s.write(t, a, content, 0)
	s.Super(t, a.Shard, `UPDATE tenant.targets SET media_ids = '{}' WHERE post_id = $1`, page.Post.ID)
	s.start(t)
	s.await(t, "all refused", func() bool { return s.settled(t) })
	for _, target := range page.Targets {
		s.wantTarget(t, a, target.ID, model.Failed, "media_missing")
	}
	if calls := s.sim.Calls("", ""); len(calls) != 0 {
		t.Errorf("%d calls to networks: %+v", len(calls), calls)
	}
}

// TestSmoke9AWebhookIntoTheInsideIsRefusedBeforeAnyConnection: the address was
// changed behind the form that would have refused it.
func TestSmoke9AWebhookIntoTheInsideIsRefusedBeforeAnyConnection(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	o := httpx.Options{Timeout: 2 * time.Second, Now: s.Clock.Now}
	s.start(t, func(d *jobs.Deps) {
		d.Networks[network.Webhook] = webhook.New(networks.Env{Guarded: httpx.NewGuarded(o, nil), Now: s.Clock.Now})
	})
	listener := newListener(t)
	for _, address := range []string{"http://169.254.169.254/", "https://169.254.169.254/latest/meta-data", "https://[::ffff:169.254.169.254]/",
		"https://metadata.google.internal/", "https://localhost/", "http://" + listener.addr + "/", "https://" + listener.addr + "/"} {
		account := s.account(t, a, client, network.Webhook)
		s.Super(t, a.Shard, `UPDATE tenant.accounts SET address = $2 WHERE id = $1`, account, address)
		page := s.write(t, a, model.Content{Text: "Fresh bread for " + address, Accounts: []model.AccountID{account}}, 0)
		s.await(t, "an end for "+address, func() bool { return s.settled(t) })
		target, err := a.Owner.Target(t.Context(), page.Targets[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if address == "https://metadata.google.internal/" { // whether that name is known depends on the machine; it is never called
			if target.State == model.Published {
				t.Errorf("%s: published", address)
			}
			continue
		}
		if target.State != model.Failed || target.Reason != "refused_by_network" || target.Say == "" || strings.Contains(target.Say, "169") {
			t.Errorf("%s: %s (%s: %s), want failed with a sentence that names no address", address, target.State, target.Reason, target.Say)
		}
	}
	if n := listener.count(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	if n := len(s.sim.Calls(network.Webhook, "")); n != 0 {
		t.Errorf("%d calls", n)
	}
}
