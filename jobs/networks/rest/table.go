package rest

import (
	"cmp"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Problem is what the body of a refusal says, in the network's own shape.
type Problem struct {
	Code      string // the network's stable name or number of it; empty if it gives none
	Message   string // words for people
	RequestID string
	Wait      time.Duration // how long it asks to wait; zero if it does not say
	Everyone  bool          // it says that the whole app is over its limit
}

// Row says what one refusal means. An empty Code stands for every one with that
// Status, a zero Status for every status; Words narrow it to messages that hold
// one of them, in lower case.
type Row struct {
	Status    int
	Code      string
	Words     []string
	Kind      fault.Kind
	Commit    fault.Kind                        // on the commit call; empty: Kind
	Tries     int                               // from attempt Tries+1 on it is a Validation; zero: never
	Duplicate bool                              // after an earlier attempt it is evidence that the post is live
	Everyone  bool                              // the app's limit, not the account's
	Wait      time.Duration                     // how long to wait where the answer does not say
	Until     func(now time.Time) time.Duration // the same, for limits that end at an hour of the day
	Quote     bool                              // the network's own words for the user say more than ours
	Name      string                            // the normalised code where the network's own says nothing
	Say       string                            // {network} stands for the network's name
}

// Table is what a network's refusals mean.
type Table struct {
	Network string // as people call it
	Rows    []Row  // the first of those that speak most exactly of a refusal counts
	// Inside says that a 2xx may hold a refusal, which is believed if a row documents
	// it; else, and without it, a 2xx that holds one is an answer nobody can read.
	Inside bool
	// Edge says that "slow down" in other words than the network's own comes from what
	// stands before it, and is about the address that Herald calls from: everybody.
	Edge bool
	// Read finds the refusal in an answer. False: the answer is not the network's
	// own, as a page of HTML from a proxy, or it is no refusal.
	Read func(a *httpx.Answer) (Problem, bool)
}

// Sort returns nil for a success, else the fault of the answer.
func (t Table) Sort(step httpx.Step, attempt int, a *httpx.Answer) *fault.Fault {
	p, refused := t.Read(a)
	switch {
	case a.OK() && !refused:
		return nil
	case a.OK() && !t.Inside:
		return httpx.Unparsable(step, a)
	case !refused:
		f := strange(step, a)
		f.Everyone = t.Edge && f.Kind == fault.RateLimited
		return f
	}
	row, documented := t.row(step, a, p)
	if a.OK() && !documented {
		return httpx.Unparsable(step, a)
	}
	f := &fault.Fault{Kind: row.kind(step, attempt), Code: cmp.Or(row.Name, row.Code, httpx.SafeText(p.Code), httpx.Sort(step, a).Code), Status: a.Status,
		RequestID: cmp.Or(p.RequestID, a.RequestID), Say: t.say(row, p)}
	if step == httpx.Commit && a.Status >= 500 {
		f.Kind = fault.Unknown
	}
	switch f.Kind {
	case fault.RateLimited:
		f.Wait, f.Everyone = row.wait(a, p), row.Everyone || p.Everyone
	case fault.Unknown:
		f.Say += " The post may be live or not."
	}
	return f
}

// strange is the fault of an answer that is not the network's own: a page of
// HTML, a proxy's JSON. On the commit call only a plain "slow down" or "not
// ready" is believed; anything else is no documented refusal, and so Unknown.
func strange(step httpx.Step, a *httpx.Answer) *fault.Fault {
	f := httpx.Sort(step, a)
	if step == httpx.Commit && f.Kind != fault.RateLimited && f.Kind != fault.Transient {
		f.Kind = fault.Unknown
		f.Say = "The answer did not come from the network itself, so the post may be live or not."
	}
	return f
}

// row finds the row that speaks most exactly of p. Without one, the status
// decides, and the network's own words are quoted.
func (t Table) row(step httpx.Step, a *httpx.Answer, p Problem) (r Row, documented bool) {
	var best Row
	rank := 0
	for _, r := range t.Rows {
		if n := r.speaksOf(a.Status, p); n > rank {
			best, rank = r, n
		}
	}
	if rank > 0 {
		return best, true
	}
	plain := httpx.Sort(step, a)
	return Row{Kind: plain.Kind, Quote: true, Say: plain.Say}, false
}

// speaksOf is zero if the row is about something else, else the more the more
// exactly it is about this.
func (r Row) speaksOf(status int, p Problem) int {
	rank := 1
	switch {
	case r.Status != 0 && r.Status != status, r.Code != "" && r.Code != p.Code, len(r.Words) > 0 && !r.says(p.Message):
		return 0
	case r.Status == 0 && r.Code == "" && len(r.Words) == 0:
		return 0
	}
	if r.Code != "" {
		rank += 4
	}
	if len(r.Words) > 0 {
		rank += 2
	}
	if r.Status != 0 {
		rank++
	}
	return rank
}

func (r Row) says(message string) bool {
	message = strings.ToLower(message)
	for _, w := range r.Words {
		if strings.Contains(message, w) {
			return true
		}
	}
	return false
}

// kind is the class on this step and attempt.
func (r Row) kind(step httpx.Step, attempt int) fault.Kind {
	switch {
	case r.Duplicate && step == httpx.Commit && attempt > 1:
		return fault.Unknown
	case r.Tries > 0 && attempt > r.Tries:
		return fault.Validation
	case step == httpx.Commit && r.Commit != "":
		return r.Commit
	}
	return r.Kind
}

// wait is how long a limit asks for: what the answer says, else the row.
func (r Row) wait(a *httpx.Answer, p Problem) time.Duration {
	said := cmp.Or(p.Wait, httpx.RetryAfter(a))
	if said == 0 && r.Until != nil {
		said = r.Until(a.At)
	}
	return httpx.CapWait(cmp.Or(said, r.Wait))
}

func (t Table) say(r Row, p Problem) string {
	say := strings.ReplaceAll(r.Say, "{network}", t.Network)
	theirs := strings.TrimRight(httpx.SafeText(p.Message), " .")
	if !r.Quote || theirs == "" {
		return say
	}
	return say + " " + t.Network + " says: " + theirs + "."
}
