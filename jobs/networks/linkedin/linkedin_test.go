package linkedin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

const us = "urn:li:organization:7"

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Guarded: h.Client, ClientID: "app", ClientSecret: "hush", Now: func() time.Time { return noon }})
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.LinkedIn, RemoteID: us, Token: secret.NewToken("AT"), Refresh: secret.NewToken("RT")}}
}

func load(kind network.MediaKind, size int) networks.Media {
	return networks.Media{Media: network.Media{Kind: kind, Type: "image/png", Bytes: int64(size), Alt: "a loaf"},
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Repeat("p", size))), nil
		}}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"status":422,"message":"Content is a duplicate of urn:li:share:1"}`, `{"status":400,"errorDetails":{"inputErrors":[{}]}}`)
}

func TestLittleTextEscapesItsSignsAndKeepsHashtags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Fresh #bread (today)":      `Fresh #bread \(today\)`,
		`a\b`:                       `a\\b`,
		"|{}@[]()<>*_~":             `\|\{\}\@\[\]\(\)\<\>\*\_\~`,
		"C# and # and #1 and ##two": `C\# and \# and #1 and \##two`,
		"a#b":                       `a\#b`,
		"#größe #日本":                `#größe #日本`,
		"":                          "",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q goes as %q, want %q", text, got, want)
		}
		if got := plain(escape(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
	if got := plain(`Hello @[The \(Bakery\)](urn:li:organization:1), {hashtag|\#|bread} and {hashtag|#|rolls}`); got != "Hello The (Bakery), #bread and #rolls" {
		t.Errorf("read as %q", got)
	}
}

func FuzzLittleTextReadsAsItWasWritten(f *testing.F) {
	f.Add("a\\#b {hashtag|#|c} @[d](e) #f")
	f.Add("\xff#\\")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		if got := plain(escape(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	})
}

// site is LinkedIn as far as these tests need it.
type site struct {
	base   string
	states []string
	puts   []string
	sealed string
	reads  bool // the app may ask for assets
	post   nettest.Answer
	list   string
}

func (s *site) answer(c nettest.Call) nettest.Answer {
	action := c.Query.Get("action")
	switch name := c.Name(); {
	case name == "POST rest/images" && action == "initializeUpload":
		return nettest.Answer{Body: `{"value":{"uploadUrl":"` + s.base + `/x/up/0","image":"urn:li:image:C1"}}`}
	case name == "POST rest/documents" && action == "initializeUpload":
		return nettest.Answer{Body: `{"value":{"uploadUrl":"` + s.base + `/x/up/0","document":"urn:li:document:F1"}}`}
	case name == "POST rest/videos" && action == "initializeUpload":
		return nettest.Answer{Body: fmt.Sprintf(`{"value":{"video":"urn:li:video:D1","uploadToken":"","uploadInstructions":[{"uploadUrl":"%[1]s/x/up/0","firstByte":0,"lastByte":4194303},{"uploadUrl":"%[1]s/x/up/1","firstByte":4194304,"lastByte":4194308}]}}`, s.base)}
	case action == "finalizeUpload":
		s.sealed = c.File
		return nettest.Answer{}
	case c.Method == "PUT":
		s.puts = append(s.puts, fmt.Sprint(name[len("PUT up/"):], ":", len(c.File), ":", c.Header.Get("Authorization")))
		return nettest.Answer{Status: 201, Header: map[string]string{"ETag": `"tag` + c.Path[len(c.Path)-1:] + `"`}}
	case strings.Contains(name, "urn:li:image") || strings.Contains(name, "urn:li:document") || strings.Contains(name, "urn:li:video"):
		if !s.reads {
			return nettest.Answer{Status: 403, Body: `{"status":403,"code":"ACCESS_DENIED","message":"no"}`}
		}
		state := s.states[0]
		s.states = s.states[1:]
		return nettest.Answer{Body: `{"status":"` + state + `"}`}
	case name == "POST rest/posts":
		return s.post
	case name == "GET rest/posts":
		return nettest.Answer{Body: s.list}
	}
	return nettest.Answer{Status: 404, Body: `{"status":404,"message":"no"}`}
}

func host(t *testing.T, s *site) *nettest.Host {
	h := nettest.New(t, s.answer)
	s.base = h.URL
	return h
}

var posted = nettest.Answer{Status: 201, Header: map[string]string{"X-Restli-Id": "urn:li:share:7001"}}

func TestAPostHoldsWhatTheWriterChose(t *testing.T) {
	t.Parallel()
	const frame = `{"author":"urn:li:organization:7","commentary":"Look \\(here\\)","visibility":"PUBLIC","distribution":{"feedDistribution":"MAIN_FEED","targetEntities":[],"thirdPartyDistributionChannels":[]},"lifecycleState":"PUBLISHED","isReshareDisabledByAuthor":false%s}`
	picture, film := load(network.Image, 5), load(network.Video, 5)
	for name, c := range map[string]struct {
		post networks.Post
		want string
	}{
		"text":       {networks.Post{Format: network.FormatText}, fmt.Sprintf(frame, "")},
		"link":       {networks.Post{Format: network.FormatLink, Link: "https://bakery.example/a"}, fmt.Sprintf(frame, `,"content":{"article":{"source":"https://bakery.example/a","title":"bakery.example"}}`)},
		"a card":     {networks.Post{Format: network.FormatLink, Link: "https://bakery.example/a", Options: map[string]string{network.OptLinkTitle: "Bread", network.OptLinkWords: "Fresh"}}, fmt.Sprintf(frame, `,"content":{"article":{"source":"https://bakery.example/a","title":"Bread","description":"Fresh"}}`)},
		"picture":    {networks.Post{Format: network.FormatImage, Media: []networks.Media{picture}}, fmt.Sprintf(frame, `,"content":{"media":{"id":"urn:li:image:C1","altText":"a loaf"}}`)},
		"pictures":   {networks.Post{Format: network.FormatImages, Media: []networks.Media{picture, picture}}, fmt.Sprintf(frame, `,"content":{"multiImage":{"images":[{"id":"urn:li:image:C1","altText":"a loaf"},{"id":"urn:li:image:C1","altText":"a loaf"}]}}`)},
		"film":       {networks.Post{Format: network.FormatVideo, Media: []networks.Media{film}, Options: map[string]string{network.OptTitle: "Oven"}}, fmt.Sprintf(frame, `,"content":{"media":{"id":"urn:li:video:D1","title":"Oven","altText":"a loaf"}}`)},
		"document":   {networks.Post{Format: network.FormatDocument, Media: []networks.Media{load(network.Document, 5)}, Options: map[string]string{network.OptDocTitle: "Menu"}}, fmt.Sprintf(frame, `,"content":{"media":{"id":"urn:li:document:F1","title":"Menu"}}`)},
		"restricted": {networks.Post{Format: network.FormatText, Options: map[string]string{network.OptVisibility: "CONNECTIONS", network.OptReshare: "false"}}, strings.NewReplacer("PUBLIC", "CONNECTIONS", "ByAuthor\":false", "ByAuthor\":true").Replace(fmt.Sprintf(frame, ""))},
	} {
		s := &site{reads: true, post: posted, states: []string{"WAITING_UPLOAD", "AVAILABLE", "AVAILABLE"}}
		if name != "film" {
			s.states = s.states[1:]
		} else {
			c.post.Media[0] = load(network.Video, 4194309)
		}
		h := host(t, s)
		c.post.Text = "Look (here)"
		ready, err := adapter(h).Prepare(t.Context(), jobOf(c.post), h.Handles())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := adapter(h).Commit(t.Context(), ready)
		if err != nil || r.ExternalID != "urn:li:share:7001" || r.Permalink != "https://www.linkedin.com/feed/update/urn:li:share:7001/" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if last := h.Last(); last.File != c.want || last.Header.Get("LinkedIn-Version") != DefaultVersion || last.Header.Get("X-Restli-Protocol-Version") != "2.0.0" {
			t.Errorf("%s: sent %s\nwant %s", name, last.File, c.want)
		}
	}
}

func TestAVideoGoesInPartsAndItsTagsSealIt(t *testing.T) {
	t.Parallel()
	s := &site{reads: true, states: []string{"WAITING_UPLOAD", "PROCESSING", "AVAILABLE"}}
	h := host(t, s)
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatVideo, Media: []networks.Media{load(network.Video, 4194309)}})
	kept.FailAt = 2 // the tag of the second part is lost
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Code != "not_saved" {
		t.Fatalf("got %v", err)
	}
	kept.FailAt = 0
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Kind != fault.Waiting {
		t.Fatalf("got %v", err)
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.puts, " "); got != "0:4194304:Bearer AT 1:5:Bearer AT 1:5:Bearer AT" {
		t.Errorf("sent %s", got)
	}
	if s.sealed != `{"finalizeUploadRequest":{"uploadToken":"","uploadedPartIds":["tag0","tag1"],"video":"urn:li:video:D1"}}` {
		t.Errorf("sealed with %s", s.sealed)
	}
}

