package bundle

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// noSuch is the code of what Bundle.social itself says it does not know.
const noSuch = "not_found"

// rows are the refusals of requests, which have no codes but the status.
var rows = []rest.Row{
	{Status: 400, Kind: fault.Validation, Name: "invalid", Quote: true, Say: "{network} did not take a part of the post."},
	{Status: 401, Kind: fault.Auth, Name: "bad_key", Say: "{network} no longer accepts the key. Enter a new one for the account."},
	{Status: 403, Kind: fault.Permission, Name: "not_allowed", Quote: true, Say: "{network} does not allow this to the key or the plan."},
	{Status: 404, Kind: fault.Validation, Name: noSuch, Quote: true, Say: "{network} does not know the team, the account or the file. Check the ids in the account's settings, and whether it is still connected there."},
	{Status: 409, Kind: fault.Transient, Commit: fault.Unknown, Name: "key_taken", Say: "{network} has a post under our key already."},
	{Status: 429, Kind: fault.RateLimited, Name: "rate_limited", Wait: time.Minute, Say: "{network} asked us to slow down."},
	{Status: 500, Kind: fault.Transient, Name: "server_error", Say: "{network} had a problem of its own."},
	{Status: 502, Kind: fault.Transient, Name: "server_error", Say: "{network} had a problem of its own."},
}

// read finds the refusal: a message, and of a form the issues it has.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Message string `json:"message"`
		Issues  []struct {
			Path    []any  `json:"path"`
			Message string `json:"message"`
		} `json:"issues"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Message == "" {
		return rest.Problem{}, false
	}
	p := rest.Problem{Message: body.Message}
	for _, issue := range body.Issues {
		if issue.Message != "" {
			p.Message += " " + issue.Message
		}
	}
	return p, true
}

// refusal is what the network said to Bundle.social.
type refusal struct {
	Code      string `json:"code"` // as IG:190, TT:40001, HTTP:429
	Message   string `json:"errorMessage"`
	Words     string `json:"userFacingMessage"`
	Transient bool   `json:"isTransient"`
	Retry     string `json:"retryability"` // retryable, non_retryable, unknown
	Status    int    `json:"httpStatus"`
}

// reason is why Bundle.social gave up, which it did for good: nothing is live.
func (p post) reason(job networks.Job) *fault.Fault {
	r := p.Errors[wire(job)]
	if r == nil {
		return fault.New(fault.Validation, "failed", label+" could not publish the post, and gives no reason.")
	}
	f := fault.New(fault.Validation, "failed", "The network did not take the post from "+label+".")
	if code := httpx.SafeText(r.Code); code != "" {
		f.Code = strings.ToLower(code)
	}
	switch {
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden, strings.HasSuffix(r.Code, ":190"):
		f.Kind, f.Say = fault.Permission, "The network no longer lets "+label+" post for this account. Reconnect it in "+label+", then retry."
	case r.Status == http.StatusTooManyRequests, r.Code == "HTTP:429":
		f.Kind, f.Wait, f.Say = fault.RateLimited, 15*time.Minute, "The network asked "+label+" to slow down."
	case r.Transient, r.Retry == "retryable":
		f.Kind, f.Say = fault.Transient, "The network had a problem of its own while "+label+" handed the post on."
	}
	if words := httpx.SafeText(r.Words); words != "" {
		f.Say += " It says: " + strings.TrimRight(words, " .") + "."
	} else if words := httpx.SafeText(r.Message); words != "" {
		f.Say += " It says: " + strings.TrimRight(words, " .") + "."
	}
	return f
}
