package tiktok

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

var noon = nettest.Noon

// app is TikTok as far as these tests need it: one publish at a time.
type app struct {
	base   string
	state  map[string]any // what status/fetch says beside what follows from got
	got    []byte
	refuse int // status of the next PUT
	init   string
	listed []any
	hook   func(nettest.Call) *nettest.Answer
}

func ok(data any) nettest.Answer {
	b, _ := json.Marshal(map[string]any{"data": data, "error": map[string]string{"code": "ok", "message": "", "log_id": "L"}})
	return nettest.Answer{Body: string(b)}
}

func no(status int, code string) nettest.Answer {
	return nettest.Answer{Status: status, Body: `{"data":{},"error":{"code":"` + code + `","message":"m","log_id":"L"}}`}
}

func (s *app) answer(c nettest.Call) nettest.Answer {
	if s.hook != nil {
		if a := s.hook(c); a != nil {
			return *a
		}
	}
	switch c.Name() {
	case "POST v2/post/publish/creator_info/query/":
		return ok(map[string]any{"creator_username": "bakery", "creator_nickname": "Bakery", "privacy_level_options": []string{"PUBLIC_TO_EVERYONE", "SELF_ONLY"}, "max_video_post_duration_sec": 60})
	case "POST v2/post/publish/video/init/", "POST v2/post/publish/content/init/":
		s.init, s.got = c.File, nil
		return ok(map[string]string{"publish_id": "v_pub~1", "upload_url": s.base + "/x/video/?upload_token=t"})
	case "PUT video/":
		return s.put(c)
	case "POST v2/post/publish/status/fetch/":
		state := map[string]any{"status": "PROCESSING_UPLOAD", "uploaded_bytes": len(s.got)}
		for k, v := range s.state {
			state[k] = v
		}
		return ok(state)
	case "POST v2/video/list/":
		return ok(map[string]any{"videos": s.listed, "cursor": 20, "has_more": false})
	case "POST v2/video/query/":
		return ok(map[string]any{"videos": []any{map[string]any{"id": "7001", "share_url": "https://www.tiktok.com/@bakery/video/7001"}}})
	case "GET v2/user/info/":
		return ok(map[string]any{"user": map[string]string{"open_id": "O1", "display_name": "Bakery"}})
	}
	return no(404, "unsupported_path")
}

func (s *app) put(c nettest.Call) nettest.Answer {
	if status := s.refuse; status != 0 {
		s.refuse = 0
		return nettest.Answer{Status: status}
	}
	var first, last, total int
	if n, _ := fmt.Sscanf(c.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total); n != 3 || first != len(s.got) || last-first+1 != len(c.File) {
		return nettest.Answer{Status: 416}
	}
	s.got = append(s.got, c.File...)
	if len(s.got) < total {
		return nettest.Answer{Status: 206}
	}
	return nettest.Answer{Status: 201}
}

func start(t testing.TB, s *app) (*nettest.Host, *Adapter) {
	h := nettest.New(t, s.answer)
	s.base = h.URL
	return h, New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, ClientID: "app", ClientSecret: "hush", Now: func() time.Time { return noon }})
}

func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i / 4096)
	}
	return b
}

func film(n int) networks.Post {
	data := content(n)
	return networks.Post{Format: network.FormatVideo, Text: "Watch", Options: map[string]string{"privacy": "PUBLIC_TO_EVERYONE", "disclose": "own", "duet": "false", "thumb_offset": "1500"},
		Media: []networks.Media{{Media: network.Media{Kind: network.Video, Type: "video/mp4", Bytes: int64(n), Duration: 20 * time.Second}, URL: "https://herald.example/m/1",
			Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}}}
}

func photosOf(n int) networks.Post {
	p := networks.Post{Format: network.FormatImages, Text: "Look", Options: map[string]string{"privacy": "PUBLIC_TO_EVERYONE", "title": "Loaves", "cover_picture": "2"}}
	for i := range n {
		p.Media = append(p.Media, networks.Media{Media: network.Media{Kind: network.Image, Type: "image/jpeg", Bytes: 9}, URL: fmt.Sprintf("https://herald.example/m/%d", i)})
	}
	return p
}

func jobOf(p networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: p, Account: networks.Account{Network: network.TikTok, Handle: "@bakery", Token: secret.NewToken("T"), Refresh: secret.NewToken("R")}}
}

var window = networks.Window{Since: noon.Add(-time.Minute), Until: noon.Add(time.Minute)}

