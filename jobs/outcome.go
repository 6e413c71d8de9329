package jobs

import (
	"context"
	"math/rand/v2"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// published is the result of a commit that the network confirmed.
func (p *Publisher) published(r *run, receipt networks.Receipt) db.Result {
	_, follows := r.adapter.(networks.Follower)
	return db.Result{
		Key: r.key, Owner: r.owner, Attempt: r.work.Attempt, State: model.Published, Outcome: "published", Used: true,
		RequestID: receipt.RequestID, ExternalID: receipt.ExternalID, Permalink: receipt.Permalink,
		Follow: follows && owesMore(receipt, r.work.Part),
	}
}

// owesMore says whether there is anything to do after the commit.
func owesMore(receipt networks.Receipt, part model.Part) bool {
	return receipt.Permalink == "" || !network.Blank(part.FirstComment) || receipt.More
}

// failed is the result of a fault: where the target goes and when it is tried
// again. What could be public goes to unknown_outcome and is never retried
// before the network was asked.
func (p *Publisher) failed(r *run, f *fault.Fault) db.Result {
	res := db.Result{
		Key: r.key, Owner: r.owner, Attempt: r.work.Attempt, Outcome: string(f.Kind), Say: f.Say,
		Code: f.Code, Status: f.Status, RequestID: f.RequestID,
	}
	switch f.Kind {
	case fault.Transient:
		p.retry(&res, r.work.Used)
	case fault.RateLimited:
		p.limited(&res, r.work, f)
	case fault.Waiting:
		res.State, res.Reason, res.Next = model.RetryScheduled, "network_working", p.in(atLeast(f.Wait, time.Second))
	case fault.Auth:
		res.State, res.Reason, res.Used = model.NeedsReconnect, "needs_reconnect", true
	case fault.Permission:
		res.State, res.Reason, res.Used = model.Failed, "missing_permission", true
	case fault.Validation:
		res.State, res.Reason, res.Used = model.Failed, "refused_by_network", true
	default:
		res.State, res.Reason, res.Used, res.Outcome = model.UnknownOutcome, "asking_the_network", true, string(fault.Unknown)
		res.Next = p.in(p.Settings.ReconcileAfter)
	}
	return res
}

// shut is the result of a token that no key of the ring opens: nothing was asked
// of the network, so it waits and uses up no attempt. The operator is who has to
// do something; the account is well.
func (p *Publisher) shut(r *run) db.Result {
	return db.Result{
		Key: r.key, Owner: r.owner, Attempt: r.work.Attempt, Outcome: string(fault.Waiting), Code: "key_missing", Say: sayShut,
		State: model.RetryScheduled, Reason: "key_missing", Next: p.in(p.Settings.RetryBase),
	}
}

const sayShut = "Herald could not open the stored token of this account: the key that sealed it is not in HERALD_KEYS. Nothing was sent."

// keyMissing tells the operator which account cannot be used, and why.
func (p *Publisher) keyMissing(ctx context.Context, key db.Key, account model.AccountID, why error) {
	p.Log.ErrorContext(ctx, "token cannot be opened: put the key it was sealed under back into HERALD_KEYS, behind the newest, and run herald migrate",
		"tenant", key.Tenant, "account", account, "target", key.Target, "err", why)
}

// retry plans the next attempt after a transient fault, or gives up after the last.
func (p *Publisher) retry(res *db.Result, used int) {
	res.Used = true
	if used+1 >= p.Settings.MaxAttempts {
		res.State, res.Reason = model.Failed, "attempts_used_up"
		return
	}
	res.State, res.Reason, res.Next = model.RetryScheduled, "transient", p.in(backoff(p.Settings.RetryBase, p.Settings.RetryCap, used))
}

// limited waits as long as the network says, without using an attempt, until
// patience ends.
func (p *Publisher) limited(res *db.Result, work db.Work, f *fault.Fault) {
	wait := f.Wait
	if wait <= 0 {
		wait = p.unsaid(work.LimitedSince)
	}
	if since := work.LimitedSince; since != nil && p.Now().Add(wait).Sub(*since) > p.Settings.RateLimitPatience {
		res.State, res.Reason = model.Failed, "rate_limited_too_long"
		return
	}
	res.State, res.Reason, res.Next = model.RetryScheduled, "rate_limited", p.in(wait)
	res.CloseUntil = res.Next
}

// unsaid is how long to wait where the network does not say, as what stands before it
// does: longer and longer, the longer it has let nothing through.
func (p *Publisher) unsaid(since *time.Time) time.Duration {
	base := p.Settings.RetryBase
	if since == nil {
		return base + rand.N(base)
	}
	return max(base, seldomer(base, p.Settings.RetryCap, p.Now().Sub(*since)))
}

func (p *Publisher) in(d time.Duration) *time.Time {
	at := p.Now().Add(d)
	return &at
}

// backoff is base x 2^n with full jitter, at most ceiling.
func backoff(base, ceiling time.Duration, n int) time.Duration {
	d := base << min(n, 20)
	if d > ceiling || d <= 0 {
		d = ceiling
	}
	return rand.N(d) + 1
}

func atLeast(d, least time.Duration) time.Duration { return max(d, least) }
