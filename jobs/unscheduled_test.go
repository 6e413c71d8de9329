package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
	"herald/jobs/networks/fault"
)

// planner is a desk at which posts are approved on submit.
type planner struct {
	*rig
	*dbtest.Agency
	client  model.ClientID
	account model.AccountID
}

func newPlanner(t *testing.T) *planner {
	t.Helper()
	r := newRig(t)
	p := &planner{rig: r, Agency: r.Agency(t, "north", dbtest.SecondShard)}
	p.client = p.Client(t, "bakery")
	p.account = p.Account(t, p.client, network.Mastodon)
	return p
}

func (p *planner) in(t *testing.T, d time.Duration) model.When {
	t.Helper()
	when, err := model.At(p.Clock.Now().Add(d), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// plan has somebody keep a time in mind with a post of the writer's, which is then submitted.
func (p *planner) plan(t *testing.T, writer, who *db.Scope, text string, in time.Duration) db.PostPage {
	t.Helper()
	page, err := writer.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: text, Accounts: []model.AccountID{p.account}}, Named: []model.ClientID{p.client}})
	if err == nil {
		page, err = who.PlanPost(t.Context(), page.Post.ID, page.Post.Revision, p.in(t, in))
	}
	if err == nil {
		page, err = writer.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision})
	}
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// told runs the sweeper's part twice, as two sweepers would, and returns what was owed
// by it: kind, recipient and words.
func (p *planner) told(t *testing.T) (list []string) {
	t.Helper()
	before := dbtest.Look[int](t, p.World, p.Agency.Shard, `SELECT count(*) FROM tenant.mails`)
	for range 2 {
		if err := (&jobs.Notifier{Pipe: p.pipe}).Unscheduled(t.Context(), p.Agency.Shard, p.Clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return dbtest.Look[[]string](t, p.World, p.Agency.Shard, `
		SELECT coalesce(array_agg(kind || ' ' || to_email || ' ' || (content -> 'posts' -> 0 ->> 'excerpt') ORDER BY kind, to_email), '{}')
		  FROM (SELECT * FROM tenant.mails ORDER BY id OFFSET $1) new`, before)
}

func (p *planner) wantTold(t *testing.T, when string, want ...string) {
	t.Helper()
	if got := p.told(t); !slices.Equal(got, want) {
		t.Errorf("%s: told %q, want %q", when, got, want)
	}
}

// An approved post that nobody schedules is spoken of a day before its time and once
// the time has passed; one that was scheduled, put away or is still in somebody's hands is not.
func TestAPlanThatNobodySchedulesIsSpokenOfTwice(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	p.plan(t, p.Owner, p.Owner, "Forgotten", 72*time.Hour)
	done := p.plan(t, p.Owner, p.Owner, "Scheduled", 72*time.Hour)
	if _, err := p.Owner.SchedulePost(t.Context(), done.Post.ID, done.Post.Revision, p.in(t, 72*time.Hour)); err != nil {
		t.Fatal(err)
	}
	away := p.plan(t, p.Owner, p.Owner, "Put away", 72*time.Hour)
	if err := p.Owner.ArchivePost(t.Context(), away.Post.ID, away.Post.Revision); err != nil {
		t.Fatal(err)
	}
	p.wantTold(t, "three days before")
	p.Clock.Advance(48 * time.Hour)
	p.wantTold(t, "a day before", "unscheduled owner0@north.example Forgotten")
	p.Clock.Advance(23 * time.Hour)
	p.wantTold(t, "an hour before")
	p.Clock.Advance(time.Hour)
	p.wantTold(t, "at its time", "plan_passed owner0@north.example Forgotten")
	p.Clock.Advance(time.Hour)
	p.wantTold(t, "an hour after")
}

// What comes within the last day is spoken of two hours before, and what comes within the
// last three hours only when its time has passed. A new time is a new plan.
func TestALatePlanIsSpokenOfLater(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	page := p.plan(t, p.Owner, p.Owner, "Tonight", 10*time.Hour)
	p.plan(t, p.Owner, p.Owner, "Soon", 2*time.Hour)
	p.wantTold(t, "at once")
	p.Clock.Advance(2 * time.Hour)
	p.wantTold(t, "two hours later", "plan_passed owner0@north.example Soon")
	p.Clock.Advance(6 * time.Hour)
	p.wantTold(t, "two hours before", "unscheduled owner0@north.example Tonight")
	page, err := p.Owner.Post(t.Context(), page.Post.ID)
	if err == nil {
		page, err = p.Owner.PlanPost(t.Context(), page.Post.ID, page.Post.Revision, p.in(t, 30*time.Hour))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(3 * time.Hour)
	p.wantTold(t, "after the old time")
	p.Clock.Advance(3 * time.Hour)
	p.wantTold(t, "a day before the new time", "unscheduled owner0@north.example Tonight")
}

// The writer and whoever chose the time are told; if neither may schedule, so is
// somebody who may. Who cannot see the post any more is not.
func TestThoseWhoCanActAreToldOfAPlan(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	grants := func(r model.Role) map[model.ClientID][]model.Permission {
		return map[model.ClientID][]model.Permission{p.client: r.Grants()}
	}
	writer, gone := p.Member(t, model.Editor, grants(model.Editor)), p.Member(t, model.Editor, grants(model.Editor))
	manager := p.Member(t, model.Manager, grants(model.Manager))
	p.Member(t, model.Manager, nil) // of other clients
	at := func(sc *db.Scope) string {
		return dbtest.Look[string](t, p.World, db.MainShard, `SELECT email FROM control.users WHERE id = $1`, sc.Actor.User)
	}
	p.plan(t, writer, p.Owner, "Owner's plan", 50*time.Hour)
	p.plan(t, writer, writer, "Own plan", 60*time.Hour)
	p.plan(t, gone, gone, "Of one who left", 70*time.Hour)
	p.World.Super(t, p.Agency.Shard, `DELETE FROM tenant.client_access WHERE user_id = $1`, gone.Actor.User)
	p.Clock.Advance(26 * time.Hour)
	p.wantTold(t, "the owner chose the time", "unscheduled "+at(writer)+" Owner's plan", "unscheduled owner0@north.example Owner's plan")
	p.Clock.Advance(10 * time.Hour)
	p.wantTold(t, "an editor chose it", "unscheduled "+at(writer)+" Own plan", "unscheduled "+at(manager)+" Own plan")
	p.World.Super(t, p.Agency.Shard, `DELETE FROM tenant.client_access WHERE user_id = $1`, manager.Actor.User)
	p.Clock.Advance(10 * time.Hour)
	p.wantTold(t, "nobody of the client is left", "unscheduled owner0@north.example Of one who left")
}

// A post that fails on three accounts is told of in one mail to each person; what comes
// after the mail has left is told of in the next.
func TestAPostThatFailsOnSeveralAccountsIsOneMail(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	var accounts []model.AccountID
	for range 4 {
		accounts = append(accounts, p.Account(t, p.client, network.Mastodon))
	}
	p.Due(t, "Refused", 0, accounts[:3]...)
	other := p.Due(t, "Refused too", 0, accounts[3])
	for range 4 {
		p.net.commit = append(p.net.commit, fault.New(fault.Validation, "bad", "Not like this."))
	}
	p.workAll(t)
	notifier := &jobs.Notifier{Pipe: p.pipe}
	relay := func() {
		t.Helper()
		p.World.Super(t, p.Agency.Shard, `UPDATE tenant.outbox SET relayed_at = NULL WHERE kind = 'notice.target'`) // the relay may die before it says so
		if _, err := p.pipe.Relay(t.Context(), p.Agency.Shard, 500, func(ctx context.Context, e db.Event) error { return notifier.Notify(ctx, p.Agency.Shard, e) }); err != nil {
			t.Fatal(err)
		}
	}
	relay()
	relay()
	take := func() (said []string) {
		t.Helper()
		mails, err := p.pipe.TakeMails(t.Context(), p.Agency.Shard, p.Clock.Now().Add(time.Minute), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mails {
			var f db.NoticeFacts
			if err := json.Unmarshal(m.Content, &f); err != nil {
				t.Fatal(err)
			}
			said = append(said, fmt.Sprintf("%s to %s, of %q and %d more", m.Kind, m.To, f.Excerpt, len(m.Carried)))
			if err := p.pipe.FinishMail(t.Context(), m, true, "", time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(said)
		return said
	}
	if got := take(); len(got) > 0 {
		t.Errorf("at once: %q", got)
	}
	p.Clock.Advance(2 * time.Minute)
	want := []string{`target_failed to owner0@north.example, of "Refused too" and 0 more`, `target_failed to owner0@north.example, of "Refused" and 2 more`}
	if got := take(); !slices.Equal(got, want) {
		t.Errorf("a minute later: %q, want %q", got, want)
	}
	p.Clock.Advance(time.Hour)
	relay()
	p.Clock.Advance(2 * time.Minute)
	if got := take(); len(got) > 0 {
		t.Errorf("told once more: %q", got)
	}
	p.World.Super(t, p.Agency.Shard, `UPDATE tenant.outbox SET id = DEFAULT WHERE target_id = $1 AND kind = 'notice.target'`, other.Targets[0].ID) // another event
	relay()
	p.Clock.Advance(2 * time.Minute)
	if got := take(); len(got) != 1 {
		t.Errorf("another failure: %q", got)
	}
}
