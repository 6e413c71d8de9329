package bundle

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

var noon = nettest.Noon

// house is Bundle.social as far as these tests need it: one post.
type house struct {
	base  string
	post  map[string]any // what it says of the post; nil: it knows none
	large []byte
	again int
	hook  func(nettest.Call) *nettest.Answer
}

func says(v any) nettest.Answer {
	b, _ := json.Marshal(v)
	return nettest.Answer{Body: string(b)}
}

func no(status int, words string) nettest.Answer {
	return nettest.Answer{Status: status, Body: `{"message":"` + words + `"}`}
}

func (s *house) answer(c nettest.Call) nettest.Answer {
	if s.hook != nil {
		if a := s.hook(c); a != nil {
			return *a
		}
	}
	known := func() nettest.Answer {
		if s.post == nil {
			return no(404, "Post not found")
		}
		all := map[string]any{"id": "p1", "teamId": "T1", "referenceKey": "k", "updatedAt": "1"}
		for k, v := range s.post {
			all[k] = v
		}
		return says(all)
	}
	switch c.Name() {
	case "POST api/v1/upload/":
		return says(map[string]string{"id": "u1", "teamId": "T1"})
	case "POST api/v1/upload/init":
		return says(map[string]string{"url": s.base + "/x/there?sig=1", "path": "a/b"})
	case "PUT there":
		s.large = []byte(c.File)
		return nettest.Answer{}
	case "POST api/v1/upload/finalize":
		return says(map[string]string{"id": "u2", "teamId": "T1"})
	case "POST api/v1/post/":
		s.post = map[string]any{"status": "SCHEDULED"}
		return known()
	case "POST api/v1/post/p1/retry", "PATCH api/v1/post/p1":
		s.again++
		s.post = map[string]any{"status": "SCHEDULED", "updatedAt": "2"}
		return known()
	case "GET api/v1/post/reference-key/k":
		return known()
	case "GET api/v1/team/T1":
		return says(map[string]any{"id": "T1", "socialAccounts": []any{
			map[string]any{"type": "FACEBOOK", "username": "bakery", "displayName": "Bakery"},
			map[string]any{"type": "PINTEREST", "username": "pins", "channels": []any{map[string]string{"id": "7", "name": "Bread"}}}}})
	}
	return no(404, "Not Found")
}

func start(t testing.TB, s *house) (*nettest.Host, *Adapter) {
	h := nettest.New(t, s.answer)
	s.base = h.URL
	return h, New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Guarded: h.Client, Now: func() time.Time { return noon }})
}

func picture(n int, alt string) networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Image, Type: "image/jpeg", Bytes: int64(n), Alt: alt}, Name: "loaf.jpg",
		Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(make([]byte, n))), nil
		}}
}

func film() networks.Media {
	m := picture(4, "A loaf")
	m.Kind, m.Type = network.Video, "video/mp4"
	return m
}

func jobOf(name network.Name, p networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: p, Account: networks.Account{Network: name, RemoteID: "T1", Token: secret.NewToken("key=")}}
}

func wantKind(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if f := fault.Of(err); f == nil || f.Kind != kind || f.Code != code {
		t.Errorf("got %v, want %s (%s)", err, kind, code)
	}
}

// send prepares and commits.
func send(t *testing.T, a *Adapter, job networks.Job, h networks.Handles) error {
	t.Helper()
	ready, err := a.Prepare(t.Context(), job, h)
	if err != nil {
		return err
	}
	_, err = a.Commit(t.Context(), ready)
	return err
}

