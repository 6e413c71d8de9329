package blotato

import (
	"bytes"
	"context"
	"encoding/json"
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

// house is Blotato as far as these tests need it.
type house struct {
	base  string
	state map[string]any // of submission s1
	items any
	file  string
}

func says(v any) nettest.Answer {
	b, _ := json.Marshal(v)
	return nettest.Answer{Body: string(b)}
}

func (s *house) answer(c nettest.Call) nettest.Answer {
	switch c.Name() {
	case "POST v2/media/uploads":
		return says(map[string]string{"presignedUrl": s.base + "/x/put?sig=1", "publicUrl": "https://cdn.example/u1"})
	case "PUT put":
		s.file = c.File
		return nettest.Answer{}
	case "POST v2/posts":
		return nettest.Answer{Status: 201, Body: `{"postSubmissionId":"s1"}`}
	case "GET v2/posts/s1":
		return says(s.state)
	case "GET v2/posts":
		return says(map[string]any{"items": s.items})
	case "GET v2/users/me/accounts":
		return nettest.Answer{Body: `{"items":[{"id":"42","platform":"facebook","fullname":"Bakery","username":"bakery"}]}`}
	case "GET v2/users/me/accounts/42/subaccounts":
		return nettest.Answer{Body: `{"items":[{"id":"900","accountId":"42","name":"Bakery"}]}`}
	}
	return nettest.Answer{Status: 404, Body: `{"message":"Not Found"}`}
}

func start(t testing.TB, s *house) (*nettest.Host, *Adapter) {
	h := nettest.New(t, s.answer)
	s.base = h.URL
	return h, New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Guarded: h.Client})
}

func file(kind network.MediaKind, mime string) []networks.Media {
	return []networks.Media{{Media: network.Media{Kind: kind, Type: mime, Bytes: 3, Alt: "A loaf"}, Name: "loaf",
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte("abc"))), nil }}}
}

func jobOf(name network.Name, p networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: p, Account: networks.Account{Network: name, RemoteID: "42", Token: secret.NewToken("blt_x="), Settings: map[string]string{"page_id": "900"}}}
}

func words() networks.Job {
	return jobOf(network.X, networks.Post{Format: network.FormatText, Text: "Bread"})
}

func wantKind(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if f := fault.Of(err); f == nil || f.Kind != kind || f.Code != code {
		t.Errorf("got %v, want %s (%s)", err, kind, code)
	}
}

func send(t *testing.T, a *Adapter, job networks.Job, h networks.Handles) error {
	t.Helper()
	ready, err := a.Prepare(t.Context(), job, h)
	if err != nil {
		return err
	}
	_, err = a.Commit(t.Context(), ready)
	return err
}

// The posts behind the first go with it; the link is below the last.
func TestAThreadGoesOutWhole(t *testing.T) {
	t.Parallel()
	thread := map[string]string{network.OptThread: "true"}
	for _, c := range []struct {
		on   network.Name
		post networks.Post
		want string
	}{
		{network.X, networks.Post{Text: "One\n---\nTwo\n---\nThree", Options: thread},
			`{"additionalPosts":[{"mediaUrls":[],"text":"Two"},{"mediaUrls":[],"text":"Three"}],"mediaUrls":[],"platform":"twitter","text":"One"}`},
		{network.Bluesky, networks.Post{Text: "One\n---\nTwo", Link: "https://b.example", Options: thread},
			`{"additionalPosts":[{"mediaUrls":[],"text":"Two\n\nhttps://b.example"}],"mediaUrls":[],"platform":"bluesky","text":"One"}`},
		{network.Threads, networks.Post{Text: "One\n---\nTwo"}, `{"mediaUrls":[],"platform":"threads","text":"One\n---\nTwo"}`},
		{network.LinkedIn, networks.Post{Text: "One\n---\nTwo", Options: thread}, `{"mediaUrls":[],"platform":"linkedin","text":"One\n---\nTwo"}`},
		{network.Facebook, networks.Post{Text: "One", Link: "https://b.example", Options: map[string]string{network.OptPreview: "false"}},
			`{"mediaUrls":[],"platform":"facebook","text":"One\n\nhttps://b.example"}`},
	} {
		h, a := start(t, &house{})
		c.post.Format = network.FormatText
		wantKind(t, send(t, a, jobOf(c.on, c.post), h.Handles()), fault.Unknown, "accepted")
		var got struct {
			Post struct {
				Content json.RawMessage `json:"content"`
				Target  map[string]any  `json:"target"`
			} `json:"post"`
		}
		if err := json.Unmarshal([]byte(h.Last().File), &got); err != nil || string(got.Post.Content) != c.want || got.Post.Target["link"] != nil {
			t.Errorf("%s: %s (%v), want %s", c.on, got.Post.Content, err, c.want)
		}
	}
}

