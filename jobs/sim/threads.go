package sim

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"herald/db/network"
)

// threads is Meta's Threads. It speaks as the Graph API does, under a version of
// its own. Containers are in threads_container.go, lists in threads_read.go.
type threads struct{ sim *Sim }

const (
	thPosts   = 250 // in 24 h
	thReplies = 1000
	thLife    = 60 * 24 * time.Hour
)

func newThreads(s *Sim) *place {
	th := &threads{s}
	p := &place{
		name: network.Threads, title: "Threads", mux: http.NewServeMux(),
		kinds: allKinds, complain: th.complain, stranger: th.stranger,
		decorate: func(c *call, rep *reply) { graphHeaders(c, rep, "threads") },
	}
	p.on(s, "POST /{v}/{user}/threads", Prepare, th.createContainer)
	p.on(s, "POST /{v}/{user}/threads_publish", Commit, th.publish)
	p.on(s, "GET /{v}/{user}/threads", Find, th.listThreads)
	p.on(s, "GET /{v}/{user}/replies", FollowUp, th.listReplies)
	p.on(s, "GET /{v}/{user}/threads_publishing_limit", Check, th.showLimit)
	p.on(s, "GET /{v}/{id}", Find, th.showObject)
	p.on(s, "DELETE /{v}/{id}", FollowUp, th.deleteMedia)
	p.on(s, "GET /oauth/authorize", Token, th.authorise)
	p.on(s, "POST /oauth/access_token", Token, th.token)
	p.on(s, "GET /access_token", Token, th.exchange)
	p.on(s, "GET /refresh_access_token", Token, th.refresh)
	p.on(s, "/", Check, func(c *call) *reply { return graphNowhere(c) })
	return p
}

func thError(code, sub int, message string) *reply {
	return graphError(http.StatusBadRequest, code, sub, message)
}

// complain says a fault in Threads' words.
func (th *threads) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return graphLimited(c, 613, "threads", wait)
	case ExpiredToken:
		return graphVerdict(expired, "")
	case MissingPermission:
		return graphVerdict(noScope, "")
	case Invalid:
		return thError(100, 0, "Param text must be at most 500 characters long.")
	}
	return graphStatus(status)
}

// open reads a call on a user, and its token.
func (th *threads) open(c *call, scope string, kinds ...string) (*account, *reply) {
	token, no := th.read(c, kinds...)
	if no != nil {
		return nil, no
	}
	id := c.r.PathValue("user")
	if id == "me" {
		id = c.me(token)
	}
	return th.admit(c, id, token, scope)
}

func (th *threads) read(c *call, kinds ...string) (string, *reply) {
	if v := c.r.PathValue("v"); v != "" && v != "v1.0" {
		return "", graphBad("There is no API version %s.", v)
	}
	return c.graphOpen(kinds...)
}

func (th *threads) admit(c *call, id, token, scope string) (*account, *reply) {
	a, _, v := c.admit(id, token, scope)
	if v != good {
		return nil, graphVerdict(v, id)
	}
	if no := graphOverLimit(c, a, 613, "threads"); no != nil {
		return nil, no
	}
	return a, nil
}

// showLimit tells how much of the day is used.
func (th *threads) showLimit(c *call) *reply {
	a, no := th.open(c, "threads_content_publish")
	if no != nil {
		return no
	}
	if no := c.graphOnly(); no != nil {
		return no
	}
	tree, no := c.graphFields([]string{"quota_usage", "config", "reply_quota_usage", "reply_config", "delete_quota_usage", "delete_config"}, "quota_usage")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		a.mu.Lock()
		posts, replies := a.today(c.now)
		a.mu.Unlock()
		return answer(http.StatusOK, map[string]any{"data": []any{tree.pick(map[string]any{
			"quota_usage": posts, "config": map[string]any{"quota_total": thPosts, "quota_duration": 86400},
			"reply_quota_usage": replies, "reply_config": map[string]any{"quota_total": thReplies, "quota_duration": 86400},
		})}})
	})
}

// today counts the posts and the answers of the last 24 h. mu is held.
func (a *account) today(now time.Time) (posts, replies int) {
	for _, e := range a.posts {
		switch {
		case e.Stranger || now.Sub(e.born) >= 24*time.Hour:
		case e.parent != "":
			replies++
		default:
			posts++
		}
	}
	return posts, replies
}

func (th *threads) stranger(st *state, accountID, text string) *entry {
	e := th.sim.foreign(st, network.Threads, accountID, text, func(a *account, n int64) (string, string) { return thID(n), thPath(a, n) })
	e.read(func() { e.private["shortcode"], e.private["type"] = shortcode(e.seq), "TEXT_POST" })
	return e
}

// thID is an id larger than what a double holds.
func thID(n int64) string { return "18" + fmt.Sprintf("%016d", n%10_000_000_000_000_000) }

func thPath(a *account, n int64) string {
	return "/threads/@" + a.Handle() + "/post/" + shortcode(n)
}

// authorise asks a person which account an app may use.
func (th *threads) authorise(c *call) *reply {
	if _, no := c.graphOpen(); no != nil {
		return no
	}
	if no := c.graphOnly("client_id", "redirect_uri", "response_type", "scope", "state", "sim_answer"); no != nil {
		return no
	}
	return c.consent(strings.FieldsFunc(c.params.get("scope"), func(r rune) bool { return r == ',' || r == ' ' }), true)
}

// token exchanges a code for a token of an hour.
func (th *threads) token(c *call) *reply {
	if _, no := c.graphOpen("form"); no != nil {
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
		return answer(http.StatusOK, map[string]any{"access_token": g.token, "user_id": who})
	})
}

func (th *threads) exchange(c *call) *reply {
	return th.prolong(c, "th_exchange_token", 0, "client_secret")
}

// refresh prolongs a token that is a day old or more and has not expired.
func (th *threads) refresh(c *call) *reply {
	return th.prolong(c, "th_refresh_token", 24*time.Hour)
}

func (th *threads) prolong(c *call, kind string, age time.Duration, more ...string) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	if no := c.graphOnly(append(more, "grant_type")...); no != nil {
		return no
	}
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
			return thError(100, 0, "The token is less than 24 hours old.")
		}
		fresh := sh.issue(g.account, g.scopes, c.now, thLife, false)
		return answer(http.StatusOK, map[string]any{"access_token": fresh.token, "token_type": "bearer", "expires_in": int(thLife.Seconds())})
	})
}
