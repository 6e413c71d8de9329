package sim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const yt = "/youtube/youtube/v3"

var ytKey = []string{"Authorization", "Bearer UC1:token"}

// ytOpen begins an upload of size bytes and returns its address.
func (w *world) ytOpen(size int, body string) got {
	w.t.Helper()
	return w.json("/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status", body,
		append([]string{"X-Upload-Content-Length", fmt.Sprint(size), "X-Upload-Content-Type", "video/mp4"}, ytKey...)...)
}

// ytPut sends a piece; an empty one asks how far the upload is.
func (w *world) ytPut(address, piece string, at, size int) got {
	w.t.Helper()
	span := fmt.Sprintf("bytes %d-%d/%d", at, at+len(piece)-1, size)
	if piece == "" {
		span = fmt.Sprintf("bytes */%d", size)
	}
	return w.send(w.request("PUT", address, "video/mp4", piece, append([]string{"Content-Range", span}, ytKey...)...))
}

const ytMeta = `{"snippet":{"title":"The oven","description":"At night","tags":["bread"],"categoryId":"22"},"status":{"privacyStatus":"public","selfDeclaredMadeForKids":false}}`

// ytVideo uploads a film in one go and returns its id.
func (w *world) ytVideo(meta string) string {
	w.t.Helper()
	to := w.ytOpen(len(film()), meta).want(w.t, 200).header.Get("Location")
	return w.ytPut(to, string(film()), 0, len(film())).want(w.t, 201).str("id")
}

func TestAYouTubeVideoIsThereWithItsLastByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	data := string(film()) + strings.Repeat("x", 600_000)
	opened := w.ytOpen(len(data), ytMeta).want(t, 200)
	to := opened.header.Get("Location")
	if opened.raw != "" || !strings.HasPrefix(to, w.base+"/youtube/upload/") {
		t.Fatalf("opened %q with %q", to, opened.raw)
	}
	const grain = 262144
	if g := w.ytPut(to, "", 0, len(data)).want(t, 308); g.header.Get("Range") != "" {
		t.Errorf("nothing has arrived, and the range is %s", g.header.Get("Range"))
	}
	w.ytPut(to, data[:1000], 0, len(data)).want(t, 400) // no multiple of the grain
	if g := w.ytPut(to, data[:grain], 0, len(data)).want(t, 308); g.header.Get("Range") != "bytes=0-262143" {
		t.Errorf("range %s", g.header.Get("Range"))
	}
	if g := w.ytPut(to, data[2*grain:], 2*grain, len(data)).want(t, 308); g.header.Get("Range") != "bytes=0-262143" {
		t.Errorf("behind a gap: range %s", g.header.Get("Range"))
	}
	w.wantPosts(network.YouTube, "UC1", 0)
	w.ytPut(to, data[grain:], grain, len(data)+1).want(t, 400)
	made := w.ytPut(to, data[grain:], grain, len(data)).want(t, 201)
	if again := w.ytPut(to, "", 0, len(data)).want(t, 201); again.str("id") != made.str("id") || len(made.str("id")) != 11 {
		t.Errorf("%s, then %s", made.raw, again.raw)
	}
	w.wantPosts(network.YouTube, "UC1", 1)
	calls := w.sim.Calls(network.YouTube, "UC1")
	if last := calls[len(calls)-2]; last.Step != sim.Commit || !last.Public {
		t.Errorf("the last piece is written down as %+v", last)
	}
	w.pass(8 * 24 * time.Hour)
	w.ytPut(to, "", 0, len(data)).want(t, 404)
}

// A caller that is still sending gets the refusal, and no broken connection.
func TestARefusalWaitsForTheEndOfWhatIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const size = 24 << 20 // more than what lies on the way
	to := w.ytOpen(size, ytMeta).want(t, 200).header.Get("Location")
	w.ytPut(to, strings.Repeat("x", size), 0, size+1).want(t, 400)
}

