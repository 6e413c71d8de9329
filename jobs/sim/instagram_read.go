package sim

import (
	"net/http"
	"time"
)

var (
	mediaFields     = []string{"id", "caption", "timestamp", "permalink", "shortcode", "media_type", "media_product_type", "media_url", "username", "comments_count", "children", "alt_text"}
	containerFields = []string{"id", "status_code", "status", "copyright_check_status"}
	userFields      = []string{"id", "user_id", "username", "name", "account_type", "media_count"}
)

// item is a post as Instagram shows it. owner.mu is held.
func (ig *instagram) item(c *call, e *entry, username string) map[string]any {
	out := map[string]any{
		"id": e.ID, "timestamp": e.Time.UTC().Format(graphTime), "username": username,
		"permalink": c.base() + e.path + "/", "shortcode": e.private["shortcode"], "comments_count": len(e.Replies),
		"media_type": "IMAGE", "media_product_type": "FEED",
	}
	if e.Text != "" {
		out["caption"] = e.Text
	}
	if e.private["type"] != "" {
		out["media_type"], out["media_product_type"] = e.private["type"], e.private["product"]
	}
	if len(e.Media) > 0 {
		out["media_url"] = c.base() + e.Media[0].path
		if alt := e.Media[0].Alt; alt != "" {
			out["alt_text"] = alt
		}
	}
	if len(e.Media) > 1 {
		children := []any{}
		for i := range e.Media {
			children = append(children, map[string]any{"id": e.ID + "0" + string(rune('0'+i))})
		}
		out["children"] = map[string]any{"data": children}
	}
	return out
}

// list opens a list of an account's posts.
func (ig *instagram) list(c *call, want func(*entry) bool) *reply {
	a, _, no := ig.user(c, igRead)
	if no != nil {
		return no
	}
	if no := c.graphOnly(listParams...); no != nil {
		return no
	}
	tree, no := c.graphFields(mediaFields, "id")
	if no != nil {
		return no
	}
	l, no := c.graphListing()
	if no != nil {
		return no
	}
	username := a.Handle()
	return c.do(Find, a, func() *reply {
		return c.graphPage(l, a, tree, want, func(e *entry) map[string]any { return ig.item(c, e, username) })
	})
}

func (ig *instagram) listMedia(c *call) *reply {
	return ig.list(c, func(e *entry) bool { return e.Kind != "story" && e.shows(c.now) })
}

// listStories shows the stories of the last day.
func (ig *instagram) listStories(c *call) *reply {
	return ig.list(c, func(e *entry) bool {
		return e.Kind == "story" && e.shows(c.now) && c.now.Sub(e.Time) < 24*time.Hour
	})
}

// showObject reads a container, a post or a user.
func (ig *instagram) showObject(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	if no := c.graphOnly(); no != nil {
		return no
	}
	id := c.r.PathValue("id")
	if ct, ok := thing[*container](c.st.at(c.place.name), id); ok {
		return ig.showContainer(c, ct, token)
	}
	if _, ok := thing[*entry](c.st.at(c.place.name), id); ok {
		return ig.showMedia(c, id, token)
	}
	return ig.showUser(c, id, token)
}

func (ig *instagram) showContainer(c *call, ct *container, token string) *reply {
	tree, no := c.graphFields(containerFields, "id")
	if no != nil {
		return no
	}
	a, _, no := ig.admit(c, ct.owner.id, token, igRead)
	if no != nil {
		return no
	}
	a.mu.Lock()
	step := Prepare // a poll; after a publish was tried it is a look-up
	if ct.tried {
		step = Find
	}
	a.mu.Unlock()
	return c.do(step, a, func() *reply {
		out := map[string]any{"id": ct.id}
		out["status_code"], out["status"] = ct.look(c)
		a.mu.Lock()
		gone := ct.gone
		a.mu.Unlock()
		if gone {
			return graphMissing(ct.id)
		}
		if c.sim.Knobs().NoCode && out["status_code"] == "ERROR" {
			out["status_code"] = ""
		}
		return answer(http.StatusOK, tree.pick(out))
	})
}

func (ig *instagram) showMedia(c *call, id, token string) *reply {
	tree, no := c.graphFields(mediaFields, "id")
	if no != nil {
		return no
	}
	e, a, no := ig.owned(c, id, token, igRead)
	if no != nil {
		return no
	}
	username := a.Handle()
	return c.do(Find, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		return answer(http.StatusOK, tree.pick(ig.item(c, e, username)))
	})
}

func (ig *instagram) showUser(c *call, id, token string) *reply {
	tree, no := c.graphFields(userFields, "id,username")
	if no != nil {
		return no
	}
	if id == "me" {
		id = c.me(token)
	}
	a, _, no := ig.admit(c, id, token, igRead)
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, tree.pick(map[string]any{
			"id": a.id, "user_id": a.id, "username": a.Handle(), "name": a.Name(), "account_type": "BUSINESS",
			"media_count": len(a.public(c.now, "")),
		}))
	})
}
