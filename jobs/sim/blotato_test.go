package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const blotato = "/blotato/v2"

var (
	blotatoKey  = []string{"blotato-api-key", "1001:x"}
	blotatoName = network.Name(network.Blotato)
)

// blotato posts to X, with more members of the body or none.
func (w *world) blotato(text, more string) got {
	w.t.Helper()
	return w.json(blotato+"/posts", fmt.Sprintf(`{"post":{"accountId":"1001","content":{"text":%q,"mediaUrls":[],"platform":"twitter"},"target":{"targetType":"twitter"}%s}`, text, more), blotatoKey...)
}

// flatFail checks a refusal that has no code but the status.
func (g got) flatFail(t *testing.T, status int, words string) {
	t.Helper()
	if g.want(t, status); !strings.Contains(g.raw, words) || g.str("statusCode") != fmt.Sprint(status) {
		t.Errorf("got %s, want %s", g.raw, words)
	}
}

func TestBlotatoTellsNothingOfAnIDThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	look := func(id string) got { return w.get(blotato+"/posts/"+id, blotatoKey...).want(t, 200) }
	if g := look("7"); g.str("status") != "in-progress" || g.str("postSubmissionId") != "7" {
		t.Errorf("of nothing it says %s", g.raw)
	}
	id := w.blotato("Hello", "}").want(t, 201).str("postSubmissionId")
	if g := look(id); g.str("status") != "published" || g.str("publicUrl") == "" {
		t.Errorf("of a post it says %s", g.raw)
	}
	if g := w.get(blotato+"/posts/"+id, "blotato-api-key", "2002:x").want(t, 200); g.str("status") != "in-progress" {
		t.Errorf("to another key it says %s", g.raw)
	}
	if g := w.get(blotato+"/posts", blotatoKey...).want(t, 200); strings.Count(g.raw, "postSubmissionId") != 1 {
		t.Errorf("it lists %s", g.raw)
	}
	w.fault(sim.Fault{Network: blotatoName, Kind: sim.AsyncError})
	if g := look(id); g.str("status") != "failed" || g.str("errorMessage") == "" {
		t.Errorf("of what failed it says %s", g.raw)
	}
	w.wantPosts(blotatoName, "", 0)
}

// A time counts at the root alone; one that stands in the post is not seen.
func TestBlotatoPublishesAtOnceWhatHasItsTimeInTheWrongPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.blotato("later", `},"scheduledTime":"2026-05-04T13:00:00Z"`).want(t, 201)
	w.wantPosts(blotatoName, "", 0)
	w.blotato("at once", `,"scheduledTime":"2026-05-04T13:00:00Z"}`).want(t, 201)
	w.wantPosts(blotatoName, "1001", 1)
	w.pass(time.Hour)
	w.wantPosts(blotatoName, "1001", 2)
}

func TestBlotatoRefusesWhatIsNoPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.blotato(strings.Repeat("é", 281), "}").flatFail(t, 422, "too long")
	w.blotato(strings.Repeat("é", 280), "}").want(t, 201)
	w.blotato("a", `,"colour":1}`).flatFail(t, 422, "unknown field")
	send := func(content, target string) got {
		return w.json(blotato+"/posts", `{"post":{"accountId":"1001","content":{`+content+`},"target":{`+target+`}}}`, blotatoKey...)
	}
	send(`"text":"a","platform":"twitter"`, `"targetType":"bluesky"`).flatFail(t, 422, "targetType")
	send(`"text":"a","platform":"facebook"`, `"targetType":"facebook"`).flatFail(t, 422, "pageId is required")
	send(`"text":"a","platform":"other"`, `"targetType":"webhook"`).flatFail(t, 422, "not known")
	send(`"text":"a","platform":"twitter","mediaUrls":["https://elsewhere.example/a.jpg"]`, `"targetType":"twitter"`).flatFail(t, 422, "cannot be reached")
	send(`"text":"a","platform":"linkedin","additionalPosts":[{"text":"b","mediaUrls":[]}]`, `"targetType":"linkedin"`).flatFail(t, 422, "additionalPosts")
	w.json(blotato+"/posts", `{}`, "blotato-api-key", "revoked").flatFail(t, 401, "Unauthorized")
	w.json(blotato+"/posts", `{}`, "Authorization", "Bearer 1001:x").flatFail(t, 401, "Unauthorized")
	w.get("/blotato/v1/posts", blotatoKey...).flatFail(t, 404, "Not Found")
	w.wantPosts(blotatoName, "1001", 1)
}

// A file is put as it is to the address that was handed out.
func TestABlotatoFileIsPutBeforeItIsPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := func() got {
		return w.json(blotato+"/media/uploads", `{"filename":"a.jpg"}`, blotatoKey...).want(t, 201)
	}
	post := func(url string) got {
		return w.json(blotato+"/posts", fmt.Sprintf(`{"post":{"accountId":"1001","content":{"text":"a","mediaUrls":[%q],"platform":"twitter"},"target":{"targetType":"twitter"}}}`, url), blotatoKey...)
	}
	put := func(at, kind string) got { return w.send(w.request("PUT", at, kind, string(jpegOf(9, 9)))) }
	up := begin()
	post(up.str("publicUrl")).flatFail(t, 422, "cannot be reached")
	put(up.str("publicUrl"), "image/jpeg").want(t, 403)
	put(up.str("presignedUrl"), "application/json").want(t, 400)
	put(up.str("presignedUrl"), "image/jpeg").want(t, 200)
	post(up.str("publicUrl")).want(t, 201)
	if p := w.sim.Posts(blotatoName, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Kind != "photo" {
		t.Errorf("the public sees %+v", p)
	}
}

// Thirty posts go in a minute, whichever minute; the refusal names no wait.
func TestBlotatoTakesThirtyPostsAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.CallLimit = -1 })
	for range 30 {
		w.blotato("a", "}").want(t, 201)
		w.pass(time.Second)
	}
	g := w.blotato("a", "}")
	g.flatFail(t, 429, "Rate limit")
	for name := range g.header {
		if name != "Date" && name != "Content-Type" && name != "Content-Length" && name != "Connection" {
			t.Errorf("there is a header %s", name)
		}
	}
	w.get(blotato+"/posts", blotatoKey...).want(t, 200)
	w.wantPosts(blotatoName, "1001", 30)
	w.pass(31 * time.Second)
	w.blotato("a", "}").want(t, 201)
	w.blotato("a", "}").want(t, 201)
	w.blotato("a", "}").flatFail(t, 429, "Rate limit")
}
