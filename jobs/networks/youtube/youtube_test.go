package youtube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
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

// studio is YouTube as far as these tests need it: one upload at a time.
type studio struct {
	base     string
	size     int
	got      []byte
	take     int // how much of a piece is kept; all if zero
	gone     bool
	id       string
	channel  string
	status   map[string]any
	details  map[string]any
	list     []map[string]any
	hook     func(nettest.Call) *nettest.Answer // answers in its place
	comments []string
	covers   int
}

func newStudio() *studio {
	return &studio{id: "dQw4w9WgXcQ", channel: "UC1", status: map[string]any{"uploadStatus": "processed", "privacyStatus": "public"}}
}

func (s *studio) answer(c nettest.Call) nettest.Answer {
	if s.hook != nil {
		if a := s.hook(c); a != nil {
			return *a
		}
	}
	switch c.Name() {
	case "POST upload/youtube/v3/videos":
		_ = json.Unmarshal([]byte(c.File), &s.details)
		s.size, _ = strconv.Atoi(c.Header.Get("X-Upload-Content-Length"))
		s.got, s.gone = nil, false
		return nettest.Answer{Header: map[string]string{"Location": s.base + "/x/upload/youtube/v3/videos?upload_id=U1"}}
	case "PUT upload/youtube/v3/videos":
		return s.put(c)
	case "GET youtube/v3/videos":
		if s.status == nil {
			return reply(map[string]any{"items": []any{}})
		}
		return reply(map[string]any{"items": []any{map[string]any{"id": c.Query.Get("id"), "status": s.status}}})
	case "GET youtube/v3/channels":
		return reply(map[string]any{"items": []any{map[string]any{"id": s.channel, "snippet": map[string]any{"title": "Bakery", "customUrl": "@bakery"},
			"contentDetails": map[string]any{"relatedPlaylists": map[string]any{"uploads": "UU1"}}, "status": map[string]any{"longUploadsStatus": "eligible"}}}})
	case "GET youtube/v3/playlistItems":
		return reply(map[string]any{"items": s.list})
	case "POST upload/youtube/v3/thumbnails/set":
		s.covers++
		return reply(map[string]any{"items": []any{}})
	case "POST youtube/v3/commentThreads":
		s.comments = append(s.comments, c.File)
		return reply(map[string]any{"id": "C1"})
	case "GET youtube/v3/commentThreads":
		items := []any{}
		for i, raw := range s.comments {
			var t map[string]any
			_ = json.Unmarshal([]byte(raw), &t)
			t["id"] = fmt.Sprintf("C%d", i+1)
			items = append(items, t)
		}
		return reply(map[string]any{"items": items})
	}
	return nettest.Answer{Status: 404, Body: "Not Found"}
}

func (s *studio) put(c nettest.Call) nettest.Answer {
	if s.gone {
		return nettest.Answer{Status: 404, Body: "Not Found"}
	}
	first, body := len(s.got), []byte(c.File)
	if span := c.Header.Get("Content-Range"); !strings.HasPrefix(span, "bytes */") {
		if n, _ := fmt.Sscanf(span, "bytes %d-", &first); n != 1 || first != len(s.got) {
			return nettest.Answer{Status: 400, Body: `{"error":{"code":400,"message":"Failed to parse Content-Range header."}}`}
		}
		if s.take > 0 {
			body = body[:min(len(body), s.take)]
		}
		s.got = append(s.got, body...)
	}
	if len(s.got) == s.size {
		return nettest.Answer{Status: 201, Body: fmt.Sprintf(`{"id":%q,"snippet":{"channelId":%q}}`, s.id, s.channel)}
	}
	header := map[string]string{}
	if len(s.got) > 0 {
		header["Range"] = fmt.Sprintf("bytes=0-%d", len(s.got)-1)
	}
	return nettest.Answer{Status: 308, Header: header}
}

func reply(v any) nettest.Answer {
	b, _ := json.Marshal(v)
	return nettest.Answer{Body: string(b)}
}

func start(t testing.TB, s *studio) (*nettest.Host, *Adapter) {
	h := nettest.New(t, s.answer)
	s.base = h.URL
	return h, New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Now: func() time.Time { return noon }, ClientID: "app", ClientSecret: "hush"})
}

// content is a file of n bytes that are not all the same.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i / 1000)
	}
	return b
}

