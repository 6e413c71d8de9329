package sim

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// mastodon is one server. Statuses, media, lists and sign-in are in
// mastodon_*.go.
type mastodon struct{ sim *Sim }

const (
	tootRate   = 300 // calls per account and window
	tootWindow = 5 * time.Minute
	tootTime   = "2006-01-02T15:04:05.000Z"
)

func newMastodon(s *Sim) *place {
	m := &mastodon{s}
	p := &place{
		name: network.Mastodon, title: "Mastodon", mux: http.NewServeMux(),
		kinds: allKinds, complain: m.complain, decorate: m.decorate, stranger: m.stranger,
	}
	p.on(s, "POST /api/v1/statuses", Commit, m.createStatus)
	p.on(s, "GET /api/v1/statuses/{id}", Find, m.showStatus)
	p.on(s, "GET /api/v1/statuses/{id}/source", Find, m.showSource)
	p.on(s, "DELETE /api/v1/statuses/{id}", FollowUp, m.deleteStatus)
	p.on(s, "GET /api/v1/accounts/{id}/statuses", Find, m.listStatuses)
	p.on(s, "GET /api/v1/accounts/verify_credentials", Check, m.verify)
	p.on(s, "POST /api/v2/media", Prepare, m.createMedia)
	p.on(s, "GET /api/v1/media/{id}", Prepare, m.showMedia)
	p.on(s, "PUT /api/v1/media/{id}", Prepare, m.describeMedia)
	p.on(s, "GET /api/v2/instance", Check, m.instance)
	p.on(s, "GET /api/v1/instance", Check, m.instance)
	p.on(s, "POST /api/v1/apps", Token, m.createApp)
	p.on(s, "GET /oauth/authorize", Token, m.authorise)
	p.on(s, "POST /oauth/token", Token, m.token)
	p.on(s, "POST /oauth/revoke", Token, m.revoke)
	p.on(s, "GET /.well-known/oauth-authorization-server", Check, m.discover)
	p.on(s, "/", Check, func(c *call) *reply {
		return tootError(http.StatusNotFound, "The page you are looking for isn't here.")
	})
	return p
}

func tootError(status int, message string) *reply {
	return answer(status, map[string]string{"error": message})
}

func tootInvalid(format string, args ...any) *reply {
	return tootError(http.StatusUnprocessableEntity, "Validation failed: "+fmt.Sprintf(format, args...))
}

var tootMissing = "Record not found"

// complain says a fault in Mastodon's words.
func (m *mastodon) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return tootLimited(c.now.Add(wait))
	case ExpiredToken:
		return tootVerdict(revoked)
	case MissingPermission:
		return tootVerdict(noScope)
	case Invalid:
		return tootInvalid("Text is not acceptable")
	}
	words := map[int]string{401: "The access token is invalid", 403: "This action is not allowed", 404: tootMissing, 429: "Too many requests"}
	if status == http.StatusTooManyRequests {
		return tootLimited(c.now.Add(time.Minute))
	}
	if status >= http.StatusInternalServerError { // from the proxy in front, not from Mastodon
		page := fmt.Sprintf("<html><head><title>%d %s</title></head><body>nginx</body></html>", status, http.StatusText(status))
		return &reply{status: status, kind: "text/html; charset=utf-8", body: []byte(page)}
	}
	if words[status] == "" {
		return tootError(status, "Validation failed: the request is not acceptable")
	}
	return tootError(status, words[status])
}

