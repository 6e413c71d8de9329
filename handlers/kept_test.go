package handlers_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/secret"
	"herald/handlers/web"
)

const typed = "Fresh bread & <b>buns</b>\n\nevery morning"

// browse sends a request as a browser would, with a session or without one.
func (g *grounds) browse(method, path string, form url.Values, session *http.Cookie, header ...string) *httptest.ResponseRecorder {
	g.t.Helper()
	r := httptest.NewRequestWithContext(g.t.Context(), method, "https://herald.example"+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if session != nil {
		r.AddCookie(session)
	}
	w := httptest.NewRecorder()
	g.web.ServeHTTP(w, r)
	return w
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([\w.]+)" value="([^"]*)"`)

// hidden are the hidden fields of a page.
func hidden(w *httptest.ResponseRecorder) url.Values {
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(w.Body.String(), -1) {
		form.Add(m[1], html.UnescapeString(m[2]))
	}
	return form
}

func shows(t *testing.T, w *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, words(w))
	}
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), html.EscapeString(text)) {
			t.Errorf("the page lacks %q: %s", text, words(w))
		}
	}
}

// TestWhatIsWrittenOutlivesTheSession sends forms that were opened while somebody
// was signed in, after the session ended: without script, in both encodings of a form.
func TestWhatIsWrittenOutlivesTheSession(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	hash, err := secret.HashPassword(t.Context(), "correct horse battery", secret.Cost{Time: 1, Memory: 64, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	anna := g.north.Owner.Actor.User
	g.Super(t, db.MainShard, `UPDATE control.users SET email = 'anna@north.example', password_hash = $2 WHERE id = $1`, anna, hash)
	post := url.Values{"do": {"save"}, "key": {"key-of-a-form-0123456789"}, "seen": {"0"}, "text": {typed}, "notes": {"for Mia"}, "account": {id(g.north.Main.Account)}, "token": {"hunter2"}}

	whole := g.send(nil, "POST /w/{slug}/posts", try{path: "/w/north/posts", form: post, file: []byte("x")})
	shows(t, whole, 401, typed, "for Mia", "have to be chosen again", "You were signed out meanwhile")
	asked := g.browse("POST", "/w/north/posts", post, nil, "Referer", "https://herald.example/w/north/posts/new")
	shows(t, asked, 401, typed, "for Mia")
	if got := asked.Header().Get("Cache-Control"); got != "no-store" || strings.Contains(asked.Body.String(), "hunter2") {
		t.Errorf("a secret travels along, or the page is stored: %q", got)
	}

	form := hidden(asked)
	form.Set("email", "anna@north.example")
	form.Set("password", "wrong")
	wrong := g.browse("POST", "/signin", form, nil)
	shows(t, wrong, 422, typed)
	form = hidden(wrong)
	form.Set("email", "anna@north.example")
	form.Set("password", "correct horse battery")
	in := g.browse("POST", "/signin", form, nil)
	shows(t, in, 200, typed, "You are signed in again", "Send it", "/w/north/posts/new")
	again := hidden(in)
	if again.Get("text") != typed || again.Get("key") != post.Get("key") || again.Get("kept") != "" {
		t.Errorf("what would be sent is %v", again)
	}
	session := in.Result().Cookies()[0]
	if sent := g.browse("POST", "/w/north/posts", again, session); sent.Code != 303 {
		t.Errorf("sending it: %d %s", sent.Code, words(sent))
	}
	if n := dbtest.Look[int](t, g.World, db.MainShard, `SELECT count(*) FROM tenant.posts WHERE excerpt LIKE 'Fresh bread%'`); n != 1 {
		t.Errorf("%d posts with the words", n)
	}
}

func TestWhatWasNotWrittenIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	w := g.browse("POST", "/w/north/pause", url.Values{"pause": {"on"}}, nil, "Referer", "https://herald.example/w/north/accounts")
	if to := w.Header().Get("Location"); w.Code != 404 && (w.Code != 303 || to != "/signin?next=%2Fw%2Fnorth%2Faccounts") {
		t.Errorf("%d to %q", w.Code, to)
	}
	w = g.browse("POST", "/w/north/posts/check", url.Values{"text": {typed}}, nil, "HX-Request", "true", "HX-Current-URL", "https://herald.example/w/north/posts/new")
	if w.Code != 401 || w.Header().Get("HX-Retarget") != "#notices" || w.Header().Get("HX-Redirect") != "" || !strings.Contains(w.Body.String(), "/signin?next=%2Fw%2Fnorth%2Fposts%2Fnew") {
		t.Errorf("the page does not stay: %d %v %s", w.Code, w.Header(), w.Body)
	}
	for _, kept := range []string{"x", "=%2Fw%2Fnorth%2Fposts", "=https%3A%2F%2Fevil.example%2Fw%2F&text=hi", "=%2Fsignout&text=hi", "%zz"} {
		form := url.Values{"email": {"nobody@north.example"}, "password": {"wrong"}, "kept": {kept}}
		if w := g.browse("POST", "/signin", form, nil); w.Code != 422 || strings.Contains(w.Body.String(), "evil") || strings.Contains(w.Body.String(), "/signout\"") {
			t.Errorf("%q: %d %s", kept, w.Code, words(w))
		}
	}
}

// TestARefusalShowsWhatWasWritten takes a role away while somebody writes, and
// makes forms stale, strange and too many.
func TestARefusalShowsWhatWasWritten(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	h := g.north.Main
	w := httptest.NewRecorder()
	if err := (&web.Sessions{Store: g.Store, Secure: true, Now: g.Clock.Now}).SignIn(w, httptest.NewRequest("POST", "/signin", nil), g.north.Owner.Actor.User); err != nil {
		t.Fatal(err)
	}
	session := w.Result().Cookies()[0]
	post := url.Values{"do": {"save"}, "key": {"key-of-a-form-0123456789"}, "seen": {"0"}, "text": {typed}, "account": {id(h.Account)}}
	decision := url.Values{"stage": {"1"}, "hash": {"00"}, "verdict": {"request_changes"}, "words": {typed}}
	comment := url.Values{"visibility": {"internal"}, "body": {typed}}
	approval := "/w/north/approvals/" + id(h.Request)

	shows(t, g.browse("POST", "/w/north/posts/999999", url.Values{"do": {"save"}, "post": {"999999"}, "seen": {"1"}, "text": {typed}}, session), 404, typed, "What you wrote")
	shows(t, g.browse("POST", approval+"/decisions", decision, session), 409, typed)
	shows(t, g.browse("POST", "/w/north/approvals/999999/comments", comment, session), 404, typed, "What you wrote")

	g.Super(t, db.MainShard, `UPDATE control.memberships SET role = 'viewer' WHERE user_id = $1`, g.north.Owner.Actor.User)
	for path, form := range map[string]url.Values{"/w/north/posts": post, approval + "/decisions": decision, approval + "/comments": comment} {
		got := g.browse("POST", path, form, session)
		shows(t, got, 403, typed, "What you wrote", "Your role does not include this")
	}
	g.Super(t, db.MainShard, `DELETE FROM control.memberships WHERE user_id = $1`, g.north.Owner.Actor.User)
	shows(t, g.browse("POST", "/w/north/posts", post, session), 404, typed)
}

// TestAClientIsToldNothingOfARole: who holds a link, or nothing at all, has none.
func TestAClientIsToldNothingOfARole(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	path := "/review/" + g.north.Main.Token
	form := url.Values{"request": {id(g.north.Main.Request)}, "stage": {"1"}, "verdict": {"request_changes"}, "words": {typed}}
	got := g.browse("POST", path+"/decisions", form, nil)
	shows(t, got, 403, typed, "nothing was recorded")
	if strings.Contains(got.Body.String(), "role does") {
		t.Error("a role is spoken of")
	}
	shows(t, g.browse("POST", "/review/1.nothing/decisions", form, nil), 404, typed)
	file := g.browse("GET", "/m/"+g.Ring.SignMedia(secret.ForMember, secret.MediaLink{Tenant: int64(g.north.ID), Media: int64(g.north.Main.Media), File: "original"}, g.Clock.Now().Add(g.life)), nil, nil)
	if file.Code != 403 || strings.Contains(file.Body.String(), "role does") || !strings.Contains(file.Body.String(), "This is not open to you") {
		t.Errorf("a file without a session: %d %s", file.Code, words(file))
	}
}
