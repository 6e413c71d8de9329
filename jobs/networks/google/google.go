// Package google is what YouTube and Google Business Profile truly share: the
// token endpoint, the shape of refusals, and the hour at which quotas begin anew.
package google

import (
	"cmp"
	"encoding/json"
	"time"
	_ "time/tzdata" // quotas begin anew at midnight in California

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// SignIn is Google's page and token endpoint. A renewal repeats no refresh token: the
// old one stays good. Without being asked for offline access, and for consent each
// time, Google hands out none at all.
func SignIn(env networks.Env, label string, scopes ...string) oauth.SignIn {
	host := cmp.Or(env.Auth, env.Base, "https://oauth2.googleapis.com")
	s := oauth.SignIn{Page: cmp.Or(env.Auth, env.Base, "https://accounts.google.com") + "/o/oauth2/v2/auth", Proof: oauth.S256, End: host + "/revoke",
		More:     map[string]string{"access_type": "offline", "prompt": "consent"},
		Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: host + "/token", ID: env.ClientID, Secret: env.ClientSecret, Network: label, Now: env.Now}}
	for _, name := range scopes {
		s.Scopes = append(s.Scopes, "https://www.googleapis.com/auth/"+name)
	}
	return s
}

// Error is the body of a refusal.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Errors  []struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"errors"`
	Details []struct {
		Reason string `json:"reason"`
		Errors []struct {
			Code    json.Number `json:"code"`
			Field   string      `json:"field"`
			Message string      `json:"message"`
		} `json:"errorDetails"`
	} `json:"details"`
}

// Decode reads a refusal out of a body. It says false for anything that is not
// Google's error object.
func Decode(body []byte) (Error, bool) {
	var wire struct {
		Error *Error `json:"error"`
	}
	if json.Unmarshal(body, &wire) != nil || wire.Error == nil || wire.Error.Code == 0 && wire.Error.Status == "" {
		return Error{}, false
	}
	return *wire.Error, true
}

// Reason is the most exact name that the refusal has: a reason, else a status.
func (e Error) Reason() string {
	if len(e.Errors) > 0 && e.Errors[0].Reason != "" {
		return e.Errors[0].Reason
	}
	for _, d := range e.Details {
		if d.Reason != "" {
			return d.Reason
		}
	}
	return e.Status
}

// Read is for a rest.Table.
func Read(a *httpx.Answer) (rest.Problem, bool) {
	e, ok := Decode(a.Body)
	return rest.Problem{Code: e.Reason(), Message: e.Message}, ok
}

// UntilQuota is the time until daily quotas begin anew: midnight in California.
func UntilQuota(now time.Time) time.Duration {
	there, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		return 24 * time.Hour
	}
	at := now.In(there)
	return time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, there).Sub(now)
}
