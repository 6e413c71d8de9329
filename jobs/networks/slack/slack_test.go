package slack

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
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

const address = "https://hooks.slack.com/services/T0001/B0002/XXXXsecretXXXX"

var (
	noon   = nettest.Noon
	window = networks.Window{Since: noon.Add(-2 * time.Minute), Until: noon.Add(2 * time.Minute)}
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Guarded: h.Client, Now: func() time.Time { return noon }})
}

func jobOf(token string, post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Slack, RemoteID: "C1", Handle: "#news", Token: secret.NewToken(token)}}
}

func picture(content string) networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: int64(len(content)), Alt: "a loaf"}, Name: "loaf.png",
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
	nettest.Walk(t, hookTable, nettest.File(t, "hook.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"ok":false,"error":"fatal_error"}`, `{"ok":true}`, `{"ok":null}`)
}

func FuzzAWebhooksWordsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, hookTable, "ok", "no_text", "channel_is_archived")
}

const frame = `{"channel":"C1","text":%q,"mrkdwn":false%s,"metadata":{"event_type":"herald_post","event_payload":{"delivery":"8254c329a92850f6d539dd376f4816ee"}}}`

func TestAMessageIsWhatWasMeantByEitherWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token, path, body string
		post              networks.Post
	}{
		"a bot's text":     {"xoxb-1", "/x/api/chat.postMessage", fmt.Sprintf(frame, "Tom &amp; Ann &lt;3\n\nhttps://bakery.example", ""), networks.Post{Format: network.FormatText, Text: "Tom & Ann <3", Link: "https://bakery.example"}},
		"without preview":  {"xoxb-1", "/x/api/chat.postMessage", fmt.Sprintf(frame, "Look", `,"unfurl_links":false,"unfurl_media":false`), networks.Post{Format: network.FormatText, Text: "Look", Options: map[string]string{network.OptPreview: "false"}}},
		"a webhook's text": {address, "/x/services/T0001/B0002/XXXXsecretXXXX", `{"text":"Look"}`, networks.Post{Format: network.FormatText, Text: "Look"}},
	} {
		h := nettest.New(t, func(call nettest.Call) nettest.Answer {
			if strings.Contains(call.Path, "services") {
				return nettest.Answer{Body: "ok\n"}
			}
			return nettest.Answer{Body: `{"ok":true,"channel":"C1","ts":"1777629600.000100"}`}
		})
		ready, err := adapter(h).Prepare(t.Context(), jobOf(c.token, c.post), h.Handles())
		if err != nil || len(h.Calls()) != 0 {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := adapter(h).Commit(t.Context(), ready)
		isBot := c.token == "xoxb-1"
		if err != nil || (r.ExternalID == "1777629600.000100") != isBot || r.ExternalID == "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if got := h.Last(); got.Path != c.path || strings.ReplaceAll(got.File, `\u0026`, "&") != c.body || (got.Header.Get("Authorization") != "") != isBot {
			t.Errorf("%s: sent %s %s\nwant %s %s", name, got.Path, got.File, c.path, c.body)
		}
	}
}

func TestAPictureIsUploadedBeforeAMessageShowsIt(t *testing.T) {
	t.Parallel()
	base, n, lost := "", 0, true
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		switch {
		case strings.HasSuffix(c.Path, "getUploadURLExternal"):
			n++
			return nettest.Answer{Body: fmt.Sprintf(`{"ok":true,"upload_url":"%s/up/%d","file_id":"F%d"}`, base, n, n)}
		case c.Path == "/up/2" && lost:
			lost = false
			return nettest.Answer{Close: true} // the second file may be there or not
		case strings.HasPrefix(c.Path, "/up"):
			return nettest.Answer{Body: "OK - 3"}
		}
		return nettest.Answer{Body: `{"ok":true,"channel":"C1","ts":"1.2"}`}
	})
	base = h.URL
	kept, job := h.Handles(), jobOf("xoxb-1", networks.Post{Format: network.FormatImages, Text: "Look", Media: []networks.Media{picture("one"), picture("two")}})
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Kind != fault.Transient {
		t.Fatalf("got %v", err)
	}
	ready, err := adapter(h).Prepare(t.Context(), job, kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range h.Calls() {
		if strings.HasPrefix(c.Path, "/up") && c.Header.Get("Authorization") != "" {
			t.Error("the store saw the token")
		}
	}
	if _, err := adapter(h).Commit(t.Context(), ready); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(frame, "Look", `,"attachments":[{"fallback":"Pictures","blocks":[{"type":"image","slack_file":{"id":"F1"},"alt_text":"a loaf"},{"type":"image","slack_file":{"id":"F3"},"alt_text":"a loaf"}]}]`)
	if got := h.Last().File; got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	if got := h.Count("POST api/files.completeUploadExternal"); got != 2 {
		t.Errorf("completed %d times\n%s", got, h.Log())
	}
}

func TestAWebhookTakesNoPicturesAndLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		address: "webhook_media", "https://evil.example/services/T0001/B0002/XXXXsecretXXXX": "no_webhook",
		"https://hooks.slack.com.evil.example/services/T1/B1/XXXXsecret": "no_webhook", address + "/../x": "no_webhook", "": "account_unknown",
	} {
		_, err := New(networks.Env{}).Prepare(t.Context(), jobOf(token, networks.Post{Format: network.FormatImage, Media: []networks.Media{picture("a")}}), nil)
		if f := fault.Of(err); f == nil || f.Code != want {
			t.Errorf("%s: %v, want %s", token, err, want)
		}
	}
	_, err := New(networks.Env{}).Prepare(t.Context(), jobOf(address, networks.Post{Format: network.FormatText, Text: "a", FirstComment: "b"}), nil)
	if f := fault.Of(err); f == nil || f.Code != "webhook_comment" {
		t.Errorf("a comment: %v", err)
	}
}

