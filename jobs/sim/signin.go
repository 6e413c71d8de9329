package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// desk is a sign-in of the usual kind (RFC 6749): consent, a code, tokens that
// are renewed. Mastodon, Facebook and Instagram have their own.
type desk struct {
	id     string        // what the network calls client_id
	secret string        // what it calls client_secret
	apart  string        // what parts its scopes
	life   time.Duration // of an access token; 0 for good
	hold   hold          // of a refresh token
	tells  string        // what it calls the seconds that a refresh token is good for; empty if it does not say
	keeps  bool          // a refresh token stays good: what the knob "none" means here, else it rotates
	hex    bool          // the challenge of PKCE is written in hex
	dead   string        // what it calls a code or a refresh token that is no good; invalid_grant if empty
	proof  bool          // nobody signs in without PKCE
	wants  string        // the scope without which there is no refresh token
	quick  time.Duration // for which a code is good; ten minutes if zero
	public bool          // an app without a secret is taken too
	more   []string      // further parameters of the authorisation page
	team   bool          // a token is good for every account of the network
	issued func(g *grant, out map[string]any)
}

// consent shows a person who wants what.
func (d desk) consent(c *call) *reply {
	if err := c.read(plainNest); err != nil {
		return oauthError(http.StatusBadRequest, "invalid_request", err.Error())
	}
	known := []string{d.id, "redirect_uri", "scope", "response_type", "state", "code_challenge", "code_challenge_method", "sim_answer"}
	if name := c.params.stray(append(known, d.more...)...); name != "" {
		return oauthError(http.StatusBadRequest, "invalid_request", "Unknown parameter "+name)
	}
	if m := c.params.get("code_challenge_method"); m != "" && m != "S256" {
		return oauthError(http.StatusBadRequest, "invalid_request", "code_challenge_method is S256")
	}
	if d.id != "client_id" && c.params.has(d.id) {
		c.params.values.Set("client_id", c.params.get(d.id))
	}
	return c.consent(strings.FieldsFunc(c.params.get("scope"), func(r rune) bool { return strings.ContainsRune(d.apart, r) }), !d.team)
}

// token exchanges a code, or a refresh token.
func (d desk) token(c *call) *reply {
	if err := c.read(plainNest, "form"); err != nil {
		return oauthError(http.StatusBadRequest, "invalid_request", err.Error())
	}
	if name := c.params.stray(d.id, d.secret, "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope"); name != "" {
		return oauthError(http.StatusBadRequest, "invalid_request", "Unknown parameter "+name)
	}
	a := d.holder(c)
	return c.do(Token, a, func() *reply {
		if no := d.admit(c); no != nil {
			return no
		}
		switch c.params.get("grant_type") {
		case "authorization_code":
			return d.redeem(c)
		case "refresh_token":
			return d.renew(c)
		}
		return oauthError(http.StatusBadRequest, "unsupported_grant_type", "The grant type is not supported.")
	})
}

// holder is whose connection is renewed, for faults that name an account.
func (d desk) holder(c *call) *account {
	sh := c.st.at(c.place.name)
	sh.mu.RLock()
	g := sh.renewals[c.params.get("refresh_token")]
	sh.mu.RUnlock()
	if g == nil {
		return nil
	}
	return sh.find(g.account)
}

// admit checks the app, which shows itself in the form or in a header.
func (d desk) admit(c *call) *reply {
	id, secret, basic := c.r.BasicAuth()
	if !basic {
		id, secret = c.params.get(d.id), c.params.get(d.secret)
	}
	if id == "" || secret == "" && !d.public {
		return oauthError(http.StatusUnauthorized, "invalid_client", "Client authentication failed.")
	}
	c.params.values.Set("client_id", id)
	return nil
}

