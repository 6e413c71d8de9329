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

const fb = "/facebook/v25.0"

func TestFacebookTakesATextAndTellsItsAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.json(fb+"/1001/feed?fields=id,permalink_url", `{"message":"Hi","access_token":"PT"}`).want(t, 200)
	if id := g.str("id"); !strings.HasPrefix(id, "1001_") {
		t.Errorf("the id is %q", id)
	}
	page := w.get(g.str("permalink_url")).want(t, 200)
	if !strings.Contains(page.raw, "Hi") {
		t.Errorf("the page lacks the text: %s", page.raw)
	}
	if g.header.Get("X-App-Usage") == "" || !strings.Contains(g.header.Get("X-Business-Use-Case-Usage"), `"1001":[{`) {
		t.Errorf("the usage headers are %v", g.header)
	}
	read := w.get(fb+"/"+g.str("id")+"?fields=message,created_time,is_published,permalink_url", "Authorization", "Bearer PT").want(t, 200)
	if read.str("message") != "Hi" || read.str("created_time") != "2026-05-04T12:00:00+0000" || read.str("is_published") != "true" {
		t.Errorf("read %s", read.raw)
	}
}

func TestFacebookRefusesWhatIsWrongWithAPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("😀", 31603) // two UTF-16 units each
	for name, pairs := range map[string][]string{
		"empty":            {"message", "  "},
		"too long":         {"message", long + "x"},
		"unknown":          {"message", "a", "mesage", "b"},
		"bad link":         {"link", "notaurl"},
		"bad published":    {"message", "a", "published", "maybe"},
		"time but public":  {"message", "a", "scheduled_publish_time", "1777900000"},
		"scheduled early":  {"message", "a", "published", "false", "scheduled_publish_time", fmt.Sprint(noon.Add(time.Minute).Unix())},
		"broken media":     {"message", "a", "attached_media", "{"},
		"twice":            {"message", "a", "message", "b"},
		"media without id": {"message", "a", "attached_media[0]", "{}"},
	} {
		g := w.form(fb+"/1001/feed", append([]string{"access_token", "PT"}, pairs...)...)
		if g.str("error.code") != "100" || g.status != 400 {
			t.Errorf("%s: got %d %s", name, g.status, g.raw)
		}
	}
	w.wantPosts(network.Facebook, "", 0)
	w.form(fb+"/1001/feed", "access_token", "PT", "message", long).want(t, 200)
	w.form("/facebook/v3.1/1001/feed", "access_token", "PT", "message", "a").graphFail(t, 400, "100", "")
	w.send(w.request("POST", fb+"/1001/feed?access_token=PT", "text/plain", "message=a")).graphFail(t, 400, "100", "")
	w.get("/facebook/v25.0/1001/nothing/at/all").want(t, 404)
}

func TestFacebookKnowsItsTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.Facebook, sim.Account{ID: "1", Token: "right", Scopes: []string{"pages_read_engagement"}})
	w.sim.AddAccount(network.Facebook, sim.Account{ID: "2", Token: "short", Expires: noon.Add(time.Minute)})
	post := func(page, token string) got {
		return w.form(fb+"/"+page+"/feed", "access_token", token, "message", "a")
	}
	post("1", "").graphFail(t, 400, "104", "")
	post("1", "wrong").graphFail(t, 400, "190", "467")
	post("1", "right").graphFail(t, 403, "200", "")
	post("1", "short").graphFail(t, 400, "100", "33")
	post("2", "short").want(t, 200)
	w.pass(time.Minute)
	post("2", "short").graphFail(t, 400, "190", "463")
	post("9", "expired-1").graphFail(t, 400, "190", "463")
	post("9", "revoked-1").graphFail(t, 400, "190", "460")
	post("9", "noscope-1").graphFail(t, 403, "200", "")
	w.get(fb+"/9/feed?access_token=noscope-1").want(t, 200)
	if calls := w.sim.Calls(network.Facebook, "9"); len(calls) != 4 || calls[0].Params.Has("access_token") {
		t.Errorf("the calls are %+v", calls)
	}
}

func TestAClosedSimulatorKnowsOnlyDeclaredAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Closed = true })
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").graphFail(t, 400, "190", "467")
	w.sim.AddAccount(network.Facebook, sim.Account{ID: "1001", Token: "PT"})
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 200)
	w.form(fb+"/1002/feed", "access_token", "PT", "message", "a").graphFail(t, 400, "100", "33")
	w.send(w.delivery("1001", "d1", "a")).want(t, 404)
}

