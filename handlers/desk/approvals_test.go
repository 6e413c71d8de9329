package desk_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/desk"
	"herald/handlers/web"
)

// inbox is a client with a stage of one manager and one approver, and the desk
// over HTTP.
type inbox struct {
	*dbtest.World
	agency  *dbtest.Agency
	client  model.ClientID
	account model.AccountID
	mia     *db.Scope
	edge    *web.Edge
	mux     http.Handler
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	w := dbtest.New(t)
	in := &inbox{World: w, agency: w.Agency(t, "north", dbtest.SecondShard)}
	in.client = in.agency.Client(t, "acme")
	in.account = in.agency.Account(t, in.client, network.Mastodon)
	in.mia = in.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{in.client: model.Manager.Grants()})
	dana := dbtest.Look[model.ApproverID](t, w, dbtest.SecondShard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, 'Dana', 'dana@client.example') RETURNING id`, in.agency.ID, in.client)
	stage := dbtest.Look[int64](t, w, dbtest.SecondShard, `INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, 1, 'Sign-off', 'all') RETURNING id`, in.agency.ID, in.client)
	in.Super(t, dbtest.SecondShard, `INSERT INTO tenant.stage_people (tenant_id, stage_id, user_id, approver_id) VALUES ($1, $2, $3, NULL), ($1, $2, NULL, $4)`, in.agency.ID, stage, in.mia.Actor.User, dana)
	in.edge = &web.Edge{Store: w.Store, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: w.Clock.Now, Sessions: &web.Sessions{Store: w.Store, Now: w.Clock.Now}}
	mux := http.NewServeMux()
	(&desk.Desk{Edge: in.edge, Ring: w.Ring, URLLife: 15 * time.Minute}).Register(mux)
	in.mux = mux
	return in
}

// as makes a browser that a person is signed in with.
func (in *inbox) as(t *testing.T, who *db.Scope) func(method, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	in0 := httptest.NewRecorder()
	if err := in.edge.Sessions.SignIn(in0, httptest.NewRequest("POST", "/signin", nil), who.Actor.User); err != nil {
		t.Fatal(err)
	}
	cookie := in0.Result().Cookies()[0]
	return func(method, path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r.AddCookie(cookie)
		w := httptest.NewRecorder()
		in.mux.ServeHTTP(w, r)
		return w
	}
}

// asked submits a post and returns its request.
func (in *inbox) asked(t *testing.T, text string) db.InboxRequest {
	t.Helper()
	p := in.agency.Post(t, text, in.account)
	if _, err := in.agency.Owner.SubmitPost(t.Context(), db.Submission{Post: p.Post.ID, Seen: p.Post.Revision}); err != nil {
		t.Fatal(err)
	}
	list, err := in.agency.Owner.PostApprovals(t.Context(), p.Post.ID)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

func wantPage(t *testing.T, w *httptest.ResponseRecorder, status int, words ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	for _, word := range words {
		if !strings.Contains(w.Body.String(), word) {
			t.Errorf("the page lacks %q:\n%s", word, w.Body)
		}
	}
}

func TestAManagerDecidesInTheInbox(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	r := in.asked(t, "Grand opening")
	mia := in.as(t, in.mia)
	wantPage(t, mia("GET", "/w/north/approvals", nil), 200, "Grand opening", "Waiting for manager 1 and Dana", "dana@client.example")
	path := fmt.Sprintf("/w/north/approvals/%d", r.ID)
	form := url.Values{"hash": {r.Hash}, "stage": {"1"}, "verdict": {"request_changes"}}
	wantPage(t, mia("POST", path+"/decisions", form), 422, "Say what should change", "Grand opening")
	form.Set("verdict", "approve")
	if w := mia("POST", path+"/decisions", form); w.Code != 303 || w.Header().Get("Location") != "/w/north/approvals" {
		t.Errorf("status %d to %q", w.Code, w.Header().Get("Location"))
	}
	wantPage(t, mia("GET", "/w/north/approvals", nil), 200, "Nothing waits for you")
	wantPage(t, mia("GET", "/w/north/approvals?box=others", nil), 200, "Grand opening", "Waiting for Dana")
}

func TestAStaleDecisionInTheInboxShowsTheDifference(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	r := in.asked(t, "Open on Monday")
	now, err := in.agency.Owner.Post(t.Context(), r.PostID)
	if err != nil {
		t.Fatal(err)
	}
	content := now.Version.Content
	content.Text = "Open on Tuesday"
	edited, err := in.agency.Owner.SavePost(t.Context(), r.PostID, db.PostForm{Seen: now.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.agency.Owner.SubmitPost(t.Context(), db.Submission{Post: r.PostID, Seen: edited.Post.Revision}); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"hash": {r.Hash}, "stage": {"1"}, "verdict": {"approve"}, "words": {"Lovely"}}
	w := in.as(t, in.mia)("POST", fmt.Sprintf("/w/north/approvals/%d/decisions", r.ID), form)
	wantPage(t, w, 409, "Nothing was recorded", "<del>Monday</del>", "<ins>Tuesday</ins>", fmt.Sprintf("/w/north/approvals/%d", r.ID+1))
}

func TestTheInboxRefusesForeignIDsInEveryPosition(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	r := in.asked(t, "Grand opening")
	link := r.Links[0].ID
	south := in.World.Agency(t, "south", db.MainShard)
	elsewhere := in.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{in.agency.Client(t, "bolt"): model.Manager.Grants()})
	form := url.Values{"hash": {r.Hash}, "stage": {"1"}, "verdict": {"approve"}, "body": {"x"}, "visibility": {"internal"}}
	for _, who := range []struct {
		slug  string
		scope *db.Scope
	}{{"north", south.Owner}, {"south", south.Owner}, {"north", elsewhere}} {
		browser := in.as(t, who.scope)
		at := "/w/" + who.slug
		wantPage(t, browser("GET", fmt.Sprintf("%s/approvals/%d", at, r.ID), nil), 404)
		for _, path := range []string{fmt.Sprintf("/approvals/%d/decisions", r.ID), fmt.Sprintf("/approvals/%d/comments", r.ID),
			fmt.Sprintf("/review-links/%d/revocation", link), fmt.Sprintf("/review-links/%d/successor", link), "/approvals/x/decisions", "/review-links/-1/revocation"} {
			wantPage(t, browser("POST", at+path, form), 404)
		}
	}
	if n := dbtest.Look[int](t, in.World, dbtest.SecondShard, `SELECT (SELECT count(*) FROM tenant.decisions) + (SELECT count(*) FROM tenant.comments) + (SELECT count(*) FROM tenant.review_links WHERE revoked_at IS NOT NULL)`); n != 0 {
		t.Errorf("%d rows were written by strangers", n)
	}
}

func TestInternalCommentsAreMarkedAndLinksCanBeTakenBack(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	r := in.asked(t, "Grand opening")
	mia := in.as(t, in.mia)
	path := fmt.Sprintf("/w/north/approvals/%d", r.ID)
	wantPage(t, mia("POST", path+"/comments", url.Values{"key": {"a-form-for-the-team"}, "visibility": {"internal"}, "body": {"They never like red"}}), 303)
	wantPage(t, mia("POST", path+"/comments", url.Values{"key": {"a-form-for-the-client"}, "visibility": {"client"}, "body": {"As you asked"}}), 303)
	wantPage(t, mia("POST", path+"/comments", url.Values{"key": {"a-form-without-words"}, "visibility": {"client"}, "body": {"  "}}), 422, "Write something first")
	wantPage(t, mia("GET", path, nil), 200, `data-visibility="internal"`, "Internal: your team only", "They never like red", "Client acme reads this")
	wantPage(t, mia("POST", fmt.Sprintf("/w/north/review-links/%d/revocation", r.Links[0].ID), url.Values{}), 303)
	wantPage(t, mia("GET", path, nil), 200, "Revoked", "The link was taken back")
}

// TestACommentThatCameTwiceIsOne: at once, after going back, with other words, and
// from somebody else.
func TestACommentThatCameTwiceIsOne(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	r := in.asked(t, "Grand opening")
	mia, owner := in.as(t, in.mia), in.as(t, in.agency.Owner)
	path := fmt.Sprintf("/w/north/approvals/%d", r.ID)
	form := url.Values{"key": {keyOf(t, mia("GET", path, nil).Body.String())}, "visibility": {"internal"}, "body": {"They never like red"}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { wantPage(t, mia("POST", path+"/comments", form), 303) })
	}
	wg.Wait()
	wantPage(t, mia("POST", path+"/comments", form), 303)
	comments := func() int {
		return dbtest.Look[int](t, in.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.comments`)
	}
	if n := comments(); n != 1 {
		t.Errorf("%d comments of one form", n)
	}
	if n := dbtest.Look[int](t, in.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE verb = 'commented'`); n != 1 {
		t.Errorf("%d lines of audit", n)
	}
	form.Set("visibility", "client")
	page := mia("POST", path+"/comments", form)
	wantPage(t, page, 409, "They never like red</textarea>", "This form was sent before", `value="client" checked`)
	form.Set("key", keyOf(t, page.Body.String()))
	wantPage(t, mia("POST", path+"/comments", form), 303)
	wantPage(t, owner("POST", path+"/comments", form), 303)
	form.Set("body", "Without a key")
	form.Del("key")
	wantPage(t, mia("POST", path+"/comments", form), 422, "Without a key</textarea>", "send it once more")
	if n := comments(); n != 3 {
		t.Errorf("%d comments in the end", n)
	}
}

var keyField = regexp.MustCompile(`name="key" value="([^"]+)"`)

