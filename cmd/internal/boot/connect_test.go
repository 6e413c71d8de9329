package boot

import (
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers"
	"herald/handlers/web"
	"herald/jobs/sim"
)

// hall is an agency before a Herald whose networks are simulated.
type hall struct {
	*dbtest.World
	t      *testing.T
	agency *dbtest.Agency
	client model.ClientID
	config Config
	sim    *sim.Sim
	web    *httptest.Server
}

func newHall(t *testing.T) *hall {
	t.Helper()
	h := &hall{World: dbtest.New(t), t: t}
	h.agency = h.Agency(t, "north", dbtest.SecondShard)
	h.client = h.agency.Client(t, "bakery")
	h.sim = sim.New(sim.Options{Now: h.Clock.Now})
	nets := httptest.NewServer(h.sim.Handler())
	t.Cleanup(nets.Close)
	for _, n := range network.All() {
		h.sim.AddAccount(n.Name, sim.Account{ID: "1001", Handle: "bakery", Name: "The bakery"})
		h.sim.AddAccount(n.Name, sim.Account{ID: "2002", Handle: "cafe", Name: "The cafe"})
	}
	config, err := Read([]string{"HERALD_KEYS=a passphrase for tests that is long enough to be one"})
	if err != nil {
		t.Fatal(err)
	}
	config.PrivateTargets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, n := range network.All() {
		at := nets.URL + "/" + string(n.Name)
		config.Networks[n.Name] = NetworkConfig{API: at, Auth: at, ClientID: "herald", ClientSecret: "app-secret"}
	}
	h.config = config
	mux := http.NewServeMux()
	h.web = httptest.NewServer(mux)
	t.Cleanup(h.web.Close)
	mux.Handle("/", handlers.New(handlers.Deps{Store: h.Store, Ring: h.Ring, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: h.Clock.Now, BaseURL: h.web.URL, URLLife: 15 * time.Minute,
		CheckAddress: config.CheckAddress, CheckToken: tokenChecker(config.Adapters(h.Clock.Now), config.Aggregators(h.Clock.Now)), Networks: config.SignIns(h.Clock.Now)}))
	return h
}

// person is somebody's browser.
type person struct {
	*hall
	http.Client
}

// as is a browser in which somebody is signed in; nobody if who is nil.
func (h *hall) as(who *db.Scope) *person {
	h.t.Helper()
	jar, _ := cookiejar.New(nil)
	p := &person{hall: h, Client: http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if who != nil {
		w := httptest.NewRecorder()
		s := web.Sessions{Store: h.Store, Now: h.Clock.Now}
		if err := s.SignIn(w, httptest.NewRequest("POST", "/signin", nil), who.Actor.User); err != nil {
			h.t.Fatal(err)
		}
		at, _ := url.Parse(h.web.URL)
		jar.SetCookies(at, w.Result().Cookies())
	}
	return p
}

// answer is a page as it came.
type answer struct {
	status     int
	body       string
	to, refuge string // where it leads: by redirect, by itself
}

func (p *person) do(req *http.Request, err error) answer {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := p.Client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, html.UnescapeString(string(body)), resp.Header.Get("Location"), strings.TrimPrefix(resp.Header.Get("Refresh"), "0;url=")}
}

func (p *person) get(address string) answer {
	p.t.Helper()
	return p.do(http.NewRequest("GET", address, nil))
}

