package conform

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/sim"
)

// trial is one way to fail at one step, and what has to become of it. The class
// is the same for every network but those that but names; "" is success.
type trial struct {
	step  sim.Step
	fault sim.Fault
	want  fault.Kind
	wait  time.Duration // that the fault has to carry
	made  int           // posts the public sees right after
	but   map[network.Name]fault.Kind
}

func (t trial) name() string {
	name := fmt.Sprintf("%s: %s", t.step, t.fault.Kind)
	if t.fault.Status != 0 {
		name += fmt.Sprintf(" %d", t.fault.Status)
	}
	if t.fault.Body != "" {
		name += " html"
	}
	return name
}

func (t trial) of(n network.Name) fault.Kind {
	if kind, other := t.but[n]; other {
		return kind
	}
	return t.want
}

const (
	html = "<html><head><title>Attention Required!</title></head><body>nginx</body></html>"
	long = 17 * time.Minute
)

// commits: what is documented is what it says, the rest is unknown (DESIGN 3).
var commits = []trial{
	{fault: sim.Fault{Kind: sim.Refuse}, want: fault.Validation},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 408, Body: html}, want: fault.Unknown},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 429}, want: fault.RateLimited},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 500}, want: fault.Unknown},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 502, Body: html}, want: fault.Unknown},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 503}, want: fault.Unknown},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 504, Body: html}, want: fault.Unknown},
	{fault: sim.Fault{Kind: sim.StoreThenFail}, want: fault.Unknown, made: 1},
	{fault: sim.Fault{Kind: sim.StoreThenFail, Status: 502, Body: html}, want: fault.Unknown, made: 1},
	{fault: sim.Fault{Kind: sim.StoreThenFail, Status: 503}, want: fault.Unknown, made: 1},
	{fault: sim.Fault{Kind: sim.StoreThenFail, Status: 504, Body: html}, want: fault.Unknown, made: 1},
	{fault: sim.Fault{Kind: sim.StoreThenClose}, want: fault.Unknown, made: 1},
	{fault: sim.Fault{Kind: sim.CloseBefore}, want: fault.Unknown},
	{fault: sim.Fault{Kind: sim.Stall}, want: fault.Unknown, made: 1},
	// Any 2xx of a receiver means done (networks-b 14.2).
	{fault: sim.Fault{Kind: sim.StoreThenGarbage}, want: fault.Unknown, made: 1, but: map[network.Name]fault.Kind{network.Webhook: ""}},
	{fault: sim.Fault{Kind: sim.RateLimit, Delay: long}, want: fault.RateLimited, wait: long},
	{fault: sim.Fault{Kind: sim.ExpiredToken}, want: fault.Auth},
	{fault: sim.Fault{Kind: sim.MissingPermission}, want: fault.Permission},
	{fault: sim.Fault{Kind: sim.Invalid}, want: fault.Validation},
}

// prepares: nothing is public yet, so what is not a refusal is tried again.
var prepares = []trial{
	{fault: sim.Fault{Kind: sim.Refuse}, want: fault.Validation},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 429}, want: fault.RateLimited},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 500}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 503, Body: html}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenFail}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenFail, Status: 502, Body: html}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenClose}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.CloseBefore}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.Stall}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenGarbage}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.RateLimit, Delay: long}, want: fault.RateLimited, wait: long},
	{fault: sim.Fault{Kind: sim.ExpiredToken}, want: fault.Auth},
	{fault: sim.Fault{Kind: sim.MissingPermission}, want: fault.Permission},
	{fault: sim.Fault{Kind: sim.Invalid}, want: fault.Validation},
}

// asyncs: an object that is processed for a while. A Facebook video can be
// published as soon as it is uploaded (networks-a 1.2), and one that failed is
// uploaded again.
var asyncs = []trial{
	{fault: sim.Fault{Kind: sim.AsyncPending}, want: fault.Waiting, but: map[network.Name]fault.Kind{network.Facebook: ""}},
	{fault: sim.Fault{Kind: sim.AsyncError}, want: fault.Validation, but: map[network.Name]fault.Kind{network.Facebook: fault.Transient}},
}

// looks: a look-up that fails says nothing.
var looks = prepares

func (p place) preparesNothing() string {
	if p.prepared == "" {
		return p.label() + " has no Prepare call in any format: nothing can fail there"
	}
	return ""
}

func (p place) hasNoSlowObject() string {
	if p.slow == "" && p.accepts != "" {
		return p.label() + " works on a post after the commit: see what is accepted"
	}
	if p.slow == "" {
		return p.label() + " processes nothing that could be waited for"
	}
	return ""
}

func (p place) cannotBeAsked() string {
	switch {
	case p.LookUp == network.NoLook && p.Key:
		return p.label() + " has no look-up (catalogue: LookUp none): a repeated delivery is known by its id"
	case p.LookUp == network.NoLook:
		return p.label() + " has no look-up (catalogue: LookUp none): a person looks"
	}
	return ""
}

func (p place) cannotRenew() string {
	if _, ok := p.make(networks.Env{}).(networks.Refresher); !ok {
		return p.label() + " has no tokens that can be renewed without a person"
	}
	return ""
}

