package review_test

import (
	"fmt"
	"html"
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
	"herald/handlers/review"
	"herald/handlers/web"
)

// site is an agency whose client acme has been asked about some posts, and the
// review pages over real HTTP.
type site struct {
	*dbtest.World
	agency  *dbtest.Agency
	client  model.ClientID
	account model.AccountID
	dana    model.ApproverID
	url     string
}

func newSite(t *testing.T) *site {
	t.Helper()
	w := dbtest.New(t)
	s := &site{World: w, agency: w.Agency(t, "north", dbtest.SecondShard)}
	s.client = s.agency.Client(t, "acme")
	s.account = s.agency.Account(t, s.client, network.Mastodon)
	s.dana = dbtest.Look[model.ApproverID](t, w, dbtest.SecondShard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, 'Dana', 'dana@client.example') RETURNING id`, s.agency.ID, s.client)
	s.stage(t, s.client, s.dana)
	mux := http.NewServeMux()
	edge := &web.Edge{Store: w.Store, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: w.Clock.Now}
	review.Register(mux, review.Deps{Edge: edge, Ring: w.Ring, URLLife: 15 * time.Minute, BaseURL: "https://herald.example", Read: (&desk.Desk{Edge: edge}).ReadComment})
	server := httptest.NewServer(web.Headers(true, http.NewCrossOriginProtection().Handler(mux)))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *site) stage(t *testing.T, client model.ClientID, approver model.ApproverID) {
	t.Helper()
	id := dbtest.Look[int64](t, s.World, dbtest.SecondShard, `INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, 1, 'Client', 'any') RETURNING id`, s.agency.ID, client)
	s.Super(t, dbtest.SecondShard, `INSERT INTO tenant.stage_people (tenant_id, stage_id, approver_id) VALUES ($1, $2, $3)`, s.agency.ID, id, approver)
}

// ask submits posts in one batch and returns the path of the newest link to an
// address.
func (s *site) ask(t *testing.T, email string, pages ...db.PostPage) string {
	t.Helper()
	var list []db.Submission
	for _, p := range pages {
		list = append(list, db.Submission{Post: p.Post.ID, Seen: p.Post.Revision})
	}
	out, err := s.agency.Owner.Submit(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		if o.No != nil {
			t.Fatal(o.No)
		}
	}
	return s.link(t, email)
}

func (s *site) link(t *testing.T, email string) string {
	t.Helper()
	key := dbtest.Look[string](t, s.World, dbtest.SecondShard, `SELECT key FROM tenant.mails WHERE to_email = $1 AND sealed IS NOT NULL ORDER BY id DESC LIMIT 1`, email)
	sealed := dbtest.Look[[]byte](t, s.World, dbtest.SecondShard, `SELECT sealed FROM tenant.mails WHERE key = $1`, key)
	token, err := s.Ring.Open(sealed, db.MailAAD(s.agency.ID, key))
	if err != nil {
		t.Fatal(err)
	}
	return "/review/" + token
}

type answer struct {
	status int
	body   string
	header http.Header
}

func (s *site) do(t *testing.T, method, path string, form url.Values) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, string(body), res.Header}
}

func (s *site) get(t *testing.T, path string) answer {
	t.Helper()
	return s.do(t, "GET", path, nil)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)"`)

// form reads the hidden fields of the first form of the page that posts to what
// ends with action.
func form(t *testing.T, page, action string) url.Values {
	t.Helper()
	_, rest, ok := strings.Cut(page, action+`"`)
	if !ok {
		t.Fatalf("the page has no form for %s:\n%s", action, page)
	}
	rest, _, _ = strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(rest, -1) {
		values.Add(m[1], html.UnescapeString(m[2]))
	}
	return values
}

