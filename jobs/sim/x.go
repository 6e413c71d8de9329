package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// x is the API of version 2. Posts, media and reading are in x_*.go.
type x struct{ sim *Sim }

const (
	xWindow = 15 * time.Minute
	xCalls  = 100 // posts in a window
	xTime   = "2006-01-02T15:04:05.000Z"
)

func newX(s *Sim) *place {
	t := &x{s}
	p := &place{
		name: network.X, title: "X", mux: http.NewServeMux(),
		kinds: allKinds, complain: t.complain, decorate: t.decorate, stranger: t.stranger,
	}
	p.on(s, "POST /2/tweets", Commit, t.createPost)
	p.on(s, "DELETE /2/tweets/{id}", FollowUp, t.deletePost)
	p.on(s, "GET /2/users/me", Check, t.me)
	p.on(s, "GET /2/users/{id}/tweets", Find, t.timeline)
	p.on(s, "POST /2/media/upload/initialize", Prepare, t.initialize)
	p.on(s, "POST /2/media/upload/{id}/append", Prepare, t.append)
	p.on(s, "POST /2/media/upload/{id}/finalize", Prepare, t.finalize)
	p.on(s, "GET /2/media/upload", Prepare, t.status)
	p.on(s, "POST /2/media/metadata", Prepare, t.describe)
	p.on(s, "GET /i/oauth2/authorize", Token, xDesk.consent)
	p.on(s, "POST /2/oauth2/token", Token, xDesk.token)
	p.on(s, "POST /2/oauth2/revoke", Token, xDesk.revoke)
	p.on(s, "/", Check, func(c *call) *reply {
		return xProblem(http.StatusNotFound, "Not Found", "Not Found", "about:blank")
	})
	return p
}

// xProblem is a problem as X says it.
func xProblem(status int, title, detail, kind string) *reply {
	if kind != "about:blank" {
		kind = "https://api.x.com/2/problems/" + kind
	}
	return answer(status, map[string]any{"title": title, "detail": detail, "type": kind, "status": status})
}

// xInvalid is a request that cannot be: X names the parameter.
func xInvalid(name, format string, args ...any) *reply {
	message := fmt.Sprintf(format, args...)
	return answer(http.StatusBadRequest, map[string]any{
		"errors": []any{map[string]any{"message": message, "parameters": map[string]any{name: []string{""}}}},
		"title":  "Invalid Request", "detail": "One or more parameters to your request was invalid.", "type": "https://api.x.com/2/problems/invalid-request",
	})
}

func xForbidden(detail string) *reply {
	return xProblem(http.StatusForbidden, "Forbidden", detail, "about:blank")
}

// complain says a fault in X's words.
func (t *x) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	switch {
	case k == RateLimit:
		return xLimited(c.now.Add(wait))
	case c.step == Token && k == ExpiredToken:
		return oauthError(http.StatusBadRequest, xDesk.no(), "Value passed for the token was invalid.")
	case c.step == Token && status != http.StatusTooManyRequests:
		return oauthComplaint(k, status, wait)
	}
	switch k {
	case ExpiredToken:
		return xVerdict(expired)
	case MissingPermission:
		return xVerdict(noScope)
	case Invalid:
		return xInvalid("text", "The Tweet contains an invalid URL.")
	}
	switch {
	case status == http.StatusTooManyRequests:
		return xLimited(c.now.Add(time.Minute))
	case status == http.StatusUnauthorized:
		return xVerdict(expired)
	case status == http.StatusForbidden:
		return xVerdict(noScope)
	case status > http.StatusInternalServerError: // from the edge
		return &reply{status: status, kind: "text/plain", body: []byte("upstream connect error")}
	case status == http.StatusInternalServerError:
		return xProblem(status, "Internal Server Error", "Something went wrong", "about:blank")
	}
	return xProblem(status, http.StatusText(status), "One or more parameters to your request was invalid.", "invalid-request")
}

func xTooMany() *reply {
	return xProblem(http.StatusTooManyRequests, "Too Many Requests", "Too Many Requests", "about:blank")
}

func xLimited(reset time.Time) *reply {
	return xTooMany().
		with("x-rate-limit-limit", strconv.Itoa(xCalls)).with("x-rate-limit-remaining", "0").with("x-rate-limit-reset", strconv.FormatInt(reset.Unix(), 10))
}

func xVerdict(v verdict) *reply {
	if v == noScope {
		return xForbidden("You are not permitted to perform this action.")
	}
	return xProblem(http.StatusUnauthorized, "Unauthorized", "Unauthorized", "about:blank")
}

func (t *x) decorate(c *call, rep *reply) {
	rep.with("x-transaction-id", c.id)
	if c.account == nil || rep.header.Get("x-rate-limit-remaining") != "" {
		return
	}
	n, reset := c.account.count(c.now, xWindow)
	rep.with("x-rate-limit-limit", strconv.Itoa(xCalls)).with("x-rate-limit-remaining", strconv.Itoa(max(0, xCalls-n))).
		with("x-rate-limit-reset", strconv.FormatInt(reset.Unix(), 10))
}

// open finds the account of a call's token and checks one of the scopes.
func (t *x) open(c *call, scopes ...string) (*account, *reply) {
	a, _, v := c.admitByToken(c.bearer(), scopes...)
	if v != good {
		return nil, xVerdict(v)
	}
	if limit := c.sim.Knobs().CallLimit; limit > 0 {
		a.mu.Lock()
		n, end := a.calls.n, a.calls.start.Add(xWindow)
		a.mu.Unlock()
		if n >= limit && c.now.Before(end) {
			return nil, xLimited(end)
		}
	}
	return a, nil
}

// query reads a GET's parameters and refuses those it does not have.
func (t *x) query(c *call, allowed ...string) *reply {
	c.params.values = c.r.URL.Query()
	if name := c.params.stray(allowed...); name != "" {
		return xInvalid(name, "The query parameter [%s] is not one of [%s]", name, strings.Join(allowed, ","))
	}
	return nil
}

func (t *x) me(c *call) *reply {
	a, no := t.open(c, "users.read")
	if no != nil {
		return no
	}
	if no := t.query(c, "user.fields"); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"data": map[string]any{
			"id": a.id, "name": a.Name(), "username": a.Handle(), "verified_type": "none",
		}})
	})
}

func (t *x) stranger(st *state, accountID, text string) *entry {
	return t.sim.foreign(st, network.X, accountID, text, func(a *account, n int64) (string, string) {
		return xID(n), "/x/" + a.Handle() + "/status/" + xID(n)
	})
}

// xID is an id larger than what a double holds.
func xID(n int64) string { return "19" + fmt.Sprintf("%017d", n%100_000_000_000_000_000) }

// xDesk is X's OAuth 2: PKCE is a must, and a refresh token comes only with the
// scope offline.access. A bad token is an invalid request to X.
var xDesk = desk{id: "client_id", secret: "client_secret", apart: " ", life: 2 * time.Hour, hold: hold{life: 180 * 24 * time.Hour}, dead: "invalid_request", quick: 30 * time.Second, proof: true, wants: "offline.access", public: true}