func tootLimited(reset time.Time) *reply {
	return tootError(http.StatusTooManyRequests, "Too many requests").
		with("X-RateLimit-Limit", strconv.Itoa(tootRate)).with("X-RateLimit-Remaining", "0").
		with("X-RateLimit-Reset", reset.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

func tootVerdict(v verdict) *reply {
	switch v {
	case noToken, badToken, elsewhere:
		return tootError(http.StatusUnauthorized, "The access token is invalid")
	case expired:
		return tootError(http.StatusUnauthorized, "The access token expired")
	case revoked:
		return tootError(http.StatusUnauthorized, "The access token was revoked")
	}
	return tootError(http.StatusForbidden, "This action is outside the authorized scopes")
}

// decorate adds the rate headers and the id of the request.
func (m *mastodon) decorate(c *call, rep *reply) {
	rep.with("X-Request-Id", c.id)
	if c.account == nil || rep.header.Get("X-RateLimit-Remaining") != "" {
		return
	}
	n, reset := c.account.count(c.now, tootWindow)
	limit := tootRate
	if k := c.sim.Knobs().CallLimit; k > 0 {
		limit = k
	}
	rep.with("X-RateLimit-Limit", strconv.Itoa(limit)).with("X-RateLimit-Remaining", strconv.Itoa(max(0, limit-n))).
		with("X-RateLimit-Reset", reset.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

// open reads a call: its token and its parameters.
func (m *mastodon) open(c *call, scopes []string, kinds ...string) (*account, *reply) {
	token, ok := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		token = ""
	}
	a, _, v := c.admitByToken(token, scopes...)
	if v != good {
		return nil, tootVerdict(v)
	}
	if err := c.read(railsNest, kinds...); err != nil {
		return nil, tootError(http.StatusUnprocessableEntity, "Validation failed: "+err.Error())
	}
	if limit := c.sim.Knobs().CallLimit; limit > 0 {
		a.mu.Lock()
		n, end := a.calls.n, a.calls.start.Add(tootWindow)
		a.mu.Unlock()
		if n >= limit && c.now.Before(end) {
			return nil, tootLimited(end)
		}
	}
	return a, nil
}

// only refuses parameters that the call does not have.
func (m *mastodon) only(c *call, allowed ...string) *reply {
	if name := c.params.stray(allowed...); name != "" {
		return tootInvalid("unknown parameter %s", name)
	}
	return nil
}

// railsNest writes JSON as Rails takes it in forms: name[] and name[key].
func railsNest(into url.Values, name string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			railsNest(into, name+"[]", item)
		}
	case map[string]any:
		for key, item := range v {
			railsNest(into, name+"["+key+"]", item)
		}
	default:
		s, _ := scalar(v)
		into.Add(name, s)
	}
}

func (m *mastodon) instance(c *call) *reply {
	return c.do(Check, nil, func() *reply {
		return answer(http.StatusOK, map[string]any{
			"domain": hostOf(c.base()), "title": "Simulated Mastodon", "version": "4.5.0",
			"source_url": "https://github.com/mastodon/mastodon", "languages": []string{"en"},
			"configuration": map[string]any{
				"statuses": map[string]any{"max_characters": tootChars, "max_media_attachments": 4, "characters_reserved_per_url": 23},
				"media_attachments": map[string]any{
					"supported_mime_types": tootTypes, "description_limit": tootAlt,
					"image_size_limit": tootImage, "image_matrix_limit": tootPixels, "video_size_limit": tootVideo,
					"video_frame_rate_limit": 120, "video_matrix_limit": tootFilm,
				},
				"polls": map[string]any{"max_options": 4, "max_characters_per_option": 50, "min_expiration": 300, "max_expiration": 2629746},
			},
		})
	})
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "mastodon.simulated"
	}
	return u.Host
}

func (m *mastodon) verify(c *call) *reply {
	a, no := m.open(c, []string{"read:accounts", "profile"})
	if no != nil {
		return no
	}
	if no := m.only(c); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		out := m.person(c, a)
		out["source"] = map[string]any{"privacy": "public", "sensitive": false, "language": "en", "note": ""}
		return answer(http.StatusOK, out)
	})
}

// person is an account as Mastodon shows it.
func (m *mastodon) person(c *call, a *account) map[string]any {
	return map[string]any{
		"id": a.id, "username": a.Handle(), "acct": a.Handle(), "display_name": a.Name(),
		"url": c.base() + "/mastodon/@" + a.Handle(), "bot": false, "locked": false,
	}
}

func (m *mastodon) stranger(st *state, accountID, text string) *entry {
	a := st.at(network.Mastodon).open(accountID)
	n := m.sim.next()
	id := strconv.FormatInt(n, 10)
	e := &entry{
		Post: Post{ID: id, Kind: "post", Text: text, Time: m.sim.opts.Now(), Stranger: true, seq: n, path: "/mastodon/@" + a.Handle() + "/" + id},
		born: m.sim.opts.Now(), private: map[string]string{"visibility": "public"},
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}

// tootHTML is a text as a status shows it.
func tootHTML(text string) string {
	safe := html.EscapeString(text)
	safe = linkShape.ReplaceAllString(safe, `<a href="$0" rel="nofollow noopener" target="_blank">$0</a>`)
	return "<p>" + strings.ReplaceAll(strings.ReplaceAll(safe, "\n\n", "</p><p>"), "\n", "<br />") + "</p>"
}
