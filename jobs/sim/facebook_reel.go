package sim

import (
	"net/http"
	"strings"
	"time"
)

func (fb *facebook) createReel(c *call) *reply {
	a, g, no := fb.page(c, "pages_manage_posts", "form", "json")
	if no != nil {
		return no
	}
	if no := c.graphOnly("upload_phase", "video_id", "video_state", "description", "title", "scheduled_publish_time"); no != nil {
		return no
	}
	switch c.params.get("upload_phase") {
	case "start":
		return c.do(Prepare, a, func() *reply { return fb.startUpload(c, a, "reel") })
	case "finish":
		return c.do(Commit, a, func() *reply { return fb.finishReel(c, a, g) })
	}
	return graphBad("upload_phase is start or finish.")
}

// startUpload opens an upload for a reel or a story.
func (fb *facebook) startUpload(c *call, a *account, kind string) *reply {
	v := fb.newVideo(c, a, kind)
	return answer(http.StatusOK, map[string]any{
		"video_id":   v.id,
		"upload_url": c.base() + "/facebook/video-upload/" + c.r.PathValue("version") + "/" + v.id,
	})
}

// finishable finds an uploaded video of a kind that is no post yet.
func (fb *facebook) finishable(c *call, a *account, kind string) (*video, *reply) {
	id := c.params.get("video_id")
	v, ok := thing[*video](c.st.at(a.network), id)
	if !ok || v.owner != a || v.kind != kind {
		return nil, graphMissing(id)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case v.post != nil:
		return nil, graphBad("This video was published already.")
	case v.failed != "":
		return nil, graphError(http.StatusBadRequest, 6000, 0, "(#6000) "+v.failed)
	case !v.whole:
		return nil, graphError(http.StatusBadRequest, 6000, 1363020, "(#6000) The video was not uploaded yet.")
	case kind == "reel" && a.spentReels(c.now) >= reelsADay:
		return nil, graphError(http.StatusBadRequest, 613, 0, "(#613) 30 reels were published in 24 hours.")
	}
	return v, nil
}

func (fb *facebook) finishReel(c *call, a *account, g *grant) *reply {
	v, no := fb.finishable(c, a, "reel")
	if no != nil {
		return no
	}
	when, no := fb.reelTiming(c)
	if no != nil {
		return no
	}
	if no := fb.described(c); no != nil {
		return no
	}
	e := fb.post(c, a, g, "reel", c.params.get("description"), when)
	e.Title, e.Media, e.path = c.params.get("title"), []Media{v.media}, "/facebook/p/"+v.id
	e.private["targets"] = v.id
	if no := fb.store(c, a, e); no != nil {
		return no
	}
	e.read(func() {
		v.post = e
		a.sent = append(a.sent, c.now)
	})
	return answer(http.StatusOK, map[string]any{"success": true})
}

func (fb *facebook) reelTiming(c *call) (timing, *reply) {
	switch c.params.get("video_state") {
	case "PUBLISHED":
		return timing{at: c.now}, nil
	case "DRAFT":
		return timing{at: c.now, hidden: true}, nil
	case "SCHEDULED":
		at, ok := graphMoment(c.params.get("scheduled_publish_time"))
		if !ok || at.Before(c.now.Add(10*time.Minute)) || at.After(c.now.Add(29*24*time.Hour)) {
			return timing{}, graphBad("The specified scheduled publish time is invalid.")
		}
		return timing{at: at}, nil
	}
	return timing{}, graphBad("video_state is PUBLISHED, DRAFT or SCHEDULED.")
}

func (fb *facebook) createPhotoStory(c *call) *reply {
	a, g, no := fb.page(c, "pages_manage_posts", "form", "json")
	if no != nil {
		return no
	}
	if no := c.graphOnly("photo_id"); no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply {
		p, ok := thing[*photo](c.st.at(a.network), c.params.get("photo_id"))
		if !ok || p.owner != a {
			return graphMissing(c.params.get("photo_id"))
		}
		e := fb.post(c, a, g, "story", "", timing{at: c.now})
		if no := fb.store(c, a, e, p); no != nil {
			return no
		}
		return answer(http.StatusOK, map[string]any{"success": true, "post_id": e.ID})
	})
}

func (fb *facebook) createVideoStory(c *call) *reply {
	a, g, no := fb.page(c, "pages_manage_posts", "form", "json")
	if no != nil {
		return no
	}
	if no := c.graphOnly("upload_phase", "video_id"); no != nil {
		return no
	}
	switch c.params.get("upload_phase") {
	case "start":
		return c.do(Prepare, a, func() *reply { return fb.startUpload(c, a, "story") })
	case "finish":
		return c.do(Commit, a, func() *reply { return fb.finishStory(c, a, g) })
	}
	return graphBad("upload_phase is start or finish.")
}

func (fb *facebook) finishStory(c *call, a *account, g *grant) *reply {
	v, no := fb.finishable(c, a, "story")
	if no != nil {
		return no
	}
	e := fb.post(c, a, g, "story", "", timing{at: c.now})
	e.Media, e.private["targets"] = []Media{v.media}, v.id
	if no := fb.store(c, a, e); no != nil {
		return no
	}
	e.read(func() { v.post = e })
	return answer(http.StatusOK, map[string]any{"success": true, "post_id": e.ID})
}

// storyItem is a story as its list shows it. owner.mu is held.
func storyItem(c *call, e *entry) map[string]any {
	kind := "photo"
	if len(e.Media) > 0 && e.Media[0].Kind == "video" {
		kind = "video"
	}
	_, n, _ := strings.Cut(e.ID, "_")
	return map[string]any{
		"id": e.ID, "post_id": e.ID, "status": "PUBLISHED", "creation_time": e.Time.Unix(),
		"media_type": kind, "media_id": e.private["targets"], "url": c.base() + "/facebook/p/" + e.owner.id + "_" + n,
	}
}
