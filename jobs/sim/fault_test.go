package sim_test

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

// way is how a test publishes on one network: prepare may be nil; commit makes
// the post public on account 1001.
type way struct {
	name    network.Name
	prepare func(w *world, text string) string
	commit  func(w *world, text, prepared string) *http.Request
	list    func(w *world) got
	limited string // a header that a rate limit must have; where the body tells the wait, none
	codes   map[sim.Kind]int
	status  int // of a success; 200 if zero
}

func (m way) good() int { return cmp.Or(m.status, http.StatusOK) }

func ways() []way {
	return []way{
		{
			name:   network.Bluesky,
			commit: func(w *world, text, _ string) *http.Request { return w.record(keyOf(text), text) },
			list: func(w *world) got {
				return w.get("/bluesky/xrpc/com.atproto.repo.listRecords?repo=1001&collection=app.bsky.feed.post", bearer...)
			},
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 400, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name:   network.Discord,
			commit: func(w *world, text, _ string) *http.Request { return w.dcMessage(fmt.Sprintf(`{"content":%q}`, text)) },
			list: func(w *world) got {
				g := w.get(dc+"/channels/1001/messages?limit=100", dcKey...)
				g.raw = strings.ReplaceAll(g.raw, `[]`, `{"data":[]}`)
				return g
			},
			limited: "X-RateLimit-Reset-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.Facebook,
			commit: func(w *world, text, _ string) *http.Request {
				return w.request("POST", "/facebook/v25.0/1001/feed", "application/x-www-form-urlencoded", values("access_token", "PT", "message", text))
			},
			list:    func(w *world) got { return w.get("/facebook/v25.0/1001/published_posts?access_token=PT") },
			limited: "X-Business-Use-Case-Usage",
			codes:   map[sim.Kind]int{sim.RateLimit: 400, sim.ExpiredToken: 400, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.GoogleBusiness,
			commit: func(w *world, text, _ string) *http.Request {
				return w.request("POST", gb, "application/json", fmt.Sprintf(`{"topicType":"STANDARD","summary":%q}`, text), bearer...)
			},
			list:    func(w *world) got { return w.get(gb+"?pageSize=100", bearer...) },
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.Instagram,
			prepare: func(w *world, text string) string {
				return w.form("/instagram/v25.0/1001/media", "access_token", "IT", "image_url", w.media+"/square.jpg", "caption", text).want(w.t, 200).str("id")
			},
			commit: func(w *world, _, id string) *http.Request {
				return w.request("POST", "/instagram/v25.0/1001/media_publish", "application/x-www-form-urlencoded", values("access_token", "IT", "creation_id", id))
			},
			list:    func(w *world) got { return w.get("/instagram/v25.0/1001/media?access_token=IT&fields=id,caption") },
			limited: "X-Business-Use-Case-Usage",
			codes:   map[sim.Kind]int{sim.RateLimit: 400, sim.ExpiredToken: 400, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.LinkedIn, status: 201,
			commit: func(w *world, text, _ string) *http.Request {
				return w.liPost(strings.NewReplacer("<", `\<`, ">", `\>`, "(", `\(`, ")", `\)`).Replace(text), "")
			},
			list: func(w *world) got {
				return w.get(li+"/rest/posts?q=author&count=100&author=urn:li:organization:1001", append([]string{"X-RestLi-Method", "FINDER"}, liKey...)...)
			},
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.Mailchimp, status: 204,
			prepare: func(w *world, text string) string { return w.mcDraft(text) },
			commit: func(w *world, _, id string) *http.Request {
				return w.request("POST", mc+"/campaigns/"+id+"/actions/send", "", "", bearer...)
			},
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.Mastodon,
			commit: func(w *world, text, _ string) *http.Request {
				return w.request("POST", "/mastodon/api/v1/statuses", "application/x-www-form-urlencoded", values("status", text), "Authorization", "Bearer 1001:x")
			},
			list: func(w *world) got {
				g := w.get("/mastodon/api/v1/accounts/1001/statuses", "Authorization", "Bearer 1001:x")
				g.raw = strings.ReplaceAll(g.raw, `[]`, `{"data":[]}`)
				return g
			},
			limited: "X-RateLimit-Reset",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 422},
		},
		{
			name: network.Medium, status: 201,
			commit: func(w *world, text, _ string) *http.Request {
				return w.meStory("<p>"+strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)+"</p>", "")
			},
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.Pinterest, status: 201,
			commit:  func(w *world, text, _ string) *http.Request { return w.pin(text, "") },
			list:    func(w *world) got { return w.get(pin+"/boards/1001/pins?page_size=100", bearer...) },
			limited: "X-RateLimit-Reset",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.Slack,
			commit: func(w *world, text, _ string) *http.Request {
				return w.slMessage(fmt.Sprintf(`{"channel":"1001","text":%q}`, strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)))
			},
			list:    func(w *world) got { return w.get(sl+"/conversations.history?channel=1001&limit=100", bearer...) },
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 200, sim.MissingPermission: 200, sim.Invalid: 200},
		},
		{
			name:   network.Telegram,
			commit: func(w *world, text, _ string) *http.Request { return w.tgMessage(text) },
			codes:  map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 400, sim.Invalid: 400},
		},
		{
			name: network.Threads,
			prepare: func(w *world, text string) string {
				return w.thMake("media_type", "TEXT", "text", text).want(w.t, 200).str("id")
			},
			commit: func(w *world, _, id string) *http.Request {
				return w.request("POST", th+"/1001/threads_publish", "application/x-www-form-urlencoded", values(append(thKey, "creation_id", id)...))
			},
			list:    func(w *world) got { return w.get(th + "/1001/threads?access_token=1001:TT&fields=id,text") },
			limited: "X-Business-Use-Case-Usage",
			codes:   map[sim.Kind]int{sim.RateLimit: 400, sim.ExpiredToken: 400, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name:    network.Webhook,
			commit:  func(w *world, text, _ string) *http.Request { return w.delivery("1001", "d-"+text, text) },
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 422},
		},
		{
			name:    network.WordPress,
			prepare: func(w *world, text string) string { return w.wpDraft(text).want(w.t, 201).str("id") },
			commit: func(w *world, _, id string) *http.Request {
				return w.request("POST", wp+"/posts/"+id, "application/json", `{"status":"publish"}`, wpKey...)
			},
			limited: "Retry-After",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
		{
			name: network.X, status: 201,
			commit:  func(w *world, text, _ string) *http.Request { return w.tweet(map[string]any{"text": text}) },
			list:    func(w *world) got { return w.get("/x/2/users/1001/tweets?max_results=100", bearer...) },
			limited: "X-Rate-Limit-Reset",
			codes:   map[sim.Kind]int{sim.RateLimit: 429, sim.ExpiredToken: 401, sim.MissingPermission: 403, sim.Invalid: 400},
		},
	}
}

