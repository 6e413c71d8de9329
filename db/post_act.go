package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// PostAct is one post of a bulk action, at the revision that the actor saw.
type PostAct struct {
	Post model.PostID
	Seen int
}

// Acted is what became of a bulk action: a line for each post, and, where posts were
// moved, where each card went.
type Acted struct {
	Done  []Done
	Moved []MovedCard
}

// planning is one post of a bulk action on its way through the rules.
type planning struct {
	post   Post
	places []destination
	verb   string // of what goes out
	minds  []timed
	goes   []timed
	notes  []note
	moved  []MovedCard
	no     error
}

func (p *planning) targets() (all []Target) {
	for _, d := range p.places {
		all = append(all, d.targets...)
	}
	return all
}

// judge sorts what the post would do by the rules of planning, each time for itself.
func (p *planning) judge(sc *Scope, f planFacts) error {
	for _, d := range p.places {
		var minds, goes []Target
		for _, t := range d.targets {
			if onlyMinds(t) && p.verb != "scheduled" {
				minds = append(minds, t)
			} else {
				goes = append(goes, t)
			}
		}
		if err := p.judgePlace(sc, f, d.when, minds, goes); err != nil {
			return err
		}
	}
	return nil
}

func (p *planning) judgePlace(sc *Scope, f planFacts, when model.When, minds, goes []Target) error {
	if !when.At.IsZero() {
		if err := sc.timely(when); err != nil {
			return err
		}
	}
	if len(minds) > 0 {
		verb := "unplanned"
		if !when.At.IsZero() {
			verb = "planned"
			if err := f.outsideBlackouts(clientsOf(minds), when.At); err != nil {
				return err
			}
		}
		p.minds = append(p.minds, timesOf(minds, when)...)
		p.note(verb, minds, when)
	}
	switch {
	case len(goes) == 0:
		return nil
	case when.At.IsZero():
		return model.Refuse(model.Conflict, titled(p.post)+" is scheduled by now. Cancel it on its page if it must not go out.")
	}
	p.goes = append(p.goes, timesOf(goes, when)...)
	p.note(p.verb, goes, when)
	return f.mayGo(goes, when)
}

func (p *planning) note(verb string, targets []Target, when model.When) {
	p.notes = append(p.notes, note{verb: verb, subject: "post", id: int64(p.post.ID), client: onlyClient(targets), detail: auditWhen(when, len(targets))})
}

func timesOf(targets []Target, when model.When) (list []timed) {
	for _, t := range targets {
		list = append(list, timed{t, when})
	}
	return list
}

var errBeingPublished = model.Refuse(model.Conflict, "This post is being published at this moment.")

// planAll judges posts by the rules of planning and writes all that may be, in a
// handful of statements. What is refused keeps its reason and is not touched.
func (sc *Scope) planAll(ctx context.Context, tx pgx.Tx, list []*planning) error {
	var targets []Target
	for _, p := range list {
		if p.no == nil {
			targets = append(targets, p.targets()...)
		}
	}
	if len(targets) == 0 {
		return nil
	}
	facts, err := sc.planFacts(ctx, tx, targets)
	if err != nil {
		return err
	}
	var goes []timed
	for _, p := range list {
		if p.no == nil {
			p.no = p.judge(sc, facts)
		}
		if p.no == nil {
			goes = append(goes, p.goes...)
		}
	}
	if err := sc.goAll(ctx, tx, list, goes); err != nil {
		return err
	}
	return sc.closeAll(ctx, tx, list)
}

// goAll plans what goes out. A post of which a worker claimed all meanwhile is refused.
func (sc *Scope) goAll(ctx context.Context, tx pgx.Tx, list []*planning, goes []timed) error {
	if len(goes) == 0 {
		return nil
	}
	planned, err := sc.setTimes(ctx, tx, goes)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.no == nil && len(p.goes) > 0 && !slices.ContainsFunc(p.goes, func(t timed) bool { return slices.Contains(planned, t.target.ID) }) {
			p.no = errBeingPublished
		}
	}
	return nil
}

