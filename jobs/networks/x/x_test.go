package x

import (
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

var noon = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, ClientID: "app", ClientSecret: "hush", Now: func() time.Time { return noon }})
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.X, RemoteID: "7", Handle: "@bakery", Token: secret.NewToken("AT"), Refresh: secret.NewToken("RT")}}
}

var window = networks.Window{Since: noon.Add(-2 * time.Minute), Until: noon.Add(2 * time.Minute)}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"title":"Forbidden","detail":"duplicate content","type":"about:blank"}`, `{"errors":[{"code":"x"}]}`, `{"errors":[{"code":88}]}`)
}

func TestAPostHoldsWhatTheWriterChoseAndNothingElse(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Status: 201, Body: `{"data":{"id":"1880028106020515840","text":"t","edit_history_tweet_ids":["1880028106020515840"]}}`}
	})
	for options, want := range map[string]string{
		"":                                  `{"text":"Look <here>\n\nhttps://bakery.example"}`,
		"replies=following made_by_ai=true": `{"text":"Look <here>\n\nhttps://bakery.example","reply_settings":"following","made_with_ai":true}`,
		"replies=everyone paid=true":        `{"text":"Look <here>\n\nhttps://bakery.example","paid_partnership":true}`,
		"replies=nobody":                    `{"text":"Look <here>\n\nhttps://bakery.example"}`,
	} {
		chosen := map[string]string{}
		for _, o := range strings.Fields(options) {
			name, value, _ := strings.Cut(o, "=")
			chosen[name] = value
		}
		job := jobOf(networks.Post{Format: network.FormatText, Text: "Look <here>", Link: "https://bakery.example", Options: chosen})
		r, err := adapter(h).Commit(t.Context(), networks.Ready{Job: job})
		if err != nil || r.ExternalID != "1880028106020515840" || r.Permalink != "https://x.com/bakery/status/1880028106020515840" || r.More {
			t.Errorf("%s: %+v, %v", options, r, err)
		}
		if got := h.Last().File; got != want {
			t.Errorf("%s: sent %s, want %s", options, got, want)
		}
	}
	job := jobOf(networks.Post{Format: network.FormatText, Text: "a\n---\nb", Options: map[string]string{network.OptThread: "true"}})
	job.Account.Handle = ""
	r, err := adapter(h).Commit(t.Context(), networks.Ready{Job: job})
	if err != nil || !r.More || r.Permalink != "https://x.com/i/web/status/1880028106020515840" || h.Last().File != `{"text":"a"}` {
		t.Errorf("thread: %+v, %v, sent %s", r, err, h.Last().File)
	}
}

// listing answers a look-up with posts.
func listing(posts ...string) func(nettest.Call) nettest.Answer {
	return func(nettest.Call) nettest.Answer {
		if len(posts) == 0 {
			return nettest.Answer{Body: `{"meta":{"result_count":0}}`}
		}
		return nettest.Answer{Body: fmt.Sprintf(`{"data":[%s],"meta":{"result_count":%d,"newest_id":"1"}}`, strings.Join(posts, ","), len(posts))}
	}
}

func listedPost(id, text, more string) string {
	raw, _ := json.Marshal(text)
	return fmt.Sprintf(`{"id":%q,"text":%s,"created_at":"2026-05-01T10:00:00.000Z"%s}`, id, raw, more)
}

func TestFindUndoesWhatXMakesOfAText(t *testing.T) {
	t.Parallel()
	link := func(short, long string) string {
		return fmt.Sprintf(`,"entities":{"urls":[{"start":0,"end":23,"url":%q,"expanded_url":%q}]}`, short, long)
	}
	for name, c := range map[string]struct {
		ours, theirs, more string
		want               networks.Verdict
	}{
		"the same":               {"Hello", "Hello", "", networks.Found},
		"another":                {"Hello", "Hello!", "", networks.Absent},
		"markup":                 {`a & b <c> "d" &amp;`, `a &amp; b &lt;c&gt; "d" &amp;amp;`, "", networks.Found},
		"a link":                 {"See https://bakery.example.com/a?b=1&c=2", "See https://t.co/abc", link("https://t.co/abc", "https://bakery.example.com/a?b=1&c=2"), networks.Found},
		"another link":           {"See https://bakery.example.com/a", "See https://t.co/abc", link("https://t.co/abc", "https://bakery.example.com/b"), networks.Absent},
		"a bare link":            {"See bakery.com now", "See https://t.co/abc now", link("https://t.co/abc", "http://bakery.com"), networks.Found},
		"a slash":                {"See https://bakery.com", "See https://t.co/abc", link("https://t.co/abc", "https://bakery.com/"), networks.Found},
		"composed otherwise":     {"Café", "Cafe\u0301", "", networks.Found},
		"an answer":              {"Hello", "Hello", `,"referenced_tweets":[{"type":"replied_to","id":"5"}]`, networks.Absent},
		"a quote":                {"Hello", "Hello", `,"referenced_tweets":[{"type":"quoted","id":"5"}]`, networks.Found},
		"with a picture":         {"Hello", "Hello https://t.co/pic", `,"attachments":{"media_keys":["3_9"]}` + link("https://t.co/pic", "https://x.com/b/status/1/photo/1"), networks.Absent},
		"a long text":            {"Hello and so on", "Hello and…", `,"note_tweet":{"text":"Hello and so on"}`, networks.Found},
		"a long text, otherwise": {"Hello and so on", "Hello and so on", `,"note_tweet":{"text":"Hello and so forth"}`, networks.Absent},
	} {
		h := nettest.New(t, listing(listedPost("1", c.theirs, c.more)))
		f, err := adapter(h).Find(t.Context(), jobOf(networks.Post{Format: network.FormatText, Text: c.ours}), h.Handles(), window)
		if err != nil || f.Verdict != c.want || !strings.HasSuffix(f.Say, ".") {
			t.Errorf("%s: %+v, %v, want %s", name, f, err, c.want)
		}
		if q := h.Last().Query; q.Get("start_time") != "2026-05-01T09:58:00Z" || q.Has("end_time") {
			t.Errorf("asked for %v", q)
		}
	}
}

func TestFindKnowsAPostByItsFiles(t *testing.T) {
	t.Parallel()
	job := jobOf(networks.Post{Format: network.FormatImage, Text: "Hello", Media: []networks.Media{picture(6)}})
	for name, c := range map[string]struct {
		posts []string
		want  networks.Verdict
	}{
		"ours":               {[]string{listedPost("1", "changed", `,"attachments":{"media_keys":["3_77"]}`)}, networks.Found},
		"ours beside a twin": {[]string{listedPost("2", "Hello", `,"attachments":{"media_keys":["3_5"]}`), listedPost("1", "Hello", `,"attachments":{"media_keys":["3_77"]}`)}, networks.Found},
		"a twin":             {[]string{listedPost("2", "Hello", `,"attachments":{"media_keys":["3_5"]}`)}, networks.CantTell},
		"nothing":            {nil, networks.Absent},
	} {
		h := nettest.New(t, listing(c.posts...))
		kept := h.Handles()
		kept.Kept[media(0)] = "77"
		f, err := adapter(h).Find(t.Context(), job, kept, window)
		if err != nil || f.Verdict != c.want || c.want == networks.Found && f.Receipt.ExternalID != "1" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	two := nettest.New(t, listing(listedPost("1", "Hi", ""), listedPost("2", "Hi", "")))
	f, err := adapter(two).Find(t.Context(), jobOf(networks.Post{Format: network.FormatText, Text: "Hi"}), two.Handles(), window)
	if err != nil || f.Verdict != networks.CantTell {
		t.Errorf("two alike: %+v, %v", f, err)
	}
	endless := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"data":[` + listedPost("1", "x", "") + `],"meta":{"result_count":1,"next_token":"n"}}`}
	})
	f, err = adapter(endless).Find(t.Context(), jobOf(networks.Post{Format: network.FormatText, Text: "Hi"}), endless.Handles(), window)
	if err != nil || f.Verdict != networks.CantTell || len(endless.Calls()) != maxPages {
		t.Errorf("a list without end: %+v, %v after %d pages", f, err, len(endless.Calls()))
	}
}

