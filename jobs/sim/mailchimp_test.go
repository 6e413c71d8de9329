package sim_test

import (
	"encoding/base64"
	"fmt"
	"html"
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

const mc = "/mailchimp/3.0"

func (w *world) mcPut(id, content string) got {
	return w.send(w.request("PUT", mc+"/campaigns/"+id+"/content", "application/json", fmt.Sprintf(`{"html":%q}`, content), bearer...))
}

func (w *world) mcCampaign() string {
	w.t.Helper()
	return w.json(mc+"/campaigns", `{"type":"regular","recipients":{"list_id":"1001"},"settings":{"subject_line":"Bread","title":"ref","from_name":"Ann","reply_to":"ann@bakery.example"}}`, bearer...).want(w.t, 200).str("id")
}

// mcDraft is a campaign that can be sent.
func (w *world) mcDraft(text string) string {
	w.t.Helper()
	id := w.mcCampaign()
	w.mcPut(id, "<p>"+html.EscapeString(text)+"</p>\n<hr /><a href=\"*|UNSUB|*\">x</a>").want(w.t, 200)
	return id
}

// mcFail checks a refusal of Mailchimp's.
func (g got) mcFail(t *testing.T, status int, words string) {
	t.Helper()
	if g.want(t, status); !strings.Contains(g.raw, words) || g.str("title") == "" {
		t.Errorf("got %s, want %s", g.raw, words)
	}
}

func TestAMailchimpCampaignIsSentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.mcCampaign()
	send := func() got { return w.json(mc+"/campaigns/"+id+"/actions/send", ``, bearer...) }
	check := func() got { return w.get(mc+"/campaigns/"+id+"/send-checklist", bearer...).want(t, 200) }
	send().mcFail(t, 400, "not ready to send")
	w.mcPut(id, "<p>Hello</p>").want(t, 200)
	if g := check(); g.str("is_ready") != "false" || !strings.Contains(g.raw, "unsubscribe") {
		t.Errorf("without a way out: %s", g.raw)
	}
	w.mcPut(id, "<p>Hello</p>\n<hr />*|UNSUB|*").want(t, 200)
	if g := check(); g.str("is_ready") != "true" {
		t.Errorf("whole: %s", g.raw)
	}
	state := func() string { return w.get(mc+"/campaigns/"+id, bearer...).want(t, 200).str("status") }
	if s := state(); s != "save" {
		t.Errorf("it is %s", s)
	}
	w.wantPosts(network.Mailchimp, "", 0)
	send().want(t, 204)
	if s := state(); s != "sending" {
		t.Errorf("it is %s", s)
	}
	send().mcFail(t, 400, "cannot be sent")
	w.pass(time.Minute)
	if s := state(); s != "sent" {
		t.Errorf("it is %s", s)
	}
	send().mcFail(t, 400, "already been sent")
	w.mcPut(id, "<p>Else</p>").mcFail(t, 400, "already been sent")
	w.wantPosts(network.Mailchimp, "1001", 1)
	if g := w.get(mc+"/campaigns?since_create_time=2026-05-04T11:00:00Z&count=10", bearer...).want(t, 200); !strings.Contains(g.raw, `"title":"ref"`) {
		t.Errorf("listed %s", g.raw)
	}
}

func TestMailchimpRefusesWhatIsNoCampaign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.json(mc+"/campaigns", `{"type":"regular","recipients":{"list_id":"1001"},"settings":{"subject_line":"a"}}`, bearer...).mcFail(t, 400, "not whole")
	w.json(mc+"/campaigns", `{"kind":"regular"}`, bearer...).mcFail(t, 400, "unknown field")
	w.get(mc+"/campaigns/none", bearer...).mcFail(t, 404, "could not be found")
	w.get(mc+"/lists/1001", "Authorization", "Bearer expired").mcFail(t, 401, "API Key")
	file := func(data []byte) got {
		return w.json(mc+"/file-manager/files", `{"name":"a.jpg","file_data":"`+base64.StdEncoding.EncodeToString(data)+`"}`, bearer...)
	}
	file([]byte("hello")).mcFail(t, 400, "cannot be used")
	file(append(jpegOf(9, 9), make([]byte, 1_000_000)...)).mcFail(t, 400, "cannot be used")
	if g := file(jpegOf(9, 9)).want(t, 200); w.get(g.str("full_size_url")).status != 200 {
		t.Errorf("kept as %s", g.raw)
	}
}

// The edge lets ten calls of a key through at once. It answers the next with a page,
// and nothing comes of that call; another key is not concerned.
func TestMailchimpsEdgeTakesTenCallsOfAKeyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.mcDraft("Hello")
	w.fault(sim.Fault{Network: network.Mailchimp, Kind: sim.Stall, Step: sim.Find, Times: 10, Delay: time.Hour})
	done := make(chan got)
	for range 10 {
		req := w.request("GET", mc+"/campaigns/"+id, "", "", bearer...)
		go func() { done <- w.send(req) }()
	}
	send := func() got { return w.json(mc+"/campaigns/"+id+"/actions/send", ``, bearer...) }
	w.until(func() bool { return len(w.sim.Calls(network.Mailchimp, "1001")) == 12 })
	if g := send().want(t, 429); !strings.HasPrefix(g.raw, "<html>") || g.header.Get("Retry-After") != "" {
		t.Errorf("it says %v %s", g.header, g.raw)
	}
	w.wantPosts(network.Mailchimp, "", 0)
	w.get(mc+"/lists/2002", "Authorization", "Bearer 2002:x").want(t, 200)
	w.sim.ClearFaults()
	for range 10 {
		(<-done).want(t, 200)
	}
	w.until(func() bool { return send().status == 204 })
	w.wantPosts(network.Mailchimp, "1001", 1)
}

// until waits for what another goroutine does.
func (w *world) until(done func() bool) {
	w.t.Helper()
	for range 5000 {
		if done() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	w.t.Fatal("that never comes")
}