func TestAnAppThatMayNotAskLooksAwayForAWhile(t *testing.T) {
	t.Parallel()
	s := &site{}
	h := host(t, s)
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatImage, Media: []networks.Media{load(network.Image, 5)}})
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Kind != fault.Waiting {
		t.Fatalf("at once: %v", err)
	}
	kept.Kept[media(0)+sent] = noon.Add(-time.Minute).Format(time.RFC3339)
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil || len(s.puts) != 1 {
		t.Errorf("later: %v after %v", err, s.puts)
	}
}

func TestAnUploadElsewhereShowsTheTokenToLinkedInAlone(t *testing.T) {
	t.Parallel()
	a := New(networks.Env{})
	for address, want := range map[string]bool{
		"https://api.linkedin.com/rest/posts": true, "https://www.linkedin.com/dms-uploads/1": true, "http://www.linkedin.com/dms-uploads/1": false,
		"https://linkedin.com.evil.example/1": false, "https://evil-linkedin.com/1": false,
	} {
		req, _ := http.NewRequest("PUT", address, nil)
		a.sign(req, secret.NewToken("AT"))
		if got := req.Header.Get("Authorization") != ""; got != want {
			t.Errorf("%s sees the token: %t", address, got)
		}
	}
}

func TestASecondPostThatIsRefusedNamesTheFirst(t *testing.T) {
	t.Parallel()
	text := networks.Post{Format: network.FormatText, Text: "Look (here)"}
	for name, c := range map[string]struct {
		shown nettest.Answer
		want  networks.Verdict
	}{
		"it is there":        {nettest.Answer{Body: `{"id":"urn:li:share:7001","author":"urn:li:organization:7","commentary":"Look \\(here\\)"}`}, networks.Found},
		"it is another":      {nettest.Answer{Body: `{"id":"urn:li:share:7001","author":"urn:li:organization:7","commentary":"Else"}`}, networks.CantTell},
		"it was deleted":     {nettest.Answer{Status: 404, Body: `{"status":404,"message":"no"}`}, networks.CantTell},
		"nobody may read it": {nettest.Answer{Status: 403, Body: `{"status":403,"message":"no"}`}, networks.Found},
	} {
		h := nettest.New(t, func(call nettest.Call) nettest.Answer {
			if call.Method == "POST" {
				return nettest.Answer{Status: 422, Body: `{"message":"Content is a duplicate of urn:li:share:7001","status":422,"code":"DUPLICATE_POST"}`}
			}
			return c.shown
		})
		kept, job := h.Handles(), jobOf(text)
		job.Attempt = 2
		ready, _ := adapter(h).Prepare(t.Context(), job, kept)
		if _, err := adapter(h).Commit(t.Context(), ready); fault.Of(err).Kind != fault.Unknown || kept.Get(duplicate) != "urn:li:share:7001" {
			t.Fatalf("%s: %v with %v", name, err, kept.Kept)
		}
		f, err := adapter(h).Find(t.Context(), job, kept, window)
		if err != nil || f.Verdict != c.want || (c.want == networks.Found) != (f.Receipt.ExternalID == "urn:li:share:7001") {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if got := h.Last(); got.Method != "GET" || !strings.Contains(got.Path, "/rest/posts/urn:li:share:7001") || got.Query.Get("viewContext") != "AUTHOR" {
			t.Errorf("%s: asked %s", name, got.Path)
		}
	}
}

func TestFindKnowsAPostByItsFilesElseByItsWords(t *testing.T) {
	t.Parallel()
	at := noon.UnixMilli()
	item := func(id, words, content string) string {
		raw, _ := json.Marshal(words)
		return fmt.Sprintf(`{"id":"urn:li:share:%s","author":%q,"commentary":%s,"publishedAt":%d%s}`, id, us, raw, at, content)
	}
	text := networks.Post{Format: network.FormatText, Text: "Look (here) #bread"}
	picture := networks.Post{Format: network.FormatImage, Text: "Look", Media: []networks.Media{load(network.Image, 1)}}
	for name, c := range map[string]struct {
		post networks.Post
		list string
		want networks.Verdict
	}{
		"the words":           {text, item("1", `Look \(here\) #bread`, ""), networks.Found},
		"a hashtag, spelt":    {text, item("1", `Look \(here\) {hashtag|\#|bread}`, ""), networks.Found},
		"other words":         {text, item("1", "Look", ""), networks.Absent},
		"with a picture":      {text, item("1", `Look \(here\) #bread`, `,"content":{"media":{"id":"urn:li:image:C9"}}`), networks.Absent},
		"our file":            {picture, item("1", "edited", `,"content":{"media":{"id":"urn:li:image:C1"}}`), networks.Found},
		"our file in several": {picture, item("1", "edited", `,"content":{"multiImage":{"images":[{"id":"urn:li:image:C2"},{"id":"urn:li:image:C1"}]}}`), networks.Found},
		"a twin's file":       {picture, item("1", "Look", `,"content":{"media":{"id":"urn:li:image:C9"}}`), networks.CantTell},
	} {
		h := host(t, &site{list: `{"elements":[` + c.list + `]}`})
		kept := h.Handles()
		kept.Kept[media(0)] = "urn:li:image:C1"
		f, err := adapter(h).Find(t.Context(), jobOf(c.post), kept, window)
		if err != nil || f.Verdict != c.want {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if q, m := h.Last().Query, h.Last().Header.Get("X-RestLi-Method"); q.Get("author") != us || q.Get("count") != "100" || m != "FINDER" {
			t.Errorf("asked for %v by %s", q, m)
		}
	}
}

func TestACommentIsNotEscapedAndWrittenOnce(t *testing.T) {
	t.Parallel()
	lost := true
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Method == "POST" {
			return nettest.Answer{Close: lost, Status: 201, Body: `{"id":"6001"}`}
		}
		lost = false
		return nettest.Answer{Body: fmt.Sprintf(`{"elements":[{"id":"6000","actor":%q,"message":{"text":"More (here)"},"created":{"time":%d}}]}`, us, noon.UnixMilli())}
	})
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatText, Text: "a", FirstComment: "More (here)"})
	receipt := networks.Receipt{ExternalID: "urn:li:share:7001"}
	if _, err := adapter(h).Follow(t.Context(), job, receipt, kept); err == nil {
		t.Fatal("nothing was said of the lost answer")
	}
	if got := h.Last(); got.File != `{"actor":"urn:li:organization:7","message":{"text":"More (here)"},"object":"urn:li:share:7001"}` || got.Path != "/x/rest/socialActions/urn:li:share:7001/comments" {
		t.Errorf("sent %s to %s", got.File, got.Path)
	}
	if _, err := adapter(h).Follow(t.Context(), job, receipt, kept); err != nil || kept.Get(comment) != "6000" || len(h.Calls()) != 2 {
		t.Errorf("%v with %v", err, kept.Kept)
	}
}

