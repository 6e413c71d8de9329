package boot

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// holder is a browser in which somebody opened a connect link.
type holder struct {
	*person
	link string // its address, from the slash on
}

const dana = "dana@client.example"

// sends lets the owner send Dana a link that asks for networks, and opens it.
func (h *hall) sends(names ...network.Name) *holder {
	h.t.Helper()
	f := db.ConnectLinkForm{Name: "Dana Vogt", Email: dana, Networks: names, Note: "The <b>blue</b> Page, please.\nThank you!"}
	if err := h.agency.Owner.SendConnectLink(h.t.Context(), h.client, f); err != nil {
		h.t.Fatal(err)
	}
	return &holder{h.as(nil), "/connect/" + h.agency.Mailed(h.t, dana)}
}

// again is the same link in another browser.
func (d *holder) again() *holder { return &holder{d.as(nil), d.link} }

var pageField = regexp.MustCompile(`name="page" value="([^"]*)"`)

func (d *holder) page() answer {
	d.t.Helper()
	return d.get(d.web.URL + d.link)
}

// token is what the forms of the link's page send back.
func (d *holder) token() string {
	d.t.Helper()
	m := pageField.FindStringSubmatch(d.page().body)
	if m == nil {
		d.t.Fatalf("no form on the page: %s", seenText(d.page().body))
	}
	return m[1]
}

// form is what the forms of the page carry to begin a sign-in.
func (d *holder) form(more ...string) []string {
	return append([]string{"link", strings.TrimPrefix(d.link, "/connect/"), "page", d.token(), "way", ""}, more...)
}

// takes chooses what account 1001 is.
func (d *holder) takes(a answer) answer {
	d.t.Helper()
	if !strings.Contains(a.to, "/consents/") {
		return a
	}
	page := d.get(d.web.URL + a.to)
	for _, m := range choice.FindAllStringSubmatch(page.body, -1) {
		if strings.HasSuffix(m[1], "1001") {
			return d.post(a.to, "page", pageField.FindStringSubmatch(page.body)[1], "chosen", m[1])
		}
	}
	d.t.Fatalf("nothing to choose: %d %s", page.status, seenText(page.body))
	return a
}

