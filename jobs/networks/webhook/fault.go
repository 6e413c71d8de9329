package webhook

import (
	"net/http"

	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// row is what a status of a receiver means.
type row struct {
	status int
	kind   fault.Kind
	code   string
	say    string
}

// rows say what the contract says; other statuses have their usual class.
var rows = []row{
	{http.StatusUnauthorized, fault.Auth, "signature", "The receiver does not accept the signature. Enter the same signing secret on both sides."},
	{http.StatusForbidden, fault.Permission, "forbidden", "The receiver does not take deliveries from this account."},
	{http.StatusNotFound, fault.Permission, "not_found", "There is no receiver at the webhook's address. Correct it in the account's settings."},
	{http.StatusMethodNotAllowed, fault.Permission, "not_found", "There is no receiver at the webhook's address. Correct it in the account's settings."},
	{http.StatusGone, fault.Permission, "gone", "The receiver wants no more deliveries (410). Connect another address, or ask who runs it."},
	{http.StatusRequestEntityTooLarge, fault.Validation, "too_large", "The post is too large for the receiver."},
	{http.StatusTooManyRequests, fault.RateLimited, "http_429", "The receiver asked us to slow down."},
}

// sortAnswer gives an answer other than a 2xx its class. Its body is neither
// read nor quoted: it may come from somewhere that is none of our users' business.
func sortAnswer(answer *httpx.Answer) error {
	f := httpx.Sort(httpx.Commit, answer)
	for _, r := range rows {
		if r.status == answer.Status {
			f.Kind, f.Code, f.Say = r.kind, r.code, r.say
			return f
		}
	}
	switch {
	case answer.Status == http.StatusServiceUnavailable && httpx.RetryAfter(answer) > 0:
		// It may have taken the delivery, but it knows it by its id when it comes again.
		f.Kind, f.Say, f.Wait = fault.RateLimited, "The receiver asked us to come back later.", httpx.RetryAfter(answer)
	case f.Kind == fault.Unknown:
		f.Say = "The receiver reported a failure of its own; the same delivery is sent again."
	case answer.Status/100 == 3:
		f.Code, f.Say = "redirect", "The receiver has moved, and deliveries are not sent on to another place. Enter its new address."
	case f.Kind == fault.Validation:
		f.Say = "The receiver refused the post."
	}
	return f
}
