package jobs_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

const day = 24 * time.Hour

// connected is an Instagram account of which a person brought the token of sixty days.
func (s *stack) connected(t *testing.T, a *dbtest.Agency, client model.ClientID) model.AccountID {
	t.Helper()
	id := s.account(t, a, client, network.Instagram)
	now, token := s.Clock.Now(), fmt.Sprintf("sixty-days-%d", id)
	s.sim.AddAccount(network.Instagram, sim.Account{ID: s.remote(t, a, id), Token: token, Issued: now, Expires: now.Add(60 * day)})
	card, err := a.Owner.Account(t.Context(), id)
	if err == nil {
		_, err = a.Owner.ReconnectAccount(t.Context(), id, card.Revision, db.Credentials{Token: secret.NewToken(token), Refresh: secret.NewToken(token), Expires: new(now.Add(60 * day)),
			Learned: db.Learned{Settings: map[string]string{"login": "instagram"}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// pass moves the clock on, and waits until it shows that.
func (s *stack) pass(t *testing.T, d time.Duration) {
	t.Helper()
	s.skip(d)
	for !s.Clock.Now().After(dbtest.Noon.Add(time.Duration(s.ahead.Load()))) {
		time.Sleep(time.Millisecond)
	}
}

func TestAConnectionThatNobodyUsesIsKeptFor200Days(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	account := s.connected(t, a, client)
	s.Super(t, a.Shard, `UPDATE tenant.tenants SET state = 'suspended', suspended_at = $2, paused_at = $2 WHERE tenant_id = $1`, a.ID, s.Clock.Now())
	publisher, _, _ := s.worker(t).Verbs()
	for range 100 {
		s.pass(t, 2*day)
		if err := publisher.Renew(t.Context(), a.Shard); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.renewals(); n != 5 {
		t.Errorf("%d renewals in 200 days, want 5", n)
	}
	if state := dbtest.Look[string](t, s.World, a.Shard, `SELECT state || coalesce(last_error, '') FROM tenant.accounts`); state != "active" {
		t.Errorf("the account is %s", state)
	}
	s.Super(t, a.Shard, `UPDATE tenant.tenants SET state = 'active', suspended_at = NULL, paused_at = NULL`)
	s.pictured(t, a, client, account, 1)
	s.start(t)
	s.await(t, "published", func() bool { return s.settled(t) && len(s.sim.Posts(network.Instagram, "")) == 1 })
}

func TestWorkersRenewAConnectionOnceThoughAPostNeedsItToo(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	account := s.expiring(t, a, client)
	s.Super(t, a.Shard, `UPDATE tenant.accounts SET renew_at = token_expires - interval '1 hour'`)
	s.fault(t, sim.Fault{Network: network.Instagram, Step: sim.Token, Kind: sim.Stall, Delay: time.Second, Times: 1})
	var all sync.WaitGroup
	for range 4 {
		publisher, _, _ := s.worker(t).Verbs()
		all.Go(func() {
			if err := publisher.Renew(t.Context(), a.Shard); err != nil {
				t.Error(err)
			}
		})
	}
	s.pictured(t, a, client, account, 3)
	s.start(t)
	all.Wait()
	s.await(t, "all published", func() bool { return s.settled(t) })
	if n := s.renewals(); n != 1 {
		t.Errorf("%d renewals, want 1", n)
	}
}

// renewing is a rig with one account whose connection can be renewed, and is due.
func renewingRig(t *testing.T, answer func(n int) (networks.Tokens, error)) (*rig, *renewing, *dbtest.Agency, model.AccountID) {
	t.Helper()
	r := newRig(t)
	net := &renewing{pretend: r.net, answer: answer}
	r.pub.Networks[network.X] = net
	a := r.Agency(t, "north", db.MainShard)
	id := a.Account(t, a.Client(t, "bakery"), network.X)
	r.connect(t, a, id, "refresh-0")
	r.Clock.Advance(121 * day)
	return r, net, a, id
}

func (r *rig) connect(t *testing.T, a *dbtest.Agency, id model.AccountID, refresh string) {
	t.Helper()
	card, err := a.Owner.Account(t.Context(), id)
	if err == nil {
		_, err = a.Owner.ReconnectAccount(t.Context(), id, card.Revision, db.Credentials{Token: secret.NewToken("access-0"), Refresh: secret.NewToken(refresh), Expires: new(r.Clock.Now().Add(2 * time.Hour))})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fresh is what a renewal brings.
func (r *rig) fresh(n int, refresh string) networks.Tokens {
	t := networks.Tokens{Access: secret.NewToken(fmt.Sprintf("access-%d", n)), Expires: r.Clock.Now().Add(2 * time.Hour)}
	if refresh != "" {
		t.Refresh = secret.NewToken(refresh)
	}
	return t
}

func (r *rig) renew(t *testing.T) {
	t.Helper()
	if err := r.pub.Renew(t.Context(), db.MainShard); err != nil {
		t.Fatal(err)
	}
}

func TestARenewalKeepsWhatItBringsAndPlansTheNext(t *testing.T) {
	t.Parallel()
	var r *rig
	var at []int // days after the first
	began := time.Time{}
	r, net, _, _ := renewingRig(t, func(n int) (networks.Tokens, error) {
		if began.IsZero() {
			began = r.Clock.Now()
		}
		at = append(at, int(r.Clock.Now().Sub(began)/day))
		return r.fresh(n, map[int]string{1: "refresh-1", 3: "refresh-3"}[n]), nil
	})
	for range 300 {
		r.renew(t)
		r.Clock.Advance(day)
	}
	// Half a year from each that is handed out, with a third of it left. The second
	// answer brought no other, so the first one's half-year goes on.
	if want := []string{"refresh-0", "refresh-1", "refresh-1", "refresh-3"}; !slices.Equal(net.with, want) || !slices.Equal(at, []int{0, 120, 160, 280}) {
		t.Errorf("renewed with %v on days %v, want %v", net.with, at, want)
	}
}

func TestAnAnswerThatIsNoRefusalPostponesAndDisconnectsNobody(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*fault.Fault{
		"away":       fault.New(fault.Transient, "http_503", "Away."),
		"no answer":  fault.New(fault.Transient, "timeout", "No answer."),
		"a limit":    {Kind: fault.RateLimited, Code: "http_429", Say: "Too many.", Wait: 3 * time.Hour},
		"not sorted": fault.Of(fmt.Errorf("who knows")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, net, a, _ := renewingRig(t, func(int) (networks.Tokens, error) { return networks.Tokens{}, f })
			began := r.Clock.Now()
			var tried []time.Duration
			for r.Clock.Now().Sub(began) < 24*time.Hour {
				before := net.calls()
				if r.renew(t); net.calls() > before {
					tried = append(tried, r.Clock.Now().Sub(began))
				}
				r.Clock.Advance(10 * time.Minute)
			}
			if len(tried) < 7 || len(tried) > 60 || f.Wait > 0 && tried[1] < f.Wait {
				t.Errorf("tried %d times in a day: %v", len(tried), tried)
			}
			if got := dbtest.Look[string](t, r.World, a.Shard, `SELECT state || ' ' || coalesce(last_error, 'well') FROM tenant.accounts`); got != "active well" {
				t.Errorf("with two months left, the account is %s", got)
			}
			r.Clock.Advance(50 * day)
			r.renew(t)
			if got := dbtest.Look[string](t, r.World, a.Shard, `SELECT state || ' ' || last_error FROM tenant.accounts`); got != "active "+f.Say {
				t.Errorf("near its end, the account is %s", got)
			}
			net.answer = func(n int) (networks.Tokens, error) { return r.fresh(n, "refresh-9"), nil }
			r.Clock.Advance(4 * time.Hour)
			r.renew(t)
			if got := dbtest.Look[string](t, r.World, a.Shard, `SELECT state || ' ' || coalesce(last_error, 'well') || ' ' || renew_failures FROM tenant.accounts`); got != "active well 0" {
				t.Errorf("renewed after all, the account is %s", got)
			}
			if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'notice.account'`); n != 0 {
				t.Errorf("%d notices", n)
			}
		})
	}
}

func TestARefusalEndsTheConnectionWithOneNotice(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.Auth, fault.Permission} {
		r, net, a, _ := renewingRig(t, func(int) (networks.Tokens, error) {
			return networks.Tokens{}, fault.New(kind, "invalid_grant", "X no longer accepts this connection.")
		})
		for range 3 {
			r.renew(t)
			r.Clock.Advance(day)
		}
		if net.calls() != 1 {
			t.Errorf("%s: asked %d times", kind, net.calls())
		}
		if got := dbtest.Look[string](t, r.World, a.Shard, `SELECT state || ' ' || last_error FROM tenant.accounts`); got != "needs_reconnect X no longer accepts this connection." {
			t.Errorf("%s: the account is %s", kind, got)
		}
		if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'notice.account'`); n != 1 {
			t.Errorf("%s: %d notices, want 1", kind, n)
		}
	}
}

func TestWhatAPersonTookOutOfUseIsNotRenewed(t *testing.T) {
	t.Parallel()
	r, net, a, id := renewingRig(t, nil)
	net.answer = func(n int) (networks.Tokens, error) { return r.fresh(n, ""), nil }
	card, err := a.Owner.Account(t.Context(), id)
	if err == nil {
		card, err = a.Owner.SwitchAccount(t.Context(), id, card.Revision, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.renew(t)
	if net.calls() != 0 {
		t.Errorf("a disabled account was renewed")
	}
	if _, err := a.Owner.SwitchAccount(t.Context(), id, card.Revision, true); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Owner.ArchiveClient(t.Context(), card.ClientID, true); err != nil {
		t.Fatal(err)
	}
	r.renew(t)
	if net.calls() != 0 {
		t.Errorf("an archived client's account was renewed")
	}
	if _, err := a.Owner.ArchiveClient(t.Context(), card.ClientID, false); err != nil {
		t.Fatal(err)
	}
	r.renew(t)
	if net.calls() != 1 {
		t.Errorf("%d renewals once the client is back, want 1", net.calls())
	}
}

func TestAConnectionOfAnotherKeyWaitsForIt(t *testing.T) {
	t.Parallel()
	r, net, a, id := renewingRig(t, func(int) (networks.Tokens, error) { return networks.Tokens{}, nil })
	other := dbtest.Ring(t)
	r.Super(t, a.Shard, `UPDATE tenant.accounts SET refresh_token = $2 WHERE id = $1`, id, other.Seal("refresh-0", db.TokenAAD(a.ID, id, "token")))
	r.renew(t)
	if got := dbtest.Look[string](t, r.World, a.Shard, `SELECT state || ' ' || renew_failures || ' ' || (renew_at > $1)::text FROM tenant.accounts`, r.Clock.Now()); got != "active 1 true" || net.calls() != 0 {
		t.Errorf("%s, asked %d times", got, net.calls())
	}
}

func TestSignInsThatLedNowhereKeepNoSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Estate(t, "north", db.MainShard)
	left := func() int { return dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM tenant.consents`) }
	before := left()
	if n, err := r.pipe.SweepConsents(t.Context(), db.MainShard, 100); before == 0 || n != 0 || err != nil {
		t.Errorf("%d of %d swept at once, %v", n, before, err)
	}
	r.Clock.Advance(time.Hour + time.Minute)
	if n, err := r.pipe.SweepConsents(t.Context(), db.MainShard, 1); n != 1 || err != nil {
		t.Errorf("%d swept, want no more than the limit; %v", n, err)
	}
	if _, err := r.pipe.SweepConsents(t.Context(), db.MainShard, 100); err != nil || left() != 0 {
		t.Errorf("%d left, %v", left(), err)
	}
}
