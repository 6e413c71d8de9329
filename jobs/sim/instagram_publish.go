package sim

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

func (ig *instagram) publish(c *call) *reply {
	a, _, no := ig.user(c, igPublish, "form")
	if no != nil {
		return no
	}
	if no := c.graphOnly("creation_id"); no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply {
		ct, ok := thing[*container](c.st.at(a.network), c.params.get("creation_id"))
		if !ok || ct.owner != a || ct.child {
			return igError(24, 2207006, "The media with this creation_id was not found.")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return ig.release(c, a, ct)
	})
}

// release makes a finished container public. a.mu is held.
func (ig *instagram) release(c *call, a *account, ct *container) *reply {
	ct.tried = true
	a.sent = recent(a.sent, c.now.Add(-24*time.Hour))
	state, _ := ct.state(c)
	switch {
	case ct.gone:
		return igError(24, 2207006, "The media with this creation_id was not found.")
	case state == "PUBLISHED" && c.sim.Knobs().Republish:
		c.outcome = "replayed"
		return answer(http.StatusOK, map[string]any{"id": ct.becomes.ID})
	case state == "IN_PROGRESS":
		return igError(9007, 2207027, "The media is not ready to be published. Wait a moment.")
	case state != "FINISHED":
		return igError(24, 2207008, "The container was published before, failed, or has expired.")
	case len(a.sent) >= c.sim.Knobs().QuotaTotal:
		return igError(9, 2207042, "The account has reached the number of posts that is allowed in 24 hours.")
	}
	n := c.sim.next()
	e := &entry{
		Post:    Post{ID: strconv.FormatInt(n, 10), Kind: ct.becoming(), Text: ct.caption, Media: ct.media, Time: c.now},
		private: map[string]string{"shortcode": shortcode(n), "product": ct.product(), "type": ct.mediaType()},
	}
	e.path = "/instagram/p/" + shortcode(n)
	a.sent = append(a.sent, c.now)
	c.publish(a, e)
	ct.becomes = e
	return answer(http.StatusOK, map[string]any{"id": e.ID})
}

func (ct *container) becoming() string {
	return map[string]string{"IMAGE": "photo", "REELS": "reel", "STORIES": "story", "CAROUSEL": "carousel"}[ct.kind]
}

func (ct *container) product() string {
	return map[string]string{"IMAGE": "FEED", "REELS": "REELS", "STORIES": "STORY", "CAROUSEL": "FEED"}[ct.kind]
}

func (ct *container) mediaType() string {
	switch {
	case ct.kind == "CAROUSEL":
		return "CAROUSEL_ALBUM"
	case len(ct.media) > 0 && ct.media[0].Kind == "video":
		return "VIDEO"
	}
	return "IMAGE"
}

// upload takes a video's bytes, or the address of it, by the upload host.
func (ig *instagram) upload(c *call) *reply {
	ct, ok := thing[*container](c.st.at(c.place.name), c.r.PathValue("container"))
	token, oauth := strings.CutPrefix(c.r.Header.Get("Authorization"), "OAuth ")
	if !ok || !oauth {
		return uploadError("NotAuthorizedError", "The upload or its token is not known.", false)
	}
	a, _, no := ig.admit(c, ct.owner.id, token, igPublish)
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		b, no := uploaded(c)
		if no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if !ct.await {
			return uploadError("OffsetInvalidError", "The upload is complete.", false)
		}
		ct.await = false
		ct.takeVideo(c, b)
		return answer(http.StatusOK, map[string]any{"success": true, "message": "Upload successful."})
	})
}

// createComment takes form and query only: Instagram does not see JSON there.
func (ig *instagram) createComment(c *call) *reply {
	token, no := c.graphOpen("form")
	if no != nil {
		return no
	}
	e, a, no := ig.owned(c, c.r.PathValue("id"), token, igComment)
	if no != nil {
		return no
	}
	if no := c.graphOnly("message"); no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		text := c.params.get("message")
		switch {
		case strings.TrimSpace(text) == "":
			return graphBad("The parameter message is required.")
		case units(text) > igCaption || hashtags(text) > 30 || strings.Count(text, "://") > 1:
			return graphBad("The comment is too long, or has too many hashtags or links.")
		}
		return c.comment(e, "", text)
	})
}

// owned finds a published post by id and checks that the token is its account's.
func (ig *instagram) owned(c *call, id, token string, scopes []string) (*entry, *account, *reply) {
	e, ok := thing[*entry](c.st.at(c.place.name), id)
	if !ok {
		return nil, nil, graphMissing(id)
	}
	a, _, no := ig.admit(c, e.owner.id, token, scopes)
	if no != nil {
		return nil, nil, no
	}
	var there bool
	e.read(func() { there = !e.removed(c.now) && !(c.now.Sub(e.born) < c.sim.Knobs().ReadLag) })
	if !there {
		return nil, nil, graphMissing(id)
	}
	return e, a, nil
}