// TestEachNetworkIsToldInItsOwnWords holds the parts against the members that the
// OpenAPI names.
func TestEachNetworkIsToldInItsOwnWords(t *testing.T) {
	t.Parallel()
	one, two := []networks.Media{picture(3, "A loaf")}, []networks.Media{picture(3, "A loaf"), picture(3, "")}
	for name, c := range map[string]struct {
		on   network.Name
		post networks.Post
		want string
	}{
		"x": {network.X, networks.Post{Format: network.FormatText, Text: "Bread", Link: "https://b.example", Options: map[string]string{"replies": "mentionedUsers", "made_by_ai": "true"}},
			`{"isAiGenerated":true,"replySettings":"MENTIONED_USERS","text":"Bread\n\nhttps://b.example"}`},
		"facebook link":  {network.Facebook, networks.Post{Format: network.FormatLink, Text: "Bread", Link: "https://b.example"}, `{"link":"https://b.example","text":"Bread","type":"POST"}`},
		"facebook files": {network.Facebook, networks.Post{Format: network.FormatImages, Text: "Bread", Media: two}, `{"mediaItems":[{"altText":"A loaf","uploadId":"u1"},{"uploadId":"u1"}],"text":"Bread","type":"POST","uploadIds":["u1","u1"]}`},
		"facebook reel":  {network.Facebook, networks.Post{Format: network.FormatReel, Text: "Bread", Media: []networks.Media{film()}, Options: map[string]string{"title": "Loaf"}}, `{"mediaItems":[{"altText":"A loaf","uploadId":"u1"}],"mediaTitle":"Loaf","text":"Bread","type":"REEL","uploadIds":["u1"]}`},
		"instagram": {network.Instagram, networks.Post{Format: network.FormatImage, Text: "Bread", Media: one, Options: map[string]string{"collaborators": "@a, b"}},
			`{"altText":"A loaf","collaborators":["a","b"],"text":"Bread","type":"POST","uploadIds":["u1"]}`},
		"instagram reel": {network.Instagram, networks.Post{Format: network.FormatReel, Text: "", Media: []networks.Media{film()}, Options: map[string]string{"share_to_feed": "false", "thumb_offset": "1500"}},
			`{"altText":"A loaf","shareToFeed":false,"text":"","thumbnailOffset":1500,"type":"REEL","uploadIds":["u1"]}`},
		"threads": {network.Threads, networks.Post{Format: network.FormatLink, Text: "Bread", Link: "https://b.example", Options: map[string]string{"topic": "Baking", "replies": "mentioned_only"}},
			`{"linkAttachment":"https://b.example","replyControl":"mentioned_only","text":"Bread","topicTag":"Baking"}`},
		"linkedin": {network.LinkedIn, networks.Post{Format: network.FormatText, Text: "Bread", Options: map[string]string{"visibility": "CONNECTIONS", "reshare": "false"}}, `{"disableReshare":true,"privacy":"CONNECTIONS","text":"Bread"}`},
		"tiktok photos": {network.TikTok, networks.Post{Format: network.FormatImages, Text: "Bread", Media: two, Options: map[string]string{"privacy": "SELF_ONLY", "disclose": "own", "cover_picture": "2", "comments": "false"}},
			`{"autoAddMusic":false,"disableComments":true,"isBrandContent":false,"isOrganicBrandContent":true,"photoCoverIndex":1,"privacy":"SELF_ONLY","text":"Bread","type":"IMAGE","uploadIds":["u1","u1"]}`},
		"tiktok video": {network.TikTok, networks.Post{Format: network.FormatVideo, Text: "Bread", Media: []networks.Media{film()}, Options: map[string]string{"privacy": "PUBLIC_TO_EVERYONE", "duet": "false", "disclose": "both"}},
			`{"disableComments":false,"disableDuet":true,"disableStitch":false,"isAiGenerated":false,"isBrandContent":true,"isOrganicBrandContent":true,"privacy":"PUBLIC_TO_EVERYONE","text":"Bread","type":"VIDEO","uploadIds":["u1"]}`},
		"youtube": {network.YouTube, networks.Post{Format: network.FormatVideo, Text: "How", Media: []networks.Media{film()}, Options: map[string]string{"title": "Bread", "privacy": "unlisted", "language": "de"}},
			`{"containsSyntheticMedia":false,"defaultLanguage":"de","description":"How","madeForKids":false,"privacy":"UNLISTED","text":"Bread","type":"VIDEO","uploadIds":["u1"]}`},
		"pinterest": {network.Pinterest, networks.Post{Format: network.FormatImage, Text: "How", Link: "https://b.example", Media: one, Options: map[string]string{"board": "Bread", "title": "Loaf"}},
			`{"altText":"A loaf","boardName":"Bread","description":"How","link":"https://b.example","text":"Loaf","uploadIds":["u1"]}`},
		"mastodon": {network.Mastodon, networks.Post{Format: network.FormatText, Text: "Bread", Options: map[string]string{"visibility": "unlisted", "spoiler_text": "Food"}}, `{"privacy":"UNLISTED","spoiler":"Food","text":"Bread"}`},
		"bluesky": {network.Bluesky, networks.Post{Format: network.FormatLink, Text: "Bread", Link: "https://b.example", Options: map[string]string{"link_title": "B"}},
			`{"externalTitle":"B","externalUrl":"https://b.example","text":"Bread"}`},
		"bluesky video": {network.Bluesky, networks.Post{Format: network.FormatVideo, Text: "Bread", Media: []networks.Media{film()}, Options: map[string]string{"label": "nudity"}}, `{"labels":["nudity"],"text":"Bread","uploadIds":["u1"],"videoAlt":"A loaf"}`},
	} {
		h, a := start(t, &house{})
		c.post.FirstComment = map[bool]string{true: "More", false: ""}[c.on == network.Facebook]
		wantKind(t, send(t, a, jobOf(c.on, c.post), h.Handles()), fault.Unknown, "accepted")
		var got struct {
			Team, Title, Key, Status, Date string
			Types                          []string
			Data                           map[string]json.RawMessage
			Comment                        map[string]string
		}
		raw := strings.NewReplacer(`"teamId"`, `"Team"`, `"referenceKey"`, `"Key"`, `"postDate"`, `"Date"`, `"socialAccountTypes"`, `"Types"`, `"firstComment"`, `"Comment"`).Replace(h.Last().File)
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		wire, _ := network.WireName(c.on, network.Bundle)
		if string(got.Data[wire]) != c.want || got.Team != "T1" || got.Key != "k" || got.Title == "" || got.Status != "SCHEDULED" ||
			got.Date != noon.Add(lead).UTC().Format("2006-01-02T15:04:05.000Z07:00") || len(got.Types) != 1 || got.Types[0] != wire {
			t.Errorf("%s: got %s\nwant %s in %+v", name, got.Data[wire], c.want, got)
		}
		if got.Comment[wire] != c.post.FirstComment {
			t.Errorf("%s: comment %q", name, got.Comment)
		}
		if key := h.Last().Header.Get("X-Api-Key"); key != "key=" {
			t.Errorf("%s: key %q", name, key)
		}
	}
	for _, n := range network.Reached(network.Bundle) {
		if parts[n.Name] == nil {
			t.Errorf("nobody knows what to tell %s", n.Name)
		}
	}
}