// closeAll writes what is left to write about the posts that were not refused.
func (sc *Scope) closeAll(ctx context.Context, tx pgx.Tx, list []*planning) error {
	var minds []timed
	var notes []note
	var posts []model.PostID
	for _, p := range list {
		if p.no == nil {
			minds, notes, posts = append(minds, p.minds...), append(notes, p.notes...), append(posts, p.post.ID)
		}
	}
	if len(minds) > 0 {
		if err := sc.wishTimes(ctx, tx, minds); err != nil {
			return err
		}
	}
	if err := sc.auditMany(ctx, tx, notes); err != nil {
		return err
	}
	slices.Sort(posts)
	return sc.settleAll(ctx, tx, slices.Compact(posts))
}

// onPosts locks the posts of a bulk action and chooses for each what happens to it.
func (sc *Scope) onPosts(ctx context.Context, tx pgx.Tx, acts []PostAct, choose func(PostPage, *planning) error) (list []*planning, err error) {
	ids := make([]model.PostID, len(acts))
	for i, a := range acts {
		ids[i] = a.Post
	}
	pages, err := sc.postPages(ctx, tx, ids, sqlPostLock)
	if err != nil {
		return nil, err
	}
	for _, a := range acts {
		p := &planning{post: Post{ID: a.Post}, no: errNoPost}
		if page, there := pages[a.Post]; there {
			p.post = page.Post
			if p.no = fresh(page.Post, a.Seen); p.no == nil {
				p.no = choose(page, p)
			}
		}
		list = append(list, p)
	}
	return list, nil
}

func actedOf(list []*planning) (a Acted) {
	for _, p := range list {
		a.Done = append(a.Done, Done{Post: p.post.ID, No: p.no})
		if p.no == nil {
			a.Moved = append(a.Moved, p.moved...)
		}
	}
	return a
}

// SchedulePosts schedules what is approved in each post for the time that is in mind
// for it, by the rules of SchedulePlanned. The same form again answers what became
// of it the first time.
func (sc *Scope) SchedulePosts(ctx context.Context, key string, acts []PostAct) (out Acted, err error) {
	defer wrap(&err, "schedule %d posts", len(acts))
	return sc.once(ctx, key, func(tx pgx.Tx) (Acted, error) {
		list, err := sc.onPosts(ctx, tx, acts, func(page PostPage, p *planning) error {
			chosen, err := sc.schedulable(page, nil)
			if err != nil {
				return err
			}
			p.verb = "scheduled"
			for _, t := range chosen {
				if t.DueAt == nil {
					return model.Refuse(model.Conflict, "It has no time yet. Move it to a time, and it is scheduled.")
				}
				p.places = timedPlace(p.places, t, plannedFor(t))
			}
			return nil
		})
		if err == nil {
			err = sc.planAll(ctx, tx, list)
		}
		return actedOf(list), err
	})
}

// timedPlace adds a target to those of the same time.
func timedPlace(list []destination, t Target, when model.When) []destination {
	i := slices.IndexFunc(list, func(d destination) bool { return d.when == when })
	if i < 0 {
		i, list = len(list), append(list, destination{when: when})
	}
	list[i].targets = append(list[i].targets, t)
	return list
}

// MovePosts moves all of each post that can still be moved, wherever it is planned,
// by the rules of MoveCards; each post is moved as a whole or, with the reason, not.
// A move by days or hours leaves out what has no time. The same form again answers
// what became of it the first time.
func (sc *Scope) MovePosts(ctx context.Context, key string, acts []PostAct, to func(now model.When) (model.When, error)) (out Acted, err error) {
	defer wrap(&err, "move %d posts", len(acts))
	return sc.once(ctx, key, func(tx pgx.Tx) (Acted, error) {
		list, err := sc.onPosts(ctx, tx, acts, func(page PostPage, p *planning) error { return sc.moveWhole(page, p, to) })
		if err == nil {
			err = sc.planAll(ctx, tx, list)
		}
		return actedOf(list), err
	})
}

func (sc *Scope) moveWhole(page PostPage, p *planning, to func(model.When) (model.When, error)) error {
	p.verb = "rescheduled"
	for _, t := range page.Targets {
		if !onlyMinds(t) && t.State != model.Ready && !waits(t.State) {
			continue
		}
		if err := sc.need(needsToMove(t), t.ClientID, "post"); err != nil {
			return err
		}
		when, err := to(plannedFor(t))
		if err != nil {
			return err
		}
		if when.At.IsZero() {
			continue
		}
		p.places = timedPlace(p.places, t, when)
		p.moves(t, when)
	}
	switch {
	case len(p.places) > 0:
		return nil
	case slices.ContainsFunc(page.Targets, onlyMinds):
		return model.Refuse(model.Conflict, "It has no time that could be moved. Move it to a day and a time.")
	}
	return model.Refuse(model.Conflict, fmt.Sprintf("Nothing of it can be moved: it is %s.", stateWords(page.Post.State)))
}

