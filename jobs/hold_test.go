package jobs_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
)

// What a pause holds is asked about once an hour, and goes at once when the pause ends:
// that of the account, the client or the workspace. What another pause holds stays.
func TestAPauseCostsLittleAndItsEndSendsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlanner(t)
	account := func(paused bool) {
		t.Helper()
		page, err := p.Owner.Account(t.Context(), p.account)
		if err == nil {
			_, err = p.Owner.PauseAccount(t.Context(), p.account, page.Revision, paused)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	client := func(paused bool) {
		t.Helper()
		if _, err := p.Owner.PauseClient(t.Context(), p.client, paused); err != nil {
			t.Fatal(err)
		}
	}
	workspace := func(paused bool) {
		t.Helper()
		if err := p.Owner.PauseWorkspace(t.Context(), paused); err != nil {
			t.Fatal(err)
		}
	}
	for reason, pause := range map[string]func(bool){"account_paused": account, "client_paused": client, "workspace_paused": workspace} {
		id := p.Due(t, reason, 0, p.account).Targets[0].ID
		pause(true)
		p.workAll(t)
		if s := p.target(t, p.Agency, id); s.State != model.RetryScheduled || s.Reason != reason {
			t.Fatalf("%s: it is %s (%s)", reason, s.State, s.Reason)
		}
		p.Clock.Advance(59 * time.Minute)
		if due := p.due(t); len(due) > 0 {
			t.Errorf("%s: asked about %d times within the hour", reason, len(due))
		}
		if reason == "account_paused" {
			client(true)
			account(false)
			p.workAll(t)
			if s := p.target(t, p.Agency, id); s.Reason != "client_paused" {
				t.Errorf("held by two pauses and let go by one it is %s (%s)", s.State, s.Reason)
			}
			pause = client
		}
		pause(false)
		p.workAll(t)
		if s := p.target(t, p.Agency, id); s.State != model.Published {
			t.Errorf("%s: after the pause it is %s (%s)", reason, s.State, s.Reason)
		}
	}
}

// However claims and the end of a pause fall together, none is left for the hour.
func TestNoClaimMissesTheEndOfAPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	processes := []*jobs.Publisher{r.pub, r.process(t), r.process(t)}
	a := r.Agency(t, "north", "main")
	client := a.Client(t, "bakery")
	for round := range 6 {
		for i := range 20 {
			a.Due(t, fmt.Sprintf("Bread %d %d", round, i), 0, a.Account(t, client, network.Webhook))
		}
		if _, err := a.Owner.PauseClient(t.Context(), client, true); err != nil {
			t.Fatal(err)
		}
		due := r.due(t)
		var wg sync.WaitGroup
		wg.Go(func() { r.together(t, due, processes...) })
		wg.Go(func() {
			if _, err := a.Owner.PauseClient(t.Context(), client, false); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		r.Clock.Advance(2 * time.Minute) // what met the change itself is asked about soon
		r.workAll(t)
		if n := r.states(t, a, model.Published, ""); n != 20*(round+1) {
			t.Fatalf("round %d: %d published, and %d wait for a pause that is over", round, n, r.states(t, a, model.RetryScheduled, "client_paused"))
		}
	}
}

func TestTheAccountsCapHoldsHoweverManyClaimAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *jobs.Settings) { s.AccountCap = 5 })
	processes := []*jobs.Publisher{r.pub, r.process(t), r.process(t)}
	a := r.Agency(t, "north", "main")
	client := a.Client(t, "bakery")
	for round := range 4 {
		account := a.Account(t, client, network.Webhook)
		for i := range 30 {
			a.Due(t, fmt.Sprintf("Bread %d %d", round, i), 0, account)
		}
		r.together(t, r.due(t), processes...)
		if n := r.states(t, a, model.Published, ""); n != 5*(round+1) {
			t.Fatalf("round %d: %d published, want 5 an account", round, n)
		}
		if n := r.states(t, a, model.RetryScheduled, "account_rate"); n != 25*(round+1) {
			t.Errorf("round %d: %d wait for room", round, n)
		}
	}
	r.Clock.Advance(13 * time.Minute) // of which one takes twelve
	r.workAll(t)
	if n := r.states(t, a, model.Published, ""); n != 24 {
		t.Errorf("%d published a while later, want one more an account", n)
	}
}