func TestFacebookTakesPhotosByAddressAndByFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.form(fb+"/1001/photos", "access_token", "PT", "url", w.media+"/square.jpg", "caption", "one", "alt_text_custom", "A square").want(t, 200)
	if g.str("id") == "" || !strings.HasPrefix(g.str("post_id"), "1001_") {
		t.Errorf("got %s", g.raw)
	}
	w.upload(fb+"/1001/photos", "source", pngOf(20, 20), nil, "access_token", "PT", "caption", "two").want(t, 200)
	posts := w.sim.Posts(network.Facebook, "1001")
	if len(posts) != 2 || posts[0].Media[0].Alt != "A square" || posts[1].Media[0].Type != "image/png" {
		t.Fatalf("the posts are %+v", posts)
	}
	picture := w.get(posts[0].Media[0].Address).want(t, 200)
	if picture.header.Get("Content-Type") != "image/jpeg" || len(picture.raw) != len(jpegOf(400, 400)) {
		t.Errorf("the picture is %d bytes of %s", len(picture.raw), picture.header.Get("Content-Type"))
	}
	for _, address := range []string{"/cut.jpg", "/text.jpg", "/nothing.jpg", "/film.mp4"} {
		w.form(fb+"/1001/photos", "access_token", "PT", "url", w.media+address).graphFail(t, 400, "324", "")
	}
	w.form(fb+"/1001/photos", "access_token", "PT", "url", w.media+"/square.jpg", "message", "deprecated").graphFail(t, 400, "100", "")
}

func TestFacebookPostsSeveralPhotosOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for range 2 {
		ids = append(ids, w.form(fb+"/1001/photos", "access_token", "PT", "url", w.media+"/square.jpg", "published", "false").want(t, 200).str("id"))
	}
	w.wantPosts(network.Facebook, "", 0)
	media := fmt.Sprintf(`[{"media_fbid":"%s"},{"media_fbid":"%s"}]`, ids[0], ids[1])
	w.form(fb+"/1002/feed", "access_token", "PT", "message", "theirs", "attached_media", media).graphFail(t, 400, "100", "33")
	g := w.form(fb+"/1001/feed", "access_token", "PT", "message", "album", "attached_media", media).want(t, 200)
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "again", "attached_media[0]", `{"media_fbid":"`+ids[0]+`"}`).graphFail(t, 400, "100", "1366051")
	read := w.get(fb+"/"+g.str("id")+"?access_token=PT&fields=attachments{media_type,subattachments}").want(t, 200)
	if !strings.Contains(read.raw, `"media_type":"album"`) || !strings.Contains(read.raw, ids[1]) {
		t.Errorf("read %s", read.raw)
	}
	steps := map[sim.Step]int{}
	for _, c := range w.sim.Calls(network.Facebook, "1001") {
		steps[c.Step]++
	}
	if steps[sim.Prepare] != 2 || steps[sim.Commit] != 2 || steps[sim.Find] != 1 {
		t.Errorf("the steps are %v", steps)
	}
}

func TestFacebookTakesVideosWholeAndInChunks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.form(fb+"/1001/videos", "access_token", "PT", "file_url", w.media+"/film.mp4", "description", "by address", "title", "T").want(t, 200).str("id")
	w.upload(fb+"/1001/videos", "source", film(), nil, "access_token", "PT", "description", "by file").want(t, 200)
	w.form(fb+"/1001/videos", "access_token", "PT", "file_url", w.media+"/square.jpg").graphFail(t, 400, "352", "1363024")
	w.form(fb+"/1001/videos", "access_token", "PT", "file_url", w.media+"/none.mp4").graphFail(t, 400, "389", "")

	start := w.form(fb+"/1001/videos", "access_token", "PT", "upload_phase", "start", "file_size", fmt.Sprint(len(film()))).want(t, 200)
	session := []string{"access_token", "PT", "upload_session_id", start.str("upload_session_id")}
	w.form(fb+"/1001/videos", append(session, "upload_phase", "finish")...).graphFail(t, 400, "6001", "1363045")
	w.upload(fb+"/1001/videos", "video_file_chunk", film()[:2000], nil, append(session, "upload_phase", "transfer", "start_offset", "7")...).graphFail(t, 400, "6001", "1363037")
	w.upload(fb+"/1001/videos", "video_file_chunk", film()[:2000], nil, append(session, "upload_phase", "transfer", "start_offset", "0")...).want(t, 200)
	w.upload(fb+"/1001/videos", "video_file_chunk", film()[2000:], nil, append(session, "upload_phase", "transfer", "start_offset", "2000")...).want(t, 200)
	w.form(fb+"/1001/videos", append(session, "upload_phase", "finish", "description", "in chunks")...).want(t, 200)
	w.form(fb+"/1001/videos", append(session, "upload_phase", "finish", "description", "again")...).graphFail(t, 400, "100", "")
	if texts := w.texts(network.Facebook, "1001"); strings.Join(texts, "|") != "by address|by file|in chunks" {
		t.Errorf("the public sees %q", texts)
	}
	for _, want := range []string{"processing", "processing", "ready"} {
		if g := w.get(fb+"/"+id+"?access_token=PT&fields=status").want(t, 200); g.str("status.video_status") != want {
			t.Errorf("got %s, want %s", g.raw, want)
		}
	}
}

