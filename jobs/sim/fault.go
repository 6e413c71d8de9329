package sim

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herald/db/network"
)

// Kind is a way to fail.
type Kind string

// The kinds.
const (
	Refuse            Kind = "refuse"             // answer Status without doing
	StoreThenFail     Kind = "store_then_fail"    // do, then answer Status
	StoreThenClose    Kind = "store_then_close"   // do, then close the connection
	CloseBefore       Kind = "close_before"       // close the connection without doing
	Stall             Kind = "stall"              // do, answer after Delay
	StoreThenGarbage  Kind = "store_then_garbage" // do, then answer 2xx with something unparsable
	RateLimit         Kind = "rate_limit"         // refuse, and ask to wait Delay
	ExpiredToken      Kind = "expired_token"      // refuse the token
	MissingPermission Kind = "missing_permission" // refuse for want of a right
	Invalid           Kind = "invalid"            // refuse the content for good
	AsyncPending      Kind = "async_pending"      // an asynchronous object stays unfinished for Times looks
	AsyncError        Kind = "async_error"        // an asynchronous object ends in an error
	LateReject        Kind = "late_reject"        // accept, and take the post away after Delay
	ListLag           Kind = "list_lag"           // lists leave out what is younger than Delay
)

type kindSet map[Kind]Step // the step a kind counts for if the fault names none; "" for every step

var (
	directKinds = kindSet{
		Refuse: "", CloseBefore: "", RateLimit: "", ExpiredToken: "", MissingPermission: "", Invalid: "",
		StoreThenFail: Commit, StoreThenClose: Commit, StoreThenGarbage: Commit, Stall: Commit, LateReject: Commit,
	}
	asyncKinds = kindSet{AsyncPending: Prepare, AsyncError: Prepare}
	listKinds  = kindSet{ListLag: Find}
	allKinds   = joined(directKinds, asyncKinds, listKinds)
)

func joined(sets ...kindSet) kindSet {
	out := kindSet{}
	for _, set := range sets {
		maps.Copy(out, set)
	}
	return out
}

// Stores says whether the network does what it was asked before it fails.
func (k Kind) Stores() bool {
	return k == StoreThenFail || k == StoreThenClose || k == StoreThenGarbage || k == Stall || k == LateReject
}

// Fault is something a network is told to do wrong. The package comment says
// what the fields mean to each kind.
type Fault struct {
	Network network.Name
	Account string
	Step    Step
	Kind    Kind
	Times   int // 0 until it is taken away
	After   int
	Status  int
	Body    string
	Headers map[string]string
	Delay   time.Duration

	used int
}

// wrong returns a sentence about what is wrong with the fault, or "".
func (s *Sim) wrong(f Fault) string {
	p := s.places[f.Network]
	switch step, known := allKinds[f.Kind]; {
	case p == nil:
		return fmt.Sprintf("There is no simulated network %q. There are: %s.", f.Network, listed(s.order))
	case !known:
		return fmt.Sprintf("There is no fault kind %q. There are: %s.", f.Kind, listed(slices.Sorted(maps.Keys(allKinds))))
	case !has(p.kinds, f.Kind):
		return fmt.Sprintf("%s has nothing that could fail as %s.", p.title, f.Kind)
	case f.Step != "" && !slices.Contains([]Step{Prepare, Commit, Find, Token, FollowUp, Check}, f.Step):
		return fmt.Sprintf("There is no step %q. There are: prepare, commit, find, token, follow_up, check.", f.Step)
	case f.Kind == ListLag && f.Step != "" && f.Step != step:
		return "list_lag is about lists: leave step out or say find."
	case f.Times < 0 || f.After < 0 || f.Delay < 0:
		return "times, after and delay may not be negative."
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return "status is an HTTP status from 200 to 599."
	case f.Kind == StoreThenGarbage && f.Status > 299:
		return "store_then_garbage answers 2xx. For another status use store_then_fail."
	}
	return ""
}

func has(set kindSet, k Kind) bool {
	_, ok := set[k]
	return ok
}

func listed[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

// faults is what the networks were told to do wrong, oldest first.
type faults struct {
	armed atomic.Bool // spares calls the lock while there are none

	mu   sync.Mutex
	list []*Fault
	gone chan struct{} // closed when the list is cleared
}

// Fault tells a network to fail. It returns an error that says in a sentence
// why it cannot.
func (s *Sim) Fault(f Fault) error {
	if no := s.wrong(f); no != "" {
		return fmt.Errorf("simulator: %s", no)
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, &f)
	s.faults.armed.Store(true)
	return nil
}

// Faults returns those still in force.
func (s *Sim) Faults() []Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	out := []Fault{}
	for _, f := range s.faults.list {
		if !f.spent() {
			left := *f
			left.Times = max(0, f.Times-f.used)
			out = append(out, left)
		}
	}
	return out
}

// ClearFaults takes all faults away and ends the answers that stall. It returns
// how many there were.
func (s *Sim) ClearFaults() int {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	n := len(s.faults.list)
	s.faults.list = nil
	s.faults.armed.Store(false)
	if s.faults.gone != nil {
		close(s.faults.gone)
		s.faults.gone = nil
	}
	return n
}

// cleared is closed when the faults are taken away.
func (fs *faults) cleared() <-chan struct{} {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.gone == nil {
		fs.gone = make(chan struct{})
	}
	return fs.gone
}

// take uses up one turn of the first fault among kinds that fits the call.
func (fs *faults) take(c *call, kinds kindSet) *Fault {
	if !fs.armed.Load() {
		return nil
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var first *Fault
	for _, f := range fs.list {
		switch {
		case !has(kinds, f.Kind) || !f.fits(c) || f.spent():
		case f.After > 0:
			f.After--
		case first == nil:
			first = f
		}
	}
	if first != nil {
		first.used++
	}
	return first
}

// expects says whether a fault of kinds waits for the call, and uses nothing up.
func (fs *faults) expects(c *call, kinds kindSet) bool {
	if !fs.armed.Load() {
		return false
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.ContainsFunc(fs.list, func(f *Fault) bool {
		return has(kinds, f.Kind) && f.fits(c) && !f.spent()
	})
}

// giveBack undoes take for a call that had nothing to spoil.
func (fs *faults) giveBack(f *Fault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.used--
}

func (f *Fault) spent() bool { return f.Times > 0 && f.used >= f.Times }

func (f *Fault) fits(c *call) bool {
	if f.Network != c.place.name {
		return false
	}
	// Asynchronous objects are looked at while preparing and while reconciling.
	if step := cmp.Or(f.Step, allKinds[f.Kind]); step != "" && step != c.step && !has(asyncKinds, f.Kind) {
		return false
	}
	return f.Account == "" || c.account != nil && c.account.answersTo(f.Account)
}

// dress puts what the fault says in place of what the network would have said.
func (f *Fault) dress(rep *reply, delay time.Duration) *reply {
	rep.status = orStatus(f.Status, rep.status)
	rep.delay = delay
	if f.Body != "" {
		rep.body = []byte(f.Body)
		rep.kind = http.DetectContentType(rep.body)
		if b := strings.TrimSpace(f.Body); strings.HasPrefix(b, "{") || strings.HasPrefix(b, "[") {
			rep.kind = "application/json; charset=utf-8"
		}
	}
	for name, value := range f.Headers {
		rep.with(name, value)
	}
	return rep
}