func wantKind(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if f := fault.Of(err); f == nil || f.Kind != kind || f.Code != code {
		t.Errorf("got %v, want %s (%s)", err, kind, code)
	}
}

func TestAVideoGoesUpInPiecesAndTheLastOnePublishes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, piece - 1, piece, 2*piece - 1, 2 * piece, 3*piece + 5} {
		s := &app{}
		h, a := start(t, s)
		kept := h.Handles()
		ready, err := a.Prepare(t.Context(), jobOf(film(size)), kept)
		if err != nil {
			t.Fatal(size, err)
		}
		if left := size - len(s.got); left < 1 || left >= 2*piece || kept.Kept[publish] != "v_pub~1" {
			t.Errorf("%d bytes: %d are left for the commit, handles %v", size, left, kept.Kept)
		}
		_, err = a.Commit(t.Context(), ready)
		wantKind(t, err, fault.Unknown, "accepted")
		if !bytes.Equal(s.got, content(size)) {
			t.Errorf("%d bytes: %d arrived", size, len(s.got))
		}
		var said videoInit
		_ = json.Unmarshal([]byte(s.init), &said)
		if said.Source.Pieces != max(int64(size)/said.Source.Piece, 1) || said.Source.Piece > int64(max(size, piece)) {
			t.Errorf("%d bytes: announced %+v", size, said.Source)
		}
	}
}

func TestWhatIsSaidOfAPost(t *testing.T) {
	t.Parallel()
	s := &app{}
	h, a := start(t, s)
	if _, err := a.Prepare(t.Context(), jobOf(film(9)), h.Handles()); err != nil {
		t.Fatal(err)
	}
	if want := `{"post_info":{"title":"Watch","privacy_level":"PUBLIC_TO_EVERYONE","disable_comment":false,"disable_duet":true,"disable_stitch":false,"brand_content_toggle":false,"brand_organic_toggle":true,"is_aigc":false,"video_cover_timestamp_ms":1500},"source_info":{"source":"FILE_UPLOAD","video_size":9,"chunk_size":9,"total_chunk_count":1}}`; s.init != want {
		t.Errorf("got %s\nwant %s", s.init, want)
	}
	job := jobOf(photosOf(2))
	ready, err := a.Prepare(t.Context(), job, h.Handles())
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Commit(t.Context(), ready)
	wantKind(t, err, fault.Unknown, "accepted")
	if want := `{"media_type":"PHOTO","post_mode":"DIRECT_POST","post_info":{"title":"Loaves","description":"Look","privacy_level":"PUBLIC_TO_EVERYONE","disable_comment":false,"brand_content_toggle":false,"brand_organic_toggle":false,"auto_add_music":false},"source_info":{"source":"PULL_FROM_URL","photo_images":["https://herald.example/m/0","https://herald.example/m/1"],"photo_cover_index":1}}`; s.init != want {
		t.Errorf("got %s\nwant %s", s.init, want)
	}
	job = jobOf(film(9))
	job.Account.Settings = map[string]string{"video_source": "pull"}
	kept := h.Handles()
	if ready, err = a.Prepare(t.Context(), job, kept); err != nil {
		t.Fatal(err)
	}
	_, err = a.Commit(t.Context(), ready)
	wantKind(t, err, fault.Unknown, "accepted")
	if !strings.Contains(s.init, `"source_info":{"source":"PULL_FROM_URL","video_url":"https://herald.example/m/1"}`) || kept.Kept[publish] == "" {
		t.Errorf("got %s, handles %v", s.init, kept.Kept)
	}
}

func TestAnUploadGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	s := &app{}
	h, a := start(t, s)
	job, kept := jobOf(film(4*piece)), h.Handles()
	puts := 0
	s.hook = func(c nettest.Call) *nettest.Answer {
		if c.Method == "PUT" {
			if puts++; puts == 2 {
				return &nettest.Answer{Status: 503}
			}
		}
		return nil
	}
	_, err := a.Prepare(t.Context(), job, kept)
	wantKind(t, err, fault.Transient, "http_503")
	ready, err := a.Prepare(t.Context(), job, kept)
	if err != nil {
		t.Fatal(err)
	}
	if n := h.Count("POST v2/post/publish/video/init/"); n != 1 || len(s.got) != 3*piece {
		t.Errorf("announced %d times, %d arrived", n, len(s.got))
	}
	for status, code := range map[int]string{206: "upload_incomplete", 403: "upload_403", 416: "upload_416"} {
		s.refuse = status
		_, err = a.Commit(t.Context(), ready)
		wantKind(t, err, fault.Transient, code)
	}
	for status, code := range map[int]string{500: "http_500", 400: "http_400", 200: "unparsable"} {
		s.refuse = status
		_, err = a.Commit(t.Context(), ready)
		wantKind(t, err, fault.Unknown, code)
	}
	_, err = a.Commit(t.Context(), ready)
	wantKind(t, err, fault.Unknown, "accepted")
}