func TestCheckAsksForTheMemberOrForTheRight(t *testing.T) {
	t.Parallel()
	has := `{"elements":[{"organizationTarget":"urn:li:organization:7"}]}`
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if strings.HasSuffix(c.Path, "userinfo") {
			return nettest.Answer{Body: `{"sub":"abc","name":"Ann Baker"}`}
		}
		return nettest.Answer{Body: has}
	})
	account := jobOf(networks.Post{}).Account
	if p, err := adapter(h).Check(t.Context(), account); err != nil || p.RemoteID != us {
		t.Errorf("organisation: %+v, %v", p, err)
	}
	has = `{"elements":[]}`
	if _, err := adapter(h).Check(t.Context(), account); fault.Of(err).Code != "no_role" {
		t.Errorf("without a role: %v", err)
	}
	account.RemoteID = ""
	if p, err := adapter(h).Check(t.Context(), account); err != nil || p.RemoteID != "urn:li:person:abc" || p.Name != "Ann Baker" {
		t.Errorf("member: %+v, %v", p, err)
	}
}

func TestATokenWithoutARenewalIsReconnected(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"access_token":"A2","expires_in":5184000,"scope":"w_member_social"}`}
	})
	account := jobOf(networks.Post{}).Account
	got, err := adapter(h).Refresh(t.Context(), account)
	if err != nil || got.Access.Reveal() != "A2" || !got.Refresh.Empty() || !got.Expires.Equal(noon.Add(60*24*time.Hour)) || h.Last().Path != "/x/oauth/v2/accessToken" || h.Last().Form.Get("client_secret") != "hush" {
		t.Errorf("got %+v, %v", got, err)
	}
	account.Refresh = secret.Token{}
	if _, err := adapter(h).Refresh(t.Context(), account); fault.Of(err).Kind != fault.Auth {
		t.Errorf("got %v", err)
	}
}

func FuzzAListNeverPanics(f *testing.F) {
	f.Add(`{"id":"urn:li:share:1","commentary":"\\","content":{"multiImage":null}}`, "urn:li:share:")
	f.Fuzz(func(t *testing.T, raw, text string) {
		var l listed
		if json.Unmarshal([]byte(raw), &l) == nil {
			l.Content.files()
			sameText(l.Commentary, text)
		}
		if urn := postNamed([]byte(raw)); urn != "" && !isPost(urn) {
			t.Errorf("%q names no post", urn)
		}
	})
}
