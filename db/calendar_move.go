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
	inOrder := slices.SortedStableFunc(slices.Values(moves), func(a, b CardMove) int { return cmp.Compare(a.Post, b.Post) })
	err = sc.write(ctx, func(tx pgx.Tx) error {
		for _, m := range inOrder {
			one, err := sc.moveCard(ctx, tx, m)
			if err != nil {
				return err
			}
			moved = append(moved, one)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}

func (sc *Scope) moveCard(ctx context.Context, tx pgx.Tx, m CardMove) (moved MovedCard, err error) {
	page, err := sc.postPage(ctx, tx, m.Post, sqlPostLock)
	if err != nil {
		return moved, err
	}
	card, err := sc.movable(page, m.From)
	if err != nil {
		return moved, err
	}
	places, err := m.destinations(card)
	if err != nil {
		return moved, err
	}
	for _, p := range places {
		if err := sc.replan(ctx, tx, page.Post, p); err != nil {
			return moved, err
		}
	}
	if err := sc.touch(ctx, tx, m.Post); err != nil {
		return moved, err
	}
	scheduled := slices.ContainsFunc(card, func(t Target) bool { return t.State == model.Ready && t.DueAt == nil })
	return MovedCard{Post: m.Post, From: plannedFor(card[0]), To: places[0].when, Scheduled: scheduled}, sc.recompute(ctx, tx, m.Post)
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
		i := slices.IndexFunc(list, func(p destination) bool { return p.when == when })
		if i < 0 {
			i, list = len(list), append(list, destination{when: when})
		}
		list[i].targets = append(list[i].targets, t)
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
		needs := model.PostsSchedule
		switch {
		case onlyMinds(t):
			needs = model.PostsWrite
		case t.State != model.Ready && !waits(t.State):
			return nil, model.Refuse(model.Conflict, fmt.Sprintf("%s cannot be moved: it is %s.", titled(page.Post), stateWord(t.State)))
		}
		if err := sc.need(needs, t.ClientID, "post"); err != nil {
			return nil, err
		}
		card = append(card, t)
	}
	if len(card) == 0 {
		return nil, model.Refuse(model.Conflict, fmt.Sprintf("%s is not planned for that time any more. Nothing was moved.", titled(page.Post)))
	}
	return card, nil
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