func (p place) takesNoComment() string {
	if p.commented() == "" {
		return p.label() + " takes no first comment (catalogue: Comment)"
	}
	if _, ok := p.make(networks.Env{}).(networks.Follower); !ok || p.together {
		return p.label() + " gets the first comment with the post, in the commit call"
	}
	return ""
}

func TestEachFaultAtEachStep(t *testing.T) {
	t.Parallel()
	for _, list := range []struct {
		step sim.Step
		why  func(place) string
		of   []trial
		run  func(*testing.T, place, trial)
	}{
		{sim.Prepare, place.preparesNothing, prepares, func(t *testing.T, p place, tr trial) { tryPrepare(t, p, p.prepared, tr) }},
		{sim.Prepare, place.hasNoSlowObject, asyncs, func(t *testing.T, p place, tr trial) { tryPrepare(t, p, p.slow, tr) }},
		{sim.Commit, nil, commits, tryCommit},
		{sim.Find, place.cannotBeAsked, looks, tryFind},
		{sim.Token, place.cannotRenew, renewals, tryToken},
		{sim.FollowUp, place.takesNoComment, follows, tryFollow},
	} {
		for _, tr := range list.of {
			tr.step = list.step
			everywhere(t, check{tr.name(), list.why, func(t *testing.T, p place) { list.run(t, p, tr) }})
		}
	}
}

// heard is the context of a call that the fault may leave without an answer.
func (tr trial) heard(ctx context.Context, w *world) context.Context {
	if tr.fault.Kind == sim.Stall {
		return w.untilHeard(ctx, tr.step)
	}
	return ctx
}

// judge checks the class, the wait and the sentence of an error.
func (tr trial) judge(t *testing.T, p place, err error) {
	t.Helper()
	f, want := fault.Of(err), tr.of(p.Name)
	switch {
	case f == nil && want == "":
	case f == nil || want == "" || f.Kind != want:
		t.Errorf("got %v, want %q", err, want)
	case tr.wait > 0 && f.Wait != tr.wait:
		t.Errorf("waits %v, want %v", f.Wait, tr.wait)
	case f.Code == "" || f.Code == "unsorted" || !sentence(f.Say):
		t.Errorf("code %q says %q", f.Code, f.Say)
	case f.Kind == fault.Waiting && f.Wait <= 0:
		t.Errorf("asks again without a wait")
	}
}

// finish runs the story to its end, with a person's help where one is needed,
// and counts.
func finish(t *testing.T, c *courier, last fault.Kind) {
	t.Helper()
	c.w.sim.ClearFaults()
	c.run(t.Context())
	if last == fault.Auth {
		c.wantState(t, reconnect)
	}
	if c.state == reconnect {
		c.state = ready
		c.run(t.Context())
	}
	if last == fault.Permission || last == fault.Validation {
		c.wantState(t, failed)
		c.w.wantPublic(0)
		c.state = ready // retried by a person
		c.run(t.Context())
	}
	if slices.Contains(c.w.place.unproved, c.job.Post.Format) {
		c.person(t.Context())
	}
	c.wantState(t, published)
	c.w.wantPublic(1)
	c.w.wantQuiet(t, c.job)
}

// person looks at the network where nothing else tells, and says what is there.
func (c *courier) person(ctx context.Context) {
	if c.state != manual {
		return
	}
	if there := c.w.public(); len(there) == 1 {
		c.state, c.receipt = published, networks.Receipt{ExternalID: there[0].ID}
		return
	}
	c.state = ready
	c.run(ctx)
}

func tryPrepare(t *testing.T, p place, format network.Format, tr trial) {
	w := newWorld(t, p)
	c := newCourier(w, w.job(format))
	tr.fault.Step, tr.fault.Times = sim.Prepare, 1
	w.fault(tr.fault)
	r, err := c.prepare(tr.heard(t.Context(), w))
	for tr.fault.Kind == sim.AsyncError && err != nil && fault.Of(err).Kind == fault.Waiting {
		c.settle(fault.Of(err)) // not looked at yet
		r, err = c.prepare(t.Context())
	}
	tr.judge(t, p, err)
	if err == nil {
		c.commit(t.Context(), r)
	} else {
		w.wantPublic(0)
		c.settle(fault.Of(err))
	}
	finish(t, c, tr.of(p.Name))
}

func tryCommit(t *testing.T, p place, tr trial) {
	w := newWorld(t, p)
	c := newCourier(w, w.job(p.simple()))
	r, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr.fault.Step, tr.fault.Times = sim.Commit, 1
	w.fault(tr.fault)
	err = c.commit(tr.heard(t.Context(), w), r)
	tr.judge(t, p, err)
	w.wantPublic(tr.made)
	if tr.made == 1 && !w.steps(sim.Commit)[0].Public {
		t.Error("the simulator did not write down that the call made a post")
	}
	finish(t, c, tr.of(p.Name))
}