func (h *hall) mails(kind string) int {
	h.t.Helper()
	return dbtest.Look[int](h.t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.mails WHERE kind = $1`, kind)
}

func TestAClientConnectsAccountsByALink(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	d := h.sends(network.Facebook, network.X, network.Bluesky, network.Webhook)
	page := d.page()
	for _, want := range []string{"For Dana Vogt: ", "Facebook", "Bluesky", "The <b>blue</b> Page, please."} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q: %d %s", want, page.status, seenText(page.body))
		}
	}
	if strings.Contains(page.body, "All done") {
		t.Error("nothing is connected, and the link can be ended")
	}
	for _, name := range []network.Name{network.Facebook, network.X} {
		done := d.takes(d.get(d.leave(name, "allow:1001", d.form()...)))
		if done.status != http.StatusSeeOther || !strings.HasPrefix(done.to, d.link+"?done=") || h.connected(name) != 1 {
			t.Errorf("%s: %d to %s, %d accounts: %s", name, done.status, done.to, h.connected(name), seenText(done.body))
		}
	}
	made := d.post(d.link+"/accounts", "page", d.token(), "network", "webhook", "handle", "Shop", "address", h.web.URL+"/hook", "make", "true")
	if made.status != http.StatusCreated || !strings.Contains(made.body, "It is shown this once") {
		t.Errorf("a webhook: %d %s", made.status, seenText(made.body))
	}
	whose := dbtest.Look[string](t, h.World, h.agency.Shard, `SELECT string_agg(DISTINCT concat_ws(' ', name, user_id, detail->>'link' IS NOT NULL, client_id = $1), ',') FROM tenant.audit WHERE verb = 'connected'`, h.client)
	if whose != "Dana Vogt t t" {
		t.Errorf("who connected them: %q", whose)
	}
	if page := d.page(); strings.Count(seenText(page.body), "Connected") < 3 || !strings.Contains(page.body, "All done") {
		t.Errorf("the page does not show them: %s", seenText(page.body))
	}
	if all, one := h.mails(model.MailConnected), dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.mails WHERE kind = $1 AND carried_by IS NULL`, model.MailConnected); all != 3 || one != 1 {
		t.Errorf("%d notices in %d mails, want 3 in one", all, one)
	}
	if a := d.post(d.link+"/end", "page", d.token()); a.status != http.StatusSeeOther {
		t.Errorf("done: %d %s", a.status, seenText(a.body))
	}
	if n := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.mails WHERE kind = $1 AND next_at <= $2`, model.MailConnected, h.Clock.Now()); n != 1 {
		t.Error("the notice still waits")
	}
	if page := d.page(); page.status != http.StatusGone || !strings.Contains(page.body, "All done, thank you") {
		t.Errorf("afterwards: %d %s", page.status, seenText(page.body))
	}
}

func TestALinkReconnectsAndKeepsWhatWasEntered(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	d := h.sends(network.X, network.Webhook)
	d.get(d.leave(network.X, "allow:1001", d.form()...))
	id := dbtest.Look[model.AccountID](t, h.World, h.agency.Shard, `SELECT id FROM tenant.accounts WHERE network = 'x'`)
	hook := h.agency.Account(t, h.client, network.Webhook)
	h.Super(t, h.agency.Shard, `UPDATE tenant.accounts SET state = 'needs_reconnect', settings = settings || '{"max_characters": "25000"}' WHERE id = ANY ($1)`, []model.AccountID{id, hook})
	if page := d.page(); strings.Count(page.body, "Needs reconnecting") != 2 {
		t.Errorf("the page: %s", seenText(page.body))
	}
	way := d.get(fmt.Sprintf("%s%s/networks/x?account=%d", h.web.URL, d.link, id))
	if way.status != 200 || !strings.Contains(way.body, fmt.Sprintf(`name="account" value="%d"`, id)) {
		t.Fatalf("the way: %d %s", way.status, seenText(way.body))
	}
	if a := d.get(d.leave(network.X, "allow:2002", d.form("account", fmt.Sprint(id))...)); a.status != http.StatusUnprocessableEntity || !strings.Contains(seenText(a.body), "You signed in as @cafe") {
		t.Errorf("somebody else's account: %d %s", a.status, seenText(a.body))
	}
	d.get(d.leave(network.X, "allow:1001", d.form("account", fmt.Sprint(id))...))
	seen := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT revision FROM tenant.accounts WHERE id = $1`, hook)
	typed := []string{"page", d.token(), "network", "webhook", "account", fmt.Sprint(hook), "make", "false", "token", "a-secret-of-its-own", "seen"}
	if a := d.post(d.link+"/accounts", append(typed, fmt.Sprint(seen-1))...); a.status != http.StatusConflict {
		t.Errorf("a stale form: %d", a.status)
	}
	if a := d.post(d.link+"/accounts", append(typed, fmt.Sprint(seen))...); a.status != http.StatusSeeOther {
		t.Errorf("typed: %d %s", a.status, seenText(a.body))
	}
	if n := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.accounts WHERE state = 'active' AND settings->>'max_characters' = '25000'`); n != 2 {
		t.Errorf("%d accounts are connected again with their settings", n)
	}
}

func TestALinkReachesItsClientAndNetworksInItsBrowserAlone(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	d := h.sends(network.X, network.Facebook)
	other := h.agency.Client(t, "rival")
	theirs := h.agency.Account(t, other, network.X)
	h.Super(t, h.agency.Shard, `UPDATE tenant.accounts SET state = 'needs_reconnect', remote_id = '1001', handle = '@secretrival' WHERE id = $1`, theirs)
	second := h.sends(network.X)
	fresh := func(name network.Name) string { return d.leave(name, "allow:1001", d.form()...) }
	stranger := h.World.Agency(t, "south", db.MainShard)
	chosen := func() string { return d.get(fresh(network.Facebook)).to }
	for name, try := range map[string]func() answer{
		"the way back in another browser":    func() answer { return d.again().get(fresh(network.X)) },
		"the way back in a member's browser": func() answer { return h.as(h.agency.Owner).get(fresh(network.X)) },
		"the choice in another browser":      func() answer { return d.again().get(h.web.URL + chosen()) },
		"choosing in another browser":        func() answer { return d.again().post(chosen(), "page", d.token(), "chosen", "1001") },
		"the choice by another link":         func() answer { return second.get(h.web.URL + strings.Replace(chosen(), d.link, second.link, 1)) },
		"the choice at the desk": func() answer {
			return h.as(h.agency.Owner).get(h.web.URL + "/w/north/consents/" + chosen()[strings.LastIndex(chosen(), "/")+1:])
		},
		"choosing without the page":     func() answer { return d.post(chosen(), "chosen", "1001") },
		"choosing what was not offered": func() answer { c := chosen(); return d.post(c, "page", d.token(), "chosen", "999") },
		"a start without the page": func() answer {
			return d.post("/oauth/x/start", "link", strings.TrimPrefix(d.link, "/connect/"), "way", "")
		},
		"a start with another link's page": func() answer {
			return d.post("/oauth/x/start", "link", strings.TrimPrefix(d.link, "/connect/"), "page", second.token(), "way", "")
		},
		"a network that is not asked for": func() answer { return d.post("/oauth/pinterest/start", d.form()...) },
		"its page":                        func() answer { return d.get(h.web.URL + d.link + "/networks/pinterest") },
		"what is typed for it": func() answer {
			return d.post(d.link+"/accounts", "page", d.token(), "network", "webhook", "handle", "x", "address", h.web.URL, "make", "true")
		},
		"another client's account":            func() answer { return d.post("/oauth/x/start", d.form("account", fmt.Sprint(theirs))...) },
		"its page to reconnect it":            func() answer { return d.get(fmt.Sprintf("%s%s/networks/x?account=%d", h.web.URL, d.link, theirs)) },
		"disconnecting by the desk's address": func() answer { return d.post(fmt.Sprintf("/w/north/accounts/%d/disconnection", theirs), "seen", "1") },
		"a link that is none":                 func() answer { return d.get(h.web.URL + d.link + "x") },
		"a link of another workspace's number": func() answer {
			return d.get(h.web.URL + regexp.MustCompile(`/connect/[^.]*`).ReplaceAllString(d.link, fmt.Sprintf("/connect/%x", int64(stranger.ID))))
		},
	} {
		a := try()
		if a.status < 400 && !(strings.HasSuffix(name, "desk's address") && a.status == http.StatusSeeOther && strings.HasPrefix(a.to, "/signin") || a.status == http.StatusUnauthorized) {
			t.Errorf("%s: status %d to %s: %s", name, a.status, a.to, seenText(a.body))
		}
		if strings.Contains(a.body, "secretrival") || a.refuge != "" {
			t.Errorf("%s: shows what is another's, or leads on: %s", name, seenText(a.body))
		}
	}
	if n := h.connected(network.X) + h.connected(network.Facebook); n != 0 {
		t.Errorf("%d accounts are connected after all that", n)
	}
	// The form may name another client: it is not listened to.
	d.get(d.leave(network.X, "allow:1001", d.form("client", fmt.Sprint(other))...))
	if got := dbtest.Look[model.ClientID](t, h.World, h.agency.Shard, `SELECT client_id FROM tenant.accounts WHERE network = 'x' AND state = 'active'`); got != h.client {
		t.Errorf("connected for client %d, want %d", got, h.client)
	}
	if body := d.page().body; strings.Contains(body, "secretrival") || strings.Contains(body, "rival") {
		t.Error("the page shows another client")
	}
}

func TestALinkThatEndsMeanwhileConnectsNothingAndAsksTheAgency(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	var ended []*holder
	for name, end := range map[string]func(*holder){
		"took this link back": func(d *holder) {
			id := dbtest.Look[model.ConnectLinkID](t, h.World, h.agency.Shard, `SELECT max(id) FROM tenant.connect_links`)
			for range 2 {
				if _, err := h.agency.Owner.RevokeConnectLink(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
		},
		"this link is used up": func(d *holder) { d.post(d.link+"/end", "page", d.token()) },
		"no longer works for": func(*holder) {
			h.Super(t, h.agency.Shard, `UPDATE tenant.clients SET archived_at = now() WHERE id = $1`, h.client)
			t.Cleanup(func() {})
		},
	} {
		d := h.sends(network.X)
		token := d.token()
		back := d.leave(network.X, "allow:1001", d.form()...)
		end(d)
		if a := d.get(back); a.status < 400 {
			t.Errorf("%s: back from the network: %d", name, a.status)
		}
		if a := d.post("/oauth/x/start", "link", strings.TrimPrefix(d.link, "/connect/"), "page", token, "way", ""); a.status < 400 || a.refuge != "" {
			t.Errorf("%s: begun: %d", name, a.status)
		}
		if a := d.page(); a.status != http.StatusGone || !strings.Contains(a.body, name) {
			t.Errorf("%s: %d %s", name, a.status, seenText(a.body))
		}
		if strings.Contains(d.page().body, "Ask for a fresh link") == (name == "no longer works for") {
			t.Errorf("%s: who may ask for a fresh link: %s", name, seenText(d.page().body))
		}
		ended = append(ended, d)
		h.Super(t, h.agency.Shard, `UPDATE tenant.clients SET archived_at = NULL WHERE id = $1`, h.client)
	}
	late := h.sends(network.X)
	h.Clock.Advance(15 * 24 * time.Hour)
	if a := late.page(); a.status != http.StatusGone || !strings.Contains(a.body, "ran out on") {
		t.Errorf("late: %d %s", a.status, seenText(a.body))
	}
	for range 2 {
		if a := late.post(late.link+"/links", "page", late.token()); a.status != 200 || !strings.Contains(a.body, "was told that you ask for a fresh link") {
			t.Errorf("asked: %d %s", a.status, seenText(a.body))
		}
	}
	if n := h.mails(model.MailConnectAsked); n != 1 {
		t.Errorf("%d mails ask for a fresh link", n)
	}
	if a := late.post(late.link+"/links", "page", "nothing"); a.status != http.StatusForbidden {
		t.Errorf("without the page: %d", a.status)
	}
	if h.connected(network.X) != 0 {
		t.Error("something was connected")
	}
	if len(ended) != 3 {
		t.Error("not all was tried")
	}
	desk := h.as(h.agency.Owner)
	id := dbtest.Look[int64](t, h.World, h.agency.Shard, `SELECT max(id) FROM tenant.connect_links`)
	page := desk.get(fmt.Sprintf("%s/w/north/clients/%d/connect-links?again=%d", h.web.URL, h.client, id))
	if !slices.ContainsFunc([]string{page.body}, func(b string) bool { return strings.Contains(b, `value="Dana Vogt"`) && strings.Contains(b, dana) }) {
		t.Errorf("the form for a fresh one: %d %s", page.status, seenText(page.body))
	}
}

func TestAskingTheClientRefusesWhatCannotBeSentAndLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	p := h.as(h.agency.Owner)
	to := fmt.Sprintf("/w/north/clients/%d/connect-links", h.client)
	for problem, form := range map[string][]string{
		"Write the name":                   {"name", "  ", "email", dana, "network", "x"},
		"Write an e-mail address":          {"name", "Dana", "email", "dana", "network", "x"},
		"Choose at least one network":      {"name", "Dana", "email", dana},
		"Choose among the networks":        {"name", "Dana", "email", dana, "network", "rumble"},
		"A note has at most 1000":          {"name", "Dana", "email", dana, "network", "x", "note", strings.Repeat("ö", 1001)},
		"Write the name of the person, on": {"name", "Dana\r\nBcc: x", "email", dana, "network", "x", "note", "kept words"},
	} {
		a := p.post(to, append(form, "key", "key-of-a-form-0123456789")...)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, problem) {
			t.Errorf("%s: %d %s", problem, a.status, seenText(a.body))
		}
		if slices.Contains(form, "kept words") && !strings.Contains(a.body, "kept words") {
			t.Error("the note is lost")
		}
	}
	for range 2 {
		if a := p.post(to, "name", "Dana", "email", " Dana@Client.example ", "network", "x", "network", "x", "key", "key-of-a-form-0123456789"); a.status != http.StatusSeeOther {
			t.Errorf("sent: %d %s", a.status, seenText(a.body))
		}
	}
	if n := h.mails(model.MailConnectLink); n != 1 {
		t.Errorf("%d mails of one form", n)
	}
	page := p.get(h.web.URL + to)
	if !strings.Contains(page.body, "Take back") || !strings.Contains(page.body, dana) {
		t.Errorf("the list: %s", seenText(page.body))
	}
	h.Super(t, h.agency.Shard, `INSERT INTO tenant.connect_links (tenant_id, client_id, name, email, token_hash, made_by, created_at, expires_at)
		SELECT $1, $2, 'x', 'x', sha256(n::text::bytea), $3, $4, $4 FROM generate_series(1, 100) n`, h.agency.ID, h.client, h.agency.Owner.Actor.User, h.Clock.Now())
	if a := p.post(to, "name", "Dana", "email", dana, "network", "x", "key", "key-of-another-0123456789"); a.status != http.StatusTooManyRequests {
		t.Errorf("one too many: %d", a.status)
	}
}