func TestYouTubeRefusesWhatItsRulesForbid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	meta := func(old, new string) string { return strings.Replace(ytMeta, old, new, 1) }
	for body, reason := range map[string]string{
		meta("The oven", ""):                                            "invalidTitle",
		meta("The oven", strings.Repeat("𝒜", 51)):                       "invalidTitle",
		meta("The oven", "a < b"):                                       "invalidTitle",
		meta("At night", strings.Repeat("é", 2501)):                     "invalidDescription",
		meta("At night", "1 > 0"):                                       "invalidDescription",
		meta(`"bread"`, `"`+strings.Repeat("b", 501)+`"`):               "invalidTags",
		meta(`"22"`, `"999"`):                                           "invalidCategoryId",
		meta("public", "friends"):                                       "invalidVideoMetadata",
		meta("At night", `x","tittle":"y`):                              "badRequest",
		meta(`"public"`, `"public","publishAt":"2026-06-01T00:00:00Z"`): "invalidPublishAt",
	} {
		if g := w.ytOpen(9, body).want(t, 400); !strings.Contains(g.raw, `"reason":"`+reason+`"`) {
			t.Errorf("%.80s: got %s, want %s", body, g.raw, reason)
		}
	}
	w.ytOpen(0, ytMeta).want(t, 400)
	w.json("/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status", ytMeta, ytKey...).want(t, 400)
	w.json("/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status", ytMeta).want(t, 401)
	w.json("/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status", ytMeta, "Authorization", "Bearer noscope").want(t, 403)
}

func TestWhatYouTubeTurnsDownItSaysWhenAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := strings.Repeat("this is a text ", 10)
	to := w.ytOpen(len(text), ytMeta).want(t, 200).header.Get("Location")
	id := w.ytPut(to, text, 0, len(text)).want(t, 201).str("id")
	w.wantPosts(network.YouTube, "UC1", 0)
	if g := w.get(yt+"/videos?part=status&id="+id, ytKey...).want(t, 200); !strings.Contains(g.raw, `"failureReason":"invalidFile"`) {
		t.Errorf("got %s", g.raw)
	}
	w.fault(sim.Fault{Network: network.YouTube, Kind: sim.AsyncPending, Times: 1})
	id = w.ytVideo(ytMeta)
	for _, want := range []string{`"uploaded"`, `"processed"`} {
		if g := w.get(yt+"/videos?part=status&id="+id, ytKey...); !strings.Contains(g.raw, want) {
			t.Errorf("got %s, want %s", g.raw, want)
		}
	}
	if g := w.get(yt+"/videos?part=status&id=nobody", ytKey...).want(t, 200); !strings.Contains(g.raw, `"items":[]`) {
		t.Errorf("got %s", g.raw)
	}
}

// What an app that was not audited uploads is private, and YouTube says so.
func TestYouTubeLocksWhatAnUnauditedAppUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Unaudited = true })
	id := w.ytVideo(ytMeta)
	w.wantPosts(network.YouTube, "", 0)
	if g := w.get(yt+"/videos?part=status&id="+id, ytKey...).want(t, 200); !strings.Contains(g.raw, `"privacyStatus":"private"`) {
		t.Errorf("it says %s", g.raw)
	}
}