func TestWhatBecameOfAnEarlierPublishIsToldByTheNextPrepare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state   map[string]any
		attempt int
		kind    fault.Kind // of Prepare; empty: it goes on
		code    string
		inits   int
		live    bool
	}{
		"complete":       {map[string]any{"status": "PUBLISH_COMPLETE"}, 2, "", "", 0, true},
		"working":        {map[string]any{"status": "PROCESSING_DOWNLOAD"}, 2, "", "", 0, true},
		"bytes missing":  {nil, 2, "", "", 0, false},
		"format":         {map[string]any{"status": "FAILED", "fail_reason": "file_format_check_failed"}, 2, fault.Validation, "file_format_check_failed", 0, false},
		"auth":           {map[string]any{"status": "FAILED", "fail_reason": "auth_removed"}, 2, fault.Auth, "auth_removed", 0, false},
		"spam":           {map[string]any{"status": "FAILED", "fail_reason": "spam_risk_text"}, 2, fault.Permission, "spam_risk_text", 0, false},
		"too many":       {map[string]any{"status": "FAILED", "fail_reason": "spam_risk_too_many_posts"}, 2, fault.RateLimited, "spam_risk_too_many_posts", 0, false},
		"internal":       {map[string]any{"status": "FAILED", "fail_reason": "internal"}, 2, fault.Transient, "internal", 0, false},
		"not fetched":    {map[string]any{"status": "FAILED", "fail_reason": "video_pull_failed"}, 2, fault.Transient, "video_pull_failed", 0, false},
		"never fetched":  {map[string]any{"status": "FAILED", "fail_reason": "video_pull_failed"}, 3, fault.Validation, "video_pull_failed", 0, false},
		"unknown reason": {map[string]any{"status": "FAILED", "fail_reason": "brand_new"}, 2, fault.Validation, "failed", 0, false},
	} {
		s := &app{state: c.state}
		h, a := start(t, s)
		job, kept := jobOf(film(9)), h.Handles()
		kept.Kept[publish], kept.Kept[begun], kept.Kept[target] = "v_pub~1", noon.Format(time.RFC3339), h.URL+"/x/video/"
		job.Attempt = c.attempt
		ready, err := a.Prepare(t.Context(), job, kept)
		if c.kind != "" {
			wantKind(t, err, c.kind, c.code)
			if kept.Kept[publish] != "" {
				t.Errorf("%s: the failed publish is kept", name)
			}
			continue
		}
		if err != nil || (ready.Handles[live] != "") != c.live || h.Count("POST v2/post/publish/video/init/") != c.inits {
			t.Errorf("%s: %v, %v", name, ready.Handles, err)
		}
		if c.live {
			_, err = a.Commit(t.Context(), ready)
			wantKind(t, err, fault.Unknown, "already_published")
		}
	}
}

func TestAnUploadThatEndedOrIsUnknownIsBegunAnew(t *testing.T) {
	t.Parallel()
	s := &app{}
	h, a := start(t, s)
	kept := h.Handles()
	kept.Kept[publish], kept.Kept[begun], kept.Kept[target] = "v_pub~0", noon.Add(-lasts-time.Second).Format(time.RFC3339), h.URL+"/x/video/"
	if _, err := a.Prepare(t.Context(), jobOf(film(9)), kept); err != nil || kept.Kept[publish] != "v_pub~1" {
		t.Errorf("%v, %v", kept.Kept, err)
	}
	n := 0
	s.hook = func(c nettest.Call) *nettest.Answer {
		if strings.HasSuffix(c.Path, "/fetch/") {
			n++
			a := no(400, "invalid_publish_id")
			return &a
		}
		return nil
	}
	for _, age := range []time.Duration{0, spreads - time.Second} { // not known yet
		kept.Kept[begun] = noon.Add(-age).Format(time.RFC3339)
		_, err := a.Prepare(t.Context(), jobOf(film(9)), kept)
		wantKind(t, err, fault.Waiting, "not_visible")
	}
	kept.Kept[begun], n = noon.Add(-spreads).Format(time.RFC3339), 0
	if _, err := a.Prepare(t.Context(), jobOf(film(9)), kept); err != nil || n != 1 || h.Count("POST v2/post/publish/video/init/") != 2 {
		t.Errorf("%v after %d questions", err, n)
	}
}

func TestWhatTheCreatorDoesNotAllowIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	s := &app{}
	h, a := start(t, s)
	post := film(9)
	post.Options["privacy"] = "FOLLOWER_OF_CREATOR"
	_, err := a.Prepare(t.Context(), jobOf(post), h.Handles())
	wantKind(t, err, fault.Validation, "privacy_level")
	post = film(9)
	post.Media[0].Duration = 61 * time.Second
	_, err = a.Prepare(t.Context(), jobOf(post), h.Handles())
	wantKind(t, err, fault.Validation, "video_too_long")
	if h.Count("POST v2/post/publish/video/init/") != 0 {
		t.Error("announced all the same")
	}
}

func TestFindAsksByThePublish(t *testing.T) {
	t.Parallel()
	mine := map[string]any{"id": "7001", "title": "Look", "create_time": noon.Unix(), "share_url": "https://www.tiktok.com/@bakery/photo/7001"}
	old := map[string]any{"id": "7000", "title": "Look", "create_time": noon.Add(-time.Hour).Unix()}
	for name, c := range map[string]struct {
		post    networks.Post
		publish string
		state   map[string]any
		got     int
		listed  []any
		want    string
		id      string
	}{
		"nothing begun":        {post: film(9), want: "absent"},
		"half there":           {post: film(9), publish: "v", got: 5, want: "absent"},
		"all there":            {post: film(9), publish: "v", got: 9, want: "transient"},
		"fetching":             {post: photosOf(2), publish: "v", state: map[string]any{"status": "PROCESSING_DOWNLOAD"}, want: "transient"},
		"complete":             {post: film(9), publish: "v", state: map[string]any{"status": "PUBLISH_COMPLETE", "publicaly_available_post_id": []any{json.Number("7300000000000000001")}}, want: "found", id: "7300000000000000001"},
		"complete, not public": {post: film(9), publish: "v", state: map[string]any{"status": "PUBLISH_COMPLETE", "publicaly_available_post_id": []any{}}, want: "found", id: "v"},
		"failed":               {post: film(9), publish: "v", state: map[string]any{"status": "FAILED", "fail_reason": "internal"}, want: "absent"},
		"lost, listed":         {post: photosOf(2), listed: []any{mine, old}, want: "found", id: "7001"},
		"lost, not listed":     {post: photosOf(2), listed: []any{old, mine}, want: "cant_tell"},
		"lost, listed twice":   {post: photosOf(2), listed: []any{mine, map[string]any{"id": "7002", "video_description": "Look", "create_time": noon.Unix()}}, want: "cant_tell"},
		"lost, no list":        {post: photosOf(2), listed: nil, want: "transient"},
	} {
		s := &app{state: c.state, got: content(c.got), listed: c.listed}
		h, a := start(t, s)
		kept := h.Handles()
		kept.Kept[publish] = c.publish
		got, err := a.Find(t.Context(), jobOf(c.post), kept, window)
		verdict := string(got.Verdict)
		if err != nil {
			verdict = string(fault.Of(err).Kind)
		}
		if verdict != c.want || got.Receipt.ExternalID != c.id {
			t.Errorf("%s: %+v, %v; want %s %s", name, got, err, c.want, c.id)
		}
	}
}

