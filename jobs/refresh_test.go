package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// expiring makes an Instagram account whose token runs out in two minutes and can be renewed.
func (s *stack) expiring(t *testing.T, a *dbtest.Agency, client model.ClientID) model.AccountID {
	t.Helper()
	id := s.account(t, a, client, network.Instagram)
	s.Super(t, a.Shard, `UPDATE tenant.accounts SET settings = '{"login": "instagram"}', token_expires = $3, refresh_token = $4 WHERE tenant_id = $1 AND id = $2`,
		a.ID, id, s.Clock.Now().Add(2*time.Minute), s.Ring.Seal("renewable", db.TokenAAD(a.ID, id, "refresh")))
	return id
}

// renewals are the calls at the token endpoint.
func (s *stack) renewals() int {
	return len(slices.DeleteFunc(s.sim.Calls(network.Instagram, ""), func(c sim.Call) bool { return c.Step != sim.Token }))
}

func (s *stack) pictured(t *testing.T, a *dbtest.Agency, client model.ClientID, account model.AccountID, n int) (pages []db.PostPage) {
	t.Helper()
	file := s.media(t, a, client, "loaf")
	for i := range n {
		pages = append(pages, s.write(t, a, model.Content{Text: fmt.Sprintf("Bread %d", i), Accounts: []model.AccountID{account}, Media: []model.ContentMedia{file}}, 100*time.Millisecond))
	}
	return pages
}

func TestATokenIsRenewedOnceThoughTwentyTargetsNeedIt(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", dbtest.SecondShard)
	client := a.Client(t, "bakery")
	account := s.expiring(t, a, client)
	s.pictured(t, a, client, account, 20)
	s.start(t)
	s.start(t)
	s.await(t, "all published", func() bool { return s.settled(t) })
	if n := s.renewals(); n != 1 {
		t.Errorf("%d renewals, want 1", n)
	}
	if n := len(s.sim.Posts(network.Instagram, "")); n != 20 {
		t.Errorf("%d public posts, want 20", n)
	}
	if left := dbtest.Look[time.Time](t, s.World, a.Shard, `SELECT token_expires FROM tenant.accounts`).Sub(s.Clock.Now()); left < 24*time.Hour {
		t.Errorf("the token runs out in %v", left)
	}
}