func words() networks.Job {
	return jobOf(network.X, networks.Post{Format: network.FormatText, Text: "Bread"})
}

// TestWhatItStillWorksOnIsLeftToIt: it retries by itself, so nothing of ours may.
func TestWhatItStillWorksOnIsLeftToIt(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"SCHEDULED", "PROCESSING", "RETRYING", "REVIEW", "SOMETHING_NEW"} {
		s := &house{post: map[string]any{"status": status}}
		h, a := start(t, s)
		if _, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{}); fault.Of(err) == nil || fault.Of(err).Kind != fault.Transient {
			t.Errorf("%s: %v, want to look again", status, err)
		}
		job := words()
		job.Attempt = 2
		wantKind(t, send(t, a, job, h.Handles()), fault.Unknown, "accepted")
		if h.Count("POST api/v1/post/")+s.again != 0 {
			t.Errorf("%s: it was sent again", status)
		}
	}
}

// TestOnlyWhatItGaveUpOnIsTriedAgain: the reason is told once, and the same post
// there is retried.
func TestOnlyWhatItGaveUpOnIsTriedAgain(t *testing.T) {
	t.Parallel()
	for code, c := range map[string]struct {
		refusal map[string]any
		kind    fault.Kind
		code    string
	}{
		"none":       {nil, fault.Validation, "failed"},
		"dead token": {map[string]any{"code": "IG:190", "errorMessage": "dead"}, fault.Permission, "ig:190"},
		"forbidden":  {map[string]any{"code": "X", "httpStatus": 403}, fault.Permission, "x"},
		"slow down":  {map[string]any{"code": "HTTP:429", "isTransient": true}, fault.RateLimited, "http:429"},
		"passing":    {map[string]any{"code": "TT:1", "isTransient": true}, fault.Transient, "tt:1"},
		"retryable":  {map[string]any{"code": "TT:1", "retryability": "retryable"}, fault.Transient, "tt:1"},
		"content":    {map[string]any{"code": "TT:40001", "userFacingMessage": "Too long."}, fault.Validation, "tt:40001"},
	} {
		state := map[string]any{"status": "ERROR", "errorsVerbose": map[string]any{"TWITTER": c.refusal}}
		s := &house{post: state}
		h, a := start(t, s)
		if f, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{}); err != nil || f.Verdict != networks.Absent {
			t.Errorf("%s: %+v, %v", code, f, err)
		}
		job, kept := words(), h.Handles()
		job.Attempt = 2
		wantKind(t, send(t, a, job, kept), c.kind, c.code)
		wantKind(t, send(t, a, job, kept), fault.Unknown, "accepted")
		if s.again != 1 || h.Count("POST api/v1/post/") != 0 {
			t.Errorf("%s: retried %d times, made anew %d times", code, s.again, h.Count("POST api/v1/post/"))
		}
	}
}