// TestEachNetworkIsToldInItsOwnWords holds the targets against the documented ones.
func TestEachNetworkIsToldInItsOwnWords(t *testing.T) {
	t.Parallel()
	picture, film := file(network.Image, "image/jpeg"), file(network.Video, "video/mp4")
	for _, c := range []struct {
		on   network.Name
		post networks.Post
		want string
	}{
		{network.X, networks.Post{Format: network.FormatText, Link: "https://b.example"}, `{"targetType":"twitter"}`},
		{network.Bluesky, networks.Post{Format: network.FormatImage, Media: picture}, `{"targetType":"bluesky"}`},
		{network.LinkedIn, networks.Post{Format: network.FormatText}, `{"pageId":"900","targetType":"linkedin"}`},
		{network.Facebook, networks.Post{Format: network.FormatReel, Media: film}, `{"mediaType":"reel","pageId":"900","targetType":"facebook"}`},
		{network.Facebook, networks.Post{Format: network.FormatLink, Link: "https://b.example"}, `{"link":"https://b.example","pageId":"900","targetType":"facebook"}`},
		{network.Instagram, networks.Post{Format: network.FormatImage, Media: picture, Options: map[string]string{"collaborators": "@a"}}, `{"altText":"A loaf","collaborators":["a"],"targetType":"instagram"}`},
		{network.Instagram, networks.Post{Format: network.FormatReel, Media: film}, `{"altText":"A loaf","mediaType":"reel","shareToFeed":true,"targetType":"instagram"}`},
		{network.TikTok, networks.Post{Format: network.FormatVideo, Media: film, Options: map[string]string{"privacy": "SELF_ONLY", "disclose": "own", "comments": "false"}},
			`{"disabledComments":true,"disabledDuet":false,"disabledStitch":false,"isAiGenerated":false,"isBrandedContent":false,"isYourBrand":true,"privacyLevel":"SELF_ONLY","targetType":"tiktok"}`},
		{network.Pinterest, networks.Post{Format: network.FormatImage, Media: picture, Link: "https://b.example", Options: map[string]string{"board": "7"}}, `{"altText":"A loaf","boardId":"7","link":"https://b.example","targetType":"pinterest"}`},
		{network.Threads, networks.Post{Format: network.FormatText, Options: map[string]string{"replies": "mentioned_only"}}, `{"replyControl":"mentioned_only","targetType":"threads"}`},
		{network.YouTube, networks.Post{Format: network.FormatVideo, Media: film, Options: map[string]string{"title": "Loaf", "privacy": "public", "notify": "false"}},
			`{"containsSyntheticMedia":false,"isMadeForKids":false,"privacyStatus":"public","shouldNotifySubscribers":false,"targetType":"youtube","title":"Loaf"}`},
	} {
		s := &house{}
		h, a := start(t, s)
		c.post.Text = "Bread"
		kept := h.Handles()
		wantKind(t, send(t, a, jobOf(c.on, c.post), kept), fault.Unknown, "accepted")
		var got struct {
			Post struct {
				Account string          `json:"accountId"`
				Target  json.RawMessage `json:"target"`
				Content struct {
					Text, Platform string
					URLs           []string `json:"mediaUrls"`
				} `json:"content"`
			} `json:"post"`
		}
		last := h.Last()
		if err := json.Unmarshal([]byte(last.File), &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Post.Target) != c.want || got.Post.Account != "42" || !strings.HasPrefix(got.Post.Content.Text, "Bread") || !strings.Contains(c.want, `"targetType":"`+got.Post.Content.Platform+`"`) ||
			len(got.Post.Content.URLs) != len(c.post.Media) || strings.Contains(last.File, "scheduledTime") || kept.Kept[submission] != "s1" {
			t.Errorf("%s: got %s\nwant the target %s", c.on, last.File, c.want)
		}
		if last.Header.Get("Blotato-Api-Key") != "blt_x=" || len(c.post.Media) > 0 && s.file != "abc" {
			t.Errorf("%s: key %q, file %q", c.on, last.Header.Get("Blotato-Api-Key"), s.file)
		}
	}
}

// TestInProgressDecidesNothing: an id that Blotato does not know answers so too.
func TestInProgressDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"in-progress", "scheduled", "something-new"} {
		h, a := start(t, &house{state: map[string]any{"status": status}})
		kept := h.Handles()
		kept.Kept[submission] = "s1"
		_, err := a.Find(t.Context(), words(), kept, networks.Window{})
		wantKind(t, err, fault.Transient, "processing")
		job := words()
		job.Attempt = 2
		wantKind(t, send(t, a, job, kept), fault.Unknown, "accepted")
		if h.Count("POST v2/posts") != 0 {
			t.Errorf("%s: sent again", status)
		}
	}
}

