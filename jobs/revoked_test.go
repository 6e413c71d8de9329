package jobs_test

import (
	"fmt"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/sim"
)

// TestATokenRevokedInTheMiddleOfAFanOut: of five organisations that share one
// person's token the first two are served when it dies. The others wait for a
// reconnect, nobody is told twice, and after it each has the post once.
func TestATokenRevokedInTheMiddleOfAFanOut(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.settings.Workers = 1 // one after the other, so that there is a middle
	a := s.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	var accounts []model.AccountID
	for range 5 {
		accounts = append(accounts, s.account(t, a, client, network.LinkedIn))
	}
	if err := s.sim.Fault(sim.Fault{Network: network.LinkedIn, Step: sim.Commit, Kind: sim.ExpiredToken, After: 2}); err != nil {
		t.Fatal(err)
	}
	page := s.write(t, a, model.Content{Text: "Fresh bread", Accounts: accounts}, 100*time.Millisecond)
	s.start(t)
	s.await(t, "all at an end", func() bool { return s.settled(t) })
	const states = `SELECT string_agg(state || ' ' || n, ', ' ORDER BY state) FROM (SELECT state, count(*) n FROM tenant.targets GROUP BY state) s`
	if got := dbtest.Look[string](t, s.World, a.Shard, states); got != "needs_reconnect 3, published 2" {
		t.Fatalf("the targets are %s", got)
	}
	if n := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.targets WHERE state = 'needs_reconnect' AND say NOT LIKE '%Reconnect the account%'`); n != 0 {
		t.Errorf("%d do not say what to do", n)
	}
	if n := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.accounts WHERE state = 'needs_reconnect'`); n != 3 {
		t.Errorf("%d accounts need a reconnect, want 3", n)
	}
	if n, most := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'notice.account'`), dbtest.Look[int](t, s.World, a.Shard,
		`SELECT coalesce(max(n), 0) FROM (SELECT count(*) n FROM tenant.outbox WHERE kind = 'notice.account' GROUP BY account_id) c`); n != 3 || most != 1 {
		t.Errorf("%d notices, %d of one account; want one of each", n, most)
	}

	s.sim.ClearFaults()
	for _, id := range accounts {
		if dbtest.Look[string](t, s.World, a.Shard, `SELECT state FROM tenant.accounts WHERE id = $1`, id) == "active" {
			continue
		}
		remote, fresh := s.remote(t, a, id), fmt.Sprintf("fresh-%d", id)
		s.sim.AddAccount(network.LinkedIn, sim.Account{ID: remote, Token: fresh})
		s.Super(t, a.Shard, `UPDATE tenant.accounts SET state = 'active', token = $3 WHERE tenant_id = $1 AND id = $2`, a.ID, id, s.Ring.Seal(fresh, db.TokenAAD(a.ID, id, "token")))
		if n, err := a.Owner.RetryStuck(t.Context(), id); err != nil || n != 1 {
			t.Fatalf("retry of account %d: %d, %v", id, n, err)
		}
	}
	s.await(t, "all published", func() bool {
		page, err := a.Owner.Post(t.Context(), page.Post.ID)
		return err == nil && page.Post.State == model.PostPublished
	})
	if n := s.public("Fresh bread"); n != 5 {
		t.Errorf("the public sees %d posts, want 5", n)
	}
}
