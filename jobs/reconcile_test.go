package jobs_test

import (
	"context"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// away is a network that publishes and afterwards answers nothing more.
type away struct{ *pretend }

var errAway = fault.New(fault.Transient, "http_503", "The network is not available.")

// Commit does not say where the post is.
func (a away) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	r, err := a.pretend.Commit(ctx, ready)
	r.Permalink = ""
	return r, err
}

// Find gets no answer.
func (away) Find(context.Context, networks.Job, networks.Handles, networks.Window) (networks.Finding, error) {
	return networks.Finding{}, errAway
}

// Follow gets no answer.
func (away) Follow(_ context.Context, _ networks.Job, r networks.Receipt, _ networks.Handles) (networks.Receipt, error) {
	return r, errAway
}

// seldomAsked works through what is due, again and again until nothing comes
// back, and refuses a network that is asked often, or for longer than patience.
func (r *rig) seldomAsked(t *testing.T, task string) {
	t.Helper()
	began, before := r.Clock.Now(), r.Clock.Now()
	for asked := 1; ; asked++ {
		next := dbtest.Look[*time.Time](t, r.World, db.MainShard, `SELECT min(due_at) FROM control.publish_dispatch_index WHERE task = $1 AND status = 'pending'`, task)
		if next == nil {
			if total := r.Clock.Now().Sub(began); asked < 15 || asked > 60 || total < r.settings.RateLimitPatience/2 || total > r.settings.RateLimitPatience+time.Minute {
				t.Errorf("asked %d times over %v", asked, total)
			}
			return
		}
		wait, age := next.Sub(before), before.Sub(began)
		if least := min(age, r.settings.RetryCap) / 2; wait < least || wait > r.settings.RetryCap {
			t.Errorf("after %v it is asked again in %v", age, wait)
		}
		r.Clock.Set(*next)
		before = *next
		r.workAll(t)
		r.due(t)
	}
}

func TestALookUpWithoutAnswerComesEverMoreSeldomAndEndsAtAPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.pub.Networks[network.Mastodon] = away{r.net}
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Mastodon)).Targets[0].ID
	r.net.commit = []error{errUnknown}
	r.workAll(t)
	r.relayAll(t)
	r.seldomAsked(t, "reconcile")
	if target := r.target(t, a, id); target.State != model.Failed || target.Reason != "manual_check_required" {
		t.Errorf("target %s, %s; want a person to look", target.State, target.Reason)
	}
	if n := dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'notice.target'`); n != 1 {
		t.Errorf("%d notices, want one", n)
	}
}

func TestAFollowUpWithoutAnswerComesEverMoreSeldomAndEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.pub.Networks[network.Mastodon] = away{r.net}
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Mastodon)).Targets[0].ID
	r.workAll(t)
	r.relayAll(t)
	r.seldomAsked(t, "follow_up")
	if target := r.target(t, a, id); target.State != model.Published || target.Say == "" {
		t.Errorf("target %s, %q", target.State, target.Say)
	}
}

func TestAWaitBeyondPatienceIsLeftToAPersonAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	id := a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Mastodon)).Targets[0].ID
	r.pub.Networks[network.Mastodon] = limiting{r.net}
	r.net.commit = []error{errUnknown}
	r.workAll(t)
	r.Clock.Advance(time.Hour)
	r.workAll(t)
	if target := r.target(t, a, id); target.State != model.Failed || target.Reason != "manual_check_required" {
		t.Errorf("target %s, %s", target.State, target.Reason)
	}
}

// limiting is a network that wants to be asked again in two days.
type limiting struct{ *pretend }

// Find is over the limit.
func (limiting) Find(context.Context, networks.Job, networks.Handles, networks.Window) (networks.Finding, error) {
	f := fault.New(fault.RateLimited, "http_429", "Too many requests.")
	f.Wait = 48 * time.Hour
	return networks.Finding{}, f
}

func TestAnAccountThatPublishesAgainLosesItsOldError(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		r := newRig(t)
		a := r.Agency(t, "north", shard)
		works, idle := a.Account(t, a.Client(t, "bakery"), network.Mastodon), a.Account(t, a.Client(t, "cafe"), network.Mastodon)
		off := a.Account(t, a.Client(t, "spa"), network.Mastodon)
		for _, id := range []model.AccountID{works, works, idle, off} {
			a.Due(t, "Fresh bread", 0, id)
		}
		r.Super(t, shard, `UPDATE tenant.accounts SET last_error = 'A right is missing.', last_error_at = $1`, r.Clock.Now())
		due := r.due(t)
		r.net.commit = []error{fault.New(fault.Validation, "bad", "No.")}
		r.work(t, due[0])
		failed := dbtest.Look[model.AccountID](t, r.World, shard, `SELECT account_id FROM tenant.targets WHERE state = 'failed'`)
		errorOf := func(id model.AccountID) bool {
			return dbtest.Look[bool](t, r.World, shard, `SELECT last_error IS NOT NULL AND last_error_at IS NOT NULL FROM tenant.accounts WHERE id = $1`, id)
		}
		if !errorOf(failed) {
			t.Error("a refusal took the error away")
		}
		r.Super(t, shard, `UPDATE tenant.accounts SET state = 'needs_reconnect' WHERE id = $1`, off)
		for _, d := range due[1:] {
			r.work(t, d)
		}
		if errorOf(works) || !errorOf(off) {
			t.Errorf("%s: after a publish the error stands: %v; of one that could not: %v", shard, errorOf(works), errorOf(off))
		}
	}
}

func TestAPostFoundByALookUpTakesTheOldErrorAway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	a.Due(t, "Fresh bread", 0, a.Account(t, a.Client(t, "bakery"), network.Mastodon))
	r.net.commit = []error{errUnknown}
	r.workAll(t)
	r.Super(t, a.Shard, `UPDATE tenant.accounts SET last_error = 'A right is missing.', last_error_at = $1`, r.Clock.Now())
	r.net.find = []networks.Finding{{Verdict: networks.Found, Receipt: networks.Receipt{ExternalID: "post-1", Permalink: "https://net.example/post-1"}}}
	r.Clock.Advance(time.Minute)
	r.workAll(t)
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.accounts WHERE last_error IS NOT NULL`); n != 0 {
		t.Error("the error stands, though the post was found")
	}
}