func TestAPostThatOtherNetworksTookIsNoSuccessOfOurs(t *testing.T) {
	t.Parallel()
	s := &house{post: map[string]any{"status": "POSTED", "errorsVerbose": map[string]any{"TWITTER": map[string]any{"code": "X:1"}, "FACEBOOK": nil}}}
	h, a := start(t, s)
	if f, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{}); err != nil || f.Verdict != networks.Absent {
		t.Errorf("%+v, %v", f, err)
	}
	s.post = map[string]any{"status": "POSTED", "errorsVerbose": map[string]any{"TWITTER": nil}, "externalData": map[string]any{"TWITTER": map[string]any{"id": "9", "permalink": "https://x.com/9"}}}
	if f, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{}); err != nil || f.Receipt.ExternalID != "9" || f.Receipt.Permalink != "https://x.com/9" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestALateDraftIsGivenANewTime(t *testing.T) {
	t.Parallel()
	s := &house{}
	s.hook = func(c nettest.Call) *nettest.Answer {
		if c.Name() != "POST api/v1/post/" {
			return nil
		}
		s.post = map[string]any{"status": "DRAFT"}
		a := says(map[string]any{"id": "p1", "teamId": "T1", "status": "DRAFT"})
		return &a
	}
	h, a := start(t, s)
	job, kept := words(), h.Handles()
	wantKind(t, send(t, a, job, kept), fault.Transient, "kept_as_draft")
	job.Attempt = 2
	wantKind(t, send(t, a, job, kept), fault.Unknown, "accepted")
	if last := h.Last(); last.Name() != "PATCH api/v1/post/p1" || !strings.Contains(last.File, `"SCHEDULED"`) {
		t.Errorf("%s %s", last.Name(), last.File)
	}
}

// TestAnUnknownKeyIsProofOnlyIfItSaysSoItself: a page of HTML proves nothing.
func TestAnUnknownKeyIsProofOnlyIfItSaysSoItself(t *testing.T) {
	t.Parallel()
	s := &house{}
	h, a := start(t, s)
	if f, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{}); err != nil || f.Verdict != networks.Absent {
		t.Errorf("%+v, %v", f, err)
	}
	for _, odd := range []nettest.Answer{{Status: 404, Body: "<html>"}, {Body: `{"id":"p1","teamId":"T2","status":"POSTED"}`}, {Body: `{"id":"p1","teamId":"T1","referenceKey":"other","status":"POSTED"}`}} {
		s.hook = func(nettest.Call) *nettest.Answer { return &odd }
		if f, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{}); err == nil {
			t.Errorf("%+v: %+v", odd, f)
		}
	}
}

