package conform

import (
	"slices"
	"strings"
	"testing"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/sim"
)

// posts of the suite's thread.
var chain = []string{"One loaf is mixed", "The second one rises", "Three are in the oven"}

func (p place) hasNoThreads() string {
	if p.Thread == 0 {
		return p.label() + " has no threads of posts (catalogue: Thread)"
	}
	return ""
}

// stepsInNoThread: what happens between two posts of a thread cannot happen here.
func (p place) stepsInNoThread() string {
	if p.threadWhole {
		return p.label() + " takes a thread whole, in the call that makes the post"
	}
	return p.hasNoThreads()
}

func (p place) threadsInSteps() string {
	if p.Thread > 0 && !p.threadWhole {
		return p.label() + " takes a thread post by post"
	}
	return p.hasNoThreads()
}

// wholeThread: one call makes all posts of a thread, and none behind it makes more.
// A lost answer ends as it does for any other post.
func wholeThread(t *testing.T, p place) {
	for _, rule := range p.Formats {
		w := newWorld(t, p)
		job := p.thread(w, rule.Format)
		job.Post.FirstComment = ""
		if no := p.blocked(job.Post); no != "" {
			t.Fatalf("the catalogue refuses it: %s", no)
		}
		c := newCourier(w, job)
		c.run(t.Context())
		c.wantState(t, published)
		c.unroll(t, string(rule.Format))
		var got []string
		for _, post := range w.public() {
			got = append(got, post.Text)
			for _, r := range post.Replies {
				got = append(got, r.Text)
			}
		}
		if !slices.Equal(got, chain) {
			t.Errorf("%s: the public reads %q, want %q\n%s", rule.Format, got, chain, w.story())
		}
	}
}

// longThread: as many posts as a thread may have, and one more.
func longThread(t *testing.T, p place) {
	for over := range 2 {
		w := newWorld(t, p)
		job := p.thread(w, p.simple())
		job.Post.FirstComment = ""
		job.Post.Text = strings.TrimSuffix(strings.Repeat("Bread\n---\n", p.Thread+over), "\n---\n")
		if over == 0 {
			wantTaken(t, w, job.Post)
			continue
		}
		wantForbidden(t, w, job.Post, network.ThreadTooLong)
	}
}

// thread is a job of several posts, with a comment behind them.
func (p place) thread(w *world, f network.Format) networks.Job {
	post := p.post(w, f)
	post.Text = strings.Join(chain, "\n---\n")
	post.Options[network.OptThread] = "true"
	post.FirstComment = remark
	return w.jobOf(post)
}

// wantChain checks that the public sees every post of the thread once and in
// order.
func (c *courier) wantChain(t *testing.T, where string) {
	t.Helper()
	posts := c.w.public()
	if len(posts) != 1 {
		t.Errorf("%s: %d posts\n%s", where, len(posts), c.w.story())
		return
	}
	got := []string{posts[0].Text}
	for _, r := range posts[0].Replies {
		got = append(got, r.Text)
	}
	if want := append(slices.Clone(chain), remark); !slices.Equal(got, want) {
		t.Errorf("%s: the public reads %q, want %q\n%s", where, got, want, c.w.story())
	}
}

// unroll follows until there is nothing left to do.
func (c *courier) unroll(t *testing.T, where string) {
	t.Helper()
	var err error
	for range 20 {
		if err = c.follow(t.Context(), 1); err == nil {
			break
		}
	}
	if again := c.follow(t.Context(), 2); err != nil || again != nil {
		t.Errorf("%s: what follows does not end: %v, %v\n%s", where, err, again, c.w.story())
	}
}

func TestThreads(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"thread: all of it in one call", place.threadsInSteps, wholeThread},
		check{"thread: as many posts as there may be", place.threadsInSteps, longThread},
		check{"thread: each post once, in order", place.stepsInNoThread, func(t *testing.T, p place) {
			for _, rule := range p.Formats {
				w := newWorld(t, p)
				c := newCourier(w, p.thread(w, rule.Format))
				if no := p.blocked(c.job.Post); no != "" {
					t.Fatalf("the catalogue refuses it: %s", no)
				}
				c.run(t.Context())
				c.wantState(t, published)
				if !c.receipt.More {
					t.Errorf("%s: the receipt does not say that there is more", rule.Format)
				}
				c.unroll(t, string(rule.Format))
				c.wantChain(t, string(rule.Format))
				w.wantQuiet(t, c.job)
			}
		}},
		check{"thread: the first answer lost, found, and gone on with", place.stepsInNoThread, func(t *testing.T, p place) {
			w := newWorld(t, p)
			c := uncertain(t, w, p.thread(w, p.simple()))
			c.run(t.Context())
			c.wantState(t, published)
			if !c.receipt.More {
				t.Error("the receipt of a look-up does not say that there is more")
			}
			c.unroll(t, "found")
			c.wantChain(t, "found")
		}},
		check{"thread: a refusal in the middle", place.stepsInNoThread, func(t *testing.T, p place) {
			for _, f := range []sim.Fault{{Kind: sim.Refuse, Status: 429}, {Kind: sim.Refuse, Status: 500}, {Kind: sim.StoreThenFail, Status: 502, Body: html}, {Kind: sim.StoreThenClose}, {Kind: sim.StoreThenGarbage}} {
				for after := range 4 {
					w := newWorld(t, p)
					c := newCourier(w, p.thread(w, p.simple()))
					c.run(t.Context())
					f.Step, f.Times, f.After = sim.FollowUp, 1, after
					w.fault(f)
					c.unroll(t, string(f.Kind))
					c.wantChain(t, string(f.Kind))
				}
			}
		}},
		check{"thread: a crash between any two calls", place.stepsInNoThread, crashInThread},
	)
}

func crashInThread(t *testing.T, p place) {
	count := func() (calls, saves int) {
		w := newWorld(t, p)
		c := newCourier(w, p.thread(w, p.simple()))
		c.kept.hook = func(_, _ string, save func()) error { saves++; save(); return nil }
		c.run(t.Context())
		c.unroll(t, "plain")
		return len(w.evidence()), saves
	}
	calls, saves := count()
	for _, b := range blows {
		most := calls
		if b.saves {
			most = saves
		}
		for n := 1; n <= most; n++ {
			w := newWorld(t, p)
			c := newCourier(w, p.thread(w, p.simple()))
			b.land(w, c, n)
			c.run(t.Context())
			if c.state == manual && p.LookUp == network.Weak {
				continue
			}
			c.wantState(t, published)
			c.unroll(t, b.name)
			c.wantChain(t, b.name)
		}
	}
}
