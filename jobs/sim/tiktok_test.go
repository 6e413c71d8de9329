package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const tt = "/tiktok/v2"

var ttKey = []string{"Authorization", "Bearer O1:token"}

// ttInit announces a video of size bytes in pieces.
func (w *world) ttInit(size, piece, pieces int) got {
	w.t.Helper()
	return w.json(tt+"/post/publish/video/init/", fmt.Sprintf(`{"post_info":{"title":"Watch","privacy_level":"PUBLIC_TO_EVERYONE"},
		"source_info":{"source":"FILE_UPLOAD","video_size":%d,"chunk_size":%d,"total_chunk_count":%d}}`, size, piece, pieces), ttKey...)
}

func (w *world) ttPut(address, data string, at, size int) got {
	w.t.Helper()
	return w.send(w.request("PUT", address, "video/mp4", data, "Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, at+len(data)-1, size)))
}

func (w *world) ttStatus(id string) got {
	w.t.Helper()
	return w.json(tt+"/post/publish/status/fetch/", `{"publish_id":"`+id+`"}`, ttKey...)
}

// ttFail checks an error of TikTok's.
func (g got) ttFail(t *testing.T, status int, code string) {
	t.Helper()
	g.want(t, status)
	if g.str("error.code") != code {
		t.Errorf("got %s, want %s", g.raw, code)
	}
}

func TestATikTokVideoIsPublishedByItsLastPiece(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const piece = 5_000_000
	data := string(film()) + strings.Repeat("x", 11_000_000)
	for _, wrong := range [][2]int{{piece - 1, 2}, {piece, 3}, {len(data), 1}, {65 << 20, 1}} {
		if wrong[0] == len(data) {
			continue // one piece of 11 MB is right
		}
		w.ttInit(len(data), wrong[0], wrong[1]).ttFail(t, 400, "invalid_params")
	}
	made := w.ttInit(len(data), piece, 2).want(t, 200)
	to, id := made.str("data.upload_url"), made.str("data.publish_id")
	w.ttPut(to, data[piece:], piece, len(data)).want(t, 416) // not its turn
	w.ttPut(to, data[:100], 0, len(data)).want(t, 416)       // not a piece
	w.ttPut(to, data[:piece], 0, len(data)).want(t, 206)
	if g := w.ttStatus(id).want(t, 200); g.str("data.status") != "PROCESSING_UPLOAD" || g.str("data.uploaded_bytes") != "5000000" {
		t.Errorf("half-way: %s", g.raw)
	}
	w.wantPosts(network.TikTok, "O1", 0)
	w.ttPut(to, data[piece:], piece, len(data)).want(t, 201)
	w.wantPosts(network.TikTok, "O1", 1)
	post := w.sim.Posts(network.TikTok, "O1")[0]
	if g := w.ttStatus(id); g.str("data.status") != "PUBLISH_COMPLETE" || !strings.Contains(g.raw, "["+post.ID+"]") {
		t.Errorf("done: %s, want the post %s", g.raw, post.ID)
	}
	w.fault(sim.Fault{Network: network.TikTok, Kind: sim.AsyncPending, Times: 1})
	if g := w.ttStatus(id); g.str("data.status") != "PROCESSING_UPLOAD" {
		t.Errorf("still at it: %s", g.raw)
	}
	w.fault(sim.Fault{Network: network.TikTok, Kind: sim.AsyncError, Times: 1})
	if g := w.ttStatus(id); g.str("data.status") != "FAILED" || g.str("data.fail_reason") == "" {
		t.Errorf("turned down: %s", g.raw)
	}
	w.wantPosts(network.TikTok, "O1", 0)
	late := w.ttInit(len(film()), len(film()), 1)
	w.pass(61 * time.Minute)
	w.ttPut(late.str("data.upload_url"), string(film()), 0, len(film())).want(t, 403)
}

func TestATikTokPostThatIsPulledIsPublishedByItsAnnouncement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	photos := func(privacy string, cover int, files ...string) got {
		for i := range files {
			files[i] = `"` + w.media + "/" + files[i] + `"`
		}
		return w.json(tt+"/post/publish/content/init/", fmt.Sprintf(`{"media_type":"PHOTO","post_mode":"DIRECT_POST","post_info":{"title":"T","description":"Look","privacy_level":%q},
			"source_info":{"source":"PULL_FROM_URL","photo_images":[%s],"photo_cover_index":%d}}`, privacy, strings.Join(files, ","), cover), ttKey...)
	}
	id := photos("PUBLIC_TO_EVERYONE", 1, "square.jpg", "tall.jpg").want(t, 200).str("data.publish_id")
	if posts := w.sim.Posts(network.TikTok, "O1"); len(posts) != 1 || len(posts[0].Media) != 2 || posts[0].Text != "Look" || posts[0].Title != "T" || w.ttStatus(id).str("data.status") != "PUBLISH_COMPLETE" {
		t.Errorf("%+v", posts)
	}
	if g := w.json(tt+"/video/list/?fields=id,title,create_time", `{"max_count":20}`, ttKey...).want(t, 200); !strings.Contains(g.raw, `"videos":[]`) {
		t.Errorf("photos stand among the videos: %s", g.raw)
	}
	quiet := photos("SELF_ONLY", 0, "square.jpg").want(t, 200).str("data.publish_id")
	if g := w.ttStatus(quiet); g.str("data.status") != "PUBLISH_COMPLETE" || !strings.Contains(g.raw, `"publicaly_available_post_id":[]`) {
		t.Errorf("a post for nobody: %s", g.raw)
	}
	w.wantPosts(network.TikTok, "O1", 1)
	for name, reason := range map[string]string{"picture.png": "file_format_check_failed", "cut.jpg": "file_format_check_failed", "nowhere.jpg": "photo_pull_failed"} {
		if g := w.ttStatus(photos("PUBLIC_TO_EVERYONE", 0, name).want(t, 200).str("data.publish_id")); g.str("data.fail_reason") != reason {
			t.Errorf("%s: %s, want %s", name, g.raw, reason)
		}
	}
	photos("PUBLIC_TO_EVERYONE", 1, "square.jpg").ttFail(t, 400, "invalid_params")
	photos("FOLLOWER_OF_CREATOR", 0, "square.jpg").ttFail(t, 403, "privacy_level_option_mismatch")
	photos("", 0, "square.jpg").ttFail(t, 400, "invalid_params")
	video := w.json(tt+"/post/publish/video/init/", `{"post_info":{"title":"Watch","privacy_level":"PUBLIC_TO_EVERYONE"},"source_info":{"source":"PULL_FROM_URL","video_url":"`+w.media+`/film.mp4"}}`, ttKey...).want(t, 200)
	if w.ttStatus(video.str("data.publish_id")).str("data.status") != "PUBLISH_COMPLETE" {
		t.Errorf("got %s", video.raw)
	}
	w.wantPosts(network.TikTok, "O1", 2)
}

func TestTikTokSaysNoInItsOwnWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ttStatus("nobody's").ttFail(t, 400, "invalid_publish_id")
	w.json(tt+"/post/publish/creator_info/query/", `{}`).ttFail(t, 401, "access_token_invalid")
	w.json(tt+"/post/publish/creator_info/query/", `{}`, "Authorization", "Bearer noscope").ttFail(t, 401, "scope_not_authorized")
	w.json(tt+"/post/publish/creator_info/query/", `{"colour":"red"}`, ttKey...).ttFail(t, 400, "invalid_params")
	if g := w.json(tt+"/post/publish/creator_info/query/", `{}`, ttKey...).want(t, 200); g.str("error.code") != "ok" || !strings.Contains(g.raw, "SELF_ONLY") {
		t.Errorf("got %s", g.raw)
	}
	w.json(tt+"/post/publish/video/init/", `{"post_info":{"privacy_level":"SELF_ONLY","brand_content_toggle":true},"source_info":{"source":"FILE_UPLOAD","video_size":9,"chunk_size":9,"total_chunk_count":1}}`, ttKey...).ttFail(t, 400, "invalid_params")
	w.json(tt+"/post/publish/video/init/", `{"post_info":{"title":"`+strings.Repeat("𝒜", 1101)+`","privacy_level":"SELF_ONLY"},"source_info":{"source":"FILE_UPLOAD","video_size":9,"chunk_size":9,"total_chunk_count":1}}`, ttKey...).ttFail(t, 400, "invalid_params")
	for range 15 {
		w.ttInit(9, 9, 1).want(t, 200)
	}
	w.ttInit(9, 9, 1).ttFail(t, 403, "spam_risk_too_many_posts")
	made := w.json(tt+"/post/publish/status/fetch/", `{"publish_id":"x"}`, "Authorization", "Bearer O2:token")
	made.ttFail(t, 400, "invalid_publish_id")
}

func TestTikTokSpendsARefreshToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.TikTok, sim.Account{ID: "O1", Token: "T1", Refresh: "R1"})
	renew := func(token string) got {
		return w.form(tt+"/oauth/token/", "client_key", "app", "client_secret", "hush", "grant_type", "refresh_token", "refresh_token", token)
	}
	first := renew("R1").want(t, 200)
	if first.str("refresh_token") == "" || first.str("expires_in") != "7200" || first.str("open_id") != "O1" {
		t.Errorf("got %s", first.raw)
	}
	if g := renew("R1").want(t, 400); g.str("error") != "invalid_grant" {
		t.Errorf("got %s", g.raw)
	}
	renew(first.str("refresh_token")).want(t, 400) // the whole family is dead
}

// A publish is not known by its id everywhere at once.
func TestTikTokKnowsANewPublishAfterAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Spread = 20 * time.Second })
	made := w.ttInit(len(film()), len(film()), 1).want(t, 200)
	id := made.str("data.publish_id")
	w.ttStatus(id).ttFail(t, 400, "invalid_publish_id")
	w.ttPut(made.str("data.upload_url"), string(film()), 0, len(film())).want(t, 201)
	w.pass(19 * time.Second)
	w.ttStatus(id).ttFail(t, 400, "invalid_publish_id")
	w.pass(time.Second)
	if g := w.ttStatus(id).want(t, 200); g.str("data.status") != "PUBLISH_COMPLETE" {
		t.Errorf("got %s", g.raw)
	}
}
