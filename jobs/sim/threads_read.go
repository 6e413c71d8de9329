package sim

import (
	"net/http"
	"strings"
)

var (
	thMediaFields     = []string{"id", "text", "timestamp", "permalink", "shortcode", "media_type", "username", "is_quote_post", "link_attachment_url", "alt_text", "topic_tag", "replied_to", "root_post", "is_reply"}
	thContainerFields = []string{"id", "status", "error_message"}
	thUserFields      = []string{"id", "username", "name", "threads_profile_picture_url", "threads_biography"}
)

// item is a post as Threads shows it. owner.mu is held.
func (th *threads) item(c *call, e *entry, username string) map[string]any {
	out := map[string]any{
		"id": e.ID, "timestamp": e.Time.UTC().Format(graphTime), "username": username, "shortcode": e.private["shortcode"],
		"permalink": c.base() + e.path, "media_type": e.private["type"], "is_quote_post": false, "is_reply": e.parent != "",
	}
	if text := thShown(e.Text, e.private["topic"]); text != "" {
		out["text"] = text
	}
	if e.Link != "" {
		out["link_attachment_url"] = e.Link
	}
	if e.parent != "" {
		out["replied_to"], out["root_post"] = map[string]string{"id": e.parent}, map[string]string{"id": c.root(e).ID}
	}
	return out
}

// thShown is a text as lists give it: the tag that became the topic has lost its
// sign, and blanks at the end are gone.
func thShown(text, topic string) string {
	if topic == "" {
		if tag := tagShape.FindString(text); tag != "" {
			text = strings.Replace(text, tag, tag[1:], 1)
		}
	}
	return strings.TrimRight(text, " \t\n")
}

func (th *threads) listThreads(c *call) *reply {
	return th.list(c, Find, func(e *entry) bool { return e.parent == "" && e.shows(c.now) })
}

func (th *threads) listReplies(c *call) *reply {
	return th.list(c, FollowUp, func(e *entry) bool { return e.parent != "" && e.shows(c.now) })
}

func (th *threads) list(c *call, step Step, want func(*entry) bool) *reply {
	a, no := th.open(c, "threads_basic")
	if no != nil {
		return no
	}
	if no := c.graphOnly(listParams...); no != nil {
		return no
	}
	tree, no := c.graphFields(thMediaFields, "id")
	if no != nil {
		return no
	}
	l, no := c.graphListing()
	if no != nil {
		return no
	}
	username := a.Handle()
	return c.do(step, a, func() *reply {
		return c.graphPage(l, a, tree, want, func(e *entry) map[string]any { return th.item(c, e, username) })
	})
}

// showObject reads a container, a post or a user.
func (th *threads) showObject(c *call) *reply {
	token, no := th.read(c)
	if no != nil {
		return no
	}
	if no := c.graphOnly(); no != nil {
		return no
	}
	id := c.r.PathValue("id")
	if ct, ok := thing[*thContainer](c.st.at(c.place.name), id); ok {
		return th.showContainer(c, ct, token)
	}
	if e, ok := thing[*entry](c.st.at(c.place.name), id); ok {
		return th.showMedia(c, e, token)
	}
	return th.showUser(c, id, token)
}

func (th *threads) showContainer(c *call, ct *thContainer, token string) *reply {
	tree, no := c.graphFields(thContainerFields, "id")
	if no != nil {
		return no
	}
	a, no := th.admit(c, ct.owner.id, token, "threads_basic")
	if no != nil {
		return no
	}
	a.mu.Lock()
	step := Prepare // a poll; after a publish was tried it is a look-up
	switch {
	case ct.replyTo != "":
		step = FollowUp
	case ct.tried:
		step = Find
	}
	a.mu.Unlock()
	return c.do(step, a, func() *reply {
		out := map[string]any{"id": ct.id, "status": ct.look(c)}
		a.mu.Lock()
		defer a.mu.Unlock()
		if ct.gone {
			return graphMissing(ct.id)
		}
		if out["status"] == "ERROR" {
			out["error_message"] = ct.failed
		}
		return answer(http.StatusOK, tree.pick(out))
	})
}

func (th *threads) showMedia(c *call, e *entry, token string) *reply {
	tree, no := c.graphFields(thMediaFields, "id")
	if no != nil {
		return no
	}
	a, no := th.admit(c, e.owner.id, token, "threads_basic")
	if no != nil {
		return no
	}
	username := a.Handle()
	return c.do(Find, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if e.removed(c.now) || c.now.Sub(e.born) < c.sim.Knobs().ReadLag {
			return graphMissing(e.ID)
		}
		return answer(http.StatusOK, tree.pick(th.item(c, e, username)))
	})
}

func (th *threads) showUser(c *call, id, token string) *reply {
	tree, no := c.graphFields(thUserFields, "id,username")
	if no != nil {
		return no
	}
	if id == "me" {
		id = c.me(token)
	}
	a, no := th.admit(c, id, token, "threads_basic")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, tree.pick(map[string]any{"id": a.id, "username": a.Handle(), "name": a.Name()}))
	})
}

func (th *threads) deleteMedia(c *call) *reply {
	token, no := th.read(c)
	if no != nil {
		return no
	}
	e, ok := thing[*entry](c.st.at(c.place.name), c.r.PathValue("id"))
	if !ok {
		return graphMissing(c.r.PathValue("id"))
	}
	a, no := th.admit(c, e.owner.id, token, "threads_delete")
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		e.read(func() { e.gone = c.now })
		return answer(http.StatusOK, map[string]any{"success": true, "deleted_id": e.ID})
	})
}
