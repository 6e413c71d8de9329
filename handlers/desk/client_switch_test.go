package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herald/db/model"
)

func TestAClientThatWasChosenIsOnEveryList(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.agency.Post(t, "words of acme", b.mastodon)
	b.agency.Post(t, "words from abroad", b.abroad)
	abroad := b.york
	only := fmt.Sprintf("client=%d", abroad)

	w := owner("POST", "/w/north/client", url.Values{"client": {fmt.Sprint(abroad)}, "to": {"/w/north/posts?state=draft&account=7&after=x"}})
	if got := w.Header().Get("Location"); w.Code != 303 || got != "/w/north/posts?"+only+"&state=draft" {
		t.Fatalf("%d to %q", w.Code, got)
	}
	for _, list := range []string{"/posts", "/approvals", "/media", "/accounts"} {
		if w := owner("GET", "/w/north"+list, nil); w.Code != 303 || w.Header().Get("Location") != "/w/north"+list+"?"+only {
			t.Errorf("%s: %d to %q", list, w.Code, w.Header().Get("Location"))
		}
	}
	if w := owner("GET", "/w/north/calendar", nil); w.Code != 303 || !strings.Contains(w.Header().Get("Location"), only) {
		t.Errorf("the calendar: %d to %q", w.Code, w.Header().Get("Location"))
	}
	page := owner("GET", "/w/north/posts?"+only, nil)
	wantPage(t, page, 200, "words from abroad", `title="Client: Client york"`)
	if strings.Contains(page.Body.String(), "words of acme") {
		t.Error("another client's post shows")
	}
	wantPage(t, owner("GET", "/w/north/accounts?"+only, nil), 200, "Client york")

	wantPage(t, owner("GET", "/w/north/posts?client=", nil), 200, "words of acme", "words from abroad", `title="Client: All clients"`)
	wantPage(t, owner("GET", "/w/north/posts", nil), 200, "words of acme")
	wantPage(t, owner("GET", "/w/north/posts?"+only, nil), 200, "words from abroad")
	if w := owner("GET", "/w/north/accounts", nil); w.Code != 303 {
		t.Errorf("a client that was filtered by is not remembered: %d", w.Code)
	}
	w = owner("POST", "/w/north/client", url.Values{"client": {""}, "to": {"/w/north/posts?" + only}})
	if got := w.Header().Get("Location"); got != "/w/north/posts?client=" {
		t.Errorf("all clients lead to %q", got)
	}
	for to, want := range map[string]string{"https://evil.example/w/north/posts": "/w/north/calendar", "//evil.example": "/w/north/calendar", "/w/north/posts/new": "/w/north/calendar", "": "/w/north/calendar", "/w/south/posts": "/w/north/calendar", "/w/north/media?folder=3": "/w/north/media?" + only} {
		w := owner("POST", "/w/north/client", url.Values{"client": {fmt.Sprint(abroad)}, "to": {to}})
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("from %q to %q, want %q", to, got, want)
		}
	}
}

func TestAClientIsChosenAmongThoseThatThePersonMaySee(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	abroad := b.york
	owner, member := b.as(t, b.agency.Owner), b.as(t, b.member(t, model.Viewer, b.acme))
	wantPage(t, owner("GET", "/w/north/clients", nil), 200, "All clients", "Client york", "Client acme")
	found := owner("GET", "/w/north/clients?q=YORK", nil)
	wantPage(t, found, 200, "Client york")
	if main := found.Body.String(); strings.Contains(main[strings.Index(main, "<main"):], "Client acme") {
		t.Error("the search finds what it was not asked for")
	}
	wantPage(t, owner("GET", "/w/north/clients?q=%25", nil), 200, "Nothing is called that.")
	if body := member("GET", "/w/north/clients", nil).Body.String(); strings.Contains(body, "Client york") {
		t.Error("a member is offered another's client")
	}
	for _, client := range []string{fmt.Sprint(abroad), "999999"} {
		wantPage(t, member("POST", "/w/north/client", url.Values{"client": {client}}), 404, "There is no such client.")
	}
	for _, list := range []string{"/calendar", "/posts", "/approvals", "/media", "/accounts"} {
		if w := member("GET", fmt.Sprintf("/w/north%s?client=%d", list, abroad), nil); w.Code != 404 {
			t.Errorf("%s of another's client: %d", list, w.Code)
		}
	}
	if body := member("GET", "/w/north/posts", nil).Body.String(); strings.Contains(body, `class="menu whose"`) {
		t.Error("who has one client is asked which")
	}
}
