package mail_test

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// parts are the two bodies of a mail.
func parts(t *testing.T, raw string) (plain, page string) {
	t.Helper()
	msg, err := netmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("content type %q: %v", kind, err)
	}
	all := map[string]string{}
	for r := multipart.NewReader(msg.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		body, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		all[kind] = strings.ReplaceAll(string(body), "\r\n", "\n")
	}
	return all["text/plain"], all["text/html"]
}

func TestAReviewMailArrivesWithItsLinkAndIsDone(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas Holm")
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))

	got := o.parcels()
	if len(got) != 1 || got[0].from != "herald@agency.example" || !slices.Equal(got[0].to, []string{reader}) {
		t.Fatalf("got %+v", got)
	}
	h := got[0].header(t)
	for name, want := range map[string]string{
		"From": `"Agency north via Herald" <herald@agency.example>`, "To": `"Jonas Holm" <jonas@client.example>`, "Subject": "Please review a post for Harbour Coffee",
		"Date": "Tue, 10 Mar 2026 12:00:00 +0000", "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All", "User-Agent": "", "X-Mailer": "",
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, h.Get(name), want)
		}
	}
	plain, page := parts(t, got[0].raw)
	address := "https://herald.example/review/" + token
	if !strings.Contains(plain, "\n"+address+"\n") || !strings.Contains(page, `href="`+address+`"`) || !strings.Contains(plain, "Thu 12 Mar 2026, 13:00 (Berlin)") {
		t.Errorf("the link or the time is missing:\n%s\n%s", plain, page)
	}
	if row := r.row(t, id); !row.Sent || row.Sealed || row.Error != "" {
		t.Errorf("row %+v", row)
	}
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if len(o.parcels()) != 1 {
		t.Error("it was sent again")
	}
}

func TestNoticesLinkToTheirPages(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	target := model.TargetID(31)
	facts := db.NoticeFacts{Client: "Harbour Coffee", Account: "@harbour", Network: "instagram", Excerpt: "Beans", State: "failed", Say: "Too tall.", TargetID: &target}
	for kind, want := range map[string]string{
		"target_failed":   "https://herald.example/w/north/targets/31",
		"manual_check":    "https://herald.example/w/north/targets/31",
		"needs_reconnect": "https://herald.example/w/north/accounts",
		"connection_ends": "https://herald.example/w/north/accounts",
	} {
		if err := r.pipe.AddMail(t.Context(), r.agency.Shard, r.agency.ID, kind+":1:1", kind, db.Recipient{Email: kind + "@north.example", Name: "Mia"}, facts); err != nil {
			t.Fatal(err)
		}
		r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
		got := o.parcels()
		plain, page := parts(t, got[len(got)-1].raw)
		if !strings.Contains(plain, "\n"+want+"\n") || !strings.Contains(page, `href="`+want+`"`) {
			t.Errorf("%s does not link to %s:\n%s", kind, want, plain)
		}
	}
	post := model.PostID(7)
	facts.PostID = &post
	for _, account := range []string{"@harbour", "@quay"} {
		facts.Account = account
		if err := r.pipe.AddNotice(t.Context(), r.agency.Shard, r.agency.ID, account, "target_failed", db.Recipient{Email: "mia@north.example", Name: "Mia"}, fmt.Sprintf("post:%d", post), facts); err != nil {
			t.Fatal(err)
		}
	}
	sent := len(o.parcels())
	r.Clock.Advance(2 * time.Minute)
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	got := o.parcels()[sent:]
	if plain, _ := parts(t, got[0].raw); len(got) != 1 || !strings.Contains(plain, "\nhttps://herald.example/w/north/posts/7\n") || !strings.Contains(plain, "@harbour") || !strings.Contains(plain, "@quay") {
		t.Errorf("%d mails about two accounts of a post: %s", len(got), plain)
	}
	content := model.ApprovalMail{Agency: "Agency north", Sender: "Mia", Path: "/w/north/posts/7", Posts: []model.ApprovalMailPost{{Post: 7, Verdict: model.Reject}}}
	for _, kind := range []string{model.MailApprovalWaiting, model.MailDecision} {
		r.oweAs(t, kind, kind, reader, "Lea", content)
		r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
		got := o.parcels()
		if plain, _ := parts(t, got[len(got)-1].raw); !strings.Contains(plain, "\nhttps://herald.example/w/north/posts/7\n") {
			t.Errorf("%s: %s", kind, plain)
		}
	}
}