func TestYouTubeListsUploadsNewestFirstAndLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for range 7 {
		ids = append(ids, w.ytVideo(ytMeta))
		w.pass(time.Minute)
	}
	hidden := w.ytVideo(strings.Replace(ytMeta, "public", "private", 1))
	w.wantPosts(network.YouTube, "UC1", 7)
	first := w.get(yt+"/playlistItems?part=snippet&playlistId=UUUC1&maxResults=5", ytKey...).want(t, 200)
	if !strings.Contains(first.raw, hidden) || strings.Contains(first.raw, ids[0]) || first.str("nextPageToken") == "" {
		t.Errorf("first page: %s", first.raw)
	}
	second := w.get(yt+"/playlistItems?part=snippet&playlistId=UUUC1&maxResults=5&pageToken="+first.str("nextPageToken"), ytKey...).want(t, 200)
	if !strings.Contains(second.raw, ids[0]) || strings.Contains(second.raw, ids[6]) || second.str("nextPageToken") != "" {
		t.Errorf("second page: %s", second.raw)
	}
	w.fault(sim.Fault{Network: network.YouTube, Kind: sim.ListLag, Delay: 90 * time.Second})
	if g := w.get(yt+"/playlistItems?part=snippet&playlistId=UUUC1", ytKey...); strings.Contains(g.raw, ids[6]) || !strings.Contains(g.raw, ids[5]) {
		t.Errorf("a list that lags: %s", g.raw)
	}
	w.get(yt+"/playlistItems?part=snippet&playlistId=UUUC2", ytKey...).want(t, 404)
	if g := w.get(yt+"/channels?part=id,contentDetails&mine=true", ytKey...).want(t, 200); !strings.Contains(g.raw, `"uploads":"UUUC1"`) {
		t.Errorf("channel: %s", g.raw)
	}
}

func TestYouTubeCommentsAndThumbnails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ytVideo(ytMeta)
	thread := func(video string) string {
		return `{"snippet":{"videoId":"` + video + `","topLevelComment":{"snippet":{"textOriginal":"First"}}}}`
	}
	w.json(yt+"/commentThreads?part=snippet", thread(id), ytKey...).want(t, 200)
	if posts := w.sim.Posts(network.YouTube, "UC1"); len(posts[0].Replies) != 1 || posts[0].Replies[0].Text != "First" {
		t.Errorf("%+v", posts)
	}
	if g := w.get(yt+"/commentThreads?part=snippet&videoId="+id+"&order=time", ytKey...).want(t, 200); !strings.Contains(g.raw, `"textOriginal":"First"`) {
		t.Errorf("%s", g.raw)
	}
	quiet := w.ytVideo(strings.Replace(ytMeta, "public", "private", 1))
	w.json(yt+"/commentThreads?part=snippet", thread(quiet), ytKey...).want(t, 403)
	thumb := func(video, kind string, data []byte) got {
		return w.send(w.request(http.MethodPost, "/youtube/upload/youtube/v3/thumbnails/set?videoId="+video, kind, string(data), ytKey...))
	}
	thumb(id, "image/png", pngOf(40, 30)).want(t, 200)
	thumb(id, "image/png", jpegOf(40, 30)).want(t, 400)
	thumb(id, "image/png", []byte("text")).want(t, 400)
	thumb("nobody", "image/png", pngOf(40, 30)).want(t, 404)
}

func TestGoogleRenewsTokensAndKeepsTheRefreshToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.AddAccount(network.YouTube, sim.Account{ID: "UC1", Name: "Bakery"})
	auth := "/youtube/o/oauth2/v2/auth?" + values("client_id", "app", "redirect_uri", "http://herald.test/back", "state", "s1", "response_type", "code",
		"scope", "https://www.googleapis.com/auth/youtube.upload https://www.googleapis.com/auth/youtube.readonly", "access_type", "offline", "prompt", "consent")
	back := w.consent(auth, "allow:UC1")
	token := func(pairs ...string) got {
		return w.form("/youtube/token", append([]string{"client_id", "app", "client_secret", "hush"}, pairs...)...)
	}
	made := token("grant_type", "authorization_code", "code", back.Query().Get("code"), "redirect_uri", "http://herald.test/back").want(t, 200)
	if made.str("refresh_token") == "" || made.str("expires_in") != "3600" {
		t.Fatalf("got %s", made.raw)
	}
	for range 2 {
		again := token("grant_type", "refresh_token", "refresh_token", made.str("refresh_token")).want(t, 200)
		if again.str("refresh_token") != "" || again.str("access_token") == made.str("access_token") {
			t.Errorf("renewed: %s", again.raw)
		}
	}
	if g := token("grant_type", "refresh_token", "refresh_token", "nobody's").want(t, 400); g.str("error") != "invalid_grant" {
		t.Errorf("got %s", g.raw)
	}
	w.form("/youtube/token", "grant_type", "refresh_token", "refresh_token", made.str("refresh_token")).want(t, 401)
	w.sim.Turn(func(k *sim.Knobs) { k.Refresh = "unavailable" })
	token("grant_type", "refresh_token", "refresh_token", made.str("refresh_token")).want(t, 503)
	w.get(yt+"/channels?part=id&mine=true", "Authorization", "Bearer "+made.str("access_token")).want(t, 200)
	w.pass(time.Hour)
	w.get(yt+"/channels?part=id&mine=true", "Authorization", "Bearer "+made.str("access_token")).want(t, 401)
}

