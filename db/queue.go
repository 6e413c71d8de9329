package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// The queue reaches from a minute ahead, so that a slot is not taken that is over
// before the post is on its way, up to half a year.
const (
	queueLead  = time.Minute
	queueReach = 26 * 7 * 24 * time.Hour
)

// QueuePost gives each target of a post the next slot of its account that is free
// or its own. What is approved is scheduled for it; what is not keeps it in mind,
// and holds it. It refuses accounts without slots or without a free one, and what
// SchedulePost refuses. Of several who ask at once each gets a slot of its own.
func (sc *Scope) QueuePost(ctx context.Context, id model.PostID, seen int) (page PostPage, err error) {
	defer wrap(&err, "queue post %d", id)
	return sc.queuePost(ctx, id, seen, false)
}

// QueuePostFirst gives each target of a post the very next slot of its account.
// What had taken that slot takes the one after it, and so on up to the first that
// is free. Times that somebody chose by hand stay, and their slots are passed over.
func (sc *Scope) QueuePostFirst(ctx context.Context, id model.PostID, seen int) (page PostPage, err error) {
	defer wrap(&err, "put post %d first", id)
	return sc.queuePost(ctx, id, seen, true)
}

func (sc *Scope) queuePost(ctx context.Context, id model.PostID, seen int, first bool) (page PostPage, err error) {
	err = sc.write(ctx, func(tx pgx.Tx) error {
		q, err := sc.openQueue(ctx, tx, id, first)
		if err != nil {
			return err
		}
		if page, err = sc.postPage(ctx, tx, id, sqlPostLock); err != nil {
			return err
		}
		if err := fresh(page.Post, seen); err != nil {
			return err
		}
		if err := sc.enqueue(ctx, tx, q, page); err != nil {
			return err
		}
		page, err = sc.postPage(ctx, tx, id, sqlPostGet)
		return err
	})
	return page, err
}

// waiting are the queues of the accounts of one post, while nobody else takes a
// slot of them.
type waiting struct {
	post   model.PostID
	queues map[model.AccountID]queue
	quiet  silence
	taken  map[model.AccountID]map[int64]bool
	behind map[model.AccountID]map[int64]slotHolder // who gives way
}

// slotHolder is a target that has taken a slot and can take a later one.
type slotHolder struct {
	Target  model.TargetID
	Post    model.PostID
	Account model.AccountID
	SlotAt  time.Time
}

const sqlQueueAccounts = `
	SELECT account_id FROM tenant.targets
	 WHERE tenant_id = $1 AND post_id = $2 AND state IN ('draft', 'invalid', 'ready', 'scheduled', 'retry_scheduled') ORDER BY account_id`

// Whoever takes slots of an account does it one after the other. These locks come
// before those of posts, and posts are locked in the order of their ids.
const sqlQueueTurn = `SELECT pg_advisory_xact_lock(hashtextextended('slots ' || $1::bigint || ' ' || $2::bigint, 0))`

const sqlQueuesOf = queueColumns + ` AND a.id = ANY ($2) GROUP BY a.tenant_id, a.id, c.zone ORDER BY a.id`

func (sc *Scope) openQueue(ctx context.Context, tx pgx.Tx, id model.PostID, first bool) (w waiting, err error) {
	rows, err := tx.Query(ctx, sqlQueueAccounts, sc.Actor.Tenant, id)
	if err != nil {
		return w, err
	}
	accounts, err := pgx.CollectRows(rows, pgx.RowTo[model.AccountID])
	if err != nil {
		return w, err
	}
	for _, a := range accounts {
		if _, err := tx.Exec(ctx, sqlQueueTurn, sc.Actor.Tenant, a); err != nil {
			return w, err
		}
	}
	if w, err = sc.readQueues(ctx, tx, accounts, id); err != nil || !first {
		return w, err
	}
	return w, sc.readHolders(ctx, tx, &w)
}

// readQueues reads the queues of accounts as a post sees them: its own slots are
// free to it.
func (sc *Scope) readQueues(ctx context.Context, tx pgx.Tx, accounts []model.AccountID, post model.PostID) (w waiting, err error) {
	w = waiting{post: post, queues: map[model.AccountID]queue{}}
	rows, err := tx.Query(ctx, sqlQueuesOf, sc.Actor.Tenant, accounts)
	if err != nil {
		return w, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[queue])
	if err != nil || len(list) == 0 {
		return w, err
	}
	for _, q := range list {
		w.queues[q.Account] = q
	}
	if w.quiet, err = sc.silences(ctx, tx, clientsOfQueues(list), sc.now()); err != nil {
		return w, err
	}
	w.taken, err = sc.takenTimes(ctx, tx, list, post, sc.now(), sc.now().Add(queueReach))
	return w, err
}

