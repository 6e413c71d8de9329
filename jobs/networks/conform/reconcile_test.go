package conform

import (
	"slices"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

// lost is a courier at the moment after a commit without an answer; done says
// whether the network did it all the same.
func lost(t *testing.T, p place, done bool, before ...func(w *world, c *courier)) (*world, *courier) {
	t.Helper()
	w := newWorld(t, p)
	c := newCourier(w, w.job(p.simple()))
	for _, f := range before {
		f(w, c)
	}
	r, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kind := sim.CloseBefore
	if done {
		kind = sim.StoreThenClose
	}
	w.fault(sim.Fault{Kind: kind, Step: sim.Commit, Times: 1})
	c.commit(t.Context(), r)
	c.wantState(t, unknown)
	return w, c
}

// stranger puts a post with the same words on the account.
func stranger(w *world, c *courier) string {
	return w.sim.AddStranger(w.place.Name, accountID, c.job.Post.Text)
}

// wantFinding checks one look.
func (c *courier) wantFinding(t *testing.T, want networks.Verdict) networks.Finding {
	t.Helper()
	f, err := c.find(t.Context())
	if err != nil || f.Verdict != want || !sentence(f.Say) {
		t.Errorf("got %+v, %v; want %s", f, err, want)
	}
	if (f.Verdict == networks.Found) != (f.Receipt.ExternalID != "") {
		t.Errorf("%s with receipt %+v", f.Verdict, f.Receipt)
	}
	return f
}

// listsNothing: what is asked for by its own key does not wait for a list.
func (p place) listsNothing() string {
	if p.knowsItsOwn() {
		return p.label() + " is asked for the post by the key that Herald chose, and reads no list"
	}
	if p.proves {
		return p.label() + " tells what became of the upload itself, and no list is read"
	}
	return p.cannotBeAsked()
}

// provesNothing: neither a list nor a key tells what became of a post, so a person
// is asked, always.
func (p place) provesNothing() string {
	if slices.Contains(p.unproved, p.simple()) {
		if no := p.cannotBeAsked(); no != "" {
			return no
		}
		return p.label() + "'s list proves nothing by leaving a post out, so a person is asked"
	}
	return ""
}

// leavesOpen: there is nothing to ask, or nothing that absence proves.
func (p place) leavesOpen() string {
	if no := p.cannotBeAsked(); no != "" {
		return no
	}
	return p.provesNothing()
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"reconcile: done, so found", place.cannotBeAsked, func(t *testing.T, p place) {
			w, c := lost(t, p, true)
			f := c.wantFinding(t, networks.Found)
			if f.Receipt.ExternalID != w.public()[0].ID {
				t.Errorf("found %s, and the public sees %s", f.Receipt.ExternalID, w.public()[0].ID)
			}
			finish(t, c, "")
		}},
		check{"reconcile: not done, so absent, and done again", place.provesNothing, func(t *testing.T, p place) {
			w, c := lost(t, p, false)
			c.wantFinding(t, networks.Absent)
			c.run(t.Context())
			if looked := len(w.steps(sim.Find)); p.LookUp != network.NoLook && looked < 2 {
				t.Errorf("absent after %d look-ups, want two", looked)
			}
			finish(t, c, "")
		}},
		check{"reconcile: a list that lags", place.listsNothing, func(t *testing.T, p place) {
			w, c := lost(t, p, true)
			w.fault(sim.Fault{Kind: sim.ListLag, Delay: p.Settle - 10*time.Second})
			if f, err := c.find(t.Context()); f.Verdict == networks.Found || err != nil && fault.Of(err).Kind != fault.Transient {
				t.Errorf("while nothing is listed: %+v, %v", f, err)
			}
			c.run(t.Context())
			c.wantState(t, published)
			w.wantPublic(1)
		}},
		check{"reconcile: a stranger's identical post beside ours", place.cannotBeAsked, reconcileStranger},
		check{"reconcile: a stranger's identical post alone", place.cannotBeAsked, reconcileOnlyStranger},
		check{"reconcile: what is tied to another target", place.leavesOpen, reconcileTaken},
		check{"reconcile: outside the window", place.leavesOpen, func(t *testing.T, p place) {
			w, c := lost(t, p, false, func(w *world, c *courier) {
				stranger(w, c)
				w.pass(10 * time.Minute)
			})
			c.wantFinding(t, networks.Absent)
			finish(t, c, "")
			if n := len(w.sim.Posts(p.Name, accountID)); n != 2 {
				t.Errorf("%d posts, want the old one and ours", n)
			}
		}},
		check{"reconcile: a window of several pages", place.cannotBeAsked, reconcilePages},
		check{"reconcile: each format", place.cannotBeAsked, func(t *testing.T, p place) {
			p.formats(t, func(t *testing.T, f network.Format) { reconcileFormat(t, p, f) })
		}},
		check{"reconcile: taken back by the network", nil, reconcileRejected},
	)
}