func picture(size int) networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: int64(size), Alt: "a loaf"},
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Repeat("p", size))), nil
		}}
}

// shelf is the media host as far as these tests need it.
type shelf struct {
	segments []string
	sealed   int
	states   []string // of STATUS
}

func (u *shelf) answer(c nettest.Call) nettest.Answer {
	switch name := c.Name(); {
	case strings.HasSuffix(name, "/initialize"):
		return nettest.Answer{Body: `{"data":{"id":"77","media_key":"3_77","expires_after_secs":86400}}`}
	case strings.HasSuffix(name, "/append"):
		u.segments = append(u.segments, c.Form.Get("segment_index")+":"+fmt.Sprint(len(c.File)))
		return nettest.Answer{Body: `{"data":{"expires_at":1}}`}
	case strings.HasSuffix(name, "/finalize"):
		u.sealed++
		if c.File != "{}" || u.sealed > 1 {
			return nettest.Answer{Status: 400, Body: `{"title":"Bad Request","detail":"Request body must be a JSON object","type":"about:blank"}`}
		}
		info := ""
		if len(u.states) > 0 {
			info = `,"processing_info":{"state":"pending","check_after_secs":7}`
		}
		return nettest.Answer{Body: `{"data":{"id":"77"` + info + `}}`}
	case strings.HasSuffix(name, "2/media/upload"):
		if u.sealed == 0 {
			return nettest.Answer{Status: 400, Body: `{"title":"Bad Request","detail":"not finished","type":"about:blank"}`}
		}
		if len(u.states) == 0 {
			return nettest.Answer{Body: `{"data":{"id":"77"}}`}
		}
		state := u.states[0]
		u.states = u.states[1:]
		return nettest.Answer{Body: `{"data":{"id":"77","processing_info":` + state + `}}`}
	}
	return nettest.Answer{Body: `{"data":{"id":"77"}}`}
}

func TestAFileGoesInSegmentsAndGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	u := &shelf{}
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		a := u.answer(c)
		a.Close = len(u.segments) == 2 && strings.HasSuffix(c.Name(), "/append") // the second segment's answer is lost
		return a
	})
	kept := h.Handles()
	job := jobOf(networks.Post{Format: network.FormatImage, Media: []networks.Media{picture(2*segment + 5)}})
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Kind != fault.Transient {
		t.Fatalf("got %v", err)
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(u.segments, " "); got != "0:1048576 1:1048576 1:1048576 2:5" {
		t.Errorf("sent %s", got)
	}
	if got := h.Last(); !strings.HasSuffix(got.Path, "/2/media/metadata") || got.File != `{"id":"77","metadata":{"alt_text":{"text":"a loaf"}}}` {
		t.Errorf("described by %s %s", got.Path, got.File)
	}
}

func TestALongFilmLetsOthersThrough(t *testing.T) {
	t.Parallel()
	u := &shelf{}
	h := nettest.New(t, u.answer)
	film := networks.Media{Media: network.Media{Kind: network.Video, Type: "video/mp4", Bytes: (atOnce + 1) * segment},
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(io.LimitReader(zeros{}, (atOnce+1)*segment)), nil
		}}
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatVideo, Media: []networks.Media{film}})
	_, err := adapter(h).Prepare(t.Context(), job, kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Waiting || len(u.segments) != atOnce {
		t.Fatalf("got %v after %d segments", err, len(u.segments))
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil || len(u.segments) != atOnce+1 {
		t.Errorf("%v after %d segments", err, len(u.segments))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAFileIsWaitedForAsLongAsXSays(t *testing.T) {
	t.Parallel()
	u := &shelf{states: []string{`{"state":"in_progress","check_after_secs":11}`, `{"state":"succeeded"}`}}
	h := nettest.New(t, u.answer)
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatImage, Media: []networks.Media{picture(5)}})
	for _, want := range []time.Duration{7 * time.Second, 11 * time.Second} {
		_, err := adapter(h).Prepare(t.Context(), job, kept)
		if f := fault.Of(err); f == nil || f.Kind != fault.Waiting || f.Wait != want {
			t.Fatalf("got %v, want to wait %v", err, want)
		}
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil {
		t.Error(err)
	}
	bad := &shelf{states: []string{`{"state":"failed","error":{"name":"InvalidMedia","message":"Unsupported codec."}}`}}
	h = nettest.New(t, bad.answer)
	kept = h.Handles()
	_, _ = adapter(h).Prepare(t.Context(), job, kept)
	_, err := adapter(h).Prepare(t.Context(), job, kept)
	if f := fault.Of(err); f == nil || f.Kind != fault.Validation || !strings.Contains(f.Say, "Unsupported codec") || kept.Kept[media(0)] != "" {
		t.Errorf("got %v, kept %v", err, kept.Kept)
	}
}

func TestASealThatWasHeardIsNotRepeated(t *testing.T) {
	t.Parallel()
	u := &shelf{}
	cut := true
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		a := u.answer(c)
		if cut && strings.HasSuffix(c.Path, "/finalize") {
			cut = false
			return nettest.Answer{Close: true}
		}
		return a
	})
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatImage, Media: []networks.Media{picture(5)}})
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Kind != fault.Transient {
		t.Fatalf("got %v", err)
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil || u.sealed != 1 || len(u.segments) != 1 {
		t.Errorf("%v: sealed %d times, %d segments", err, u.sealed, len(u.segments))
	}
}

