package jobs_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/mail"
)

// postbox is a real SMTP server that keeps what it takes.
type postbox struct {
	mu  sync.Mutex
	got []*netmail.Message
}

func (b *postbox) NewSession(*smtp.Conn) (smtp.Session, error) { return b, nil }
func (b *postbox) Mail(string, *smtp.MailOptions) error        { return nil }
func (b *postbox) Rcpt(string, *smtp.RcptOptions) error        { return nil }
func (b *postbox) Reset()                                      {}
func (b *postbox) Logout() error                               { return nil }

func (b *postbox) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := netmail.ReadMessage(strings.NewReader(string(raw)))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, m)
	return err
}

// take empties the box: "subject to address".
func (b *postbox) take() (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.got {
		to, _ := netmail.ParseAddress(m.Header.Get("To"))
		list = append(list, m.Header.Get("Subject")+" to "+to.Address)
	}
	b.got = nil
	return list
}

// waiting is a client with a workflow that reminds: dana of the client alone.
type waiting struct {
	*rig
	*dbtest.Agency
	client  model.ClientID
	account model.AccountID
	dana    model.ApproverID
	box     *postbox
	mailer  *mail.Deliverer
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	r := newRig(t)
	w := &waiting{rig: r, Agency: r.Agency(t, "north", dbtest.SecondShard), box: &postbox{}}
	w.client = w.Client(t, "bakery")
	w.account = w.Account(t, w.client, network.Mastodon)
	w.dana = dbtest.Look[model.ApproverID](t, r.World, w.Agency.Shard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, 'Dana', 'dana@client.example') RETURNING id`, w.ID, w.client)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := smtp.NewServer(w.box)
	s.Domain, s.AllowInsecureAuth, s.EnableSMTPUTF8 = "box.example", true, true
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	w.mailer, err = mail.New(mail.Options{SMTPURL: "smtp://" + l.Addr().String() + "?tls=none", From: "Herald <herald@herald.example>", BaseURL: "https://herald.example", Pipe: r.pipe,
		Log: slog.New(slog.DiscardHandler), Now: r.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	w.rules(t, func(f *db.WorkflowForm) {
		f.Rules.RemindAfter, f.Rules.RemindEvery = 24*time.Hour, 48*time.Hour
		f.Rules.EscalateAfter, f.Rules.EscalateTo = 96*time.Hour, []model.UserID{w.Owner.Actor.User}
		f.Rules.Stages = []db.WorkflowStage{{Name: "Client", Rule: model.AnyOne, Approvers: []model.ApproverID{w.dana}}}
	})
	return w
}

func (w *waiting) rules(t *testing.T, change func(*db.WorkflowForm)) {
	t.Helper()
	flow, err := w.Owner.Workflow(t.Context(), w.client)
	if err != nil {
		t.Fatal(err)
	}
	f := db.WorkflowForm{Seen: flow.Seen, Rules: flow.Rules, Confirmed: true}
	change(&f)
	if _, err := w.Owner.SaveWorkflow(t.Context(), w.client, f); err != nil {
		t.Fatal(err)
	}
}

func (w *waiting) submit(t *testing.T, text string) model.PostID {
	t.Helper()
	page := w.Post(t, text, w.account)
	if _, err := w.Owner.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision}); err != nil {
		t.Fatal(err)
	}
	return page.Post.ID
}

func (w *waiting) nudger() *jobs.Nudger {
	return &jobs.Nudger{Pipe: w.pipe, Log: slog.New(slog.DiscardHandler), Now: w.Clock.Now}
}

// nudge runs the sweeper's part twice at once, delivers what is owed, and returns what arrived.
func (w *waiting) nudge(t *testing.T) []string {
	t.Helper()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := w.nudger().Nudge(t.Context(), w.Agency.Shard); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	return w.deliver(t)
}

func (w *waiting) deliver(t *testing.T) []string {
	t.Helper()
	if err := w.mailer.Deliver(t.Context(), w.Agency.Shard); err != nil {
		t.Fatal(err)
	}
	return w.box.take()
}

func (w *waiting) wants(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := w.nudge(t); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

// decide approves by the newest link.
func (w *waiting) decide(t *testing.T, post model.PostID) {
	t.Helper()
	list, err := w.Owner.PostApprovals(t.Context(), post)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Owner.Decide(t.Context(), list[0].ID, db.Decision{Verdict: model.Approve, Hash: list[0].Hash, Stage: list[0].Stage}); err != nil {
		t.Fatal(err)
	}
}

func TestRemindersHoldAllThatWaitsAndStopAtTheDecision(t *testing.T) {
	t.Parallel()
	w := newWaiting(t) // noon in UTC is 13 o'clock in Berlin
	one := w.submit(t, "First")
	w.deliver(t)
	w.Clock.Advance(2 * time.Hour)
	two := w.submit(t, "Second")
	w.deliver(t)
	w.wants(t, "at once")
	w.Clock.Advance(22 * time.Hour)
	w.wants(t, "after a day", "Reminder: please review 2 posts for Client bakery to dana@client.example")
	w.Clock.Advance(3 * time.Hour)
	w.wants(t, "the second came along with the first")
	w.decide(t, one)
	w.deliver(t)
	w.Clock.Advance(45 * time.Hour)
	w.wants(t, "two days later", "Reminder: please review a post for Client bakery to dana@client.example")
	w.Clock.Advance(28 * time.Hour)
	w.wants(t, "when it waited for long", "Nobody has decided yet: a post for Client bakery to owner0@north.example")
	w.decide(t, two)
	w.deliver(t)
	w.Clock.Advance(20 * 24 * time.Hour)
	w.wants(t, "after the decision")
	if n := dbtest.Look[int](t, w.World, w.Agency.Shard, `SELECT count(*) FROM tenant.reminders`); n != 0 {
		t.Errorf("%d reminders are left", n)
	}
}

func TestARemindersLinkOpensWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.submit(t, "First")
	w.deliver(t)
	w.Clock.Advance(15 * 24 * time.Hour) // the first link has run out meanwhile
	if err := w.nudger().Nudge(t.Context(), w.Agency.Shard); err != nil {
		t.Fatal(err)
	}
	sealed := dbtest.Look[[]byte](t, w.World, w.Agency.Shard, `SELECT sealed FROM tenant.mails WHERE kind = 'review_reminder'`)
	key := dbtest.Look[string](t, w.World, w.Agency.Shard, `SELECT key FROM tenant.mails WHERE kind = 'review_reminder'`)
	token, err := w.Ring.Open(sealed, db.MailAAD(w.ID, key))
	if err != nil {
		t.Fatal(err)
	}
	rs, err := w.Store.Review(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if page, err := rs.Page(t.Context()); err != nil || page.Waiting() != 1 {
		t.Errorf("the link shows %+v, %v", page, err)
	}
}

// TestAReminderTellsTimesWhereItsReaderIs: an approver's in the zone that they chose, else
// in the client's.
func TestAReminderTellsTimesWhereItsReaderIs(t *testing.T) {
	t.Parallel()
	for chosen, want := range map[string]string{"": "Europe/Berlin", "Europe/Lisbon": "Europe/Lisbon"} {
		w := newWaiting(t)
		w.Super(t, w.Agency.Shard, `UPDATE tenant.approvers SET zone = nullif($1, '')`, chosen)
		w.submit(t, "First")
		w.deliver(t)
		w.Clock.Advance(15 * 24 * time.Hour)
		if err := w.nudger().Nudge(t.Context(), w.Agency.Shard); err != nil {
			t.Fatal(err)
		}
		if got := dbtest.Look[string](t, w.World, w.Agency.Shard, `SELECT content -> 'posts' -> 0 ->> 'zone' FROM tenant.mails WHERE kind = 'review_reminder'`); got != want {
			t.Errorf("who chose %q reads times of %s", chosen, got)
		}
	}
}

// TestADecisionTakesBackWhatHasNotLeft: the mail is owed and the server was away.
func TestADecisionTakesBackWhatHasNotLeft(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	one, two := w.submit(t, "First"), w.submit(t, "Second")
	w.deliver(t)
	w.Clock.Advance(24 * time.Hour)
	if err := w.nudger().Nudge(t.Context(), w.Agency.Shard); err != nil {
		t.Fatal(err)
	}
	w.decide(t, one)
	if got := w.deliver(t); len(got) != 1 || !strings.Contains(got[0], "review a post for") {
		t.Errorf("after one decision %q", got)
	}
	w.Clock.Advance(48 * time.Hour)
	if err := w.nudger().Nudge(t.Context(), w.Agency.Shard); err != nil {
		t.Fatal(err)
	}
	w.decide(t, two)
	if got := w.deliver(t); len(got) != 0 {
		t.Errorf("after the last decision %q", got)
	}
}

// TestAReminderThatDiedHalfWayIsSentByTheNext: taken, and not sent.
func TestAReminderThatDiedHalfWayIsSentByTheNext(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.submit(t, "First")
	w.deliver(t)
	w.Clock.Advance(24 * time.Hour)
	now := w.Clock.Now()
	list, err := w.pipe.TakeReminders(t.Context(), w.Agency.Shard, now, now.Add(5*time.Minute), 100)
	if err != nil || len(list) != 1 {
		t.Fatalf("taken %+v, %v", list, err)
	}
	w.wants(t, "while the lease holds")
	w.Clock.Advance(6 * time.Minute)
	w.wants(t, "after it", "Reminder: please review a post for Client bakery to dana@client.example")
	if sent, err := w.pipe.SendReminder(t.Context(), w.Agency.Shard, list[0], db.Recipient{Email: "dana@client.example"}, model.ApprovalMail{}, w.Clock.Now()); sent || err != nil {
		t.Errorf("who came back sent it once more: %v, %v", sent, err)
	}
}

func TestRemindersComeByDayWhereTheReaderIs(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.Super(t, w.Agency.Shard, `UPDATE tenant.approvers SET zone = 'America/Los_Angeles'`)
	w.submit(t, "First") // at 12:00 UTC: 5 in the morning there
	w.deliver(t)
	w.Clock.Advance(24 * time.Hour)
	w.wants(t, "at 5 in the morning")
	w.Clock.Advance(2*time.Hour + 59*time.Minute)
	w.wants(t, "a minute before 8")
	w.Clock.Advance(time.Minute)
	w.wants(t, "at 8", "Reminder: please review a post for Client bakery to dana@client.example")
	w.rules(t, func(f *db.WorkflowForm) { f.Rules.RemindEvery = 13 * time.Hour }) // 21:00 there
	w.Clock.Advance(13 * time.Hour)
	w.wants(t, "at 21")
	w.Clock.Advance(11 * time.Hour)
	w.wants(t, "the next morning", "Reminder: please review a post for Client bakery to dana@client.example")
}

func TestAWorkflowThatRemindsNoMoreIsQuietAtOnce(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	w.submit(t, "First")
	w.deliver(t)
	w.rules(t, func(f *db.WorkflowForm) { f.Rules.RemindAfter, f.Rules.EscalateAfter = 0, 0 })
	w.Clock.Advance(5 * 24 * time.Hour)
	w.wants(t, "without reminders")
	w.rules(t, func(f *db.WorkflowForm) { f.Rules.RemindAfter = 24 * time.Hour })
	w.wants(t, "with them again", "Reminder: please review a post for Client bakery to dana@client.example")
	w.Super(t, w.Agency.Shard, `UPDATE tenant.approvers SET revoked_at = now()`)
	w.Super(t, w.Agency.Shard, `UPDATE tenant.reminders SET next_at = '2026-01-01'`)
	w.wants(t, "to somebody who is asked no more")
}
