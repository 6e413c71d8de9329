package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const bundle = "/bundle/api/v1"

var (
	bundleKey  = []string{"x-api-key", "1001:x"}
	bundleName = network.Name(network.Bundle)
)

// bundle posts to X at once, under a reference key.
func (w *world) bundle(key, text string) got {
	w.t.Helper()
	return w.bundlePost(key, "TWITTER", fmt.Sprintf(`{"text":%q}`, text), "")
}

// bundlePost posts to a network, with more members of the body or none.
func (w *world) bundlePost(key, wire, part, more string) got {
	w.t.Helper()
	return w.json(bundle+"/post/", fmt.Sprintf(`{"teamId":"1001","title":"t","referenceKey":%q,"postDate":%q,"status":"SCHEDULED","socialAccountTypes":[%q],"data":{%q:%s}%s}`,
		key, w.clock().Format(time.RFC3339), wire, wire, part, more), bundleKey...)
}

func (w *world) bundleLook(key string) got {
	w.t.Helper()
	return w.get(bundle+"/post/reference-key/"+key, bundleKey...)
}

func TestABundlePostIsKnownByItsReferenceKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bundleLook("k1").flatFail(t, 404, "Post not found")
	made := w.bundle("k1", "Hello").want(t, 200)
	if made.str("status") != "SCHEDULED" || made.str("referenceKey") != "k1" {
		t.Errorf("accepted as %s", made.raw)
	}
	if g := w.bundleLook("k1").want(t, 200); g.str("id") != made.str("id") || g.str("status") != "POSTED" || g.str("externalData.TWITTER.permalink") == "" {
		t.Errorf("found %s", g.raw)
	}
	w.bundle("k1", "Hello").flatFail(t, 409, "reference key")
	w.wantPosts(bundleName, "1001", 1)
	w.get(bundle+"/post/reference-key/k1", "x-api-key", "revoked").flatFail(t, 401, "Unauthorized")
}

// What the network turns down after it was accepted is told by the look, and may be
// set going again.
func TestWhatFailsAtBundleSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fault(sim.Fault{Network: bundleName, Kind: sim.AsyncPending, Times: 2})
	w.fault(sim.Fault{Network: bundleName, Kind: sim.AsyncError, Times: 1})
	id := w.bundle("k1", "Hello").want(t, 200).str("id")
	retry := func() got { return w.json(bundle+"/post/"+id+"/retry", ``, bundleKey...) }
	for range 2 {
		if s := w.bundleLook("k1").want(t, 200).str("status"); s != "PROCESSING" && s != "RETRYING" {
			t.Errorf("it is %s", s)
		}
	}
	retry().flatFail(t, 400, "Only failed posts")
	if g := w.bundleLook("k1").want(t, 200); g.str("status") != "ERROR" || g.str("errorsVerbose.TWITTER.userFacingMessage") == "" {
		t.Errorf("it failed as %s", g.raw)
	}
	w.wantPosts(bundleName, "", 0)
	retry().want(t, 200)
	if s := w.bundleLook("k1").want(t, 200).str("status"); s != "POSTED" {
		t.Errorf("it is %s", s)
	}
	w.wantPosts(bundleName, "1001", 1)
}

func TestBundleRefusesWhatIsNoPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bundle("k1", strings.Repeat("é", 281)).flatFail(t, 400, "280 characters")
	w.bundle("k1", strings.Repeat("é", 280)).want(t, 200)
	w.bundle(strings.Repeat("k", 129), "a").flatFail(t, 400, "128")
	w.bundlePost("k2", "TWITTER", `{"text":"a","colour":"red"}`, "").flatFail(t, 400, "colour")
	w.bundlePost("k2", "TWITTER", `{"text":"a"}`, `,"firstComment":{"TWITTER":"b"}`).flatFail(t, 400, "firstComment")
	w.bundlePost("k2", "THREADS", `{"text":"a"}`, `,"firstComment":{"THREADS":"`+strings.Repeat("b", 501)+`"}`).flatFail(t, 400, "firstComment")
	w.bundlePost("k2", "PINTEREST", `{"text":"a"}`, "").flatFail(t, 400, "boardName is required")
	w.bundlePost("k2", "TWITTER", `{"uploadIds":["up_0"]}`, "").flatFail(t, 404, "Upload not found")
	w.bundlePost("k2", "TWITTER", `{}`, "").flatFail(t, 400, "required")
	w.bundlePost("k2", "TWITTER", `{"text":"a"}`, `,"colour":1`).flatFail(t, 400, "unknown field")
	w.wantPosts(bundleName, "1001", 1)
}