func (s *site) decisions(t *testing.T) int {
	t.Helper()
	return dbtest.Look[int](t, s.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.decisions`)
}

func (s *site) wantStatus(t *testing.T, got answer, status int, words ...string) {
	t.Helper()
	if got.status != status {
		t.Errorf("status %d, want %d: %s", got.status, status, got.body)
	}
	for _, w := range words {
		if !strings.Contains(got.body, w) {
			t.Errorf("the page lacks %q:\n%s", w, got.body)
		}
	}
}

func TestAnApproverApprovesByTheLinkAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := s.agency.Post(t, "Grand opening on Saturday", s.account)
	path := s.ask(t, "dana@client.example", post)
	page := s.get(t, path)
	s.wantStatus(t, page, 200, "One post waits for your approval", "Grand opening on Saturday", "Agency north", "Client acme", "@mastodon-0")

	yes := form(t, page.body, "/decisions")
	yes.Set("verdict", "approve")
	done := s.do(t, "POST", path+"/decisions", yes)
	s.wantStatus(t, done, 303)
	s.wantStatus(t, s.get(t, done.header.Get("Location")), 200, "Approved. Thank you!", "You approved this.", "Nothing more waits for you here")
	now, err := s.agency.Owner.Post(t.Context(), post.Post.ID)
	if err != nil || now.Post.State != model.PostApproved {
		t.Errorf("the post is %s, %v", now.Post.State, err)
	}
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", yes), 303)
	no := yes
	no.Set("verdict", "reject")
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", no), 409, "You have already decided on this")
	if n := s.decisions(t); n != 1 {
		t.Errorf("%d decisions", n)
	}
}

func TestOpeningALinkNeverDecides(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	page := s.get(t, path)
	fields := form(t, page.body, "/decisions")
	fields.Set("verdict", "approve")

	for _, method := range []string{"GET", "HEAD"} {
		for _, at := range []string{path, path + "?" + fields.Encode(), path + "/decisions?" + fields.Encode(), path + "/approvals", path + "/links", path + "/comments"} {
			s.do(t, method, at, nil)
		}
	}
	bare := url.Values{"verdict": {"approve"}, "request": fields["request"], "hash": fields["hash"], "stage": fields["stage"]}
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", bare), 403, "nothing was recorded")
	s.wantStatus(t, s.do(t, "POST", path+"/decisions?page="+fields.Get("page"), bare), 403)
	for _, at := range []string{"/approvals", "/comments", "/links"} {
		s.wantStatus(t, s.do(t, "POST", path+at, bare), 403)
	}
	stranger := s.agency.Client(t, "bolt")
	lee := dbtest.Look[model.ApproverID](t, s.World, dbtest.SecondShard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, 'Lee', 'lee@client.example') RETURNING id`, s.agency.ID, stranger)
	s.stage(t, stranger, lee)
	other := s.ask(t, "lee@client.example", s.agency.Post(t, "Of Bolt", s.agency.Account(t, stranger, network.Mastodon)))
	theirs := form(t, s.get(t, other).body, "/decisions")
	bare.Set("page", theirs.Get("page"))
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", bare), 403)
	theirs.Set("verdict", "approve")
	theirs.Set("page", fields.Get("page"))
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", theirs), 404)
	if n := s.decisions(t); n != 0 {
		t.Fatalf("%d decisions without a click", n)
	}
	if n := dbtest.Look[int](t, s.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.review_links`); n != 2 {
		t.Errorf("%d links: opening one made another", n)
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	fields := form(t, s.get(t, path).body, "/decisions")
	fields.Set("verdict", "approve")
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+path+"/decisions", strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 403 || s.decisions(t) != 0 {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestTheAddressOfThePageIsKeptSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	for _, at := range []string{path, "/review/1.unknown"} {
		h := s.get(t, at).header
		if h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cache-Control") != "no-store" || !strings.Contains(h.Get("X-Robots-Tag"), "noindex") {
			t.Errorf("%s: %v", at, h)
		}
	}
	s.wantStatus(t, s.get(t, "/review/1.unknown"), 404, "not a review link")
}

func TestABatchIsApprovedAtOnceAndWhatChangedStays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two, three := s.agency.Post(t, "First", s.account), s.agency.Post(t, "Second", s.account), s.agency.Post(t, "Third", s.account)
	path := s.ask(t, "dana@client.example", one, two, three)
	page := s.get(t, path)
	s.wantStatus(t, page, 200, "3 posts wait for your approval", "Post 1 of 3", "Approve all 3")
	all := form(t, page.body, "/approvals")

	second, err := s.agency.Owner.Post(t.Context(), two.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	content := second.Version.Content
	content.Text = "Second, better"
	if _, err := s.agency.Owner.SavePost(t.Context(), two.Post.ID, db.PostForm{Seen: second.Post.Revision, Content: content}); err != nil {
		t.Fatal(err)
	}
	s.wantStatus(t, s.do(t, "POST", path+"/approvals", all), 409, "This changed after you were asked", "<ins>, better</ins>")
	if n := s.decisions(t); n != 2 {
		t.Errorf("%d decisions, want those about the two that stand", n)
	}
	s.wantStatus(t, s.do(t, "POST", path+"/approvals", url.Values{"page": all["page"], "asked": {"1"}}), 422)
	s.wantStatus(t, s.do(t, "POST", path+"/approvals", url.Values{"page": all["page"], "asked": {"999:1:ab"}}), 404)
}

func TestAskingForChangesNeedsWordsAndKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	fields := form(t, s.get(t, path).body, "/decisions")
	fields.Set("verdict", "request_changes")
	fields.Set("words", "  ")
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", fields), 422, "Say what should change", "<details class=\"review-no\" open>")
	fields.Set("words", strings.Repeat("x", 4001))
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", fields), 422, "too long", strings.Repeat("x", 4001))
	fields.Set("words", "Less <b>red</b>")
	done := s.do(t, "POST", path+"/decisions", fields)
	s.wantStatus(t, done, 303)
	s.wantStatus(t, s.get(t, done.header.Get("Location")), 200, "You asked for changes: “Less &lt;b&gt;red&lt;/b&gt;”")
}

func TestCommentsOfAClientReachTheAgency(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := s.agency.Post(t, "Hello", s.account)
	path := s.ask(t, "dana@client.example", post)
	if _, err := s.agency.Owner.Comment(t.Context(), db.CommentForm{Post: post.Post.ID, Visibility: model.Internal, Body: "They never like red"}); err != nil {
		t.Fatal(err)
	}
	fields := form(t, s.get(t, path).body, "/comments")
	s.wantStatus(t, s.do(t, "POST", path+"/comments", url.Values{"page": fields["page"], "request": fields["request"], "key": fields["key"], "body": {" "}}), 422, "Write something first")
	fields.Set("body", "Is that our new logo?")
	done := s.do(t, "POST", path+"/comments", fields)
	s.wantStatus(t, done, 303)
	page := s.get(t, done.header.Get("Location"))
	s.wantStatus(t, page, 200, "Is that our new logo?")
	if strings.Contains(page.body, "never like red") || strings.Contains(page.body, "Internal") {
		t.Error("an internal comment is on the page")
	}
	list, err := s.agency.Owner.Comments(t.Context(), post.Post.ID)
	if err != nil || len(list) != 2 || list[1].Name != "Dana" || !list[1].ByApprover {
		t.Errorf("the agency reads %+v, %v", list, err)
	}
}

func TestACommentTooManyStaysInItsField(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	for i := range 10 {
		s.wantStatus(t, s.comment(t, path, fmt.Sprintf("Number %d", i)), 303)
	}
	s.wantStatus(t, s.comment(t, path, "One more thought"), 429, "One more thought</textarea>", "wait ten minutes")
}

// comment fills in the form of a page that was just opened.
func (s *site) comment(t *testing.T, path, body string) answer {
	t.Helper()
	fields := form(t, s.get(t, path).body, "/comments")
	fields.Set("body", body)
	return s.do(t, "POST", path+"/comments", fields)
}

// TestACommentThatCameTwiceIsOne: by a double click, after going back, and where
// room ran out meanwhile.
func TestACommentThatCameTwiceIsOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	fields := form(t, s.get(t, path).body, "/comments")
	fields.Set("body", "Is that our new logo?")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { s.wantStatus(t, s.do(t, "POST", path+"/comments", fields), 303) })
	}
	wg.Wait()
	for i := range 9 {
		s.wantStatus(t, s.comment(t, path, fmt.Sprintf("Number %d", i)), 303)
	}
	s.wantStatus(t, s.do(t, "POST", path+"/comments", fields), 303)
	if n := s.comments(t, "Is that our new logo?"); n != 1 {
		t.Errorf("%d comments", n)
	}
	if n := dbtest.Look[int](t, s.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.mails WHERE kind = 'comment' AND content::text LIKE '%new logo%' AND to_email = (SELECT min(to_email) FROM tenant.mails WHERE kind = 'comment')`); n != 1 {
		t.Errorf("%d mails to one person", n)
	}
}

