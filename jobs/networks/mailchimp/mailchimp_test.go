package mailchimp

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
	"herald/jobs/networks/nettest"
)

func adapter(h *nettest.Host) *Adapter {
	return New(networks.Env{Base: h.URL + "/x", HTTP: h.Client, Now: func() time.Time { return nettest.Noon }})
}

func jobOf(post networks.Post) networks.Job {
	post.Options = map[string]string{network.OptTitle: "Fresh bread", network.OptExcerpt: "From seven"}
	return networks.Job{Key: "k", Attempt: 1, Post: post, Account: networks.Account{Network: network.Mailchimp, RemoteID: "l1", Token: secret.NewToken("0123456789abcdef-us21")}}
}

func TestEveryDocumentedRefusalIsSorted(t *testing.T) {
	t.Parallel()
	nettest.Walk(t, table, nettest.File(t, "errors.txt"))
}

func FuzzRefusalsKeepToTheRules(f *testing.F) {
	nettest.FuzzTable(f, table, `{"title":"a","errors":[{}]}`, `{"detail":"compliance"}`)
}

// house is Mailchimp as far as these tests need it.
type house struct {
	drop   bool
	ready  string
	status string
	listed string
	bodies []string
}

func (m *house) answer(c nettest.Call) nettest.Answer {
	name := strings.TrimPrefix(c.Name(), c.Method+" 3.0/")
	if c.Method != "GET" {
		m.bodies = append(m.bodies, c.Method+" "+name+" "+c.File)
	}
	switch {
	case name == "lists/l1":
		return nettest.Answer{Body: `{"id":"l1","name":"Friends","campaign_defaults":{"from_name":"Ann","from_email":"ann@bakery.example"}}`}
	case c.Method == "POST" && name == "campaigns":
		if m.drop {
			m.drop, m.listed = false, `{"id":"c7","status":"save","settings":{"title":"`+mark("k")+`"}}`
			return nettest.Answer{Close: true}
		}
		return nettest.Answer{Body: `{"id":"c7","status":"save"}`}
	case name == "campaigns":
		return nettest.Answer{Body: `{"campaigns":[` + m.listed + `]}`}
	case strings.HasSuffix(name, "/content"):
		return nettest.Answer{Body: `{"html":"<p>"}`}
	case strings.HasSuffix(name, "/send-checklist"):
		return nettest.Answer{Body: m.ready}
	case strings.HasSuffix(name, "/actions/send"):
		return nettest.Answer{Status: 204}
	case name == "file-manager/files":
		return nettest.Answer{Body: `{"id":3,"full_size_url":"https://m.example/a.png"}`}
	}
	return nettest.Answer{Body: `{"id":"c7","status":"` + m.status + `","long_archive_url":"https://mailchi.mp/a"}`}
}

