package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const ig = "/instagram/v25.0"

// container makes one and returns its id.
func (w *world) container(pairs ...string) string {
	w.t.Helper()
	return w.form(ig+"/17841/media", append([]string{"access_token", "IT"}, pairs...)...).want(w.t, 200).str("id")
}

func (w *world) statusOf(id string) string {
	w.t.Helper()
	return w.get(ig+"/"+id+"?fields=status_code,status&access_token=IT").want(w.t, 200).str("status_code")
}

func (w *world) release(id string) got {
	w.t.Helper()
	return w.form(ig+"/17841/media_publish", "access_token", "IT", "creation_id", id)
}

func TestInstagramPublishesAnImageAndShowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.container("image_url", w.media+"/square.jpg", "caption", "Hello #bread", "alt_text", "Bread")
	if s := w.statusOf(id); s != "FINISHED" {
		t.Fatalf("the container is %s", s)
	}
	w.wantPosts(network.Instagram, "", 0)
	media := w.release(id).want(t, 200).str("id")
	if s := w.statusOf(id); s != "PUBLISHED" {
		t.Errorf("the container is %s", s)
	}
	g := w.get(ig+"/"+media+"?access_token=IT&fields=id,permalink,shortcode,caption,timestamp,media_type,media_product_type,username").want(t, 200)
	if g.str("caption") != "Hello #bread" || g.str("media_product_type") != "FEED" || g.str("timestamp") != "2026-05-04T12:00:00+0000" {
		t.Errorf("read %s", g.raw)
	}
	if page := w.get(g.str("permalink")).want(t, 200); !strings.Contains(page.raw, `alt="Bread"`) {
		t.Errorf("the page is %s", page.raw)
	}
	calls := w.sim.Calls(network.Instagram, "17841")
	steps := []sim.Step{sim.Prepare, sim.Prepare, sim.Commit, sim.Find, sim.Find}
	for i, c := range calls {
		if c.Step != steps[i] || c.Public != (i == 2) {
			t.Errorf("call %d reads %+v", i, c)
		}
	}
}

func TestInstagramRefusesBadContainers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	image := w.media + "/square.jpg"
	for name, c := range map[string]struct {
		code, sub string
		pairs     []string
	}{
		"no file":        {"9004", "2207052", []string{"image_url", w.media + "/none.jpg"}},
		"no address":     {"100", "", []string{"caption", "a"}},
		"png":            {"36001", "2207005", []string{"image_url", w.media + "/picture.png"}},
		"cut":            {"36001", "2207005", []string{"image_url", w.media + "/cut.jpg"}},
		"text":           {"36001", "2207005", []string{"image_url", w.media + "/text.jpg"}},
		"huge":           {"36000", "2207004", []string{"image_url", w.media + "/huge.jpg"}},
		"tall":           {"36003", "2207009", []string{"image_url", w.media + "/tall.jpg"}},
		"wide":           {"36003", "2207009", []string{"image_url", w.media + "/wide.jpg"}},
		"long":           {"36004", "2207010", []string{"image_url", image, "caption", strings.Repeat("a", 2201)}},
		"hashtags":       {"36004", "2207010", []string{"image_url", image, "caption", strings.Repeat("#a ", 31)}},
		"mentions":       {"36004", "2207010", []string{"image_url", image, "caption", strings.Repeat("@a ", 21)}},
		"kind":           {"100", "2207023", []string{"media_type", "POEM", "video_url", w.media + "/film.mp4"}},
		"video":          {"100", "2207023", []string{"media_type", "VIDEO", "video_url", w.media + "/film.mp4"}},
		"few":            {"100", "2207028", []string{"media_type", "CAROUSEL", "children", "1"}},
		"unknown":        {"100", "", []string{"image_url", image, "captoin", "a"}},
		"story caption":  {"100", "", []string{"image_url", image, "media_type", "STORIES", "caption", "a"}},
		"alt of a video": {"100", "", []string{"media_type", "REELS", "video_url", w.media + "/film.mp4", "alt_text", "a"}},
	} {
		g := w.form(ig+"/17841/media", append([]string{"access_token", "IT"}, c.pairs...)...)
		if g.status != 400 || g.str("error.code") != c.code || g.str("error.error_subcode") != c.sub {
			t.Errorf("%s: got %d %s, want %s/%s", name, g.status, g.raw, c.code, c.sub)
		}
	}
	w.container("image_url", w.media+"/portrait.jpg", "caption", strings.Repeat("😀", 1100))
	w.container("image_url", w.media+"/tall.jpg", "media_type", "STORIES")
	w.json(ig+"/17841/media?access_token=IT", `{"image_url":"x"}`).graphFail(t, 400, "100", "")
}

func TestInstagramVideoTakesItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.container("media_type", "REELS", "video_url", w.media+"/film.mp4", "caption", "reel")
	w.release(id).graphFail(t, 400, "9007", "2207027")
	for _, want := range []string{"IN_PROGRESS", "IN_PROGRESS", "FINISHED"} {
		if s := w.statusOf(id); s != want {
			t.Errorf("the container is %s, want %s", s, want)
		}
	}
	w.release(id).want(t, 200)
	w.wantPosts(network.Instagram, "17841", 1)

	bad := w.container("media_type", "REELS", "video_url", w.media+"/square.jpg")
	g := w.get(ig+"/"+bad+"?fields=status_code,status&access_token=IT").want(t, 200)
	if g.str("status_code") != "ERROR" || !strings.Contains(g.str("status"), "2207026") {
		t.Errorf("got %s", g.raw)
	}
	w.release(bad).graphFail(t, 400, "24", "2207008")
	w.sim.Turn(func(k *sim.Knobs) { k.NoCode = true })
	if s := w.statusOf(bad); s != "" {
		t.Errorf("the status_code is %q", s)
	}
}

func TestInstagramContainerExpiresAndIsPublishedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.container("image_url", w.media+"/square.jpg")
	old := w.container("image_url", w.media+"/square.jpg")
	media := w.release(id).want(t, 200).str("id")
	w.release(id).graphFail(t, 400, "24", "2207008")
	w.sim.Turn(func(k *sim.Knobs) { k.Republish = true })
	if again := w.release(id).want(t, 200).str("id"); again != media {
		t.Errorf("got %s, want %s", again, media)
	}
	w.wantPosts(network.Instagram, "", 1)
	w.pass(24 * time.Hour)
	if s := w.statusOf(old); s != "EXPIRED" {
		t.Errorf("the container is %s", s)
	}
	w.release(old).graphFail(t, 400, "24", "2207008")
}

func TestInstagramCarouselWaitsForItsItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.container("is_carousel_item", "true", "image_url", w.media+"/square.jpg", "alt_text", "A")
	b := w.container("is_carousel_item", "true", "media_type", "VIDEO", "video_url", w.media+"/film.mp4")
	alone := w.container("image_url", w.media+"/square.jpg")
	carousel := func(children string) got {
		return w.form(ig+"/17841/media", "access_token", "IT", "media_type", "CAROUSEL", "caption", "two", "children", children)
	}
	carousel(a+","+b).graphFail(t, 400, "9007", "2207027")
	carousel(a+","+alone).graphFail(t, 400, "24", "2207006")
	carousel(a+","+a).graphFail(t, 400, "24", "2207006")
	w.statusOf(b)
	w.statusOf(b)
	id := carousel(a+","+b).want(t, 200).str("id")
	carousel(a+","+b).graphFail(t, 400, "24", "2207008")
	w.release(a).graphFail(t, 400, "24", "2207006")
	w.release(id).want(t, 200)
	posts := w.sim.Posts(network.Instagram, "17841")
	if len(posts) != 1 || len(posts[0].Media) != 2 || posts[0].Media[1].Kind != "video" {
		t.Errorf("the posts are %+v", posts)
	}
	if g := w.get(ig+"/17841/media?access_token=IT&fields=media_type,children{id}").want(t, 200); !strings.Contains(g.raw, "CAROUSEL_ALBUM") {
		t.Errorf("the list is %s", g.raw)
	}
}

func TestInstagramCountsContainersAndPosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Knobs.QuotaTotal = 2; o.Knobs.Containers = 4 })
	var ids []string
	for range 4 {
		ids = append(ids, w.container("image_url", w.media+"/square.jpg"))
	}
	w.form(ig+"/17841/media", "access_token", "IT", "image_url", w.media+"/square.jpg").graphFail(t, 400, "9", "2207042")
	w.release(ids[0]).want(t, 200)
	w.release(ids[1]).want(t, 200)
	w.release(ids[2]).graphFail(t, 400, "9", "2207042")
	g := w.get(ig+"/17841/content_publishing_limit?access_token=IT&fields=quota_usage,config").want(t, 200)
	if !strings.Contains(g.raw, `"quota_usage":2`) || !strings.Contains(g.raw, `"quota_total":2`) || !strings.Contains(g.raw, `"quota_duration":86400`) {
		t.Errorf("the limit reads %s", g.raw)
	}
	w.pass(24 * time.Hour)
	w.release(w.container("image_url", w.media+"/square.jpg")).want(t, 200)
}

func TestInstagramAsyncFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.container("image_url", w.media+"/square.jpg")
	w.fault(sim.Fault{Network: network.Instagram, Account: "17841", Kind: sim.AsyncPending, Times: 2})
	w.release(id).graphFail(t, 400, "9007", "2207027")
	for _, want := range []string{"IN_PROGRESS", "IN_PROGRESS", "FINISHED"} {
		if s := w.statusOf(id); s != want {
			t.Errorf("the container is %s, want %s", s, want)
		}
	}
	w.fault(sim.Fault{Network: network.Instagram, Kind: sim.AsyncError, Body: "the video is odd 2207053", Times: 1})
	for range 2 { // an error stays
		if g := w.get(ig+"/"+id+"?fields=status_code,status&access_token=IT").want(t, 200); g.str("status_code") != "ERROR" || !strings.Contains(g.str("status"), "2207053") {
			t.Errorf("got %s", g.raw)
		}
	}
	photo := w.container("image_url", w.media+"/square.jpg")
	w.fault(sim.Fault{Network: network.Instagram, Kind: sim.AsyncError, Times: 1})
	if g := w.get(ig+"/"+photo+"?fields=status_code,status&access_token=IT").want(t, 200); !strings.Contains(g.str("status"), "image") || strings.Contains(g.str("status"), "video") {
		t.Errorf("of a photo it says %s", g.raw)
	}
	expired := w.container("image_url", w.media+"/square.jpg")
	w.fault(sim.Fault{Network: network.Instagram, Kind: sim.AsyncError, Body: "expired", Times: 1})
	if s := w.statusOf(expired); s != "EXPIRED" {
		t.Errorf("the container is %s", s)
	}
	gone := w.container("image_url", w.media+"/square.jpg")
	w.fault(sim.Fault{Network: network.Instagram, Kind: sim.AsyncError, Status: 404, Times: 1})
	w.get(ig+"/"+gone+"?fields=status_code&access_token=IT").graphFail(t, 400, "100", "33")
	w.release(gone).graphFail(t, 400, "24", "2207006")
}

func TestInstagramPublishesThoughItSaysBlocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.container("image_url", w.media+"/square.jpg")
	body := `{"error":{"code":4,"error_subcode":2207051,"message":"blocked"}}`
	w.fault(sim.Fault{Network: network.Instagram, Kind: sim.StoreThenFail, Status: 400, Body: body, Times: 1})
	w.release(id).graphFail(t, 400, "4", "2207051")
	w.wantPosts(network.Instagram, "", 1)
	if s := w.statusOf(id); s != "PUBLISHED" {
		t.Errorf("the container is %s", s)
	}
	calls := w.sim.Calls(network.Instagram, "")
	if c := calls[len(calls)-1]; c.Step != sim.Find {
		t.Errorf("a look after the publish counts as %s", c.Step)
	}
}

func TestInstagramStoriesAndComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	story := w.release(w.container("image_url", w.media+"/tall.jpg", "media_type", "STORIES")).want(t, 200).str("id")
	media := w.release(w.container("image_url", w.media+"/square.jpg")).want(t, 200).str("id")
	if g := w.get(ig+"/17841/stories?access_token=IT").want(t, 200); !strings.Contains(g.raw, story) || strings.Contains(g.raw, media) {
		t.Errorf("the stories are %s", g.raw)
	}
	w.form(ig+"/"+media+"/comments", "access_token", "IT", "message", "first").want(t, 200)
	w.json(ig+"/"+media+"/comments?access_token=IT", `{"message":"json"}`).graphFail(t, 400, "100", "")
	w.form(ig+"/"+media+"/comments", "access_token", "IT", "message", "https://a.b https://c.d").graphFail(t, 400, "100", "")
	w.pass(24 * time.Hour)
	if g := w.get(ig+"/17841/stories?access_token=IT").want(t, 200); strings.Contains(g.raw, story) {
		t.Errorf("the story is still there: %s", g.raw)
	}
}

func TestInstagramTakesBytesByItsUploadHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.form(ig+"/17841/media", "access_token", "IT", "media_type", "REELS", "upload_type", "resumable").want(t, 200)
	if s := w.statusOf(g.str("id")); s != "IN_PROGRESS" {
		t.Errorf("the container is %s", s)
	}
	w.send(w.request("POST", g.str("uri"), "application/octet-stream", string(film()), "Authorization", "OAuth IT", "offset", "0", "file_size", fmt.Sprint(len(film())))).want(t, 200)
	w.statusOf(g.str("id"))
	w.statusOf(g.str("id"))
	w.release(g.str("id")).want(t, 200)
}
