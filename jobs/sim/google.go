package sim

import (
	"net/http"
	"strconv"
	"time"
)

// googleSignIn adds Google's consent and token hosts. team: a person's token is good
// for every account.
func googleSignIn(s *Sim, p *place, team bool) {
	d := desk{team: team, id: "client_id", secret: "client_secret", apart: " ", life: time.Hour, hold: hold{life: 180 * 24 * time.Hour}, keeps: true,
		more: []string{"access_type", "prompt", "include_granted_scopes", "login_hint"}}
	p.on(s, "GET /o/oauth2/v2/auth", Token, d.consent)
	p.on(s, "POST /token", Token, d.token)
	p.on(s, "POST /revoke", Token, d.revoke)
}

// googleError is Google's error object. YouTube names a reason, others do not.
func googleError(code int, status, reason, message string) *reply {
	e := map[string]any{"code": code, "message": message, "status": status}
	if reason != "" {
		e["errors"] = []any{map[string]any{"message": message, "domain": "global", "reason": reason}}
	}
	return answer(code, map[string]any{"error": e})
}

// googleStatus is what Google calls an HTTP status.
func googleStatus(status int) string {
	if name := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}[status]; name != "" {
		return name
	}
	if status >= http.StatusInternalServerError {
		return "INTERNAL"
	}
	return "FAILED_PRECONDITION"
}

// seconds writes a wait as a Retry-After.
func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }
