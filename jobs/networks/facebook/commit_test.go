package facebook

import (
	"net/url"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

// publish prepares and commits on a healthy page.
func publish(t *testing.T, post networks.Post) (networks.Receipt, *nettest.Host) {
	t.Helper()
	h := host(t, newPage())
	a := adapter(h)
	ready, err := a.Prepare(t.Context(), jobOf(post), h.Handles())
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Commit(t.Context(), ready)
	if err != nil {
		t.Fatal(err)
	}
	return r, h
}

func TestEachShapeIsPublishedByItsOwnCall(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ path, form, log string }{
		"text":    {"POST /v25.0/1001/feed", "message=Hi&published=true", "POST 1001/feed"},
		"link":    {"POST /v25.0/1001/feed", "link=https://bakery.example/bread&message=Read this&published=true", "POST 1001/feed"},
		"no card": {"POST /v25.0/1001/feed", "message=Read this\n\nhttps://bakery.example/bread&published=true", "POST 1001/feed"},
		"image":   {"POST /v25.0/1001/photos", "alt_text_custom=Loaf 1&caption=Look&published=true&url=https://herald.example/m/1", "POST 1001/photos"},
		"images": {"POST /v25.0/1001/feed", `attached_media[0]={"media_fbid":"7001"}&attached_media[1]={"media_fbid":"7002"}&attached_media[2]={"media_fbid":"7003"}&message=Look&published=true`,
			"POST 1001/photos note photo.1 POST 1001/photos note photo.2 POST 1001/photos note photo.3 POST 1001/feed"},
		"video": {"POST /v25.0/1001/videos", "description=Watch&file_url=https://herald.example/m/film&published=true", "POST 1001/videos"},
		"video in bytes": {"POST /v25.0/1001/videos", "description=Watch&upload_phase=finish&upload_session_id=s7001",
			"POST 1001/videos note video note video.span note video.session POST 1001/videos checkpoint video.span POST 1001/videos checkpoint video.span POST 1001/videos checkpoint video.span POST 1001/videos"},
		"reel": {"POST /v25.0/1001/video_reels", "description=Watch&upload_phase=finish&video_id=7001&video_state=PUBLISHED",
			"POST 1001/video_reels note video.begun note video POST v25.0/7001 note video.sent GET 7001 POST 1001/video_reels"},
		"photo story": {"POST /v25.0/1001/photo_stories", "photo_id=7001", "POST 1001/photos note photo.1 POST 1001/photo_stories"},
		"video story": {"POST /v25.0/1001/video_stories", "upload_phase=finish&video_id=7001",
			"POST 1001/video_stories note video.begun note video POST v25.0/7001 note video.sent GET 7001 POST 1001/video_stories"},
	} {
		r, h := publish(t, posts()[name])
		c := h.Last()
		form, _ := url.QueryUnescape(c.Form.Encode())
		if c.Method+" "+c.Path != want.path || form != want.form || r.ExternalID == "" {
			t.Errorf("%s: got %s %s with\n%s\nfor %+v", name, c.Method, c.Path, form, r)
		}
		if log := strings.ReplaceAll(h.Log(), "\n", " "); log != want.log {
			t.Errorf("%s: went\n%s, want\n%s", name, log, want.log)
		}
	}
}

func TestThePermalinkComesWithAFeedPost(t *testing.T) {
	t.Parallel()
	r, h := publish(t, posts()["text"])
	if r.ExternalID != "1001_7001" || r.Permalink != "https://www.facebook.com/1001_7001" || h.Last().Query.Get("fields") != "id,permalink_url" {
		t.Errorf("got %+v by %v", r, h.Last().Query)
	}
}

func TestBytesAreSentWhereThereIsNoAddress(t *testing.T) {
	t.Parallel()
	m := film()
	m.Kind, m.Type = network.Image, "image/jpeg"
	_, h := publish(t, networks.Post{Format: network.FormatImage, Text: "Look", Media: []networks.Media{m}})
	if c := h.Last(); c.File != "0123456789" || c.Form.Get("caption") != "Look" {
		t.Errorf("got %q with %v", c.File, c.Form)
	}
	_, h = publish(t, posts()["video in bytes"])
	var sent string
	for _, c := range h.Calls() {
		sent += c.File
	}
	if sent != "0123456789" {
		t.Errorf("the pieces make %q", sent)
	}
	_, h = publish(t, posts()["reel in bytes"])
	for _, c := range h.Calls() {
		if strings.HasPrefix(c.Path, "/video-upload/v25.0/") &&
			(c.File != "0123456789" || c.Header.Get("offset") != "0" || c.Header.Get("file_size") != "10" || c.Header.Get("Authorization") != "OAuth PT") {
			t.Errorf("handed over %q with %v", c.File, c.Header)
		}
	}
}

func TestTheTokenIsInNoAddressAndNoForm(t *testing.T) {
	t.Parallel()
	for _, post := range posts() {
		_, h := publish(t, post)
		for _, c := range h.Calls() {
			if c.Header.Get("Authorization") == "" || strings.Contains(c.Path+c.Query.Encode()+c.Form.Encode(), "PT") {
				t.Errorf("%s %s leaks or lacks the token", c.Method, c.Path)
			}
		}
	}
}