func (p *person) post(path string, form ...string) answer {
	p.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	req, err := http.NewRequest("POST", p.web.URL+path, strings.NewReader(values.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return p.do(req, err)
}

var simLink = regexp.MustCompile(`href="(\?[^"]*sim_answer=[^"]*)"`)

// leave begins a sign-in and gives an answer at the network; it returns where the
// network sends the person.
func (p *person) leave(name network.Name, said string, form ...string) string {
	p.t.Helper()
	a := p.post("/oauth/"+string(name)+"/start", append([]string{"workspace", "north", "client", fmt.Sprint(p.client)}, form...)...)
	if a.status != 200 || a.refuge == "" {
		p.t.Fatalf("%s: start: %d %s", name, a.status, seenText(a.body))
	}
	if i := slices.Index(form, "without"); i >= 0 { // a permission that the person does not grant
		a.refuge = strings.Replace(a.refuge, form[i+1], "", 1)
	}
	page := p.get(a.refuge)
	path, _, _ := strings.Cut(a.refuge, "?")
	for _, m := range simLink.FindAllStringSubmatch(page.body, -1) {
		if u, _ := url.Parse(m[1]); u.Query().Get("sim_answer") == said || strings.HasPrefix(said, "allow") && u.Query().Get("sim_answer") == "allow:" {
			return p.get(path + m[1]).to
		}
	}
	p.t.Fatalf("%s: no answer %s: %d %s", name, said, page.status, seenText(page.body))
	return ""
}

var tagged = regexp.MustCompile(`<[^>]*>`)

func seenText(body string) string {
	_, body, _ = strings.Cut(body, "<main")
	return strings.Join(strings.Fields(tagged.ReplaceAllString(body, " ")), " ")
}

var choice = regexp.MustCompile(`name="chosen"[^>]* value="([^"]*)"`)

// choose takes the choice that is account 1001, if there is something to choose.
func (p *person) choose(a answer) answer {
	p.t.Helper()
	if !strings.Contains(a.to, "/consents/") {
		return a
	}
	page := p.get(p.web.URL + a.to)
	for _, m := range choice.FindAllStringSubmatch(page.body, -1) {
		if strings.HasSuffix(m[1], "1001") {
			return p.post(a.to, "chosen", m[1])
		}
	}
	p.t.Fatalf("nothing to choose: %d %s", page.status, seenText(page.body))
	return a
}

func (h *hall) connected(name network.Name) (n int) {
	h.t.Helper()
	return dbtest.Look[int](h.t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.accounts WHERE network = $1 AND state = 'active' AND token IS NOT NULL AND remote_id <> ''`, name)
}

func TestEveryNetworkIsConnectedBySigningIn(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	p := h.as(h.agency.Owner)
	for _, n := range network.All() {
		for _, way := range n.SignIns {
			was := h.connected(n.Name)
			back := p.leave(n.Name, "allow:1001", "way", way.Way, "address", "https://social.example")
			done := p.choose(p.get(back))
			if done.status != http.StatusSeeOther || !strings.Contains(done.to, "/w/north/accounts") {
				t.Errorf("%s %s: %d to %s: %s", n.Name, way.Way, done.status, done.to, seenText(done.body))
				continue
			}
			if got := h.connected(n.Name); got != was+1 && (way.Way == "" || got != was) {
				t.Errorf("%s %s: %d accounts, had %d", n.Name, way.Way, got, was)
			}
			if page := p.get(h.web.URL + done.to); !strings.Contains(page.body, "connected") {
				t.Errorf("%s: the next page says nothing: %s", n.Name, seenText(page.body))
			}
			if again := p.get(back); again.status < 400 {
				t.Errorf("%s: the same answer once more: %d", n.Name, again.status)
			}
		}
	}
	leaks := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.consents WHERE choices IS NOT NULL`)
	if leaks != 0 {
		t.Errorf("%d sign-ins that are done still hold tokens", leaks)
	}
}

// TestWhatWasNotGrantedIsNamedBeforeItIsConnected: somebody unticks a permission at the
// network, is told its name and what it costs, and may connect all the same.
func TestWhatWasNotGrantedIsNamedBeforeItIsConnected(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	p := h.as(h.agency.Owner)
	sign := func(form ...string) {
		t.Helper()
		was := h.connected(network.X)
		a := p.get(p.leave(network.X, "allow:1001", append(form, "way", "", "without", "media.write")...))
		if !strings.Contains(a.to, "/consents/") || h.connected(network.X) != was {
			t.Fatalf("connected without a word: %d to %s", a.status, a.to)
		}
		page := seenText(p.get(h.web.URL + a.to).body)
		if !strings.Contains(page, "media.write") || !strings.Contains(page, "no posts with pictures or videos") || strings.Contains(page, "tweet.write") {
			t.Errorf("the page says: %s", page)
		}
		if done := p.choose(a); done.status != http.StatusSeeOther || h.connected(network.X) != 1 {
			t.Errorf("chosen all the same: %d, %s", done.status, seenText(done.body))
		}
	}
	sign()
	id := dbtest.Look[int64](t, h.World, h.agency.Shard, `UPDATE tenant.accounts SET state = 'needs_reconnect' WHERE network = 'x' RETURNING id`)
	sign("account", fmt.Sprint(id))
}

func TestASignInBelongsToItsBrowserPersonAndNetwork(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	owner, other := h.as(h.agency.Owner), h.as(h.agency.Member(t, model.Admin, nil))
	manager := h.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{h.client: model.Manager.Grants()})
	fresh := func(p *person) string { return p.leave(network.X, "allow:1001", "way", "") }
	for name, try := range map[string]func() answer{
		"another browser of the same person": func() answer { return h.as(h.agency.Owner).get(fresh(owner)) },
		"somebody else's browser":            func() answer { return other.get(fresh(owner)) },
		"a browser of nobody":                func() answer { return h.as(nil).get(fresh(owner)) },
		"another network":                    func() answer { return owner.get(strings.Replace(fresh(owner), "/oauth/x/", "/oauth/pinterest/", 1)) },
		"a state of another workspace": func() answer {
			return owner.get(strings.Replace(fresh(owner), "state=", "state=1", 1))
		},
		"no state": func() answer { return owner.get(strings.Replace(fresh(owner), "state=", "stat=", 1)) },
		"too late": func() answer { back := fresh(owner); h.Clock.Advance(16 * time.Minute); return owner.get(back) },
		"a no":     func() answer { return owner.get(owner.leave(network.X, "deny", "way", "")) },
		"a bad code": func() answer {
			return owner.get(regexp.MustCompile(`code=[^&]*`).ReplaceAllString(fresh(owner), "code=stolen"))
		},
		"a right that was taken back": func() answer {
			p := h.as(manager)
			back := fresh(p)
			h.Super(t, h.agency.Shard, `UPDATE tenant.client_access SET permissions = '{posts.view}' WHERE user_id = $1`, manager.Actor.User)
			return p.get(back)
		},
		"a client of another's": func() answer {
			return other.post("/oauth/x/start", "workspace", "north", "client", "999999", "way", "")
		},
		"nobody's start": func() answer {
			return h.as(nil).post("/oauth/x/start", "workspace", "north", "client", fmt.Sprint(h.client), "way", "")
		},
	} {
		if a := try(); a.status < 400 || h.connected(network.X) != 0 {
			t.Errorf("%s: status %d, %d accounts: %s", name, a.status, h.connected(network.X), seenText(a.body))
		}
	}
	if a := owner.get(fresh(owner)); a.status != http.StatusSeeOther || h.connected(network.X) != 1 {
		t.Errorf("after all that: %d, %s", a.status, seenText(a.body))
	}
}

func TestConnectingAgainKeepsWhatWasEnteredAndTakesNobodyElse(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	p := h.as(h.agency.Owner)
	p.get(p.leave(network.X, "allow:1001", "way", ""))
	id := dbtest.Look[int64](t, h.World, h.agency.Shard, `SELECT id FROM tenant.accounts WHERE network = 'x'`)
	h.Super(t, h.agency.Shard, `UPDATE tenant.accounts SET handle = '@ours', settings = settings || '{"max_characters": "25000"}', state = 'needs_reconnect', last_error = 'Gone.' WHERE id = $1`, id)
	look := func() string {
		return dbtest.Look[string](t, h.World, h.agency.Shard, `SELECT concat_ws(' ', state, handle, remote_id, settings->>'max_characters', last_error) FROM tenant.accounts WHERE network = 'x'`)
	}
	a := p.get(p.leave(network.X, "allow:2002", "way", "", "account", fmt.Sprint(id)))
	if a.status != http.StatusUnprocessableEntity || !strings.Contains(seenText(a.body), "You signed in as @cafe, which is not @ours") {
		t.Errorf("another account: %d %s", a.status, seenText(a.body))
	}
	if got := look(); got != "needs_reconnect @ours 1001 25000 Gone." {
		t.Errorf("after another account: %s", got)
	}
	a = p.get(p.leave(network.X, "allow:1001", "way", "", "account", fmt.Sprint(id)))
	if got := look(); a.status != http.StatusSeeOther || got != "active @ours 1001 25000" {
		t.Errorf("the same account: %d, %s", a.status, got)
	}
	h.Super(t, h.agency.Shard, `UPDATE tenant.accounts SET state = 'needs_reconnect' WHERE id = $1`, id)
	p.get(p.leave(network.X, "allow:1001", "way", "")) // as if it were new
	if got := look(); got != "active @ours 1001 25000" || h.connected(network.X) != 1 {
		t.Errorf("as a new one: %s", got)
	}
}

func TestAHeraldWithoutAnAppSaysWhichSettingsItNeeds(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	delete(h.config.Networks, network.X)
	p := h.as(h.agency.Owner)
	page := p.get(h.web.URL + "/w/north/accounts/new?network=x")
	if !strings.Contains(seenText(page.body), "HERALD_X_CLIENT_ID and HERALD_X_CLIENT_SECRET") || strings.Contains(page.body, "/oauth/x/start") {
		t.Errorf("the page: %s", seenText(page.body))
	}
	if a := p.post("/oauth/x/start", "workspace", "north", "client", fmt.Sprint(h.client), "way", ""); a.status != http.StatusConflict || a.refuge != "" {
		t.Errorf("started all the same: %d %s", a.status, seenText(a.body))
	}
}

func TestDisconnectingEndsTheTokenThereAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	p := h.as(h.agency.Owner)
	p.get(p.leave(network.X, "allow:1001", "way", ""))
	id := dbtest.Look[model.AccountID](t, h.World, h.agency.Shard, `SELECT id FROM tenant.accounts WHERE network = 'x'`)
	sealed := dbtest.Look[[]byte](t, h.World, h.agency.Shard, `SELECT token FROM tenant.accounts WHERE id = $1`, id)
	token, err := h.Ring.Open(sealed, db.TokenAAD(h.agency.ID, id, "token"))
	if err != nil {
		t.Fatal(err)
	}
	h.agency.Due(t, "Bread", time.Hour, id)
	page := p.get(fmt.Sprintf("%s/w/north/accounts/%d/disconnection", h.web.URL, id))
	if !strings.Contains(seenText(page.body), "1 planned post stays planned") {
		t.Errorf("the question: %d %s", page.status, seenText(page.body))
	}
	seen := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT revision FROM tenant.accounts WHERE id = $1`, id)
	a := p.post(fmt.Sprintf("/w/north/accounts/%d/disconnection", id), "seen", fmt.Sprint(seen))
	got := dbtest.Look[string](t, h.World, h.agency.Shard, `SELECT concat_ws(' ', state, handle, token IS NULL AND refresh_token IS NULL, disconnected_at IS NOT NULL) FROM tenant.accounts WHERE id = $1`, id)
	if a.status != http.StatusSeeOther || got != "needs_reconnect @bakery t t" {
		t.Errorf("disconnected: %d, %s", a.status, got)
	}
	if n := dbtest.Look[int](t, h.World, h.agency.Shard, `SELECT count(*) FROM tenant.targets WHERE account_id = $1 AND state = 'scheduled'`, id); n != 1 {
		t.Errorf("%d planned posts, want 1", n)
	}
	req, _ := http.NewRequest("GET", h.config.Networks[network.X].API+"/2/users/me", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token is still good: %v, %v", resp, err)
	}
	if page := p.get(fmt.Sprintf("%s/w/north/accounts/%d", h.web.URL, id)); !strings.Contains(seenText(page.body), "Disconnected") {
		t.Errorf("the page: %s", seenText(page.body))
	}
	p.get(p.leave(network.X, "allow:1001", "way", "", "account", fmt.Sprint(id)))
	if h.connected(network.X) != 1 {
		t.Error("it cannot be connected again")
	}
}