// moves notes where a card of the post goes.
func (p *planning) moves(t Target, to model.When) {
	from := plannedFor(t)
	scheduled := t.State == model.Ready && t.DueAt == nil
	for i := range p.moved {
		if p.moved[i].From.At.Equal(from.At) {
			p.moved[i].Scheduled = p.moved[i].Scheduled || scheduled
			return
		}
	}
	p.moved = append(p.moved, MovedCard{Post: p.post.ID, From: from, To: to, Scheduled: scheduled})
}

// CancelPosts takes what is on its way of each post out of delivery, by the rules of
// CancelTarget: none of a post of which a call to a network may be under way. The
// same form again answers what became of it the first time.
func (sc *Scope) CancelPosts(ctx context.Context, key string, acts []PostAct) (out Acted, err error) {
	defer wrap(&err, "cancel %d posts", len(acts))
	return sc.once(ctx, key, func(tx pgx.Tx) (Acted, error) {
		var all []Target
		list, err := sc.onPosts(ctx, tx, acts, func(page PostPage, p *planning) error {
			chosen, err := sc.cancellable(page)
			if err == nil {
				all = append(all, chosen...)
				p.notes = []note{{verb: "cancelled", subject: "post", id: int64(page.Post.ID), client: onlyClient(chosen), detail: map[string]any{"targets": len(chosen)}}}
			}
			return err
		})
		if err != nil {
			return Acted{}, err
		}
		if len(all) > 0 {
			if err := sc.cancelTargets(ctx, tx, all, "cancelled"); err != nil {
				return Acted{}, err
			}
		}
		return actedOf(list), sc.closeAll(ctx, tx, list)
	})
}

// onItsWay are the states of a target that would go out by itself.
var onItsWay = []model.State{model.Scheduled, model.Queued, model.RetryScheduled, model.NeedsReconnect}

func (sc *Scope) cancellable(page PostPage) (chosen []Target, err error) {
	for _, t := range page.Targets {
		if !slices.Contains(onItsWay, t.State) {
			continue
		}
		if err := sc.need(model.PostsSchedule, t.ClientID, "post"); err != nil {
			return nil, err
		}
		chosen = append(chosen, t)
	}
	if err := noneInFlight(page.Targets); err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil, model.Refuse(model.Conflict, fmt.Sprintf("Nothing of it is on its way: it is %s.", stateWords(page.Post.State)))
	}
	return chosen, nil
}

// RetryPosts sends what failed of each post and is safe to retry on its way again, by
// the rules of RetryFailed. The same form again answers what became of it the first
// time.
func (sc *Scope) RetryPosts(ctx context.Context, key string, acts []PostAct) (out Acted, err error) {
	defer wrap(&err, "retry %d posts", len(acts))
	return sc.once(ctx, key, func(tx pgx.Tx) (Acted, error) {
		list, err := sc.onPosts(ctx, tx, acts, func(page PostPage, p *planning) error {
			again := sc.failedOf(page)
			if len(again) == 0 {
				return errNothingToRetry
			}
			p.places = []destination{{targets: again}}
			p.notes = []note{{verb: "retried", subject: "post", id: int64(page.Post.ID), client: onlyClient(again), detail: map[string]any{"targets": len(again)}}}
			return nil
		})
		if err == nil {
			err = sc.retryAll(ctx, tx, list)
		}
		return actedOf(list), err
	})
}

func (sc *Scope) retryAll(ctx context.Context, tx pgx.Tx, list []*planning) error {
	var all, again []Target
	for _, p := range list {
		all = append(all, p.targets()...)
	}
	if len(all) == 0 {
		return nil
	}
	facts, err := sc.timeFacts(ctx, tx, all)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.no == nil {
			p.no = facts.mayPublishAt(p.targets(), model.When{})
		}
		if p.no == nil {
			again = append(again, p.targets()...)
		}
	}
	if len(again) > 0 {
		if err := sc.sendAgain(ctx, tx, again); err != nil {
			return err
		}
	}
	return sc.closeAll(ctx, tx, list)
}