// uncertain is a courier whose commit was done and never answered.
func uncertain(t *testing.T, w *world, job networks.Job) *courier {
	t.Helper()
	c := newCourier(w, job)
	r, err := c.prepare(t.Context())
	for err != nil {
		if f := fault.Of(err); f.Kind != fault.Waiting {
			t.Fatal(err)
		}
		c.settle(fault.Of(err))
		r, err = c.prepare(t.Context())
	}
	w.fault(sim.Fault{Kind: sim.StoreThenClose, Step: sim.Commit, Times: 1})
	c.commit(t.Context(), r)
	c.wantState(t, unknown)
	return c
}

func tryFind(t *testing.T, p place, tr trial) {
	w := newWorld(t, p)
	c := uncertain(t, w, w.job(p.simple()))
	tr.fault.Step, tr.fault.Times = sim.Find, 1
	w.fault(tr.fault)
	f, err := c.find(tr.heard(t.Context(), w))
	tr.judge(t, p, err)
	if err != nil && f.Verdict != "" {
		t.Errorf("a look-up that failed says %s", f.Verdict)
	}
	finish(t, c, "")
}

// renewals: a refusal ends the connection only if it is about the token.
var renewals = []trial{
	{fault: sim.Fault{Kind: sim.Refuse, Status: 500}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 503, Body: html}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenFail}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenClose}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.CloseBefore}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.Stall}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenGarbage}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.RateLimit, Delay: long}, want: fault.RateLimited, wait: long},
	{fault: sim.Fault{Kind: sim.ExpiredToken}, want: fault.Auth},
	{fault: sim.Fault{Kind: sim.MissingPermission}, want: fault.Permission},
}

func tryToken(t *testing.T, p place, tr trial) {
	w := newWorld(t, p)
	account := p.account()
	account.Settings = p.renewed
	tr.fault.Step, tr.fault.Times = sim.Token, 1
	w.fault(tr.fault)
	_, err := w.adapter.(networks.Refresher).Refresh(tr.heard(t.Context(), w), account)
	tr.judge(t, p, err)
	w.hear(fault.Of(err))
	w.sim.ClearFaults()
	if p.rotates && tr.fault.Kind.Stores() { // the token was spent, and the new one never came
		if _, err := w.adapter.(networks.Refresher).Refresh(t.Context(), account); fault.Of(err) == nil || fault.Of(err).Kind != fault.Auth {
			t.Errorf("a spent token: %v, want auth", err)
		}
		return
	}
	got, err := w.adapter.(networks.Refresher).Refresh(t.Context(), account)
	if err != nil || got.Access.Empty() || got.Access.Reveal() == token || !got.Expires.After(w.clock()) {
		t.Fatalf("renewed: %+v, %v", got, err)
	}
	job := w.job(p.simple())
	job.Account.Settings, job.Account.Token = p.renewed, got.Access
	finish(t, newCourier(w, job), "")
}

// follows: whatever fails after the commit, the post stays one and so does its
// comment.
var follows = []trial{
	{fault: sim.Fault{Kind: sim.Refuse}, want: fault.Validation},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 500}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.Refuse, Status: 429}, want: fault.RateLimited},
	{fault: sim.Fault{Kind: sim.StoreThenFail}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenFail, Status: 502, Body: html}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenClose}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.CloseBefore}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.Stall}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.StoreThenGarbage}, want: fault.Transient},
	{fault: sim.Fault{Kind: sim.RateLimit, Delay: long}, want: fault.RateLimited, wait: long},
	{fault: sim.Fault{Kind: sim.ExpiredToken}, want: fault.Auth},
	{fault: sim.Fault{Kind: sim.MissingPermission}, want: fault.Permission},
	{fault: sim.Fault{Kind: sim.Invalid}, want: fault.Validation},
}

func tryFollow(t *testing.T, p place, tr trial) {
	w := newWorld(t, p)
	post := p.post(w, p.commented())
	post.FirstComment = remark
	c := newCourier(w, w.jobOf(post))
	c.run(t.Context())
	c.wantState(t, published)
	tr.fault.Step, tr.fault.Times = sim.FollowUp, 1
	w.fault(tr.fault)
	tr.judge(t, p, c.follow(tr.heard(t.Context(), w), 1))
	w.sim.ClearFaults()
	if err := c.follow(t.Context(), 3); err != nil {
		t.Errorf("Follow does not come to an end: %v", err)
	}
	w.wantComment(t)
	w.wantPublic(1)
	w.wantQuiet(t, c.job)
}

// remark is the first comment of the suite's posts.
const remark = "Recipe in the bio, and the oven is hot"

// wantComment checks that there is one comment, and which.
func (w *world) wantComment(t *testing.T) {
	t.Helper()
	posts := w.public()
	if len(posts) != 1 || len(posts[0].Replies) != 1 || posts[0].Replies[0].Text != remark {
		t.Errorf("want one comment under one post, got %+v", posts)
	}
}

// pathSteps are the steps whose evidence the suite expects to be named.
var pathSteps = []httpx.Step{httpx.Prepare, httpx.Commit, httpx.Find, httpx.FollowUp, httpx.Token, httpx.Check}
