package sim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const (
	dc     = "/discord/api/v10"
	dcHook = dc + "/webhooks/1001/webhooktoken-webhooktoken"
)

var dcKey = []string{"Authorization", "Bot 1001:x", "User-Agent", "DiscordBot (https://h.example, 1.0)"}

func (w *world) dcMessage(body string) *http.Request {
	return w.request("POST", dc+"/channels/1001/messages", "application/json", body, dcKey...)
}

// dcFail checks a refusal of Discord's.
func (g got) dcFail(t *testing.T, status int, code string) {
	t.Helper()
	if g.want(t, status); g.str("code") != code {
		t.Errorf("got %s, want %s", g.raw, code)
	}
}

func TestDiscordKnowsANonceForAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func() got {
		return w.send(w.dcMessage(`{"content":" hello ","nonce":"n1","enforce_nonce":true}`)).want(t, 200)
	}
	first := send()
	if again := send(); again.str("id") != first.str("id") || first.str("content") != "hello" || first.str("channel_id") != "1001" {
		t.Errorf("got %s and %s", first.raw, again.raw)
	}
	w.wantPosts(network.Discord, "1001", 1)
	w.pass(4 * time.Minute)
	if later := send(); later.str("id") == first.str("id") {
		t.Error("the nonce is known for ever")
	}
}

func TestADiscordWebhookSaysNothingUnlessItIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if g := w.json(dcHook, `{"content":"a"}`).want(t, 204); g.raw != "" {
		t.Errorf("it says %s", g.raw)
	}
	if g := w.json(dcHook+"?wait=true", `{"content":"b"}`).want(t, 200); g.str("id") == "" || g.str("webhook_id") != "1001" {
		t.Errorf("it says %s", g.raw)
	}
	w.wantPosts(network.Discord, "1001", 2)
	w.json(dcHook, `{"content":"a","nonce":"n"}`).dcFail(t, 400, "50035")
	w.json(dc+"/webhooks/1001/revoked-token-revoked-token", `{"content":"a"}`).dcFail(t, 401, "50027")
	if g := w.get(dcHook).want(t, 200); g.str("guild_id") != "9" || g.str("channel_id") != "1001" {
		t.Errorf("it is %s", g.raw)
	}
}

// A forum has threads alone: a message begins one or stands in one, and other
// channels have none.
func TestADiscordForumTakesNoMessageOutsideAThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := dcHook + "?wait=true"
	w.json(hook, `{"content":"a","thread_name":"Bread"}`).dcFail(t, 400, "220003")
	w.json(hook+"&thread_id=7", `{"content":"a"}`).dcFail(t, 404, "10003")
	w.sim.Turn(func(k *sim.Knobs) { k.Forum = true })
	w.json(hook, `{"content":"a"}`).dcFail(t, 400, "220001")
	w.wantPosts(network.Discord, "", 0)
	first := w.json(hook, `{"content":"a","thread_name":"Bread"}`).want(t, 200)
	if first.str("channel_id") != first.str("id") {
		t.Errorf("the thread is %s", first.raw)
	}
	w.json(hook+"&thread_id="+first.str("id"), `{"content":"a","thread_name":"Bread"}`).dcFail(t, 400, "220002")
	if g := w.json(hook+"&thread_id="+first.str("id"), `{"content":"b"}`).want(t, 200); g.str("channel_id") != first.str("id") {
		t.Errorf("the answer is %s", g.raw)
	}
	w.json(hook+"&thread_id=7", `{"content":"b"}`).dcFail(t, 404, "10003")
	w.wantPosts(network.Discord, "1001", 2)
	if p := w.sim.Posts(network.Discord, "1001"); p[0].Title != "Bread" || !strings.HasSuffix(p[1].Address, "/9/"+first.str("id")+"/"+p[1].ID) {
		t.Errorf("the public sees %+v", p)
	}
}

func TestDiscordRefusesWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.dcMessage(`{"content":" "}`)).dcFail(t, 400, "50006")
	w.send(w.dcMessage(`{"content":"`+strings.Repeat("😀", 1001)+`"}`)).dcFail(t, 400, "50035")
	w.send(w.dcMessage(`{"content":"`+strings.Repeat("😀", 1000)+`"}`)).want(t, 200)
	w.send(w.dcMessage(`{"content":"a","colour":1}`)).dcFail(t, 400, "50035")
	w.send(w.dcMessage(`{"content":"a","thread_name":"b"}`)).dcFail(t, 400, "50035")
	w.send(w.dcMessage(`{"content":"a","nonce":"`+strings.Repeat("n", 26)+`"}`)).dcFail(t, 400, "50035")
	w.json(dc+"/channels/1001/messages", `{"content":"a"}`, "Authorization", "Bot 1001:x", "User-Agent", "curl").dcFail(t, 403, "40333")
	w.json(dc+"/channels/1001/messages", `{"content":"a"}`, "Authorization", "Bot noscope", "User-Agent", "DiscordBot (a, 1)").dcFail(t, 403, "50001")
	w.json(dc+"/channels/1001/messages", `{"content":"a"}`, "Authorization", "Bearer 1001:x", "User-Agent", "DiscordBot (a, 1)").dcFail(t, 401, "0")
}

func TestADiscordMessageHasItsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(data []byte, alt string) got {
		return w.upload(dc+"/channels/1001/messages", "files[0]", data, dcKey, "payload_json", fmt.Sprintf(`{"attachments":[{"id":0,"filename":"a.jpg","description":%q}]}`, alt))
	}
	send(jpegOf(9, 9), "A loaf").want(t, 200)
	if p := w.sim.Posts(network.Discord, "1001"); len(p) != 1 || len(p[0].Media) != 1 || p[0].Media[0].Alt != "A loaf" {
		t.Errorf("the public sees %+v", p)
	}
	send(jpegOf(9, 9), strings.Repeat("a", 1025)).dcFail(t, 400, "50035")
	send(make([]byte, 10<<20+1), "").dcFail(t, 400, "50045")
	w.upload(dc+"/channels/1001/messages", "other", jpegOf(9, 9), dcKey, "payload_json", `{"attachments":[{"id":0}]}`).dcFail(t, 400, "50035")
}
