package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// CardMove is the way of one card of the calendar: the targets of a post that
// are planned for the instant From. A zero From means those without a time.
type CardMove struct {
	Post model.PostID
	From time.Time
	// To works the new time out from what a target has now; a target without a
	// time has only the zone of its client.
	To func(now model.When) (model.When, error)
}

// MovedCard is a card in its new place. Zero times say that there was none.
type MovedCard struct {
	Post      model.PostID
	From, To  model.When // of its first target
	Scheduled bool       // it had no time and is on its way now: only cancelling takes that back
}

// MoveCards moves cards through the calendar: all of them or, with the reason,
// none. What is on its way is planned anew by the rules of Reschedule; what is
// not keeps the time in mind, except that what is approved and had no time is
// scheduled. No editorial state changes. It refuses with Conflict a card that is not where it
// was seen, and one of which anything is being or was published.
func (sc *Scope) MoveCards(ctx context.Context, moves []CardMove) (moved []MovedCard, err error) {
	defer wrap(&err, "move %d cards", len(moves))
	err = sc.write(ctx, func(tx pgx.Tx) error {
		list, err := sc.movings(ctx, tx, moves)
		if err != nil {
			return err
		}
		if err := sc.planAll(ctx, tx, list); err != nil {
			return err
		}
		for _, p := range list {
			if p.no != nil {
				return p.no
			}
		}
		moved = actedOf(list).Moved
		return nil
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}

// movings locks the posts of cards and works out where each card goes.
func (sc *Scope) movings(ctx context.Context, tx pgx.Tx, moves []CardMove) (list []*planning, err error) {
	inOrder := slices.SortedStableFunc(slices.Values(moves), func(a, b CardMove) int { return cmp.Compare(a.Post, b.Post) })
	var ids []model.PostID
	for _, m := range inOrder {
		ids = append(ids, m.Post)
	}
	pages, err := sc.postPages(ctx, tx, slices.Compact(ids), sqlPostLock)
	if err != nil {
		return nil, err
	}
	for _, m := range inOrder {
		page, there := pages[m.Post]
		if !there {
			return nil, errNoPost
		}
		p, err := sc.moving(page, m)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (sc *Scope) moving(page PostPage, m CardMove) (*planning, error) {
	card, err := sc.movable(page, m.From)
	if err != nil {
		return nil, err
	}
	p := &planning{post: page.Post, verb: "rescheduled"}
	if p.places, err = m.destinations(card); err != nil {
		return nil, err
	}
	scheduled := slices.ContainsFunc(card, func(t Target) bool { return t.State == model.Ready && t.DueAt == nil })
	p.moved = []MovedCard{{Post: m.Post, From: plannedFor(card[0]), To: p.places[0].when, Scheduled: scheduled}}
	return p, nil
}

// destination is a time and the targets of a card that go there. Clients in different
// zones keep their own clocks, so their targets may part.
type destination struct {
	when    model.When
	targets []Target
}

func (m CardMove) destinations(card []Target) (list []destination, err error) {
	for _, t := range card {
		when, err := m.To(plannedFor(t))
		if err != nil {
			return nil, err
		}
		list = timedPlace(list, t, when)
	}
	return list, nil
}

// replan gives targets of one post another time, each kind by its own rules.
func (sc *Scope) replan(ctx context.Context, tx pgx.Tx, post Post, p destination) error {
	var minds, goes []Target
	for _, t := range p.targets {
		if onlyMinds(t) {
			minds = append(minds, t)
		} else {
			goes = append(goes, t)
		}
	}
	if !p.when.At.IsZero() {
		if err := sc.timely(p.when); err != nil {
			return err
		}
	}
	if len(minds) > 0 {
		if err := sc.wish(ctx, tx, post.ID, minds, p.when); err != nil {
			return err
		}
	}
	switch {
	case len(goes) == 0:
		return nil
	case p.when.At.IsZero():
		return model.Refuse(model.Conflict, titled(post)+" is scheduled by now. Cancel it on its page if it must not go out.")
	}
	return sc.planTargets(ctx, tx, post.ID, goes, p.when, "rescheduled")
}

// onlyMinds says whether a target has its time merely in mind: moving it
// schedules nothing. What is approved and has no time yet is scheduled by it.
func onlyMinds(t Target) bool {
	return t.State == model.Draft || t.State == model.Invalid || t.State == model.Ready && t.DueAt != nil
}

// movable picks the targets of a card and refuses with the reason if one of them
// cannot be moved.
func (sc *Scope) movable(page PostPage, from time.Time) (card []Target, err error) {
	for _, t := range page.Targets {
		if t.State == model.Cancelled || !sameInstant(t.DueAt, from) {
			continue
		}
		if !onlyMinds(t) && t.State != model.Ready && !waits(t.State) {
			return nil, model.Refuse(model.Conflict, fmt.Sprintf("%s cannot be moved: it is %s.", titled(page.Post), stateWord(t.State)))
		}
		if err := sc.need(needsToMove(t), t.ClientID, "post"); err != nil {
			return nil, err
		}
		card = append(card, t)
	}
	if len(card) == 0 {
		return nil, model.Refuse(model.Conflict, fmt.Sprintf("%s is not planned for that time any more. Nothing was moved.", titled(page.Post)))
	}
	return card, nil
}

// needsToMove is the permission that moving a target takes.
func needsToMove(t Target) model.Permission {
	if onlyMinds(t) {
		return model.PostsWrite
	}
	return model.PostsSchedule
}

// plannedFor is the time that a target has, with the zone of its client if none.
func plannedFor(t Target) model.When {
	w := model.When{Zone: t.ClientZone}
	if t.DueAt == nil {
		return w
	}
	w.At = *t.DueAt
	if t.LocalAt != nil && t.Zone != nil {
		w.Local, w.Zone = model.LocalOf(*t.LocalAt), *t.Zone
	}
	if t.Occurrence != nil {
		w.Occurrence = model.Occurrence(*t.Occurrence)
	}
	return w
}

func sameInstant(due *time.Time, at time.Time) bool {
	if due == nil {
		return at.IsZero()
	}
	return due.Equal(at)
}

// titled names a post in a sentence.
func titled(p Post) string {
	if p.Excerpt == "" {
		return "This post"
	}
	return "“" + model.Excerpt(p.Excerpt, 40) + "”"
}
