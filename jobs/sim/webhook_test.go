package sim_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

func TestWebhookChecksTheTestVector(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pass(time.Unix(1700000000, 0).Sub(noon))
	g := w.json("/webhook/a", `{"a":1}`, "X-Timestamp", "1700000000", "X-Delivery-Id", "d", "X-Event", "e",
		"X-Signature-256", "sha256=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686")
	g.want(t, 200)
}

func TestWebhookRefusesWhatIsNotSignedRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Webhook, sim.Account{ID: "a", Token: "hush"})
	stamp := strconv.FormatInt(noon.Unix(), 10)
	body := `{"text":"hi"}`
	good := map[string]string{"X-Timestamp": stamp, "X-Delivery-Id": "d1", "X-Event": "post.published", "X-Signature-256": sign("hush", stamp, body)}
	post := func(change map[string]string, body, kind string) got {
		req := w.request("POST", "/webhook/a", kind, body)
		for name, value := range good {
			req.Header.Set(name, value)
		}
		for name, value := range change {
			req.Header.Del(name)
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		return w.send(req)
	}
	const kind = "application/json"
	old := strconv.FormatInt(noon.Add(-301*time.Second).Unix(), 10)
	ahead := strconv.FormatInt(noon.Add(301*time.Second).Unix(), 10)
	upper := strings.ToUpper(sign("hush", stamp, body))
	for name, c := range map[string]struct {
		change     map[string]string
		body, kind string
		status     int
	}{
		"default secret": {map[string]string{"X-Signature-256": sign(sim.DefaultSecret, stamp, body)}, body, kind, 401},
		"other body":     {nil, body + " ", kind, 401},
		"none":           {map[string]string{"X-Signature-256": ""}, body, kind, 401},
		"upper case":     {map[string]string{"X-Signature-256": upper}, body, kind, 401},
		"body only":      {map[string]string{"X-Signature-256": sign("hush", "", body)}, body, kind, 401},
		"old":            {map[string]string{"X-Timestamp": old, "X-Signature-256": sign("hush", old, body)}, body, kind, 401},
		"ahead":          {map[string]string{"X-Timestamp": ahead, "X-Signature-256": sign("hush", ahead, body)}, body, kind, 401},
		"no time":        {map[string]string{"X-Timestamp": "", "X-Signature-256": sign("hush", "", body)}, body, kind, 400},
		"no id":          {map[string]string{"X-Delivery-Id": ""}, body, kind, 400},
		"no event":       {map[string]string{"X-Event": ""}, body, kind, 400},
		"no JSON":        {map[string]string{"X-Signature-256": sign("hush", stamp, "hi")}, "hi", kind, 400},
		"wrong type":     {nil, body, "text/plain", 415},
		"too long":       {nil, strings.Repeat("a", 1<<20+1), kind, 413},
	} {
		if g := post(c.change, c.body, c.kind); g.status != c.status || g.str("error") == "" {
			t.Errorf("%s: got %d %s, want %d", name, g.status, g.raw, c.status)
		}
	}
	w.wantPosts(network.Webhook, "", 0)
	post(map[string]string{"X-Signature-256": sign("old", stamp, body) + ", " + sign("hush", stamp, body)}, body, kind).want(t, 200)
	w.wantPosts(network.Webhook, "a", 1)
}

func TestWebhookTakesADeliveryOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fault(sim.Fault{Network: network.Webhook, Kind: sim.StoreThenFail, Status: 503, Times: 1})
	w.send(w.delivery("a", "d1", "hello")).want(t, 503)
	if g := w.send(w.delivery("a", "d1", "hello")).want(t, 200); g.str("duplicate") != "true" {
		t.Errorf("got %s", g.raw)
	}
	w.send(w.delivery("b", "d1", "other")).want(t, 200)
	w.wantPosts(network.Webhook, "a", 1)
	if a := w.get("/webhook/a").want(t, 200); strings.Contains(a.raw, "other") {
		t.Errorf("a's page shows b's delivery of the same id: %s", a.raw)
	}
	calls := w.sim.Calls(network.Webhook, "a")
	if !calls[0].Public || calls[1].Public || calls[1].Outcome != "replayed" || calls[1].Key != "d1" {
		t.Errorf("the calls are %+v", calls)
	}
}

func TestWebhookShowsTextLinkAndPictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"event":"x","data":{"post":{"text":"Look","link":"https://example.com/","media":[{"url":"` + w.media + `/square.jpg","alt":"A square"},{"url":"` + w.media + `/none.jpg"}]}}}`
	stamp := strconv.FormatInt(noon.Unix(), 10)
	w.json("/webhook/a", body, "X-Timestamp", stamp, "X-Delivery-Id", "d", "X-Event", "post.published", "X-Signature-256", sign(sim.DefaultSecret, stamp, body)).want(t, 200)
	posts := w.sim.Posts(network.Webhook, "a")
	if len(posts) != 1 || posts[0].Text != "Look" || posts[0].Link != "https://example.com/" || len(posts[0].Media) != 1 || posts[0].Media[0].Alt != "A square" {
		t.Fatalf("the posts are %+v", posts)
	}
	page := w.get("/webhook/a").want(t, 200)
	if !strings.Contains(page.raw, "Look") || !strings.Contains(page.raw, "Body as received") || !strings.Contains(page.raw, posts[0].Media[0].Address) {
		t.Errorf("the page is %s", page.raw)
	}
}

var deliveries atomic.Int64

// benchDelivery is a signed request with an id of its own.
func benchDelivery(now time.Time) *http.Request {
	body := `{"event":"post.published","post":{"text":"hello"}}`
	stamp := strconv.FormatInt(now.Unix(), 10)
	req := httptest.NewRequest("POST", "/webhook/bench", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Timestamp", stamp)
	req.Header.Set("X-Event", "post.published")
	req.Header.Set("X-Delivery-Id", strconv.FormatInt(deliveries.Add(1), 10))
	req.Header.Set("X-Signature-256", sign(sim.DefaultSecret, stamp, body))
	return req
}

func BenchmarkWebhookDelivery(b *testing.B) {
	h := sim.New(sim.Options{Quiet: true, Now: func() time.Time { return noon }}).Handler()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, benchDelivery(noon))
			if rec.Code != 200 {
				b.Error(rec.Body.String())
			}
		}
	})
}

func BenchmarkMastodonStatus(b *testing.B) {
	h := sim.New(sim.Options{Quiet: true, Now: func() time.Time { return noon }}).Handler()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			req := httptest.NewRequest("POST", toot, strings.NewReader("status=hello"))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Authorization", "Bearer 1001:x")
			req.Header.Set("Idempotency-Key", strconv.FormatInt(deliveries.Add(1), 10))
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, req)
			if rec.Code != 200 {
				b.Error(rec.Body.String())
			}
		}
	})
}
