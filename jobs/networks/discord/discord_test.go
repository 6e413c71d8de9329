package discord

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

const (
	address = "https://discord.com/api/webhooks/811/Qm7_token-token-token-token"
	path    = "/x/api/v10/webhooks/811/Qm7_token-token-token-token"
)

var (
	noon   = nettest.Noon
	window = networks.Window{Since: noon.Add(-2 * time.Minute), Until: noon.Add(2 * time.Minute)}
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client})
}

func jobOf(token string, post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Discord, RemoteID: "55", Token: secret.NewToken(token), Settings: map[string]string{"guild_id": "9"}}}
}

func load(kind network.MediaKind, mime, content string) networks.Media {
	return networks.Media{Media: network.Media{Kind: kind, Type: mime, Bytes: int64(len(content)), Alt: "a loaf"},
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"code":20016,"retry_after":-3}`, `{"message":"You are being blocked","code":0}`, `{"retry_after":1e308,"message":"m"}`)
}

func TestAMessageIsWhatWasMeantByEitherWay(t *testing.T) {
	t.Parallel()
	chosen := map[string]string{network.OptNotify: "false", network.OptPreview: "false", network.OptForum: "Bread"}
	picture, film := load(network.Image, "image/jpeg", "p"), load(network.Video, "video/mp4", "v")
	for name, c := range map[string]struct {
		token string
		post  networks.Post
		path  string
		body  string
	}{
		"a bot's text": {"BT", networks.Post{Format: network.FormatText, Text: "Hi @everyone", Link: "https://bakery.example"}, "/x/api/v10/channels/55/messages",
			`{"content":"Hi @everyone\n\nhttps://bakery.example","allowed_mentions":{"parse":[]},"nonce":"8254c329a92850f6d539dd376","enforce_nonce":true}`},
		"a webhook's text": {address, networks.Post{Format: network.FormatText, Text: "Hi", Options: chosen}, path,
			`{"content":"Hi","allowed_mentions":{"parse":[]},"flags":4100,"thread_name":"Bread"}`},
		"number and token alone": {"811/Qm7_token-token-token-token", networks.Post{Format: network.FormatText, Text: "Hi"}, path, `{"content":"Hi","allowed_mentions":{"parse":[]}}`},
		"files": {address, networks.Post{Format: network.FormatCarousel, Media: []networks.Media{picture, film}}, path,
			`{"allowed_mentions":{"parse":[]},"attachments":[{"id":0,"filename":"file0.jpeg","description":"a loaf"},{"id":1,"filename":"file1.mp4","description":"a loaf"}]}`},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: `{"id":"77","channel_id":"55"}`} })
		ready, err := adapter(h).Prepare(t.Context(), jobOf(c.token, c.post), nil)
		if err != nil || len(h.Calls()) != 0 {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := adapter(h).Commit(t.Context(), ready)
		if err != nil || r.ExternalID != "77" || r.Permalink != "https://discord.com/channels/9/55/77" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		got := h.Last()
		body := got.File
		if name == "files" {
			body = got.Form.Get("payload_json")
		}
		isBot := c.token == "BT"
		if got.Path != c.path || body != c.body || (got.Header.Get("Authorization") == "Bot BT") != isBot || (got.Query.Get("wait") == "true") == isBot || !strings.HasPrefix(got.Header.Get("User-Agent"), "DiscordBot (") {
			t.Errorf("%s: sent %s %s\nwant %s %s", name, got.Path, body, c.path, c.body)
		}
	}
}

func TestAnAddressLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"https://evil.example/api/webhooks/811/Qm7_token-token-token-token": "no_webhook", "https://discord.com.evil.example/api/webhooks/811/Qm7_token-token-token-token": "no_webhook",
		"https://discord.com/api/webhooks/811/../../users/@me": "no_webhook", address + "/slack": "no_webhook", "": "account_unknown",
		"https://ptb.discord.com/api/v9/webhooks/811/Qm7_token-token-token-token": "", "https://discordapp.com/api/webhooks/811/Qm7_token-token-token-token": "",
	} {
		_, err := New(networks.Env{}).Prepare(t.Context(), jobOf(token, networks.Post{Format: network.FormatText, Text: "a"}), nil)
		if f := fault.Of(err); f == nil && want != "" || f != nil && f.Code != want {
			t.Errorf("%s: %v, want %q", token, err, want)
		}
	}
}

// evidence is what is kept of calls.
type evidence []httpx.Call

func (e *evidence) Add(c httpx.Call) { *e = append(*e, c) }

func TestAWebhooksTokenIsInNoEvidence(t *testing.T) {
	t.Parallel()
	var kept evidence
	h := nettest.New(t, func(nettest.Call) nettest.Answer {
		return nettest.Answer{Status: 404, Body: `{"message":"Unknown Webhook","code":10015}`}
	})
	job := jobOf(address, networks.Post{Format: network.FormatText, Text: "a"})
	job.Trail = &kept
	_, err := adapter(h).Commit(t.Context(), networks.Ready{Job: job})
	if f := fault.Of(err); f.Kind != fault.Permission || len(kept) != 1 || strings.Contains(fmt.Sprint(kept, err, f.Say), "Qm7_") || !strings.Contains(kept[0].Path, "811/***") {
		t.Errorf("%v with %+v", err, kept)
	}
}

func TestABotFindsItsOwnMessageAndAWebhookNone(t *testing.T) {
	t.Parallel()
	item := func(id, content string, bot bool, more string) string {
		return fmt.Sprintf(`{"id":%q,"channel_id":"55","content":%q,"timestamp":"2026-05-01T10:00:00.123000+00:00","author":{"bot":%t},"attachments":[]%s}`, id, content, bot, more)
	}
	for name, c := range map[string]struct {
		list string
		want networks.Verdict
	}{
		"ours": {item("1", "Look", true, ""), networks.Found}, "a person's": {item("1", "Look", false, ""), networks.Absent}, "a webhook's": {item("1", "Look", true, `,"webhook_id":"3"`), networks.Absent},
		"with a file": {item("1", "Look", true, `,"attachments":[{"id":"2"}]`), networks.Absent}, "two": {item("1", "Look", true, "") + "," + item("2", "Look", true, ""), networks.CantTell}, "none": {"", networks.Absent},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: "[" + c.list + "]"} })
		f, err := adapter(h).Find(t.Context(), jobOf("BT", networks.Post{Format: network.FormatText, Text: " Look"}), nil, window)
		if err != nil || f.Verdict != c.want {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	f, err := New(networks.Env{}).Find(t.Context(), jobOf(address, networks.Post{}), nil, window)
	if err != nil || f.Verdict != networks.CantTell {
		t.Errorf("a webhook: %+v, %v", f, err)
	}
}

func TestCheckLearnsTheServer(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Path == path {
			return nettest.Answer{Body: `{"id":"811","name":"Bread","channel_id":"55","guild_id":"9","token":"Qm7"}`}
		}
		return nettest.Answer{Body: `{"id":"55","name":"news","guild_id":"9"}`}
	})
	for token, want := range map[string]string{address: "Bread", "BT": "news"} {
		p, err := adapter(h).Check(t.Context(), jobOf(token, networks.Post{}).Account)
		if err != nil || p.RemoteID != "55" || p.Name != want || p.Settings["guild_id"] != "9" {
			t.Errorf("%s: %+v, %v", token, p, err)
		}
	}
}

func FuzzAListNeverPanics(f *testing.F) {
	f.Add(`{"id":"1","timestamp":"x","author":null,"attachments":null}`, address)
	f.Fuzz(func(t *testing.T, raw, token string) {
		var p posted
		if json.Unmarshal([]byte(raw), &p) == nil {
			p.ours(networks.Account{RemoteID: token})
		}
		c := New(networks.Env{}).call(jobOf(token, networks.Post{}), httpx.Find, "GET", "channels/55")
		if strings.Contains(c.Path, "..") || strings.Contains(c.Path, "://") || strings.Count(c.Path, "/") > 2 {
			t.Errorf("%q leads to %s", token, c.Path)
		}
	})
}