func TestFollowLearnsIDAndAddressOncePublic(t *testing.T) {
	t.Parallel()
	s := &app{state: map[string]any{"status": "PUBLISH_COMPLETE"}}
	h, a := start(t, s)
	kept := h.Handles()
	kept.Kept[publish] = "v_pub~1"
	_, err := a.Follow(t.Context(), jobOf(film(9)), networks.Receipt{ExternalID: "v_pub~1"}, kept)
	wantKind(t, err, fault.Transient, "no_address_yet")
	s.state["publicaly_available_post_id"] = []any{json.Number("7001")}
	r, err := a.Follow(t.Context(), jobOf(film(9)), networks.Receipt{ExternalID: "v_pub~1"}, kept)
	if err != nil || r.ExternalID != "7001" || r.Permalink != "https://www.tiktok.com/@bakery/video/7001" {
		t.Errorf("%+v, %v", r, err)
	}
	s.hook = func(c nettest.Call) *nettest.Answer {
		if strings.HasSuffix(c.Path, "/video/query/") {
			a := no(401, "scope_not_authorized")
			return &a
		}
		return nil
	}
	if r, err = a.Follow(t.Context(), jobOf(photosOf(2)), networks.Receipt{ExternalID: "v_pub~1"}, kept); err != nil || r.Permalink != "https://www.tiktok.com/@bakery/photo/7001" {
		t.Errorf("without the right to ask: %+v, %v", r, err)
	}
	post, calls := film(9), len(h.Calls())
	post.Options["privacy"] = "SELF_ONLY"
	if r, err = a.Follow(t.Context(), jobOf(post), networks.Receipt{ExternalID: "v_pub~1"}, kept); err != nil || r.Permalink != "" || len(h.Calls()) != calls {
		t.Errorf("a post that nobody sees: %+v, %v", r, err)
	}
}

func TestCheckLearnsWhatTheCreatorMay(t *testing.T) {
	t.Parallel()
	_, a := start(t, &app{})
	p, err := a.Check(t.Context(), jobOf(film(9)).Account)
	if err != nil || p.RemoteID != "O1" || p.Handle != "bakery" || p.Settings["privacy_options"] != "PUBLIC_TO_EVERYONE,SELF_ONLY" || p.Settings["video_seconds"] != "60" || p.Settings["username"] != "bakery" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestARefreshIsAskedForByTheClientKey(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"access_token":"A2","expires_in":7200,"refresh_token":"R2","refresh_expires_in":15552000,"scope":"video.publish,user.info.basic","open_id":"O1"}`}
	})
	got, err := New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, ClientID: "app", ClientSecret: "hush", Now: func() time.Time { return noon }}).Refresh(t.Context(), jobOf(film(9)).Account)
	if err != nil || got.Refresh.Reveal() != "R2" || len(got.Scopes) != 2 || !got.Expires.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("%+v, %v", got, err)
	}
	if c := h.Last(); c.Name() != "POST v2/oauth/token/" || c.Form.Get("client_key") != "app" || c.Form.Has("client_id") {
		t.Errorf("%s %v", c.Name(), c.Form)
	}
}

func TestAJobThatLacksSomethingIsRefused(t *testing.T) {
	t.Parallel()
	h, a := start(t, &app{})
	for code, change := range map[string]func(*networks.Job){
		"media_missing":   func(j *networks.Job) { j.Post.Media = nil },
		"options_missing": func(j *networks.Job) { j.Post.Options = nil },
		"no_token":        func(j *networks.Job) { j.Account.Token = secret.Token{} },
		"media_address":   func(j *networks.Job) { j.Post.Media[0].URL = "" },
		"format":          func(j *networks.Job) { j.Post.Format = network.FormatStory },
	} {
		job := jobOf(photosOf(2))
		change(&job)
		_, err := a.Prepare(t.Context(), job, h.Handles())
		if f := fault.Of(err); f == nil || f.Code != code || len(h.Calls()) > 0 {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, New(networks.Env{}).door.Table, nettest.File(t, "errors.txt"))
}

func FuzzSort(f *testing.F) {
	nettest.FuzzTable(f, New(networks.Env{}).door.Table, `{"error":{"code":"ok"}}`, `{"error":{"code":10001}}`, `{"error":{"code":"internal_error","log_id":"L"}}`)
}

func FuzzAPublishIsNeverFoundByAnAnswerThatDoesNotSaySo(f *testing.F) {
	f.Add(`{"data":{"status":"PUBLISH_COMPLETE","publicaly_available_post_id":[7300000000000000001]},"error":{"code":"ok"}}`)
	f.Add(`{"data":{"status":"PROCESSING_UPLOAD","uploaded_bytes":-1},"error":{"code":"ok"}}`)
	body := ""
	h := nettest.New(f, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: body} })
	a := New(networks.Env{Base: h.URL + "/x", HTTP: h.Client})
	f.Fuzz(func(t *testing.T, said string) {
		body = said
		kept := h.Handles()
		kept.Kept[publish] = "v"
		got, err := a.Find(t.Context(), jobOf(film(9)), kept, window)
		if got.Verdict == networks.Found && (err != nil || got.Receipt.ExternalID == "" || !strings.Contains(said, "PUBLISH_COMPLETE") && !strings.Contains(said, `\u`)) {
			t.Errorf("%q: %+v, %v", said, got, err)
		}
	})
}
