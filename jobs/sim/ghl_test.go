package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/sim"
)

const ghlPosts = "/ghl/social-media-posting/loc/posts"

var (
	ghlKey  = []string{"Authorization", "Bearer 1001:x", "Version", "v3"}
	ghlName = network.Name(network.GHL)
)

// ghl posts a text, with more members of the body or none.
func (w *world) ghl(text, more string) got {
	w.t.Helper()
	return w.json(ghlPosts, fmt.Sprintf(`{"accountIds":["1001"],"userId":"u1","type":"post","summary":%q%s}`, text, more), ghlKey...)
}

// ghlList asks for the posts of the day.
func (w *world) ghlList(skip string) got {
	w.t.Helper()
	return w.json(ghlPosts+"/list", `{"type":"all","accounts":"1001","skip":`+skip+`,"limit":"10","fromDate":"2026-05-04T00:00:00Z","toDate":"2026-05-05T00:00:00Z","includeUsers":"false"}`, ghlKey...)
}

// 401 says three things, which its words tell apart.
func TestGoHighLevelHasThreeReasonsFor401(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(token, user string) got {
		return w.json(ghlPosts, `{"accountIds":["1001"],"userId":"`+user+`","type":"post","summary":"a"}`, "Authorization", "Bearer "+token, "Version", "v3")
	}
	send("revoked", "u1").flatFail(t, 401, "Invalid JWT")
	send("noscope", "u1").flatFail(t, 401, "This authClass type is not allowed to access this scope")
	send("1001:x", "u2").flatFail(t, 401, "The user does not exist.")
	w.wantPosts(ghlName, "", 0)
	send("1001:x", "u1").want(t, 201)
	w.json(ghlPosts, `{}`, "Authorization", "Bearer 1001:x").flatFail(t, 401, "version header")
}

func TestAGoHighLevelPostIsAcceptedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ghl("Hello", "").want(t, 201)
	if made.str("results.post.status") != "in_progress" || made.header.Get("X-RateLimit-Max") != "100" || made.header.Get("Retry-After") != "" {
		t.Errorf("accepted as %s with %v", made.raw, made.header)
	}
	look := func() got { return w.get(ghlPosts+"/"+made.str("results.post._id"), ghlKey...).want(t, 200) }
	w.fault(sim.Fault{Network: ghlName, Kind: sim.AsyncPending, Times: 1})
	for _, want := range []string{"in_progress", "published"} {
		if s := look().str("results.post.status"); s != want {
			t.Errorf("it is %s, want %s", s, want)
		}
	}
	w.wantPosts(ghlName, "1001", 1)
	w.fault(sim.Fault{Network: ghlName, Kind: sim.AsyncError})
	if g := look(); g.str("results.post.status") != "failed" || g.str("results.post.error") == "" {
		t.Errorf("it failed as %s", g.raw)
	}
	w.get(ghlPosts+"/7", ghlKey...).flatFail(t, 404, "Post not found")
}

// The list takes words alone, numbers too, and answers as if it had made something.
func TestTheListOfGoHighLevelWantsStrings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ghl("Hello", "").want(t, 201)
	w.ghlList(`0`).flatFail(t, 422, "must be strings")
	w.ghlList(`"none"`).flatFail(t, 422, "must be strings")
	if g := w.ghlList(`"0"`).want(t, 201); g.str("results.count") != "1" {
		t.Errorf("it lists %s", g.raw)
	}
	if g := w.ghlList(`"1"`).want(t, 201); g.str("results.count") != "0" {
		t.Errorf("behind the first it lists %s", g.raw)
	}
}

// A text that is too long is cut off at the network's limit, without a word.
func TestGoHighLevelTrimsTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ghl(strings.Repeat("é", 301), `,"blueskyPostDetails":{}`).want(t, 201)
	w.ghl(strings.Repeat("é", 301), ``).want(t, 201)
	if texts := w.texts(ghlName, "1001"); len(texts) != 2 || texts[0] != strings.Repeat("é", 300) || texts[1] != strings.Repeat("é", 301) {
		t.Errorf("the public sees %q", texts)
	}
}

func TestGoHighLevelRefusesWhatIsNoPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ghl("", "").flatFail(t, 400, "content or media")
	w.ghl("a", `,"colour":1`).flatFail(t, 422, "unknown field")
	w.ghl("a", `,"facebookPostDetails":{}`).flatFail(t, 422, "type is required")
	w.ghl("a", `,"instagramPostDetails":{"type":"tale"}`).flatFail(t, 422, "type")
	w.ghl("a", `,"facebookPostDetails":{"type":"post"},"blueskyPostDetails":{}`).want(t, 422)
	w.ghl("a", `,"media":[{"url":"`+w.media+`/square.jpg","type":"image/tiff"}]`).flatFail(t, 400, "media.type")
	w.ghl("a", `,"followUpComment":"b","tiktokPostDetails":{"privacyLevel":"SELF_ONLY"}`).flatFail(t, 400, "followUpComment")
	w.json(ghlPosts, `{"accountIds":["1001","2002"],"userId":"u1","type":"post","summary":"a"}`, ghlKey...).flatFail(t, 422, "accountIds")
	w.wantPosts(ghlName, "", 0)
	w.ghl("a", `,"media":[{"url":"`+w.media+`/square.jpg","type":"image/jpeg","altText":"A loaf"}]`).want(t, 201)
	if p := w.sim.Posts(ghlName, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Media[0].Alt != "A loaf" {
		t.Errorf("the public sees %+v", p)
	}
}

// A refusal may stand for what was made all the same.
func TestGoHighLevelMayRefuseWhatItMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Made422 = true })
	w.ghl("Hello", "").flatFail(t, 422, "could not be processed")
	w.wantPosts(ghlName, "1001", 1)
	if g := w.ghlList(`"0"`).want(t, 201); g.str("results.count") != "1" {
		t.Errorf("it lists %s", g.raw)
	}
}
