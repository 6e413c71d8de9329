package conform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/sim"
)

// blow is one way to be interrupted, at one place of a story: the n-th call or
// the n-th save of a handle.
type blow struct {
	name  string
	saves bool // counts saves, not calls
	land  func(w *world, c *courier, n int)
}

var errGone = errors.New("the database is away")

// blows: what may happen between any two calls.
var blows = []blow{
	{"crash: killed after any call", false, func(w *world, c *courier, n int) { c.job.Trail = &killAfter{w, n} }},
	{"crash: any answer lost", false, func(w *world, _ *courier, n int) { w.cutAt(n, unheard) }},
	{"crash: any call lost", false, func(w *world, _ *courier, n int) { w.cutAt(n, never) }},
	{"crash: killed before any save", true, func(_ *world, c *courier, n int) {
		c.kept.at(n, func(func()) error { panic(killed{}) })
	}},
	{"crash: killed after any save", true, func(_ *world, c *courier, n int) {
		c.kept.at(n, func(save func()) error { save(); panic(killed{}) })
	}},
	{"crash: any save fails", true, func(_ *world, c *courier, n int) {
		c.kept.at(n, func(func()) error { return errGone })
	}},
}

// cutAt cuts the n-th request from now, once.
func (w *world) cutAt(n int, what cut) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = func(seen int) cut {
		if seen == n {
			return what
		}
		return through
	}
}

// at puts do in the place of the n-th save.
func (k *kept) at(n int, do func(save func()) error) {
	k.hook = func(_, _ string, save func()) error {
		if n--; n == 0 {
			return do(save)
		}
		save()
		return nil
	}
}

func TestACrashBetweenAnyTwoCallsNeverPublishesTwice(t *testing.T) {
	t.Parallel()
	for _, b := range blows {
		everywhere(t, check{b.name, nil, func(t *testing.T, p place) {
			landed := 0
			for _, rule := range p.Formats {
				calls, saves := measure(t, p, rule.Format)
				for n := 1; n <= map[bool]int{false: calls, true: saves}[b.saves]; n++ {
					strike(t, p, rule.Format, b, n)
					landed++
				}
			}
			if landed == 0 && !b.saves {
				t.Error("nothing was ever called")
			}
		}})
	}
	everywhere(t, check{"crash: a line that breaks at random", nil, badLine})
}

// story is a post of a format with everything that can follow it.
func story(w *world, p place, f network.Format) networks.Job {
	post := p.post(w, f)
	if rule, _ := p.Rule(f); rule.Comment {
		post.FirstComment = remark
	}
	return w.jobOf(post)
}

// measure counts the calls and the saves of a story without a blow.
func measure(t *testing.T, p place, f network.Format) (calls, saves int) {
	t.Helper()
	w := newWorld(t, p)
	c := newCourier(w, story(w, p, f))
	c.kept.hook = func(_, _ string, save func()) error { saves++; save(); return nil }
	c.run(t.Context())
	c.wantState(t, published)
	if err := c.follow(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	return len(w.evidence()), saves
}

// strike lets a blow land and looks where the story ends: published once, with
// its comment once; or, where a look-up proves little, honestly with a person.
func strike(t *testing.T, p place, f network.Format, b blow, n int) {
	t.Helper()
	w := newWorld(t, p)
	c := newCourier(w, story(w, p, f))
	b.land(w, c, n)
	c.run(t.Context())
	where := fmt.Sprintf("%s at %d", f, n)
	switch posts := w.public(); {
	case c.state == published && len(posts) == 1:
	case c.state == manual && p.LookUp != network.Proof && !p.Key && len(posts) <= 1:
		return
	default:
		t.Errorf("%s: ended %s with %d posts (%v, %+v)\n%s", where, c.state, len(posts), c.last, c.found, w.story())
		return
	}
	c.follow(t.Context(), 3)
	if err := c.follow(t.Context(), 1); err != nil {
		t.Errorf("%s: what follows does not end: %v\n%s", where, err, w.story())
	}
	posts := w.public()
	if want := c.job.Post.FirstComment != "" && (p.takesNoComment() == "" || p.together); len(posts) != 1 || (len(posts[0].Replies) == 1) != want || len(posts[0].Replies) > 1 {
		t.Errorf("%s: %d posts, comments %+v\n%s", where, len(posts), posts[0].Replies, w.story())
	}
	w.wantQuiet(t, c.job)
}

// story is what the simulator heard, for a reader of a failure.
func (w *world) story() (text string) {
	for _, c := range w.sim.Calls(w.place.Name, "") {
		text += fmt.Sprintf("  %s %s %s %d %s\n", c.Step, c.Method, c.Path, c.Status, c.Outcome)
	}
	return text
}

// badLine loses one call in six and one answer in six, for good seeds and bad.
func badLine(t *testing.T, p place) {
	for seed := range uint64(12) {
		for _, rule := range p.Formats {
			w := newWorld(t, p)
			luck := rand.New(rand.NewPCG(seed, 7))
			w.cut = func(int) cut {
				return []cut{through, never, through, through, unheard, through}[luck.IntN(6)]
			}
			c := newCourier(w, story(w, p, rule.Format))
			c.run(t.Context())
			c.follow(t.Context(), 8)
			posts := w.public()
			comments := 0
			for _, post := range posts {
				comments += len(post.Replies)
			}
			if honest := c.state == manual || c.state == failed; len(posts) > 1 || comments > 1 || c.state == published && len(posts) != 1 || c.state != published && !honest {
				t.Errorf("seed %d, %s: ended %s with %d posts and %d comments\n%s", seed, rule.Format, c.state, len(posts), comments, w.story())
			}
		}
	}
}

func TestTheClientKeyIsTheSameOverAllAttempts(t *testing.T) {
	t.Parallel()
	everywhere(t, check{"client key: the same over attempts and processes", nil, func(t *testing.T, p place) {
		w := newWorld(t, p)
		c := newCourier(w, w.job(p.simple()))
		w.fault(sim.Fault{Kind: sim.Refuse, Step: sim.Commit, Status: 503, Times: 3})
		for c.state != published && c.claims < 8 {
			c.adapter = p.make(w.env())
			c.attempt(t.Context())
			for c.state == unknown {
				c.reconcile(t.Context())
			}
		}
		c.wantState(t, published)
		w.wantPublic(1)
		keys := map[string]bool{}
		for _, call := range w.steps(sim.Commit) {
			keys[call.Key] = true
		}
		if len(w.steps(sim.Commit)) != 4 || len(keys) != 1 || keys[""] == p.Key {
			t.Errorf("keys %v over %d commits; the network takes one: %t", keys, len(w.steps(sim.Commit)), p.Key)
		}
	}})
	for _, mode := range []string{"honour", "ignore", "race"} {
		everywhere(t, check{"client key: a server that would " + mode + " it", place.takesNoKeys, func(t *testing.T, p place) {
			w := newWorld(t, p)
			w.sim.Turn(func(k *sim.Knobs) { k.Keys = mode })
			c := uncertain(t, w, w.job(p.simple()))
			finish(t, c, "")
		}})
	}
}

func (p place) takesNoKeys() string {
	switch {
	case !p.Key:
		return p.label() + " takes no client key (catalogue: Key)"
	case p.LookUp == network.NoLook:
		return p.label() + "'s receiver knows repeats for good: that is its contract"
	}
	return ""
}
