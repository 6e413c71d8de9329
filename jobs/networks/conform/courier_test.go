package conform

import (
	"context"
	"maps"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// state is where a courier's target is, in the words of the pipeline.
type state string

const (
	ready     state = "ready"           // to be claimed again
	flying    state = "in_flight"       // the attempt is, durably
	unknown   state = "unknown_outcome" // the network has to be asked
	published state = "published"
	reconnect state = "needs_reconnect"
	failed    state = "failed"
	manual    state = "manual_check_required"
)

// courier brings one target out as the pipeline does: what it keeps in fields is
// what the database would hold, so that it can be killed anywhere and go on.
type courier struct {
	w       *world
	adapter networks.Adapter
	job     networks.Job
	kept    *kept

	state   state
	claims  int   // attempts begun
	waited  []int // durable commits that each of them waited for
	looks   int   // looks that found nothing
	flown   time.Time
	ended   time.Time
	taken   []string
	receipt networks.Receipt
	last    *fault.Fault
	found   networks.Finding
}

func newCourier(w *world, job networks.Job) *courier {
	c := &courier{w: w, adapter: w.adapter, job: job, kept: newKept(), state: ready}
	c.kept.saved = func() { c.wait(1) }
	return c
}

// wait counts commits for the claim under way.
func (c *courier) wait(n int) {
	if c.claims > 0 {
		c.waited[c.claims-1] += n
	}
}

// enough is how many durable commits one claim of a target waits for: the claim, the
// move to in flight, the result.
const enough = 3

// wantFewCommits holds for every claim that there is, whatever broke before it.
func (c *courier) wantFewCommits() {
	if n := c.waited[c.claims-1]; n > enough {
		c.w.t.Errorf("claim %d of a %s waited for %d commits, want %d at most", c.claims, c.job.Post.Format, n, enough)
	}
}

// killed is the end of the process at some point.
type killed struct{}

// surviving runs one step of the pipeline; if the process is killed in it, what
// the database holds stays, and the sweeper comes.
func (c *courier) surviving(step func()) {
	defer func() {
		switch v := recover(); v.(type) {
		case nil:
		case killed:
			c.kept.lose()
			if c.state == flying {
				c.state, c.ended = unknown, c.w.clock()
			}
		default:
			panic(v)
		}
	}()
	step()
}

// most is how many steps any story here takes; more is a loop.
const most = 600

// run goes on until there is nothing left to do.
func (c *courier) run(ctx context.Context) state {
	for range most {
		switch c.state {
		case ready:
			c.surviving(func() { c.attempt(ctx) })
		case unknown:
			c.surviving(func() { c.reconcile(ctx) })
		default:
			return c.state
		}
	}
	return "endless: " + c.state
}

// attempt is one claim: Prepare, in flight, Commit, result.
func (c *courier) attempt(ctx context.Context) {
	r, err := c.prepare(ctx)
	if err != nil {
		c.settle(fault.Of(err))
		return
	}
	c.commit(ctx, r)
}

func (c *courier) prepare(ctx context.Context) (networks.Ready, error) {
	c.claims++
	c.waited = append(c.waited, 2) // the claim and the result
	c.job.Attempt, c.looks = c.claims, 0
	r, err := c.adapter.Prepare(ctx, c.job, c.kept)
	if err != nil {
		c.w.hear(fault.Of(err))
		c.state = ready
		if fault.Of(err).Kind == fault.Unknown {
			c.w.t.Errorf("Prepare is never uncertain, and says %v", err)
		}
	}
	return r, err
}

// commit begins the flight, makes the call and writes the result.
func (c *courier) commit(ctx context.Context, r networks.Ready) error {
	c.kept.merge(r.Handles)
	if s, ok := c.adapter.(networks.Straight); !ok || !s.Straight(c.job.Post.Format) {
		c.wait(1)
	}
	c.state = flying
	if c.flown.IsZero() {
		c.flown = c.w.clock()
	}
	receipt, err := c.adapter.Commit(ctx, networks.Ready{Job: c.job, Handles: maps.Clone(r.Handles), Book: r.Book})
	if err != nil {
		c.settle(fault.Of(err))
		return err
	}
	c.kept.merge(nil)
	c.wantFewCommits()
	c.state, c.receipt = published, receipt
	return nil
}

// settle is what a fault makes of the target.
func (c *courier) settle(f *fault.Fault) {
	c.w.hear(f)
	c.kept.merge(nil)
	c.wantFewCommits()
	c.last, c.ended = f, c.w.clock()
	switch f.Kind {
	case fault.Transient, fault.RateLimited, fault.Waiting:
		c.state = ready
		c.w.pass(max(f.Wait, time.Second))
	case fault.Auth:
		c.state = reconnect
	case fault.Permission, fault.Validation:
		c.state = failed
	default:
		c.state = unknown
	}
}

// reconcile is one look-up and what follows from it.
func (c *courier) reconcile(ctx context.Context) {
	n := c.w.place.Network
	f, err := c.find(ctx)
	if err != nil {
		no := fault.Of(err)
		if no.Kind == fault.Auth || no.Kind == fault.Permission || no.Kind == fault.Validation || c.w.clock().Sub(c.ended) > 24*time.Hour {
			c.state = manual
		}
		c.w.pass(max(no.Wait, 10*time.Minute))
		return
	}
	young := n.LookUp != network.NoLook && c.w.clock().Sub(c.ended) < 2*n.Settle
	switch {
	case f.Verdict == networks.Found:
		c.state, c.receipt = published, f.Receipt
	case f.Verdict == networks.Absent && c.looks == 0 && n.LookUp != network.NoLook:
		c.looks++
		c.w.pass(n.Settle)
	case f.Verdict == networks.Absent:
		c.state = ready
	case young:
		c.w.pass(n.Settle)
	default:
		c.state = manual
	}
}

func (c *courier) find(ctx context.Context) (networks.Finding, error) {
	now := c.w.clock()
	w := networks.Window{Since: c.flown.Add(-2 * time.Minute), Until: now.Add(2 * time.Minute), Taken: c.taken, Looks: c.looks}
	f, err := c.adapter.Find(ctx, c.job, c.kept, w)
	c.kept.merge(nil)
	c.found = f
	if err != nil {
		c.w.hear(fault.Of(err))
	}
	return f, err
}

// follow runs what follows the commit n times, as a retried task does.
func (c *courier) follow(ctx context.Context, n int) (err error) {
	follower, ok := c.adapter.(networks.Follower)
	if !ok {
		return nil
	}
	for range n {
		c.surviving(func() {
			var r networks.Receipt
			if r, err = follower.Follow(ctx, c.job, c.receipt, c.kept); err != nil {
				c.w.hear(fault.Of(err))
			}
			c.kept.merge(nil)
			c.receipt = r
		})
		c.w.pass(time.Minute)
	}
	return err
}

// hear keeps what an adapter said in an error.
func (w *world) hear(f *fault.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, f.Error(), f.Say, f.Code, f.RequestID)
	if f.Cause != nil {
		w.said = append(w.said, f.Cause.Error())
	}
}

// killAfter kills the process once its n-th call has been answered: the answer
// was read, and nothing was made of it.
type killAfter struct {
	httpx.Trail
	left int
}

// Add keeps the evidence, then strikes.
func (k *killAfter) Add(c httpx.Call) {
	k.Trail.Add(c)
	if k.left--; k.left == 0 {
		panic(killed{})
	}
}

// wantState checks where a story ended.
func (c *courier) wantState(t *testing.T, want state) {
	t.Helper()
	if c.state != want {
		t.Errorf("the target ended %s, want %s (%v, %+v)", c.state, want, c.last, c.found)
	}
}
