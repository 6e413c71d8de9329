package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// SchedulePost plans the post's approved targets for when. Targets that already
// wait are moved. It refuses what is not approved, what lies in the past or in a
// client's blackout, and accounts that cannot publish now.
func (sc *Scope) SchedulePost(ctx context.Context, id model.PostID, seen int, when model.When) (page PostPage, err error) {
	defer wrap(&err, "schedule post %d", id)
	if err := sc.timely(when); err != nil {
		return page, err
	}
	return sc.schedule(ctx, id, plannedTime{when: when, verb: "scheduled", fresh: func(page PostPage) error { return fresh(page.Post, seen) }})
}

// pastSlack forgives a form that was a minute in coming: a time of the current
// minute still counts as now.
const pastSlack = time.Minute

// horizon is how many years ahead a post can be planned. Nobody knows an agency's
// calendar further than that, and a year that was mistyped lies beyond it.
const horizon = 2

// timely refuses a time that has passed, and one beyond the horizon.
func (sc *Scope) timely(when model.When) error {
	now := sc.now()
	switch last := now.AddDate(horizon, 0, 0); {
	case when.At.Before(now.Add(-pastSlack)):
		return model.RefuseField("when", "That time has passed. Pick a time in the future, or publish now.")
	case when.At.After(last):
		return model.RefuseField("when", fmt.Sprintf("%s is more than %d years ahead. Posts can be planned until %s: check the year.", when.Local.Date.Say(), horizon, model.LocalOf(last).Date.Say()))
	}
	return nil
}

// PublishNow plans the post's approved targets for this instant; they take the
// same path as any other.
func (sc *Scope) PublishNow(ctx context.Context, id model.PostID, seen int) (page PostPage, err error) {
	defer wrap(&err, "publish post %d now", id)
	return sc.schedule(ctx, id, plannedTime{verb: "published_now", fresh: func(page PostPage) error { return fresh(page.Post, seen) }})
}

// Reschedule moves one waiting target to when, by the same rules.
func (sc *Scope) Reschedule(ctx context.Context, id model.TargetID, seen int, when model.When) (t Target, err error) {
	defer wrap(&err, "reschedule target %d", id)
	if err := sc.timely(when); err != nil {
		return t, err
	}
	if t, err = sc.Target(ctx, id); err != nil {
		return t, err
	}
	_, err = sc.schedule(ctx, t.PostID, plannedTime{only: []model.TargetID{id}, when: when, verb: "rescheduled", fresh: func(page PostPage) error {
		return freshTarget(page, id, seen)
	}})
	if err != nil {
		return t, err
	}
	return sc.Target(ctx, id)
}

// freshTarget refuses with Conflict if the target changed after the caller read
// revision seen. The post is locked, so nothing changes between this and the move.
func freshTarget(page PostPage, id model.TargetID, seen int) error {
	for _, t := range page.Targets {
		if t.ID == id && t.Revision != seen {
			return staleTarget(t)
		}
	}
	return nil
}

func staleTarget(t Target) error {
	return model.Refuse(model.Conflict, fmt.Sprintf("This changed while you had it open: %s is now %s. Nothing was overwritten; reload to see it.", t.Account, stateWord(t.State)))
}

// Target reads one target.
func (sc *Scope) Target(ctx context.Context, id model.TargetID) (t Target, err error) {
	defer wrap(&err, "read target %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		t, err = sc.target(ctx, tx, id)
		return err
	})
	return t, err
}

// plannedTime is one wish to plan: which targets of a post (nil: all that can
// be), when (zero: this instant), and whether the caller's page was fresh.
type plannedTime struct {
	only  []model.TargetID
	when  model.When
	verb  string
	fresh func(PostPage) error
}