func TestFacebookReelGoesThroughItsPhases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.form(fb+"/1001/video_reels", "access_token", "PT", "upload_phase", "start").want(t, 200)
	id := start.str("video_id")
	finish := []string{"access_token", "PT", "upload_phase", "finish", "video_id", id, "video_state", "PUBLISHED", "description", "reel"}
	w.form(fb+"/1001/video_reels", finish...).graphFail(t, 400, "6000", "1363020")
	send := func(headers ...string) got {
		return w.send(w.request("POST", start.str("upload_url"), "application/octet-stream", string(film()), headers...))
	}
	if g := send("Authorization", "OAuth PT", "offset", "5", "file_size", fmt.Sprint(len(film()))).want(t, 400); g.str("debug_info.type") != "OffsetInvalidError" {
		t.Errorf("got %s", g.raw)
	}
	send("Authorization", "OAuth PT", "offset", "0", "file_size", fmt.Sprint(len(film()))).want(t, 200)
	if g := w.get(fb+"/"+id+"?access_token=PT&fields=status").want(t, 200); g.str("status.video_status") != "upload_complete" {
		t.Errorf("got %s", g.raw)
	}
	w.form(fb+"/1001/video_reels", finish...).want(t, 200)
	w.wantPosts(network.Facebook, "1001", 1)
	if g := w.get(fb+"/1001/published_posts?access_token=PT").want(t, 200); strings.Contains(g.raw, "reel") {
		t.Errorf("the feed has the reel: %s", g.raw)
	}
	if g := w.get(fb+"/1001/video_reels?access_token=PT&since=1777000000").want(t, 200); !strings.Contains(g.raw, `"id":"`+id+`"`) {
		t.Errorf("the reels are %s", g.raw)
	}
}

func TestFacebookStories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	photo := w.form(fb+"/1001/photos", "access_token", "PT", "url", w.media+"/square.jpg", "published", "false").want(t, 200).str("id")
	g := w.form(fb+"/1001/photo_stories", "access_token", "PT", "photo_id", photo).want(t, 200)
	w.form(fb+"/1001/photo_stories", "access_token", "PT", "photo_id", photo).graphFail(t, 400, "100", "1366051")
	start := w.form(fb+"/1001/video_stories", "access_token", "PT", "upload_phase", "start").want(t, 200)
	w.send(w.request("POST", start.str("upload_url"), "", "", "Authorization", "OAuth PT", "file_url", w.media+"/film.mp4")).want(t, 200)
	w.form(fb+"/1001/video_stories", "access_token", "PT", "upload_phase", "finish", "video_id", start.str("video_id")).want(t, 200)
	list := w.get(fb+"/1001/stories?access_token=PT").want(t, 200)
	if !strings.Contains(list.raw, g.str("post_id")) || !strings.Contains(list.raw, start.str("video_id")) {
		t.Errorf("the stories are %s", list.raw)
	}
}

func TestFacebookAsyncFaultsHoldAndEndAVideo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Knobs.VideoPolls = -1 })
	id := w.form(fb+"/1001/videos", "access_token", "PT", "file_url", w.media+"/film.mp4", "description", "v").want(t, 200).str("id")
	look := func() string {
		return w.get(fb+"/"+id+"?access_token=PT&fields=status").want(t, 200).str("status.video_status")
	}
	w.fault(sim.Fault{Network: network.Facebook, Kind: sim.AsyncPending, Times: 1})
	w.fault(sim.Fault{Network: network.Facebook, Kind: sim.AsyncError, After: 2, Times: 1, Body: "Bad codec"})
	if a, b := look(), look(); a != "processing" || b != "ready" {
		t.Errorf("got %s, then %s", a, b)
	}
	if c := look(); c != "error" {
		t.Errorf("got %s", c)
	}
	w.wantPosts(network.Facebook, "1001", 0)
}

func TestFacebookListsInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.form(fb+"/1001/feed", "access_token", "PT", "message", fmt.Sprint("p", i)).want(t, 200)
		w.pass(time.Minute)
	}
	var seen []string
	next, pages := w.base+fb+"/1001/published_posts?access_token=PT&fields=id,message&limit=2", 0
	for next != "" {
		g := w.get(next).want(t, 200)
		var page struct {
			Data   []struct{ Message string }
			Paging struct{ Next string }
		}
		if err := json.Unmarshal([]byte(g.raw), &page); err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Data {
			seen = append(seen, p.Message)
		}
		next, pages = page.Paging.Next, pages+1
	}
	if strings.Join(seen, ",") != "p4,p3,p2,p1,p0" || pages != 3 {
		t.Errorf("saw %v on %d pages", seen, pages)
	}
	window := fmt.Sprintf("&since=%d&until=%s", noon.Add(time.Minute).Unix(), url.QueryEscape(noon.Add(2*time.Minute).Format(time.RFC3339)))
	g := w.get(fb+"/1001/feed?access_token=PT&fields=message"+window).want(t, 200)
	if strings.Contains(g.raw, "p0") || !strings.Contains(g.raw, "p1") || !strings.Contains(g.raw, "p2") || strings.Contains(g.raw, "p3") {
		t.Errorf("the window has %s", g.raw)
	}
	for _, bad := range []string{"limit=101", "fields=nonsense", "since=yesterday", "after=x", "sort=asc", "fields=a{b"} {
		if g := w.get(fb + "/1001/feed?access_token=PT&" + bad); g.status != 400 {
			t.Errorf("%s: got %d %s", bad, g.status, g.raw)
		}
	}
}

func TestFacebookKnobsLagDuplicatesAndCallLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *sim.Options) { o.Knobs.ReadLag = 5 * time.Second; o.Knobs.Duplicates = true })
	id := w.form(fb+"/1001/feed", "access_token", "PT", "message", "same").want(t, 200).str("id")
	w.get(fb+"/"+id+"?access_token=PT").graphFail(t, 400, "100", "33")
	w.pass(5 * time.Second)
	w.get(fb+"/"+id+"?access_token=PT").want(t, 200)
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "same").graphFail(t, 400, "506", "")
	w.sim.Turn(func(k *sim.Knobs) { k.CallLimit = 2 })
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "other").graphFail(t, 400, "32", "")
	w.pass(time.Hour)
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "other").want(t, 200)
}

func TestFacebookCommentsEditsAndDeletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.form(fb+"/1001/feed", "access_token", "PT", "message", "a").want(t, 200).str("id")
	w.form(fb+"/"+id+"/comments", "access_token", "PT", "message", "first!").want(t, 200)
	w.form(fb+"/"+id+"/comments", "access_token", "PT").graphFail(t, 400, "100", "")
	calls := w.sim.Calls(network.Facebook, "")
	if c := calls[1]; c.Step != sim.FollowUp || !c.Public || c.Account != "1001" {
		t.Errorf("the comment reads %+v", c)
	}
	w.form(fb+"/"+id, "access_token", "PT", "message", "b").want(t, 200)
	posts := w.sim.Posts(network.Facebook, "")
	if len(posts) != 1 || posts[0].Text != "b" || len(posts[0].Replies) != 1 || posts[0].Replies[0].Text != "first!" {
		t.Errorf("the posts are %+v", posts)
	}
	w.send(w.request("DELETE", fb+"/"+id+"?access_token=PT", "", "")).want(t, 200)
	w.wantPosts(network.Facebook, "", 0)
	w.get(fb+"/"+id+"?access_token=PT").graphFail(t, 400, "100", "33")
	if g := w.get(strings.TrimPrefix(posts[0].Address, w.base)); g.status != http.StatusNotFound && g.err == nil {
		t.Errorf("the page of a deleted post answers %d", g.status)
	}
}

func TestFacebookSchedulesNatively(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := fmt.Sprint(noon.Add(time.Hour).Unix())
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "later", "published", "false", "scheduled_publish_time", at).want(t, 200)
	w.form(fb+"/1001/feed", "access_token", "PT", "message", "draft", "published", "false").want(t, 200)
	w.wantPosts(network.Facebook, "", 0)
	if c := w.sim.Calls(network.Facebook, "")[0]; c.Public {
		t.Errorf("the call reads %+v", c)
	}
	w.pass(time.Hour)
	w.wantPosts(network.Facebook, "", 1)
}

func TestAStrangersPostLooksLikeOursButForItsMaker(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, w *world, m way) {
		id := w.sim.AddStranger(m.name, "1001", "same words")
		posts := w.sim.Posts(m.name, "1001")
		if len(posts) != 1 || posts[0].ID != id || posts[0].Text != "same words" || !posts[0].Stranger {
			t.Errorf("the posts are %+v", posts)
		}
		if m.list != nil && !strings.Contains(m.list(w).want(t, 200).raw, id) {
			t.Error("the list lacks it")
		}
		if len(w.sim.Calls(m.name, "1001")) > 1 {
			t.Error("it left a call")
		}
	})
}
