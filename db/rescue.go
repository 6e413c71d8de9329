package db

import (
	"context"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// CancelTarget takes one target out of delivery. It refuses once a call to the
// network may be under way.
func (sc *Scope) CancelTarget(ctx context.Context, id model.TargetID, seen int) (t Target, err error) {
	defer wrap(&err, "cancel target %d", id)
	return sc.rescue(ctx, id, seen, model.PostsSchedule, "cancelled", func(tx pgx.Tx, t Target) error {
		if err := noneInFlight([]Target{t}); err != nil {
			return err
		}
		if !t.State.MayBecome(model.Cancelled) {
			return model.Refuse(model.Conflict, t.Account+" is already "+stateWord(t.State)+"; there is nothing to cancel.")
		}
		return sc.cancelTargets(ctx, tx, []Target{t}, "cancelled")
	})
}

// RetryTarget sends a failed or disconnected target on its way again, now: a new
// attempt at the same approved version. A target that failed because nobody
// could tell whether it is live needs ResolveNotLive instead.
func (sc *Scope) RetryTarget(ctx context.Context, id model.TargetID, seen int) (t Target, err error) {
	defer wrap(&err, "retry target %d", id)
	return sc.rescue(ctx, id, seen, model.PostsSchedule, "retried", func(tx pgx.Tx, t Target) error {
		if t.State == model.Failed && t.Reason == manualCheck {
			return model.Refuse(model.Conflict, "First look whether this post is live on "+t.Account+", then say so here. Retrying blindly could post it twice.")
		}
		return sc.retry(ctx, tx, []Target{t})
	})
}

// stateWord is a state inside a sentence.
func stateWord(s model.State) string {
	switch s {
	case model.UnknownOutcome:
		return "of unknown outcome"
	case model.NeedsReconnect:
		return "waiting to be reconnected"
	case model.RetryScheduled:
		return "waiting for its next attempt"
	}
	return string(s)
}

// manualCheck is the reason of a target whose outcome only a person can find out.
const manualCheck = "manual_check_required"

// RetryFailed sends every failed target of a post that is safe to retry on its
// way again, and says how many that were.
func (sc *Scope) RetryFailed(ctx context.Context, id model.PostID, seen int) (n int, err error) {
	defer wrap(&err, "retry failures of post %d", id)
	_, err = sc.change(ctx, id, seen, func(tx pgx.Tx, page PostPage) error {
		again := sc.failedOf(page)
		if n = len(again); n == 0 {
			return errNothingToRetry
		}
		if err := sc.retry(ctx, tx, again); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "retried", subject: "post", id: int64(id), client: onlyClient(again), detail: map[string]any{"targets": n}})
	})
	return n, err
}

var errNothingToRetry = model.Refuse(model.Conflict, "Nothing in this post can be retried by you now.")

// failedOf are the failed targets of a post that are safe to retry, by the actor.
func (sc *Scope) failedOf(page PostPage) (again []Target) {
	for _, t := range page.Targets {
		if (t.State == model.Failed && t.Reason != manualCheck || t.State == model.NeedsReconnect) && sc.Actor.May(model.PostsSchedule, t.ClientID) {
			again = append(again, t)
		}
	}
	return again
}

const sqlTargetsRetryNow = `
	UPDATE tenant.targets t SET due_at = $3, local_at = $3::timestamptz AT TIME ZONE c.zone, zone = c.zone, occurrence = ''
	  FROM tenant.clients c
	 WHERE t.tenant_id = $1 AND t.id = ANY ($2) AND c.tenant_id = t.tenant_id AND c.id = t.client_id`

// retry sends targets again now. It refuses in a blackout and where an account
// cannot publish, as planning does.
func (sc *Scope) retry(ctx context.Context, tx pgx.Tx, targets []Target) error {
	for _, t := range targets {
		if !t.State.MayBecome(model.Scheduled) || t.State == model.Ready {
			return model.Refuse(model.Conflict, t.Account+" is "+stateWord(t.State)+"; only what failed can be retried.")
		}
	}
	if err := sc.mayPublishAt(ctx, tx, targets, model.When{}); err != nil {
		return err
	}
	return sc.sendAgain(ctx, tx, targets)
}