const sqlSlotHolders = `
	SELECT id AS target, post_id AS post, account_id AS account, slot_at FROM tenant.targets
	 WHERE tenant_id = $1 AND account_id = ANY ($2) AND slot_at > $3 AND post_id <> $4 AND state IN ('draft', 'invalid', 'ready', 'scheduled')`

const sqlPostsLock = `SELECT id FROM tenant.posts WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id FOR NO KEY UPDATE`

// readHolders reads who would give way, and locks their posts together with the
// one that goes first.
func (sc *Scope) readHolders(ctx context.Context, tx pgx.Tx, w *waiting) error {
	accounts := make([]model.AccountID, 0, len(w.queues))
	for a := range w.queues {
		accounts = append(accounts, a)
	}
	rows, err := tx.Query(ctx, sqlSlotHolders, sc.Actor.Tenant, accounts, sc.now(), w.post)
	if err != nil {
		return err
	}
	holders, err := pgx.CollectRows(rows, pgx.RowToStructByName[slotHolder])
	if err != nil {
		return err
	}
	w.behind = map[model.AccountID]map[int64]slotHolder{}
	posts := []model.PostID{w.post}
	for _, h := range holders {
		if w.behind[h.Account] == nil {
			w.behind[h.Account] = map[int64]slotHolder{}
		}
		w.behind[h.Account][h.SlotAt.Unix()] = h
		posts = append(posts, h.Post)
	}
	_, err = tx.Exec(ctx, sqlPostsLock, sc.Actor.Tenant, posts)
	return err
}

// seat is a slot for a target.
type seat struct {
	holder slotHolder
	when   model.When
}

// seats works out who gets which slot of an account once a target of the post
// goes in. None says that half a year has no slot to be had.
func (w waiting) seats(t Target, now time.Time) (list []seat) {
	q, carried := w.queues[t.AccountID], slotHolder{Target: t.ID, Post: t.PostID, Account: t.AccountID}
	for when := range model.SlotsAhead(q.times(), q.Zone, now.Add(queueLead)) {
		if when.At.After(now.Add(queueReach)) {
			return nil
		}
		if w.quiet.holds(q.ClientID, when.At) {
			continue
		}
		if !w.taken[t.AccountID][when.At.Unix()] {
			return append(list, seat{carried, when})
		}
		if next, gives := w.behind[t.AccountID][when.At.Unix()]; gives {
			list, carried = append(list, seat{carried, when}), next
		}
	}
	return nil
}

// enqueue gives the targets of a post their slots.
func (sc *Scope) enqueue(ctx context.Context, tx pgx.Tx, w waiting, page PostPage) error {
	chosen, err := sc.queueable(page)
	if err != nil {
		return err
	}
	if err := w.all(chosen); err != nil {
		return err
	}
	var list []seat
	for _, t := range chosen {
		seats := w.seats(t, sc.now())
		if len(seats) == 0 {
			return model.RefuseField("when", t.Account+" has no free slot in the next half year. Choose a time, or give it more slots.")
		}
		list = append(list, seats...)
	}
	if len(list) > len(chosen)+maxGiveWay {
		return model.RefuseField("when", "Too many posts would have to move for this one to go first. Take the next free slot, or choose a time.")
	}
	return sc.takeSeats(ctx, tx, page, list)
}

// maxGiveWay is how many targets may move so that one goes first.
const maxGiveWay = 200

// all refuses if one of the targets' accounts has no slots.
func (w waiting) all(targets []Target) error {
	var without []string
	for _, t := range targets {
		if len(w.queues[t.AccountID].Minutes) == 0 {
			without = append(without, t.Account)
		}
	}
	switch len(without) {
	case 0:
		return nil
	case 1:
		return model.RefuseField("when", without[0]+" has no queue slots. Give it some on the account's page, or choose a time.")
	}
	return model.RefuseField("when", fmt.Sprintf("%d of the accounts have no queue slots, %s among them. Give them some on their pages, or choose a time.", len(without), without[0]))
}

// queueable picks the targets that a slot can be given to, and refuses with the
// reason if there is none.
func (sc *Scope) queueable(page PostPage) (chosen []Target, err error) {
	for _, t := range page.Targets {
		needs := model.PostsSchedule
		switch {
		case t.State == model.Draft || t.State == model.Invalid:
			needs = model.PostsWrite
		case t.State != model.Ready && !waits(t.State):
			continue
		}
		if err := sc.need(needs, t.ClientID, "post"); err != nil {
			return nil, err
		}
		chosen = append(chosen, t)
	}
	if len(chosen) == 0 {
		return nil, whyNotSchedulable(page)
	}
	return chosen, nil
}

const sqlSlotsLeave = `UPDATE tenant.targets SET slot_at = NULL WHERE tenant_id = $1 AND id = ANY ($2)`