func TestATokenEndpointThatIsAwayPostponesAndDisconnectsNobody(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	a := s.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	account := s.expiring(t, a, client)
	if err := s.sim.Fault(sim.Fault{Network: network.Instagram, Step: sim.Token, Kind: sim.Refuse, Status: 503}); err != nil {
		t.Fatal(err)
	}
	pages := s.pictured(t, a, client, account, 6)
	s.start(t)
	s.await(t, "all postponed", func() bool {
		return dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.targets WHERE state = 'retry_scheduled' AND reason = 'token_not_renewed'`) == len(pages)
	})
	if state := dbtest.Look[string](t, s.World, a.Shard, `SELECT state FROM tenant.accounts`); state != "active" {
		t.Errorf("account is %s, want active", state)
	}
	if n := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.attempts`) + dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.mails`); n != 0 {
		t.Errorf("%d attempts and mails, want none", n)
	}
	s.sim.ClearFaults()
	s.await(t, "all published", func() bool { return s.settled(t) && len(s.sim.Posts(network.Instagram, "")) == len(pages) })
}

func TestATokenEndpointThatStaysAwayEndsInMissed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	net := &renewing{pretend: r.net, answer: func(int) (networks.Tokens, error) {
		return networks.Tokens{}, fault.New(fault.Transient, "http_503", "Away.")
	}}
	r.pub.Networks[network.Mastodon] = net
	h := r.hold(t, "north")
	h.renewable(t, "refresh-0", time.Minute)
	for range 50 {
		h.workOne(t)
		r.Clock.Advance(time.Hour)
	}
	h.want(t, guard{state: model.Failed, reason: "missed"})
	if calls := net.calls(); calls < 10 || calls > 50 {
		t.Errorf("%d renewals tried in 50 hours", calls)
	}
}

// renewing is a network whose tokens can be renewed.
type renewing struct {
	*pretend
	answer func(n int) (networks.Tokens, error)

	mu   sync.Mutex
	with []string // the refresh tokens it was asked with
}

// Refresh answers as the test says.
func (r *renewing) Refresh(_ context.Context, a networks.Account) (networks.Tokens, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.with = append(r.with, a.Refresh.Reveal())
	return r.answer(len(r.with))
}

func (r *renewing) calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.with)
}

func (h *held) renewable(t *testing.T, refresh string, left time.Duration) {
	t.Helper()
	h.sql(t, `UPDATE tenant.accounts SET token_expires = $2, refresh_token = $3 WHERE tenant_id = $1`, h.Clock.Now().Add(left),
		h.Ring.Seal(refresh, db.TokenAAD(h.agency.ID, h.account, "refresh")))
}

func TestARotatedRefreshTokenIsKeptAndAnOmittedOneStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	net := &renewing{pretend: r.net}
	net.answer = func(n int) (networks.Tokens, error) {
		tokens := networks.Tokens{Access: secret.NewToken(fmt.Sprintf("access-%d", n)), Expires: r.Clock.Now().Add(time.Hour)}
		if n == 1 {
			tokens.Refresh = secret.NewToken("refresh-1")
		}
		return tokens, nil
	}
	r.pub.Networks[network.Mastodon] = net
	h := r.hold(t, "north")
	h.renewable(t, "refresh-0", time.Minute)
	h.workOne(t)
	for i := range 2 {
		r.Clock.Advance(time.Hour)
		h.agency.Due(t, fmt.Sprintf("More bread %d", i), 0, h.account)
		h.workOne(t)
	}
	if want := []string{"refresh-0", "refresh-1", "refresh-1"}; !slices.Equal(net.with, want) {
		t.Errorf("renewed with %v, want %v", net.with, want)
	}
	if r.net.commits != 3 {
		t.Errorf("%d commits, want 3", r.net.commits)
	}
}

// told lists who is owed a mail of a kind.
func (s *stack) told(t *testing.T, a *dbtest.Agency, kind string) []string {
	t.Helper()
	list := strings.Fields(dbtest.Look[string](t, s.World, a.Shard, `SELECT coalesce(string_agg(to_email, ' '), '') FROM tenant.mails WHERE tenant_id = $1 AND kind = $2`, a.ID, kind))
	slices.Sort(list)
	return list
}

// concerned makes an admin, an editor who connected the account and one who did not,
// and returns the addresses of those who have to know of a lost connection.
func (s *stack) concerned(t *testing.T, a *dbtest.Agency, client model.ClientID, account model.AccountID) []string {
	t.Helper()
	grant := map[model.ClientID][]model.Permission{client: {model.PostsSchedule}}
	admin, connector := a.Member(t, model.Admin, nil), a.Member(t, model.Editor, grant)
	a.Member(t, model.Editor, grant)
	s.Super(t, a.Shard, `UPDATE tenant.accounts SET connected_by = $3 WHERE tenant_id = $1 AND id = $2`, a.ID, account, connector.Actor.User)
	var list []string
	for _, u := range []model.UserID{a.Owner.Actor.User, admin.Actor.User, connector.Actor.User} {
		list = append(list, dbtest.Look[string](t, s.World, db.MainShard, `SELECT email FROM control.users WHERE id = $1`, u))
	}
	slices.Sort(list)
	return list
}

func TestALostConnectionIsToldOnceToEachWhoHasToKnow(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *stack, *dbtest.Agency, model.AccountID){
		"the renewal is refused": func(t *testing.T, s *stack, _ *dbtest.Agency, _ model.AccountID) {
			s.fault(t, sim.Fault{Network: network.Instagram, Step: sim.Token, Kind: sim.ExpiredToken})
		},
		"the call is refused": func(t *testing.T, s *stack, a *dbtest.Agency, account model.AccountID) {
			s.Super(t, a.Shard, `UPDATE tenant.accounts SET token_expires = NULL WHERE id = $1`, account)
			s.fault(t, sim.Fault{Network: network.Instagram, Kind: sim.ExpiredToken})
		},
		"it ran out and cannot be renewed": func(t *testing.T, s *stack, a *dbtest.Agency, account model.AccountID) {
			s.Super(t, a.Shard, `UPDATE tenant.accounts SET token_expires = $2, refresh_token = NULL WHERE id = $1`, account, s.Clock.Now().Add(-time.Hour))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			a := s.Agency(t, "north", dbtest.SecondShard)
			client := a.Client(t, "bakery")
			account := s.expiring(t, a, client)
			want := s.concerned(t, a, client, account)
			pages := s.pictured(t, a, client, account, 12)
			lose(t, s, a, account)
			s.start(t)
			s.start(t)
			s.await(t, "everything stuck", func() bool {
				return s.settled(t) && dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.targets WHERE state = 'needs_reconnect'`) == len(pages)
			})
			if state := dbtest.Look[string](t, s.World, a.Shard, `SELECT state FROM tenant.accounts`); state != "needs_reconnect" {
				t.Errorf("account is %s", state)
			}
			if got := s.told(t, a, "needs_reconnect"); !slices.Equal(got, want) {
				t.Errorf("told %v, want %v", got, want)
			}
			if n := dbtest.Look[int](t, s.World, a.Shard, `SELECT count(*) FROM tenant.mails`); n != len(want) {
				t.Errorf("%d mails in all, want %d", n, len(want))
			}
			if n := s.public("Bread 0"); n != 0 {
				t.Errorf("%d public posts", n)
			}
		})
	}
}

func (s *stack) fault(t *testing.T, f sim.Fault) {
	t.Helper()
	if err := s.sim.Fault(f); err != nil {
		t.Fatal(err)
	}
}
