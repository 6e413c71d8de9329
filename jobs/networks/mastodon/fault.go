package mastodon

import (
	"net/http"
	"strings"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// row is one documented refusal. Statuses decide; words only where one status
// has several meanings that differ in class.
type row struct {
	status int
	words  []string // one of them is in the error's text, in lower case; empty for any text
	kind   fault.Kind
	code   string
	say    string
	quote  bool // the server's own words say it better
}

// noText stands for an error whose body is not of the API.
const noText = "-"

// rows are asked in order.
var rows = []row{
	{401, nil, fault.Auth, "token", "The server no longer accepts the connection. Reconnect the account.", false},
	{403, []string{"scope"}, fault.Permission, "scope", "The connection may not publish. Reconnect the account and grant everything that is asked.", false},
	{403, []string{"disabled", "suspended", "frozen"}, fault.Auth, "account_blocked", "The server has locked this account. Look for a notice in the account itself, then reconnect it.", false},
	{403, []string{"confirm", "pending", "approv"}, fault.Auth, "account_unconfirmed", "The account is not confirmed yet. Confirm it at its server, then reconnect it.", false},
	{403, nil, fault.Permission, "forbidden", "The server does not let this account publish.", true},
	{404, []string{noText}, fault.Validation, "no_server", "There is no Mastodon server at this address. Correct it in the account's settings.", false},
	{404, nil, fault.Validation, "not_found", "The server does not find what the post refers to.", false},
	{410, nil, fault.Validation, "gone", "What the post refers to is gone from the server.", false},
	{413, nil, fault.Validation, "too_large", "The file is too large for this server.", false},
	{422, []string{"not finished processing", "not been processed", "still being processed"}, fault.Transient, "media_processing", "The server is still processing the media.", false},
	{422, []string{"not found or already attached", "media not found", "already attached"}, fault.Transient, "media_gone", "The server no longer has the uploaded media; Herald uploads them again.", false},
	{422, []string{"character limit", "too long"}, fault.Validation, "too_long", "The text is longer than this server allows. Shorten it.", false},
	{422, nil, fault.Validation, "refused", "The server refused the post.", true},
}

// sortAnswer gives an answer other than a 2xx its class.
func sortAnswer(step httpx.Step, answer *httpx.Answer) error {
	f := httpx.Sort(step, answer)
	if f.Kind == fault.RateLimited {
		f.Wait = resetAfter(answer)
		f.Say = "The server asked us to slow down."
		return f
	}
	var body refusal
	parse(answer, &body)
	text := strings.ToLower(body.Error)
	for _, r := range rows {
		if r.status == answer.Status && r.fits(text) {
			f.Kind, f.Code, f.Say = r.kind, r.code, r.say
			if quoted := httpx.SafeText(body.Error); r.quote && quoted != "" {
				f.Say = strings.TrimSuffix(r.say, ".") + ": " + strings.TrimSuffix(quoted, ".") + "."
			}
			return f
		}
	}
	return f
}

func (r row) fits(text string) bool {
	if len(r.words) == 0 {
		return true
	}
	for _, w := range r.words {
		if w == noText && text == "" || w != noText && strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// resetAfter is the wait of a 429: until X-RateLimit-Reset, an ISO time, else
// what Retry-After says.
func resetAfter(answer *httpx.Answer) time.Duration {
	at, err := time.Parse(time.RFC3339, answer.Header.Get("X-RateLimit-Reset"))
	if err != nil {
		return httpx.RetryAfter(answer)
	}
	return httpx.CapWait(at.Sub(answer.At))
}

// commitFault adds what only a repeated commit means: the file that Prepare saw
// a moment ago and that is attached now is attached to a post of ours.
func commitFault(job networks.Job, err error) error {
	f := fault.Of(err)
	if f.Code == "media_gone" && job.Attempt > 1 {
		f.Kind, f.Say = fault.Unknown, "The server says that the media are part of a post already, so an earlier attempt may be live."
	}
	return f
}

// refused is what an upload's answer means. A server that stumbles over a file
// again and again cannot read it.
func (u upload) refused(i int, answer *httpx.Answer) error {
	err := sortAnswer(httpx.Prepare, answer)
	f := fault.Of(err)
	switch {
	case answer.Status == http.StatusInternalServerError && u.job.Attempt > 2:
		f.Kind, f.Code = fault.Validation, "media_failed"
		f.Say = "The server could not process " + u.what(i) + ". Upload it in another format."
	case f.Code == "too_large":
		f.Say = "The file of " + u.what(i) + " is too large for this server."
	case f.Code == "refused":
		f.Say = strings.Replace(f.Say, "refused the post", "refused "+u.what(i), 1)
	}
	return f
}
