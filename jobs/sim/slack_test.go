package sim_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"herald/db/network"
)

const sl = "/slack/api"

func (w *world) slMessage(body string) *http.Request {
	return w.request("POST", sl+"/chat.postMessage", "application/json", body, bearer...)
}

// slFail checks a refusal of Slack's, which is a 200.
func (g got) slFail(t *testing.T, code string) {
	t.Helper()
	if g.want(t, 200); g.str("ok") != "false" || g.str("error") != code {
		t.Errorf("got %s, want %s", g.raw, code)
	}
}

func TestSlackShowsAMessageAndKeepsItsMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(w.slMessage(`{"channel":"1001","text":"a &amp; b &lt;c&gt;","metadata":{"event_type":"x","event_payload":{"delivery":"d1"}}}`)).want(t, 200)
	if p := w.sim.Posts(network.Slack, "1001"); g.str("ok") != "true" || len(p) != 1 || p[0].Text != "a & b <c>" || p[0].ID != g.str("ts") {
		t.Errorf("got %s, the public sees %+v", g.raw, p)
	}
	if list := w.get(sl+"/conversations.history?channel=1001&limit=15&include_all_metadata=true", bearer...).want(t, 200); !strings.Contains(list.raw, `"delivery":"d1"`) || list.str("has_more") != "false" {
		t.Errorf("listed %s", list.raw)
	}
	if link := w.get(sl+"/chat.getPermalink?channel=1001&message_ts="+g.str("ts"), bearer...).str("permalink"); w.get(link).want(t, 200).status != 200 {
		t.Errorf("it is at %s", link)
	}
	w.send(w.slMessage(`{"channel":"1001","text":"more","thread_ts":"`+g.str("ts")+`"}`)).want(t, 200)
	w.wantPosts(network.Slack, "1001", 1)
	if p := w.sim.Posts(network.Slack, "1001"); len(p[0].Replies) != 1 {
		t.Errorf("answered by %+v", p[0].Replies)
	}
}

func TestSlackRefusesWithinA200(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.slMessage(`{"channel":"1001","text":" "}`)).slFail(t, "no_text")
	w.send(w.slMessage(`{"channel":"1001","text":"`+strings.Repeat("a", 4001)+`"}`)).slFail(t, "msg_too_long")
	w.send(w.slMessage(`{"channel":"1001","text":"<b>"}`)).slFail(t, "invalid_arguments")
	w.send(w.slMessage(`{"channel":"1001","text":"a","colour":1}`)).slFail(t, "invalid_arguments")
	w.send(w.slMessage(`{"channel":"1001","text":"a","thread_ts":"1.2"}`)).slFail(t, "cannot_reply_to_message")
	w.send(w.slMessage(`{"channel":"1001","text":"a","attachments":[{"blocks":[{"type":"image","slack_file":{"id":"F404"},"alt_text":"b"}]}]}`)).slFail(t, "invalid_blocks")
	w.json(sl+"/chat.postMessage", `{"channel":"1001","text":"a"}`).slFail(t, "not_authed")
	w.json(sl+"/chat.postMessage", `{"channel":"1001","text":"a"}`, "Authorization", "Bearer noscope").slFail(t, "missing_scope")
	w.json(sl+"/chat.shout", `{}`).slFail(t, "unknown_method")
}

func TestASlackPictureIsUploadedInThreeSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	data := string(jpegOf(9, 9))
	post := func(path string, pairs ...string) got {
		return w.send(w.request("POST", sl+path, "application/x-www-form-urlencoded", values(pairs...), bearer...))
	}
	g := post("/files.getUploadURLExternal", "filename", "a.jpg", "length", strconv.Itoa(len(data))).want(t, 200)
	id := g.str("file_id")
	done := func() got {
		return w.json(sl+"/files.completeUploadExternal", `{"files":[{"id":"`+id+`"}]}`, bearer...)
	}
	done().slFail(t, "missing_file_data")
	w.send(w.request("POST", g.str("upload_url"), "image/jpeg", data+"x")).want(t, 400)
	if sent := w.send(w.request("POST", g.str("upload_url"), "image/jpeg", data)).want(t, 200); !strings.HasPrefix(sent.raw, "OK - ") {
		t.Errorf("the store says %s", sent.raw)
	}
	done().want(t, 200)
	w.send(w.slMessage(`{"channel":"1001","text":"","attachments":[{"blocks":[{"type":"image","slack_file":{"id":"`+id+`"},"alt_text":"A loaf"}]}]}`)).want(t, 200)
	if p := w.sim.Posts(network.Slack, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Media[0].Alt != "A loaf" {
		t.Errorf("the public sees %+v", p)
	}
}

func TestASlackWebhookSpeaksPlainly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const at = "/slack/services/T1/1001/secret"
	if g := w.json(at, `{"text":"hello"}`).want(t, 200); g.raw != "ok" {
		t.Errorf("it says %s", g.raw)
	}
	w.wantPosts(network.Slack, "1001", 1)
	for body, want := range map[string]string{`{"text":""}`: "no_text", `{"text":"a","channel":"2"}`: "invalid_payload", `{`: "invalid_payload"} {
		if g := w.json(at, body).want(t, 400); g.raw != want {
			t.Errorf("%s: it says %s", body, g.raw)
		}
	}
	if g := w.json("/slack/services/T1/1001/revoked", `{"text":"a"}`).want(t, 403); g.raw != "invalid_token" {
		t.Errorf("it says %s", g.raw)
	}
}
