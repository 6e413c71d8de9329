package ghl

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

// house is GoHighLevel as far as these tests need it.
type house struct {
	state    map[string]any // of post p1
	posts    any
	accounts any
	users    string
	created  string
}

func says(v any) nettest.Answer {
	b, _ := json.Marshal(map[string]any{"success": true, "statusCode": 200, "results": v})
	return nettest.Answer{Body: string(b)}
}

func (s *house) answer(c nettest.Call) nettest.Answer {
	switch c.Name() {
	case "POST social-media-posting/loc/posts":
		if s.created != "" {
			return nettest.Answer{Status: 201, Body: s.created}
		}
		return says(map[string]any{"post": map[string]any{"_id": "p1", "status": "in_progress"}})
	case "GET social-media-posting/loc/posts/p1":
		return says(map[string]any{"post": s.state})
	case "POST social-media-posting/loc/posts/list":
		return says(map[string]any{"posts": s.posts})
	case "GET social-media-posting/loc/accounts":
		return says(map[string]any{"accounts": s.accounts})
	case "GET users/":
		return nettest.Answer{Body: s.users}
	}
	return nettest.Answer{Status: 404, Body: `{"statusCode":404,"message":"Not Found"}`}
}

func start(t testing.TB, s *house) (*nettest.Host, *Adapter) {
	h := nettest.New(t, s.answer)
	return h, New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Guarded: h.Client})
}

func file(kind network.MediaKind, mime string) []networks.Media {
	return []networks.Media{{Media: network.Media{Kind: kind, Type: mime, Bytes: 3, Alt: "A loaf"}, Name: "loaf", URL: "https://m.example/1"}}
}

func jobOf(name network.Name, p networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: p, Account: networks.Account{Network: name, RemoteID: "a1", Token: secret.NewToken("pit-1"),
		Settings: map[string]string{"location_id": "loc", "user_id": "u1"}}}
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

// TestEachNetworkIsToldInItsOwnWords holds what is told against the documented members.
func TestEachNetworkIsToldInItsOwnWords(t *testing.T) {
	t.Parallel()
	picture, film, movie := file(network.Image, "image/jpeg"), file(network.Video, "video/mp4"), file(network.Video, "video/quicktime")
	for _, c := range []struct {
		on   network.Name
		post networks.Post
		want string
	}{
		{network.X, networks.Post{Format: network.FormatText}, `{}`},
		{network.LinkedIn, networks.Post{Format: network.FormatVideo, Media: movie}, `{}`},
		{network.Bluesky, networks.Post{Format: network.FormatLink, Link: "https://b.example", Options: map[string]string{"link_title": "B"}}, `{"blueskyPostDetails":{"externalLink":"https://b.example","externalLinkTitle":"B"}}`},
		{network.Facebook, networks.Post{Format: network.FormatReel, Media: film, FirstComment: "First"}, `{"facebookPostDetails":{"type":"reel"},"followUpComment":"First"}`},
		{network.Instagram, networks.Post{Format: network.FormatReel, Media: film, Options: map[string]string{"collaborators": "@b"}}, `{"instagramPostDetails":{"collaborators":{"a1":["b"]},"showOnFeed":true,"type":"reel"}}`},
		{network.TikTok, networks.Post{Format: network.FormatVideo, Media: film, Options: map[string]string{"privacy": "SELF_ONLY", "disclose": "own", "comments": "false"}},
			`{"tiktokPostDetails":{"enableComment":false,"enableDuet":true,"enableStitch":true,"privacyLevel":"SELF_ONLY","promoteOtherBrand":false,"promoteYourBrand":true,"videoDisclosure":true}}`},
		{network.Pinterest, networks.Post{Format: network.FormatImage, Media: picture, Link: "https://b.example", Options: map[string]string{"board": "7"}}, `{"pinterestPostDetails":{"link":"https://b.example","pinterestBoards":[{"accountId":"a1","boards":["7"]}]}}`},
		{network.YouTube, networks.Post{Format: network.FormatVideo, Media: film, Options: map[string]string{"title": "Loaf", "privacy": "public"}}, `{"youtubePostDetails":{"privacyLevel":"public","title":"Loaf","type":"video"}}`},
		{network.GoogleBusiness, networks.Post{Format: network.FormatLink, Link: "https://b.example", Options: map[string]string{"kind": "EVENT", "event_title": "Fair", "starts": "2026-05-01 18:30", "ends": "2026-05-02"}},
			`{"gmbPostDetails":{"actionType":"learn_more","endDate":{"endDate":{"day":2,"month":5,"year":2026}},"gmbEventType":"EVENT","startDate":{"startDate":{"day":1,"month":5,"year":2026},"startTime":{"hours":18,"minutes":30,"seconds":0}},"title":"Fair","url":"https://b.example"}}`},
	} {
		h, a := start(t, &house{})
		c.post.Text = "Bread"
		kept := h.Handles()
		wantKind(t, send(t, a, jobOf(c.on, c.post), kept), fault.Unknown, "accepted")
		last := h.Last()
		var got map[string]any
		if err := json.Unmarshal([]byte(last.File), &got); err != nil {
			t.Fatal(err)
		}
		if got["userId"] != "u1" || !strings.HasPrefix(got["summary"].(string), "Bread") || len(got["media"].([]any)) != len(c.post.Media) || got["scheduleDate"] != nil || kept.Kept[made] != "p1" {
			t.Errorf("%s: got %s", c.on, last.File)
		}
		for _, common := range []string{"accountIds", "userId", "createdBy", "type", "summary", "media"} {
			delete(got, common)
		}
		if b, _ := json.Marshal(got); string(b) != c.want {
			t.Errorf("%s: got %s\nwant %s", c.on, b, c.want)
		}
		if last.Header.Get("Version") != "v3" || last.Header.Get("Authorization") != "Bearer pit-1" {
			t.Errorf("%s: %v", c.on, last.Header)
		}
	}
}

