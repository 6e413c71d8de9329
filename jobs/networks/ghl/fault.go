package ghl

import (
	"encoding/json"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// rows are the refusals of requests, which have no codes but the status. 401 stands
// for three things, which its words tell apart; a 422 has been seen for what was made
// all the same (networks-b 11.4).
var rows = []rest.Row{
	{Status: 400, Kind: fault.Validation, Name: "invalid", Quote: true, Say: "{network} did not take a part of the post."},
	{Status: 401, Kind: fault.Auth, Name: "bad_token", Say: "{network} no longer accepts the token. Enter a new one for the account."},
	{Status: 401, Words: []string{"authclass", "scope"}, Kind: fault.Permission, Name: "missing_scope", Say: "The token may not do this in {network}. Give it the scopes of the social planner."},
	{Status: 401, Words: []string{"user does not exist"}, Kind: fault.Permission, Name: "wrong_user", Say: "{network} has no such user in the sub-account. Correct the account's setting user_id."},
	{Status: 403, Kind: fault.Permission, Name: "not_allowed", Quote: true, Say: "{network} does not allow this to the token or the plan."},
	{Status: 404, Kind: fault.Validation, Name: noSuch, Quote: true, Say: "{network} does not know the sub-account, the account or the post. Check the ids in the account's settings, and whether it is still connected there."},
	{Status: 422, Kind: fault.Validation, Commit: fault.Unknown, Name: "invalid", Quote: true, Say: "{network} did not take a part of the post."},
	{Status: 429, Kind: fault.RateLimited, Name: "rate_limited", Wait: 10 * time.Second, Say: "{network} asked us to slow down."},
	{Status: 500, Kind: fault.Transient, Name: "server_error", Say: "{network} had a problem of its own."},
}

const noSuch = "not_found"

// read finds the refusal: a message, or several.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Message json.RawMessage `json:"message"`
		Trace   string          `json:"traceId"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil {
		return rest.Problem{}, false
	}
	var one string
	var many []string
	if json.Unmarshal(body.Message, &one) != nil && json.Unmarshal(body.Message, &many) == nil {
		one = strings.Join(many, " ")
	}
	return rest.Problem{Message: one, RequestID: body.Trace, Wait: day(a)}, one != ""
}

// day is how long it is to the next day of UTC, if the day's calls are used up.
func day(a *httpx.Answer) time.Duration {
	if a.Header.Get("X-RateLimit-Daily-Remaining") != "0" {
		return 0
	}
	return a.At.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(a.At)
}

// reason is why the post failed: nothing is live.
func (p post) reason() *fault.Fault {
	f := fault.New(fault.Validation, "failed", label+" could not publish the post.")
	words := httpx.SafeText(p.Error)
	if lower := strings.ToLower(words); strings.Contains(lower, "token") || strings.Contains(lower, "expired") {
		f.Kind, f.Code, f.Say = fault.Permission, "connection_lost", "The network no longer lets "+label+" post for this account. Reconnect it in "+label+", then retry."
	}
	if words != "" {
		f.Say += " It says: " + strings.TrimRight(words, " .") + "."
	}
	return f
}