// delivery is a signed webhook request.
func (w *world) delivery(account, id, text string) *http.Request {
	body := fmt.Sprintf(`{"event":"post.published","post":{"text":%q}}`, text)
	stamp := strconv.FormatInt(w.clock().Unix(), 10)
	return w.request("POST", "/webhook/"+account, "application/json", body, "X-Timestamp", stamp, "X-Event", "post.published",
		"X-Delivery-Id", id, "X-Signature-256", sign(sim.DefaultSecret, stamp, body))
}

func sign(secret, stamp, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "." + body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// publish prepares, then sets the fault, then commits.
func (m way) publish(w *world, text string, f sim.Fault) got {
	w.t.Helper()
	prepared := ""
	if m.prepare != nil {
		prepared = m.prepare(w, text)
	}
	f.Network = m.name
	if f.Kind != "" {
		w.fault(f)
	}
	return w.send(m.commit(w, text, prepared))
}

func everywhere(t *testing.T, check func(t *testing.T, w *world, m way)) {
	for _, m := range ways() {
		t.Run(string(m.name), func(t *testing.T) {
			t.Parallel()
			check(t, newWorld(t), m)
		})
	}
}

// last is the last call of the network.
func (w *world) last(m way) sim.Call {
	w.t.Helper()
	calls := w.sim.Calls(m.name, "1001")
	if len(calls) == 0 {
		w.t.Fatal("no call was written down")
	}
	return calls[len(calls)-1]
}

func TestAPublishWithoutFaultIsPublicAndWrittenDown(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		m.publish(w, "hello", sim.Fault{}).want(t, m.good())
		w.wantPosts(m.name, "1001", 1)
		if c := w.last(m); !c.Public || c.Outcome != "ok" || c.Step != sim.Commit || c.Status != m.good() || c.Account != "1001" {
			t.Errorf("the call reads %+v", c)
		}
	})
}

func TestRefuseAnswersWithoutDoing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		g := m.publish(w, "hello", sim.Fault{Kind: sim.Refuse, Step: sim.Commit, Status: 418, Body: `{"no":1}`, Headers: map[string]string{"X-Why": "test"}, Times: 1})
		g.want(t, 418)
		if g.raw != `{"no":1}` || g.header.Get("X-Why") != "test" {
			t.Errorf("got %s %v", g.raw, g.header)
		}
		w.wantPosts(m.name, "1001", 0)
		if c := w.last(m); c.Public || c.Outcome != "refuse" {
			t.Errorf("the call reads %+v", c)
		}
		w.send(m.commit(w, "hello", w.preparedId(m))).want(t, m.good())
		w.wantPosts(m.name, "1001", 1)
	})
}