// A post whose time is past stays a draft until it gets another.
func TestABundlePostThatIsLateIsADraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"teamId":"1001","title":"t","postDate":"2026-05-04T11:00:00Z","status":"SCHEDULED","socialAccountTypes":["TWITTER"],"data":{"TWITTER":{"text":"a"}}}`
	late := w.json(bundle+"/post/", body, bundleKey...).want(t, 200)
	if late.str("status") != "DRAFT" {
		t.Errorf("it is %s", late.raw)
	}
	w.wantPosts(bundleName, "", 0)
	w.send(w.request("PATCH", bundle+"/post/"+late.str("id"), "application/json", `{"status":"SCHEDULED","postDate":"2026-05-04T12:00:00Z"}`, bundleKey...)).want(t, 200)
	w.wantPosts(bundleName, "1001", 1)
}

// A file is of a team, and of a type that is taken.
func TestABundleFileIsUploadedBeforeItIsPosted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload(bundle+"/upload/", "file", []byte("hello"), bundleKey, "teamId", "1001").flatFail(t, 400, "Unsupported")
	w.upload(bundle+"/upload/", "file", jpegOf(9, 9), bundleKey, "teamId", "1001", "colour", "red").flatFail(t, 400, "colour")
	up := w.upload(bundle+"/upload/", "file", jpegOf(400, 400), bundleKey, "teamId", "1001").want(t, 200)
	w.bundlePost("k1", "INSTAGRAM", fmt.Sprintf(`{"type":"POST","text":"a","altText":"A loaf","uploadIds":[%q]}`, up.str("id")), "").want(t, 200)
	if p := w.sim.Posts(bundleName, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Media[0].Alt != "A loaf" {
		t.Errorf("the public sees %+v", p)
	}
}

// Five calls go in a second, twenty in ten, a hundred in a minute, each for itself
// and whatever they are.
func TestBundleHasThreeLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.CallLimit = -1 })
	calls := 0
	try := func(n int) (taken int) {
		for range n {
			calls++
			g := w.bundleLook(fmt.Sprint(calls))
			if g.status == 404 {
				taken++
			} else if g.flatFail(t, 429, "Too Many Requests"); g.header.Get("Retry-After") != "" {
				t.Errorf("it names a wait: %v", g.header)
			}
		}
		return taken
	}
	for i, round := range []struct {
		tries, taken int
		pass         time.Duration
	}{{6, 5, time.Second}, {5, 5, time.Second}, {5, 5, time.Second}, {5, 5, time.Second}, {5, 0, 6 * time.Second}, {5, 5, time.Second}} {
		if got := try(round.tries); got != round.taken {
			t.Fatalf("round %d: %d calls were taken, want %d", i, got, round.taken)
		}
		w.pass(round.pass)
	}
	taken := 0
	for range 40 { // one a second: only the minute is too short
		taken += try(2)
		w.pass(time.Second)
	}
	if taken != 100-25 {
		t.Errorf("%d more were taken in the minute, want 75", taken)
	}
	w.bundle("k", "a").flatFail(t, 429, "Too Many Requests")
	w.wantPosts(bundleName, "", 0)
	w.pass(time.Minute)
	w.bundle("k", "a").want(t, 200)
}
