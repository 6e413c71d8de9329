package pinterest

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

var (
	noon   = nettest.Noon
	window = networks.Window{Since: noon.Add(-2 * time.Minute), Until: noon.Add(2 * time.Minute)}
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Guarded: h.Client, ClientID: "app", ClientSecret: "hush", Now: func() time.Time { return noon }})
}

func jobOf(post networks.Post) networks.Job {
	if post.Options == nil {
		post.Options = map[string]string{network.OptBoard: "55"}
	}
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Pinterest, RemoteID: "7", Token: secret.NewToken("AT"), Refresh: secret.NewToken("RT")}}
}

func load(kind network.MediaKind, content string) networks.Media {
	return networks.Media{Media: network.Media{Kind: kind, Type: "image/png", Bytes: int64(len(content)), Alt: "a " + content}, URL: "https://herald.example/m/" + content,
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"code":1,"message":"cover_image"}`, `{"code":8}`)
}

// site is Pinterest as far as these tests need it.
type site struct {
	base   string
	states []string
	stored int // status of the store
	fields string
	auth   string
}

func (s *site) answer(c nettest.Call) nettest.Answer {
	switch {
	case c.Name() == "POST v5/media":
		return nettest.Answer{Status: 201, Body: `{"media_id":"88","upload_url":"` + s.base + `/s3/","upload_parameters":{"key":"k","policy":"p","Content-Type":"multipart/form-data"}}`}
	case strings.HasPrefix(c.Path, "/s3"):
		s.fields, s.auth = c.Form.Encode()+" "+c.File, c.Header.Get("Authorization")
		return nettest.Answer{Status: s.stored, Body: "<Error><Code>AccessDenied</Code></Error>"}
	case c.Name() == "GET v5/media/88":
		state := s.states[0]
		s.states = s.states[1:]
		return nettest.Answer{Body: `{"media_id":"88","status":"` + state + `"}`}
	}
	return nettest.Answer{Status: 201, Body: `{"id":"813744226420795884","board_id":"55"}`}
}

func TestEachShapeIsThePinThatWasMeant(t *testing.T) {
	t.Parallel()
	one, two, film := load(network.Image, "one"), load(network.Image, "two"), load(network.Video, "oven")
	for name, c := range map[string]struct {
		post networks.Post
		want string
	}{
		"picture": {networks.Post{Format: network.FormatImage, Text: "Look", Link: "https://bakery.example/", Media: []networks.Media{one}, Options: map[string]string{network.OptBoard: "55", network.OptTitle: "Bread"}},
			`{"board_id":"55","title":"Bread","description":"Look","link":"https://bakery.example/","alt_text":"a one","media_source":{"source_type":"image_url","url":"https://herald.example/m/one"}}`},
		"pictures": {networks.Post{Format: network.FormatImages, Media: []networks.Media{one, two}},
			`{"board_id":"55","alt_text":"a one","media_source":{"source_type":"multiple_image_urls","items":[{"url":"https://herald.example/m/one"},{"url":"https://herald.example/m/two"}]}}`},
		"film": {networks.Post{Format: network.FormatVideo, Media: []networks.Media{film}},
			`{"board_id":"55","alt_text":"a oven","media_source":{"source_type":"video_id","media_id":"88","cover_image_key_frame_time":0}}`},
		"film with a cover": {networks.Post{Format: network.FormatVideo, Media: []networks.Media{film, one}},
			`{"board_id":"55","alt_text":"a oven","media_source":{"source_type":"video_id","media_id":"88","cover_image_content_type":"image/png","cover_image_data":"b25l"}}`},
	} {
		s := &site{states: []string{"succeeded"}, stored: 204}
		h := nettest.New(t, s.answer)
		s.base = h.URL
		ready, err := adapter(h).Prepare(t.Context(), jobOf(c.post), h.Handles())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := adapter(h).Commit(t.Context(), ready)
		if err != nil || r.ExternalID != "813744226420795884" || r.Permalink != "https://www.pinterest.com/pin/813744226420795884/" || h.Last().File != c.want {
			t.Errorf("%s: %+v, %v, sent %s\nwant %s", name, r, err, h.Last().File, c.want)
		}
		if strings.HasPrefix(name, "film") && (s.auth != "" || s.fields != "Content-Type=multipart%2Fform-data&key=k&policy=p oven") {
			t.Errorf("%s: the store got %q, signed %q", name, s.fields, s.auth)
		}
	}
}

func TestTheBoardIsAskedForOrTheOnlyOne(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{"": "", "9=Bread": "9", "9=Bread;8=Rolls": "", "x=y": ""} {
		job := jobOf(networks.Post{Options: map[string]string{}})
		job.Account.Settings = map[string]string{"boards": settings}
		if got := board(job); got != want {
			t.Errorf("%q: %q, want %q", settings, got, want)
		}
		job.Post.Options[network.OptBoard] = "7" // one that is no longer listed is not exchanged for another
		if got := board(job); got != "7" {
			t.Errorf("%q, chosen: %q", settings, got)
		}
	}
	job := jobOf(networks.Post{Format: network.FormatImage, Media: []networks.Media{load(network.Image, "a")}, Options: map[string]string{}})
	if _, err := New(networks.Env{}).Prepare(t.Context(), job, nil); fault.Of(err).Code != "options_missing" {
		t.Errorf("without a board: %v", err)
	}
}

func TestAVideoIsSentAgainWhereItBrokeOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stored int
		state  string
		want   string
		kept   string
	}{
		"the policy ended": {403, "", "transient upload_refused", "88"}, "still working": {204, "processing", "waiting media_processing", "88"},
		"no good": {204, "failed", "validation media_failed", ""}, "an odd answer": {200, "", "transient unparsable", "88"},
	} {
		s := &site{states: []string{c.state}, stored: c.stored}
		h := nettest.New(t, s.answer)
		s.base = h.URL
		kept := h.Handles()
		_, err := adapter(h).Prepare(t.Context(), jobOf(networks.Post{Format: network.FormatVideo, Media: []networks.Media{load(network.Video, "oven")}}), kept)
		if f := fault.Of(err); string(f.Kind)+" "+f.Code != c.want || kept.Get(media) != c.kept || !strings.HasSuffix(f.Say, ".") {
			t.Errorf("%s: %v with %v", name, err, kept.Kept)
		}
	}
}

func TestFindKnowsAPinByWhatItSays(t *testing.T) {
	t.Parallel()
	item := func(more string) string {
		return `{"id":"1","created_at":"2026-05-01T10:00:00","title":"Bread","description":"Look","media":{"media_type":"image"}` + more + `}`
	}
	full := networks.Post{Format: network.FormatImage, Text: "Look ", Link: "https://bakery.example", Options: map[string]string{network.OptBoard: "55", network.OptTitle: "Bread"}}
	bare := networks.Post{Format: network.FormatImage}
	for name, c := range map[string]struct {
		post networks.Post
		list string
		want networks.Verdict
	}{
		"the same":           {full, item(`,"link":"https://bakery.example/"`), networks.Found},
		"its link withheld":  {full, item(`,"link":null`), networks.Found},
		"another link":       {full, item(`,"link":"https://other.example/"`), networks.Absent},
		"a video":            {full, item(`,"media":{"media_type":"video"}`), networks.Absent},
		"two":                {full, item("") + "," + strings.Replace(item(""), `"1"`, `"2"`, 1), networks.CantTell},
		"an hour before":     {full, strings.Replace(item(""), "T10:", "T09:", 1), networks.Absent},
		"one without words":  {bare, `{"id":"1","created_at":"2026-05-01T10:00:00"}`, networks.CantTell},
		"nothing":            {full, "", networks.Absent},
		"a time that is not": {full, strings.Replace(item(""), "2026-05", "soon", 1), networks.Absent},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer {
			return nettest.Answer{Body: `{"items":[` + c.list + `],"bookmark":null}`}
		})
		f, err := adapter(h).Find(t.Context(), jobOf(c.post), nil, window)
		if err != nil || f.Verdict != c.want || h.Last().Name() != "GET v5/boards/55/pins" {
			t.Errorf("%s: %+v, %v from %s", name, f, err, h.Last().Name())
		}
	}
}

func TestCheckLearnsTheBoards(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		switch {
		case strings.HasSuffix(c.Path, "user_account"):
			return nettest.Answer{Body: `{"id":"7","username":"bakery"}`}
		case c.Query.Get("bookmark") == "":
			return nettest.Answer{Body: `{"items":[{"id":"1","name":"Bread; rolls=buns"}],"bookmark":"more"}`}
		}
		return nettest.Answer{Body: `{"items":[{"id":"2","name":"Cakes"}],"bookmark":null}`}
	})
	p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account)
	if err != nil || p.RemoteID != "7" || p.Handle != "@bakery" || p.Settings["boards"] != "1=Bread%3B rolls=buns;2=Cakes" {
		t.Errorf("got %+v, %v", p, err)
	}
	n, _ := network.Get(network.Pinterest)
	o, _ := n.With(p.Settings).Option(network.OptBoard)
	if o.Kind != network.Choose || len(o.Choices) != 2 || o.Choices[0] != (network.Choice{Value: "1", Label: "Bread; rolls=buns"}) || o.Choices[1] != (network.Choice{Value: "2", Label: "Cakes"}) {
		t.Errorf("the composer asks %+v", o)
	}
}

func TestATokenIsRenewedWithTheAppInTheHeader(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"access_token":"A2","refresh_token":"R2","expires_in":2592000,"scope":"pins:read,pins:write"}`}
	})
	got, err := adapter(h).Refresh(t.Context(), jobOf(networks.Post{}).Account)
	if err != nil || got.Refresh.Reveal() != "R2" || len(got.Scopes) != 2 || h.Last().Path != "/x/v5/oauth/token" || !strings.HasPrefix(h.Last().Header.Get("Authorization"), "Basic ") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzAListNeverPanics(f *testing.F) {
	f.Add(`{"id":"1","created_at":"2022-10-13T01:40:29","link":"%zz","media":null}`, "a")
	f.Fuzz(func(t *testing.T, raw, text string) {
		var l listed
		if json.Unmarshal([]byte(raw), &l) == nil {
			l.made()
			l.like(jobOf(networks.Post{Format: network.FormatImage, Text: text, Link: text}))
		}
		if s := network.Offer([]network.Choice{{Value: "1", Label: raw}, {Value: "2", Label: text}}); strings.Count(s, ";") > 1 || strings.ContainsAny(s, "\n\r\t") {
			t.Errorf("%q", fmt.Sprint(s))
		}
	})
}