func TestAnAnswerThatProvesNoPostIsUnknown(t *testing.T) {
	t.Parallel()
	for post, bodies := range map[string][]string{
		"text":        {`{}`, ``, `<html>`, `{"id":""}`, `{"id":"2002_5001"}`, `[]`, `{"success":true}`, `{"error":{"code":190}}`},
		"image":       {`{"id":"7001"}`, `{"id":"7001","post_id":"2002_1"}`},
		"video":       {`{}`, `{"success":true}`},
		"reel":        {`{}`, `{"success":false}`},
		"photo story": {`{"success":true}`, `{}`},
	} {
		for _, body := range bodies {
			h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: body} })
			ready := networks.Ready{Job: jobOf(posts()[post]), Handles: map[string]string{}}
			if post == "reel" {
				ready.Handles[video] = "7001"
			}
			r, err := adapter(h).Commit(t.Context(), ready)
			if f := fault.Of(err); f == nil || f.Kind != fault.Unknown {
				t.Errorf("%s, %s: got %+v, %v", post, body, r, err)
			}
		}
	}
}

func TestAlreadyPostedIsEvidenceOnlyAfterAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return refuse(506, 0) })
	job := jobOf(posts()["text"])
	for attempt, want := range map[int]fault.Kind{1: fault.Validation, 2: fault.Unknown} {
		job.Attempt = attempt
		_, err := adapter(h).Commit(t.Context(), networks.Ready{Job: job})
		if f := fault.Of(err); f.Kind != want || f.RequestID != "T" {
			t.Errorf("attempt %d: got %+v, want %s", attempt, f, want)
		}
	}
}

func TestALostPhotoIsUploadedAgain(t *testing.T) {
	t.Parallel()
	p := newPage()
	h := host(t, p)
	kept := h.Handles()
	p.photos["6001"] = true
	kept.Kept[photo(0)], kept.Kept[photo(1)] = "6001", "6002" // the second one has expired
	ready, err := adapter(h).Prepare(t.Context(), jobOf(posts()["images"]), kept)
	if err != nil || ready.Handles[photo(0)] != "6001" || ready.Handles[photo(1)] != "7001" || ready.Handles[photo(2)] != "7002" {
		t.Errorf("got %v, %v", ready.Handles, err)
	}
}

func TestAReelWaitsUntilItsFileIsThere(t *testing.T) {
	t.Parallel()
	p := newPage()
	slow := true
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Method == "GET" && slow {
			return nettest.Answer{Body: `{"status":{"video_status":"uploading","uploading_phase":{"status":"in_progress"}}}`}
		}
		return p.answer(c)
	})
	kept := h.Handles()
	_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["reel"]), kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Waiting || f.Wait <= 0 {
		t.Fatalf("got %v", err)
	}
	slow = false
	if _, err := adapter(h).Prepare(t.Context(), jobOf(posts()["reel"]), kept); err != nil || h.Count("POST 1001/video_reels") != 1 {
		t.Errorf("got %v after\n%s", err, h.Log())
	}
}

func TestTheDocumentedReelStatusIsReadyToPublish(t *testing.T) {
	t.Parallel()
	p := newPage()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Method == "GET" {
			return nettest.Answer{Body: nettest.File(t, "reel_status.json")}
		}
		return p.answer(c)
	})
	if _, err := adapter(h).Prepare(t.Context(), jobOf(posts()["reel"]), h.Handles()); err != nil {
		t.Error(err)
	}
}

func TestAFailedUploadIsForgottenAndSaysWhy(t *testing.T) {
	t.Parallel()
	p := newPage()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Method == "GET" {
			return nettest.Answer{Body: `{"status":{"video_status":"error","processing_phase":{"status":"error","error":{"message":"Bad codec"}}}}`}
		}
		return p.answer(c)
	})
	kept := h.Handles()
	_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["reel"]), kept)
	if f := fault.Of(err); f.Kind != fault.Transient || !strings.Contains(f.Say, "Bad codec") || kept.Get(video) != "" {
		t.Errorf("got %+v with %v", f, kept.Kept)
	}
}

func TestAPostIsNeverPublishedWithoutItsMedia(t *testing.T) {
	t.Parallel()
	h := host(t, newPage())
	for name, post := range posts() {
		if len(post.Media) == 0 {
			continue
		}
		post.Media = nil
		if _, err := adapter(h).Prepare(t.Context(), jobOf(post), h.Handles()); fault.Of(err).Kind != fault.Validation {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if len(h.Calls()) != 0 {
		t.Errorf("called\n%s", h.Log())
	}
}

func TestAReelThatAnEarlierAttemptPublishedIsNotPublishedAgain(t *testing.T) {
	t.Parallel()
	p := newPage()
	h := host(t, p)
	kept := h.Handles()
	p.videos["8001"] = "published"
	kept.Kept[video], kept.Kept[sent] = "8001", "true"
	ready, err := adapter(h).Prepare(t.Context(), jobOf(posts()["reel"]), kept)
	if err != nil {
		t.Fatal(err)
	}
	calls := len(h.Calls())
	_, err = adapter(h).Commit(t.Context(), ready)
	if f := fault.Of(err); f == nil || f.Kind != fault.Unknown || len(h.Calls()) != calls {
		t.Errorf("got %v after\n%s", err, h.Log())
	}
}