// evidence is what is kept of calls.
type evidence []httpx.Call

func (e *evidence) Add(c httpx.Call) { *e = append(*e, c) }

func TestAWebhooksSecretIsInNoEvidence(t *testing.T) {
	t.Parallel()
	var kept evidence
	h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Status: 404, Body: "no_service"} })
	job := jobOf(address, networks.Post{Format: network.FormatText, Text: "a"})
	job.Trail = &kept
	_, err := adapter(h).Commit(t.Context(), networks.Ready{Job: job})
	if f := fault.Of(err); f.Kind != fault.Permission || len(kept) != 1 || strings.Contains(fmt.Sprint(kept, err, f.Say), "secret") {
		t.Errorf("%v with %+v", err, kept)
	}
}

func TestFindKnowsAMessageByItsMarkAlone(t *testing.T) {
	t.Parallel()
	item := func(ts, kind, delivery string) string {
		return fmt.Sprintf(`{"ts":%q,"text":"Look","metadata":{"event_type":%q,"event_payload":{"delivery":%q}}}`, ts, kind, delivery)
	}
	at := fmt.Sprint(noon.Unix(), ".000100")
	for name, c := range map[string]struct {
		list string
		want networks.Verdict
	}{
		"ours": {item(at, "herald_post", mark("k")), networks.Found}, "another's": {item(at, "herald_post", mark("j")), networks.Absent}, "our comment": {item(at, "herald_comment", mark("k")), networks.Absent},
		"somebody's with our words": {`{"ts":"` + at + `","text":"Look"}`, networks.Absent}, "an odd one": {`{"ts":"soon"},{"metadata":null}`, networks.Absent},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer {
			return nettest.Answer{Body: `{"ok":true,"messages":[` + c.list + `],"response_metadata":{"next_cursor":""}}`}
		})
		f, err := adapter(h).Find(t.Context(), jobOf("xoxb-1", networks.Post{Format: network.FormatText, Text: "Look"}), nil, window)
		if err != nil || f.Verdict != c.want || h.Last().Query.Get("include_all_metadata") != "true" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	if f, err := New(networks.Env{}).Find(t.Context(), jobOf(address, networks.Post{}), nil, window); err != nil || f.Verdict != networks.CantTell {
		t.Errorf("a webhook: %+v, %v", f, err)
	}
}

func TestAWebhookIsFollowedByNothing(t *testing.T) {
	t.Parallel()
	r, err := New(networks.Env{}).Follow(t.Context(), jobOf(address, networks.Post{FirstComment: "a"}), networks.Receipt{ExternalID: "x"}, nil)
	if err != nil || r.Permalink != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCheckAsksAsABotAlone(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Body: `{"ok":true,"team":"Bakery","user_id":"U1"}`}
	})
	if p, err := adapter(h).Check(t.Context(), jobOf("xoxb-1", networks.Post{}).Account); err != nil || p.RemoteID != "C1" || p.Settings["team"] != "Bakery" {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := adapter(h).Check(t.Context(), jobOf(address, networks.Post{}).Account); err != nil || p.Handle != "#news" || len(h.Calls()) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzAListNeverPanics(f *testing.F) {
	f.Add(`{"ts":"1e300","metadata":{"event_payload":null}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var l listed
		if json.Unmarshal([]byte(raw), &l) == nil {
			if at := l.made(); at.Year() > 10000 || l.Metadata.is("post", raw) {
				t.Errorf("%s is of %v", raw, at)
			}
		}
	})
}

// TestACommentThatABotMayNotLookFor: the answer to the comment was lost, and Slack lets
// the bot read no answers. The message itself says whether there are any.
func TestACommentThatABotMayNotLookFor(t *testing.T) {
	t.Parallel()
	const ts = "1777629600.000100"
	for name, c := range map[string]struct {
		message string
		written bool
	}{
		"no answers": {`{"ts":"` + ts + `"}`, true}, "some answers": {`{"ts":"` + ts + `","reply_count":1}`, false}, "the message is not there": {"", false},
	} {
		h := nettest.New(t, func(call nettest.Call) nettest.Answer {
			switch {
			case strings.HasSuffix(call.Path, "conversations.replies"):
				return nettest.Answer{Body: `{"ok":false,"error":"not_allowed_token_type"}`}
			case strings.HasSuffix(call.Path, "conversations.history"):
				return nettest.Answer{Body: `{"ok":true,"messages":[` + c.message + `]}`}
			case strings.HasSuffix(call.Path, "chat.getPermalink"):
				return nettest.Answer{Body: `{"ok":true,"permalink":"https://bakery.slack.com/p1"}`}
			}
			return nettest.Answer{Body: `{"ok":true,"channel":"C1","ts":"1777629601.000200"}`}
		})
		kept := h.Handles()
		kept.Kept["comment.began"] = noon.Add(-time.Hour).Format(time.RFC3339)
		_, err := adapter(h).Follow(t.Context(), jobOf("xoxb-1", networks.Post{FirstComment: "First"}), networks.Receipt{ExternalID: ts}, kept)
		if got := h.Count("POST api/chat.postMessage") == 1; got != c.written || (err == nil) != c.written {
			t.Errorf("%s: written %t, %v", name, got, err)
		}
		if f := fault.Of(err); f != nil && f.Kind != fault.Permission {
			t.Errorf("%s: %v", name, err)
		}
	}
}
