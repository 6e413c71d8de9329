package sim

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"herald/db/network"
)

// Call is one request that a network got, without anything secret.
type Call struct {
	Time    time.Time    `json:"time"`
	Network network.Name `json:"network"`
	Account string       `json:"account"` // empty if the request named nobody
	Step    Step         `json:"step"`
	Method  string       `json:"method"`
	Path    string       `json:"path"`
	Status  int          `json:"status"`           // 0 if the connection was closed
	Outcome string       `json:"outcome"`          // ok, refused, replayed, or the kind of the fault
	Public  bool         `json:"public"`           // whether it made something public
	ID      string       `json:"id"`               // the request id that the answer carries
	Key     string       `json:"key,omitempty"`    // the client's Idempotency-Key, X-Delivery-Id or record key
	Type    string       `json:"type,omitempty"`   // content type of the request
	Params  url.Values   `json:"params,omitempty"` // what was sent, tokens left out

	owner *account
}

// keptQuiet is how many calls a quiet log remembers.
const keptQuiet = 4096

// callLog keeps the calls in order.
type callLog struct {
	quiet bool

	mu   sync.Mutex
	list []Call
	next int // in a full quiet log: where the oldest call stands
}

func newCallLog(quiet bool) *callLog { return &callLog{quiet: quiet} }

func (l *callLog) add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.quiet || len(l.list) < keptQuiet {
		l.list = append(l.list, c)
		return
	}
	l.list[l.next] = c
	l.next = (l.next + 1) % keptQuiet
}

func (l *callLog) all() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(append([]Call{}, l.list[l.next:]...), l.list[:l.next]...)
}

// Calls returns the requests in order. Empty names match all.
func (s *Sim) Calls(name network.Name, accountID string) []Call {
	out := []Call{}
	for _, c := range s.state.Load().calls.all() {
		if name != "" && c.Network != name {
			continue
		}
		if accountID == "" || c.Account == accountID || c.owner != nil && c.owner.answersTo(accountID) {
			out = append(out, c)
		}
	}
	return out
}

// record writes the call down as it is about to be answered.
func (c *call) record(rep *reply) {
	rec := Call{
		Time: c.now, Network: c.place.name, Step: c.step, Method: c.r.Method, Path: c.r.URL.Path,
		Status: rep.status, Outcome: c.outcome, Public: c.madePublic(), ID: c.id, owner: c.account,
	}
	if rep.cut {
		rec.Status = 0
	}
	if rec.Outcome == "" {
		rec.Outcome = "ok"
		if rep.status >= http.StatusBadRequest {
			rec.Outcome = "refused"
		}
	}
	rec.Account = c.who
	if c.account != nil {
		rec.Account = c.account.id
	}
	if !c.st.calls.quiet {
		c.describe(&rec)
	}
	c.st.calls.add(rec)
}

func (c *call) describe(rec *Call) {
	h := c.r.Header
	rec.Key = h.Get("Idempotency-Key") + h.Get("X-Delivery-Id") + c.key
	rec.Type = h.Get("Content-Type")
	rec.Params = url.Values{}
	for name, values := range c.params.values {
		if !secretParam(name) {
			rec.Params[name] = values
		}
	}
}

func secretParam(name string) bool {
	return strings.Contains(name, "token") || strings.Contains(name, "secret") || name == "code" || name == "password"
}

// madePublic says whether the public now sees something that the call stored.
func (c *call) madePublic() bool {
	for _, e := range c.made {
		var shows bool
		e.read(func() { shows = e.shows(c.now) })
		if shows {
			return true
		}
	}
	return c.spoke
}