// reconcileStranger: somebody wrote the same words by hand. What tells the two
// apart is used (app, container, files); where nothing does, a person is asked.
func reconcileStranger(t *testing.T, p place) {
	w, c := lost(t, p, true)
	theirs := stranger(w, c)
	f, err := c.find(t.Context())
	switch {
	case err != nil:
		t.Fatal(err)
	case f.Verdict == networks.Found && f.Receipt.ExternalID != w.public()[0].ID:
		t.Errorf("took the stranger's %s for ours: %+v", theirs, f)
	case f.Verdict == networks.Absent:
		t.Errorf("two such posts are there: %+v", f)
	}
	c.run(t.Context())
	w.wantPublic(1)
	if c.state != published && c.state != manual {
		t.Errorf("ended %s", c.state)
	}
}

// reconcileOnlyStranger: ours was never made. If the network tells what became
// of our upload, the stranger's may not be taken for ours, and ours may go out; if
// nothing tells them apart, the words count (DESIGN: else by fingerprint), and
// they are live. In no case is there a second post of ours, or an end that nobody
// hears of.
func reconcileOnlyStranger(t *testing.T, p place) {
	w, c := lost(t, p, false)
	theirs := stranger(w, c)
	c.run(t.Context())
	if p.knowsItsOwn() { // so ours is known not to be there, and is made
		c.wantState(t, published)
		w.wantPublic(1)
		return
	}
	ours := w.public()
	switch as := c.receipt.ExternalID; {
	case p.tells && c.state == published && as == theirs:
		t.Errorf("the stranger's post counts as ours: %+v", c.found)
	case c.state == published && as != theirs && (!p.tells || len(ours) != 1 || as != ours[0].ID):
		t.Errorf("published as %s, and ours are %+v", as, ours)
	case len(ours) > 1 || len(ours) == 1 && c.state != published:
		t.Errorf("ended %s with %+v", c.state, ours)
	case c.state != published && c.state != manual:
		t.Errorf("ended %s", c.state)
	}
}

func reconcileTaken(t *testing.T, p place) {
	w, c := lost(t, p, false)
	c.taken = []string{stranger(w, c)}
	c.wantFinding(t, networks.Absent)
	finish(t, c, "")
	w, c = lost(t, p, true)
	c.taken = []string{stranger(w, c)}
	if f := c.wantFinding(t, networks.Found); f.Receipt.ExternalID != w.public()[0].ID {
		t.Errorf("found %s", f.Receipt.ExternalID)
	}
}

func reconcilePages(t *testing.T, p place) {
	w, c := lost(t, p, true)
	for range 60 {
		w.sim.AddStranger(p.Name, accountID, "another post of a busy day")
	}
	if f := c.wantFinding(t, networks.Found); f.Receipt.ExternalID != w.public()[0].ID {
		t.Errorf("found %s", f.Receipt.ExternalID)
	}
}

// reconcileFormat: every format ends published once after an answer that was
// lost, or is handed to a person, never both and never twice.
func reconcileFormat(t *testing.T, p place, f network.Format) {
	w := newWorld(t, p)
	c := uncertain(t, w, w.job(f))
	c.run(t.Context())
	if slices.Contains(p.unproved, f) && !p.shows {
		c.wantState(t, manual)
	} else {
		c.wantState(t, published)
	}
	w.wantPublic(1)
	w.wantQuiet(t, c.job)
}

// reconcileRejected: the network took the post and took it away again. It was
// published, and a look-up may not say that it still stands.
func reconcileRejected(t *testing.T, p place) {
	w := newWorld(t, p)
	c := newCourier(w, w.job(p.simple()))
	w.fault(sim.Fault{Kind: sim.LateReject, Delay: time.Minute, Times: 1})
	c.run(t.Context())
	c.wantState(t, published)
	w.wantPublic(1)
	w.pass(2 * time.Minute)
	w.wantPublic(0)
	if f, err := c.find(t.Context()); err == nil && f.Verdict == networks.Found {
		t.Errorf("found what is gone: %+v", f)
	}
	if len(w.steps(sim.Commit)) != 1 {
		t.Error("it was published again")
	}
}
