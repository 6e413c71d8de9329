package sim

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"herald/db/network"
)

// Step is where in a publish a call stands.
type Step string

// The steps. A fault usually names one of the first four.
const (
	Prepare  Step = "prepare"
	Commit   Step = "commit"
	Find     Step = "find"
	Token    Step = "token"
	FollowUp Step = "follow_up"
	Check    Step = "check"
)

// place is one simulated network on the engine.
type place struct {
	name  network.Name
	title string
	kinds kindSet // fault kinds that mean something here
	mux   *http.ServeMux
	first *http.ServeMux // hosts of their own that share our one address; asked before mux

	// enter sees every call before it is read; leave runs when it has been answered. No
	// is an answer that keeps it out.
	enter func(c *call) (leave func(), no *reply)
	// complain is the network's own way of saying a fault kind, or, for the
	// empty kind, an HTTP status. wait is what it asks the caller to wait.
	complain func(c *call, k Kind, status int, wait time.Duration) *reply
	// decorate adds the headers that every answer of the network has.
	decorate func(c *call, rep *reply)
	// stranger puts a post on an account that no API call made.
	stranger func(st *state, accountID, text string) *entry
}

// reply is what a network answers.
type reply struct {
	status int
	header http.Header
	kind   string // content type
	body   []byte
	delay  time.Duration
	cut    bool // close the connection instead
}

// call is one request on its way through a network.
type call struct {
	sim     *Sim
	st      *state
	place   *place
	w       http.ResponseWriter
	r       *http.Request
	now     time.Time
	id      string
	step    Step
	account *account
	who     string // the account as the request names it, if there is none
	params  params
	made    []*entry
	outcome string
	key     string // the client key, where it does not stand in a header
	spoke   bool   // a comment became public
}

// on routes a pattern of the network to h. step is what the call counts as
// until h says otherwise.
func (p *place) on(s *Sim, pattern string, step Step, h func(*call) *reply) {
	p.mux.HandleFunc(pattern, p.endpoint(s, step, h))
}

// onUpload routes a pattern that would clash with those of on.
func (p *place) onUpload(s *Sim, pattern string, h func(*call) *reply) {
	if p.first == nil {
		p.first = http.NewServeMux()
	}
	p.first.HandleFunc(pattern, p.endpoint(s, Prepare, h))
}

func (p *place) endpoint(s *Sim, step Step, h func(*call) *reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{
			sim: s, st: s.state.Load(), place: p, w: w, r: r, now: s.opts.Now(),
			id: strconv.FormatInt(s.next(), 36), step: step,
		}
		defer c.params.close()
		if p.enter != nil {
			leave, no := p.enter(c)
			defer leave()
			if no != nil {
				c.finish(no)
				return
			}
		}
		c.finish(h(c))
	}
}

// ServeHTTP answers one call, whose path begins behind the network's name.
func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.first != nil {
		if _, pattern := p.first.Handler(r); pattern != "" {
			p.first.ServeHTTP(w, r)
			return
		}
	}
	p.mux.ServeHTTP(w, r)
}

// do runs one step of a network on an account: what it stores, and what a fault
// makes of it. fn may store; it is not run if a fault says so.
func (c *call) do(step Step, a *account, fn func() *reply) *reply {
	c.step, c.account = step, a
	f := c.sim.faults.take(c, directKinds)
	if f == nil {
		return fn()
	}
	if f.Kind.Stores() {
		rep := fn()
		if rep.status >= 400 { // refused on its own merits: there is nothing to spoil
			c.sim.faults.giveBack(f)
			return rep
		}
		return c.spoil(f, rep)
	}
	return c.instead(f)
}

// instead answers without doing.
func (c *call) instead(f *Fault) *reply {
	c.outcome = string(f.Kind)
	switch f.Kind {
	case CloseBefore:
		return &reply{cut: true, delay: f.Delay}
	case Refuse:
		rep := c.place.complain(c, "", orStatus(f.Status, http.StatusBadRequest), f.Delay)
		return f.dress(rep, f.Delay)
	case RateLimit:
		wait := f.Delay
		if wait == 0 {
			wait = time.Minute
		}
		return f.dress(c.place.complain(c, RateLimit, 0, wait), 0)
	}
	return f.dress(c.place.complain(c, f.Kind, 0, 0), f.Delay)
}

// spoil turns the answer of something that was done into what the fault says.
func (c *call) spoil(f *Fault, rep *reply) *reply {
	c.outcome = string(f.Kind)
	switch f.Kind {
	case StoreThenClose:
		return &reply{cut: true, delay: f.Delay}
	case StoreThenFail:
		return f.dress(c.place.complain(c, "", orStatus(f.Status, http.StatusInternalServerError), 0), f.Delay)
	case StoreThenGarbage:
		page := []byte("<html><body><h1>One moment")
		return f.dress(&reply{status: http.StatusOK, kind: "text/html; charset=utf-8", body: page}, f.Delay)
	case LateReject:
		c.reject(c.now.Add(f.Delay))
		return f.dress(rep, 0)
	}
	delay := f.Delay
	if delay == 0 {
		delay = time.Minute
	}
	return f.dress(rep, delay)
}

// reject takes away at when whatever the call stored.
func (c *call) reject(when time.Time) {
	for _, e := range c.made {
		e.read(func() { e.gone = when })
	}
}

// publish stores a post of the call's account. The caller holds its lock.
func (c *call) publish(a *account, e *entry) {
	e.born, e.seq = c.now, c.sim.next()
	c.st.put(a, e)
	c.made = append(c.made, e)
}

// lag returns how old a post must be for the list that the call reads.
func (c *call) lag() time.Duration {
	f := c.sim.faults.take(c, listKinds)
	if f == nil {
		return 0
	}
	c.outcome = string(f.Kind)
	if f.Delay == 0 {
		return time.Minute
	}
	return f.Delay
}

// finish records the call, waits if told to, and answers.
func (c *call) finish(rep *reply) {
	if !rep.cut {
		c.place.decorate(c, rep)
	}
	c.record(rep)
	if !c.wait(rep.delay) || rep.cut {
		panic(http.ErrAbortHandler)
	}
	for name, values := range rep.header {
		c.w.Header()[name] = values
	}
	if rep.kind != "" {
		c.w.Header().Set("Content-Type", rep.kind)
	}
	c.w.WriteHeader(rep.status)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(rep.body)
	}
}

// wait lets d pass. It answers false if the caller went away.
func (c *call) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.st.over:
	case <-c.sim.faults.cleared():
	case <-c.r.Context().Done():
		return false
	}
	return true
}

// base returns the simulator's own address as the caller knows it.
func (c *call) base() string { return c.sim.base(c.r) }

var hostShape = regexp.MustCompile(`^[A-Za-z0-9._\[\]:-]+$`)

func (s *Sim) base(r *http.Request) string {
	if s.opts.Base != "" || !hostShape.MatchString(r.Host) {
		return s.opts.Base
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// answer is v as JSON.
func answer(status int, v any) *reply {
	body, err := json.Marshal(v)
	if err != nil {
		return &reply{status: http.StatusInternalServerError, kind: "text/plain", body: []byte(err.Error())}
	}
	return &reply{status: status, kind: "application/json; charset=utf-8", body: body}
}

// with adds a header.
func (rep *reply) with(name, value string) *reply {
	if rep.header == nil {
		rep.header = http.Header{}
	}
	rep.header.Set(name, value)
	return rep
}

func orStatus(status, def int) int {
	if status == 0 {
		return def
	}
	return status
}
