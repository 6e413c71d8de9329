package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// chosen are ticked rows of the list.
func chosen(pages ...db.PostPage) url.Values {
	form := url.Values{}
	for _, p := range pages {
		form.Add("post", fmt.Sprintf("%d:%d", p.Post.ID, p.Post.Revision))
	}
	return form
}

func TestPostsAreListedNewestChangeFirstWithWhatTheirTargetsSay(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.agency.Post(t, "oldest draft", b.mastodon)
	b.Clock.Advance(1e9)
	mixed := b.at(t, "mixed bag", "2026-03-20T10:00", "Europe/Berlin", b.mastodon, b.hook)
	b.push(t, mixed.Targets[0].ID, "", model.Queued, model.Publishing, model.Published)
	b.push(t, mixed.Targets[1].ID, "refused_by_network", model.Queued, model.Failed)
	page := owner("GET", "/w/north/posts", nil)
	wantPage(t, page, 200, "1 failed, 1 published", "Draft", "No time", "Fri 20 Mar 2026, 10:00")
	body := page.Body.String()
	if strings.Index(body, "mixed bag") > strings.Index(body, "oldest draft") {
		t.Error("the newest change does not go first")
	}
	for query, want := range map[string]string{"state=failed": "mixed bag", "state=draft": "oldest draft", "q=OLDEST": "oldest draft", "network=webhook": "mixed bag"} {
		body := owner("GET", "/w/north/posts?"+query, nil).Body.String()
		if strings.Count(body, `class="posts-words"`) != 1 || !strings.Contains(body, want) {
			t.Errorf("%s does not show %q alone", query, want)
		}
	}
	wantPage(t, owner("GET", "/w/north/posts?q=nothing", nil), 200, "No post matches these filters", "Clear all")
}

func TestTheListOfPostsGoesBothWays(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.crowd(t, 95)
	count := func(path string) (string, string, int) {
		page := owner("GET", path, nil)
		wantPage(t, page, 200)
		return linkOf(t, page, "prev"), linkOf(t, page, "next"), strings.Count(page.Body.String(), `class="posts-words"`)
	}
	newer, older, n := count("/w/north/posts")
	if newer != "" || n != 40 {
		t.Errorf("first page: %d posts, newer %q", n, newer)
	}
	newer, older, n = count(older)
	if n != 40 || newer == "" {
		t.Errorf("second page: %d posts, newer %q", n, newer)
	}
	newer, last, n := count(older)
	if n != 15 || last != "" {
		t.Errorf("last page: %d posts, older %q", n, last)
	}
	newer, older, n = count(newer)
	if n != 40 || newer == "" || older == "" {
		t.Errorf("back: %d posts, newer %q, older %q", n, newer, older)
	}
	if newer, _, n = count(newer); n != 40 || newer != "" {
		t.Errorf("back at the first: %d posts, newer %q", n, newer)
	}
}

func TestChosenPostsAreSubmittedAndRefusalsAreNamed(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	one, two := b.agency.Post(t, "first words", b.mastodon), b.agency.Post(t, "second words", b.abroad)
	if w := owner("POST", "/w/north/posts/submissions?state=draft", chosen(one, two)); w.Code != 303 || w.Header().Get("Location") != "/w/north/posts?state=draft" {
		t.Fatalf("%d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	again := b.agency.Post(t, "third words", b.mastodon)
	w := owner("POST", "/w/north/posts/submissions", chosen(one, again))
	wantPage(t, w, 200, "One post is submitted for approval, 1 not", "first words", "changed while you had it open")
	if page, _ := b.agency.Owner.Post(t.Context(), again.Post.ID); page.Post.Review != "approved" {
		t.Errorf("third is %s", page.Post.Review)
	}
	wantPage(t, owner("POST", "/w/north/posts/submissions", chosen(one, two)), 409, "No post is submitted for approval, 2 not", "checked")
	wantPage(t, owner("POST", "/w/north/posts/submissions", url.Values{}), 422, "Tick at least one post first")
	wantPage(t, owner("POST", "/w/north/posts/submissions", url.Values{"post": {"x"}}), 404)
}

func TestFailuresOfChosenPostsAreRetried(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	failed := b.at(t, "failed words", "2026-03-20T10:00", "Europe/Berlin", b.mastodon, b.hook)
	b.push(t, failed.Targets[0].ID, "refused_by_network", model.Queued, model.Failed)
	b.push(t, failed.Targets[1].ID, "manual_check_required", model.Queued, model.Publishing, model.UnknownOutcome, model.Failed)
	if w := owner("POST", "/w/north/posts/retries", chosen(failed)); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := b.now(t, failed.Targets[0].ID).State; got != model.Scheduled {
		t.Errorf("the safe one is %s", got)
	}
	if got := b.now(t, failed.Targets[1].ID).State; got != model.Failed {
		t.Errorf("the unclear one is %s", got)
	}
	fresh, _ := b.agency.Owner.Post(t.Context(), failed.Post.ID)
	wantPage(t, owner("POST", "/w/north/posts/retries", chosen(fresh)), 409, "Nothing in this post can be retried")
}

func TestBulkActionsKeepToWhatThePersonMayDo(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	other := b.World.Agency(t, "south", dbtest.SecondShard)
	foreign := other.Post(t, "theirs", other.Account(t, other.Client(t, "rival"), network.Mastodon))
	hidden := b.agency.Post(t, "hidden", b.abroad)
	own := b.agency.Post(t, "own", b.mastodon)
	manager := b.as(t, b.member(t, model.Manager, b.acme))
	for _, path := range []string{"/w/north/posts/submissions", "/w/north/posts/retries"} {
		for _, p := range []db.PostPage{foreign, hidden} {
			if w := manager("POST", path, chosen(p)); w.Code != 404 {
				t.Errorf("%s of post %d: %d", path, p.Post.ID, w.Code)
			}
		}
	}
	w := manager("POST", "/w/north/posts/submissions", chosen(own, hidden, foreign))
	wantPage(t, w, 200, "One post is submitted for approval, 2 not", "There is no such post.")
	viewer := b.as(t, b.member(t, model.Viewer, b.acme))
	page := viewer("GET", "/w/north/posts", nil)
	if strings.Contains(page.Body.String(), `type="checkbox" name="post"`) {
		t.Error("a viewer is offered bulk actions")
	}
	for _, path := range []string{"/w/north/posts/submissions", "/w/north/posts/retries"} {
		if w := viewer("POST", path, chosen(own)); w.Code != 403 {
			t.Errorf("a viewer posts %s: %d", path, w.Code)
		}
	}
}
