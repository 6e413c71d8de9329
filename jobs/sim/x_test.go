package sim_test

import (
	"crypto/sha256"
	"encoding/base64"
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

func (w *world) tweet(body map[string]any) *http.Request {
	raw, _ := json.Marshal(body)
	return w.request("POST", "/x/2/tweets", "application/json", string(raw), bearer...)
}

func TestXCountsLikeX(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := "https://example.com/" + strings.Repeat("a", 400)
	for name, c := range map[string]struct {
		status int
		text   string
	}{
		"280 letters":             {201, strings.Repeat("a", 280)},
		"281 letters":             {403, strings.Repeat("b", 281)},
		"140 of Japan":            {201, strings.Repeat("日", 140)},
		"141 of Japan":            {403, strings.Repeat("本", 141)},
		"140 families":            {201, strings.Repeat("👨‍👩‍👧‍👦", 140)},
		"a link is 23":            {201, strings.Repeat("c", 256) + " " + link},
		"a link and one":          {403, strings.Repeat("d", 257) + " " + link},
		"a bare link is 23":       {403, strings.Repeat("e", 257) + " example.com"},
		"a file is none":          {201, strings.Repeat("f", 257) + " main.go"},
		"composed":                {201, strings.Repeat("e\u0301", 280)},
		"blank":                   {400, "  "},
		"two cashtags":            {403, "$TSLA and $AAPL"},
		"one":                     {201, "$TSLA at $5"},
		"a link behind letters":   {201, strings.Repeat("g", 250) + "日本https://example.com"},
		"letters behind no space": {403, strings.Repeat("h", 265) + "https://example.com"},
	} {
		if g := w.send(w.tweet(map[string]any{"text": c.text})); g.status != c.status {
			t.Errorf("%s: got %d %s, want %d", name, g.status, g.raw, c.status)
		}
	}
	w.send(w.tweet(map[string]any{"text": "a", "mood": "good"})).want(t, 400)
	w.send(w.tweet(map[string]any{"text": "a", "reply_settings": "nobody"})).want(t, 400)
	w.send(w.tweet(map[string]any{"text": "a", "reply": map[string]string{"in_reply_to_tweet_id": "1"}})).want(t, 403)
}

func TestXReplacesLinksAndListsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(w.tweet(map[string]any{"text": "a < b https://example.com/x?y=1."})).want(t, 201)
	if text := g.str("data.text"); !strings.HasPrefix(text, "a &lt; b https://t.co/") || strings.Contains(text, "example") {
		t.Errorf("the text is %q", text)
	}
	id := g.str("data.id")
	w.send(w.tweet(map[string]any{"text": "more", "reply": map[string]string{"in_reply_to_tweet_id": id}})).want(t, 201)
	if p := w.sim.Posts(network.X, "1001"); len(p) != 1 || len(p[0].Replies) != 1 || p[0].Text != "a < b https://example.com/x?y=1." {
		t.Errorf("the public sees %+v", p)
	}
	list := w.get("/x/2/users/1001/tweets?max_results=5&tweet.fields=created_at,entities,referenced_tweets&start_time=2026-05-04T11:59:00Z", bearer...).want(t, 200)
	for _, part := range []string{`"expanded_url":"https://example.com/x?y=1"`, `"referenced_tweets":[{"id":"` + id, `"created_at":"2026-05-04T12:00:00.000Z"`, `"result_count":2`} {
		if !strings.Contains(list.raw, part) {
			t.Errorf("%s lacks %s", list.raw, part)
		}
	}
	if bare := w.get("/x/2/users/1001/tweets?max_results=5", bearer...).want(t, 200); strings.Contains(bare.raw, "created_at") {
		t.Errorf("nobody asked for %s", bare.raw)
	}
	if none := w.get("/x/2/users/1001/tweets?max_results=5&start_time=2026-05-04T12:00:01Z", bearer...).want(t, 200); none.raw != `{"meta":{"result_count":0}}` {
		t.Errorf("an empty list is %s", none.raw)
	}
	w.get("/x/2/users/1001/tweets?max_results=4", bearer...).want(t, 400)
}

func TestXRefusesTheSameTextIfToldTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Duplicates, k.Summoned = true, true })
	id := w.send(w.tweet(map[string]any{"text": "a"})).want(t, 201).str("data.id")
	if g := w.send(w.tweet(map[string]any{"text": "a"})).want(t, 403); !strings.Contains(g.raw, "duplicate content") {
		t.Errorf("got %s", g.raw)
	}
	w.send(w.tweet(map[string]any{"text": "b", "reply": map[string]string{"in_reply_to_tweet_id": id}})).want(t, 403)
	w.pass(24 * time.Hour)
	w.send(w.tweet(map[string]any{"text": "a"})).want(t, 201)
}

func TestXTakesMediaInSegments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := func(kind, category string, total int) got {
		return w.json("/x/2/media/upload/initialize", fmt.Sprintf(`{"media_type":%q,"media_category":%q,"total_bytes":%d}`, kind, category, total), bearer...)
	}
	begin("image/png", "tweet_gif", 9).want(t, 400)
	begin("image/jpeg", "tweet_image", 5_000_001).want(t, 400)
	data := jpegOf(40, 30)
	id := begin("image/jpeg", "tweet_image", len(data)).want(t, 200).str("data.id")
	at := "/x/2/media/upload/" + id
	w.upload(at+"/append", "media", data[:100], bearer, "segment_index", "0").want(t, 200)
	w.json(at+"/finalize", `{}`, bearer...).want(t, 400)
	w.upload(at+"/append", "media", data[100:], bearer, "segment_index", "1").want(t, 200)
	w.upload(at+"/append", "media", make([]byte, 1<<20+5000), bearer, "segment_index", "2").want(t, 413)
	w.send(w.request("POST", at+"/finalize", "application/json", "", bearer...)).want(t, 400)
	w.json(at+"/finalize", `{}`, bearer...).want(t, 200)
	w.json(at+"/finalize", `{}`, bearer...).want(t, 400)
	w.json("/x/2/media/metadata", `{"id":"`+id+`","metadata":{"alt_text":{"text":"a loaf"}}}`, bearer...).want(t, 200)
	body := map[string]any{"text": "look", "media": map[string]any{"media_ids": []string{id}}}
	w.send(w.tweet(body)).want(t, 201)
	if p := w.sim.Posts(network.X, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Media[0].Alt != "a loaf" {
		t.Errorf("the public sees %+v", p)
	}
	if list := w.get("/x/2/users/1001/tweets?max_results=5&tweet.fields=attachments,entities", bearer...).want(t, 200); !strings.Contains(list.raw, `"media_keys":["3_`+id) || !strings.Contains(list.raw, "/photo/1") {
		t.Errorf("the list is %s", list.raw)
	}
	w.pass(24 * time.Hour)
	w.send(w.tweet(body)).want(t, 400)
}

func TestXWorksOnAVideo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	data := film()
	id := w.json("/x/2/media/upload/initialize", fmt.Sprintf(`{"media_type":"video/mp4","media_category":"tweet_video","total_bytes":%d}`, len(data)), bearer...).want(t, 200).str("data.id")
	at := "/x/2/media/upload/" + id
	status := func() got { return w.get("/x/2/media/upload?command=STATUS&media_id="+id, bearer...) }
	status().want(t, 400)
	w.upload(at+"/append", "media", data, bearer, "segment_index", "0").want(t, 200)
	if g := w.json(at+"/finalize", `{}`, bearer...).want(t, 200); g.str("data.processing_info.state") != "pending" {
		t.Errorf("sealed as %s", g.raw)
	}
	body := map[string]any{"media": map[string]any{"media_ids": []string{id}}}
	w.send(w.tweet(body)).want(t, 400)
	for _, want := range []string{"in_progress", "in_progress", "succeeded"} {
		if got := status().want(t, 200).str("data.processing_info.state"); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
	w.send(w.tweet(body)).want(t, 201)
}