func (sc *Scope) schedule(ctx context.Context, id model.PostID, p plannedTime) (page PostPage, err error) {
	only, when, verb := p.only, p.when, p.verb
	err = sc.write(ctx, func(tx pgx.Tx) error {
		page, err = sc.postPage(ctx, tx, id, sqlPostLock)
		if err != nil {
			return err
		}
		if err := p.fresh(page); err != nil {
			return err
		}
		chosen, err := sc.schedulable(page, only)
		if err != nil {
			return err
		}
		if err := sc.planTargets(ctx, tx, id, chosen, when, verb); err != nil {
			return err
		}
		if err := sc.touch(ctx, tx, id); err != nil {
			return err
		}
		if err := sc.recompute(ctx, tx, id); err != nil {
			return err
		}
		page, err = sc.postPage(ctx, tx, id, sqlPostGet)
		return err
	})
	return page, err
}

// planTargets plans targets of one post for when, if all of them may be published then.
func (sc *Scope) planTargets(ctx context.Context, tx pgx.Tx, id model.PostID, chosen []Target, when model.When, verb string) error {
	facts, err := sc.planFacts(ctx, tx, chosen)
	if err != nil {
		return err
	}
	if err := facts.mayGo(chosen, when); err != nil {
		return err
	}
	if err := sc.setTime(ctx, tx, chosen, when); err != nil {
		return err
	}
	return sc.audit(ctx, tx, note{verb: verb, subject: "post", id: int64(id), client: onlyClient(chosen), detail: auditWhen(when, len(chosen))})
}

func auditWhen(when model.When, targets int) map[string]any {
	if when.At.IsZero() {
		return map[string]any{"targets": targets}
	}
	return map[string]any{"targets": targets, "local": when.Local.String(), "zone": when.Zone}
}

// schedulable picks the targets that a plan would move, and refuses with the
// reason if there is none.
func (sc *Scope) schedulable(page PostPage, only []model.TargetID) (chosen []Target, err error) {
	for _, t := range page.Targets {
		if only != nil && !slices.Contains(only, t.ID) {
			continue
		}
		if err := sc.need(model.PostsSchedule, t.ClientID, "post"); err != nil {
			return nil, err
		}
		if waits(t.State) || t.State == model.Ready {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) > 0 {
		return chosen, nil
	}
	return nil, whyNotSchedulable(page)
}

// waits says whether a target has a time that can still be moved.
func waits(s model.State) bool { return s == model.Scheduled || s == model.RetryScheduled }

func whyNotSchedulable(page PostPage) error {
	say := "Nothing in this post can be scheduled now."
	switch {
	case len(page.Targets) == 0:
		say = "Choose at least one account before scheduling."
	case page.Post.Review == "in_review":
		say = "This post is still waiting for approval. It can be scheduled once it is approved."
	case page.Post.State == model.PostInvalid:
		say = "This post has problems that its networks would refuse. Correct them, then submit it."
	case page.Post.ApprovedVersionID == nil:
		say = "This version is not approved yet. Submit it for approval first."
	case page.Post.State == model.PostPublishing:
		say = "This post is being published at this moment."
	}
	return model.Refuse(model.Conflict, say)
}

// mayPublishAt refuses a time in a blackout and accounts that cannot publish.
func (sc *Scope) mayPublishAt(ctx context.Context, tx pgx.Tx, chosen []Target, when model.When) error {
	facts, err := sc.timeFacts(ctx, tx, chosen)
	if err != nil {
		return err
	}
	return facts.mayPublishAt(chosen, when)
}

func inZone(at time.Time, zone string) string {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		loc = time.UTC
	}
	return at.In(loc).Format("2 January 15:04") + " (" + zone + ")"
}

// setTime gives targets of one post a time; some of them may be passed over, as by
// setTimes, but not all.
func (sc *Scope) setTime(ctx context.Context, tx pgx.Tx, chosen []Target, when model.When) error {
	planned, err := sc.setTimes(ctx, tx, timesOf(chosen, when))
	if err == nil && len(planned) == 0 {
		err = errBeingPublished
	}
	return err
}