// TestACommentThatWasChangedAfterItWasSentIsKept: it is asked whether it is one more.
func TestACommentThatWasChangedAfterItWasSentIsKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	fields := form(t, s.get(t, path).body, "/comments")
	fields.Set("body", "First words")
	s.wantStatus(t, s.do(t, "POST", path+"/comments", fields), 303)
	fields.Set("body", "Other words")
	page := s.do(t, "POST", path+"/comments", fields)
	s.wantStatus(t, page, 409, "Other words</textarea>", "This form was sent before")
	if n := s.comments(t, "Other words"); n != 0 {
		t.Errorf("%d comments", n)
	}
	again := form(t, page.body, "/comments")
	again.Set("body", "Other words")
	s.wantStatus(t, s.do(t, "POST", path+"/comments", again), 303)
	fields.Del("key")
	fields.Set("body", "From an old page")
	s.wantStatus(t, s.do(t, "POST", path+"/comments", fields), 422, "From an old page</textarea>", "send it once more")
	if n := s.comments(t, "Other words"); n != 1 {
		t.Errorf("%d comments", n)
	}
}

func (s *site) comments(t *testing.T, body string) int {
	t.Helper()
	return dbtest.Look[int](t, s.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.comments WHERE body = $1`, body)
}

// TestALinkThatWasAskedForTwiceIsSentOnce counts the mails of one form.
func TestALinkThatWasAskedForTwiceIsSentOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	s.Clock.Advance(15 * 24 * time.Hour)
	gone := s.get(t, path)
	s.wantStatus(t, gone, 410)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s.wantStatus(t, s.do(t, "POST", path+"/links", form(t, gone.body, "/links")), 200, "A fresh link is on its way")
		})
	}
	wg.Wait()
	links := func() int {
		return dbtest.Look[int](t, s.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.review_links WHERE asked_from IS NOT NULL`)
	}
	if n := links(); n != 1 {
		t.Errorf("%d links", n)
	}
	s.wantStatus(t, s.do(t, "POST", path+"/links", form(t, s.get(t, path).body, "/links")), 200)
	if n := links(); n != 2 {
		t.Errorf("%d links after another form", n)
	}
}

