package jobs_test

import (
	"slices"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs"
)

// lasting is an account whose token runs out after a while and cannot be renewed.
func (r *rig) lasting(t *testing.T, a *dbtest.Agency, client model.ClientID, d time.Duration) model.AccountID {
	t.Helper()
	id := a.Account(t, client, network.LinkedIn)
	card, err := a.Owner.Account(t.Context(), id)
	if err == nil {
		_, err = a.Owner.ReconnectAccount(t.Context(), id, card.Revision, db.Credentials{Token: secret.NewToken("access"), Expires: new(r.Clock.Now().Add(d))})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// warned are the days on which mails about connections were owed, a number for each.
func (r *rig) warned(t *testing.T, days int) (on []int) {
	t.Helper()
	notifier := &jobs.Notifier{Pipe: r.pipe}
	for n := range days {
		before := r.mails(t)
		for range 2 {
			if err := notifier.Warn(t.Context(), db.MainShard, r.Clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		for range r.mails(t) - before {
			on = append(on, n)
		}
		r.Clock.Advance(day)
	}
	return on
}

// mails counts those that are sent by themselves.
func (r *rig) mails(t *testing.T) int {
	return dbtest.Look[int](t, r.World, db.MainShard, `SELECT count(*) FROM tenant.mails WHERE kind = 'connection_ends' AND carried_by IS NULL`)
}

func TestPeopleHearTwiceOfAConnectionThatNothingProlongs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	client := a.Client(t, "bakery")
	admin := a.Member(t, model.Admin, nil)
	connector := a.Member(t, model.Editor, map[model.ClientID][]model.Permission{client: {model.PostsSchedule}})
	a.Member(t, model.Editor, map[model.ClientID][]model.Permission{client: {model.PostsSchedule}})
	account := r.lasting(t, a, client, 60*day)
	r.Super(t, a.Shard, `UPDATE tenant.accounts SET connected_by = $2 WHERE id = $1`, account, connector.Actor.User)
	r.lasting(t, a, client, 60*day+20*time.Hour) // within a day, so the same mail tells of it
	a.Account(t, client, network.Mastodon)       // has no end

	if on := r.warned(t, 70); !slices.Equal(on, []int{46, 46, 46, 57, 57, 57}) {
		t.Errorf("told on days %v: want three people two weeks and three days before", on)
	}
	told := dbtest.Look[[]model.UserID](t, r.World, a.Shard, `SELECT array_agg(DISTINCT split_part(key, ':', 4)::bigint ORDER BY split_part(key, ':', 4)::bigint) FROM tenant.mails WHERE carried_by IS NULL`)
	want := []model.UserID{a.Owner.Actor.User, admin.Actor.User, connector.Actor.User}
	if slices.Sort(want); !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if n := dbtest.Look[int](t, r.World, a.Shard, `SELECT count(*) FROM tenant.mails WHERE carried_by IS NOT NULL`); n != 4 {
		t.Errorf("%d mails carry the other account, want those of the owner and the admin, each time", n)
	}
}

func TestNobodyHearsOfWhatIsRenewedReconnectedOverOrPutAway(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, r *rig, a *dbtest.Agency, client model.ClientID, id model.AccountID){
		"reconnected in time": func(t *testing.T, r *rig, a *dbtest.Agency, _ model.ClientID, id model.AccountID) {
			r.connect(t, a, id, "renewable")
		},
		"over already": func(t *testing.T, r *rig, _ *dbtest.Agency, _ model.ClientID, id model.AccountID) {
			r.Super(t, db.MainShard, `UPDATE tenant.accounts SET token_expires = $2 WHERE id = $1`, id, r.Clock.Now())
		},
		"put away": func(t *testing.T, _ *rig, a *dbtest.Agency, client model.ClientID, _ model.AccountID) {
			if _, err := a.Owner.ArchiveClient(t.Context(), client, true); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			a := r.Agency(t, "north", db.MainShard)
			client := a.Client(t, "bakery")
			id := r.lasting(t, a, client, 60*day)
			change(t, r, a, client, id)
			if on := r.warned(t, 62); len(on) > 0 {
				t.Errorf("told on days %v", on)
			}
		})
	}
}

func TestAShortConnectionIsSpokenOfOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.Agency(t, "north", db.MainShard)
	r.lasting(t, a, a.Client(t, "bakery"), 2*day)
	if on := r.warned(t, 4); !slices.Equal(on, []int{0}) {
		t.Errorf("told on days %v, want once at the beginning", on)
	}
}