// preparedId prepares a fresh post where the network needs it.
func (w *world) preparedId(m way) string {
	if m.prepare == nil {
		return ""
	}
	return m.prepare(w, "hello")
}

func TestStoreThenFailDoesAndAnswersTheStatus(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		m.publish(w, "hello", sim.Fault{Kind: sim.StoreThenFail, Status: 502}).want(t, 502)
		w.wantPosts(m.name, "1001", 1)
		if c := w.last(m); !c.Public || c.Outcome != "store_then_fail" || c.Status != 502 {
			t.Errorf("the call reads %+v", c)
		}
	})
}

func TestStoreThenCloseDoesAndAnswersNothing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		if g := m.publish(w, "hello", sim.Fault{Kind: sim.StoreThenClose}); g.err == nil {
			t.Fatalf("got %d %s", g.status, g.raw)
		}
		w.wantPosts(m.name, "1001", 1)
		if c := w.last(m); !c.Public || c.Status != 0 {
			t.Errorf("the call reads %+v", c)
		}
	})
}

func TestCloseBeforeDoesNothing(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		if g := m.publish(w, "hello", sim.Fault{Kind: sim.CloseBefore}); g.err == nil {
			t.Fatalf("got %d %s", g.status, g.raw)
		}
		w.wantPosts(m.name, "1001", 0)
	})
}

func TestStallDoesAtOnceAndAnswersLater(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		done := make(chan got)
		go func() { done <- m.publish(w, "hello", sim.Fault{Kind: sim.Stall, Delay: time.Hour, Times: 1}) }()
		for len(w.sim.Posts(m.name, "1001")) == 0 {
			time.Sleep(time.Millisecond)
		}
		select {
		case g := <-done:
			t.Fatalf("answered at once: %+v", g)
		case <-time.After(20 * time.Millisecond):
		}
		w.sim.ClearFaults()
		(<-done).want(t, m.good())
		w.wantPosts(m.name, "1001", 1)
	})
}

func TestStallAnswersByItselfAfterItsDelay(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		began := time.Now()
		m.publish(w, "hello", sim.Fault{Kind: sim.Stall, Delay: 80 * time.Millisecond}).want(t, m.good())
		if took := time.Since(began); took < 80*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

func TestStoreThenGarbageAnswersWhatNobodyCanParse(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		g := m.publish(w, "hello", sim.Fault{Kind: sim.StoreThenGarbage}).want(t, 200)
		if g.json != nil {
			t.Errorf("this parses: %s", g.raw)
		}
		w.wantPosts(m.name, "1001", 1)
	})
}

func TestTheNetworkSaysRefusalsInItsOwnWords(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		for kind, status := range m.codes {
			g := m.publish(w, "hello", sim.Fault{Kind: kind, Times: 1, Step: sim.Commit}).want(t, status)
			if g.json["error"] == nil && g.json["title"] == nil && g.json["message"] == nil && g.json["description"] == nil && g.json["errors"] == nil {
				t.Errorf("%s: %s has no error", kind, g.raw)
			}
			if kind == sim.RateLimit && m.limited != "" && g.header.Get(m.limited) == "" {
				t.Errorf("no %s in %v", m.limited, g.header)
			}
		}
		w.wantPosts(m.name, "1001", 0)
	})
}

func TestRateLimitTellsTheWait(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		g := m.publish(w, "hello", sim.Fault{Kind: sim.RateLimit, Step: sim.Commit, Delay: 3 * time.Minute})
		want := map[network.Name]string{
			network.Facebook: `"estimated_time_to_regain_access":3`, network.Instagram: `"estimated_time_to_regain_access":3`,
			network.Threads:  `"estimated_time_to_regain_access":3`,
			network.Mastodon: "2026-05-04T12:03:00.000000Z", network.Webhook: "180", network.Bluesky: "180", network.LinkedIn: "180", network.Medium: "180", network.Mailchimp: "180", network.GoogleBusiness: "180", network.WordPress: "180", network.Slack: "180", network.Discord: "180", network.Pinterest: "180",
			network.X: "1777896180", network.Telegram: `"retry_after":180`,
		}[m.name]
		if said := cmp.Or(g.header.Get(m.limited), g.raw); !strings.Contains(said, want) {
			t.Errorf("%s says %q, want %s", m.limited, said, want)
		}
	})
}