// sendAgain puts targets on their way, now.
func (sc *Scope) sendAgain(ctx context.Context, tx pgx.Tx, targets []Target) error {
	ids := idsOf(targets)
	if _, err := tx.Exec(ctx, sqlTargetsRetryNow, sc.Actor.Tenant, ids, sc.now()); err != nil {
		return err
	}
	moved, err := sc.moveTargets(ctx, tx, move{ids: ids, to: model.Scheduled, reason: "retried_by_hand"})
	if err != nil {
		return err
	}
	return sc.askPublish(ctx, tx, moved)
}

// ResolveLive records that a person saw the post live at address. Allowed where
// the outcome could not be found out, and for any failed or disconnected target.
func (sc *Scope) ResolveLive(ctx context.Context, id model.TargetID, seen int, address string) (t Target, err error) {
	defer wrap(&err, "resolve target %d as live", id)
	if address, err = postAddress(address); err != nil {
		return t, err
	}
	return sc.rescue(ctx, id, seen, model.PostsResolve, "found_live", func(tx pgx.Tx, t Target) error {
		if t.State != model.Failed && t.State != model.NeedsReconnect && t.State != model.UnknownOutcome {
			return model.Refuse(model.Conflict, t.Account+" is "+stateWord(t.State)+"; there is nothing to resolve.")
		}
		if err := sc.finding(ctx, tx, t, "live", "A person saw the post live.", address); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlTargetLive, sc.Actor.Tenant, t.ID, address, sc.now())
		return err
	})
}

const sqlTargetLive = `
	UPDATE tenant.targets
	   SET state = 'published', permalink = $3, published_at = $4, reason = 'found_by_hand', say = 'A person saw the post live.',
	       next_at = NULL, seq = seq + 1, revision = revision + 1, updated_at = $4
	 WHERE tenant_id = $1 AND id = $2 AND state IN ('failed', 'needs_reconnect', 'unknown_outcome')`

func postAddress(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(address) > 2000 {
		return "", model.RefuseField("address", "Paste the whole address of the live post, beginning with https://.")
	}
	return u.String(), nil
}

// ResolveNotLive records that a person looked and the post is not there, and
// sends it on its way again.
func (sc *Scope) ResolveNotLive(ctx context.Context, id model.TargetID, seen int) (t Target, err error) {
	defer wrap(&err, "resolve target %d as not live", id)
	return sc.rescue(ctx, id, seen, model.PostsResolve, "found_absent", func(tx pgx.Tx, t Target) error {
		if t.State != model.Failed || t.Reason != manualCheck {
			return model.Refuse(model.Conflict, t.Account+" does not wait for a check by hand.")
		}
		if err := sc.finding(ctx, tx, t, "not_live", "A person looked and did not find the post.", ""); err != nil {
			return err
		}
		return sc.retry(ctx, tx, []Target{t})
	})
}

const sqlFindingInsert = `
	INSERT INTO tenant.findings (tenant_id, target_id, attempt_no, verdict, say, external_id, user_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

func (sc *Scope) finding(ctx context.Context, tx pgx.Tx, t Target, verdict, say, where string) error {
	_, err := tx.Exec(ctx, sqlFindingInsert, sc.Actor.Tenant, t.ID, t.AttemptNo, verdict, say, where, sc.Actor.User, sc.now())
	return err
}

// rescue locks the post of a target, checks permission and the revision the
// caller saw, runs f, and writes the audit line.
func (sc *Scope) rescue(ctx context.Context, id model.TargetID, seen int, p model.Permission, verb string, f func(tx pgx.Tx, t Target) error) (t Target, err error) {
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if t, err = sc.target(ctx, tx, id); err != nil {
			return err
		}
		if err := sc.need(p, t.ClientID, "target"); err != nil {
			return err
		}
		if _, err := sc.postPage(ctx, tx, t.PostID, sqlPostLock); err != nil {
			return err
		}
		if t, err = sc.target(ctx, tx, id); err != nil {
			return err
		}
		if t.Revision != seen {
			return staleTarget(t)
		}
		if err := f(tx, t); err != nil {
			return err
		}
		if err := sc.audit(ctx, tx, note{verb: verb, subject: "target", id: int64(id), client: t.ClientID, detail: map[string]any{"post": t.PostID, "from": t.State}}); err != nil {
			return err
		}
		if err := sc.recompute(ctx, tx, t.PostID); err != nil {
			return err
		}
		t, err = sc.target(ctx, tx, id)
		return err
	})
	return t, err
}