func TestALinkThatEndedExplainsItselfAndMailsAFreshOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Hello", s.account))
	old := form(t, s.get(t, path).body, "/decisions")
	s.Clock.Advance(15 * 24 * time.Hour)
	page := s.get(t, path)
	s.wantStatus(t, page, 410, "This link no longer works", "ran out on", "Send me a fresh link")
	if strings.Contains(page.body, "Hello") {
		t.Error("the post shows on a link that ran out")
	}
	old.Set("verdict", "approve")
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", old), 410)
	old.Set("page", form(t, page.body, "/links").Get("page"))
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", old), 410)
	s.wantStatus(t, s.do(t, "POST", path+"/links", form(t, page.body, "/links")), 200, "A fresh link is on its way")
	fresh := s.link(t, "dana@client.example")
	if fresh == path {
		t.Fatal("no fresh link")
	}
	s.wantStatus(t, s.get(t, fresh), 200, "One post waits")
	if s.decisions(t) != 0 {
		t.Error("a link that ran out decided")
	}
}

func TestASupersededLinkShowsTheNewerVersionWithWhatChanged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := s.agency.Post(t, "Open on Monday", s.account)
	path := s.ask(t, "dana@client.example", post)
	now, err := s.agency.Owner.Post(t.Context(), post.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	content := now.Version.Content
	content.Text = "Open on Tuesday"
	edited, err := s.agency.Owner.SavePost(t.Context(), post.Post.ID, db.PostForm{Seen: now.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	s.wantStatus(t, s.get(t, path), 200, "This was changed after you were asked", "can no longer be approved")
	s.ask(t, "dana@client.example", edited)
	page := s.get(t, path)
	s.wantStatus(t, page, 200, "This is a newer version", "<del>Monday</del>", "<ins>Tuesday</ins>")
	yes := form(t, page.body, "/decisions")
	yes.Set("verdict", "approve")
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", yes), 303)
}

func TestASuggestedTextIsTakenOverByOnePress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post := s.agency.Post(t, "Open on Monday", s.account)
	path := s.ask(t, "dana@client.example", post)
	fields := form(t, s.get(t, path).body, "/suggestions")
	for text, words := range map[string]string{" ": "needs a text", "Open on Monday": "not changed the text", strings.Repeat("x", 20_001): "too long"} {
		fields.Set("text", text)
		s.wantStatus(t, s.do(t, "POST", path+"/suggestions", fields), 422, words, "review-suggest\" open")
	}
	fields.Set("text", "Open on <Tuesday>")
	s.wantStatus(t, s.do(t, "POST", path+"/suggestions", url.Values{"page": fields["page"], "request": fields["request"], "hash": {"old"}, "key": fields["key"], "text": fields["text"]}), 409, "Open on &lt;Tuesday&gt;</textarea>")
	for range 2 {
		s.wantStatus(t, s.do(t, "POST", path+"/suggestions", fields), 303)
	}
	s.wantStatus(t, s.get(t, path+"?done=suggestion"), 200, "Your text is with the agency", "<del>Monday</del>", "<ins>&lt;Tuesday&gt;</ins>")
	if n := dbtest.Look[int](t, s.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.mails WHERE kind = 'suggestion'`); n != 1 {
		t.Errorf("%d mails", n)
	}
	list, err := s.agency.Owner.PostApprovals(t.Context(), post.Post.ID)
	if err != nil || len(list[0].Suggestions) != 1 || s.decisions(t) != 0 {
		t.Fatalf("the agency sees %+v, %v", list[0].Suggestions, err)
	}
	taken, err := s.agency.Owner.TakeSuggestion(t.Context(), list[0].Suggestions[0].ID)
	if err != nil || taken.Version.Content.Text != "Open on <Tuesday>" || taken.Post.Review != "draft" {
		t.Fatalf("taken over: %+v, %v", taken, err)
	}
	_, err = s.agency.Owner.TakeSuggestion(t.Context(), list[0].Suggestions[0].ID)
	if no, ok := model.Refused(err); !ok || no.Kind != model.Conflict {
		t.Errorf("twice: %v", err)
	}
	s.wantStatus(t, s.get(t, path), 200, "This was changed after you were asked")
}

func TestABatchIsApprovedButForWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two := s.agency.Post(t, "First", s.account), s.agency.Post(t, "Second", s.account)
	path := s.ask(t, "dana@client.example", one, two)
	page := s.get(t, path)
	s.wantStatus(t, page, 200, "Leave some out", "Post 2: Second")
	all := form(t, page.body, "/approvals")
	ids := form(t, page.body, "/decisions")["request"]
	second, _, _ := strings.Cut(all["asked"][1], ":")
	all["except"] = []string{ids[0], second}
	s.wantStatus(t, s.do(t, "POST", path+"/approvals", all), 422, "left out all of them")
	all["except"] = []string{second}
	done := s.do(t, "POST", path+"/approvals", all)
	s.wantStatus(t, done, 303)
	s.wantStatus(t, s.get(t, done.header.Get("Location")), 200, "but for what you left out", "One post waits for your approval")
	if n := s.decisions(t); n != 1 {
		t.Errorf("%d decisions", n)
	}
}

// TestAClientHoldsWhatIsApprovedAndLetsItGo: by forms that work without script, with
// its reason where the writer and the evidence show it.
func TestAClientHoldsWhatIsApprovedAndLetsItGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	writer := s.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.PostsWrite}})
	post, err := writer.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "Open on Monday", Accounts: []model.AccountID{s.account}}})
	if err != nil {
		t.Fatal(err)
	}
	path := s.ask(t, "dana@client.example", post)
	page := s.get(t, path).body
	if strings.Contains(page, "Hold this post") {
		t.Error("what waits for a decision can be held")
	}
	yes := form(t, page, "/decisions")
	yes.Set("verdict", "approve")
	s.wantStatus(t, s.do(t, "POST", path+"/decisions", yes), 303)
	approved, err := s.agency.Owner.Post(t.Context(), post.Post.ID)
	if err == nil {
		when, _ := model.At(s.Clock.Now().Add(time.Hour), "Europe/Berlin")
		_, err = s.agency.Owner.SchedulePost(t.Context(), post.Post.ID, approved.Post.Revision, when)
	}
	if err != nil {
		t.Fatal(err)
	}
	hold := form(t, s.get(t, path).body, "/holds")
	hold.Set("why", strings.Repeat("x", 4001))
	s.wantStatus(t, s.do(t, "POST", path+"/holds", hold), 422, "too long", strings.Repeat("x", 4001))
	hold.Set("why", "The <date> is wrong")
	for range 2 { // pressed twice
		s.wantStatus(t, s.do(t, "POST", path+"/holds", hold), 303)
	}
	s.wantStatus(t, s.get(t, path+"?done=hold"), 200, "This post is on hold", "The &lt;date&gt; is wrong", "Let it go")
	e, err := s.agency.Owner.Evidence(t.Context(), approved.Targets[0].ID)
	if err != nil || e.Hold().Name != "Dana" || e.Hold().Why != "The <date> is wrong" {
		t.Errorf("the evidence has %+v, %v", e.Holds, err)
	}
	if now, err := s.agency.Owner.Post(t.Context(), post.Post.ID); err != nil || now.Targets[0].HeldBy != "Dana" {
		t.Errorf("the post's page has %+v, %v", now.Targets[0].HeldBy, err)
	}
	mails := func(kind string) int {
		return dbtest.Look[int](t, s.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.mails WHERE kind = $1`, kind)
	}
	if n := mails("held"); n != 1 {
		t.Errorf("%d mails about the hold", n)
	}
	scheduler := s.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{s.client: {model.PostsView, model.PostsSchedule}})
	if _, err := scheduler.ReleaseTarget(t.Context(), approved.Targets[0].ID); err == nil {
		t.Error("who may not approve let go what the client holds")
	}
	free := form(t, s.get(t, path).body, "/releases")
	for range 2 {
		s.wantStatus(t, s.do(t, "POST", path+"/releases", free), 303)
	}
	s.wantStatus(t, s.get(t, path+"?done=release"), 200, "Let go. It goes out at its time.", "Hold this post")
	if n := mails("let_go"); n != 1 {
		t.Errorf("%d mails about its end", n)
	}
}

