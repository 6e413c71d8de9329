package facebook

import (
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

func TestFindProvesByTextTimeAndAttachments(t *testing.T) {
	t.Parallel()
	link := func(text, link string) networks.Post {
		return networks.Post{Format: network.FormatLink, Text: text, Link: link}
	}
	two := posts()["images"]
	two.Media = two.Media[:2]
	other := two
	other.Text = "Look here"
	for _, c := range []struct {
		name string
		post networks.Post
		kept map[string]string
		w    networks.Window
		want networks.Verdict
		id   string
	}{
		{"text", networks.Post{Format: network.FormatText, Text: "Hi\r\n"}, nil, window, networks.Found, "1001_5001"},
		{"another text", networks.Post{Format: network.FormatText, Text: "Hi there"}, nil, window, networks.Absent, ""},
		{"a picture, but none is listed", networks.Post{Format: network.FormatImage, Text: "Hi", Media: two.Media[:1]}, nil, window, networks.CantTell, ""},
		{"text, but with pictures", networks.Post{Format: network.FormatText, Text: "Look"}, nil, window, networks.Absent, ""},
		{"taken", networks.Post{Format: network.FormatText, Text: "Hi"}, nil, networks.Window{Since: window.Since, Until: window.Until, Taken: []string{"1001_5001"}}, networks.Absent, ""},
		{"too early", networks.Post{Format: network.FormatText, Text: "Hi"}, nil, networks.Window{Since: noon.Add(time.Second), Until: window.Until}, networks.Absent, ""},
		{"too late", networks.Post{Format: network.FormatText, Text: "Hi"}, nil, networks.Window{Since: window.Since, Until: noon.Add(-time.Second)}, networks.Absent, ""},
		{"link behind a redirect", link("Read this", "https://www.bakery.example/bread/"), nil, window, networks.Found, "1001_5002"},
		{"another link", link("Read this", "https://bakery.example/rolls"), nil, window, networks.CantTell, ""},
		{"album", two, nil, window, networks.Found, "1001_5003"},
		{"album by handle", other, map[string]string{photo(1): "7002"}, window, networks.Found, "1001_5003"},
		{"album of another size", posts()["images"], nil, window, networks.Absent, ""},
		{"a video that is not listed", posts()["video"], nil, window, networks.CantTell, ""},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer {
			return nettest.Answer{Body: nettest.File(t, "published_posts.json")}
		})
		kept := h.Handles()
		for name, value := range c.kept {
			kept.Kept[name] = value
		}
		got, err := adapter(h).Find(t.Context(), jobOf(c.post), kept, c.w)
		if err != nil || got.Verdict != c.want || got.Receipt.ExternalID != c.id || got.Say == "" {
			t.Errorf("%s: got %+v, %v; want %s %s", c.name, got, err, c.want, c.id)
		}
	}
}

func TestFindTellsStrangersApart(t *testing.T) {
	t.Parallel()
	ours := map[string]any{"application": map[string]any{"id": "900"}}
	theirs := map[string]any{"application": map[string]any{"id": "901"}}
	plain := map[string]any{}
	for _, c := range []struct {
		name  string
		posts []map[string]any
		text  string
		want  networks.Verdict
	}{
		{"ours and a stranger's", []map[string]any{ours, theirs}, "Hi", networks.Found},
		{"ours and one of nobody", []map[string]any{ours, plain}, "Hi", networks.Found},
		{"two of ours", []map[string]any{ours, ours}, "Hi", networks.CantTell},
		{"two of nobody", []map[string]any{plain, plain}, "Hi", networks.CantTell},
		{"a stranger's alone", []map[string]any{theirs}, "Hi", networks.CantTell},
		{"no text, ours", []map[string]any{ours}, "", networks.Found},
		{"no text, nobody's", []map[string]any{plain}, "", networks.CantTell},
		{"none", nil, "Hi", networks.Absent},
	} {
		p := newPage()
		for _, extra := range c.posts {
			p.post(c.text, attached("photo", p.id()))
			p.posts[0]["application"] = extra["application"]
			if extra["application"] == nil {
				delete(p.posts[0], "application")
			}
		}
		h := host(t, p)
		post := posts()["image"]
		post.Text = c.text
		got, err := adapter(h).Find(t.Context(), jobOf(post), h.Handles(), window)
		if err != nil || got.Verdict != c.want {
			t.Errorf("%s: got %+v, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestFindAsksForTheWindowAndReadsEveryPage(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Query.Get("after") == "" {
			return nettest.Answer{Body: `{"data":[],"paging":{"cursors":{"after":"a"},"next":"https://graph.facebook.com/?access_token=PT"}}`}
		}
		return nettest.Answer{Body: nettest.File(t, "published_posts.json")}
	})
	got, err := adapter(h).Find(t.Context(), jobOf(posts()["text"]), h.Handles(), window)
	if q := h.Last().Query; err != nil || got.Verdict != networks.Found || q.Get("since") != "1777629539" || q.Get("until") != "1777629661" {
		t.Errorf("got %+v, %v by %v", got, err, q)
	}
}

