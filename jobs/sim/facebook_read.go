package sim

import (
	"net/http"
	"net/url"
	"strings"
)

var (
	postFields = []string{
		"id", "message", "created_time", "updated_time", "is_published", "permalink_url", "status_type",
		"attachments", "application", "from", "scheduled_publish_time",
	}
	videoFields = []string{"id", "status", "description", "title", "permalink_url", "created_time", "updated_time", "published", "post_id"}
	photoFields = []string{"id", "alt_text_custom", "created_time", "link", "page_story_id"}
	pageFields  = []string{"id", "name", "username", "link", "category", "picture", "access_token", "tasks"}
	storyFields = []string{"post_id", "status", "creation_time", "media_type", "media_id", "url", "id"}
)

// postItem is a post as the Graph API shows it. owner.mu is held.
func (fb *facebook) postItem(c *call, e *entry) map[string]any {
	out := map[string]any{
		"id": e.ID, "created_time": e.Time.UTC().Format(graphTime), "updated_time": e.Time.UTC().Format(graphTime),
		"is_published": !e.hidden && !e.Time.After(c.now), "permalink_url": c.base() + e.path,
		"status_type": map[bool]string{true: "added_photos", false: "mobile_status_update"}[len(e.Media) > 0],
		"from":        map[string]any{"id": e.owner.id},
	}
	if e.Text != "" {
		out["message"] = e.Text
	}
	if e.Kind == "video" || e.Kind == "reel" {
		out["status_type"] = "added_video"
	}
	if app := e.private["app"]; app != "" {
		out["application"] = map[string]any{"id": app}
	}
	if e.Time.After(c.now) {
		out["scheduled_publish_time"] = e.Time.Unix()
	}
	if list := fb.attachments(c, e); len(list) > 0 {
		out["attachments"] = map[string]any{"data": list}
	}
	return out
}

// attachments are the pictures, the video or the link of a post. owner.mu is held.
func (fb *facebook) attachments(c *call, e *entry) []any {
	var items []any
	targets := strings.Split(e.private["targets"], ",")
	for i, m := range e.Media {
		kind := map[string]string{"image": "photo", "video": "video"}[m.Kind]
		item := map[string]any{"media_type": kind, "url": c.base() + m.path, "description": m.Alt}
		if i < len(targets) {
			item["target"] = map[string]any{"id": targets[i], "url": c.base() + e.path}
		}
		items = append(items, item)
	}
	switch {
	case e.Link != "":
		return []any{map[string]any{
			"media_type": "link", "url": "https://l.facebook.com/l.php?u=" + url.QueryEscape(e.Link),
			"target": map[string]any{"url": "https://l.facebook.com/l.php?u=" + url.QueryEscape(e.Link)},
		}}
	case len(items) > 1:
		return []any{map[string]any{
			"media_type": "album", "url": c.base() + e.path, "target": map[string]any{"id": e.ID},
			"subattachments": map[string]any{"data": items},
		}}
	}
	return items
}

// list opens a list of a Page's posts.
func (fb *facebook) list(c *call, known []string, def string, want func(*entry) bool, show func(*entry) map[string]any, extra ...string) *reply {
	a, _, no := fb.page(c, "pages_read_engagement")
	if no != nil {
		return no
	}
	if no := c.graphOnly(append(extra, listParams...)...); no != nil {
		return no
	}
	tree, no := c.graphFields(known, def)
	if no != nil {
		return no
	}
	l, no := c.graphListing()
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply { return c.graphPage(l, a, tree, want, show) })
}

// listFeed also shows what is not public yet; neither list has reels and stories.
func (fb *facebook) listFeed(c *call) *reply {
	return fb.list(c, postFields, "id,message,created_time", func(e *entry) bool {
		return e.Kind != "reel" && e.Kind != "story" && !e.removed(c.now)
	}, func(e *entry) map[string]any { return fb.postItem(c, e) })
}

func (fb *facebook) listPublished(c *call) *reply {
	return fb.list(c, postFields, "id,message,created_time", func(e *entry) bool {
		return e.Kind != "reel" && e.Kind != "story" && e.shows(c.now)
	}, func(e *entry) map[string]any { return fb.postItem(c, e) })
}

