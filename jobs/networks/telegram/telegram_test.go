package telegram

import (
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
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/nettest"
)

const token = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client})
}

func jobOf(post networks.Post) networks.Job {
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Telegram, RemoteID: "-1001234", Token: secret.NewToken(token)}}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"ok":false,"error_code":400,"description":"Bad Request: failed to send message #1"}`, `{"ok":false,"parameters":{"retry_after":-1e300}}`, `{"ok":true,"result":{}}`)
}

func FuzzAnAnswerNeverPanics(f *testing.F) {
	for _, s := range []string{`{"message_id":1,"chat":{"id":-1001}}`, `[{"message_id":1,"chat":{"id":-1001,"username":"a/b"}}]`, `[]`, `null`, `{"message_id":1e99}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		m, ok := first(json.RawMessage(raw))
		if link := New(networks.Env{}).permalink(m); ok && m.Chat.is("@") != (m.Chat.Username == "") || strings.Count(link, "/") > 5 {
			t.Errorf("%s: %+v at %s", raw, m, link)
		}
	})
}

func file(kind network.MediaKind, content string) networks.Media {
	return networks.Media{Media: network.Media{Kind: kind, Type: "image/jpeg", Bytes: int64(len(content)), Alt: "none is taken"}, Name: content + ".jpg",
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

const message77 = `{"message_id":77,"date":1,"chat":{"id":-1001234,"type":"channel","title":"Bread","username":"bakery"}}`

func TestEachShapeIsOneCall(t *testing.T) {
	t.Parallel()
	one, film := file(network.Image, "loaf"), file(network.Video, "oven")
	chosen := map[string]string{network.OptNotify: "false", network.OptProtect: "true", network.OptSensitive: "true", network.OptPreview: "false"}
	for name, c := range map[string]struct {
		post         networks.Post
		path, form   string
		result, link string
	}{
		"text": {networks.Post{Format: network.FormatText, Text: "Look <b>", Link: "https://bakery.example"}, "sendMessage",
			"chat_id=-1001234&text=Look+%3Cb%3E%0A%0Ahttps%3A%2F%2Fbakery.example", message77, "https://t.me/bakery/77"},
		"text, chosen": {networks.Post{Format: network.FormatText, Text: "Look", Options: chosen}, "sendMessage",
			"chat_id=-1001234&disable_notification=true&link_preview_options=%7B%22is_disabled%22%3Atrue%7D&protect_content=true&text=Look", message77, "https://t.me/bakery/77"},
		"picture": {networks.Post{Format: network.FormatImage, Text: "Look", Media: []networks.Media{one}, Options: chosen}, "sendPhoto",
			"caption=Look&chat_id=-1001234&disable_notification=true&has_spoiler=true&protect_content=true", message77, "https://t.me/bakery/77"},
		"film in a private channel": {networks.Post{Format: network.FormatVideo, Media: []networks.Media{film}}, "sendVideo",
			"chat_id=-1001234&supports_streaming=true", `{"message_id":77,"chat":{"id":-1001234,"type":"channel"}}`, "https://t.me/c/1234/77"},
		"album": {networks.Post{Format: network.FormatCarousel, Text: "Both", Media: []networks.Media{one, film}}, "sendMediaGroup",
			"chat_id=-1001234&media=%5B%7B%22type%22%3A%22photo%22%2C%22media%22%3A%22attach%3A%2F%2Ffile0%22%2C%22caption%22%3A%22Both%22%7D%2C%7B%22type%22%3A%22video%22%2C%22media%22%3A%22attach%3A%2F%2Ffile1%22%7D%5D",
			"[" + message77 + `,{"message_id":78,"chat":{"id":-1001234}}]`, "https://t.me/bakery/77"},
	} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer {
			return nettest.Answer{Body: `{"ok":true,"result":` + c.result + `}`}
		})
		kept := h.Handles()
		ready, err := adapter(h).Prepare(t.Context(), jobOf(c.post), kept)
		if err != nil || len(h.Calls()) != 0 || len(kept.Kept) != 0 {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := adapter(h).Commit(t.Context(), ready)
		if err != nil || r.ExternalID != "77" || r.Permalink != c.link {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if got := h.Last(); got.Path != "/x/bot"+token+"/"+c.path || got.Form.Encode() != c.form {
			t.Errorf("%s: sent %s %s\nwant %s", name, got.Path, got.Form.Encode(), c.form)
		}
	}
}

func TestAnAnswerAboutAnotherChatIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"ok":true,"result":{"message_id":77,"chat":{"id":2002}}}`, `{"ok":true,"result":[]}`, `{"ok":true}`, `{"ok":false,"description":"no"}`} {
		h := nettest.New(t, func(nettest.Call) nettest.Answer { return nettest.Answer{Body: body} })
		ready, _ := adapter(h).Prepare(t.Context(), jobOf(networks.Post{Format: network.FormatText, Text: "a"}), h.Handles())
		if _, err := adapter(h).Commit(t.Context(), ready); fault.Of(err).Kind != fault.Unknown {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestAGroupThatMovedIsPostedToWhereItIs(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, func(c nettest.Call) nettest.Answer {
		if c.Form.Get("chat_id") == "-55" {
			return nettest.Answer{Status: 400, Body: `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-100777}}`}
		}
		return nettest.Answer{Body: `{"ok":true,"result":{"message_id":5,"chat":{"id":-100777,"type":"supergroup"}}}`}
	})
	job, kept := jobOf(networks.Post{Format: network.FormatText, Text: "a"}), h.Handles()
	job.Account.RemoteID = "-55"
	ready, _ := adapter(h).Prepare(t.Context(), job, kept)
	if _, err := adapter(h).Commit(t.Context(), ready); fault.Of(err).Kind != fault.Transient || fault.Of(err).Code != "moved" || kept.Get(chat) != "-100777" {
		t.Fatalf("got %v with %v", err, kept.Kept)
	}
	ready, _ = adapter(h).Prepare(t.Context(), job, kept)
	if r, err := adapter(h).Commit(t.Context(), ready); err != nil || r.Permalink != "https://t.me/c/777/5" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	f, err := New(networks.Env{}).Find(t.Context(), networks.Job{}, nil, networks.Window{})
	if err != nil || f.Verdict != networks.CantTell || !strings.HasSuffix(f.Say, ".") {
		t.Errorf("got %+v, %v", f, err)
	}
}

// evidence is what is kept of calls.
type evidence []httpx.Call

func (e *evidence) Add(c httpx.Call) { *e = append(*e, c) }

func TestTheTokenIsInNoEvidenceAndNoError(t *testing.T) {
	t.Parallel()
	var kept evidence
	job := jobOf(networks.Post{Format: network.FormatText, Text: "a"})
	job.Trail = &kept
	away := New(networks.Env{Base: "http://127.0.0.1:1/x", HTTP: httpx.New(httpx.Options{Timeout: time.Second})})
	ready, _ := away.Prepare(t.Context(), job, blank{})
	_, err := away.Commit(t.Context(), ready)
	raw, _ := json.Marshal(kept)
	if all := string(raw) + err.Error() + fault.Of(err).Say; len(kept) != 1 || strings.Contains(all, "AAHdqTcv") || !strings.Contains(kept[0].Path, "***") {
		t.Errorf("kept %s", all)
	}
}

// blank keeps nothing.
type blank struct{}

func (blank) Get(string) string                                { return "" }
func (blank) Save(context.Context, string, string) error       { return nil }
func (blank) Note(string, string)                              {}
func (blank) Checkpoint(context.Context, string, string) error { return nil }

func TestCheckSaysWhereTheBotMayPost(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]fault.Kind{
		`{"status":"administrator","can_post_messages":true}`: "", `{"status":"creator"}`: "",
		`{"status":"administrator","can_post_messages":false}`: fault.Permission, `{"status":"left"}`: fault.Permission,
	} {
		h := nettest.New(t, func(c nettest.Call) nettest.Answer {
			result := `{"id":7,"is_bot":true}`
			switch {
			case strings.HasSuffix(c.Path, "/getChat"):
				result = `{"id":-1001234,"type":"channel","title":"Bread","username":"bakery"}`
			case strings.HasSuffix(c.Path, "/getChatMember"):
				result = member
			}
			return nettest.Answer{Body: `{"ok":true,"result":` + result + `}`}
		})
		p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account)
		if f := fault.Of(err); f == nil && want != "" || f != nil && f.Kind != want {
			t.Errorf("%s: %v", member, err)
		}
		if want == "" && (p.RemoteID != "-1001234" || p.Handle != "@bakery" || h.Last().File != `{"chat_id":"-1001234","user_id":7}`) {
			t.Errorf("%s: %+v, asked %s", member, p, h.Last().File)
		}
	}
}