func TestXSignInWantsAProofAndRotates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.X, sim.Account{ID: "1001", Handle: "bakery"})
	sum := sha256.Sum256([]byte("verifier"))
	code := func(scope string) string {
		q := url.Values{"response_type": {"code"}, "client_id": {"app"}, "redirect_uri": {"https://h.example/cb"}, "scope": {scope}, "state": {"s"},
			"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "sim_answer": {"allow:1001"}}
		to, _ := url.Parse(w.get("/x/i/oauth2/authorize?"+q.Encode()).want(t, 302).header.Get("Location"))
		return to.Query().Get("code")
	}
	redeem := func(code, verifier string) got {
		return w.form("/x/2/oauth2/token", "grant_type", "authorization_code", "code", code, "client_id", "app", "redirect_uri", "https://h.example/cb", "code_verifier", verifier)
	}
	redeem(code("tweet.write offline.access"), "guess").want(t, 400)
	if g := redeem(code("tweet.write"), "verifier").want(t, 200); g.str("refresh_token") != "" {
		t.Errorf("nobody asked for %s", g.raw)
	}
	late := code("tweet.write")
	w.pass(31 * time.Second)
	redeem(late, "verifier").want(t, 400)
	g := redeem(code("tweet.write offline.access"), "verifier").want(t, 200)
	renew := func(token string) got {
		return w.form("/x/2/oauth2/token", "grant_type", "refresh_token", "refresh_token", token, "client_id", "app")
	}
	next := renew(g.str("refresh_token")).want(t, 200)
	if next.str("refresh_token") == g.str("refresh_token") || next.str("expires_in") != "7200" {
		t.Errorf("renewed to %s", next.raw)
	}
	if spent := renew(g.str("refresh_token")).want(t, 400); spent.str("error") != "invalid_request" {
		t.Errorf("a spent token: %s", spent.raw)
	}
	renew(next.str("refresh_token")).want(t, 400) // the replay ended the whole family
}

// The day's counts stand beside that of a quarter of an hour, and refuse by
// themselves.
func TestXCountsAnAccountsAndAnAppsDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for id, app := range map[string]string{"1": "ours", "2": "ours", "3": "theirs"} {
		w.sim.AddAccount(network.X, sim.Account{ID: id, Token: "T" + id, App: app})
	}
	w.sim.Turn(func(k *sim.Knobs) { k.UserDaily, k.AppDaily = 2, 3 })
	post := func(id, text string) got {
		return w.json("/x/2/tweets", `{"text":"`+text+`"}`, "Authorization", "Bearer T"+id)
	}
	left := func(g got, status int, user, app string) got {
		t.Helper()
		g.want(t, status)
		if g.header.Get("x-user-limit-24hour-remaining") != user || g.header.Get("x-app-limit-24hour-remaining") != app || g.header.Get("x-rate-limit-remaining") == "0" {
			t.Errorf("the headers are %v, want %s and %s", g.header, user, app)
		}
		return g
	}
	left(post("1", "a"), 201, "1", "2")
	w.pass(time.Hour)
	left(post("1", ""), 400, "0", "1") // what is refused counts too
	if g := left(post("1", "b"), 429, "0", "1"); g.header.Get("x-user-limit-24hour-limit") != "2" || g.header.Get("x-user-limit-24hour-reset") != fmt.Sprint(noon.Add(24*time.Hour).Unix()) {
		t.Errorf("used up: %v", g.header)
	}
	left(post("2", "c"), 201, "1", "0")
	if g := left(post("2", "d"), 429, "1", "0"); g.header.Get("x-app-limit-24hour-reset") != fmt.Sprint(noon.Add(24*time.Hour).Unix()) {
		t.Errorf("the app's day: %v", g.header)
	}
	left(post("3", "e"), 201, "1", "2")
	w.wantPosts(network.X, "", 3)
	if g := w.get("/x/2/users/me", "Authorization", "Bearer T1").want(t, 200); g.header.Get("x-user-limit-24hour-limit") != "" {
		t.Errorf("a call that reads tells of posts: %v", g.header)
	}
	w.pass(23 * time.Hour)
	left(post("1", "f"), 201, "1", "2")
}
