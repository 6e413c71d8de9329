package x

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// table is what X's refusals mean. Many are told apart by their words only, since
// their type is "about:blank".
var table = rest.Table{Network: "X", Read: read, Rows: []rest.Row{
	{Code: "invalid-request", Kind: fault.Validation, Quote: true, Say: "X did not take the post."},
	{Status: 400, Words: []string{"media ids are invalid"}, Kind: fault.Transient, Tries: 2, Name: "media_invalid", Say: "X no longer has an uploaded file; Herald uploads it again."},
	{Code: "186", Kind: fault.Validation, Say: long},
	{Status: 403, Words: []string{"needs to be a bit shorter"}, Kind: fault.Validation, Name: "186", Say: long},
	{Status: 401, Kind: fault.Auth, Name: "unauthorized", Say: "X no longer accepts the connection. Reconnect the account."},
	{Code: "89", Kind: fault.Auth, Say: "X no longer accepts the connection. Reconnect the account."},
	{Status: 402, Kind: fault.Permission, Name: "credits", Say: "The credits for X's API are used up. The operator has to buy more in X's developer console."},
	{Status: 403, Words: []string{"duplicate content"}, Kind: fault.Validation, Duplicate: true, Name: "duplicate", Say: "X says that the account posted the same text a short while ago. Change the text."},
	{Code: "187", Kind: fault.Validation, Duplicate: true, Say: "X says that the account posted the same text a short while ago. Change the text."},
	{Status: 403, Words: []string{"not permitted to perform this action"}, Kind: fault.Permission, Name: "not_permitted", Say: "X does not let this connection do that: the right to write is missing, or X lets apps of this kind answer only where their account was named. Reconnect the account and grant everything that is asked."},
	{Code: "unsupported-authentication", Kind: fault.Auth, Say: "X wants a connection of the account itself. Reconnect the account."},
	{Code: "client-forbidden", Kind: fault.Permission, Say: "The app that Herald uses may not do that at X. The operator has to look at its project and plan in X's developer console."},
	{Status: 403, Words: []string{"one cashtag"}, Kind: fault.Validation, Name: "cashtags", Say: "X takes one cashtag ($NAME) in a post. Take the others out."},
	{Status: 403, Words: []string{"longer than 2 minutes"}, Kind: fault.Validation, Name: "video_too_long", Say: "This account may not post videos longer than 140 seconds. Cut the video shorter."},
	{Status: 403, Words: []string{"not permitted to access this feature"}, Kind: fault.Permission, Name: "feature", Say: "This X account may not use a feature that the post needs."},
	{Status: 403, Words: []string{"deleted or not visible"}, Kind: fault.Validation, Name: "parent_gone", Say: "The post that this answers is no longer there."},
	{Code: "326", Kind: fault.Permission, Say: locked},
	{Code: "64", Kind: fault.Permission, Say: locked},
	{Code: "user-suspended", Kind: fault.Permission, Say: locked},
	{Code: "344", Kind: fault.RateLimited, Wait: 24 * time.Hour, Say: "X's daily limit of posts for this account is used up."},
	{Code: "185", Kind: fault.RateLimited, Wait: 24 * time.Hour, Say: "X's daily limit of posts for this account is used up."},
	{Status: 403, Words: []string{"daily limit for sending"}, Kind: fault.RateLimited, Wait: 24 * time.Hour, Name: "185", Say: "X's daily limit of posts for this account is used up."},
	{Code: "usage-capped", Kind: fault.RateLimited, Everyone: true, Wait: 24 * time.Hour, Say: "The plan for X's API is used up for now; the post goes out later."},
	{Status: 429, Kind: fault.RateLimited, Wait: 15 * time.Minute, Name: "too_many_requests", Say: "X asked us to slow down; the post goes out later."},
	{Code: "88", Kind: fault.RateLimited, Wait: 15 * time.Minute, Say: "X asked us to slow down; the post goes out later."},
}}

const (
	long   = "The text is longer than X takes from this account. Shorten it."
	locked = "X has locked or suspended this account. Log in at X and look for a notice, then try again."
)

// read reads the error of an answer, in any of its three shapes.
func read(a *httpx.Answer) (rest.Problem, bool) {
	var body struct {
		Title  string          `json:"title"`
		Detail string          `json:"detail"`
		Type   string          `json:"type"`
		Status json.RawMessage `json:"status"`
		Errors []struct {
			Message string      `json:"message"`
			Code    json.Number `json:"code"`
		} `json:"errors"`
	}
	if a.OK() || json.Unmarshal(a.Body, &body) != nil || body.Title == "" && body.Detail == "" && len(body.Errors) == 0 {
		return rest.Problem{}, false
	}
	p := rest.Problem{Code: kind(body.Type), Message: body.Detail}
	for _, e := range body.Errors {
		p.Code, p.Message = cmp.Or(p.Code, httpx.SafeText(e.Code.String())), cmp.Or(e.Message, p.Message)
	}
	p.Wait, p.Everyone = reset(a)
	return p, true
}

// kind is the last part of a problem's type, or "" if it says nothing.
func kind(problem string) string {
	name := problem[strings.LastIndexByte(problem, '/')+1:]
	if name == "about:blank" {
		return ""
	}
	return httpx.SafeText(name)
}

// reset is how long an answer asks to wait, and whether the whole app has to. The
// daily limits are told beside that of a quarter of an hour, which may have room
// while a daily one has none.
func reset(a *httpx.Answer) (time.Duration, bool) {
	for _, l := range []struct {
		prefix   string
		everyone bool
	}{{"X-App-Limit-24hour-", true}, {"X-User-Limit-24hour-", false}, {"X-Rate-Limit-", false}} {
		if a.Header.Get(l.prefix+"Remaining") != "0" {
			continue
		}
		if at, err := strconv.ParseInt(a.Header.Get(l.prefix+"Reset"), 10, 64); err == nil {
			return httpx.CapWait(time.Unix(at, 0).Sub(a.At)), l.everyone
		}
	}
	return 0, false
}