func file(kind network.MediaKind, mime string, data []byte) networks.Media {
	return networks.Media{Media: network.Media{Kind: kind, Type: mime, Bytes: int64(len(data))}, Name: "file",
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func jobOf(size int) networks.Job {
	post := networks.Post{Format: network.FormatVideo, Text: "How it rises", Link: "https://bakery.example", Media: []networks.Media{file(network.Video, "video/mp4", content(size))},
		Options: map[string]string{"title": "The oven", "privacy": "public", "tags": "bread, rye bread", "made_for_kids": "false"}}
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.YouTube, RemoteID: "UC1", Token: secret.NewToken("T"), Refresh: secret.NewToken("R")}}
}

var window = networks.Window{Since: noon.Add(-time.Minute), Until: noon.Add(time.Minute)}

func wantKind(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if f := fault.Of(err); f == nil || f.Kind != kind || f.Code != code {
		t.Errorf("got %v, want %s (%s)", err, kind, code)
	}
}

func TestAVideoGoesUpInPiecesAndTheLastOneMakesIt(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, grain, grain + 1, piece, piece + grain, 2*piece + 777} {
		s := newStudio()
		h, a := start(t, s)
		job, kept := jobOf(size), h.Handles()
		ready, err := a.Prepare(t.Context(), job, kept)
		if err != nil {
			t.Fatal(size, err)
		}
		if missing := size - len(s.got); missing < 1 || missing > grain {
			t.Errorf("%d bytes: %d are left for the commit", size, missing)
		}
		r, err := a.Commit(t.Context(), ready)
		if err != nil || r.ExternalID != s.id || !bytes.Equal(s.got, content(size)) {
			t.Errorf("%d bytes: %+v, %v, arrived %d", size, r, err, len(s.got))
		}
		log := h.Log()
		if noted, sent := strings.Index(log, "note upload"), strings.Index(log, "PUT"); noted < 0 || noted > sent {
			t.Errorf("%d bytes: the upload's address is noted after the first byte:\n%s", size, log)
		}
		if ready.Handles[address] == "" {
			t.Errorf("%d bytes: the last piece goes out before the address is written", size)
		}
		if saved, want := strings.Contains(log, "checkpoint upload"), size > 2*piece; saved != want {
			t.Errorf("%d bytes: saved %t, want %t: no more than one piece is sent twice\n%s", size, saved, want, log)
		}
	}
}

