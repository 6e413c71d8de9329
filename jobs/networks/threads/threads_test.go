package threads

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

var (
	noon   = nettest.Noon
	window = networks.Window{Since: noon.Add(-2 * time.Minute), Until: noon.Add(2 * time.Minute)}
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL, HTTP: h.Client, Now: func() time.Time { return noon }})
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post,
		Account: networks.Account{Network: network.Threads, RemoteID: "7", Handle: "@bakery", Token: secret.NewToken("TT"), Refresh: secret.NewToken("TT")}}
}

func file(kind network.MediaKind, name, alt string) networks.Media {
	return networks.Media{Media: network.Media{Kind: kind, Alt: alt}, URL: "https://herald.example/m/" + name}
}

// posts is one of each shape.
func posts() map[string]networks.Post {
	one, film, two := file(network.Image, "1", "Loaf"), file(network.Video, "film", "Oven"), file(network.Image, "2", "")
	chosen := map[string]string{network.OptReplies: "followers_only", network.OptTopic: "Bread & more", network.OptSensitive: "true"}
	return map[string]networks.Post{
		"text":     {Format: network.FormatText, Text: "Look"},
		"link":     {Format: network.FormatLink, Text: "Look", Link: "https://bakery.example/a?b=1"},
		"image":    {Format: network.FormatImage, Text: "Look", Media: []networks.Media{one}, Options: chosen},
		"video":    {Format: network.FormatVideo, Text: "Look", Media: []networks.Media{film}},
		"carousel": {Format: network.FormatCarousel, Text: "Look", Media: []networks.Media{one, film, two}},
		"thread": {Format: network.FormatText, Text: "One\n---\nTwo\n---\nTwo", FirstComment: "More at the shop",
			Options: map[string]string{network.OptThread: "true"}},
	}
}

// meta is Threads as far as these tests need it: containers are ready at once, and
// a post's id is 9 before that of its container.
type meta struct {
	n     int
	state map[string]string // the answer to a look at a container, if not FINISHED
	used  int               // of the daily quota
	list  string            // of posts and answers
	hook  func(nettest.Call) *nettest.Answer
}

func said(format string, args ...any) nettest.Answer {
	return nettest.Answer{Body: fmt.Sprintf(format, args...)}
}

func refuse(code, sub int) nettest.Answer {
	return nettest.Answer{Status: 400, Body: fmt.Sprintf(`{"error":{"message":"no","type":"THApiException","code":%d,"error_subcode":%d,"fbtrace_id":"T"}}`, code, sub)}
}

func (m *meta) answer(c nettest.Call) nettest.Answer {
	if m.hook != nil {
		if a := m.hook(c); a != nil {
			return *a
		}
	}
	switch name := c.Name(); {
	case name == "POST 7/threads":
		m.n++
		return said(`{"id":"%d"}`, m.n)
	case name == "POST 7/threads_publish":
		return said(`{"id":"9%s"}`, c.Form.Get("creation_id"))
	case strings.HasSuffix(name, "threads_publishing_limit"):
		return said(`{"data":[{"quota_usage":%d,"config":{"quota_total":250,"quota_duration":86400}}]}`, m.used)
	case name == "GET 7/threads", name == "GET 7/replies":
		return said(`{"data":[%s]}`, m.list)
	case strings.HasPrefix(c.Query.Get("fields"), "status"):
		id := strings.TrimPrefix(name, "GET ")
		if state := m.state[id]; state != "" {
			return said(`%s`, state)
		}
		return said(`{"status":"FINISHED","id":%q}`, id)
	}
	return said(`{"id":"91","permalink":"https://www.threads.net/@bakery/post/abc"}`)
}

// forms are the containers that were asked for.
func forms(h *nettest.Host) (list []string) {
	for _, c := range h.Calls() {
		if c.Name() == "POST 7/threads" {
			form, _ := url.QueryUnescape(c.Form.Encode())
			list = append(list, form)
		}
	}
	return list
}