// TestAHoldThatComesTooLateSaysSo keeps its words.
func TestAHoldThatComesTooLateSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Open on Monday", s.account))
	hold := form(t, s.get(t, path).body, "/decisions")
	hold.Set("why", "Wait a moment")
	s.wantStatus(t, s.do(t, "POST", path+"/holds", hold), 409, "nothing to hold", "Wait a moment")
}

// TestTheCalendarShowsWhatIsApprovedOfTheClientAlone, in the zone of who looks.
func TestTheCalendarShowsWhatIsApprovedOfTheClientAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := s.ask(t, "dana@client.example", s.agency.Post(t, "Waits for Dana", s.account))
	stranger := s.agency.Client(t, "bolt")
	s.agency.Due(t, "Of Bolt", time.Hour, s.agency.Account(t, stranger, network.Mastodon))
	s.Super(t, dbtest.SecondShard, `DELETE FROM tenant.stage_people`)
	s.Super(t, dbtest.SecondShard, `DELETE FROM tenant.stages`)
	s.agency.Due(t, "Goes out at <one>", time.Hour, s.account) // 2026-03-10 13:00 UTC
	live := s.agency.Due(t, "Is live", 2*time.Hour, s.account)
	s.agency.Push(t, live.Targets[0].ID, "", model.Queued, model.Publishing, model.Published)
	s.Super(t, dbtest.SecondShard, `UPDATE tenant.targets SET permalink = 'https://kiez.example/@acme/1' WHERE id = $1`, live.Targets[0].ID)

	page := s.get(t, path+"/calendar")
	s.wantStatus(t, page, 200, "March 2026", "Goes out at &lt;one&gt;", `href="https://kiez.example/@acme/1"`, "Times in")
	for _, hidden := range []string{"Of Bolt", "Waits for Dana"} {
		if strings.Contains(page.body, hidden) {
			t.Errorf("the calendar shows %q", hidden)
		}
	}
	s.wantStatus(t, s.get(t, path+"/calendar?month=2026-04"), 200, "April 2026", "Nothing is approved or live")
	s.wantStatus(t, s.get(t, path+"/calendar?month=nonsense"), 200, "March 2026")
	s.wantStatus(t, s.get(t, path+"/calendar?month=9999-04"), 422)

	zone := form(t, page.body, "/zone")
	zone.Set("zone", "Mars/Olympus")
	s.wantStatus(t, s.do(t, "POST", path+"/zone", zone), 422, "Choose a time zone", "March 2026")
	zone.Set("zone", "America/New_York")
	done := s.do(t, "POST", path+"/zone", zone)
	s.wantStatus(t, done, 303)
	s.wantStatus(t, s.get(t, done.header.Get("Location")), 200, "Times in New York", `>09:00<`, "in your time zone from now on")
	zone.Set("page", "forged")
	s.wantStatus(t, s.do(t, "POST", path+"/zone", zone), 403)
	s.Clock.Advance(15 * 24 * time.Hour)
	if gone := s.get(t, path+"/calendar"); gone.status != 410 || strings.Contains(gone.body, "Is live") {
		t.Errorf("a link that ran out: status %d", gone.status)
	}
}

