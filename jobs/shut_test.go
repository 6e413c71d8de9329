package jobs_test

import (
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
)

// lose seals the account's tokens under a key that is not in the ring; the
// returned puts them back.
func (r *rig) lose(t *testing.T, a *dbtest.Agency, id model.AccountID) (restore func()) {
	t.Helper()
	gone, err := secret.ParseRing(strings.Repeat("g", 40))
	if err != nil {
		t.Fatal(err)
	}
	seal := func(ring *secret.Ring) {
		r.Super(t, a.Shard, `UPDATE tenant.accounts SET token = $2, refresh_token = $3 WHERE id = $1`, id,
			ring.Seal("t", db.TokenAAD(a.ID, id, "token")), ring.Seal("r", db.TokenAAD(a.ID, id, "refresh")))
	}
	seal(gone)
	return func() { seal(r.Ring) }
}

// well refuses an account that is not connected any more, or of which that was told.
func (r *rig) well(t *testing.T, a *dbtest.Agency) {
	t.Helper()
	if state := dbtest.Look[string](t, r.World, a.Shard, `SELECT state FROM tenant.accounts`); state != "active" {
		t.Errorf("the account is %s", state)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'notice.account'`); n != 0 {
		t.Errorf("%d notices of a lost connection", n)
	}
}

func TestATokenThatNoKeyOpensPostponesAndAsksNoNetwork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", dbtest.SecondShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Mastodon)
	restore := r.lose(t, a, account)
	a.Due(t, "Bread", time.Minute, account)
	for range 3 * r.settings.MaxAttempts {
		r.Clock.Advance(2 * r.settings.RetryBase)
		r.workAll(t)
	}
	got := dbtest.Look[string](t, r.World, a.Shard, `SELECT state || ' ' || reason || ' ' || attempts_used FROM tenant.targets`)
	if got != "retry_scheduled key_missing 0" || r.net.prepares+r.net.commits != 0 {
		t.Errorf("%s, %d calls", got, r.net.prepares+r.net.commits)
	}
	r.well(t, a)
	restore()
	r.Clock.Advance(2 * r.settings.RetryBase)
	r.workAll(t)
	if len(r.net.public) != 1 {
		t.Errorf("%d posts are live after the key came back", len(r.net.public))
	}
}

func TestARefreshTokenThatNoKeyOpensDisconnectsNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Mastodon)
	r.lose(t, a, account)
	r.Super(t, a.Shard, `UPDATE tenant.accounts SET token_expires = $2 WHERE id = $1`, account, r.Clock.Now().Add(time.Minute))
	a.Due(t, "Bread", time.Minute, account)
	for range 5 {
		r.Clock.Advance(2 * r.settings.RetryBase)
		r.workAll(t)
	}
	if state := dbtest.Look[string](t, r.World, a.Shard, `SELECT state FROM tenant.targets`); state != "retry_scheduled" {
		t.Errorf("the target is %s", state)
	}
	r.well(t, a)
}

func TestALookUpWaitsForTheKeyAsWell(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	account := a.Account(t, a.Client(t, "bakery"), network.Mastodon)
	a.Due(t, "Bread", time.Minute, account)
	r.net.commit, r.net.find = []error{errUnknown}, []networks.Finding{{Verdict: networks.Found, Receipt: networks.Receipt{ExternalID: "x", Permalink: "https://x.example"}}}
	r.Clock.Advance(2 * time.Minute)
	r.workAll(t)
	restore := r.lose(t, a, account)
	for range 30 { // past the end of patience
		r.Clock.Advance(time.Hour)
		r.workAll(t)
	}
	if state := dbtest.Look[string](t, r.World, a.Shard, `SELECT state FROM tenant.targets`); state != "unknown_outcome" {
		t.Errorf("without the key: %s", state)
	}
	r.well(t, a)
	restore()
	r.Clock.Advance(time.Hour)
	r.workAll(t)
	if state := dbtest.Look[string](t, r.World, a.Shard, `SELECT state FROM tenant.targets`); state != "published" {
		t.Errorf("with it: %s", state)
	}
}
