package sim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const sky = "/bluesky/xrpc/"

// keyOf is a record key made of a text.
func keyOf(text string) string {
	key := []byte("3l22222222222")
	for i := range len(text) {
		at := 2 + i%11
		key[at] = "234567abcdefghijklmnopqrstuvwxyz"[(int(key[at])+int(text[i])*(i+1))%32]
	}
	return string(key)
}

func post(text string, more string) string {
	raw, _ := json.Marshal(text)
	return fmt.Sprintf(`{"$type":"app.bsky.feed.post","text":%s,"createdAt":"2026-05-04T12:00:00.000Z"%s}`, raw, more)
}

func (w *world) record(rkey, text string) *http.Request { return w.put(rkey, post(text, "")) }

func (w *world) put(rkey, record string) *http.Request {
	body := fmt.Sprintf(`{"repo":"1001","collection":"app.bsky.feed.post","rkey":%q,"swapRecord":null,"record":%s}`, rkey, record)
	return w.request("POST", sky+"com.atproto.repo.putRecord", "application/json", body, bearer...)
}

func (w *world) blob(kind string, data []byte) got {
	w.t.Helper()
	return w.send(w.request("POST", sky+"com.atproto.repo.uploadBlob", kind, string(data), bearer...))
}

// ref is the blob of an answer as records hold it.
func (g got) ref() string {
	raw, _ := json.Marshal(g.json["blob"])
	return string(raw)
}

func TestBlueskyWritesARecordOnceAtItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.send(w.record("3l22222222222", "hello")).want(t, 200)
	again := w.send(w.put("3l22222222222", post("hello", ""))).want(t, 200)
	if first.str("uri") != "at://1001/app.bsky.feed.post/3l22222222222" || first.str("cid") == "" || first.json["commit"] == nil ||
		again.str("cid") != first.str("cid") || again.json["commit"] != nil {
		t.Errorf("first %s, again %s", first.raw, again.raw)
	}
	if g := w.send(w.record("3l22222222222", "another")).want(t, 400); g.str("error") != "InvalidSwap" {
		t.Errorf("another record at the key: %s", g.raw)
	}
	w.wantPosts(network.Bluesky, "1001", 1)
	got := w.get(sky+"com.atproto.repo.getRecord?repo=1001&collection=app.bsky.feed.post&rkey=3l22222222222").want(t, 200)
	if got.str("value.text") != "hello" || got.str("cid") != first.str("cid") {
		t.Errorf("the record reads %s", got.raw)
	}
	if g := w.get(sky+"com.atproto.repo.getRecord?repo=1001&collection=app.bsky.feed.post&rkey=3l22222222223").want(t, 400); g.str("error") != "RecordNotFound" {
		t.Errorf("no record: %s", g.raw)
	}
	body := `{"repo":"1001","collection":"app.bsky.feed.post","rkey":"3l22222222222","record":` + post("x", "") + `}`
	w.json(sky+"com.atproto.repo.createRecord", body, bearer...).want(t, 500)
	if page := w.get("/bluesky/profile/1001/post/3l22222222222").want(t, 200); !strings.Contains(page.raw, "hello") {
		t.Errorf("the page is %s", page.raw)
	}
}

func TestBlueskyIsStrictAboutRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	family := "👨‍👩‍👧‍👦"
	facet := func(start, end int, feature string) string {
		return fmt.Sprintf(`,"facets":[{"index":{"byteStart":%d,"byteEnd":%d},"features":[{"$type":"app.bsky.richtext.facet#%s}]}]`, start, end, feature)
	}
	const link = `link","uri":"https://a.example"`
	for name, c := range map[string]struct {
		status int
		record string
	}{
		"300 graphemes":       {200, post(strings.Repeat("e\u0301", 300), "")},
		"301 graphemes":       {400, post(strings.Repeat("e\u0301", 301), "")},
		"3000 bytes":          {200, post(strings.Repeat(family, 120), "")},
		"3001 bytes":          {400, post(strings.Repeat(family, 120)+"a", "")},
		"nothing":             {400, post("", "")},
		"an unknown field":    {400, post("a", `,"mood":"good"`)},
		"four languages":      {400, post("a", `,"langs":["en","de","fr","it"]`)},
		"a link":              {200, post("see é", facet(0, 3, link))},
		"inside a letter":     {400, post("see é", facet(4, 5, link))},
		"beyond the text":     {400, post("see", facet(0, 4, link))},
		"empty":               {400, post("see", facet(1, 1, link))},
		"no address":          {400, post("see", facet(0, 3, `link","uri":"javascript:x"`))},
		"a tag with its sign": {400, post("#a", facet(0, 2, `tag","tag":"#a"`))},
		"a tag":               {200, post("#a", facet(0, 2, `tag","tag":"a"`))},
		"a blob nobody has":   {400, post("a", `,"embed":{"$type":"app.bsky.embed.images","images":[{"alt":"","image":{"$type":"blob","ref":{"$link":"bafkreia"},"mimeType":"image/jpeg","size":9}}]}`)},
		"a card":              {200, post("a", `,"embed":{"$type":"app.bsky.embed.external","external":{"uri":"https://a.example","title":"","description":""}}`)},
		"a card untitled":     {400, post("a", `,"embed":{"$type":"app.bsky.embed.external","external":{"uri":"https://a.example","description":""}}`)},
		"a reply to nothing":  {400, post("a", `,"reply":{"root":{"uri":"at://x","cid":"b"},"parent":{"uri":"at://x","cid":"b"}}`)},
		"a local time":        {400, strings.Replace(post("a", ""), "000Z", "000+02:00", 1)},
	} {
		if g := w.send(w.put(keyOf(name), c.record)); g.status != c.status {
			t.Errorf("%s: got %d %s, want %d", name, g.status, g.raw, c.status)
		}
	}
	w.send(w.put("short", post("a", ""))).want(t, 400)
	w.send(w.put("zzzzzzzzzzzzz", post("a", ""))).want(t, 400)
}

func TestBlueskyDropsWhatNoRecordHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.blob("image/jpeg", jpegOf(40, 30)).want(t, 200).ref()
	embed := `,"embed":{"$type":"app.bsky.embed.images","images":[{"alt":"a loaf","image":` + ref + `}]}`
	w.blob("image/jpeg", []byte("hello")).want(t, 400)
	w.pass(time.Hour)
	if g := w.send(w.put(keyOf("late"), post("a", embed))).want(t, 400); g.str("error") != "BlobNotFound" {
		t.Errorf("a dropped blob: %s", g.raw)
	}
	if again := w.blob("image/jpeg", jpegOf(40, 30)).want(t, 200).ref(); again != ref {
		t.Errorf("the same bytes are %s, then %s", ref, again)
	}
	w.send(w.put(keyOf("now"), post("a", embed))).want(t, 200)
	if p := w.sim.Posts(network.Bluesky, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Media[0].Alt != "a loaf" {
		t.Errorf("the public sees %+v", p)
	}
}

func TestBlueskyWorksOnAVideoOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pass := func() string {
		host := url.QueryEscape(strings.TrimPrefix(w.base, "http://"))
		return w.get(sky+"com.atproto.server.getServiceAuth?lxm=com.atproto.repo.uploadBlob&aud="+url.QueryEscape("did:web:"+host), bearer...).want(t, 200).str("token")
	}
	send := func(token string) got {
		return w.send(w.request("POST", sky+"app.bsky.video.uploadVideo?did=1001&name=a.mp4", "video/mp4", string(film()), "Authorization", "Bearer "+token))
	}
	send("1001:x").want(t, 401)
	id := send(pass()).want(t, 200).str("jobId")
	var states []string
	for range 3 {
		states = append(states, w.get(sky+"app.bsky.video.getJobStatus?jobId="+id).want(t, 200).str("jobStatus.state"))
	}
	if strings.Join(states, " ") != "JOB_STATE_ENCODING JOB_STATE_ENCODING JOB_STATE_COMPLETED" {
		t.Errorf("the states are %v", states)
	}
	again := send(pass()).want(t, 409)
	if again.str("error") != "already_exists" || again.json["blob"] == nil {
		t.Errorf("the same video again: %s", again.raw)
	}
	embed := `,"embed":{"$type":"app.bsky.embed.video","alt":"an oven","video":` + again.ref() + `}`
	w.send(w.put(keyOf("film"), post("", embed))).want(t, 200)
}

func TestBlueskySignsInWithTheAppPasswordAndRotatesItsTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Bluesky, sim.Account{ID: "did:plc:bakery", Token: "abcd-efgh-ijkl-mnop", Handle: "bakery.example"})
	signIn := func(password string) got {
		return w.json(sky+"com.atproto.server.createSession", fmt.Sprintf(`{"identifier":"bakery.example","password":%q}`, password))
	}
	signIn("wrong").want(t, 401)
	g := signIn("abcd-efgh-ijkl-mnop").want(t, 200)
	if g.str("did") != "did:plc:bakery" || strings.Count(g.str("accessJwt"), ".") != 2 {
		t.Fatalf("the session is %s", g.raw)
	}
	me := w.get(sky+"com.atproto.server.getSession", "Authorization", "Bearer "+g.str("accessJwt")).want(t, 200)
	if me.str("handle") != "bakery.example" {
		t.Errorf("it is %s", me.raw)
	}
	refresh := func(token string) got {
		return w.send(w.request("POST", sky+"com.atproto.server.refreshSession", "", "", "Authorization", "Bearer "+token))
	}
	w.pass(2 * time.Hour)
	if g := w.get(sky+"com.atproto.server.getSession", "Authorization", "Bearer "+g.str("accessJwt")).want(t, 400); g.str("error") != "ExpiredToken" {
		t.Errorf("an old token: %s", g.raw)
	}
	next := refresh(g.str("refreshJwt")).want(t, 200)
	w.get(sky+"com.atproto.server.getSession", "Authorization", "Bearer "+next.str("accessJwt")).want(t, 200)
	refresh(g.str("refreshJwt")).want(t, 400)
	refresh(next.str("refreshJwt")).want(t, 400) // the replay ended the whole family
	for _, c := range w.sim.Calls(network.Bluesky, "") {
		if c.Params.Get("password") != "" {
			t.Error("the log of calls has a password")
		}
	}
}
