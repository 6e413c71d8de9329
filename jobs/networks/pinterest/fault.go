package pinterest

import (
	"encoding/json"
	"strconv"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// table is what Pinterest's refusals mean. Their numbers are told from memory in
// the facts, so the status and the words decide.
var table = rest.Table{Network: "Pinterest", Read: read, Rows: []rest.Row{
	{Status: 400, Kind: fault.Validation, Quote: true, Name: "bad_request", Say: "{network} did not take the pin."},
	{Status: 400, Words: []string{"doesn't allow you to save pins", "spam", "blocked"}, Kind: fault.Validation, Name: "link_refused", Say: "{network} does not take the link: its site does not allow pins, or it is a short link or one that is blocked. Link to the page itself."},
	{Status: 400, Words: []string{"unable to reach the url"}, Kind: fault.Transient, Tries: 2, Name: "media_fetch", Say: "{network} could not fetch the picture from Herald."},
	{Status: 400, Words: []string{"cover_image"}, Kind: fault.Validation, Name: "cover", Say: "{network} wants a picture as the cover of the video. Attach one beside it."},
	{Status: 401, Kind: fault.Auth, Name: "unauthorized", Say: "{network} no longer accepts this connection. Reconnect the account."},
	{Status: 403, Kind: fault.Permission, Name: "forbidden", Quote: true, Say: "{network} does not let this connection do that. Reconnect the account and grant everything that is asked."},
	{Status: 404, Kind: fault.Validation, Name: "not_found", Say: "{network} does not find the board. Choose another."},
	{Status: 409, Kind: fault.Transient, Name: "conflict", Say: "{network} is still working on the video, and nothing was published; Herald tries again."},
	{Status: 429, Kind: fault.RateLimited, Wait: time.Minute, Name: "too_many_requests", Say: "{network} asked us to slow down; the pin goes out later."},
}}

// read reads the refusal of an answer, whose members are always these two.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Code == nil {
		return rest.Problem{}, false
	}
	return rest.Problem{Message: body.Message, Wait: reset(a)}, true
}

// reset is how long a limit lasts, where its own header says so.
func reset(a *httpx.Answer) time.Duration {
	seconds, err := strconv.ParseFloat(a.Header.Get("X-RateLimit-Reset"), 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return httpx.CapWait(time.Duration(min(seconds, 86400) * float64(time.Second)))
}