func TestAReelIsFoundByItsState(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		`{"status":{"video_status":"ready","publishing_phase":{"status":"complete","publish_status":"published"}}}`:                                  "found",
		`{"status":{"video_status":"processing","processing_phase":{"status":"in_progress"},"publishing_phase":{"status":"not_started"}}}`:           "transient",
		`{"status":{"video_status":"ready","processing_phase":{"status":"complete"},"publishing_phase":{"status":"not_started"}}}`:                   "absent",
		`{"status":{"video_status":"error","processing_phase":{"status":"error"}}}`:                                                                  "absent",
		`{"status":{"video_status":"upload_complete","uploading_phase":{"status":"complete"},"publishing_phase":{"status":"not_started"}},"id":"1"}`: "absent",
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: state} })
		kept := h.Handles()
		kept.Kept[video] = "7001"
		got, err := adapter(h).Find(t.Context(), jobOf(posts()["reel"]), kept, window)
		verdict := string(got.Verdict)
		if err != nil {
			verdict = string(fault.Of(err).Kind)
		}
		if verdict != want {
			t.Errorf("%s: got %s, want %s", state, verdict, want)
		}
	}
}

func TestAnEndedStoryCannotBeToldAbsent(t *testing.T) {
	t.Parallel()
	h := host(t, newPage())
	kept := h.Handles()
	kept.Kept[photo(0)] = "7001"
	old := networks.Window{Since: noon.Add(-30 * time.Hour), Until: noon.Add(-29 * time.Hour)}
	for want, w := range map[networks.Verdict]networks.Window{networks.Absent: window, networks.CantTell: old} {
		if got, err := adapter(h).Find(t.Context(), jobOf(posts()["photo story"]), kept, w); err != nil || got.Verdict != want {
			t.Errorf("got %+v, %v; want %s", got, err, want)
		}
	}
}

func TestALookUpThatFailsSaysNothing(t *testing.T) {
	t.Parallel()
	for kind, a := range map[fault.Kind]nettest.Answer{
		fault.Transient:   {Status: 500, Body: `{"error":{"code":2}}`},
		fault.Auth:        {Status: 401, Body: `{"error":{"code":190,"error_subcode":463}}`},
		fault.RateLimited: {Status: 400, Body: `{"error":{"code":80001}}`},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return a })
		got, err := adapter(h).Find(t.Context(), jobOf(posts()["text"]), h.Handles(), window)
		if f := fault.Of(err); f == nil || f.Kind != kind || got.Verdict != "" {
			t.Errorf("got %+v, %v; want %s", got, err, kind)
		}
	}
}

func TestWhatWasNeverUploadedIsAbsent(t *testing.T) {
	t.Parallel()
	h := host(t, newPage())
	for _, name := range []string{"reel", "photo story", "video story"} {
		got, err := adapter(h).Find(t.Context(), jobOf(posts()[name]), h.Handles(), window)
		if err != nil || got.Verdict != networks.Absent || len(h.Calls()) != 0 {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}