const sqlSlotsHold = `UPDATE tenant.targets SET slot_at = due_at WHERE tenant_id = $1 AND id = ANY ($2)`

// takeSeats writes who gets which slot. All leave theirs first, so that none is
// in another's way.
func (sc *Scope) takeSeats(ctx context.Context, tx pgx.Tx, page PostPage, list []seat) error {
	var targets []model.TargetID
	var posts []model.PostID
	for _, p := range list {
		targets, posts = append(targets, p.holder.Target), append(posts, p.holder.Post)
	}
	if _, err := tx.Exec(ctx, sqlSlotsLeave, sc.Actor.Tenant, targets); err != nil {
		return err
	}
	slices.Sort(posts)
	for _, id := range slices.Compact(posts) {
		if err := sc.placePost(ctx, tx, page, id, list); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, sqlSlotsHold, sc.Actor.Tenant, targets)
	return err
}

// placePost writes the new times of one post: the one that is queued, or one that
// gives way.
func (sc *Scope) placePost(ctx context.Context, tx pgx.Tx, queued PostPage, id model.PostID, list []seat) (err error) {
	page := queued
	if id != queued.Post.ID {
		if page, err = sc.postPage(ctx, tx, id, sqlPostLock); err != nil {
			return err
		}
	}
	for _, d := range destinations(page, list) {
		if id == queued.Post.ID {
			err = sc.queueTargets(ctx, tx, id, d)
		} else {
			err = sc.giveWay(ctx, tx, page.Post, d)
		}
		if err != nil {
			return err
		}
	}
	if err := sc.touch(ctx, tx, id); err != nil {
		return err
	}
	return sc.recompute(ctx, tx, id)
}

// destinations are the new times of a post's targets.
func destinations(page PostPage, list []seat) (all []destination) {
	for _, t := range page.Targets {
		i := slices.IndexFunc(list, func(p seat) bool { return p.holder.Target == t.ID })
		if i < 0 {
			continue
		}
		j := slices.IndexFunc(all, func(d destination) bool { return d.when == list[i].when })
		if j < 0 {
			j, all = len(all), append(all, destination{when: list[i].when})
		}
		all[j].targets = append(all[j].targets, t)
	}
	return all
}

// queueTargets schedules what is approved, and keeps the time in mind for the rest.
func (sc *Scope) queueTargets(ctx context.Context, tx pgx.Tx, id model.PostID, d destination) error {
	var minds, goes []Target
	for _, t := range d.targets {
		if t.State == model.Draft || t.State == model.Invalid {
			minds = append(minds, t)
		} else {
			goes = append(goes, t)
		}
	}
	if len(minds) > 0 {
		if err := sc.wish(ctx, tx, id, minds, d.when); err != nil {
			return err
		}
	}
	if len(goes) == 0 {
		return nil
	}
	return sc.planTargets(ctx, tx, id, goes, d.when, "queued")
}

// giveWay moves targets of another post to a later slot, as a person would who may
// schedule for their client.
func (sc *Scope) giveWay(ctx context.Context, tx pgx.Tx, post Post, d destination) error {
	for _, t := range d.targets {
		if err := sc.need(model.PostsSchedule, t.ClientID, "post"); err != nil {
			return err
		}
	}
	return sc.replan(ctx, tx, post, d)
}

// SchedulePlanned schedules each approved target of a post for the time that is in
// mind for it, by the rules of SchedulePost.
func (sc *Scope) SchedulePlanned(ctx context.Context, id model.PostID, seen int) (page PostPage, err error) {
	defer wrap(&err, "schedule post %d as planned", id)
	return sc.change(ctx, id, seen, func(tx pgx.Tx, page PostPage) error {
		chosen, err := sc.schedulable(page, nil)
		if err != nil {
			return err
		}
		for _, t := range chosen {
			when := plannedFor(t)
			if err := sc.timely(when); err != nil {
				return err
			}
			if err := sc.planTargets(ctx, tx, id, []Target{t}, when, "scheduled"); err != nil {
				return err
			}
		}
		return nil
	})
}

// NextSlots are the slots that QueuePost would give accounts of a post now. An
// account without a slot to be had is not among them. A post of zero is a new one.
func (sc *Scope) NextSlots(ctx context.Context, post model.PostID, accounts []model.AccountID) (next map[model.AccountID]model.When, err error) {
	defer wrap(&err, "read next slots")
	next = map[model.AccountID]model.When{}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		w, err := sc.readQueues(ctx, tx, accounts, post)
		for account, q := range w.queues {
			if !sc.Actor.May(model.PostsView, q.ClientID) {
				continue
			}
			if seats := w.seats(Target{AccountID: account}, sc.now()); len(seats) > 0 {
				next[account] = seats[0].when
			}
		}
		return err
	})
	return next, err
}
