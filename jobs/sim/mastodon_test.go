package sim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const toot = "/mastodon/api/v1/statuses"

// bearer is a token of account 1001.
var bearer = []string{"Authorization", "Bearer 1001:x"}

func (w *world) toot(pairs ...string) got {
	w.t.Helper()
	return w.tootKeyed("", pairs...)
}

func (w *world) tootKeyed(key string, pairs ...string) got {
	w.t.Helper()
	headers := bearer
	if key != "" {
		headers = append([]string{"Idempotency-Key", key}, bearer...)
	}
	return w.send(w.request("POST", toot, "application/x-www-form-urlencoded", values(pairs...), headers...))
}

func (w *world) attachment(data []byte, description string) got {
	w.t.Helper()
	return w.upload("/mastodon/api/v2/media", "file", data, bearer, "description", description)
}

func TestMastodonPublishesAndGivesTheSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.toot("status", "Hi <b> https://example.com/a\nbye", "language", "en", "visibility", "public").want(t, 200)
	if g.str("created_at") != "2026-05-04T12:00:00.000Z" || !strings.Contains(g.str("content"), "&lt;b&gt;") || g.str("url") == "" {
		t.Errorf("the status is %s", g.raw)
	}
	source := w.get(toot+"/"+g.str("id")+"/source", bearer...).want(t, 200)
	if source.str("text") != "Hi <b> https://example.com/a\nbye" {
		t.Errorf("the source is %s", source.raw)
	}
	if page := w.get(g.str("url")).want(t, 200); !strings.Contains(page.raw, "Hi &lt;b&gt;") {
		t.Errorf("the page is %s", page.raw)
	}
	if g.header.Get("X-RateLimit-Limit") != "300" || g.header.Get("X-RateLimit-Remaining") != "299" || g.header.Get("X-RateLimit-Reset") != "2026-05-04T12:05:00.000000Z" {
		t.Errorf("the rate headers are %v", g.header)
	}
	who := w.get("/mastodon/api/v1/accounts/verify_credentials", bearer...).want(t, 200)
	if who.str("id") != "1001" {
		t.Errorf("the account is %s", who.raw)
	}
	w.get(toot+"/"+g.str("id"), "Authorization", "Bearer 1002:x").want(t, 200)
	w.get(toot+"/"+g.str("id")+"/source", "Authorization", "Bearer 1002:x").want(t, 404)
}

func TestMastodonCountsLikeMastodon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := "https://example.com/" + strings.Repeat("a", 400)
	family := "👨‍👩‍👧‍👦"
	for name, c := range map[string]struct {
		status int
		pairs  []string
	}{
		"500 letters":       {200, []string{"status", strings.Repeat("a", 500)}},
		"501 letters":       {422, []string{"status", strings.Repeat("a", 501)}},
		"500 families":      {200, []string{"status", strings.Repeat(family, 500)}},
		"501 families":      {422, []string{"status", strings.Repeat(family, 501)}},
		"a link is 23":      {200, []string{"status", strings.Repeat("a", 476) + " " + link}},
		"a link and more":   {422, []string{"status", strings.Repeat("a", 477) + " " + link}},
		"a mention's host":  {200, []string{"status", "@bob@" + strings.Repeat("x", 300) + ".example " + strings.Repeat("a", 495)}},
		"spoiler counts":    {422, []string{"spoiler_text", "x", "status", strings.Repeat("a", 500)}},
		"blank":             {422, []string{"status", " "}},
		"unknown parameter": {422, []string{"status", "a", "statsu", "b"}},
		"visibility":        {422, []string{"status", "a", "visibility", "secret"}},
		"soon":              {422, []string{"status", "a", "scheduled_at", noon.Add(time.Minute).Format(time.RFC3339)}},
		"reply to nothing":  {404, []string{"status", "a", "in_reply_to_id", "99"}},
		"poll of one":       {422, []string{"status", "a", "poll[options][]", "x", "poll[expires_in]", "600"}},
		"poll":              {200, []string{"status", "a", "poll[options][]", "x", "poll[options][]", "y", "poll[expires_in]", "600"}},
		"unknown media":     {422, []string{"media_ids[]", "99"}},
	} {
		if g := w.toot(c.pairs...); g.status != c.status {
			t.Errorf("%s: got %d %s, want %d", name, g.status, g.raw, c.status)
		}
	}
	w.json(toot, `{"status":"json","media_ids":[]}`, bearer...).want(t, 200)
	w.json(toot, `{"status":"json"} x`, bearer...).want(t, 422)
	w.send(w.request("POST", toot, "text/plain", "status=a", bearer...)).want(t, 422)
}

func TestMastodonKnowsItsTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Mastodon, sim.Account{ID: "7", Token: "right", Handle: "cafe", Scopes: []string{"read", "write:media"}})
	post := func(token string) got {
		return w.send(w.request("POST", toot, "application/x-www-form-urlencoded", "status=a", "Authorization", "Bearer "+token))
	}
	post("").want(t, 401)
	post("7:guessed").want(t, 401)
	post("right").want(t, 403)
	post("expired").want(t, 401)
	post("revoked").want(t, 401)
	post("noscope").want(t, 403)
	if g := w.get("/mastodon/api/v1/accounts/verify_credentials", "Authorization", "Bearer right").want(t, 200); g.str("acct") != "cafe" {
		t.Errorf("got %s", g.raw)
	}
}

func TestMastodonMediaInTwoSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	image := w.attachment(jpegOf(40, 30), "A picture").want(t, 200)
	video := w.attachment(film(), "").want(t, 202)
	if image.str("url") == "" || image.str("description") != "A picture" || video.json["url"] != nil || video.str("type") != "video" {
		t.Errorf("got %s and %s", image.raw, video.raw)
	}
	if g := w.toot("media_ids[]", video.str("id")).want(t, 422); !strings.Contains(g.raw, "have not finished processing") {
		t.Errorf("got %s", g.raw)
	}
	state := func(id string) got { return w.get("/mastodon/api/v1/media/"+id, bearer...) }
	state(video.str("id")).want(t, 206)
	state(video.str("id")).want(t, 206)
	state(video.str("id")).want(t, 200)
	w.get("/mastodon/api/v1/media/"+video.str("id"), "Authorization", "Bearer 1002:x").want(t, 404)
	w.toot("media_ids[]", video.str("id"), "media_ids[]", image.str("id")).want(t, 422)
	w.send(w.request("PUT", "/mastodon/api/v1/media/"+image.str("id"), "application/x-www-form-urlencoded", "description=Better", bearer...)).want(t, 200)
	w.toot("status", "picture", "media_ids[]", image.str("id")).want(t, 200)
	state(image.str("id")).want(t, 404)
	w.toot("status", "again", "media_ids[]", image.str("id")).want(t, 422)
	posts := w.sim.Posts(network.Mastodon, "1001")
	if len(posts) != 1 || posts[0].Media[0].Alt != "Better" {
		t.Errorf("the posts are %+v", posts)
	}
	for _, bad := range [][]byte{nil, []byte("text"), jpegOf(40, 30)[:200]} {
		w.attachment(bad, "").want(t, 422)
	}
	w.attachment(pngOf(4, 4), strings.Repeat("a", 1501)).want(t, 422)
}

func TestMastodonAsyncFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fault(sim.Fault{Network: network.Mastodon, Kind: sim.AsyncPending, Times: 1})
	id := w.attachment(jpegOf(40, 30), "").want(t, 202).str("id")
	w.toot("status", "a", "media_ids[]", id).want(t, 422)
	w.get("/mastodon/api/v1/media/"+id, bearer...).want(t, 206)
	w.get("/mastodon/api/v1/media/"+id, bearer...).want(t, 200)
	w.toot("status", "a", "media_ids[]", id).want(t, 200)
	w.fault(sim.Fault{Network: network.Mastodon, Kind: sim.AsyncError, Times: 1})
	id = w.attachment(jpegOf(40, 30), "").want(t, 202).str("id")
	w.get("/mastodon/api/v1/media/"+id, bearer...).want(t, 422)
	w.get("/mastodon/api/v1/media/"+id, bearer...).want(t, 422)
	w.toot("status", "b", "media_ids[]", id).want(t, 422)
}

func TestMastodonHonoursAKeyForAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.tootKeyed("k1", "status", "once").want(t, 200).str("id")
	if again := w.tootKeyed("k1", "status", "once").want(t, 200).str("id"); again != first {
		t.Errorf("got %s, want %s", again, first)
	}
	if calls := w.sim.Calls(network.Mastodon, "1001"); calls[1].Outcome != "replayed" || calls[1].Public || calls[1].Key != "k1" {
		t.Errorf("the second call reads %+v", calls[1])
	}
	w.wantPosts(network.Mastodon, "1001", 1)
	w.tootKeyed("k2", "status", "once").want(t, 200)
	w.pass(time.Hour)
	w.tootKeyed("k1", "status", "once").want(t, 200)
	w.wantPosts(network.Mastodon, "1001", 3)
}

func TestMastodonKeyCountsThoughTheAnswerWasLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fault(sim.Fault{Network: network.Mastodon, Kind: sim.StoreThenFail, Status: 504, Times: 1})
	if g := w.tootKeyed("k", "status", "a").want(t, 504); g.json != nil {
		t.Errorf("a proxy does not answer JSON: %s", g.raw)
	}
	w.tootKeyed("k", "status", "a").want(t, 200)
	w.wantPosts(network.Mastodon, "1001", 1)
}

func TestMastodonIgnoresOrRacesAKeyWhenToldTo(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"honour": 1, "ignore": 4, "race": 4} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *sim.Options) { o.Knobs.Keys = mode })
			var all sync.WaitGroup
			start := make(chan bool)
			for range 4 {
				all.Go(func() {
					<-start
					w.tootKeyed("k", "status", "a")
				})
			}
			close(start)
			all.Wait()
			n := len(w.sim.Posts(network.Mastodon, "1001"))
			if mode == "race" && n < 2 || mode != "race" && n != want {
				t.Errorf("the public sees %d posts", n)
			}
			if mode == "race" {
				w.tootKeyed("k", "status", "a").want(t, 200)
				w.wantPosts(network.Mastodon, "1001", n)
			}
		})
	}
}

func TestMastodonListsWithLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, w.toot("status", fmt.Sprint("s", i)).want(t, 200).str("id"))
	}
	w.toot("status", "answer", "in_reply_to_id", ids[0]).want(t, 200)
	w.toot("status", "private", "visibility", "private").want(t, 200)
	list := func(query string, headers ...string) (string, got) {
		if headers == nil {
			headers = bearer
		}
		g := w.get("/mastodon/api/v1/accounts/1001/statuses?"+query, headers...).want(t, 200)
		var items []struct{ ID, Content string }
		if err := json.Unmarshal([]byte(g.raw), &items); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, item := range items {
			out = append(out, strings.TrimSuffix(strings.TrimPrefix(item.Content, "<p>"), "</p>"))
		}
		return strings.Join(out, ","), g
	}
	for query, want := range map[string]string{
		"":                                "private,answer,s4,s3,s2,s1,s0",
		"exclude_replies=true":            "private,s4,s3,s2,s1,s0",
		"limit=2":                         "private,answer",
		"max_id=" + ids[2]:                "s1,s0",
		"since_id=" + ids[3]:              "private,answer,s4",
		"since_id=" + ids[0] + "&limit=2": "private,answer",
		"min_id=" + ids[0] + "&limit=2":   "s2,s1",
	} {
		if got, _ := list(query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	if got, _ := list("", "Authorization", "Bearer 1002:x"); got != "answer,s4,s3,s2,s1,s0" {
		t.Errorf("a stranger sees %s", got)
	}
	_, g := list("limit=2")
	next := strings.TrimSuffix(strings.TrimPrefix(strings.Split(g.header.Get("Link"), ",")[0], "<"), `>; rel="next"`)
	if page := w.get(next, bearer...).want(t, 200); !strings.Contains(page.raw, "s4") || strings.Contains(page.raw, "answer") {
		t.Errorf("the next page, %s, is %s", next, page.raw)
	}
	for _, bad := range []string{"limit=41", "limit=0", "max_id=x", "order=asc"} {
		w.get("/mastodon/api/v1/accounts/1001/statuses?"+bad, bearer...).want(t, 422)
	}
	w.wantPosts(network.Mastodon, "1001", 5) // the answer stands under its post, the private one nowhere
	if r := w.sim.Posts(network.Mastodon, "1001")[0].Replies; len(r) != 1 || r[0].Text != "answer" {
		t.Errorf("the replies are %+v", r)
	}
}

func TestMastodonGivesAnOpenTokenTheIdItAsksFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.request("POST", toot, "application/x-www-form-urlencoded", "status=mine", "Authorization", "Bearer anything")).want(t, 200)
	g := w.get("/mastodon/api/v1/accounts/5005/statuses", "Authorization", "Bearer anything").want(t, 200)
	if !strings.Contains(g.raw, "mine") || len(w.sim.Posts(network.Mastodon, "5005")) != 1 || len(w.sim.Posts(network.Mastodon, "")) != 1 {
		t.Errorf("got %s", g.raw)
	}
	w.sim.AddAccount(network.Mastodon, sim.Account{ID: "7", Token: "right"})
	w.get("/mastodon/api/v1/accounts/6006/statuses", "Authorization", "Bearer right").want(t, 404)
}

func TestMastodonSchedulesDeletesAndLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	later := w.toot("status", "later", "scheduled_at", noon.Add(time.Hour).Format(time.RFC3339)).want(t, 200)
	if later.str("scheduled_at") != "2026-05-04T13:00:00.000Z" {
		t.Errorf("got %s", later.raw)
	}
	w.wantPosts(network.Mastodon, "", 0)
	id := w.toot("status", "now").want(t, 200).str("id")
	if g := w.send(w.request("DELETE", toot+"/"+id, "", "", bearer...)).want(t, 200); g.str("text") != "now" {
		t.Errorf("got %s", g.raw)
	}
	w.get(toot+"/"+id, bearer...).want(t, 404)
	w.pass(time.Hour)
	w.wantPosts(network.Mastodon, "", 1)
	w.sim.Turn(func(k *sim.Knobs) { k.CallLimit = 2 })
	w.toot("status", "1").want(t, 200)
	w.toot("status", "2").want(t, 200)
	if g := w.toot("status", "3").want(t, 429); g.header.Get("X-RateLimit-Remaining") != "0" || g.header.Get("X-RateLimit-Reset") != "2026-05-04T13:05:00.000000Z" {
		t.Errorf("got %v", g.header)
	}
}

func TestMastodonTellsItsLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.get("/mastodon/api/v2/instance").want(t, 200)
	if g.str("configuration.statuses.max_characters") != "500" || g.str("configuration.media_attachments.description_limit") != "1500" {
		t.Errorf("got %s", g.raw)
	}
	if g := w.get("/mastodon/api/v9/nothing"); g.status != http.StatusNotFound || g.str("error") == "" {
		t.Errorf("got %d %s", g.status, g.raw)
	}
}
