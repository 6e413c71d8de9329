package jobs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
)

// A post that is held when its worker looks stays, though the worker had it in hand, and
// goes once it is let go; nobody's attempt is used up.
func TestAHoldBetweenDispatchAndClaimWins(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	id := p.Due(t, "Fresh bread", 0, p.account).Targets[0].ID
	taken := p.due(t)
	if len(taken) != 1 {
		t.Fatalf("%d dispatches", len(taken))
	}
	if err := p.Owner.HoldTarget(t.Context(), id, "The recipe is wrong"); err != nil {
		t.Fatal(err)
	}
	p.work(t, taken[0])
	if s := p.target(t, p.Agency, id); s.State != model.RetryScheduled || s.Reason != "held" || s.AttemptNo != 0 || !s.Held() {
		t.Fatalf("held it is %s (%s), attempt %d", s.State, s.Reason, s.AttemptNo)
	}
	p.Clock.Advance(59 * time.Minute)
	if due := p.due(t); len(due) > 0 {
		t.Errorf("asked about %d times within the hour", len(due))
	}
	out, err := p.Owner.ReleaseTarget(t.Context(), id)
	if err != nil || out != (db.LetGo{Now: 1}) {
		t.Fatalf("let go: %+v, %v", out, err)
	}
	p.workAll(t)
	if s := p.target(t, p.Agency, id); s.State != model.Published || s.AttemptNo != 1 || p.net.commits != 1 {
		t.Errorf("let go it is %s (%s), attempt %d, %d posts", s.State, s.Reason, s.AttemptNo, p.net.commits)
	}
	if _, err := p.Owner.ReleaseTarget(t.Context(), id); err != nil {
		t.Errorf("twice: %v", err)
	}
}

// What is let go before its time waits for its time, and a hold that was set and taken
// back leaves nothing behind.
func TestAHoldKeepsTheTime(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	id := p.Due(t, "Fresh bread", 2*time.Hour, p.account).Targets[0].ID
	for range 2 {
		if err := p.Owner.HoldTarget(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := p.Owner.ReleaseTarget(t.Context(), id); err != nil || out != (db.LetGo{}) {
		t.Fatalf("let go: %+v, %v", out, err)
	}
	p.workAll(t)
	if s := p.target(t, p.Agency, id); s.State != model.Scheduled {
		t.Fatalf("before its time it is %s (%s)", s.State, s.Reason)
	}
	p.Clock.Advance(2 * time.Hour)
	p.workAll(t)
	if s := p.target(t, p.Agency, id); s.State != model.Published {
		t.Errorf("at its time it is %s (%s)", s.State, s.Reason)
	}
}

// Held past the late cut-off it is given up at that instant, in words of its own.
func TestWhatIsHeldPastTheLateCutOffIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	id := p.Due(t, "Fresh bread", 0, p.account).Targets[0].ID
	if err := p.Owner.HoldTarget(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	for range 25 {
		p.workAll(t)
		p.Clock.Advance(time.Hour)
	}
	p.workAll(t)
	if s := p.target(t, p.Agency, id); s.State != model.Failed || s.Reason != "held_too_long" {
		t.Fatalf("it is %s (%s)", s.State, s.Reason)
	}
	if out, err := p.Owner.ReleaseTarget(t.Context(), id); err != nil || out != (db.LetGo{Missed: 1}) {
		t.Errorf("let go: %+v, %v", out, err)
	}
	report, err := p.Owner.Delivery(t.Context(), db.DeliveryFilter{From: dbtest.Noon.Add(-24 * time.Hour), To: dbtest.Noon.Add(24 * time.Hour), Zone: "UTC"})
	if err != nil || len(report.Reasons) != 1 || report.Reasons[0].Reason != "held_too_long" {
		t.Errorf("the delivery says %+v, %v", report.Reasons, err)
	}
}

// However holds and claims fall together: what was held before its claim stays, what was
// claimed first is refused to be held, and each goes out once in the end.
func TestAHoldAndAClaimNeverBothWin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	processes := []*jobs.Publisher{r.pub, r.process(t)}
	a := r.Agency(t, "north", "main")
	client := a.Client(t, "bakery")
	const each = 12
	for round := range 3 {
		ids := make([]model.TargetID, each)
		for i := range ids {
			ids[i] = a.Due(t, fmt.Sprintf("Bread %d %d", round, i), 0, a.Account(t, client, network.Webhook)).Targets[0].ID
		}
		due := r.due(t)
		held := make([]bool, each)
		var wg sync.WaitGroup
		wg.Go(func() { r.together(t, due, processes...) })
		wg.Go(func() {
			for i, id := range ids {
				err := a.Owner.HoldTarget(context.WithoutCancel(t.Context()), id, "")
				if _, refused := model.Refused(err); err != nil && !refused {
					t.Error(err)
				}
				held[i] = err == nil
			}
		})
		wg.Wait()
		r.workAll(t)
		for i, id := range ids {
			if s := r.target(t, a, id).State; held[i] == (s == model.Published) {
				t.Errorf("held %t, and it is %s", held[i], s)
			}
			if _, err := a.Owner.ReleaseTarget(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		r.workAll(t)
		if n := r.states(t, a, model.Published, ""); n != each*(round+1) || r.net.commits != n {
			t.Fatalf("round %d: %d published by %d calls", round, n, r.net.commits)
		}
	}
}

// A worker that dies between its claim and its call gives the post back, and then a hold
// stops it.
func TestAHoldStopsWhatADeadWorkerGaveBack(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	id := p.Due(t, "Fresh bread", 0, p.account).Targets[0].ID
	claim := db.Claim{Key: p.due(t)[0].Key}
	group := &db.Group{Claims: []db.Claim{claim}}
	if err := p.pipe.Write(t.Context(), p.Shard, p.guards(), group); err != nil || group.Works[0].Verdict != db.Claimed {
		t.Fatalf("claim: %v, %v", group.Works[0].Verdict, err)
	}
	if err := p.Owner.HoldTarget(t.Context(), id, ""); err == nil {
		t.Fatal("held while it is being sent")
	}
	p.Clock.Advance(p.settings.StaleInFlight + time.Minute)
	if _, err := p.pipe.SweepClaims(t.Context(), p.Shard, p.settings.StaleInFlight, p.Clock.Now(), p.Clock.Now(), 10); err != nil {
		t.Fatal(err)
	}
	if err := p.Owner.HoldTarget(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	p.workAll(t)
	if s := p.target(t, p.Agency, id); s.State != model.RetryScheduled || s.Reason != "held" || p.net.commits != 0 {
		t.Errorf("it is %s (%s), %d posts", s.State, s.Reason, p.net.commits)
	}
}
