package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/staging"
)

// Publisher brings due targets onto their networks.
type Publisher struct {
	Pipe        *db.Pipeline
	Committer   *Committer
	Networks    map[network.Name]networks.Adapter
	Aggregators map[network.Publisher]networks.Adapter
	Stager      *staging.Stager // nil: every target stages its own files
	Media       MediaSource
	Quotas      *Quotas // nil: no network's limit is kept to before it says so
	Settings    Settings
	Log         *slog.Logger
	Now         func() time.Time
	Fail        func(point string) // fail-points of crash tests; nil in production
	Metrics     *Metrics           // nil where nobody counts

	gate *gate
	once sync.Once
}

func (p *Publisher) places() *gate {
	p.once.Do(func() { p.gate = newGate(p.Settings.Workers) })
	return p.gate
}

func (p *Publisher) point(name string) {
	if p.Fail != nil {
		p.Fail(name)
	}
}

// Publish holds the task until due, takes its turn, and makes one attempt.
// Running it twice for one key publishes once: the claim is a compare-and-set,
// and only its winner goes on. It returns an error only for what asynq should
// try again: nothing has been claimed then, or the sweeper will find it.
func (p *Publisher) Publish(ctx context.Context, key db.Key, due time.Time) error {
	if err := p.hold(ctx, due); err != nil {
		return err
	}
	if err := p.places().enter(ctx, key.Tenant); err != nil {
		return err
	}
	defer p.gate.leave()
	// From here on nothing ends with the task: a claim that was written must be
	// acted on, and a call that was begun cannot be taken back.
	ctx = context.WithoutCancel(ctx)
	p.point("before_claim")
	asked := p.Now()
	work, owner, err := p.claim(ctx, key)
	if err != nil {
		return err
	}
	switch work.Verdict {
	case db.Claimed:
		p.point("claimed")
		return p.attempt(ctx, key, owner, work, asked)
	case db.Early, db.Busy:
		return nil // a newer dispatch, or the holder, sees to it
	}
	return p.Committer.Done(ctx, key)
}

// hold waits until due by the clock, which may be set while it waits.
func (p *Publisher) hold(ctx context.Context, due time.Time) error {
	for {
		wait := due.Sub(p.Now())
		if err := sleep(ctx, wait); err != nil || wait <= 0 {
			return err
		}
	}
}

// adapter is what speaks to where an account is: the network's own, or that of the
// publisher that it is reached by. Nothing else decides on a route.
func (p *Publisher) adapter(a db.Account) (networks.Adapter, bool) {
	if a.Publisher == "" || a.Publisher == network.Direct {
		adapter, ok := p.Networks[a.Network]
		return adapter, ok
	}
	adapter, ok := p.Aggregators[a.Publisher]
	return adapter, ok && network.Reaches(a.Network, a.Publisher)
}

// met is the catalogue's entry for an account: the network as its publisher
// reaches it, with the account's own limits; false if there is none.
func met(a db.Account) (*network.Network, bool) {
	n, ok := network.Get(a.Network)
	if ok {
		n, ok = n.Via(a.Publisher)
	}
	if !ok {
		return nil, false
	}
	return n.With(a.Settings), true
}

// claim asks for the target, renewing the account's token first if it must. It
// insists: a claim whose answer was lost with the database may have been
// written, and is then given to the same owner again.
func (p *Publisher) claim(ctx context.Context, key db.Key) (work db.Work, owner uuid.UUID, err error) {
	owner = uuid.New()
	for range 4 {
		err = p.persist(ctx, func(ctx context.Context) error {
			work, err = p.Committer.Claim(ctx, key, owner)
			return err
		})
		if err != nil || work.Verdict != db.Refresh {
			return work, owner, err
		}
		if err := p.refresh(ctx, key.Shard, key.Tenant, work.Account.ID); err != nil {
			return work, owner, err
		}
	}
	return db.Work{}, owner, errors.New("the token could not be renewed in time")
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run is one attempt under way.
type run struct {
	key     db.Key
	owner   uuid.UUID
	work    db.Work
	flown   time.Time // no later than the attempt went in flight
	adapter networks.Adapter
	job     networks.Job
	trail   *trail
	handles *handles
}

// attempt does what follows a claim: Prepare, the move to in flight, Commit, and
// the result.
func (p *Publisher) attempt(ctx context.Context, key db.Key, owner uuid.UUID, work db.Work, asked time.Time) error {
	r := &run{key: key, owner: owner, work: work, flown: asked, trail: &trail{}}
	r.handles = newHandles(work.Handles, func(ctx context.Context, change map[string]string) error {
		return p.Committer.Save(ctx, db.Step{Key: key, Owner: owner, Attempt: work.Attempt, Handles: change})
	})
	if work.Account.Shut != nil {
		p.keyMissing(ctx, key, work.Account.ID, work.Account.Shut)
		return p.finish(ctx, r, p.shut(r))
	}
	adapter, ok := p.adapter(work.Account)
	if !ok {
		return p.finish(ctx, r, p.failed(r, fault.New(fault.Permission, "network_unavailable", "This Herald cannot publish to this network.")))
	}
	r.adapter, r.job = adapter, p.job(r)
	if full := p.Quotas.Take(ctx, key, work); full != nil {
		return p.settle(ctx, r, full)
	}
	ready, err := p.prepare(ctx, r)
	if err != nil {
		return p.settle(ctx, r, prepareFault(err))
	}
	if err := p.begin(ctx, r, ready); err != nil {
		return ignoreLost(err)
	}
	p.point("before_commit")
	if p.Now().Sub(r.flown) > p.Settings.StaleInFlight/2 {
		return nil // we slept: others may take this for lost by now, and ask the network
	}
	p.Metrics.began(r.work, p.Now())
	receipt, err := p.commit(ctx, r, ready)
	p.point("after_commit")
	if err != nil {
		return p.settle(ctx, r, fault.Of(err))
	}
	return p.finish(ctx, r, p.published(r, receipt))
}

// prepare runs the adapter's first step. Whatever it does is not public, so even
// a panic may be tried again.
func (p *Publisher) prepare(ctx context.Context, r *run) (ready networks.Ready, err error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTimeouts*p.Settings.ProviderTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = &fault.Fault{Kind: fault.Transient, Code: "panic", Say: "Something broke on our side before the post was sent.", Cause: fmt.Errorf("panic: %v", v)}
		}
	}()
	return r.adapter.Prepare(ctx, r.job, r.handles)
}