func TestEachShapeIsMadeOfTheDocumentedContainers(t *testing.T) {
	t.Parallel()
	const one = "GET 7/threads_publishing_limit note container.begun POST 7/threads note container GET 1 note container.tries POST 7/threads_publish"
	for name, want := range map[string]struct{ forms, log string }{
		"text":  {"media_type=TEXT&text=Look", one},
		"link":  {"link_attachment=https://bakery.example/a?b=1&media_type=TEXT&text=Look", one},
		"image": {"alt_text=Loaf&image_url=https://herald.example/m/1&is_spoiler_media=true&media_type=IMAGE&reply_control=followers_only&text=Look&topic_tag=Bread & more", one},
		"video": {"alt_text=Oven&media_type=VIDEO&text=Look&video_url=https://herald.example/m/film", one},
		"carousel": {"alt_text=Loaf&image_url=https://herald.example/m/1&is_carousel_item=true&media_type=IMAGE\n" +
			"alt_text=Oven&is_carousel_item=true&media_type=VIDEO&video_url=https://herald.example/m/film\n" +
			"image_url=https://herald.example/m/2&is_carousel_item=true&media_type=IMAGE\nchildren=1,2,3&media_type=CAROUSEL&text=Look",
			"GET 7/threads_publishing_limit note container.begun POST 7/threads note child.1 POST 7/threads note child.2 POST 7/threads note child.3 " +
				"GET 1 GET 2 GET 3 note container.asked POST 7/threads note container GET 4 note container.tries POST 7/threads_publish"},
		"thread": {"media_type=TEXT&text=One", one},
	} {
		h := nettest.New(t, (&meta{}).answer)
		ready, err := adapter(h).Prepare(t.Context(), jobOf(posts()[name]), h.Handles())
		if err != nil {
			t.Fatal(err)
		}
		r, err := adapter(h).Commit(t.Context(), ready)
		if err != nil || r.ExternalID != "9"+ready.Handles[container] || r.More != (name == "thread") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if got := strings.Join(forms(h), "\n"); got != want.forms {
			t.Errorf("%s: made\n%s\nwant\n%s", name, got, want.forms)
		}
		if log := strings.ReplaceAll(h.Log(), "\n", " "); log != want.log {
			t.Errorf("%s: went\n%s\nwant\n%s", name, log, want.log)
		}
		for _, c := range h.Calls() {
			if c.Header.Get("Authorization") != "Bearer TT" || strings.Contains(c.Query.Encode()+c.Form.Encode(), "TT") {
				t.Errorf("%s leaks or lacks the token", c.Name())
			}
		}
	}
}

// looked is a Prepare that finds a container of some age in a state.
func looked(t *testing.T, m *meta, age time.Duration) (*nettest.Handles, *nettest.Host, error) {
	t.Helper()
	h := nettest.New(t, m.answer)
	kept := h.Handles()
	kept.Kept[container], kept.Kept[graph.ContainerBegun] = "50", noon.Add(-age).Format(time.RFC3339)
	_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["text"]), kept)
	return kept, h, err
}

func TestWhatAContainerSaysDecidesWhatIsNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state string
		age   time.Duration
		want  string        // kind and code of the fault
		wait  time.Duration // of a Waiting one
		left  string        // the container afterwards
	}{
		"young and busy":    {`{"status":"IN_PROGRESS"}`, time.Second, "waiting in_progress", 5 * time.Second, "50"},
		"older and busy":    {`{"status":"IN_PROGRESS"}`, 2 * time.Minute, "waiting in_progress", 30 * time.Second, "50"},
		"a new word":        {`{"status":"THINKING"}`, time.Second, "waiting in_progress", 5 * time.Second, "50"},
		"busy for ever":     {`{"status":"IN_PROGRESS"}`, 2 * time.Hour, "transient container_stuck", 0, ""},
		"nothing said":      {`{"id":"50"}`, time.Second, "transient unparsable", 0, "50"},
		"a bad shape":       {`{"status":"ERROR","error_message":"INVALID_ASPEC_RATIO"}`, time.Minute, "validation INVALID_ASPEC_RATIO", 0, ""},
		"not fetched":       {`{"status":"ERROR","error_message":"FAILED_DOWNLOADING_VIDEO"}`, time.Minute, "transient FAILED_DOWNLOADING_VIDEO", 0, ""},
		"who knows":         {`{"status":"ERROR","error_message":"UNKNOWN"}`, time.Minute, "transient status_error", 0, ""},
		"expired":           {`{"status":"EXPIRED"}`, time.Hour, "", 0, "1"},
		"older than a day":  {`{"status":"FINISHED"}`, 24 * time.Hour, "", 0, "1"},
		"published already": {`{"status":"PUBLISHED"}`, time.Minute, "", 0, "50"},
	} {
		kept, h, err := looked(t, &meta{state: map[string]string{"50": c.state}}, c.age)
		got := ""
		if f := fault.Of(err); f != nil {
			got = string(f.Kind) + " " + f.Code
			if f.Wait != c.wait && f.Kind == fault.Waiting || !strings.HasSuffix(f.Say, ".") {
				t.Errorf("%s: waits %v, says %q", name, f.Wait, f.Say)
			}
		}
		if got != c.want || kept.Get(container) != c.left {
			t.Errorf("%s: got %q with %v, want %q\n%s", name, got, kept.Kept, c.want, h.Log())
		}
	}
}