func TestLateRejectTakesThePostAwayAfterItsDelay(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		m.publish(w, "hello", sim.Fault{Kind: sim.LateReject, Delay: time.Minute, Times: 1}).want(t, m.good())
		w.wantPosts(m.name, "1001", 1)
		w.pass(time.Minute)
		w.wantPosts(m.name, "1001", 0)
		if m.list != nil && strings.Contains(m.list(w).want(t, 200).raw, "hello") {
			t.Error("the list still has it")
		}
	})
}

func TestLateRejectWithoutDelayIsNeverPublic(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		m.publish(w, "hello", sim.Fault{Kind: sim.LateReject, Times: 1}).want(t, m.good())
		w.wantPosts(m.name, "1001", 0)
		if c := w.last(m); c.Public {
			t.Errorf("the call reads %+v", c)
		}
	})
}

func TestListLagHidesYoungPostsFromLists(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		if m.list == nil {
			if err := w.sim.Fault(sim.Fault{Network: m.name, Kind: sim.ListLag}); err == nil {
				t.Error("a network without lists took list_lag")
			}
			return
		}
		m.publish(w, "hello", sim.Fault{Kind: sim.ListLag, Delay: 30 * time.Second}).want(t, m.good())
		if g := m.list(w).want(t, 200); strings.Contains(g.raw, "hello") || w.last(m).Outcome != "list_lag" {
			t.Errorf("the list has it: %s", g.raw)
		}
		w.pass(30 * time.Second)
		if g := m.list(w).want(t, 200); !strings.Contains(g.raw, "hello") {
			t.Errorf("the list lacks it: %s", g.raw)
		}
		w.wantPosts(m.name, "1001", 1)
	})
}

func TestAfterAndTimesPickTheCalls(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		w.fault(sim.Fault{Network: m.name, Kind: sim.Refuse, Step: sim.Commit, Status: 503, After: 1, Times: 2})
		for i, status := range []int{m.good(), 503, 503, m.good()} {
			text := fmt.Sprint("post ", i)
			prepared := ""
			if m.prepare != nil {
				prepared = m.prepare(w, text)
			}
			w.send(m.commit(w, strings.ReplaceAll(text, " ", "-"), prepared)).want(t, status)
		}
		w.wantPosts(m.name, "1001", 2)
		if left := w.sim.Faults(); len(left) != 0 {
			t.Errorf("left over: %+v", left)
		}
	})
}

func TestAFaultKeepsToItsAccountAndItsStep(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		w.fault(sim.Fault{Network: m.name, Account: "1002", Kind: sim.Refuse, Status: 503})
		w.fault(sim.Fault{Network: m.name, Account: "1001", Step: sim.Token, Kind: sim.Refuse, Status: 503})
		m.publish(w, "hello", sim.Fault{}).want(t, m.good())
	})
}

func TestAFaultFindsAnAccountByItsHandle(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		w.sim.AddAccount(m.name, sim.Account{ID: "1001", Handle: "@bakery", Name: "The Bakery"})
		m.publish(w, "hello", sim.Fault{Account: "@Bakery", Step: sim.Commit, Kind: sim.Refuse, Status: 503}).want(t, 503)
		if len(w.sim.Calls(m.name, "the bakery")) == 0 {
			t.Error("no calls by name")
		}
	})
}

func TestAStoreFaultIsNotSpentOnARefusedCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fault(sim.Fault{Network: network.Facebook, Kind: sim.StoreThenFail, Times: 1})
	w.form("/facebook/v25.0/1001/feed", "access_token", "PT", "message", "").graphFail(t, 400, "100", "")
	w.form("/facebook/v25.0/1001/feed", "access_token", "PT", "message", "a").graphFail(t, 500, "2", "")
	w.form("/facebook/v25.0/1001/feed", "access_token", "PT", "message", "b").want(t, 200)
	w.wantPosts(network.Facebook, "", 2)
}

func TestFaultsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, f := range []sim.Fault{
		{Network: "myspace", Kind: sim.Refuse},
		{Network: network.Facebook, Kind: "explode"},
		{Network: network.Facebook, Kind: sim.Refuse, Step: "lunch"},
		{Network: network.Facebook, Kind: sim.Refuse, Times: -1},
		{Network: network.Facebook, Kind: sim.Refuse, Status: 99},
		{Network: network.Facebook, Kind: sim.StoreThenGarbage, Status: 500},
		{Network: network.Facebook, Kind: sim.ListLag, Step: sim.Commit},
		{Network: network.Webhook, Kind: sim.AsyncPending},
		{Network: network.Webhook, Kind: sim.AsyncError},
	} {
		if err := w.sim.Fault(f); err == nil || !strings.HasSuffix(err.Error(), ".") {
			t.Errorf("%+v: got %v, want a sentence", f, err)
		}
	}
}