func TestARefusedAddressIsGivenUpAndNotRepeatedInTheReason(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{rcpt: func(to string) error {
		return refuse(550, smtp.EnhancedCode{5, 1, 1}, "<"+to+"> is unknown to postmaster@client.example, see https://client.example/help?for="+to)
	}}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	row := r.row(t, id)
	if !row.GaveUp || row.Sealed || row.Tries != 1 {
		t.Errorf("row %+v", row)
	}
	if want := "The mail server refused the address: 550 5.1.1 <…> is unknown to …, see …"; row.Error != want {
		t.Errorf("reason %q, want %q", row.Error, want)
	}
	if !strings.Contains(r.log.String(), "550 5.1.1") {
		t.Errorf("log: %s", r.log.String())
	}
}

func TestARefusedBodyIsGivenUpAndItsSecretIsNotRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{data: func(*smtp.Conn) error {
		return refuse(554, smtp.EnhancedCode{5, 7, 1}, "spam: review/"+token+" "+strings.Repeat("blah ", 100))
	}}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if row := r.row(t, id); !row.GaveUp || strings.Contains(row.Error, token) || !strings.Contains(row.Error, "refused the mail: 554 5.7.1 spam: review/…") || len(row.Error) > 300 {
		t.Errorf("row %+v", row)
	}
}

func TestATemporaryRefusalIsTriedAgainForADayAndThenGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{rcpt: func(string) error { return refuse(451, smtp.EnhancedCode{4, 7, 1}, "Greylisted") }}).open(t, nil, false)
	id, d := r.owe(t, "review_request:1", reader, "Jonas"), r.deliverer(t, "smtp://"+o.host, nil)
	var waits []string
	for n := 1; n < 40; n++ {
		r.deliver(t, d)
		row := r.row(t, id)
		if row.Tries != n {
			t.Fatalf("after %d rounds: %+v", n, row)
		}
		if row.GaveUp {
			break
		}
		waits = append(waits, row.Next.Sub(r.Clock.Now()).String())
		r.Clock.Set(row.Next.Add(-time.Millisecond))
		r.deliver(t, d) // a moment early: nothing
		r.Clock.Set(row.Next)
	}
	want := []string{"1m0s", "2m0s", "4m0s", "8m0s", "16m0s", "32m0s", "1h4m0s", "2h8m0s", "4h16m0s", "8h32m0s", "6h57m0s"}
	if !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	if row := r.row(t, id); !row.GaveUp || row.Sealed || !r.Clock.Now().Equal(dbtest.Noon.Add(24*time.Hour)) {
		t.Errorf("at %s: %+v", r.Clock.Now(), row)
	}
}

func TestAServerThatIsBusyOrAwayCostsNoMail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{session: func() error { return refuse(421, smtp.EnhancedCode{4, 3, 2}, "Too many connections") }}).open(t, nil, false)
	free := (&office{}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if row := r.row(t, id); row.GaveUp || !strings.Contains(row.Error, "421") {
		t.Errorf("busy: %+v", row)
	}
	r.Clock.Advance(time.Minute)
	r.deliver(t, r.deliverer(t, "smtp://127.0.0.1:1", nil)) // nobody listens there
	if row := r.row(t, id); row.GaveUp || !strings.Contains(row.Error, "could not be reached") {
		t.Errorf("away: %+v", row)
	}
	r.Clock.Advance(2 * time.Minute)
	r.deliver(t, r.deliverer(t, "smtp://"+free.host, nil))
	if row := r.row(t, id); !row.Sent {
		t.Errorf("back: %+v", row)
	}
}

func TestWhatConcernsHeraldItselfNeverGivesAMailUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{password: "right"}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	try := func(what, url, words string) {
		t.Helper()
		r.deliver(t, r.deliverer(t, url, nil))
		row := r.row(t, id)
		if row.GaveUp || row.Sent || !strings.Contains(row.Error, words) || strings.Contains(row.Error, "wrong-word") {
			t.Errorf("%s: %+v", what, row)
		}
		r.Clock.Set(row.Next)
	}
	try("wrong password", "smtp://herald:wrong-word@"+o.host, "535")
	try("no password", "smtp://"+o.host, "530")
	picky := (&office{from: func(string) error { return refuse(550, smtp.EnhancedCode{5, 7, 1}, "Sender not permitted") }}).open(t, nil, false)
	try("sender", "smtp://"+picky.host, "refused the sender: 550 5.7.1 Sender not permitted")
	r.deliver(t, r.deliverer(t, "smtp://herald:right@"+o.host, nil))
	if row := r.row(t, id); !row.Sent || o.parcels()[0].user != "herald" {
		t.Errorf("right password: %+v", row)
	}
}

