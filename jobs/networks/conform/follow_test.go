package conform

import (
	"strings"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/sim"
)

func (p place) followsNothing() string {
	if _, ok := p.make(networks.Env{}).(networks.Follower); !ok {
		return p.label() + " has no Follow: whatever there is to know stands in the answer to the commit"
	}
	return ""
}

// lagging are the networks whose facts tell of a lag between a post and the
// first read of it (networks-a 1.2 and 2.6).
func (p place) readsAtOnce() string {
	switch p.Name {
	case network.Facebook, network.Instagram:
		return ""
	}
	return p.label() + " shows a post as soon as it is made"
}

func TestWhatFollowsAPost(t *testing.T) {
	t.Parallel()
	everywhere(t,
		check{"follow: first comment exactly once", nil, func(t *testing.T, p place) {
			p.formats(t, func(t *testing.T, f network.Format) { firstComment(t, p, f) })
		}},
		check{"follow: an address for people", place.followsNothing, func(t *testing.T, p place) {
			p.formats(t, func(t *testing.T, f network.Format) {
				w := newWorld(t, p)
				c := newCourier(w, w.job(f))
				c.run(t.Context())
				if err := c.follow(t.Context(), 1); err != nil || !strings.HasPrefix(c.receipt.Permalink, "http") {
					t.Errorf("address %q, %v", c.receipt.Permalink, err)
				}
			})
		}},
		check{"follow: a post that cannot be read yet", place.readsAtOnce, readLag},
	)
}

// firstComment: the comment is there once, though Follow runs three times; a
// format without comments gets none.
func firstComment(t *testing.T, p place, f network.Format) {
	rule, _ := p.Rule(f)
	w := newWorld(t, p)
	post := p.post(w, f)
	post.FirstComment = remark
	if blocked := p.blocked(post) != ""; blocked == rule.Comment {
		t.Errorf("the catalogue takes a comment: %t, and refuses it: %t", rule.Comment, blocked)
	}
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	c.wantState(t, published)
	if err := c.follow(t.Context(), 3); err != nil {
		t.Error(err)
	}
	switch {
	case p.together && rule.Comment:
		w.wantComment(t)
	case p.commented() != "" && p.takesNoComment() != "":
		if body := w.lastBody(); strings.Count(body, remark) != 1 {
			t.Errorf("the delivery holds the comment %d times", strings.Count(body, remark))
		}
	case rule.Comment:
		w.wantComment(t)
	case len(w.public()[0].Replies) != 0:
		t.Errorf("%s carries no comment, and has one", f)
	}
	w.wantPublic(1)
	w.wantQuiet(t, c.job)
}

// readLag: for a while the network does not know its own post. Neither address
// nor comment is given up, and the comment is not doubled.
func readLag(t *testing.T, p place) {
	p.formats(t, func(t *testing.T, f network.Format) {
		w := newWorld(t, p)
		w.sim.Turn(func(k *sim.Knobs) { k.ReadLag = 90 * time.Second })
		post := p.post(w, f)
		rule, _ := p.Rule(f)
		if rule.Comment {
			post.FirstComment = remark
		}
		c := newCourier(w, w.jobOf(post))
		c.run(t.Context())
		c.wantState(t, published)
		if err := c.follow(t.Context(), 1); err != nil && fault.Of(err).Kind != fault.Transient {
			t.Errorf("while it cannot be read: %v, want transient", err)
		}
		w.pass(2 * time.Minute)
		if err := c.follow(t.Context(), 2); err != nil || c.receipt.Permalink == "" {
			t.Errorf("afterwards: %q, %v", c.receipt.Permalink, err)
		}
		if rule.Comment {
			w.wantComment(t)
		}
		w.wantPublic(1)
	})
}