func TestAContainerThatIsNotThereIsWaitedForThenMadeAnew(t *testing.T) {
	t.Parallel()
	gone := func(c nettest.Call) *nettest.Answer {
		if c.Name() == "GET 50" {
			a := refuse(24, 4279009)
			return &a
		}
		return nil
	}
	if _, _, err := looked(t, &meta{hook: gone}, time.Minute); fault.Of(err).Code != "not_visible" || fault.Of(err).Kind != fault.Waiting {
		t.Errorf("young: %v", err)
	}
	if kept, _, err := looked(t, &meta{hook: gone}, time.Hour); err != nil || kept.Get(container) != "1" {
		t.Errorf("old: %v with %v", err, kept.Kept)
	}
}

func TestAContainerThatCannotBePublishedForAWhileIsReplaced(t *testing.T) {
	t.Parallel()
	m := &meta{}
	h := nettest.New(t, m.answer)
	kept := h.Handles()
	for range enough {
		if _, err := adapter(h).Prepare(t.Context(), jobOf(posts()["text"]), kept); err != nil || kept.Get(container) != "1" {
			t.Fatalf("%v with %v", err, kept.Kept)
		}
	}
	if _, err := adapter(h).Prepare(t.Context(), jobOf(posts()["text"]), kept); err != nil || kept.Get(container) != "2" {
		t.Errorf("%v with %v", err, kept.Kept)
	}
}

func TestAPublishedContainerIsNotPublishedAgain(t *testing.T) {
	t.Parallel()
	m := &meta{state: map[string]string{"50": `{"status":"PUBLISHED"}`}}
	h := nettest.New(t, m.answer)
	kept := h.Handles()
	kept.Kept[container], kept.Kept[graph.ContainerBegun] = "50", noon.Format(time.RFC3339)
	ready, err := adapter(h).Prepare(t.Context(), jobOf(posts()["text"]), kept)
	if err != nil {
		t.Fatal(err)
	}
	_, err = adapter(h).Commit(t.Context(), ready)
	if f := fault.Of(err); f.Kind != fault.Unknown || f.Code != "already_published" || h.Count("POST 7/threads_publish") != 0 {
		t.Errorf("got %v\n%s", err, h.Log())
	}
}

func TestAFullDayIsWaitedFor(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, (&meta{used: 250}).answer)
	_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["text"]), h.Handles())
	if f := fault.Of(err); f.Kind != fault.RateLimited || f.Wait != time.Hour || len(forms(h)) != 0 {
		t.Errorf("got %v", err)
	}
}

func TestTwoRefusalsAreKnownByTheirWords(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"THREADS_API__LINK_LIMIT_EXCEEDED": "validation link_limit", "Param text must be at most 500 characters": "validation 100",
		"The media could not be fetched from this URI": "transient media_fetch",
	} {
		h := nettest.New(t, (&meta{hook: func(c nettest.Call) *nettest.Answer {
			if c.Name() != "POST 7/threads" {
				return nil
			}
			return &nettest.Answer{Status: 400, Body: fmt.Sprintf(`{"error":{"message":%q,"type":"THApiException","code":100}}`, words)}
		}}).answer)
		job := jobOf(posts()["image"])
		_, err := adapter(h).Prepare(t.Context(), job, h.Handles())
		if f := fault.Of(err); string(f.Kind)+" "+f.Code != want {
			t.Errorf("%s: got %v", words, err)
		}
		job.Attempt = 2
		if _, err := adapter(h).Prepare(t.Context(), job, h.Handles()); fault.Of(err).Kind != fault.Validation {
			t.Errorf("%s, again: got %v", words, err)
		}
	}
}

