package desk_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/network"
)

// zone is a DNS and what answers at addresses, as a test sets them.
type zone struct {
	records map[string][]string
	sites   map[string]string
}

func (z *zone) Records(_ context.Context, name string) ([]string, error) { return z.records[name], nil }

func (z *zone) Reads(_ context.Context, address string) (string, error) {
	if said, ok := z.sites[address]; ok {
		return said, nil
	}
	return "", errors.New("nothing answers")
}

// token is what a name's DNS has to say.
func (s *studio) token(t *testing.T, host string) string {
	t.Helper()
	return dbtest.Look[string](t, s.World, db.MainShard, `SELECT token FROM control.review_hosts WHERE host = $1 AND workspace_id = $2`, host, s.agency.ID)
}

const hostForm = "/w/north/settings/look/host"

// hold takes a name all the way.
func (s *studio) hold(t *testing.T, form, host string) {
	t.Helper()
	s.post(t, s.owner, form, url.Values{"host": {host}}).want(t, 303)
	token := s.token(t, host)
	s.zone.records["_herald."+host] = []string{"v=spf1 -all", "herald-review=" + token}
	s.zone.sites["https://"+host+"/.well-known/herald-review"] = token
	s.post(t, s.owner, form+"/checks", nil).want(t, 303)
}

func TestAHostNameIsUsedOnceItIsShownToBeTheirs(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.desk.BaseURL = "https://herald.example"
	const host = "review.agency.example"
	live := func() bool {
		return dbtest.Look[bool](t, s.World, db.MainShard, `SELECT live_at IS NOT NULL FROM control.review_hosts WHERE host = $1`, host)
	}
	s.post(t, s.owner, hostForm, url.Values{"host": {" Review.Agency.example. "}}).want(t, 303)
	s.get(t, s.owner, "/w/north/settings/look").want(t, 200, "_herald."+host, "herald-review="+s.token(t, host), "herald.example", "Not shown to be yours yet")
	s.zone.sites["https://"+host+"/.well-known/herald-review"] = s.token(t, host) // it leads here, and that alone says nothing
	s.post(t, s.owner, hostForm+"/checks", nil).want(t, 303)
	s.get(t, s.owner, "/w/north/settings/look").want(t, 200, "is not there yet")
	s.zone.records["_herald."+host] = []string{"herald-review=another"}
	s.post(t, s.owner, hostForm+"/checks", nil).want(t, 303)
	if held, err := s.Store.HeldHosts(t.Context()); err != nil || len(held) > 0 || live() {
		t.Fatalf("held without the record: %v, %v", held, err)
	}
	s.zone.records["_herald."+host] = []string{"herald-review=" + s.token(t, host)}
	s.zone.sites["https://"+host+"/.well-known/herald-review"] = "<html>somebody's shop"
	s.post(t, s.owner, hostForm+"/checks", nil).want(t, 303)
	s.get(t, s.owner, "/w/north/settings/look").want(t, 200, "another site answers there")
	if live() {
		t.Fatal("mails would lead to another site")
	}
	s.hold(t, hostForm, host)
	if !live() {
		t.Fatal("not in use")
	}
	s.get(t, s.owner, "/w/north/settings/look").want(t, 200, "In use")
	delete(s.zone.records, "_herald."+host)
	s.post(t, s.owner, hostForm+"/checks", nil).want(t, 303)
	if live() {
		t.Error("it is used without its record")
	}
	s.post(t, s.owner, hostForm+"/removal", nil).want(t, 303)
	s.post(t, s.owner, hostForm+"/removal", nil).want(t, 303)
	s.post(t, s.owner, hostForm+"/checks", nil).want(t, 404)
}

func TestHostNamesThatCannotBeSomebodysAreRefused(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.desk.BaseURL = "https://herald.example"
	for _, none := range []string{"", "agency", "https://review.agency.example", "review.agency.example/x", "review.agency.example:8080", "10.0.0.1", "127.1.1.1", "[::1]", "::1", "0x7f.1",
		"herald.example", "HERALD.example.", "-a.example", "a..example", "user@review.agency.example", "review.agency.example\r\nX: y", "*.agency.example", "_herald.agency.example", strings.Repeat("a", 64) + ".example"} {
		got := s.post(t, s.owner, hostForm, url.Values{"host": {none}})
		if got.status != 422 {
			t.Errorf("%q: %d", none, got.status)
		}
	}
	s.post(t, s.owner, hostForm, url.Values{"host": {"review.Müller.example"}}).want(t, 303)
	s.get(t, s.owner, "/w/north/settings/look").want(t, 200, "review.müller.example", "_herald.review.xn--mller-kva.example")
}

// TestOneNameIsOneHolders: whoever shows the record first holds it; the other is refused
// at both ends, and finds no page of theirs under it.
func TestOneNameIsOneHolders(t *testing.T) {
	t.Parallel()
	s, link := dressed(t)
	s.desk.BaseURL = "https://herald.example"
	other := s.agency.Client(t, "museum")
	theirs := s.asks(t, other, s.agency.Account(t, other, network.Mastodon))
	const host = "review.bakery.example"
	own := fmt.Sprintf("/w/north/settings/clients/%d/look/host", s.client)
	stranger := fmt.Sprintf("/w/north/settings/clients/%d/look/host", other)
	s.post(t, s.owner, stranger, url.Values{"host": {host}}).want(t, 303)
	s.post(t, s.owner, own, url.Values{"host": {host}}).want(t, 303)
	token := dbtest.Look[string](t, s.World, db.MainShard, `SELECT token FROM control.review_hosts WHERE client_id = $1`, s.client)
	s.zone.records["_herald."+host] = []string{"herald-review=" + token}
	s.post(t, s.owner, stranger+"/checks", nil).want(t, 303)
	s.post(t, s.owner, own+"/checks", nil).want(t, 303)
	held, err := s.Store.HeldHosts(t.Context())
	if err != nil || len(held) != 1 || held[0].ClientID != s.client {
		t.Fatalf("held: %+v, %v", held, err)
	}
	s.post(t, s.owner, hostForm, url.Values{"host": {host}}).want(t, 422, "in use already")

	at := func(name, path string) int {
		t.Helper()
		r, _ := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+path, nil)
		r.Host = name
		return s.do(t, http.DefaultClient, r).status
	}
	if got := at(host, link); got != 200 {
		t.Errorf("the client's own page under its name: %d", got)
	}
	if got := at(host, theirs); got != 404 {
		t.Errorf("another client's page under it: %d", got)
	}
	for _, path := range []string{link, theirs} {
		if got := at("herald.example", path); got != 200 {
			t.Errorf("under Herald's own name: %d", got)
		}
	}
}
