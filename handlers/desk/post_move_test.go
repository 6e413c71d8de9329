package desk_test

import (
	"net/url"
	"strings"
	"sync"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// by is the form that moves chosen posts by some days or hours.
func by(n, unit string, pages ...db.PostPage) url.Values {
	form := chosen(pages...)
	form.Set("do", "by")
	form.Set("by", n)
	form.Set("unit", unit)
	return form
}

// fresh reads posts as they are now.
func (b *wall) fresh(t *testing.T, pages ...db.PostPage) (now []db.PostPage) {
	t.Helper()
	for _, p := range pages {
		page, err := b.agency.Owner.Post(t.Context(), p.Post.ID)
		if err != nil {
			t.Fatal(err)
		}
		now = append(now, page)
	}
	return now
}

func TestChosenPostsAreMovedTogetherAndBackByUndo(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	bread := b.at(t, "bread", "2026-03-20T09:30", "Europe/Berlin", b.mastodon, b.hook)
	show := b.at(t, "a show", "2026-03-21T20:00", "America/New_York", b.abroad)
	loose := b.agency.Post(t, "no time at all", b.mastodon)
	out := b.at(t, "out", "2026-03-12T09:30", "Europe/Berlin", b.mastodon)
	b.push(t, out.Targets[0].ID, "", model.Queued, model.Publishing, model.Published)
	answer := owner("POST", "/w/north/posts/moves?state=scheduled", by("11", "days", b.fresh(t, bread, show, loose, out)...))
	wantPage(t, answer, 200, "2 posts are moved, 2 not", "2 posts moved.", "It has no time that could be moved", "Nothing of it can be moved: it is published")
	b.wantLocal(t, bread, "2026-03-31T09:30", "Europe/Berlin", model.Scheduled) // the clocks went forward in between
	b.wantLocal(t, show, "2026-04-01T20:00", "America/New_York", model.Scheduled)
	path, fields := undo(t, answer)
	wantPage(t, owner("POST", path, fields), 200, "2 posts moved back.")
	b.wantLocal(t, bread, "2026-03-20T09:30", "Europe/Berlin", model.Scheduled)
	wantPage(t, owner("POST", path, fields), 409, "not planned for that time any more")

	wantPage(t, owner("POST", "/w/north/posts/moves", by("-2", "hours", b.fresh(t, bread)...)), 200, "Moved to")
	b.wantLocal(t, bread, "2026-03-20T07:30", "Europe/Berlin", model.Scheduled)
	approved := b.agency.Approved(t, "approved", b.hook)
	to := chosen(b.fresh(t, loose, show, approved)...)
	to.Set("do", "to")
	to.Set("to", "2026-03-24T18:00")
	answer = owner("POST", "/w/north/posts/moves", to)
	wantPage(t, answer, 200, "3 posts moved.")
	b.wantLocal(t, loose, "2026-03-24T18:00", "Europe/Berlin", model.Draft)
	b.wantLocal(t, show, "2026-03-24T18:00", "America/New_York", model.Scheduled)
	b.wantLocal(t, approved, "2026-03-24T18:00", "Europe/Berlin", model.Scheduled)
	if path, _ := undo(t, answer); path != "" {
		t.Error("scheduling is offered to be undone, which it cannot be")
	}
}

func TestABulkMoveKeepsToTheRulesPostByPostAndLosesNothing(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.Super(t, dbtest.SecondShard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2026-03-25T00:00Z', '2026-03-26T00:00Z', 'quiet day')`, b.agency.ID, b.acme)
	quiet := b.at(t, "into the quiet day", "2026-03-24T12:00", "Europe/Berlin", b.mastodon)
	gap := b.at(t, "into the gap", "2026-03-28T02:30", "Europe/Berlin", b.hook)
	fine := b.at(t, "fine", "2026-03-24T12:00", "America/New_York", b.abroad)
	stale := b.at(t, "stale", "2026-03-20T12:00", "Europe/Berlin", b.mastodon)
	form := by("1", "days", append(b.fresh(t, quiet, gap, fine), stale)...)
	stale = b.fresh(t, stale)[0]
	if _, err := b.agency.Owner.SchedulePlanned(t.Context(), stale.Post.ID, stale.Post.Revision); err != nil {
		t.Fatal(err)
	}
	wantPage(t, owner("POST", "/w/north/posts/moves", form), 200, "One post is moved, 3 not", "quiet day", "does not exist", "changed while you had it open", `class="choice-box" type="checkbox" name="post"`)
	b.wantLocal(t, quiet, "2026-03-24T12:00", "Europe/Berlin", model.Scheduled)
	b.wantLocal(t, gap, "2026-03-28T02:30", "Europe/Berlin", model.Scheduled)
	b.wantLocal(t, fine, "2026-03-25T12:00", "America/New_York", model.Scheduled)
	for _, c := range []struct{ n, unit, to, say string }{
		{"", "days", "", "Say how far"}, {"0", "days", "", "Say how far"}, {"367", "days", "", "Say how far"}, {"1e3", "days", "", "Say how far"}, {"-745", "hours", "", "Say how far"}, {"", "days", "soon", "Choose a day and a time."},
	} {
		form := by(c.n, c.unit, b.fresh(t, fine)...)
		form.Set("to", c.to)
		wantPage(t, owner("POST", "/w/north/posts/moves", form), 422, c.say, "checked", `value="`+c.n+`"`)
	}
	wantPage(t, owner("POST", "/w/north/posts/moves", by("-300", "days", b.fresh(t, fine)...)), 422, "No post is moved, 1 not", "That time has passed")
}

func TestChosenPostsAreScheduledAndCancelled(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	approved, loose, draft := b.agency.Approved(t, "approved", b.hook), b.agency.Approved(t, "approved without a time", b.mastodon), b.agency.Post(t, "draft", b.mastodon)
	when, _ := model.At(dbtest.Noon.AddDate(0, 0, 3), "Europe/Berlin")
	approved, err := b.agency.Owner.PlanPost(t.Context(), approved.Post.ID, approved.Post.Revision, when)
	if err != nil {
		t.Fatal(err)
	}
	wantPage(t, owner("POST", "/w/north/posts/schedules", chosen(approved, loose, draft)), 200, "One post is scheduled, 2 not", "It has no time yet", "not approved yet")
	if got := b.first(t, approved); got.State != model.Scheduled || !got.DueAt.Equal(when.At) {
		t.Errorf("%s for %v", got.State, got.DueAt)
	}
	if n := dbtest.Look[int](t, b.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'target.publish' AND target_id = $1`, approved.Targets[0].ID); n != 1 {
		t.Errorf("the pipeline was asked %d times", n)
	}
	now := b.fresh(t, approved, draft)
	wantPage(t, owner("POST", "/w/north/posts/cancellations", chosen(now...)), 200, "One post is cancelled, 1 not", "Nothing of it is on its way: it is draft")
	if got := b.first(t, approved).State; got != model.Cancelled {
		t.Errorf("it is %s", got)
	}
	busy := b.at(t, "busy", "2026-03-20T09:30", "Europe/Berlin", b.mastodon, b.hook)
	b.push(t, busy.Targets[0].ID, "", model.Queued, model.Publishing)
	wantPage(t, owner("POST", "/w/north/posts/cancellations", chosen(b.fresh(t, busy)...)), 409, "is being published at this moment")
	if got := b.now(t, busy.Targets[1].ID).State; got != model.Scheduled {
		t.Errorf("the other target of a post in flight is %s", got)
	}
}

func TestABulkFormSentTwiceAtOnceActsOnceAndSaysTheSame(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	show := b.at(t, "a show", "2026-03-21T20:00", "America/New_York", b.abroad)
	draft := b.agency.Post(t, "draft", b.mastodon)
	out := b.at(t, "out", "2026-03-12T09:30", "Europe/Berlin", b.mastodon)
	b.push(t, out.Targets[0].ID, "", model.Queued, model.Publishing, model.Published)
	for path, form := range map[string]url.Values{"/w/north/posts/moves": by("1", "days", b.fresh(t, show, out)...), "/w/north/posts/submissions": chosen(b.fresh(t, draft, out)...)} {
		form.Set("key", "key-of-a-form-0123456789"+path[len(path)-5:])
		form.Set("key", strings.ReplaceAll(form.Get("key"), "/", "-"))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if w := owner("POST", path, form); w.Code != 200 || !strings.Contains(w.Body.String(), "One post is") || !strings.Contains(w.Body.String(), ", 1 not") {
					t.Errorf("%s: %d", path, w.Code)
				}
			})
		}
		all.Wait()
	}
	b.wantLocal(t, show, "2026-03-22T20:00", "America/New_York", model.Scheduled)
	if n := dbtest.Look[int](t, b.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE verb IN ('rescheduled', 'submitted') AND subject_id = ANY ($1)`, []model.PostID{show.Post.ID, draft.Post.ID}); n != 2 {
		t.Errorf("%d lines in the audit log", n)
	}
}

func TestThePostsThatWereChosenElsewhereAreListedAlone(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	one, two := b.agency.Post(t, "first words", b.mastodon), b.agency.Post(t, "second words", b.mastodon)
	b.agency.Post(t, "third words", b.mastodon)
	page := owner("GET", "/w/north/posts?post="+url.QueryEscape(chosen(one).Get("post")[:strings.Index(chosen(one).Get("post"), ":")])+"&post="+chosen(two).Get("post")[:strings.Index(chosen(two).Get("post"), ":")], nil)
	wantPage(t, page, 200, "first words", "second words", "2 chosen posts")
	if body := page.Body.String(); strings.Contains(body, "third words") || strings.Count(body, " checked") != 2 {
		t.Error("another post shows, or they are not ticked")
	}
	cards := owner("GET", "/w/north/posts?card="+url.QueryEscape(b.keyOf(t, one)+" "+b.keyOf(t, two)), nil)
	wantPage(t, owner("GET", cards.Header().Get("Location"), nil), 200, "first words", "2 chosen posts")
	wantPage(t, owner("GET", "/w/north/posts?card=x.y.z", nil), 422)
}