func listed(id, text, kind string) string {
	b, _ := json.Marshal(text)
	return fmt.Sprintf(`{"id":%q,"text":%s,"timestamp":"2026-05-01T10:00:00+0000","permalink":"https://www.threads.net/@bakery/post/%s","media_type":%q}`, id, b, id, kind)
}

func TestFindAsksTheContainerThenTheList(t *testing.T) {
	t.Parallel()
	text, twins := listed("91", "Look", "TEXT_POST"), listed("91", "Look", "TEXT_POST")+","+listed("92", "Look", "TEXT_POST")
	for name, c := range map[string]struct {
		state, list, want, id string
		taken                 []string
	}{
		"published":                     {`{"status":"PUBLISHED"}`, text, "found", "91", nil},
		"published and not listed yet":  {`{"status":"PUBLISHED"}`, "", "transient", "", nil},
		"published, two alike":          {`{"status":"PUBLISHED"}`, twins, "cant_tell", "", nil},
		"published, one of two taken":   {`{"status":"PUBLISHED"}`, twins, "found", "92", []string{"91"}},
		"ready, and somebody else's":    {`{"status":"FINISHED"}`, text, "cant_tell", "", nil},
		"ready, and nothing":            {`{"status":"FINISHED"}`, "", "absent", "", nil},
		"ready, and another kind":       {`{"status":"FINISHED"}`, listed("91", "Look", "IMAGE"), "absent", "", nil},
		"failed":                        {`{"status":"ERROR"}`, text, "absent", "", nil},
		"expired":                       {`{"status":"EXPIRED"}`, text, "absent", "", nil},
		"forgotten, and listed":         {"", text, "found", "91", nil},
		"forgotten, listed without tag": {"", listed("91", "Look ", "TEXT_POST"), "found", "91", nil},
		"forgotten, and nothing":        {"", "", "absent", "", nil},
	} {
		h := nettest.New(t, (&meta{list: c.list, state: map[string]string{"50": c.state}, hook: func(call nettest.Call) *nettest.Answer {
			if call.Name() != "GET 50" || c.state != "" {
				return nil
			}
			a := refuse(24, 4279009)
			return &a
		}}).answer)
		kept, w := h.Handles(), window
		kept.Kept[container], w.Taken = "50", c.taken
		job := jobOf(posts()["text"])
		if strings.Contains(name, "tag") {
			job.Post.Text = "#Look"
		}
		got, err := adapter(h).Find(t.Context(), job, kept, w)
		verdict := string(got.Verdict)
		if err != nil {
			verdict = string(fault.Of(err).Kind)
		} else if !strings.HasSuffix(got.Say, ".") {
			t.Errorf("%s: says %q", name, got.Say)
		}
		if verdict != c.want || got.Receipt.ExternalID != c.id {
			t.Errorf("%s: got %s %+v\n%s", name, verdict, got, h.Log())
		}
	}
	h := nettest.New(t, (&meta{}).answer)
	got, err := adapter(h).Find(t.Context(), jobOf(posts()["text"]), h.Handles(), window)
	if err != nil || got.Verdict != networks.Absent || len(h.Calls()) != 0 {
		t.Errorf("no container: %+v, %v", got, err)
	}
}

func TestAThreadGoesOnUnderThePostEachPartOnce(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, (&meta{}).answer)
	kept, job := h.Handles(), jobOf(posts()["thread"])
	for range 2 {
		r, err := adapter(h).Follow(t.Context(), job, networks.Receipt{ExternalID: "90", More: true}, kept)
		if err != nil || r.Permalink != "https://www.threads.net/@bakery/post/abc" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	want := "media_type=TEXT&reply_to_id=90&text=Two media_type=TEXT&reply_to_id=91&text=Two media_type=TEXT&reply_to_id=92&text=More at the shop"
	if got := strings.Join(forms(h), " "); got != want {
		t.Errorf("made %s", got)
	}
}