func TestWhatFailedIsToldAndMadeAnew(t *testing.T) {
	t.Parallel()
	for said, c := range map[string]struct {
		kind fault.Kind
		code string
	}{
		"reached_active_user_cap": {fault.RateLimited, "reached_active_user_cap"}, "Wrong Account ID": {fault.Permission, "wrong_account"},
		"Invalid File Format": {fault.Validation, "file_format"}, "Invalid Video Dimensions": {fault.Validation, "video_dimensions"}, "else": {fault.Validation, "failed"},
	} {
		h, a := start(t, &house{state: map[string]any{"status": "failed", "errorMessage": said}})
		kept := h.Handles()
		kept.Kept[submission] = "s1"
		if f, err := a.Find(t.Context(), words(), kept, networks.Window{}); err != nil || f.Verdict != networks.Absent {
			t.Errorf("%s: %+v, %v", said, f, err)
		}
		wantKind(t, send(t, a, words(), kept), c.kind, c.code)
		wantKind(t, send(t, a, words(), kept), fault.Unknown, "accepted")
		if h.Count("POST v2/posts") != 1 {
			t.Errorf("%s: sent %d times", said, h.Count("POST v2/posts"))
		}
	}
}

// TestTheListTellsByPresenceAlone: of its time, account and text, and one alone.
func TestTheListTellsByPresenceAlone(t *testing.T) {
	t.Parallel()
	at := nettest.Noon
	post := func(id, account, text, status string, at time.Time) map[string]any {
		return map[string]any{"postSubmissionId": id, "accountId": account, "status": status, "content": map[string]string{"text": text}, "createdAt": at}
	}
	ours := post("s1", "42", "Bread", "published", at)
	for name, c := range map[string]struct {
		items []any
		want  networks.Verdict
	}{
		"ours": {[]any{post("s2", "42", "Rolls", "published", at), ours}, networks.Found}, "nothing": {[]any{}, networks.CantTell}, "two": {[]any{ours, post("s3", "42", "Bread", "published", at)}, networks.CantTell},
		"taken": {[]any{post("s9", "42", "Bread", "published", at)}, networks.CantTell}, "another's": {[]any{post("s1", "43", "Bread", "published", at)}, networks.CantTell},
		"older": {[]any{post("s1", "42", "Bread", "published", at.Add(-time.Hour))}, networks.CantTell}, "failed": {[]any{post("s1", "42", "Bread", "failed", at)}, networks.CantTell},
	} {
		h, a := start(t, &house{items: c.items, state: map[string]any{"status": "published", "publicUrl": "https://x.com/1"}})
		f, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{Since: at.Add(-time.Minute), Until: at.Add(time.Minute), Taken: []string{"s9"}})
		if err != nil || f.Verdict != c.want || (f.Receipt.Permalink != "") != (c.want == networks.Found) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestCheckLearnsThePage(t *testing.T) {
	t.Parallel()
	_, a := start(t, &house{})
	account := jobOf(network.Facebook, networks.Post{}).Account
	account.Settings = nil
	if p, err := a.Check(t.Context(), account); err != nil || p.Handle != "bakery" || p.Settings["page_id"] != "900" {
		t.Errorf("%+v, %v", p, err)
	}
	account.RemoteID = "43"
	_, err := a.Check(t.Context(), account)
	wantKind(t, err, fault.Permission, "not_connected")
	job := jobOf(network.Facebook, networks.Post{Format: network.FormatText, Text: "Bread"})
	job.Account.Settings = nil
	wantKind(t, send(t, a, job, nil), fault.Validation, "page_missing")
}

func TestFollowWaitsForTheAddress(t *testing.T) {
	t.Parallel()
	s := &house{state: map[string]any{"status": "published"}}
	_, a := start(t, s)
	_, err := a.Follow(t.Context(), words(), networks.Receipt{ExternalID: "s1"}, nil)
	wantKind(t, err, fault.Transient, "no_address_yet")
	s.state["publicUrl"] = "https://x.com/1"
	if r, err := a.Follow(t.Context(), words(), networks.Receipt{ExternalID: "s1"}, nil); err != nil || r.Permalink == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	_, a := start(t, &house{})
	nettest.Walk(t, a.door.Table, nettest.File(t, "refusals.txt"))
}

func FuzzRefusals(f *testing.F) {
	_, a := start(f, &house{})
	nettest.FuzzTable(f, a.door.Table, `{"message":"x","errors":["y"]}`, `{"statusCode":429,"message":"slow"}`)
}

// FuzzItem reads whatever the list holds: what is taken for ours has a name.
func FuzzItem(f *testing.F) {
	f.Add(`{"id":"1","accountId":42,"text":"Bread","createdAt":"2026-05-01T10:00:00Z"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var p item
		w := networks.Window{Since: nettest.Noon.Add(-time.Minute), Until: nettest.Noon.Add(time.Minute)}
		if json.Unmarshal([]byte(raw), &p) == nil && p.fits(words(), "Bread", w) && p.name() == "" {
			t.Errorf("%+v", p)
		}
	})
}