func TestWhatIsSaidOfTheVideo(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	if _, err := a.Prepare(t.Context(), jobOf(9), h.Handles()); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(s.details)
	want := `{"snippet":{"categoryId":"22","description":"How it rises\n\nhttps://bakery.example","tags":["bread","rye bread"],"title":"The oven"},"status":{"privacyStatus":"public","selfDeclaredMadeForKids":false}}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	c := h.Calls()[0]
	if c.Query.Encode() != "notifySubscribers=true&part=snippet%2Cstatus&uploadType=resumable" || c.Header.Get("X-Upload-Content-Type") != "video/mp4" || c.Header.Get("Authorization") != "Bearer T" {
		t.Errorf("asked %s with %v", c.Query.Encode(), c.Header)
	}
}

func TestAnUploadGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	s := newStudio()
	s.take = 3 * grain // YouTube keeps less than it was sent
	h, a := start(t, s)
	job, kept := jobOf(piece+5), h.Handles()
	n := 0
	s.hook = func(c nettest.Call) *nettest.Answer {
		if c.Method == "PUT" {
			if n++; n == 3 {
				s.put(c) // kept, and said to have failed
				return &nettest.Answer{Status: 503, Body: `{"error":{"code":503,"message":"m","errors":[{"reason":"backendError"}]}}`}
			}
		}
		return nil
	}
	_, err := a.Prepare(t.Context(), job, kept)
	wantKind(t, err, fault.Transient, "backendError")
	ready, err := a.Prepare(t.Context(), job, kept)
	if err != nil {
		t.Fatal(err)
	}
	if h.Count("POST upload/youtube/v3/videos") != 1 || len(s.got) != piece {
		t.Errorf("arrived %d\n%s", len(s.got), h.Log())
	}
	s.take = 2 // even of the last piece
	_, err = a.Commit(t.Context(), ready)
	wantKind(t, err, fault.Transient, "upload_incomplete")
	s.take = 0
	if ready, err = a.Prepare(t.Context(), job, kept); err != nil {
		t.Fatal(err)
	}
	if r, err := a.Commit(t.Context(), ready); err != nil || r.ExternalID != s.id || !bytes.Equal(s.got, content(piece+5)) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAnUploadThatIsGoneIsBegunAnew(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	job, kept := jobOf(2*grain), h.Handles()
	ready, err := a.Prepare(t.Context(), job, kept)
	if err != nil {
		t.Fatal(err)
	}
	s.gone = true
	_, err = a.Commit(t.Context(), ready)
	wantKind(t, err, fault.Transient, "http_404")
	if ready, err = a.Prepare(t.Context(), job, kept); err != nil {
		t.Fatal(err)
	}
	if r, err := a.Commit(t.Context(), ready); err != nil || r.ExternalID != s.id || h.Count("POST upload/youtube/v3/videos") != 2 {
		t.Errorf("%+v, %v\n%s", r, err, h.Log())
	}
}

func TestAVideoOfAnEarlierAttemptStopsTheNext(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	job, kept := jobOf(grain), h.Handles()
	ready, err := a.Prepare(t.Context(), job, kept)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Commit(t.Context(), ready); err != nil {
		t.Fatal(err)
	}
	if ready, err = a.Prepare(t.Context(), job, kept); err != nil {
		t.Fatal(err)
	}
	_, err = a.Commit(t.Context(), ready)
	wantKind(t, err, fault.Unknown, "already_published")
}

func TestOnlyAddressesOfGoogleAreSentTheToken(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	for to, ours := range map[string]bool{
		h.URL + "/elsewhere?upload_id=1": true, "https://youtube.googleapis.com/upload?id=1": true, "": false, "/upload": false, "http://www.googleapis.com/x": false,
		"https://googleapis.com.evil.example/": false, "https://evil.example/": false, "https://u:p@www.googleapis.com/": false, "https://evil.example/.googleapis.com": false,
	} {
		if got := a.ours(to); got != ours {
			t.Errorf("%q: %t", to, got)
		}
	}
	s.hook = func(c nettest.Call) *nettest.Answer {
		return &nettest.Answer{Header: map[string]string{"Location": "https://evil.example/"}}
	}
	_, err := a.Prepare(t.Context(), jobOf(9), h.Handles())
	wantKind(t, err, fault.Transient, "unparsable")
}

func TestAnAnswerAboutAnotherVideoIsNone(t *testing.T) {
	t.Parallel()
	for body, code := range map[string]string{
		`{"id":"dQw4w9WgXcQ","snippet":{"channelId":"UC2"}}`: "unparsable", `{"id":"no id!"}`: "unparsable", `{}`: "unparsable", `null`: "unparsable", `<html>`: "unparsable",
	} {
		s := newStudio()
		h, a := start(t, s)
		ready, err := a.Prepare(t.Context(), jobOf(9), h.Handles())
		if err != nil {
			t.Fatal(err)
		}
		s.hook = func(nettest.Call) *nettest.Answer { return &nettest.Answer{Body: body} }
		_, err = a.Commit(t.Context(), ready)
		wantKind(t, err, fault.Unknown, code)
	}
}

func TestALongUploadIsLeftOffBeforeItsTimeEnds(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), spare/2)
	defer cancel()
	_, err := a.Prepare(ctx, jobOf(2*piece), h.Handles())
	wantKind(t, err, fault.Waiting, "uploading")
}

func TestFindAsksTheUpload(t *testing.T) {
	t.Parallel()
	listed := func(id, title, text string, at time.Time) map[string]any {
		return map[string]any{"snippet": map[string]any{"title": title, "description": text, "publishedAt": at.Format(time.RFC3339), "resourceId": map[string]any{"videoId": id}}}
	}
	const text = "How it rises\n\nhttps://bakery.example"
	ours := listed("VID0001", " The oven ", text, noon)
	for name, c := range map[string]struct {
		set  func(s *studio, kept *nettest.Handles)
		want networks.Verdict
		id   string
	}{
		"nothing begun":  {func(s *studio, k *nettest.Handles) { delete(k.Kept, address) }, networks.Absent, ""},
		"not complete":   {func(s *studio, k *nettest.Handles) {}, networks.Absent, ""},
		"complete":       {func(s *studio, k *nettest.Handles) { s.got = content(grain) }, networks.Found, "dQw4w9WgXcQ"},
		"complete, gone": {func(s *studio, k *nettest.Handles) { s.got, s.status = content(grain), nil }, networks.CantTell, ""},
		"complete, turned down": {func(s *studio, k *nettest.Handles) {
			s.got, s.status = content(grain), map[string]any{"uploadStatus": "rejected", "rejectionReason": "duplicate"}
		}, networks.CantTell, ""},
		"forgotten, listed":     {func(s *studio, k *nettest.Handles) { s.gone, s.list = true, []map[string]any{ours} }, networks.Found, "VID0001"},
		"forgotten, not listed": {func(s *studio, k *nettest.Handles) { s.gone, s.list = true, []map[string]any{} }, networks.Absent, ""},
		"forgotten, other text": {func(s *studio, k *nettest.Handles) {
			s.gone, s.list = true, []map[string]any{listed("VID0002", "The oven", "Other", noon)}
		}, networks.Absent, ""},
		"forgotten, older": {func(s *studio, k *nettest.Handles) {
			s.gone, s.list = true, []map[string]any{listed("VID0002", "The oven", "Other", noon.Add(-time.Hour)), ours}
		}, networks.Absent, ""},
		"forgotten, same but older": {func(s *studio, k *nettest.Handles) {
			s.gone, s.list = true, []map[string]any{listed("VID0003", "The oven", text, noon.Add(-time.Hour))}
		}, networks.Absent, ""},
		"forgotten, two": {func(s *studio, k *nettest.Handles) {
			s.gone, s.list = true, []map[string]any{ours, listed("VID0002", "The oven", text, noon)}
		}, networks.CantTell, ""},
	} {
		s := newStudio()
		h, a := start(t, s)
		job, kept := jobOf(grain), h.Handles()
		if _, err := a.Prepare(t.Context(), job, kept); err != nil {
			t.Fatal(err)
		}
		c.set(s, kept)
		got, err := a.Find(t.Context(), job, kept, window)
		if err != nil || got.Verdict != c.want || got.Receipt.ExternalID != c.id || got.Say == "" {
			t.Errorf("%s: %+v, %v; want %s %s", name, got, err, c.want, c.id)
		}
	}
}

func TestALookUpThatNoListAnswersIsAFault(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	job, kept := jobOf(grain), h.Handles()
	if _, err := a.Prepare(t.Context(), job, kept); err != nil {
		t.Fatal(err)
	}
	s.gone = true // the list says nothing of items
	_, err := a.Find(t.Context(), job, kept, window)
	wantKind(t, err, fault.Transient, "unparsable")
	taken := networks.Window{Since: window.Since, Until: window.Until, Taken: []string{"VID0001"}}
	s.list = []map[string]any{{"snippet": map[string]any{"title": "The oven", "description": "How it rises\n\nhttps://bakery.example", "publishedAt": noon.Format(time.RFC3339), "resourceId": map[string]any{"videoId": "VID0001"}}}}
	if got, err := a.Find(t.Context(), job, kept, taken); err != nil || got.Verdict != networks.Absent {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatFollowsTheVideo(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	job, kept := jobOf(grain), h.Handles()
	job.Post.FirstComment = "First"
	job.Post.Media = append(job.Post.Media, file(network.Image, "image/png", []byte("pixels")))
	for range 2 {
		r, err := a.Follow(t.Context(), job, networks.Receipt{ExternalID: s.id}, kept)
		if err != nil || r.Permalink != "https://www.youtube.com/watch?v=dQw4w9WgXcQ" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if len(s.comments) != 1 || s.covers != 1 || !strings.Contains(s.comments[0], `"textOriginal":"First"`) {
		t.Errorf("comments %v, %d thumbnails", s.comments, s.covers)
	}
	// A comment that may be there is looked for before it is written again.
	kept.Kept[comment] = ""
	if _, err := a.Follow(t.Context(), job, networks.Receipt{ExternalID: s.id}, kept); err != nil || len(s.comments) != 1 || kept.Kept[comment] != "C1" {
		t.Errorf("comments %v, %v, %v", s.comments, kept.Kept, err)
	}
}

func TestWhatYouTubeMakesOfTheVideoIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status map[string]any
		kind   fault.Kind
		code   string
		say    string
	}{
		"processing": {map[string]any{"uploadStatus": "uploaded", "privacyStatus": "public"}, fault.Transient, "processing", "still working"},
		"locked":     {map[string]any{"uploadStatus": "processed", "privacyStatus": "private"}, fault.Permission, "privacy_locked", "private instead of public"},
		"rejected":   {map[string]any{"uploadStatus": "rejected", "rejectionReason": "copyright", "privacyStatus": "public"}, fault.Validation, "video_rejected", "copyright"},
		"failed":     {map[string]any{"uploadStatus": "failed", "failureReason": "brandNew"}, fault.Validation, "video_failed", "no reason"},
		"gone":       {nil, fault.Validation, "video_gone", "removed"},
	} {
		s := newStudio()
		s.status = c.status
		h, a := start(t, s)
		r, err := a.Follow(t.Context(), jobOf(9), networks.Receipt{ExternalID: s.id}, h.Handles())
		wantKind(t, err, c.kind, c.code)
		if r.Permalink == "" || !strings.Contains(fault.Of(err).Say, c.say) {
			t.Errorf("%s: %q says %q", name, r.Permalink, fault.Of(err).Say)
		}
	}
}

func TestCheckSaysWhichChannelItIs(t *testing.T) {
	t.Parallel()
	s := newStudio()
	_, a := start(t, s)
	p, err := a.Check(t.Context(), jobOf(9).Account)
	if err != nil || p.RemoteID != "UC1" || p.Handle != "@bakery" || p.Name != "Bakery" || p.Settings["video_seconds"] != "900" {
		t.Errorf("%+v, %v", p, err)
	}
	s.hook = func(nettest.Call) *nettest.Answer { a := reply(map[string]any{"items": []any{}}); return &a }
	_, err = a.Check(t.Context(), jobOf(9).Account)
	wantKind(t, err, fault.Permission, "no_channel")
}

func TestARefreshKeepsTheRefreshToken(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"access_token":"A2","expires_in":3599}`}
	})
	got, err := New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Now: func() time.Time { return noon }}).Refresh(t.Context(), jobOf(9).Account)
	if err != nil || got.Access.Reveal() != "A2" || !got.Refresh.Empty() || h.Last().Name() != "POST token" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAJobThatLacksSomethingIsRefused(t *testing.T) {
	t.Parallel()
	s := newStudio()
	h, a := start(t, s)
	for code, change := range map[string]func(*networks.Job){
		"media_missing":   func(j *networks.Job) { j.Post.Media = nil },
		"media_count":     func(j *networks.Job) { j.Post.Media = append(j.Post.Media, j.Post.Media[0]) },
		"options_missing": func(j *networks.Job) { delete(j.Post.Options, "privacy") },
		"no_token":        func(j *networks.Job) { j.Account.Token = secret.Token{} },
	} {
		job := jobOf(9)
		change(&job)
		_, err := a.Prepare(t.Context(), job, h.Handles())
		if f := fault.Of(err); f == nil || f.Code != code || len(h.Calls()) > 0 {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestEachHostHasItsSetting(t *testing.T) {
	t.Parallel()
	a := New(networks.Env{})
	if a.door.Base != "https://www.googleapis.com/youtube/v3" || a.upload.Base != "https://www.googleapis.com/upload/youtube/v3" || a.signIn.URL != "https://oauth2.googleapis.com/token" {
		t.Errorf("%s, %s, %s", a.door.Base, a.upload.Base, a.signIn.URL)
	}
	a = New(networks.Env{Base: "http://a/x", Upload: "http://b", Auth: "http://c", Version: "v4"})
	if a.door.Base != "http://a/x/youtube/v4" || a.upload.Base != "http://b/upload/youtube/v4" || a.signIn.URL != "http://c/token" {
		t.Errorf("%s, %s, %s", a.door.Base, a.upload.Base, a.signIn.URL)
	}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, New(networks.Env{}).door.Table, nettest.File(t, "errors.txt"))
}

func FuzzSort(f *testing.F) {
	nettest.FuzzTable(f, New(networks.Env{}).door.Table, `{"error":{"code":403,"errors":[{"reason":"quotaExceeded"}]}}`)
}

func FuzzTheStateOfAnUploadIsNeverMoreThanTheFile(f *testing.F) {
	f.Add(308, "bytes=0-524287", "", int64(600_000))
	f.Add(201, "", `{"id":"dQw4w9WgXcQ","snippet":{"channelId":"UC1","publishedAt":"2026-05-01T10:00:00Z"}}`, int64(9))
	f.Fuzz(func(t *testing.T, status int, span, body string, size int64) {
		if size <= 0 {
			return
		}
		s := session{Adapter: New(networks.Env{}), job: jobOf(9), size: size}
		answer := nettest.Said(status, "", body)
		answer.Header.Set("Range", span)
		got, err := s.read("find", answer)
		if got.arrived < 0 || got.arrived > size || got.made != nil && (err != nil || !idLike(got.made.ID)) || err == nil && got.made == nil && status != 308 {
			t.Errorf("%d %q %q: %+v, %v", status, span, body, got, err)
		}
	})
}
