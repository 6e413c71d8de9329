package jobs

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// clockSlack widens a look-up's window, since the network's clock is not ours.
const clockSlack = 2 * time.Minute

// Reconcile asks the network what became of a target of unknown outcome. Found
// publishes it; absent, seen twice with the settling time between, sends it on
// its way again; what cannot be told is left to a person.
func (p *Publisher) Reconcile(ctx context.Context, key db.Key) error {
	target, ok, err := p.Pipe.Load(ctx, key)
	if err != nil {
		return err
	}
	if !ok || target.State != model.UnknownOutcome || target.Seq != key.Seq {
		return p.Pipe.Done(ctx, "reconcile", []db.Key{key})
	}
	if target.Account.Shut != nil {
		return p.putOff(ctx, "reconcile", key, target)
	}
	look := db.Looked{Key: key, Attempt: target.Attempt}
	found, t, err := p.find(ctx, key, target)
	look.Calls = t.calls()
	if err != nil {
		p.heed(ctx, key, target.Account.ID, fault.Of(err))
		p.unanswered(&look, target, fault.Of(err))
	} else {
		p.weigh(&look, target, found)
	}
	if _, err := p.Pipe.RecordFinding(ctx, look); err != nil {
		return err
	}
	return p.Pipe.Done(ctx, "reconcile", []db.Key{key})
}

// putOff gives back what needs a token that no key of the ring opens. It is not
// the network that is slow to answer, so no patience runs out.
func (p *Publisher) putOff(ctx context.Context, task string, key db.Key, target db.Loaded) error {
	p.keyMissing(ctx, key, target.Account.ID, target.Account.Shut)
	return p.Pipe.Later(ctx, task, key, p.Now().Add(p.Settings.RetryBase))
}

// find asks the adapter, with a token that is fresh.
func (p *Publisher) find(ctx context.Context, key db.Key, target db.Loaded) (f networks.Finding, t *trail, err error) {
	t = &trail{}
	adapter, ok := p.adapter(target.Account)
	if !ok {
		return networks.Finding{Verdict: networks.CantTell, Say: "This Herald cannot reach this network any more."}, t, nil
	}
	if !target.Alive {
		return networks.Finding{Verdict: networks.CantTell, Say: "The account has lost its connection, so Herald cannot look the post up."}, t, nil
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeouts*p.Settings.ProviderTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = &fault.Fault{Kind: fault.Transient, Code: "panic", Say: "Something broke on our side during the look-up.", Cause: fmt.Errorf("panic: %v", v)}
		}
	}()
	h := p.lateHandles(key, target)
	f, err = adapter.Find(ctx, p.loadedJob(key, target, t), h, window(target, p.Now()))
	return f, t, cmp.Or(err, h.flush(ctx))
}

func window(target db.Loaded, now time.Time) networks.Window {
	since := target.DueAt
	if target.FirstFlown != nil {
		since = *target.FirstFlown
	}
	return networks.Window{Since: since.Add(-clockSlack), Until: now.Add(clockSlack), Taken: target.Taken, Looks: target.Looks}
}

func (p *Publisher) loadedJob(key db.Key, target db.Loaded, t *trail) networks.Job {
	r := &run{key: key, work: target.Work, trail: t}
	return p.job(r)
}

// lateHandles save on an attempt that has ended; what is noted is written with the
// next that is saved, or when the look-up or the follow-up ends.
func (p *Publisher) lateHandles(key db.Key, target db.Loaded) *handles {
	return newHandles(target.Handles, func(ctx context.Context, change map[string]string) error {
		return p.Committer.Save(ctx, db.Step{Key: key, Attempt: target.Attempt, Handles: change})
	})
}

// weigh decides what a finding means for the target.
func (p *Publisher) weigh(look *db.Looked, target db.Loaded, f networks.Finding) {
	look.Verdict, look.Say = string(f.Verdict), f.Say
	switch {
	case f.Verdict == networks.Found:
		adapter, _ := p.adapter(target.Account)
		_, follows := adapter.(networks.Follower)
		look.Follow = follows && owesMore(f.Receipt, target.Part)
		look.State, look.Reason = model.Published, "found_by_look_up"
		look.ExternalID, look.Permalink = f.Receipt.ExternalID, f.Receipt.Permalink
	case f.Verdict == networks.Absent && target.Looks == 0 && !nothingToAsk(target):
		p.lookAgain(look, target)
	case f.Verdict == networks.Absent && target.Used >= p.Settings.MaxAttempts:
		look.State, look.Reason = model.Failed, "attempts_used_up"
	case f.Verdict == networks.Absent:
		look.State, look.Reason, look.Next = model.RetryScheduled, "proved_absent", p.in(backoff(p.Settings.RetryBase, p.Settings.RetryCap, max(target.Used-1, 0)))
	case p.young(target):
		p.lookAgain(look, target)
	default:
		look.State, look.Reason = model.Failed, "manual_check_required"
	}
}