// TestWhatGoHighLevelWouldChangeIsRefused: it fills in what stands in double braces.
func TestWhatGoHighLevelWouldChangeIsRefused(t *testing.T) {
	t.Parallel()
	h, a := start(t, &house{})
	job := words()
	job.Post.Text = "Dear {{contact.name}}"
	wantKind(t, send(t, a, job, h.Handles()), fault.Validation, "custom_value")
	job = words()
	job.Account.Settings = nil
	wantKind(t, send(t, a, job, h.Handles()), fault.Validation, "location_missing")
	if h.Count("POST social-media-posting/loc/posts") != 0 {
		t.Error("it was sent")
	}
}

// TestAnAnswerWithoutAPostDecidesNothing: a 2xx that is no success, or of another
// account, may stand for a post that is on its way.
func TestAnAnswerWithoutAPostDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"success":false,"results":{"post":{"_id":"p1"}}}`, `{"success":true,"results":{}}`, `{"success":true,"results":{"post":{"_id":"p1","accountIds":["a2"]}}}`} {
		h, a := start(t, &house{created: body})
		if f := fault.Of(send(t, a, words(), h.Handles())); f == nil || f.Kind != fault.Unknown || f.Code == "accepted" {
			t.Errorf("%s: %v", body, f)
		}
	}
}

func TestWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	for status, c := range map[string]struct {
		verdict networks.Verdict
		code    string
	}{
		"published": {networks.Found, ""}, "failed": {networks.Absent, ""}, "deleted": {networks.CantTell, ""}, "notification_sent": {networks.CantTell, ""},
		"in_progress": {"", "processing"}, "scheduled": {"", "processing"}, "in_review": {"", "processing"}, "something_new": {"", "processing"},
	} {
		h, a := start(t, &house{state: map[string]any{"_id": "p1", "status": status, "postId": "n1", "accountIds": []string{"a1"}}})
		kept := h.Handles()
		kept.Kept[made] = "p1"
		f, err := a.Find(t.Context(), words(), kept, networks.Window{})
		if c.code != "" {
			wantKind(t, err, fault.Transient, c.code)
			continue
		}
		if err != nil || f.Verdict != c.verdict || c.verdict == networks.Found && f.Receipt.ExternalID != "n1" {
			t.Errorf("%s: %+v, %v", status, f, err)
		}
	}
}

func TestWhatFailedIsToldAndMadeAnew(t *testing.T) {
	t.Parallel()
	for said, c := range map[string]struct {
		kind fault.Kind
		code string
	}{"Failed due to auth token": {fault.Permission, "connection_lost"}, "Aspect ratio": {fault.Validation, "failed"}} {
		h, a := start(t, &house{state: map[string]any{"_id": "p1", "status": "failed", "error": said}})
		kept := h.Handles()
		kept.Kept[made] = "p1"
		wantKind(t, send(t, a, words(), kept), c.kind, c.code)
		wantKind(t, send(t, a, words(), kept), fault.Unknown, "accepted")
		if h.Count("POST social-media-posting/loc/posts") != 1 {
			t.Errorf("%s: sent %d times", said, h.Count("POST social-media-posting/loc/posts"))
		}
	}
}

// TestTheListTellsByPresenceAlone: of its time, account and text, and one alone.
func TestTheListTellsByPresenceAlone(t *testing.T) {
	t.Parallel()
	at := nettest.Noon
	post := func(id, account, text, status string, at time.Time) map[string]any {
		return map[string]any{"_id": id, "accountIds": []string{account}, "summary": text, "status": status, "createdAt": at}
	}
	ours := post("p1", "a1", "Bread", "published", at)
	for name, c := range map[string]struct {
		posts []any
		want  networks.Verdict
	}{
		"ours": {[]any{post("p2", "a1", "Rolls", "published", at), ours}, networks.Found}, "nothing": {[]any{}, networks.CantTell}, "two": {[]any{ours, post("p3", "a1", "Bread", "published", at)}, networks.CantTell},
		"taken": {[]any{post("p9", "a1", "Bread", "published", at)}, networks.CantTell}, "another's": {[]any{post("p1", "a2", "Bread", "published", at)}, networks.CantTell},
		"older": {[]any{post("p1", "a1", "Bread", "published", at.Add(-time.Hour))}, networks.CantTell}, "failed": {[]any{post("p1", "a1", "Bread", "failed", at)}, networks.CantTell},
	} {
		h, a := start(t, &house{posts: c.posts, state: map[string]any{"_id": "p1", "status": "published"}})
		f, err := a.Find(t.Context(), words(), h.Handles(), networks.Window{Since: at.Add(-time.Minute), Until: at.Add(time.Minute), Taken: []string{"p9"}})
		if err != nil || f.Verdict != c.want {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestCheckKnowsTheAccountAndLearnsTheUser(t *testing.T) {
	t.Parallel()
	one := func(id, platform string, expired bool) any {
		return map[string]any{"id": id, "name": "Bakery", "platform": platform, "isExpired": expired}
	}
	for name, c := range map[string]struct {
		on       network.Name
		accounts []any
		users    string
		code     string
		user     string
	}{
		"one user":     {network.X, []any{one("a1", "twitter", false)}, `{"users":[{"id":"u7"}]}`, "", "u7"},
		"two users":    {network.X, []any{one("a1", "twitter", false)}, `{"users":[{"id":"u7"},{"id":"u8"}]}`, "", ""},
		"business":     {network.TikTok, []any{one("a1", "tiktok-business", false)}, `{"users":[]}`, "", ""},
		"expired":      {network.X, []any{one("a1", "twitter", true)}, `{}`, "connection_lost", ""},
		"other id":     {network.X, []any{one("a2", "twitter", false)}, `{}`, "not_connected", ""},
		"another kind": {network.X, []any{one("a1", "facebook", false)}, `{}`, "not_connected", ""},
	} {
		_, a := start(t, &house{accounts: c.accounts, users: c.users})
		account := jobOf(c.on, networks.Post{}).Account
		account.Settings = map[string]string{"location_id": "loc"}
		p, err := a.Check(t.Context(), account)
		if c.code != "" {
			wantKind(t, err, fault.Permission, c.code)
		} else if err != nil || p.Handle != "Bakery" || p.Settings["user_id"] != c.user {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	_, a := start(t, &house{})
	_, err := a.Check(t.Context(), networks.Account{Network: network.X})
	wantKind(t, err, fault.Validation, "location_missing")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	_, a := start(t, &house{})
	nettest.Walk(t, a.door.Table, nettest.File(t, "refusals.txt"))
}

func FuzzRefusals(f *testing.F) {
	_, a := start(f, &house{})
	nettest.FuzzTable(f, a.door.Table, `{"statusCode":422,"message":["a","b"]}`, `{"message":"Invalid JWT"}`)
}

// FuzzPost reads whatever the list holds: what is taken for ours has an id.
func FuzzPost(f *testing.F) {
	f.Add(`{"_id":"1","accountIds":["a1"],"summary":"Bread","createdAt":"2026-05-01T12:00:00Z"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var p post
		w := networks.Window{Since: nettest.Noon.Add(-time.Minute), Until: nettest.Noon.Add(time.Minute)}
		if json.Unmarshal([]byte(raw), &p) == nil && p.fits(words(), "Bread", w) && p.ID == "" {
			t.Errorf("%+v", p)
		}
	})
}
