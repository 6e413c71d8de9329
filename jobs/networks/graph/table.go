package graph

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Any is the code of a row that goes by its subcode alone.
const Any = -1 << 31

// Row says what one refusal means.
type Row struct {
	Code, To  int    // To is the last code of a range; zero for Code alone
	Subcode   int    // zero for all
	Type      string // of the upload host's refusals, which have no code
	Kind      fault.Kind
	Commit    fault.Kind    // on the commit call; empty: Kind
	Tries     int           // from attempt Tries+1 on it is a Validation; zero: never
	Duplicate bool          // after an earlier attempt it is evidence that the post is live
	Everyone  bool          // the app's limit, not the account's
	Wait      time.Duration // how long to wait where the answer does not say
	Quote     bool          // the network's own words for the user say more than ours
	Say       string        // {network} stands for the network's name
}

// Table is what a network's refusals mean.
type Table struct {
	Network string // as people call it
	Rows    []Row
}

// NewTable is the table of a network: what all of Graph shares, and its own
// rows, which win where both speak of the same code and subcode.
func NewTable(network string, own ...Row) Table {
	return Table{network, slices.Concat(own, shared)}
}

// alreadyPosted is the one place where words decide: code 368 is used for
// duplicates too.
var alreadyPosted = regexp.MustCompile(`(?i)\balready\b.{0,40}\bpost|\bpost(ed)?\b.{0,40}\balready\b|\bduplicate\b`)

// Sort returns nil for a success, else the fault of the answer.
func (t Table) Sort(step httpx.Step, attempt int, a *httpx.Answer) *fault.Fault {
	e, refused := Decode(a.Body)
	switch {
	case a.OK() && !refused:
		return nil
	case a.OK() && step == httpx.Commit:
		return httpx.Unparsable(step, a)
	case !refused:
		return strange(step, a)
	}
	row := t.row(e)
	f := &fault.Fault{Kind: row.kind(e, step, attempt), Code: e.Name(), Status: a.Status,
		RequestID: cmp.Or(e.Trace, a.RequestID), Say: t.say(row, e)}
	if step == httpx.Commit && a.Status >= 500 {
		f.Kind = fault.Unknown
	}
	switch f.Kind {
	case fault.RateLimited:
		f.Wait, f.Everyone = wait(a, row.Wait), row.Everyone
	case fault.Unknown:
		f.Say += " The post may be live or not."
	}
	return f
}

// strange is the fault of an answer that is not Graph's: a page of HTML, a
// proxy's JSON. On the commit call only a plain "slow down" or "not ready" is
// believed; anything else is no documented refusal, and so Unknown.
func strange(step httpx.Step, a *httpx.Answer) *fault.Fault {
	f := httpx.Sort(step, a)
	if f.Kind == fault.RateLimited {
		f.Wait = wait(a, 0)
	}
	if step == httpx.Commit && f.Kind != fault.RateLimited && f.Kind != fault.Transient {
		f.Kind = fault.Unknown
		f.Say = "The answer did not come from the network itself, so the post may be live or not."
	}
	return f
}

// row finds the row that speaks most exactly of e.
func (t Table) row(e Error) Row {
	best, rank := Row{Kind: fault.Validation, Quote: true, Say: "{network} refused the post."}, 0
	for _, r := range t.Rows {
		if n := r.speaksOf(e); n > rank {
			best, rank = r, n
		}
	}
	return best
}

// speaksOf is zero if the row is about something else, else the more the more
// exactly it is about this.
func (r Row) speaksOf(e Error) int {
	code, subcode := int(e.Code), int(e.Subcode)
	switch {
	case r.Type != "" || code == 0:
		return rankOf(r.Type != "" && r.Type == e.Type)
	case r.Subcode != 0 && r.Subcode != subcode:
		return 0
	case r.Subcode != 0 && r.Code == code:
		return 4
	case r.Subcode != 0 && r.Code == Any:
		return 3
	case r.Code == code:
		return 2
	case r.To != 0 && code >= r.Code && code <= r.To:
		return 1
	}
	return 0
}

func rankOf(same bool) int {
	if same {
		return 4
	}
	return 0
}

// kind is the class of e on this step and attempt.
func (r Row) kind(e Error, step httpx.Step, attempt int) fault.Kind {
	same := e.Code == 368 && alreadyPosted.MatchString(e.Message+"\n"+e.UserMsg)
	switch {
	case (same || r.Duplicate) && step == httpx.Commit && attempt > 1:
		return fault.Unknown
	case same:
		return fault.Validation
	case r.Tries > 0 && attempt > r.Tries:
		return fault.Validation
	case r.Kind == fault.Validation && e.Transient && step == httpx.Commit:
		return fault.Unknown
	case r.Kind == fault.Validation && e.Transient:
		return fault.Transient
	case step == httpx.Commit && r.Commit != "":
		return r.Commit
	}
	return r.Kind
}

// Told sorts an error that an object carries in words: the first known subcode
// in text decides. It is a fault of Prepare, and Transient for a few attempts
// if the words name nothing known.
func (t Table) Told(attempt int, text string) *fault.Fault {
	for _, word := range subcodes.FindAllString(text, -1) {
		subcode, _ := strconv.Atoi(word)
		for _, r := range t.Rows {
			if r.Subcode == subcode {
				e := Error{Code: Int(r.Code), Subcode: Int(subcode)}
				return &fault.Fault{Kind: r.kind(e, httpx.Prepare, attempt), Code: e.Name(), Say: t.say(r, e), Wait: r.Wait}
			}
		}
	}
	r := Row{Kind: fault.Transient, Tries: 2, Quote: true, Say: "{network} could not use the pictures or the video."}
	return &fault.Fault{Kind: r.kind(Error{}, httpx.Prepare, attempt), Code: "status_error", Say: t.say(r, Error{UserMsg: text})}
}

// subcodes are what looks like one in a text.
var subcodes = regexp.MustCompile(`\b[0-9]{7}\b`)

// say is the sentence for the client. Where several products read a code
// differently, the network's own words stand in for ours.
func (t Table) say(r Row, e Error) string {
	say := strings.ReplaceAll(r.Say, "{network}", t.Network)
	if theirs := httpx.SafeText(e.UserMsg); r.Quote && theirs != "" {
		say += " " + t.Network + " says: " + theirs
	}
	return say
}