func TestACampaignIsMadeFilledCheckedAndSent(t *testing.T) {
	t.Parallel()
	m := &house{ready: `{"is_ready":true}`, status: "sent"}
	h := nettest.New(t, m.answer)
	picture := networks.Media{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: 3, Alt: `A "loaf"`},
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("one")), nil }}
	job, kept := jobOf(networks.Post{Format: network.FormatImage, Text: "Tom & Ann", Media: []networks.Media{picture}}), h.Handles()
	ready, err := adapter(h).Prepare(t.Context(), job, kept)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil || len(m.bodies) != 3 { // a second run makes nothing
		t.Errorf("%v after %d", err, len(m.bodies))
	}
	r, err := adapter(h).Commit(t.Context(), ready)
	if err != nil || r.ExternalID != "c7" {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = adapter(h).Follow(t.Context(), job, r, kept); err != nil || r.Permalink != "https://mailchi.mp/a" {
		t.Errorf("%+v, %v", r, err)
	}
	want := []string{`POST file-manager/files {"file_data":"b25l","name":"` + mark("k") + `.png"}`,
		`POST campaigns {"recipients":{"list_id":"l1"},"settings":{"from_name":"Ann","preview_text":"From seven","reply_to":"ann@bakery.example","subject_line":"Fresh bread","title":"` + mark("k") + `"},"type":"regular"}`,
		`PUT campaigns/c7/content {"html":"<img src=\"https://m.example/a.png\" alt=\"A &#34;loaf&#34;\" style=\"max-width:100%\" />\n<p>Tom &amp; Ann</p>\n<hr /><p><a href=\"*|UNSUB|*\">Unsubscribe</a></p>"}`,
		`POST campaigns/c7/actions/send `}
	if got := strings.Join(m.bodies, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("sent\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestACampaignWhoseAnswerIsLostIsFoundByItsTitle(t *testing.T) {
	t.Parallel()
	m := &house{drop: true, ready: `{"is_ready":true}`}
	h := nettest.New(t, m.answer)
	kept, job := h.Handles(), jobOf(networks.Post{Format: network.FormatText, Text: "a"})
	if _, err := adapter(h).Prepare(t.Context(), job, kept); fault.Of(err).Kind != fault.Transient {
		t.Fatalf("got %v", err)
	}
	if _, err := adapter(h).Prepare(t.Context(), job, kept); err != nil || kept.Get(campaign) != "c7" || len(m.bodies) != 2 {
		t.Errorf("%v with %v after %q", err, kept.Kept, m.bodies)
	}
}

func TestWhatIsMissingIsToldBeforeSending(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, (&house{ready: `{"is_ready":false,"items":[{"type":"success","details":"fine"},{"type":"error","details":"Your audience is empty."}]}`}).answer)
	_, err := adapter(h).Prepare(t.Context(), jobOf(networks.Post{Format: network.FormatText, Text: "a"}), h.Handles())
	if f := fault.Of(err); f.Kind != fault.Validation || !strings.Contains(f.Say, "Your audience is empty.") {
		t.Errorf("got %v", err)
	}
}

func TestTheStatusOfTheCampaignIsProof(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]networks.Verdict{"save": networks.Absent, "paused": networks.Absent, "schedule": networks.Found, "sending": networks.Found, "sent": networks.Found, "canceled": networks.CantTell, "archived": networks.CantTell} {
		h := nettest.New(t, (&house{status: status}).answer)
		kept := h.Handles()
		kept.Kept[campaign] = "c7"
		f, err := adapter(h).Find(t.Context(), jobOf(networks.Post{}), kept, networks.Window{})
		if err != nil || f.Verdict != want || !strings.HasSuffix(f.Say, ".") {
			t.Errorf("%s: %+v, %v", status, f, err)
		}
	}
	if f, err := New(networks.Env{}).Find(t.Context(), jobOf(networks.Post{}), (&nettest.Host{}).Handles(), networks.Window{}); err != nil || f.Verdict != networks.Absent {
		t.Errorf("never made: %+v, %v", f, err)
	}
}

func TestAKeyNamesItsDatacenterAndNoOtherHost(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"0123-us21": "us21", "0123": "", "0123-us21.evil.example/": "", "0123-": "", "abc-eu1": "eu1"} {
		account := networks.Account{Token: secret.NewToken(key)}
		if got := center(account); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
	if got := center(networks.Account{Token: secret.NewToken("oauth"), Settings: map[string]string{"dc": "us6"}}); got != "us6" {
		t.Errorf("by setting: %q", got)
	}
}

func TestCheckAsksForTheAudience(t *testing.T) {
	t.Parallel()
	h := nettest.New(t, (&house{}).answer)
	if p, err := adapter(h).Check(t.Context(), jobOf(networks.Post{}).Account); err != nil || p.Name != "Friends" || p.RemoteID != "l1" {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzACampaignNeverLeavesItsHost(f *testing.F) {
	f.Add("k-us1", `{"id":1,"settings":null}`)
	f.Fuzz(func(t *testing.T, key, raw string) {
		var s state
		_ = json.Unmarshal([]byte(raw), &s)
		job := networks.Job{Account: networks.Account{Token: secret.NewToken(key)}}
		if at := New(networks.Env{}).call(job, "find", "GET", "ping", nil).Address; center(job.Account) != "" && at != fmt.Sprintf("https://%s.api.mailchimp.com/3.0/ping", center(job.Account)) {
			t.Errorf("%q leads to %s", key, at)
		}
	})
}
