package sim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	shortLife = 2 * time.Hour
	longLife  = 60 * 24 * time.Hour
)

// graphSignIn adds what the Graph API has for connecting accounts.
func graphSignIn(s *Sim, p *place) {
	p.on(s, "GET /{version}/dialog/oauth", Token, graphDialog)
	p.on(s, "GET /{version}/oauth/access_token", Token, graphToken)
	p.on(s, "POST /{version}/oauth/access_token", Token, graphToken)
	p.on(s, "GET /{version}/me/accounts", Check, graphAccounts)
	p.on(s, "GET /{version}/me/permissions", Check, graphPermissions)
	p.on(s, "GET /{version}/debug_token", Check, graphDebug)
}

// graphDialog asks a person for consent.
func graphDialog(c *call) *reply {
	if _, no := c.graphOpen(); no != nil {
		return no
	}
	if no := c.graphOnly("client_id", "redirect_uri", "state", "scope", "response_type", "auth_type", "sim_answer"); no != nil {
		return no
	}
	return c.consent(strings.FieldsFunc(c.params.get("scope"), func(r rune) bool { return r == ',' || r == ' ' }), false)
}

// graphToken exchanges a code for a person's token, and a short-lived one for a
// long-lived one.
func graphToken(c *call) *reply {
	if _, no := c.graphOpen("form"); no != nil {
		return no
	}
	if no := c.graphOnly("grant_type", "client_id", "client_secret", "redirect_uri", "code", "fb_exchange_token"); no != nil {
		return no
	}
	return c.do(Token, nil, func() *reply {
		if c.params.get("client_id") == "" || c.params.get("client_secret") == "" {
			return graphError(http.StatusBadRequest, 101, 0, "Missing client_id or client_secret parameter.")
		}
		switch c.params.get("grant_type") {
		case "", "authorization_code":
			return graphCode(c)
		case "fb_exchange_token":
			return graphExchange(c)
		}
		return graphBad("Unknown grant_type.")
	})
}

func graphCode(c *call) *reply {
	sh := c.st.at(c.place.name)
	co, ok := sh.redeem(c.params.get("code"), c.params.get("client_id"), c.params.get("redirect_uri"), !c.sim.opts.Closed, c.now)
	if !ok {
		return graphBad("This authorization code has expired, was used, or was made for another address.")
	}
	return graphIssue(c, co.scopes, shortLife)
}

func graphExchange(c *call) *reply {
	if c.sim.Knobs().Refresh == "unavailable" {
		return graphStatus(http.StatusServiceUnavailable)
	}
	g, v := c.st.at(c.place.name).look(c.params.get("fb_exchange_token"), !c.sim.opts.Closed, c.now)
	if v != good {
		return graphVerdict(v, "")
	}
	return graphIssue(c, g.scopes, longLife)
}

func graphIssue(c *call, scopes []string, life time.Duration) *reply {
	sh := c.st.at(c.place.name)
	g := sh.issue("", scopes, c.now, life, false)
	sh.mu.Lock()
	g.user, g.app = true, c.params.get("client_id")
	sh.mu.Unlock()
	return answer(http.StatusOK, map[string]any{
		"access_token": g.token, "token_type": "bearer", "expires_in": int(life.Seconds()),
	})
}

// graphAccounts lists the accounts that a person's token manages: all of them.
func graphAccounts(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	if no := c.graphOnly(listParams...); no != nil {
		return no
	}
	tree, no := c.graphFields(append(slices.Clone(pageFields), "instagram_business_account"), "id,name,access_token,category,tasks")
	if no != nil {
		return no
	}
	sh := c.st.at(c.place.name)
	g, v := sh.look(token, !c.sim.opts.Closed, c.now)
	if v != good {
		return graphVerdict(v, "")
	}
	return c.do(Check, nil, func() *reply {
		data := []any{}
		for _, a := range sh.all() {
			item := pageItem(c, a, sh.tokenFor(a, g, c.now))
			item["instagram_business_account"] = map[string]any{"id": a.id, "username": a.Handle(), "name": a.Name()}
			data = append(data, tree.pick(item))
		}
		return answer(http.StatusOK, map[string]any{"data": data})
	})
}

