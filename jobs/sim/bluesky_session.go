package sim

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	skyAccess  = 2 * time.Hour
	skyRefresh = 90 * 24 * time.Hour
)

// createSession signs in with an app password: the token that the account was
// declared with. An account that nobody declared takes any.
func (b *bluesky) createSession(c *call) *reply {
	var body struct {
		Identifier      string `json:"identifier"`
		Password        string `json:"password"`
		AuthFactorToken string `json:"authFactorToken"`
	}
	if err := c.object(&body); err != nil {
		return skyInvalid("%s", err)
	}
	sh := c.st.at(c.place.name)
	var a *account
	for _, one := range sh.all() {
		if one.answersTo(body.Identifier) {
			a = one
		}
	}
	return c.do(Token, a, func() *reply {
		switch {
		case body.Identifier == "" || body.Password == "":
			return skyInvalid("Input must have the properties identifier and password")
		case a == nil && c.sim.opts.Closed, a != nil && a.isLocked() && !a.hasSecret(body.Password):
			return skyError(http.StatusUnauthorized, "AuthenticationRequired", "Invalid identifier or password")
		case a == nil:
			a = sh.open("did:plc:" + numberOf(body.Identifier))
			a.describe(Account{Handle: body.Identifier})
		}
		g := &grant{account: a.id, issued: c.now, ends: c.now.Add(skyRefresh), family: new(family)}
		g.token, g.refresh, g.expires = b.token(c, a, "access", skyAccess), b.token(c, a, "refresh", skyRefresh), c.now.Add(skyAccess)
		sh.mu.Lock()
		sh.keep(g)
		sh.mu.Unlock()
		return b.session(c, a, g)
	})
}

func (a *account) hasSecret(word string) bool {
	a.label.RLock()
	defer a.label.RUnlock()
	return a.secret == word
}

// token is a JWT, as far as anybody but its maker can tell.
func (b *bluesky) token(c *call, a *account, scope string, life time.Duration) string {
	part := base64.RawURLEncoding.EncodeToString
	body := fmt.Sprintf(`{"scope":"com.atproto.%s","sub":%q,"iat":%d,"exp":%d}`, scope, a.id, c.now.Unix(), c.now.Add(life).Unix())
	return part([]byte(`{"typ":"at+jwt","alg":"HS256"}`)) + "." + part([]byte(body)) + "." + part([]byte(rand.Text()))
}

func (b *bluesky) session(c *call, a *account, g *grant) *reply {
	out := b.person(c, a)
	out["accessJwt"], out["refreshJwt"] = g.token, g.refresh
	if g.refresh == "" {
		delete(out, "refreshJwt")
	}
	return answer(http.StatusOK, out)
}

// person is an account as its server describes it.
func (b *bluesky) person(c *call, a *account) map[string]any {
	return map[string]any{
		"did": a.id, "handle": a.Handle(), "active": true, "emailConfirmed": true,
		"didDoc": map[string]any{"id": a.id, "service": []any{
			map[string]string{"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": c.base() + "/bluesky"},
		}},
	}
}

// refreshSession renews by the refresh token, which is then spent.
func (b *bluesky) refreshSession(c *call) *reply {
	sh, mode := c.st.at(c.place.name), c.sim.Knobs().Refresh
	if mode == "none" {
		mode = "rotate"
	}
	sh.mu.RLock()
	old := sh.renewals[c.bearer()]
	sh.mu.RUnlock()
	var a *account
	if old != nil {
		a = sh.find(old.account)
	}
	return c.do(Token, a, func() *reply {
		g, what := sh.renew(c.bearer(), mode, c.now, skyAccess, hold{life: skyRefresh})
		switch what {
		case unavailable:
			return skyError(http.StatusServiceUnavailable, "UpstreamFailure", "Try again later")
		case unknown, replayed:
			c.outcome = string(what)
			return skyError(http.StatusBadRequest, "ExpiredToken", "Token has been revoked")
		}
		sh.mu.Lock()
		delete(sh.grants, g.token)
		delete(sh.renewals, g.refresh)
		g.token = b.token(c, a, "access", skyAccess)
		if g.refresh != "" {
			g.refresh = b.token(c, a, "refresh", skyRefresh)
		}
		sh.keep(g)
		sh.mu.Unlock()
		return b.session(c, a, g)
	})
}

func (b *bluesky) getSession(c *call) *reply {
	a, no := b.open(c)
	if no != nil {
		return no
	}
	if no := b.query(c); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply { return answer(http.StatusOK, b.person(c, a)) })
}

// serviceAuth is a token for another service.
type serviceAuth struct {
	account *account
	method  string
	expires time.Time
}

// getServiceAuth makes a token that the video service takes: it lets that
// service put one blob into the account.
func (b *bluesky) getServiceAuth(c *call) *reply {
	a, no := b.open(c)
	if no != nil {
		return no
	}
	if no := b.query(c, "aud", "lxm", "exp"); no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		host := hostOf(c.base())
		switch aud := c.params.get("aud"); {
		case aud == "did:web:video.bsky.app":
		case aud != "did:web:"+url.QueryEscape(host) && aud != "did:web:"+host:
			return skyInvalid("aud does not name this server: %s", aud)
		}
		exp := c.now.Add(time.Minute)
		if s := c.params.get("exp"); s != "" {
			at, ok := graphMoment(s)
			if !ok || at.After(c.now.Add(time.Hour)) || at.Before(c.now) {
				return skyError(http.StatusBadRequest, "BadExpiration", "expiration is in the past or too far ahead")
			}
			exp = at
		}
		token := "S-" + rand.Text()
		c.st.at(c.place.name).objects.Store(token, &serviceAuth{a, c.params.get("lxm"), exp})
		return answer(http.StatusOK, map[string]string{"token": token})
	})
}

// service finds the account that a service token speaks for.
func (b *bluesky) service(c *call, method string) (*account, *reply) {
	s, ok := thing[*serviceAuth](c.st.at(c.place.name), c.bearer())
	switch {
	case !ok || s.method != method:
		return nil, skyError(http.StatusUnauthorized, "InvalidToken", "Token could not be verified")
	case c.now.After(s.expires):
		return nil, skyError(http.StatusBadRequest, "ExpiredToken", "Token has expired")
	}
	return s.account, nil
}

// jobTokens: the state of a job may be asked for without one.
func (b *bluesky) mayAsk(c *call) *reply {
	if c.bearer() == "" || strings.HasPrefix(c.bearer(), "S-") {
		return nil
	}
	_, no := b.open(c)
	return no
}
