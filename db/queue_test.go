package db_test

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
)

// queued is an agency with an account that has a slot at nine every day.
type queued struct {
	*dbtest.World
	*dbtest.Agency
	client  model.ClientID
	account model.AccountID
}

func newQueued(t *testing.T) queued {
	t.Helper()
	w := dbtest.New(t)
	q := queued{World: w, Agency: w.Agency(t, "north", dbtest.SecondShard)}
	q.client = q.Client(t, "bakery")
	q.account = q.slotted(t, 9*60)
	return q
}

// slotted is another account, with a slot at a minute of every day.
func (q queued) slotted(t *testing.T, minute int) model.AccountID {
	t.Helper()
	account := q.Account(t, q.client, network.Mastodon)
	if _, err := q.Owner.AddSlots(t.Context(), account, everyDay(minute)); err != nil {
		t.Fatal(err)
	}
	return account
}

func everyDay(minute int) (list []model.SlotTime) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		list = append(list, model.SlotTime{Weekday: day, Minute: minute})
	}
	return list
}

// queue gives a post the next slot, or the very first.
func (q queued) queue(t *testing.T, page db.PostPage, first bool) db.PostPage {
	t.Helper()
	page, err := q.reread(t, page), error(nil)
	if first {
		page, err = q.Owner.QueuePostFirst(t.Context(), page.Post.ID, page.Post.Revision)
	} else {
		page, err = q.Owner.QueuePost(t.Context(), page.Post.ID, page.Post.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func (q queued) reread(t *testing.T, page db.PostPage) db.PostPage {
	t.Helper()
	page, err := q.Owner.Post(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// times are the wall clocks of a post's targets.
func (q queued) times(t *testing.T, page db.PostPage) (list []string) {
	t.Helper()
	for _, target := range q.reread(t, page).Targets {
		local := "none"
		if target.LocalAt != nil {
			local = model.LocalOf(*target.LocalAt).String()
		}
		list = append(list, local)
	}
	return list
}

func (q queued) wantTimes(t *testing.T, what string, page db.PostPage, want ...string) {
	t.Helper()
	if got := q.times(t, page); !slices.Equal(got, want) {
		t.Errorf("%s: planned for %v, want %v", what, got, want)
	}
}

func TestThePostGetsTheNextFreeSlotOfEachAccount(t *testing.T) {
	t.Parallel()
	q := newQueued(t) // it is a Tuesday, 13:00 in Berlin
	evening := q.slotted(t, 18*60)
	both := q.Approved(t, "Fresh bread", q.account, evening)
	page := q.queue(t, both, false)
	q.wantTimes(t, "each account its own", both, "2026-03-11T09:00", "2026-03-10T18:00")
	if page.Post.State != model.PostScheduled {
		t.Errorf("an approved post is %s, want scheduled", page.Post.State)
	}
	draft := q.Post(t, "Cake", q.account)
	if page = q.queue(t, draft, false); page.Targets[0].State != model.Draft {
		t.Errorf("a draft is %s", page.Targets[0].State)
	}
	q.wantTimes(t, "a draft holds its slot", draft, "2026-03-12T09:00")
	third := q.Approved(t, "Rolls", q.account)
	q.queue(t, third, false)
	q.wantTimes(t, "behind what is only in mind", third, "2026-03-13T09:00")
	q.queue(t, third, false)
	q.wantTimes(t, "asked again", third, "2026-03-13T09:00")
}

func TestASlotIsFreeAgainOnceItsPostIsCancelledOrMoved(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	for _, leave := range []func(db.PostPage) error{
		func(p db.PostPage) error {
			_, err := q.Owner.CancelTarget(t.Context(), p.Targets[0].ID, p.Targets[0].Revision)
			return err
		},
		func(p db.PostPage) error {
			_, err := q.Owner.Reschedule(t.Context(), p.Targets[0].ID, p.Targets[0].Revision, later())
			return err
		},
		func(p db.PostPage) error { return q.Owner.ArchivePost(t.Context(), p.Post.ID, p.Post.Revision) },
	} {
		page := q.queue(t, q.Approved(t, "Fresh bread", q.account), false)
		q.wantTimes(t, "before", page, "2026-03-11T09:00")
		if err := leave(page); err != nil {
			t.Fatal(err)
		}
	}
	q.queue(t, q.Approved(t, "Cake", q.account), false)
	if n := dbtest.Look[int](t, q.World, q.Shard, `SELECT count(*) FROM tenant.targets WHERE slot_at IS NOT NULL AND slot_at <> due_at`); n != 0 {
		t.Errorf("%d targets hold a slot that is not their time", n)
	}
}

func TestATimeChosenByHandAndABlackoutArePassedOver(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	q.Super(t, q.Shard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2026-03-11', '2026-03-12', 'mourning')`, q.ID, q.client)
	nine, err := model.Resolve(model.LocalTime{Date: model.Date{Year: 2026, Month: 3, Day: 12}, Hour: 9}, "Europe/Berlin", model.Once)
	if err != nil {
		t.Fatal(err)
	}
	byHand := q.Approved(t, "By hand", q.account)
	if _, err := q.Owner.SchedulePost(t.Context(), byHand.Post.ID, byHand.Post.Revision, nine); err != nil {
		t.Fatal(err)
	}
	page := q.Approved(t, "Fresh bread", q.account)
	q.queue(t, page, true)
	q.wantTimes(t, "put first", page, "2026-03-13T09:00")
	q.wantTimes(t, "chosen by hand", byHand, "2026-03-12T09:00")
}

func TestPutFirstMovesTheOthersUpToTheFirstGap(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	one, two, three := q.Approved(t, "One", q.account), q.Post(t, "Two", q.account), q.Approved(t, "Three", q.account)
	gap := q.Approved(t, "Gap", q.account)
	four := q.Approved(t, "Four", q.account)
	for _, p := range []db.PostPage{one, two, three, gap, four} {
		q.queue(t, p, false)
	}
	gap = q.reread(t, gap)
	if _, err := q.Owner.CancelTarget(t.Context(), gap.Targets[0].ID, gap.Targets[0].Revision); err != nil {
		t.Fatal(err)
	}
	urgent := q.Approved(t, "Urgent", q.account)
	q.queue(t, urgent, true)
	for p, want := range map[*db.PostPage]string{&urgent: "11", &one: "12", &two: "13", &three: "14", &four: "15"} {
		q.wantTimes(t, p.Post.Excerpt, *p, "2026-03-"+want+"T09:00")
	}
	if got := q.reread(t, two).Targets[0].State; got != model.Draft {
		t.Errorf("a draft that gave way is %s", got)
	}
	q.queue(t, urgent, true)
	q.wantTimes(t, "put first again", one, "2026-03-12T09:00")
	q.queue(t, three, true)
	for p, want := range map[*db.PostPage]string{&three: "11", &urgent: "12", &one: "13", &two: "14", &four: "15"} {
		q.wantTimes(t, "from within: "+p.Post.Excerpt, *p, "2026-03-"+want+"T09:00")
	}
}

func TestManyWhoTakeASlotAtOnceGetOneEach(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	evening := q.slotted(t, 18*60)
	const people = 8
	var pages []db.PostPage
	for i := range people {
		accounts := []model.AccountID{q.account, evening}
		if i%2 == 1 {
			slices.Reverse(accounts)
		}
		pages = append(pages, q.Approved(t, fmt.Sprintf("Post %d", i), accounts...))
	}
	var all sync.WaitGroup
	failed := make([]error, people)
	for i, p := range pages {
		all.Go(func() {
			take := q.Owner.QueuePost
			if i%3 == 0 {
				take = q.Owner.QueuePostFirst
			}
			for range 3 { // one that gave way meanwhile was seen at an older revision
				page, err := q.Owner.Post(t.Context(), p.Post.ID)
				if err == nil {
					_, err = take(t.Context(), p.Post.ID, page.Post.Revision)
				}
				if failed[i] = err; err == nil {
					return
				}
			}
		})
	}
	all.Wait()
	got := map[string]int{}
	for i, p := range pages {
		if failed[i] != nil {
			t.Errorf("post %d: %v", i, failed[i])
		}
		for k, at := range q.times(t, p) {
			got[fmt.Sprint(p.Targets[k].AccountID, at)]++
		}
	}
	for at, n := range got {
		if n != 1 {
			t.Errorf("%d posts at %s", n, at)
		}
	}
	if len(got) != 2*people {
		t.Errorf("%d slots for %d posts on two accounts: %v", len(got), people, got)
	}
}

// TestPostgresGivesASlotOnce: whatever the program thinks, no two targets hold one.
func TestPostgresGivesASlotOnce(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	one, two := q.queue(t, q.Approved(t, "One", q.account), false), q.queue(t, q.Approved(t, "Two", q.account), false)
	_, err := as(t, q.World, q.Shard, superuser).Exec(t.Context(), `UPDATE tenant.targets SET due_at = $3, local_at = $3, slot_at = $3 WHERE tenant_id = $1 AND id = $2`, q.ID, two.Targets[0].ID, one.Targets[0].DueAt)
	if err == nil {
		t.Error("two targets hold one slot")
	}
}

func TestWhoMayNotScheduleTakesASlotOnlyInMind(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	editor := q.Member(t, model.Editor, map[model.ClientID][]model.Permission{q.client: model.Editor.Grants()})
	draft := q.Post(t, "Fresh bread", q.account)
	if _, err := editor.QueuePost(t.Context(), draft.Post.ID, draft.Post.Revision); err != nil {
		t.Errorf("a draft: %v", err)
	}
	approved := q.Approved(t, "Cake", q.account)
	_, err := editor.QueuePost(t.Context(), approved.Post.ID, approved.Post.Revision)
	wants(t, err, model.Forbidden, "Your role does not allow that")
	other := q.Post(t, "Rolls", q.account)
	_, err = editor.QueuePostFirst(t.Context(), other.Post.ID, other.Post.Revision)
	wants(t, err, model.Forbidden, "Your role does not allow that")
	_, err = editor.AddSlots(t.Context(), q.account, everyDay(60))
	wants(t, err, model.Forbidden, "Your role does not allow that")
}

func TestAnAccountWithoutSlotsSaysSo(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	bare := q.Account(t, q.client, network.Webhook)
	page := q.Approved(t, "Fresh bread", q.account, bare)
	_, err := q.Owner.QueuePost(t.Context(), page.Post.ID, page.Post.Revision)
	wants(t, err, model.Unprocessable, "has no queue slots")
	_, err = q.Owner.QueuePost(t.Context(), page.Post.ID, page.Post.Revision-1)
	wants(t, err, model.Conflict, "changed while you had it open")
}

func TestFreeSlotsAreThoseThatComeUpAndNobodyTook(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	evening := q.slotted(t, 18*60)
	q.queue(t, q.Approved(t, "Fresh bread", q.account), false)
	q.Super(t, q.Shard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2026-03-11 12:00', '2026-03-12 12:00', 'mourning')`, q.ID, q.client)
	other := q.Account(t, q.Client(t, "brewery"), network.Mastodon)
	if _, err := q.Owner.AddSlots(t.Context(), other, everyDay(0)); err != nil {
		t.Fatal(err)
	}
	from, to := dbtest.Noon.Add(-12*time.Hour), dbtest.Noon.Add(72*time.Hour)
	for _, c := range []struct {
		what string
		f    db.CalendarFilter
		want []string
	}{
		{"of a client", db.CalendarFilter{Clients: []model.ClientID{q.client}}, []string{"10T18:00", "12T18:00", "13T09:00"}},
		{"of an account", db.CalendarFilter{Accounts: []model.AccountID{evening}}, []string{"10T18:00", "12T18:00"}},
		{"of a network that has none", db.CalendarFilter{Networks: []network.Name{network.Webhook}}, nil},
		{"of all", db.CalendarFilter{}, []string{"10T18:00", "11T00:00", "12T00:00", "12T18:00", "13T00:00", "13T09:00"}},
	} {
		free, err := q.Owner.FreeSlots(t.Context(), from, to, c.f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range free {
			got = append(got, s.When.Local.String()[len("2026-03-"):])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	next, err := q.Owner.NextSlots(t.Context(), 0, []model.AccountID{q.account, evening})
	if err != nil || len(next) != 2 || next[q.account].Local.String() != "2026-03-13T09:00" {
		t.Errorf("the next ones are %v, %v", next, err)
	}
}

func TestSlotsAreKeptOncePerAccount(t *testing.T) {
	t.Parallel()
	q := newQueued(t)
	if n, err := q.Owner.AddSlots(t.Context(), q.account, everyDay(9*60)); err != nil || n != 0 {
		t.Errorf("the same again: %d new, %v", n, err)
	}
	beside := q.slotted(t, 10*60)
	if n, err := q.Owner.CopySlots(t.Context(), beside, q.account); err != nil || n != 7 {
		t.Errorf("copied %d, %v, want 7", n, err)
	}
	if line := dbtest.Look[string](t, q.World, q.Shard, `SELECT verb || ' ' || subject_id FROM tenant.audit ORDER BY id DESC LIMIT 1`); line != fmt.Sprint("slots_added ", beside) {
		t.Errorf("the audit says %q", line)
	}
	page, err := q.Owner.Slots(t.Context(), beside)
	if err != nil || len(page.Slots) != 14 || page.Slots[0].Weekday != time.Monday || len(page.Others) != 1 || page.Others[0].Slots != 7 {
		t.Fatalf("%+v, %v", page, err)
	}
	if err := q.Owner.RemoveSlots(t.Context(), beside, []model.SlotID{page.Slots[0].ID, page.Slots[0].ID}); err != nil {
		t.Error(err)
	}
	err = q.Owner.RemoveSlots(t.Context(), beside, []model.SlotID{page.Slots[0].ID, page.Slots[1].ID})
	wants(t, err, model.NotFound, "not there any more")
	var many []model.SlotTime
	for m := range 24 {
		many = append(many, everyDay(m*60+1)...)
	}
	_, err = q.Owner.AddSlots(t.Context(), q.account, many)
	wants(t, err, model.Unprocessable, "at most 168 slots")
	_, err = q.Owner.AddSlots(t.Context(), q.account, []model.SlotTime{{Weekday: 7}})
	wants(t, err, model.Unprocessable, "day of the week")
	brewery := q.Account(t, q.Client(t, "brewery"), network.Mastodon)
	_, err = q.Owner.CopySlots(t.Context(), brewery, q.account)
	wants(t, err, model.Unprocessable, "accounts of one client")
	if page, err = q.Owner.Slots(t.Context(), q.account); err != nil || len(page.Slots) != 7 || len(page.Ahead) != 14 {
		t.Errorf("%+v, %v", page, err)
	}
}