func TestAConnectionLostAfterTheMailRepeatsItUnderTheSameID(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := (&office{data: func(c *smtp.Conn) error { return c.Conn().Close() }}).open(t, nil, false)
	sound := (&office{}).open(t, nil, false)
	id, other := r.owe(t, "review_request:1", reader, "Jonas"), r.owe(t, "review_request:2", "lea@client.example", "Lea")
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if row := r.row(t, id); row.Sent || row.GaveUp || !strings.Contains(row.Error, "broke off") {
		t.Errorf("row %+v", row)
	}
	r.Clock.Advance(time.Minute)
	r.deliver(t, r.deliverer(t, "smtp://"+sound.host, nil))
	if !r.row(t, id).Sent || !r.row(t, other).Sent {
		t.Error("not sent at the second try")
	}
	ids := map[string]map[string]bool{}
	all := append(o.parcels(), sound.parcels()...)
	for _, p := range all {
		to := p.to[0]
		if ids[to] == nil {
			ids[to] = map[string]bool{}
		}
		ids[to][p.header(t).Get("Message-Id")] = true
	}
	if len(all) != 4 || len(ids[reader]) != 1 || len(ids["lea@client.example"]) != 1 || fmt.Sprint(ids[reader]) == fmt.Sprint(ids["lea@client.example"]) {
		t.Errorf("%d mails, ids %v", len(all), ids)
	}
}

func TestAServerThatFailsAfterTakingTheMailHasTakenIt(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{hangsUp: true}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if row := r.row(t, id); !row.Sent {
		t.Errorf("row %+v", row)
	}
}

func TestWithoutAServerMailWaitsAndIsSpokenOfOnceAnHour(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id, d := r.owe(t, "review_request:1", reader, "Jonas"), r.deliverer(t, "", nil)
	for range 125 { // minutes
		r.deliver(t, d)
		r.Clock.Advance(time.Minute)
	}
	if row := r.row(t, id); row.Tries != 0 || row.Sent || row.GaveUp || !row.Sealed {
		t.Errorf("row %+v", row)
	}
	if n := strings.Count(r.log.String(), "HERALD_SMTP_URL"); n != 3 {
		t.Errorf("%d lines:\n%s", n, r.log.String())
	}
	o := (&office{}).open(t, nil, false)
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if row := r.row(t, id); !row.Sent {
		t.Errorf("row %+v", row)
	}
}

func TestAReviewMailThatWaitedTooLongSaysSo(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	until := dbtest.Noon.Add(time.Hour)
	r.oweAs(t, "a", model.MailReviewRequest, reader, "Jonas", model.ApprovalMail{Until: &until, Posts: []model.ApprovalMailPost{{Post: 1}}})
	r.Clock.Advance(time.Hour)
	r.deliver(t, r.deliverer(t, "smtp://"+o.host, nil))
	if plain, _ := parts(t, o.parcels()[0].raw); !strings.Contains(plain, "its link has run out") {
		t.Errorf("got %s", plain)
	}
}

func TestManyDeliverersSendEachMailOnce(t *testing.T) {
	t.Parallel()
	r, o := newRig(t), (&office{}).open(t, nil, false)
	for n := range 40 {
		r.owe(t, fmt.Sprintf("review_request:%d", n), fmt.Sprintf("reader%d@client.example", n), "")
	}
	var wg sync.WaitGroup
	for range 3 {
		d := r.deliverer(t, "smtp://"+o.host, nil)
		for range 2 {
			wg.Go(func() {
				if err := d.Deliver(t.Context(), r.agency.Shard); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	seen := map[string]int{}
	for _, p := range o.parcels() {
		seen[p.to[0]]++
	}
	if len(seen) != 40 || len(o.parcels()) != 40 {
		t.Errorf("%d mails to %d people", len(o.parcels()), len(seen))
	}
}

func TestAStoppedDeliveryGivesItsMailBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	inside, stop := make(chan struct{}), make(chan struct{})
	o := (&office{data: func(*smtp.Conn) error {
		close(inside)
		<-stop
		return nil
	}}).open(t, nil, false)
	id := r.owe(t, "review_request:1", reader, "Jonas")
	d := r.deliverer(t, "smtp://"+o.host, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- d.Deliver(ctx, r.agency.Shard) }()
	<-inside
	if err := d.Deliver(t.Context(), r.agency.Shard); err != nil { // beside the first: nothing to do, no waiting
		t.Error(err)
	}
	stopped := time.Now()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if took := time.Since(stopped); took > 10*time.Second {
		t.Errorf("it waited %s for the server", took)
	}
	close(stop)
	if row := r.row(t, id); row.Sent || row.GaveUp || !row.Next.Equal(r.Clock.Now().Add(time.Minute)) {
		t.Errorf("row %+v", row)
	}
}
