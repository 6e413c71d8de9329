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
	if err := sc.mayPublishAt(ctx, tx, chosen, when); err != nil {
		return err
	}
	if err := sc.mediaReady(ctx, tx, chosen); err != nil {
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

const sqlScheduleBlackout = `
	SELECT c.name, b.reason, b.to_at, c.zone FROM tenant.blackouts b
	  JOIN tenant.clients c ON c.tenant_id = b.tenant_id AND c.id = b.client_id
	 WHERE b.tenant_id = $1 AND b.client_id = ANY ($2) AND b.from_at <= $3 AND b.to_at > $3 ORDER BY b.to_at DESC LIMIT 1`

const sqlScheduleAccounts = `
	SELECT handle, network, state FROM tenant.accounts
	 WHERE tenant_id = $1 AND id = ANY ($2) AND (state <> 'active') ORDER BY handle LIMIT 1`

// mayPublishAt refuses a time in a blackout and accounts that cannot publish.
func (sc *Scope) mayPublishAt(ctx context.Context, tx pgx.Tx, chosen []Target, when model.When) error {
	at := when.At
	if at.IsZero() {
		at = sc.now()
	}
	var client, reason, zone string
	var until time.Time
	err := tx.QueryRow(ctx, sqlScheduleBlackout, sc.Actor.Tenant, clientsOf(chosen), at).Scan(&client, &reason, &until, &zone)
	if err == nil {
		return model.RefuseField("when", fmt.Sprintf("%s has a blackout then (%s). It ends %s.", client, reason, inZone(until, zone)))
	}
	if !noRows(err) {
		return err
	}
	return sc.accountsWork(ctx, tx, chosen)
}

func (sc *Scope) accountsWork(ctx context.Context, tx pgx.Tx, chosen []Target) error {
	var ids []model.AccountID
	for _, t := range chosen {
		ids = append(ids, t.AccountID)
	}
	var handle, net, state string
	err := tx.QueryRow(ctx, sqlScheduleAccounts, sc.Actor.Tenant, ids).Scan(&handle, &net, &state)
	if noRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if state == "needs_reconnect" {
		return model.RefuseField("accounts", handle+" has lost its connection. Reconnect the account, or take it out of the post.")
	}
	return model.RefuseField("accounts", handle+" is switched off. Take it out of the post.")
}

func inZone(at time.Time, zone string) string {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		loc = time.UTC
	}
	return at.In(loc).Format("2 January 15:04") + " (" + zone + ")"
}

const sqlTargetsPlan = `
	UPDATE tenant.targets t
	   SET due_at = $3, local_at = coalesce($4::timestamp, $3::timestamptz AT TIME ZONE c.zone), zone = coalesce(nullif($5, ''), c.zone), occurrence = $6,
	       next_at = CASE WHEN t.state = 'ready' THEN t.next_at ELSE $3 END, reason = '', say = '', attempts_used = 0, limited_since = NULL,
	       revision = t.revision + 1, updated_at = $7
	  FROM tenant.clients c
	 WHERE t.tenant_id = $1 AND t.id = ANY ($2) AND t.state IN ('ready', 'scheduled', 'retry_scheduled') AND c.tenant_id = t.tenant_id AND c.id = t.client_id
	RETURNING t.id`

// setTime writes instant and intent, moves ready targets to scheduled, and asks
// the pipeline. A target that a worker claimed meanwhile is passed over.
func (sc *Scope) setTime(ctx context.Context, tx pgx.Tx, chosen []Target, when model.When) error {
	var ids, ready []model.TargetID
	for _, t := range chosen {
		ids = append(ids, t.ID)
		if t.State == model.Ready {
			ready = append(ready, t.ID)
		}
	}
	at, local, occurrence := when.At, any(nil), string(when.Occurrence)
	if at.IsZero() {
		at = sc.now()
	} else {
		local = when.Local.String()
	}
	rows, err := tx.Query(ctx, sqlTargetsPlan, sc.Actor.Tenant, ids, at, local, when.Zone, occurrence, sc.now())
	if err != nil {
		return err
	}
	planned, err := pgx.CollectRows(rows, pgx.RowTo[model.TargetID])
	if err != nil {
		return err
	}
	if len(planned) == 0 {
		return model.Refuse(model.Conflict, "This post is being published at this moment.")
	}
	if _, err := sc.moveTargets(ctx, tx, move{ids: ready, to: model.Scheduled}); err != nil {
		return err
	}
	return sc.askPublish(ctx, tx, planned)
}