func keyOf(t *testing.T, page string) string {
	t.Helper()
	m := keyField.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page has no form with a key")
	}
	return m[1]
}

func TestAFreshLinkThatWasAskedForTwiceIsSentOnce(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	r := in.asked(t, "Grand opening")
	mia := in.as(t, in.mia)
	to := fmt.Sprintf("/w/north/review-links/%d/successor", r.Links[0].ID)
	form := url.Values{"key": {keyOf(t, mia("GET", fmt.Sprintf("/w/north/approvals/%d", r.ID), nil).Body.String())}}
	for range 2 {
		wantPage(t, mia("POST", to, form), 303)
	}
	if n := dbtest.Look[int](t, in.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.review_links WHERE asked_from = $1`, r.Links[0].ID); n != 1 {
		t.Errorf("%d links", n)
	}
}

// TestAColleagueNamedInAnInternalCommentIsToldOnce, if they may see the post; what the
// client reads names nobody.
func TestAColleagueNamedInAnInternalCommentIsToldOnce(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	one := in.asked(t, "Hello")
	sees := in.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{in.client: {model.PostsView}})
	blind := in.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{in.agency.Client(t, "bolt"): {model.PostsView}})
	mia := in.as(t, in.mia)
	words := fmt.Sprintf("@%s and @%s, look <here>", sees.Actor.Name, blind.Actor.Name)
	path := fmt.Sprintf("/w/north/approvals/%d", one.ID)
	form := url.Values{"key": {"key-of-a-form-0123456789"}, "visibility": {"internal"}, "body": {words}}
	for range 2 {
		if w := mia("POST", path+"/comments", form); w.Code != http.StatusSeeOther {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
	form = url.Values{"key": {"key-of-a-form-9876543210"}, "visibility": {"client"}, "body": {words}}
	mia("POST", path+"/comments", form)
	mails := func(to string) int {
		return dbtest.Look[int](t, in.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.mails WHERE kind = 'mention' AND ($1 = '' OR to_name = $1)`, to)
	}
	if mails(sees.Actor.Name) != 1 || mails("") != 1 {
		t.Errorf("%d mails to who was named and sees the post, %d in all", mails(sees.Actor.Name), mails(""))
	}
	page := mia("GET", path, nil).Body.String()
	if !strings.Contains(page, `<strong class="comment-named">@`+sees.Actor.Name+`</strong> and `) || !strings.Contains(page, ", look &lt;here&gt;</p>") {
		t.Errorf("the page marks nobody: %s", page)
	}
	names := mia("GET", path+"/names", nil)
	if body := names.Body.String(); names.Code != 200 || !strings.Contains(body, `data-name="`+sees.Actor.Name+`"`) || strings.Contains(body, blind.Actor.Name) || strings.Contains(body, in.mia.Actor.Name) {
		t.Errorf("who can be named: %s", names.Body)
	}
	if w := in.as(t, blind)("GET", path+"/names", nil); w.Code != http.StatusNotFound {
		t.Errorf("who may not see the post reads who may: %d", w.Code)
	}
	c, err := in.mia.Comment(t.Context(), db.CommentForm{Post: one.PostID, Visibility: model.Internal, Body: "@" + blind.Actor.Name})
	if err != nil || len(c.Untold) != 1 || c.Untold[0] != blind.Actor.Name {
		t.Errorf("untold %v, %v", c.Untold, err)
	}
}