func (fb *facebook) listReels(c *call) *reply {
	return fb.list(c, videoFields, "id,description,updated_time", func(e *entry) bool {
		return e.Kind == "reel" && !e.removed(c.now)
	}, func(e *entry) map[string]any { return reelItem(c, e) })
}

func (fb *facebook) listStories(c *call) *reply {
	return fb.list(c, storyFields, "post_id,status,creation_time,media_type,media_id,url", func(e *entry) bool {
		return e.Kind == "story" && e.shows(c.now)
	}, func(e *entry) map[string]any { return storyItem(c, e) }, "status")
}

// reelItem is a reel as its list shows it: by the id of its video. owner.mu is held.
func reelItem(c *call, e *entry) map[string]any {
	when := e.Time.UTC().Format(graphTime)
	return map[string]any{
		"id": e.private["targets"], "description": e.Text, "title": e.Title, "updated_time": when, "created_time": when,
		"published": !e.hidden, "permalink_url": c.base() + e.path, "post_id": e.ID,
	}
}

// showObject reads one post, photo, video or Page.
func (fb *facebook) showObject(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	if no := c.graphOnly(); no != nil {
		return no
	}
	id := c.r.PathValue("id")
	sh := c.st.at(c.place.name)
	if v, ok := thing[*video](sh, id); ok {
		return fb.showVideo(c, v, token)
	}
	if p, ok := thing[*photo](sh, id); ok {
		return fb.showPhoto(c, p, token)
	}
	if strings.Contains(id, "_") {
		return fb.showPost(c, id, token)
	}
	return fb.showPage(c, id, token)
}

func (fb *facebook) showPost(c *call, id, token string) *reply {
	tree, no := c.graphFields(postFields, "id,message,created_time")
	if no != nil {
		return no
	}
	e, a, no := fb.owned(c, id, token, "pages_read_engagement")
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		return answer(http.StatusOK, tree.pick(fb.postItem(c, e)))
	})
}

func (fb *facebook) showVideo(c *call, v *video, token string) *reply {
	tree, no := c.graphFields(videoFields, "id,updated_time")
	if no != nil {
		return no
	}
	a, _, no := fb.admit(c, v.owner.id, token, "pages_read_engagement")
	if no != nil {
		return no
	}
	a.mu.Lock()
	e := v.post
	a.mu.Unlock()
	step := Prepare // before it is finished this is a poll, afterwards a look-up
	if e != nil {
		step = Find
	}
	return c.do(step, a, func() *reply {
		out := map[string]any{"id": v.id}
		if e != nil {
			e.read(func() { out = reelItem(c, e) })
		}
		if _, asked := tree["status"]; asked {
			out["status"] = fb.status(c, v)
		}
		return answer(http.StatusOK, tree.pick(out))
	})
}

func (fb *facebook) showPhoto(c *call, p *photo, token string) *reply {
	tree, no := c.graphFields(photoFields, "id,created_time")
	if no != nil {
		return no
	}
	a, _, no := fb.admit(c, p.owner.id, token, "pages_read_engagement")
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		out := map[string]any{
			"id": p.id, "alt_text_custom": p.media.Alt, "created_time": p.born.UTC().Format(graphTime),
			"link": c.base() + p.media.path,
		}
		if p.post != "" {
			out["page_story_id"] = p.post
		}
		return answer(http.StatusOK, tree.pick(out))
	})
}

func (fb *facebook) showPage(c *call, id, token string) *reply {
	tree, no := c.graphFields(pageFields, "id,name")
	if no != nil {
		return no
	}
	if id == "me" {
		id = c.me(token)
	}
	a, g, no := fb.admit(c, id, token, "pages_read_engagement")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply { return answer(http.StatusOK, tree.pick(pageItem(c, a, g.token))) })
}

// pageItem is a Page as the Graph API shows it.
func pageItem(c *call, a *account, token string) map[string]any {
	return map[string]any{
		"id": a.id, "name": a.Name(), "username": a.Handle(), "category": "Local business", "access_token": token,
		"link": c.base() + "/" + string(a.network) + "?account=" + url.QueryEscape(a.id), "tasks": []any{"CREATE_CONTENT", "MANAGE", "MODERATE"},
		"picture": map[string]any{"data": map[string]any{"url": c.base() + "/_static/page.svg", "is_silhouette": true}},
	}
}