// young says whether another look may still tell: an answer that settles nothing
// is not final before the network's list had time to fill.
func (p *Publisher) young(target db.Loaded) bool {
	if nothingToAsk(target) || !target.Alive || target.LastEnded == nil {
		return false
	}
	return p.Now().Sub(*target.LastEnded) < 2*p.settling(target)
}

// nothingToAsk says whether the network has no list that could fill in time: a
// second look would say the same as the first.
func nothingToAsk(target db.Loaded) bool {
	n, ok := met(target.Account)
	return !ok || n.LookUp == network.NoLook
}

func (p *Publisher) lookAgain(look *db.Looked, target db.Loaded) {
	look.State, look.Reason, look.Next = model.UnknownOutcome, "asking_the_network", p.in(p.settling(target))
}

// settling is how long to wait before a second look: the setting, longer for
// networks that are slower than its default allows for.
func (p *Publisher) settling(target db.Loaded) time.Duration {
	n, ok := met(target.Account)
	usual := Defaults().Settle
	if !ok || n.Settle <= usual {
		return p.Settings.Settle
	}
	return time.Duration(float64(p.Settings.Settle) * float64(n.Settle) / float64(usual))
}

// unanswered is a look-up that the network did not answer. It is asked again,
// ever more seldom, until patience ends; then a person looks.
func (p *Publisher) unanswered(look *db.Looked, target db.Loaded, f *fault.Fault) {
	look.Verdict, look.Say = string(networks.CantTell), "The network did not answer the look-up: "+f.Say
	wait, patient := p.askAgain(target.LastEnded, f)
	if !patient || f.Kind == fault.Auth {
		look.State, look.Reason = model.Failed, "manual_check_required"
		return
	}
	look.State, look.Reason, look.Next = model.UnknownOutcome, "asking_the_network", p.in(wait)
}

// askAgain says how long to wait before a network is asked again about what
// ended at since, and whether to ask it again at all: not for what it will never
// answer, nor beyond the end of patience.
func (p *Publisher) askAgain(since *time.Time, f *fault.Fault) (wait time.Duration, patient bool) {
	if since == nil || f.Kind == fault.Permission || f.Kind == fault.Validation {
		return 0, false
	}
	age := p.Now().Sub(*since)
	wait = max(f.Wait, seldomer(p.Settings.RetryBase, p.Settings.RetryCap, age))
	return wait, age+wait <= p.Settings.RateLimitPatience
}

// seldomer is how long to wait before asking again about something of an age:
// from half to one and a half of that age, so that the waits grow as those of a
// back-off do though nobody counts them. It is no less than half of base, and no
// more than ceiling.
func seldomer(base, ceiling, age time.Duration) time.Duration {
	age = max(age, base)
	return min(age/2+rand.N(age), ceiling)
}

// FollowUp does what follows a commit: permalink, first comment. It never makes
// a published target anything else; what fails is tried again for a day, and
// then said.
func (p *Publisher) FollowUp(ctx context.Context, key db.Key) error {
	target, ok, err := p.Pipe.Load(ctx, key)
	if err != nil {
		return err
	}
	adapter, _ := p.adapter(target.Account)
	follower, follows := adapter.(networks.Follower)
	if !ok || target.State != model.Published || !follows {
		return p.Pipe.Done(ctx, "follow_up", []db.Key{key})
	}
	if target.Account.Shut != nil {
		return p.putOff(ctx, "follow_up", key, target)
	}
	t := &trail{}
	receipt, err := p.follow(ctx, follower, key, target, t)
	say := ""
	if err != nil {
		f := fault.Of(err)
		p.heed(ctx, key, target.Account.ID, f)
		say = "Published. What follows it has not worked yet: " + f.Say
		if wait, patient := p.askAgain(target.LastEnded, f); patient {
			if err := p.Pipe.SaveReceipt(ctx, key, receipt.Permalink, receipt.ExternalID, t.calls(), say); err != nil {
				return err
			}
			return p.Pipe.Later(ctx, "follow_up", key, p.Now().Add(wait))
		}
	}
	if err := p.Pipe.SaveReceipt(ctx, key, receipt.Permalink, receipt.ExternalID, t.calls(), say); err != nil {
		return err
	}
	return p.Pipe.Done(ctx, "follow_up", []db.Key{key})
}

func (p *Publisher) follow(ctx context.Context, follower networks.Follower, key db.Key, target db.Loaded, t *trail) (r networks.Receipt, err error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeouts*p.Settings.ProviderTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = &fault.Fault{Kind: fault.Transient, Code: "panic", Say: "Something broke on our side.", Cause: fmt.Errorf("panic: %v", v)}
		}
	}()
	receipt := networks.Receipt{ExternalID: target.ExternalID, Permalink: target.Permalink}
	h := p.lateHandles(key, target)
	r, err = follower.Follow(ctx, p.loadedJob(key, target, t), receipt, h)
	return r, cmp.Or(err, h.flush(ctx))
}
