package sim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// ghl is GoHighLevel's social planner. Its account is a connected account, whatever
// its network and whichever location it is asked for in; what is published stands
// here. Posts are in ghl_post.go.
type ghl struct{ sim *Sim }

const ghlName = network.Name(network.GHL)

func newGHL(s *Sim) *place {
	g := &ghl{s}
	p := &place{
		name: ghlName, title: "GoHighLevel", mux: http.NewServeMux(),
		kinds: allKinds, complain: g.complain, stranger: g.stranger, decorate: g.decorate,
	}
	p.on(s, "POST /social-media-posting/{location}/posts", Commit, g.create)
	p.on(s, "GET /social-media-posting/{location}/posts/{id}", Find, g.show)
	p.on(s, "POST /social-media-posting/{location}/posts/list", Find, g.list)
	p.on(s, "GET /social-media-posting/{location}/accounts", Check, g.accounts)
	p.on(s, "GET /users/{$}", Check, g.users)
	p.on(s, "/", Check, func(*call) *reply { return ghlError(http.StatusNotFound, "Not Found") })
	return p
}

func ghlError(status int, message any) *reply {
	return answer(status, map[string]any{"statusCode": status, "message": message, "traceId": "t-" + strconv.Itoa(status)})
}

// decorate adds the headers that every answer has. They name no wait.
func (g *ghl) decorate(_ *call, r *reply) {
	r.with("X-RateLimit-Max", "100").with("X-RateLimit-Interval-Milliseconds", "10000").with("X-RateLimit-Limit-Daily", "200000")
}

// complain says a fault in GoHighLevel's words: 401 for a dead token and for a missing
// scope alike.
func (g *ghl) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return ghlError(http.StatusTooManyRequests, "Too Many Requests").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return ghlError(http.StatusUnauthorized, "Invalid JWT")
	case MissingPermission:
		return ghlError(http.StatusUnauthorized, "This authClass type is not allowed to access this scope. Please reach out to the Support team")
	case Invalid:
		return ghlError(http.StatusBadRequest, "The content is not acceptable")
	}
	return ghlError(status, http.StatusText(status))
}

// enter finds the account of a token, or the one that the call names. The token needs
// one of the scopes.
func (g *ghl) enter(c *call, id string, scopes ...string) (*account, *reply) {
	if v := c.r.Header.Get("Version"); v != "v3" && v != "2021-07-28" {
		return nil, ghlError(http.StatusUnauthorized, "version header was not found.")
	}
	token, _ := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	a, _, v := c.admitByToken(token, scopes...)
	if id != "" {
		a, _, v = c.admit(id, token, scopes...)
	}
	switch v {
	case good:
		return a, nil
	case noScope:
		return a, g.complain(c, MissingPermission, 0, 0)
	case elsewhere:
		return a, ghlError(http.StatusBadRequest, "Argument passed in must be a single String of 12 bytes or a string of 24 hex characters")
	}
	return a, g.complain(c, ExpiredToken, 0, 0)
}

// ghlPlatforms are the networks that accounts are of, as GoHighLevel calls them.
var ghlPlatforms = []string{"facebook", "instagram", "google", "linkedin", "twitter", "tiktok", "youtube", "pinterest", "threads", "bluesky"}

// accounts tells of the account as one of every network, since nothing here says of
// which it is.
func (g *ghl) accounts(c *call) *reply {
	a, no := g.enter(c, "")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		list := []any{}
		for _, platform := range ghlPlatforms {
			list = append(list, map[string]any{"id": a.id, "name": a.Name(), "platform": platform, "type": "page", "isExpired": false})
		}
		return ghlGood(http.StatusOK, map[string]any{"accounts": list, "groups": []any{}})
	})
}

func (g *ghl) users(c *call) *reply {
	a, no := g.enter(c, "")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		if c.r.URL.Query().Get("locationId") == "" {
			return ghlError(http.StatusUnprocessableEntity, []string{"locationId should not be empty"})
		}
		return answer(http.StatusOK, map[string]any{"users": []any{map[string]any{"id": ghlUser, "name": "Nora"}}})
	})
}

// told is the answer to what was made. GoHighLevel has been seen to refuse it with 422
// all the same.
func (g *ghl) told(c *call, rep *reply) *reply {
	if c.sim.Knobs().Made422 {
		return ghlError(http.StatusUnprocessableEntity, []string{"the request could not be processed"})
	}
	return rep
}

// ghlUser is the one user of every location.
const ghlUser = "u1"

func ghlGood(status int, results any) *reply {
	return answer(status, map[string]any{"success": true, "statusCode": status, "message": "OK", "results": results})
}

func (g *ghl) stranger(st *state, accountID, text string) *entry {
	return g.sim.foreign(st, ghlName, accountID, text, func(_ *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, ghlPath(id)
	})
}

func ghlPath(id string) string { return "/ghl/p/" + id }

// list has posts of a time that were made here, newest first. Everything it is asked by is text.
func (g *ghl) list(c *call) *reply {
	var v struct {
		Type     string `json:"type"`
		Accounts string `json:"accounts"`
		Skip     string `json:"skip"`
		Limit    string `json:"limit"`
		From     string `json:"fromDate"`
		To       string `json:"toDate"`
		Users    string `json:"includeUsers"`
		PostType string `json:"postType"`
	}
	err := c.object(&v)
	a, no := g.enter(c, v.Accounts)
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		from, bad := time.Parse(time.RFC3339, v.From)
		to, worse := time.Parse(time.RFC3339, v.To)
		skip, odd := strconv.Atoi(v.Skip)
		limit, odder := strconv.Atoi(v.Limit)
		if err != nil || bad != nil || worse != nil || odd != nil || odder != nil || !slices.Contains([]string{"true", "false"}, v.Users) {
			return ghlError(http.StatusUnprocessableEntity, []string{"fromDate, toDate, skip, limit and includeUsers must be strings"})
		}
		posts, _ := c.listPage(a, skip, min(limit, 100), func(e *entry) bool { return !e.Stranger && !e.born.Before(from) && !e.born.After(to) }, func(e *entry) any { return ghlTell(e, "published") })
		return ghlGood(http.StatusCreated, map[string]any{"posts": posts, "count": len(posts)})
	})
}
