package sim

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
)

// tokenLife is how long a token lives that comes with a refresh token.
const tokenLife = 2 * time.Hour

func oauthError(status int, name, words string) *reply {
	return answer(status, map[string]string{"error": name, "error_description": words})
}

// read opens a call that needs no token.
func (m *mastodon) read(c *call, allowed []string, kinds ...string) *reply {
	if err := c.read(railsNest, kinds...); err != nil {
		return oauthError(http.StatusBadRequest, "invalid_request", err.Error())
	}
	if name := c.params.stray(allowed...); name != "" {
		return oauthError(http.StatusBadRequest, "invalid_request", "Unknown parameter "+name)
	}
	return nil
}

func (m *mastodon) createApp(c *call) *reply {
	if no := m.read(c, []string{"client_name", "redirect_uris", "redirect_uris[]", "scopes", "website"}, "form", "json", "multipart"); no != nil {
		return no
	}
	return c.do(Token, nil, func() *reply {
		back := strings.Join(c.params.values["redirect_uris[]"], "\n")
		if back == "" {
			back = c.params.get("redirect_uris")
		}
		if c.params.get("client_name") == "" || back == "" {
			return tootInvalid("Application name and redirect URI can't be blank")
		}
		id, secret := "A-"+rand.Text(), "S-"+rand.Text()
		sh := c.st.at(c.place.name)
		sh.mu.Lock()
		sh.apps[id] = secret
		sh.mu.Unlock()
		return answer(http.StatusOK, map[string]any{
			"id": id[:8], "name": c.params.get("client_name"), "website": orNull(c.params.get("website")),
			"client_id": id, "client_secret": secret, "redirect_uri": back, "redirect_uris": strings.Split(back, "\n"),
			"scopes": strings.Fields(c.params.get("scopes")),
		})
	})
}

func (m *mastodon) authorise(c *call) *reply {
	allowed := []string{"response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "force_login", "lang", "sim_answer"}
	if no := m.read(c, allowed); no != nil {
		return no
	}
	if method := c.params.get("code_challenge_method"); method != "" && method != "S256" {
		return oauthError(http.StatusBadRequest, "invalid_request", "code_challenge_method is S256")
	}
	return c.consent(strings.Fields(c.params.get("scope")), true)
}

func (m *mastodon) token(c *call) *reply {
	allowed := []string{"grant_type", "code", "client_id", "client_secret", "redirect_uri", "code_verifier", "scope", "refresh_token"}
	if no := m.read(c, allowed, "form", "json", "multipart"); no != nil {
		return no
	}
	return c.do(Token, nil, func() *reply {
		if !m.knows(c) {
			return oauthError(http.StatusUnauthorized, "invalid_client", "Client authentication failed.")
		}
		switch c.params.get("grant_type") {
		case "authorization_code":
			return m.redeem(c)
		case "refresh_token":
			return m.renew(c)
		}
		return oauthError(http.StatusBadRequest, "unsupported_grant_type", "The authorization grant type is not supported.")
	})
}

// knows checks the client. In open mode one that never registered will do.
func (m *mastodon) knows(c *call) bool {
	id, secret := c.params.get("client_id"), c.params.get("client_secret")
	sh := c.st.at(c.place.name)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	want, ok := sh.apps[id]
	if !ok {
		return !c.sim.opts.Closed && id != "" && secret != ""
	}
	return want == secret
}

func (m *mastodon) redeem(c *call) *reply {
	p, sh := &c.params, c.st.at(c.place.name)
	co, ok := sh.redeem(p.get("code"), p.get("client_id"), p.get("redirect_uri"), !c.sim.opts.Closed, c.now)
	if ok && co.challenge != "" {
		sum := sha256.Sum256([]byte(p.get("code_verifier")))
		ok = base64.RawURLEncoding.EncodeToString(sum[:]) == co.challenge
	}
	if !ok {
		return oauthError(http.StatusBadRequest, "invalid_grant", "The provided authorization grant is invalid, expired, or was used.")
	}
	who := co.account
	if who == "" {
		who = numberOf(p.get("code"))
	}
	sh.open(who)
	life := time.Duration(0)
	if c.sim.Knobs().Refresh != "none" {
		life = tokenLife
	}
	return granted(c, sh.issue(who, co.scopes, c.now, life, life > 0))
}

func (m *mastodon) renew(c *call) *reply {
	mode := c.sim.Knobs().Refresh
	if mode == "none" {
		return oauthError(http.StatusBadRequest, "unsupported_grant_type", "The authorization grant type is not supported.")
	}
	g, what := c.st.at(c.place.name).renew(c.params.get("refresh_token"), mode, c.now, tokenLife, hold{})
	switch what {
	case unavailable:
		return oauthError(http.StatusServiceUnavailable, "temporarily_unavailable", "Try again later.")
	case unknown, replayed:
		c.outcome = string(what)
		return oauthError(http.StatusBadRequest, "invalid_grant", "The refresh token is invalid, or was used.")
	}
	return granted(c, g)
}

// granted is a token as OAuth answers it.
func granted(c *call, g *grant) *reply {
	c.account = c.st.at(c.place.name).find(g.account)
	out := map[string]any{
		"access_token": g.token, "token_type": "Bearer", "scope": strings.Join(g.scopes, " "), "created_at": g.issued.Unix(),
	}
	if !g.expires.IsZero() {
		out["expires_in"] = int(g.expires.Sub(g.issued).Seconds())
	}
	if g.refresh != "" {
		out["refresh_token"] = g.refresh
	}
	return answer(http.StatusOK, out)
}

func (m *mastodon) revoke(c *call) *reply {
	if no := m.read(c, []string{"client_id", "client_secret", "token"}, "form", "json", "multipart"); no != nil {
		return no
	}
	return c.do(Token, nil, func() *reply {
		if !m.knows(c) {
			return oauthError(http.StatusForbidden, "unauthorized_client", "You are not authorized to revoke this token.")
		}
		c.st.at(c.place.name).revoke(c.params.get("token"))
		return answer(http.StatusOK, map[string]any{})
	})
}

func (m *mastodon) discover(c *call) *reply {
	base := c.base() + "/mastodon"
	return answer(http.StatusOK, map[string]any{
		"issuer": base + "/", "authorization_endpoint": base + "/oauth/authorize", "token_endpoint": base + "/oauth/token",
		"revocation_endpoint": base + "/oauth/revoke", "app_registration_endpoint": base + "/api/v1/apps",
		"scopes_supported":         []string{"read", "write", "profile", "read:accounts", "read:statuses", "write:media", "write:statuses"},
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"grant_types_supported": []string{"authorization_code", "client_credentials"},
	})
}