// tokenFor returns the account's own token, or makes one out of a person's.
func (sh *shelf) tokenFor(a *account, g *grant, now time.Time) string {
	sh.mu.RLock()
	for token, other := range sh.grants {
		if other.account == a.id && !other.revoked && (other.expires.IsZero() || now.Before(other.expires)) {
			sh.mu.RUnlock()
			return token
		}
	}
	sh.mu.RUnlock()
	made := sh.issue(a.id, g.scopes, now, 0, false)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	made.app = g.app
	return made.token
}

func graphPermissions(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	g, v := c.st.at(c.place.name).look(token, !c.sim.opts.Closed, c.now)
	if v != good {
		return graphVerdict(v, "")
	}
	return c.do(Check, nil, func() *reply {
		data := []any{}
		for _, scope := range g.granted(c) {
			data = append(data, map[string]string{"permission": scope, "status": "granted"})
		}
		return answer(http.StatusOK, map[string]any{"data": data})
	})
}

// graphScopes are what a token with everything says it may do.
var graphScopes = map[string][]string{
	"facebook":  {"pages_show_list", "pages_manage_posts", "pages_read_engagement", "pages_manage_engagement", "pages_read_user_content", "publish_video"},
	"instagram": {"instagram_basic", "instagram_content_publish", "instagram_manage_comments", "pages_show_list", "pages_read_engagement"},
}

func (g *grant) granted(c *call) []string {
	if g.scopes != nil {
		return g.scopes
	}
	return graphScopes[string(c.place.name)]
}

// graphDebug tells about a token.
func graphDebug(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	if no := c.graphOnly("input_token"); no != nil {
		return no
	}
	if token == "" {
		return graphVerdict(noToken, "")
	}
	return c.do(Check, nil, func() *reply {
		g, v := c.st.at(c.place.name).look(c.params.get("input_token"), !c.sim.opts.Closed, c.now)
		if g == nil {
			return answer(http.StatusOK, map[string]any{"data": map[string]any{
				"is_valid": false, "scopes": []string{}, "error": map[string]any{"code": 190, "message": "Invalid OAuth access token."},
			}})
		}
		data := map[string]any{
			"app_id": g.app, "type": "PAGE", "is_valid": v == good, "scopes": g.granted(c), "expires_at": 0,
			"profile_id": g.account, "data_access_expires_at": c.now.Add(90 * 24 * time.Hour).Unix(),
		}
		if g.user {
			data["type"] = "USER"
		}
		if !g.expires.IsZero() {
			data["expires_at"] = g.expires.Unix()
		}
		return answer(http.StatusOK, map[string]any{"data": data})
	})
}

// me is the account that a token stands for.
func (c *call) me(token string) string {
	if g, _ := c.st.at(c.place.name).look(token, false, c.now); g != nil && g.account != "" {
		return g.account
	}
	return ownerOf(token)
}

// consent shows a person who wants what, and sends them back with a code. In
// place of a form it has links, so that it works under any policy.
func (c *call) consent(scopes []string, choose bool) *reply {
	client, back := c.params.get("client_id"), c.params.get("redirect_uri")
	if client == "" || !webAddress(back) || c.params.get("response_type") != "code" {
		return &reply{status: http.StatusBadRequest, kind: "text/plain; charset=utf-8",
			body: []byte("This sign-in link is not whole: client_id, redirect_uri and response_type=code are needed.\n")}
	}
	said := c.params.get("sim_answer")
	if said == "" {
		return c.consentPage(scopes, choose)
	}
	q := url.Values{}
	if c.params.has("state") {
		q.Set("state", c.params.get("state"))
	}
	if who, yes := strings.CutPrefix(said, "allow:"); yes {
		q.Set("code", c.st.at(c.place.name).offer(code{
			client: client, redirect: back, account: who, scopes: scopes, challenge: c.params.get("code_challenge"),
		}, c.now))
	} else {
		q.Set("error", "access_denied")
		q.Set("error_description", "The person said no.")
	}
	joint := "?"
	if strings.Contains(back, "?") {
		joint = "&"
	}
	return (&reply{status: http.StatusFound}).with("Location", back+joint+q.Encode())
}
