package blotato

import (
	"encoding/json"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// rows are the refusals of requests, which have no codes but the status.
var rows = []rest.Row{
	{Status: 400, Kind: fault.Validation, Name: "invalid", Quote: true, Say: "{network} did not take a part of the post."},
	{Status: 422, Kind: fault.Validation, Name: "invalid", Quote: true, Say: "{network} did not take a part of the post."},
	{Status: 401, Kind: fault.Auth, Name: "bad_key", Say: "{network} no longer accepts the key. Enter a new one for the account."},
	{Status: 403, Kind: fault.Permission, Name: "not_allowed", Quote: true, Say: "{network} does not allow this to the key or the plan."},
	{Status: 429, Kind: fault.RateLimited, Name: "rate_limited", Wait: time.Minute, Say: "{network} asked us to slow down."},
	{Status: 500, Kind: fault.Transient, Name: "server_error", Say: "{network} had a problem of its own."},
}

// read finds the refusal: a message.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Message string `json:"message"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Message == "" {
		return rest.Problem{}, false
	}
	return rest.Problem{Message: body.Message}, true
}

// reasons are what the words of a failed post stand for; any other is about the post.
var reasons = []struct {
	words string
	fault fault.Fault
}{
	{"reached_active_user_cap", fault.Fault{Kind: fault.RateLimited, Code: "reached_active_user_cap", Wait: time.Hour, Say: "Blotato's app has as many accounts posting today as the network allows."}},
	{"wrong account id", fault.Fault{Kind: fault.Permission, Code: "wrong_account", Say: "Blotato does not know this account. Check its number."}},
	{"invalid file format", fault.Fault{Kind: fault.Validation, Code: "file_format", Say: "The network does not take this kind of file."}},
	{"invalid video dimensions", fault.Fault{Kind: fault.Validation, Code: "video_dimensions", Say: "The network does not take a video of this size."}},
}

// reason is why the post failed: nothing is live.
func (s state) reason() *fault.Fault {
	for _, r := range reasons {
		if strings.Contains(strings.ToLower(s.Words), r.words) {
			f := r.fault
			return &f
		}
	}
	f := fault.New(fault.Validation, "failed", label+" could not publish the post.")
	if words := httpx.SafeText(s.Words); words != "" {
		f.Say += " It says: " + strings.TrimRight(words, " .") + "."
	}
	return f
}