// The answer to the publish of the second part is lost; what was written is found
// among the account's answers, and not taken for the part before that reads alike.
func TestAPartWhoseAnswerIsLostIsLookedForFirst(t *testing.T) {
	t.Parallel()
	m := &meta{}
	lost := 0
	m.hook = func(c nettest.Call) *nettest.Answer {
		if c.Name() == "POST 7/threads_publish" && c.Form.Get("creation_id") == "2" && lost == 0 {
			lost++
			m.list = listed("91", "Two", "TEXT_POST") + "," + listed("92", "Two", "TEXT_POST")
			return &nettest.Answer{Close: true}
		}
		return nil
	}
	h := nettest.New(t, m.answer)
	kept, job := h.Handles(), jobOf(posts()["thread"])
	if _, err := adapter(h).Follow(t.Context(), job, networks.Receipt{ExternalID: "90"}, kept); fault.Of(err) == nil {
		t.Fatal("nothing was said of the lost answer")
	}
	if _, err := adapter(h).Follow(t.Context(), job, networks.Receipt{ExternalID: "90"}, kept); err != nil || kept.Get(part(2)) != "92" || len(forms(h)) != 3 {
		t.Errorf("%v with %v\n%s", err, kept.Kept, h.Log())
	}
}

func TestAnAddressThatIsNotThereYetIsAskedForAgain(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return refuse(24, 4279009) })
	_, err := adapter(h).Follow(t.Context(), jobOf(posts()["text"]), networks.Receipt{ExternalID: "90"}, h.Handles())
	if f := fault.Of(err); f.Kind != fault.Transient || !strings.HasSuffix(f.Say, ".") {
		t.Errorf("got %v", err)
	}
}

func TestTheTokenRenewsItself(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return said(`{"access_token":"NEW","token_type":"bearer","expires_in":5183944}`)
	})
	got, err := adapter(h).Refresh(t.Context(), jobOf(networks.Post{}).Account)
	if err != nil || got.Access.Reveal() != "NEW" || got.Refresh.Reveal() != "NEW" || !got.Expires.Equal(noon.Add(5183944*time.Second)) {
		t.Errorf("got %+v, %v", got, err)
	}
	if c := h.Last(); c.Path != "/refresh_access_token" || c.Query.Encode() != "access_token=TT&grant_type=th_refresh_token" {
		t.Errorf("asked %s?%s", c.Path, c.Query.Encode())
	}
	gone := New(networks.Env{Base: "http://127.0.0.1:1", HTTP: httpx.New(httpx.Options{Timeout: time.Second})})
	account := jobOf(networks.Post{}).Account
	account.Token = secret.NewToken("SECRET-TT")
	_, err = gone.Refresh(t.Context(), account)
	if f := fault.Of(err); f == nil || f.Kind != fault.Transient || strings.Contains(fmt.Sprintf("%v %+v", err, f), "SECRET") {
		t.Errorf("got %v", err)
	}
}

func TestCheckSaysWhoseTheTokenIs(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return said(`{"id":"98765432109876543210","username":"bakery"}`)
	})
	p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account)
	if err != nil || p.RemoteID != "98765432109876543210" || p.Handle != "@bakery" || p.Name != "bakery" || h.Last().Name() != "GET me" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func FuzzWhatThreadsSaysNeverPanics(f *testing.F) {
	for _, s := range []string{listed("1", "a #b", "TEXT_POST"), `{"id":1,"timestamp":5}`, `{"text":null}`, `{"status":"ERROR","error_message":"\u0000<x>"}`, "x"} {
		f.Add(s, "a #b", 3)
	}
	f.Fuzz(func(t *testing.T, raw, text string, n int) {
		var m media
		if json.Unmarshal([]byte(raw), &m) == nil {
			m.like(jobOf(networks.Post{Format: network.FormatText, Text: text}))
		}
		var p progress
		if json.Unmarshal([]byte(raw), &p) != nil {
			return
		}
		if no := told(n, p.Message); p.state() == "" || no.Code == "" || !strings.HasSuffix(no.Say, ".") || no.Kind == fault.Unknown || strings.ContainsAny(no.Say, "\x00\n") {
			t.Errorf("%q makes %+v", p.Message, no)
		}
	})
}
