package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Slot is a time of the week at which an account usually posts, on the clocks of
// its client.
type Slot struct {
	ID      model.SlotID
	Weekday time.Weekday
	Minute  int // of the day
}

// Time is when it comes up.
func (s Slot) Time() model.SlotTime { return model.SlotTime{Weekday: s.Weekday, Minute: s.Minute} }

// maxSlots is how many slots an account may have: one an hour, all week.
const maxSlots = 168

// SlotsPage is an account's queue: its slots, what comes up next, and the accounts
// beside it whose slots could be copied.
type SlotsPage struct {
	Account AccountCard
	Slots   []Slot
	Ahead   []SlotAhead
	Others  []SlotsOf
}

// SlotsOf is another account of the same client, and how many slots it has.
type SlotsOf struct {
	ID      model.AccountID
	Network network.Name
	Handle  string
	Slots   int
}

// SlotAhead is a slot that comes up, and the post that is planned for that time.
type SlotAhead struct {
	When  model.When
	Post  model.PostID // zero: it is free
	Words string       // the post's first ones
	Shown string       // a word of Shown
	Held  bool         // the post took the slot, as against a time that somebody chose
	Quiet bool         // a blackout of the client keeps it empty
}

const slotsAhead = 14

const sqlSlotList = `SELECT id, weekday, minute FROM tenant.slots WHERE tenant_id = $1 AND account_id = $2 ORDER BY (weekday + 6) % 7, minute`

const sqlSlotsBeside = `
	SELECT a.id, a.network, a.handle, count(*) AS slots FROM tenant.accounts a
	  JOIN tenant.slots s ON s.tenant_id = a.tenant_id AND s.account_id = a.id
	 WHERE a.tenant_id = $1 AND a.client_id = $2 AND a.id <> $3 AND a.state <> 'disabled'
	 GROUP BY a.tenant_id, a.id ORDER BY a.network, a.handle, a.id`

// Slots reads an account's queue.
func (sc *Scope) Slots(ctx context.Context, account model.AccountID) (page SlotsPage, err error) {
	defer wrap(&err, "read slots of account %d", account)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if page.Account, err = sc.account(ctx, tx, account, model.AccountsView, sqlAccountGet); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlSlotList, sc.Actor.Tenant, account)
		if err != nil {
			return err
		}
		if page.Slots, err = pgx.CollectRows(rows, pgx.RowToStructByName[Slot]); err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, sqlSlotsBeside, sc.Actor.Tenant, page.Account.ClientID, account); err != nil {
			return err
		}
		if page.Others, err = pgx.CollectRows(rows, pgx.RowToStructByName[SlotsOf]); err != nil {
			return err
		}
		page.Ahead, err = sc.ahead(ctx, tx, page)
		return err
	})
	return page, err
}

// plannedAhead is a target that is planned for a time of an account.
type plannedAhead struct {
	DueAt time.Time
	Post  model.PostID
	Held  bool
	Shown string
	Words string
}

const sqlSlotsPlanned = `
	SELECT DISTINCT ON (t.due_at) t.due_at, t.post_id AS post, t.slot_at IS NOT NULL AS held, ` + targetShows + ` AS shown, coalesce(tenant.words_of(v.content, t.network), '') AS words
	  FROM tenant.targets t
	  JOIN tenant.posts p ON p.tenant_id = t.tenant_id AND p.id = t.post_id
	  JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	 WHERE t.tenant_id = $1 AND t.account_id = $2 AND t.due_at = ANY ($3) AND t.state NOT IN ('cancelled', 'failed')
	 ORDER BY t.due_at, t.slot_at NULLS LAST, t.id`

// ahead is what comes up next in an account's queue. What its posts say is only
// for who may see posts of the client.
func (sc *Scope) ahead(ctx context.Context, tx pgx.Tx, page SlotsPage) (list []SlotAhead, err error) {
	var instants []time.Time
	for when := range model.SlotsAhead(page.times(), page.Account.Zone, sc.now()) {
		if len(list) == slotsAhead {
			break
		}
		list, instants = append(list, SlotAhead{When: when}), append(instants, when.At)
	}
	if len(list) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, sqlSlotsPlanned, sc.Actor.Tenant, page.Account.ID, instants)
	if err != nil {
		return nil, err
	}
	planned, err := pgx.CollectRows(rows, pgx.RowToStructByName[plannedAhead])
	if err != nil {
		return nil, err
	}
	silence, err := sc.silences(ctx, tx, []model.ClientID{page.Account.ClientID}, instants[0])
	for i := range list {
		list[i].fill(planned, sc.Actor.May(model.PostsView, page.Account.ClientID))
		list[i].Quiet = silence.holds(page.Account.ClientID, list[i].When.At)
	}
	return list, err
}

func (s *SlotAhead) fill(planned []plannedAhead, mayRead bool) {
	for _, p := range planned {
		if p.DueAt.Equal(s.When.At) {
			s.Post, s.Shown, s.Held = p.Post, p.Shown, p.Held
			if s.Words = model.Excerpt(p.Words, 100); !mayRead {
				s.Words = ""
			}
		}
	}
}

func (p SlotsPage) times() (list []model.SlotTime) {
	for _, s := range p.Slots {
		list = append(list, s.Time())
	}
	return list
}

const sqlSlotsAdd = `
	INSERT INTO tenant.slots (tenant_id, account_id, weekday, minute) SELECT $1, $2, m / 1440, m % 1440 FROM unnest($3::int[]) AS m
	ON CONFLICT ON CONSTRAINT slots_once DO NOTHING`

