package sim

import (
	"net/http"
	"strings"
	"time"
)

// authorise asks a person which account an app may use.
func (ig *instagram) authorise(c *call) *reply {
	if _, no := c.graphOpen(); no != nil {
		return no
	}
	if no := c.graphOnly("client_id", "redirect_uri", "response_type", "scope", "state", "force_reauth", "enable_fb_login", "sim_answer"); no != nil {
		return no
	}
	return c.consent(strings.FieldsFunc(c.params.get("scope"), func(r rune) bool { return r == ',' || r == ' ' }), true)
}

// token exchanges a code for a token of an hour.
func (ig *instagram) token(c *call) *reply {
	if _, no := c.graphOpen("form", "multipart"); no != nil {
		return no
	}
	if no := c.graphOnly("client_id", "client_secret", "grant_type", "redirect_uri", "code"); no != nil {
		return no
	}
	return c.do(Token, nil, func() *reply {
		if c.params.get("grant_type") != "authorization_code" || c.params.get("client_secret") == "" {
			return graphBad("grant_type is authorization_code, and client_secret is required.")
		}
		sh := c.st.at(c.place.name)
		co, ok := sh.redeem(strings.TrimSuffix(c.params.get("code"), "#_"), c.params.get("client_id"), c.params.get("redirect_uri"), !c.sim.opts.Closed, c.now)
		if !ok {
			return graphBad("The authorization code is invalid, or was used.")
		}
		who := co.account
		if who == "" {
			who = numberOf(c.params.get("code"))
		}
		sh.open(who)
		g := sh.issue(who, co.scopes, c.now, time.Hour, false)
		return answer(http.StatusOK, map[string]any{"access_token": g.token, "user_id": who, "permissions": co.scopes})
	})
}

// exchange turns a token of an hour into one of sixty days.
func (ig *instagram) exchange(c *call) *reply {
	return ig.prolong(c, "ig_exchange_token", 0, "client_secret")
}

// refresh prolongs a token that is a day old or more and has not expired.
func (ig *instagram) refresh(c *call) *reply {
	return ig.prolong(c, "ig_refresh_token", 24*time.Hour)
}

func (ig *instagram) prolong(c *call, kind string, age time.Duration, more ...string) *reply {
	if _, no := c.graphOpen(); no != nil {
		return no
	}
	if no := c.graphOnly(append(more, "grant_type")...); no != nil {
		return no
	}
	token := c.params.get("access_token") // a header is not documented here
	sh := c.st.at(c.place.name)
	g, v := sh.look(token, !c.sim.opts.Closed, c.now)
	var a *account
	if g != nil && g.account != "" {
		a = sh.find(g.account)
	}
	return c.do(Token, a, func() *reply {
		switch {
		case c.sim.Knobs().Refresh == "unavailable":
			return graphStatus(http.StatusServiceUnavailable)
		case v != good:
			return graphVerdict(v, "")
		case c.params.get("grant_type") != kind:
			return graphBad("grant_type is %s.", kind)
		case !g.issued.IsZero() && c.now.Sub(g.issued) < age:
			return graphError(http.StatusBadRequest, 100, 0, "The token is less than 24 hours old.")
		}
		fresh := sh.issue(g.account, g.scopes, c.now, longLife, false)
		return answer(http.StatusOK, map[string]any{
			"access_token": fresh.token, "token_type": "bearer", "expires_in": int(longLife.Seconds()),
		})
	})
}