func (d desk) redeem(c *call) *reply {
	p, sh := &c.params, c.st.at(c.place.name)
	text, err := url.QueryUnescape(p.get("code"))
	if err != nil {
		text = p.get("code")
	}
	co, ok := sh.redeem(text, p.get("client_id"), p.get("redirect_uri"), !c.sim.opts.Closed, c.now)
	if ok && (co.challenge != "" || d.proof) {
		ok = d.proves(p.get("code_verifier"), co.challenge)
	}
	if ok && d.quick > 0 && !co.expires.IsZero() {
		ok = c.now.Before(co.expires.Add(d.quick - codeLife))
	}
	if !ok {
		return oauthError(http.StatusBadRequest, d.no(), "The code is invalid, has expired, or was used.")
	}
	who := co.account
	if who == "" && !d.team {
		who = numberOf(p.get("code"))
	}
	if who != "" {
		sh.open(who)
	}
	g := sh.issue(who, co.scopes, c.now, d.life, d.life > 0 && (d.wants == "" || slices.Contains(co.scopes, d.wants)))
	sh.mu.Lock()
	g.app, g.user, g.ends = p.get("client_id"), d.team, d.hold.ends(c.now)
	sh.mu.Unlock()
	return d.answer(c, g)
}

func (d desk) proves(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	if d.hex {
		return hex.EncodeToString(sum[:]) == challenge
	}
	return base64.RawURLEncoding.EncodeToString(sum[:]) == challenge
}

// renew exchanges a refresh token as the knob says, or as the network does.
func (d desk) renew(c *call) *reply {
	mode := c.sim.Knobs().Refresh
	if mode == "none" && d.keeps {
		mode = "omit"
	}
	g, what := c.st.at(c.place.name).renew(c.params.get("refresh_token"), mode, c.now, d.life, d.hold)
	switch what {
	case unavailable:
		return oauthError(http.StatusServiceUnavailable, "temporarily_unavailable", "Try again later.")
	case unknown, replayed:
		c.outcome = string(what)
		return oauthError(http.StatusBadRequest, d.no(), "Token has been expired or revoked.")
	}
	return d.answer(c, g)
}

func (d desk) no() string { return cmp.Or(d.dead, "invalid_grant") }

func (d desk) answer(c *call, g *grant) *reply {
	c.account = c.st.at(c.place.name).find(g.account)
	out := map[string]any{"access_token": g.token, "token_type": "Bearer", "scope": strings.Join(g.scopes, d.apart[:1]), "expires_in": 0}
	if !g.expires.IsZero() {
		out["expires_in"] = int(g.expires.Sub(g.issued).Seconds())
	}
	if g.refresh != "" {
		out["refresh_token"] = g.refresh
	}
	if d.tells != "" && !g.ends.IsZero() {
		out[d.tells] = int(g.ends.Sub(c.now).Seconds())
	}
	if d.issued != nil {
		d.issued(g, out)
	}
	return answer(http.StatusOK, out)
}

// revoke ends a token.
func (d desk) revoke(c *call) *reply {
	if err := c.read(plainNest, "form"); err != nil {
		return oauthError(http.StatusBadRequest, "invalid_request", err.Error())
	}
	return c.do(Token, nil, func() *reply {
		c.st.at(c.place.name).revoke(c.params.get("token"))
		return answer(http.StatusOK, map[string]any{})
	})
}

// oauthComplaint says a fault in the words of a token endpoint.
func oauthComplaint(k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return oauthError(http.StatusTooManyRequests, "rate_limit_exceeded", "Too many requests.").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return oauthError(http.StatusBadRequest, "invalid_grant", "Token has been expired or revoked.")
	case MissingPermission:
		return oauthError(http.StatusForbidden, "access_denied", "The owner of the account does not allow this.")
	case Invalid:
		return oauthError(http.StatusBadRequest, "invalid_request", "The request is not acceptable.")
	}
	if status >= http.StatusInternalServerError {
		return oauthError(status, "server_error", "Something went wrong.")
	}
	if status == http.StatusTooManyRequests {
		return oauthComplaint(RateLimit, 0, time.Minute)
	}
	return oauthError(status, "invalid_request", "The request is not acceptable.")
}

// plainNest writes JSON as names with dots; the items of a list share a name.
func plainNest(into url.Values, name string, v any) {
	switch v := v.(type) {
	case []any:
		into[name] = slices.Clone(into[name])
		for _, item := range v {
			plainNest(into, name, item)
		}
	case map[string]any:
		for key, item := range v {
			plainNest(into, name+"."+key, item)
		}
	default:
		s, _ := scalar(v)
		into.Add(name, s)
	}
}