const sqlSlotsCount = `SELECT count(*) FROM tenant.slots WHERE tenant_id = $1 AND account_id = $2`

// AddSlots gives an account further slots; those that it has already stay one. It
// says how many are new.
func (sc *Scope) AddSlots(ctx context.Context, account model.AccountID, times []model.SlotTime) (added int, err error) {
	defer wrap(&err, "add slots to account %d", account)
	var minutes []int
	for _, t := range times {
		if t.Weekday < time.Sunday || t.Weekday > time.Saturday || t.Minute < 0 || t.Minute >= 24*60 {
			return 0, model.RefuseField("clock", "Give a day of the week and a time of the day.")
		}
		minutes = append(minutes, int(t.Weekday)*24*60+t.Minute)
	}
	err = sc.changeSlots(ctx, account, func(tx pgx.Tx, _ AccountCard) (string, int, error) {
		added, err = sc.insertSlots(ctx, tx, account, minutes)
		return "slots_added", added, err
	})
	return added, err
}

func (sc *Scope) insertSlots(ctx context.Context, tx pgx.Tx, account model.AccountID, minutes []int) (added int, err error) {
	tag, err := tx.Exec(ctx, sqlSlotsAdd, sc.Actor.Tenant, account, minutes)
	if err != nil {
		return 0, err
	}
	var all int
	if err := tx.QueryRow(ctx, sqlSlotsCount, sc.Actor.Tenant, account).Scan(&all); err != nil {
		return 0, err
	}
	if all > maxSlots {
		return 0, model.RefuseField("clock", fmt.Sprintf("An account has at most %d slots a week. Remove some first.", maxSlots))
	}
	return int(tag.RowsAffected()), nil
}

const sqlSlotsRemove = `DELETE FROM tenant.slots WHERE tenant_id = $1 AND account_id = $2 AND id = ANY ($3)`

// RemoveSlots takes slots away from an account. Posts that took them keep their
// times. It refuses with NotFound if one of them is not there: the page was stale.
func (sc *Scope) RemoveSlots(ctx context.Context, account model.AccountID, slots []model.SlotID) (err error) {
	defer wrap(&err, "remove slots of account %d", account)
	slots = slices.Compact(slices.Sorted(slices.Values(slots)))
	return sc.changeSlots(ctx, account, func(tx pgx.Tx, _ AccountCard) (string, int, error) {
		tag, err := tx.Exec(ctx, sqlSlotsRemove, sc.Actor.Tenant, account, slots)
		if err == nil && int(tag.RowsAffected()) != len(slots) {
			err = model.Refuse(model.NotFound, "This slot is not there any more. Reload the page to see the queue as it is.")
		}
		return "slots_removed", len(slots), err
	})
}

const sqlSlotMinutes = `SELECT weekday::int * 1440 + minute FROM tenant.slots WHERE tenant_id = $1 AND account_id = $2`

// CopySlots adds the slots of another account of the same client. It says how many
// are new.
func (sc *Scope) CopySlots(ctx context.Context, account, from model.AccountID) (added int, err error) {
	defer wrap(&err, "copy slots to account %d", account)
	err = sc.changeSlots(ctx, account, func(tx pgx.Tx, a AccountCard) (string, int, error) {
		other, err := sc.account(ctx, tx, from, model.AccountsView, sqlAccountGet)
		if err != nil {
			return "", 0, err
		}
		if other.ClientID != a.ClientID {
			return "", 0, model.RefuseField("from", "Slots are copied between accounts of one client.")
		}
		rows, err := tx.Query(ctx, sqlSlotMinutes, sc.Actor.Tenant, from)
		if err != nil {
			return "", 0, err
		}
		minutes, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err == nil {
			added, err = sc.insertSlots(ctx, tx, account, minutes)
		}
		return "slots_added", added, err
	})
	return added, err
}

// changeSlots runs f on an account that the actor may schedule for, and writes the
// audit line if anything changed.
func (sc *Scope) changeSlots(ctx context.Context, account model.AccountID, f func(tx pgx.Tx, a AccountCard) (verb string, changed int, err error)) error {
	return sc.write(ctx, func(tx pgx.Tx) error {
		a, err := sc.account(ctx, tx, account, model.PostsSchedule, sqlAccountLock)
		if err != nil {
			return err
		}
		verb, changed, err := f(tx, a)
		if err != nil || changed == 0 {
			return err
		}
		return sc.audit(ctx, tx, note{verb: verb, subject: "account", id: int64(account), client: a.ClientID, detail: map[string]any{"slots": changed}})
	})
}

// silence is when clients want nothing published.
type silence map[model.ClientID][]model.Window

func (s silence) holds(client model.ClientID, at time.Time) bool {
	_, quiet := model.InBlackout(at, s[client])
	return quiet
}

const sqlSilences = `SELECT client_id, from_at, to_at FROM tenant.blackouts WHERE tenant_id = $1 AND client_id = ANY ($2) AND to_at > $3`

// silences reads the blackouts of clients that end later than from.
func (sc *Scope) silences(ctx context.Context, tx pgx.Tx, clients []model.ClientID, from time.Time) (silence, error) {
	rows, err := tx.Query(ctx, sqlSilences, sc.Actor.Tenant, clients, from)
	if err != nil {
		return nil, err
	}
	list := silence{}
	var client model.ClientID
	var w model.Window
	_, err = pgx.ForEachRow(rows, []any{&client, &w.From, &w.To}, func() error {
		list[client] = append(list[client], w)
		return nil
	})
	return list, err
}
