package sim

import (
	"net/http"
	"strconv"
	"time"

	"herald/db/network"
)

// instagram is content publishing for professional accounts. Containers and
// what becomes of them are in instagram_*.go.
type instagram struct{ sim *Sim }

func newInstagram(s *Sim) *place {
	ig := &instagram{s}
	p := &place{
		name: network.Instagram, title: "Instagram", mux: http.NewServeMux(),
		kinds: allKinds, complain: ig.complain, stranger: ig.stranger,
		decorate: func(c *call, rep *reply) { graphHeaders(c, rep, "instagram") },
	}
	p.on(s, "POST /{version}/{user}/media", Prepare, ig.createContainer)
	p.onUpload(s, "POST /ig-api-upload/{version}/{container}", ig.upload)
	p.on(s, "POST /{version}/{user}/media_publish", Commit, ig.publish)
	p.on(s, "POST /{version}/{id}/comments", FollowUp, ig.createComment)
	p.on(s, "GET /{version}/{id}/comments", FollowUp, ig.listComments)
	p.on(s, "GET /{version}/{id}", Find, ig.showObject)
	p.on(s, "GET /{version}/{user}/media", Find, ig.listMedia)
	p.on(s, "GET /{version}/{user}/stories", Find, ig.listStories)
	p.on(s, "GET /{version}/{user}/content_publishing_limit", Check, ig.showLimit)
	p.on(s, "GET /oauth/authorize", Token, ig.authorise)
	p.on(s, "POST /oauth/access_token", Token, ig.token)
	p.on(s, "GET /access_token", Token, ig.exchange)
	p.on(s, "GET /refresh_access_token", Token, ig.refresh)
	graphSignIn(s, p)
	p.on(s, "/", Check, func(c *call) *reply { return graphNowhere(c) })
	return p
}

// complain says a fault in Instagram's words.
func (ig *instagram) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return graphLimited(c, 80002, "instagram", wait)
	case ExpiredToken:
		return graphVerdict(expired, "")
	case MissingPermission:
		return graphVerdict(noScope, "")
	case Invalid:
		return graphError(http.StatusBadRequest, 36003, 2207009, "The aspect ratio is not supported.")
	}
	return graphStatus(status)
}

// The scopes of both ways to sign in.
var (
	igRead    = []string{"instagram_basic", "instagram_business_basic"}
	igPublish = []string{"instagram_content_publish", "instagram_business_content_publish"}
	igComment = []string{"instagram_manage_comments", "instagram_business_manage_comments"}
)

// user opens a call on an Instagram user.
func (ig *instagram) user(c *call, scopes []string, kinds ...string) (*account, *grant, *reply) {
	token, no := c.graphOpen(kinds...)
	if no != nil {
		return nil, nil, no
	}
	id := c.r.PathValue("user")
	if id == "me" {
		id = c.me(token)
	}
	return ig.admit(c, id, token, scopes)
}

func (ig *instagram) admit(c *call, id, token string, scopes []string) (*account, *grant, *reply) {
	a, g, v := c.admit(id, token, scopes...)
	if v != good {
		return nil, nil, graphVerdict(v, id)
	}
	if no := graphOverLimit(c, a, 80002, "instagram"); no != nil {
		return nil, nil, no
	}
	return a, g, nil
}

// showLimit tells how many posts of the day are used.
func (ig *instagram) showLimit(c *call) *reply {
	a, _, no := ig.user(c, igPublish)
	if no != nil {
		return no
	}
	if no := c.graphOnly("since"); no != nil {
		return no
	}
	tree, no := c.graphFields([]string{"quota_usage", "config"}, "quota_usage")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		a.mu.Lock()
		a.sent = recent(a.sent, c.now.Add(-24*time.Hour))
		used := len(a.sent)
		a.mu.Unlock()
		return answer(http.StatusOK, map[string]any{"data": []any{tree.pick(map[string]any{
			"quota_usage": used,
			"config":      map[string]any{"quota_total": c.sim.Knobs().QuotaTotal, "quota_duration": 86400},
		})}})
	})
}

func (ig *instagram) stranger(st *state, accountID, text string) *entry {
	a := st.at(network.Instagram).open(accountID)
	n := ig.sim.next()
	short := shortcode(n)
	e := &entry{
		Post: Post{
			ID: strconv.FormatInt(n, 10), Kind: "photo", Text: text, Time: ig.sim.opts.Now(),
			Stranger: true, seq: n, path: "/instagram/p/" + short,
		},
		born: ig.sim.opts.Now(), private: map[string]string{"shortcode": short},
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}

// shortcode is what the address of a post has in place of its id.
func shortcode(n int64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	out := []byte{}
	for ; n > 0; n /= 64 {
		out = append([]byte{letters[n%64]}, out...)
	}
	return "D" + string(out)
}
