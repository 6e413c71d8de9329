package sim

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"herald/db/network"
)

// bundle is Bundle.social: an account here is a team, which has one account of every
// network. Posts are in bundle_post.go, files in bundle_upload.go.
type bundle struct{ sim *Sim }

const bundleName = network.Name(network.Bundle)

func newBundle(s *Sim) *place {
	b := &bundle{s}
	p := &place{
		name: bundleName, title: "Bundle.social", mux: http.NewServeMux(),
		kinds: allKinds, complain: b.complain, stranger: b.stranger, decorate: func(*call, *reply) {},
	}
	p.on(s, "POST /api/v1/upload/{$}", Prepare, b.upload)
	p.on(s, "POST /api/v1/upload/init", Prepare, b.initUpload)
	p.on(s, "PUT /store/{id}", Prepare, b.store)
	p.on(s, "POST /api/v1/upload/finalize", Prepare, b.finalize)
	p.on(s, "POST /api/v1/post/{$}", Commit, b.create)
	p.on(s, "POST /api/v1/post/{id}/retry", Commit, b.retry)
	p.on(s, "PATCH /api/v1/post/{id}", Commit, b.patch)
	p.on(s, "GET /api/v1/post/{id}", Find, b.show)
	p.on(s, "GET /api/v1/post/reference-key/{key}", Find, b.showByKey)
	p.on(s, "GET /api/v1/team/{id}", Check, b.team)
	p.on(s, "/", Check, func(*call) *reply { return bundleError(http.StatusNotFound, "Not Found") })
	return p
}

// bundleError is the error body, which has no code but the status.
func bundleError(status int, message string, issues ...string) *reply {
	body := map[string]any{"statusCode": status, "message": message}
	if len(issues) > 0 {
		list := []any{}
		for _, words := range issues {
			list = append(list, map[string]any{"code": "custom", "path": []any{"data"}, "message": words})
		}
		body["issues"] = list
	}
	return answer(status, body)
}

func bundleBad(issue string) *reply {
	return bundleError(http.StatusBadRequest, "Validation failed", issue)
}

// complain says a fault in Bundle.social's words. It names no wait by itself; one
// that a test asks for stands in the usual header.
func (b *bundle) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return bundleError(http.StatusTooManyRequests, "Too Many Requests").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return bundleVerdict(badToken)
	case MissingPermission:
		return bundleVerdict(noScope)
	case Invalid:
		return bundleBad("The content is not acceptable")
	}
	return bundleError(status, http.StatusText(status))
}

func bundleVerdict(v verdict) *reply {
	switch v {
	case good:
		return nil
	case noScope:
		return bundleError(http.StatusForbidden, "Your plan does not include this.")
	case elsewhere:
		return bundleError(http.StatusNotFound, "Team not found")
	}
	return bundleError(http.StatusUnauthorized, "Unauthorized")
}

// enter checks the key for a team, and counts the call.
func (b *bundle) enter(c *call, team string) (*account, *reply) {
	a, _, v := c.admit(team, c.r.Header.Get("x-api-key"))
	if no := bundleVerdict(v); no != nil {
		return a, no
	}
	return a, b.paced(c, a)
}

// bundlePace are the limits that hold over all calls of a key, each for itself.
var bundlePace = []pace{{5, time.Second}, {20, 10 * time.Second}, {100, time.Minute}}

// paced refuses a call above one of the limits, and names neither it nor a wait.
func (b *bundle) paced(c *call, a *account) *reply {
	paces, limit := bundlePace, c.sim.Knobs().CallLimit
	if limit > 0 {
		paces = []pace{{limit, time.Minute}}
	}
	if limit == 0 || a.room("calls", c.now, paces...) {
		return nil
	}
	return bundleError(http.StatusTooManyRequests, "Too Many Requests")
}

// told reads a JSON body, of which a member names the team.
func (b *bundle) told(c *call, v any, team *string) (*account, *reply) {
	err := c.object(v)
	a, no := b.enter(c, *team)
	if no == nil && err != nil {
		no = bundleBad(err.Error())
	}
	return a, no
}

// team tells which accounts are connected.
func (b *bundle) team(c *call) *reply {
	a, no := b.enter(c, c.r.PathValue("id"))
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		accounts := []any{}
		for i, name := range bundleTypes {
			one := map[string]any{"id": "sa-" + a.id + "-" + strconv.Itoa(i), "type": name, "teamId": a.id, "username": a.Handle(), "displayName": a.Name(), "channels": []any{}, "deletedAt": nil}
			if name == "PINTEREST" {
				one["channels"] = []any{map[string]any{"id": "b1", "name": "Bread"}, map[string]any{"id": "b2", "name": "Rolls"}}
			}
			accounts = append(accounts, one)
		}
		return answer(http.StatusOK, map[string]any{"id": a.id, "name": a.Name(), "organizationId": "org", "socialAccounts": accounts})
	})
}

func (b *bundle) stranger(st *state, accountID, text string) *entry {
	return b.sim.foreign(st, bundleName, accountID, text, func(_ *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, bundlePath(id)
	})
}

func bundlePath(id string) string { return "/bundle/p/" + id }

// bundleTypes are the networks that it reaches.
var bundleTypes = []string{"TIKTOK", "YOUTUBE", "INSTAGRAM", "FACEBOOK", "TWITTER", "THREADS", "LINKEDIN", "PINTEREST", "REDDIT", "MASTODON",
	"DISCORD", "SLACK", "BLUESKY", "GOOGLE_BUSINESS", "SNAPCHAT"}

func bundleHas(name string) bool { return slices.Contains(bundleTypes, name) }
