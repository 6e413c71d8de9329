package conform

import (
	"testing"

	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

func (p place) decidesAtOnce() string {
	if p.accepts == "" {
		return p.label() + " has published when it answers the commit"
	}
	return ""
}

// What a network has only accepted is not called published before the network
// says so, and what it turns down afterwards is a refusal like any other.
func TestWhatIsOnlyAcceptedIsNotCalledPublished(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"accepted: asked about until it is decided", place.decidesAtOnce, func(t *testing.T, p place) {
			w, c := accepted(t, p)
			w.fault(sim.Fault{Kind: sim.AsyncPending, Times: 5})
			for range 4 {
				c.reconcile(t.Context())
				c.wantState(t, unknown)
			}
			c.run(t.Context())
			c.wantState(t, published)
			w.wantPublic(1)
			if n := len(w.steps(sim.Commit)); n != 1 {
				t.Errorf("committed %d times", n)
			}
			w.wantQuiet(t, c.job)
		}},
		check{"accepted: turned down afterwards", place.decidesAtOnce, func(t *testing.T, p place) {
			w, c := accepted(t, p)
			w.fault(sim.Fault{Kind: sim.AsyncError, Times: 1})
			c.run(t.Context())
			c.wantState(t, failed)
			w.wantPublic(0)
			if c.last.Kind != fault.Validation || !sentence(c.last.Say) {
				t.Errorf("ended with %v, want a refusal", c.last)
			}
			finish(t, c, fault.Validation)
		}},
		check{"accepted: a publisher that tries again by itself is left to it", place.isNoPublisher, leftToIt},
	)
}

func (p place) isNoPublisher() string {
	if p.Name == p.Network.Name {
		return p.label() + " is no publisher that hands posts on"
	}
	return ""
}

// leftToIt: while a publisher is still at it, neither a look-up nor an attempt that a
// person asks for makes a second post, and what it does in the end counts once.
func leftToIt(t *testing.T, p place) {
	w, c := accepted(t, p)
	w.fault(sim.Fault{Kind: sim.AsyncPending})
	for range 12 {
		c.reconcile(t.Context())
		c.wantState(t, unknown)
	}
	for range 3 {
		c.state = ready // somebody took it for lost
		c.attempt(t.Context())
		c.wantState(t, unknown)
	}
	w.sim.ClearFaults()
	c.run(t.Context())
	c.wantState(t, published)
	w.wantPublic(1)
	if n := len(w.steps(sim.Commit)); n != 1 {
		t.Errorf("committed %d times", n)
	}
}

// accepted is a courier whose commit went well.
func accepted(t *testing.T, p place) (*world, *courier) {
	t.Helper()
	w := newWorld(t, p)
	c := newCourier(w, w.job(p.accepts))
	r, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f := fault.Of(c.commit(t.Context(), r)); f == nil || f.Kind != fault.Unknown || !sentence(f.Say) {
		t.Errorf("accepted and not decided: %v", f)
	}
	return w, c
}