// The range of a 308 is what is stored, which may be less than what was sent.
func TestYouTubeStoresAPieceInPart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Partial = 2 })
	const grain = 262144
	data := string(film()) + strings.Repeat("x", 4*grain)
	to := w.ytOpen(len(data), ytMeta).want(t, 200).header.Get("Location")
	if g := w.ytPut(to, data[:grain], 0, len(data)).want(t, 308); g.header.Get("Range") != "" {
		t.Errorf("nothing is stored, and the range is %s", g.header.Get("Range"))
	}
	if g := w.ytPut(to, data, 0, len(data)).want(t, 308); g.header.Get("Range") != "bytes=0-524287" {
		t.Errorf("half is stored, and the range is %s", g.header.Get("Range"))
	}
	w.wantPosts(network.YouTube, "UC1", 0)
	w.ytPut(to, data[2*grain:], 2*grain, len(data)).want(t, 201)
	w.wantPosts(network.YouTube, "UC1", 1)
	if p := w.sim.Posts(network.YouTube, "UC1"); p[0].Media[0].Bytes != int64(len(data)) {
		t.Errorf("the video has %d bytes of %d", p[0].Media[0].Bytes, len(data))
	}
}

func TestYouTubeCountsAChannelsUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Turn(func(k *sim.Knobs) { k.Uploads = 2 })
	w.ytVideo(ytMeta)
	w.ytOpen(9, ytMeta).want(t, 200) // an upload that never ends is no video
	w.sim.AddStranger(network.YouTube, "UC1", "from the studio")
	if g := w.ytOpen(9, ytMeta).want(t, 400); !strings.Contains(g.raw, `"reason":"uploadLimitExceeded"`) {
		t.Errorf("got %s", g.raw)
	}
	w.pass(24 * time.Hour)
	w.ytVideo(ytMeta)
}

// A file that the channel has is taken, worked on, and turned down then.
func TestYouTubeTurnsDownAFileThatTheChannelHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ytVideo(ytMeta)
	w.ytVideo(ytMeta)
	w.wantPosts(network.YouTube, "UC1", 2)
	w.sim.Turn(func(k *sim.Knobs) { k.Duplicates = true })
	id := w.ytVideo(strings.Replace(ytMeta, "The oven", "Another name", 1))
	says := func(want string) {
		t.Helper()
		if g := w.get(yt+"/videos?part=status&id="+id, ytKey...).want(t, 200); !strings.Contains(g.raw, want) {
			t.Errorf("it says %s, want %s", g.raw, want)
		}
	}
	says(`"uploadStatus":"uploaded"`)
	w.pass(time.Minute)
	says(`"uploadStatus":"rejected"`)
	says(`"rejectionReason":"duplicate"`)
	w.wantPosts(network.YouTube, "UC1", 2)
	other := string(film()) + "x"
	w.ytPut(w.ytOpen(len(other), ytMeta).want(t, 200).header.Get("Location"), other, 0, len(other)).want(t, 201)
	w.wantPosts(network.YouTube, "UC1", 3)
}
