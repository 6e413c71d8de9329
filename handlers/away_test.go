package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/secret"
	"herald/handlers/web"
)

// TestADatabaseThatIsAwaySendsNobodyToSignIn: who is signed in is not known then,
// which is no reason to take the page, and what stands on it, from anybody.
func TestADatabaseThatIsAwaySendsNobodyToSignIn(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	h := g.north.Main
	w := httptest.NewRecorder()
	sessions := &web.Sessions{Store: g.Store, Secure: true, Now: g.Clock.Now}
	if err := sessions.SignIn(w, httptest.NewRequest("POST", "/signin", nil), h.Owner.Actor.User); err != nil {
		t.Fatal(err)
	}
	cookie := w.Result().Cookies()[0]
	link := "/m/" + g.Ring.SignMedia(secret.ForMember, secret.MediaLink{Tenant: int64(g.north.ID), Media: int64(h.Media), File: "original"}, g.Clock.Now().Add(g.life))
	g.Super(t, db.MainShard, `UPDATE pg_database SET datallowconn = false WHERE datname = current_database()`)
	g.Super(t, db.MainShard, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename LIKE 'herald%'`)
	ask := func(method, path, htmx string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		r.Header.Set("HX-Request", htmx)
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r.AddCookie(cookie)
		got := httptest.NewRecorder()
		g.web.ServeHTTP(got, r)
		return got
	}
	for range 2 { // the first use of a broken connection, and the next, which opens none
		for _, got := range []*httptest.ResponseRecorder{
			ask("GET", "/w/north/calendar", "", nil), ask("POST", "/w/north/posts", "", url.Values{"text": {"x"}}), ask("POST", "/w/north/posts", "true", url.Values{"text": {"x"}}),
			ask("GET", "/signin", "", nil), ask("GET", link, "", nil),
		} {
			if got.Code != 503 || !strings.Contains(got.Body.String(), "Nobody was signed out") || got.Header().Get("HX-Redirect") != "" {
				t.Errorf("%d to %q: %s", got.Code, got.Header().Get("Location"), words(got))
			}
		}
	}
	if got := ask("POST", "/w/north/posts", "true", url.Values{"text": {"x"}}); got.Header().Get("HX-Retarget") != "#notices" {
		t.Error("the page on which the words stand does not stay")
	}
	g.Super(t, db.MainShard, `UPDATE pg_database SET datallowconn = true WHERE datname = current_database()`)
	if got := ask("GET", "/w/north/calendar", "", nil); got.Code != 200 {
		t.Errorf("afterwards: %d", got.Code)
	}
}

// TestASessionThatWasEndedStaysEnded lets a request that began before the
// sign-out write its session after it.
func TestASessionThatWasEndedStaysEnded(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	sessions := &web.Sessions{Store: g.Store, Secure: true, Now: g.Clock.Now}
	w := httptest.NewRecorder()
	if err := sessions.SignIn(w, httptest.NewRequest("POST", "/signin", nil), g.north.Main.Owner.Actor.User); err != nil {
		t.Fatal(err)
	}
	request := func() *http.Request {
		r := httptest.NewRequest("GET", "/w/north/calendar", nil)
		r.AddCookie(w.Result().Cookies()[0])
		return r
	}
	slow := request()
	if user, err := sessions.User(slow); err != nil || user == 0 {
		t.Fatal(user, err)
	}
	if err := sessions.SignOut(httptest.NewRecorder(), request()); err != nil {
		t.Fatal(err)
	}
	got := httptest.NewRecorder()
	if err := sessions.Flash(got, slow, "Saved."); err != nil {
		t.Fatal(err)
	}
	if user, err := sessions.User(request()); err != nil || user != 0 {
		t.Errorf("user %d is signed in again, %v", user, err)
	}
	if len(got.Result().Cookies()) > 0 {
		t.Error("a cookie was set for a session that is not there")
	}
}
