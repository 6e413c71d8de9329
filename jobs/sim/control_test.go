package sim_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

func TestControlSetsListsAndClearsFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.json("/_control/faults", `{"network":"facebook","account":"1001","step":"commit","kind":"refuse","times":2,"status":503,"body":{"a":1},"headers":{"Retry-After":"9"},"delay":"1ms"}`).want(t, 200)
	g := w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 503)
	if g.raw != `{"a":1}` || g.header.Get("Retry-After") != "9" || !strings.HasPrefix(g.header.Get("Content-Type"), "application/json") {
		t.Errorf("got %s %v", g.raw, g.header)
	}
	if list := w.get("/_control/faults").want(t, 200); !strings.Contains(list.raw, `"times": 1`) || !strings.Contains(list.raw, `"delay": "1ms"`) {
		t.Errorf("the faults are %s", list.raw)
	}
	if g := w.send(w.request("DELETE", "/_control/faults", "", "")).want(t, 200); g.str("removed") != "1" {
		t.Errorf("got %s", g.raw)
	}
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 200)
}

func TestControlRefusesWhatItDoesNotKnowInASentence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, bodies := range map[string][]string{
		"/_control/faults": {
			`{"network":"facebook","kind":"refuse","tiems":1}`, `{"network":"facebook"}`, `{"kind":"refuse"}`, `{"network":"orkut","kind":"refuse"}`,
			`{"network":"facebook","kind":"explode"}`, `{"network":"facebook","kind":"refuse","step":"lunch"}`, `{"network":"facebook","kind":"refuse","times":-1}`,
			`{"network":"facebook","kind":"stall","delay":"soon"}`, `{"network":"facebook","kind":"refuse"} {}`, `not json`, ``, `{"network":"facebook","kind":"refuse","times":"2"}`,
			`{"network":"webhook","kind":"list_lag"}`,
		},
		"/_control/accounts":  {`{"network":"facebook"}`, `{"network":"orkut","id":"1"}`, `{"network":"facebook","id":"1","tokn":"a"}`},
		"/_control/strangers": {`{"network":"facebook","text":"a"}`, `{"account":"1","text":"a"}`},
		"/_control/knobs":     {`{"keys":"maybe"}`, `{"refresh":"later"}`, `{"colour":"red"}`},
	} {
		for _, body := range bodies {
			if g := w.json(path, body); g.status != 400 || !strings.HasSuffix(g.str("error"), ".") {
				t.Errorf("%s %s: got %d %s", path, body, g.status, g.raw)
			}
		}
	}
	for _, path := range []string{"/_control/calls?netwrok=facebook", "/_control/posts?network=myspace"} {
		if g := w.get(path); g.status != 400 || g.str("error") == "" {
			t.Errorf("%s: got %d %s", path, g.status, g.raw)
		}
	}
	if g := w.get("/_control/reset"); g.status != 404 || g.str("error") == "" {
		t.Errorf("got %d %s", g.status, g.raw)
	}
	if len(w.sim.Faults()) != 0 {
		t.Error("a refused fault is in force")
	}
}

func TestControlShowsCallsAndPosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.form(fb+"/1001/photos", "access_token", "PT", "url", w.media+"/square.jpg", "caption", "one", "alt_text_custom", "A").want(t, 200)
	w.form(fb+"/1002/feed", "access_token", "PT", "message", "two").want(t, 200)
	w.toot("status", "three").want(t, 200)
	var posts []sim.Post
	if err := json.Unmarshal([]byte(w.get("/_control/posts?network=facebook&account=1001").want(t, 200).raw), &posts); err != nil {
		t.Fatal(err)
	}
	if len(posts) != 1 || posts[0].Text != "one" || !posts[0].Time.Equal(noon) || !strings.HasPrefix(posts[0].Address, w.base+"/facebook/p/") || posts[0].Media[0].Alt != "A" {
		t.Fatalf("the posts are %+v", posts)
	}
	w.get(posts[0].Address).want(t, 200)
	w.get(posts[0].Media[0].Address).want(t, 200)
	var calls []map[string]any
	if err := json.Unmarshal([]byte(w.get("/_control/calls").want(t, 200).raw), &calls); err != nil {
		t.Fatal(err)
	}
	if len(calls) != 3 || calls[2]["network"] != "mastodon" {
		t.Fatalf("the calls are %v", calls)
	}
	for key, want := range map[string]any{"step": "commit", "method": "POST", "path": "/v25.0/1001/photos", "account": "1001", "outcome": "ok", "public": true, "time": "2026-05-04T12:00:00Z"} {
		if calls[0][key] != want {
			t.Errorf("%s is %v, want %v", key, calls[0][key], want)
		}
	}
	if raw := w.get("/_control/calls").raw; strings.Contains(raw, "PT") {
		t.Errorf("a token is in %s", raw)
	}
}

func TestResetForgetsAllButTheDeclaredAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.json("/_control/accounts", `{"network":"facebook","id":"1001","token":"PT","name":"Bakery"}`).want(t, 200)
	w.json("/_control/knobs", `{"read_lag":"5s","keys":"ignore"}`).want(t, 200)
	w.json("/_control/strangers", `{"network":"facebook","account":"1001","text":"hello"}`).want(t, 200)
	id := w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 200).str("id")
	w.fault(sim.Fault{Network: network.Facebook, Kind: sim.Refuse, Status: 503})
	w.form(fb+"/1002/feed", "access_token", "PT2", "message", "undeclared").want(t, 503)
	w.get("/facebook?account=1002").want(t, 200)
	w.json("/_control/reset", "").want(t, 200)
	w.get("/facebook?account=1002").want(t, 404)
	w.get("/facebook?account=Bakery").want(t, 200)
	if len(w.sim.Posts("", "")) != 0 || len(w.sim.Calls("", "")) != 0 || len(w.sim.Faults()) != 0 || w.sim.Knobs() != newWorld(t).sim.Knobs() {
		t.Error("something is left")
	}
	w.form(fb+"/1001/feed", "access_token", "other", "message", "a").graphFail(t, 400, "190", "467")
	if again := w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 200).str("id"); again == id {
		t.Error("an id was handed out twice")
	}
}

func TestARestartedSimulatorHandsOutNewIds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 200).str("id")
	later := newWorld(t, func(o *sim.Options) { o.Now = func() time.Time { return noon.Add(time.Second) } })
	if after := later.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 200).str("id"); after <= before {
		t.Errorf("%s came after %s", after, before)
	}
}

func TestPagesShowWhatThePublicSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Facebook, sim.Account{ID: "1001", Name: "Bakery & Sons"})
	if g := w.get("/").want(t, 200); !strings.Contains(g.raw, "Nothing has been published yet") {
		t.Errorf("the first page is %s", g.raw)
	}
	everywhere(t, func(t *testing.T, w *world, m way) {
		m.publish(w, "<script>alert(1)</script>", sim.Fault{}).want(t, m.good())
		for _, path := range []string{"/", "/" + string(m.name), "/" + string(m.name) + "?account=1001", strings.TrimPrefix(w.sim.Posts(m.name, "")[0].Address, w.base)} {
			g := w.get(path).want(t, 200)
			if !strings.Contains(g.raw, "&lt;script&gt;alert(1)") || strings.Contains(g.raw, "<script>alert") {
				t.Errorf("%s is %s", path, g.raw)
			}
			if csp := g.header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("the policy of %s is %q", path, csp)
			}
			if strings.Contains(g.raw, "style=") || strings.Contains(g.raw, "onclick") || strings.Contains(g.raw, "https://") {
				t.Errorf("%s has something inline or from elsewhere: %s", path, g.raw)
			}
		}
	})
	w.form(fb+"/1001/photos", "access_token", "PT", "url", w.media+"/square.jpg", "caption", "bread", "alt_text_custom", "A loaf").want(t, 200)
	if g := w.get("/facebook").want(t, 200); !strings.Contains(g.raw, "Bakery &amp; Sons") || !strings.Contains(g.raw, `alt="A loaf"`) || !strings.Contains(g.raw, `src="/_media/`) {
		t.Errorf("the page is %s", g.raw)
	}
	for _, path := range []string{"/nowhere", "/facebook/p/9", "/facebook?account=9", "/_media/x", "/_static/layout.html", "/instagram/p/x/y"} {
		w.get(path).want(t, 404)
	}
	w.get("/_static/sim.css").want(t, 200)
	w.get("/_static/sim.js").want(t, 200)
}

func TestManyWritersAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Quiet = true })
	w.fault(sim.Fault{Network: network.Mastodon, Account: "@nobody", Kind: sim.Refuse})
	w.fault(sim.Fault{Network: network.Mastodon, Kind: sim.Refuse, Step: sim.Commit, Times: 10})
	var all sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 8 {
		all.Go(func() {
			for range 20 {
				if g := w.toot("status", "a"); g.status != 200 {
					mu.Lock()
					refused++
					mu.Unlock()
				}
				_ = w.sim.Posts(network.Mastodon, "")
				_ = w.sim.Calls("", "1001")
			}
		})
	}
	all.Wait()
	if refused != 10 {
		t.Errorf("%d were refused, want 10", refused)
	}
	w.wantPosts(network.Mastodon, "1001", 150)
}

func TestAQuietLogKeepsTheLastCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Quiet = true })
	h := w.sim.Handler()
	for range 4100 {
		h.ServeHTTP(httptest.NewRecorder(), w.request("GET", "/mastodon/api/v2/instance", "", ""))
	}
	w.get("/mastodon/api/v1/instance").want(t, 200)
	calls := w.sim.Calls("", "")
	if len(calls) != 4096 || calls[4095].Path != "/api/v1/instance" || calls[0].Path != "/api/v2/instance" || calls[0].Params != nil {
		t.Errorf("it keeps %d calls, the last is %+v", len(calls), calls[len(calls)-1])
	}
}