// prepareTimeouts is how many provider calls' time a Prepare has: it may upload
// several files.
const prepareTimeouts = 10

// prepareFault sorts a failure of Prepare. Nothing is public yet, so what nobody
// sorted is transient.
func prepareFault(err error) *fault.Fault {
	f := fault.Of(err)
	if f.Kind == fault.Unknown {
		again := *f
		again.Kind = fault.Transient
		return &again
	}
	return f
}

// begin makes the attempt in flight, durably, before the call that publishes, and
// with it what Prepare noted.
func (p *Publisher) begin(ctx context.Context, r *run, ready networks.Ready) error {
	if r.work.InFlight {
		return nil
	}
	p.point("prepared")
	r.flown = p.Now()
	r.handles.join()
	return r.handles.together(ready.Handles, func(change map[string]string) error {
		return p.persist(ctx, func(ctx context.Context) error {
			return p.Committer.Begin(ctx, db.Step{Key: r.key, Owner: r.owner, Attempt: r.work.Attempt, Handles: change})
		})
	})
}

// commit makes the call. A panic in it may have come after the call.
func (p *Publisher) commit(ctx context.Context, r *run, ready networks.Ready) (receipt networks.Receipt, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.Settings.ProviderTimeout+5*time.Second)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = &fault.Fault{Kind: fault.Unknown, Code: "panic", Say: "Something broke on our side during the call.", Cause: fmt.Errorf("panic: %v", v)}
		}
	}()
	return r.adapter.Commit(ctx, ready)
}

// settle turns a fault into a result and writes it.
func (p *Publisher) settle(ctx context.Context, r *run, f *fault.Fault) error {
	if errors.Is(f, db.ErrLostClaim) {
		return nil
	}
	if f.Cause != nil {
		p.Log.WarnContext(ctx, "attempt ended", "tenant", r.key.Tenant, "target", r.key.Target, "attempt", r.work.Attempt, "kind", f.Kind, "code", f.Code, "err", f.Cause)
	}
	p.heed(ctx, r.key, r.work.Account.ID, f)
	return p.finish(ctx, r, p.failed(r, f))
}

// heed holds back everybody's posts to a network that said that it takes nothing
// from this Herald for a while. If that cannot be written down, the next post
// meets the limit too.
func (p *Publisher) heed(ctx context.Context, key db.Key, account model.AccountID, f *fault.Fault) {
	if f.Kind != fault.RateLimited || !f.Everyone {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	wait := f.Wait
	if wait <= 0 {
		wait = p.Settings.RetryBase
	}
	if err := p.Pipe.LimitNetwork(ctx, key.Shard, key.Tenant, account, p.Now().Add(wait)); err != nil {
		p.Log.WarnContext(ctx, "network not closed for everybody", "tenant", key.Tenant, "account", account, "err", err)
	}
}

// finish writes a result and insists: while the database is away the result is
// kept in memory and tried again; only then is it left to the sweeper, which
// asks the network.
func (p *Publisher) finish(ctx context.Context, r *run, result db.Result) error {
	result.Calls, result.Handles = r.trail.calls(), r.handles.all()
	p.point("before_finish")
	err := p.persist(ctx, func(ctx context.Context) error { return p.Committer.Finish(ctx, result) })
	switch {
	case err == nil:
		p.Metrics.ended(r.work.Account.Network, result.Outcome)
	case errors.Is(err, db.ErrLostClaim):
		p.leave(ctx, r)
	}
	p.point("finished")
	return ignoreLost(err)
}

// leave keeps on the attempt what a run noted whose claim is another's by now: an
// id that a slow commit brought is what a look-up goes by.
func (p *Publisher) leave(ctx context.Context, r *run) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := r.handles.flush(ctx); err != nil && !errors.Is(err, db.ErrLostClaim) {
		p.Log.WarnContext(ctx, "handles of a lost claim not kept", "tenant", r.key.Tenant, "target", r.key.Target, "attempt", r.work.Attempt, "err", err)
	}
}

// persist repeats a write that must not be given up for a database that is away.
func (p *Publisher) persist(ctx context.Context, write func(context.Context) error) error {
	wait := 50 * time.Millisecond
	for deadline := time.Now().Add(p.Settings.StaleInFlight / 2); ; {
		err := write(ctx)
		if err == nil || errors.Is(err, db.ErrLostClaim) || errors.Is(err, ErrClosed) || db.BadRow(err) || time.Now().After(deadline) {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, 2*time.Second)
	}
}

func ignoreLost(err error) error {
	if errors.Is(err, db.ErrLostClaim) {
		return nil
	}
	return err
}

// trail collects the evidence of one run's calls.
type trail struct {
	mu   sync.Mutex
	list []httpx.Call
}

// Add keeps one call.
func (t *trail) Add(c httpx.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, c)
}

func (t *trail) calls() []httpx.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		return []httpx.Call{}
	}
	return t.list
}