func TestATokenIsRenewedWithTheAppsOwnCredentials(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Form.Get("refresh_token") != "RT" {
			return nettest.Answer{Status: 400, Body: `{"error":"invalid_request","error_description":"Value passed for the token was invalid."}`}
		}
		return nettest.Answer{Body: `{"token_type":"bearer","expires_in":7200,"access_token":"A2","refresh_token":"R2","scope":"tweet.read tweet.write"}`}
	})
	job := jobOf(networks.Post{})
	got, err := adapter(h).Refresh(t.Context(), job.Account)
	if err != nil || got.Access.Reveal() != "A2" || got.Refresh.Reveal() != "R2" || !got.Expires.Equal(noon.Add(2*time.Hour)) || len(got.Scopes) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if c := h.Last(); c.Path != "/x/2/oauth2/token" || !strings.HasPrefix(c.Header.Get("Authorization"), "Basic ") || c.Form.Has("client_secret") {
		t.Errorf("asked %s with %v", c.Path, c.Form)
	}
	job.Account.Refresh = secret.NewToken("SPENT")
	if _, err := adapter(h).Refresh(t.Context(), job.Account); fault.Of(err).Kind != fault.Auth {
		t.Errorf("a spent token: %v", err)
	}
}

func TestCheckSaysWhoseTheTokenIs(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"data":{"id":"2244994945","name":"The Bakery","username":"bakery","verified_type":"none"}}`}
	})
	p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account)
	if err != nil || p.RemoteID != "2244994945" || p.Handle != "@bakery" || p.Name != "The Bakery" || p.Settings["verified_type"] != "none" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func FuzzAListNeverPanics(f *testing.F) {
	for _, s := range []string{listedPost("1", "a https://t.co/x", `,"entities":{"urls":[{"url":"https://t.co/x","expanded_url":"%zz"}]}`), `{"id":1}`, `{"note_tweet":{}}`, "x"} {
		f.Add(s, "a https://x.com/a/status/1/photo/1")
	}
	f.Fuzz(func(t *testing.T, raw, text string) {
		var p listed
		if json.Unmarshal([]byte(raw), &p) != nil {
			return
		}
		p.reads(text)
		p.holds([]string{text})
		if p.answered() != "" && len(p.References) == 0 {
			t.Error("answers nothing")
		}
	})
}