func TestALargeFileGoesItsOwnWayAndIsStagedOnce(t *testing.T) {
	t.Parallel()
	s := &house{}
	h, a := start(t, s)
	a.large = 100
	shared, asked := "", 0
	big := picture(101, "")
	big.Stage = func(ctx context.Context, room string, put func(context.Context) (string, error)) (id string, err error) {
		if asked++; shared == "" {
			shared, err = put(ctx)
		}
		return shared + map[bool]string{false: "?"}[room == "T1"], err
	}
	job := jobOf(network.Facebook, networks.Post{Format: network.FormatImage, Text: "Bread", Media: []networks.Media{big}})
	for range 2 {
		if _, err := a.Prepare(t.Context(), job, h.Handles()); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.large) != 101 || h.Count("POST api/v1/upload/finalize") != 1 || shared != "u2" || asked != 2 {
		t.Errorf("%d bytes, staged as %q for %d\n%s", len(s.large), shared, asked, h.Log())
	}
	for _, c := range h.Calls() {
		if c.Method == "PUT" && c.Header.Get("X-Api-Key") != "" {
			t.Error("the key was shown to the store")
		}
	}
}

func TestCheckFindsTheAccountInItsTeam(t *testing.T) {
	t.Parallel()
	_, a := start(t, &house{})
	account := jobOf(network.Facebook, networks.Post{}).Account
	if p, err := a.Check(t.Context(), account); err != nil || p.RemoteID != "T1" || p.Handle != "bakery" || p.Name != "Bakery" {
		t.Errorf("%+v, %v", p, err)
	}
	account.Network = network.Pinterest
	if p, err := a.Check(t.Context(), account); err != nil || p.Settings["boards"] != "Bread=Bread" {
		t.Errorf("%+v, %v", p, err)
	}
	account.Network = network.X
	_, err := a.Check(t.Context(), account)
	wantKind(t, err, fault.Permission, "not_connected")
	account.RemoteID = ""
	_, err = a.Check(t.Context(), account)
	wantKind(t, err, fault.Validation, "team_missing")
}

func TestFollowWaitsForTheAddress(t *testing.T) {
	t.Parallel()
	s := &house{post: map[string]any{"status": "POSTED"}}
	h, a := start(t, s)
	_, err := a.Follow(t.Context(), words(), networks.Receipt{ExternalID: "p1"}, h.Handles())
	wantKind(t, err, fault.Transient, "no_address_yet")
	s.post["externalData"] = map[string]any{"TWITTER": map[string]any{"id": "9", "permalink": "https://x.com/9"}}
	if r, err := a.Follow(t.Context(), words(), networks.Receipt{ExternalID: "p1"}, h.Handles()); err != nil || r.ExternalID != "9" || r.Permalink == "" {
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
	nettest.FuzzTable(f, a.door.Table, `{"message":"x","issues":[{"path":[1,"a"],"message":"y"}]}`, `{"statusCode":409,"message":"taken"}`)
}

// FuzzPost reads whatever is said of a post: it never ends in a panic, and what is
// found has an id.
func FuzzPost(f *testing.F) {
	f.Add(`{"id":"p1","teamId":"T1","status":"POSTED","externalData":{"TWITTER":{"id":"9","permalink":"javascript:x"}}}`)
	f.Add(`{"id":"p1","teamId":"T1","status":"ERROR","errorsVerbose":{"TWITTER":null}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var p post
		if json.Unmarshal([]byte(raw), &p) != nil || !p.is(words()) {
			return
		}
		if r := p.receipt(words()); r.ExternalID == "" || strings.HasPrefix(r.Permalink, "javascript") {
			t.Errorf("%+v", r)
		}
		if f := p.reason(words()); f.Code == "" || f.Say == "" || f.Kind == fault.Unknown {
			t.Errorf("%+v", f)
		}
	})
}