// TestALinkThatNobodyReadIsShownByItsAddress and by who makes the card.
func TestALinkThatNobodyReadIsShownByItsAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	post, err := s.agency.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "Lunch", Link: "https://www.acme.org/menu?day=1", Accounts: []model.AccountID{s.account}}})
	if err != nil {
		t.Fatal(err)
	}
	page := s.get(t, s.ask(t, "dana@client.example", post))
	s.wantStatus(t, page, 200, `look-card-title">acme.org/menu?day=1<`, "Mastodon makes the card from the page itself when the post goes out.")
}

// TestTheCardOfALinkIsShownToTheClient with our own copy of its picture, which only a
// page that shows it gives away.
func TestTheCardOfALinkIsShownToTheClient(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const address = "https://acme.org/menu"
	for _, a := range []string{address, "https://secret.org/"} {
		if begun, err := s.agency.Owner.BeginLinkCard(t.Context(), a); err != nil || !begun {
			t.Fatal(begun, err)
		}
		if err := s.agency.Owner.KeepLinkCard(t.Context(), a, db.LinkCard{Title: "The menu of <today>", Words: "Soup and bread"}, []byte("\xff\xd8\xff a picture")); err != nil {
			t.Fatal(err)
		}
	}
	post, err := s.agency.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "Lunch", Link: address, Accounts: []model.AccountID{s.account}}})
	if err != nil {
		t.Fatal(err)
	}
	path := s.ask(t, "dana@client.example", post)
	page := s.get(t, path)
	s.wantStatus(t, page, 200, "The menu of &lt;today&gt;", "Soup and bread")
	_, rest, ok := strings.Cut(page.body, `src="`+path+"/cards/")
	picture, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatal("the card has no picture")
	}
	got := s.get(t, path+"/cards/"+picture)
	s.wantStatus(t, got, 200, "a picture")
	if got.header.Get("Content-Type") != "image/jpeg" || !strings.Contains(got.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("headers %v", got.header)
	}
	s.wantStatus(t, s.get(t, path+"/cards/"+picture[:len(picture)-2]+"AA"), 404)
	s.Clock.Advance(time.Hour)
	s.wantStatus(t, s.get(t, path+"/cards/"+picture), 404)
}
