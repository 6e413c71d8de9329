package sim

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"herald/db/network"
)

// tiktok is the Content Posting API with its upload host. What is published is in
// tiktok_publish.go, what is read in tiktok_read.go.
type tiktok struct{ sim *Sim }

func newTikTok(s *Sim) *place {
	k := &tiktok{s}
	p := &place{
		name: network.TikTok, title: "TikTok", mux: http.NewServeMux(),
		kinds: allKinds, complain: k.complain, decorate: func(c *call, rep *reply) { rep.with("X-Tt-Logid", c.id) }, stranger: k.stranger,
	}
	p.on(s, "POST /v2/post/publish/creator_info/query/{$}", Check, k.creatorInfo)
	p.on(s, "POST /v2/post/publish/video/init/{$}", Prepare, k.initVideo)
	p.on(s, "POST /v2/post/publish/content/init/{$}", Commit, k.initPhotos)
	p.on(s, "POST /v2/post/publish/status/fetch/{$}", Find, k.fetchStatus)
	p.on(s, "PUT /video/{$}", Prepare, k.put)
	p.on(s, "POST /v2/video/list/{$}", Find, k.listVideos)
	p.on(s, "POST /v2/video/query/{$}", FollowUp, k.queryVideos)
	p.on(s, "GET /v2/user/info/{$}", Check, k.userInfo)
	p.on(s, "/", Check, func(c *call) *reply {
		return ttError(c, http.StatusNotFound, "unsupported_path", "Unsupported path(Janus).")
	})
	d := desk{id: "client_key", secret: "client_secret", apart: ",", life: 2 * time.Hour, hold: hold{life: 180 * 24 * time.Hour}, tells: "refresh_expires_in", hex: true, more: []string{"disable_auto_auth"},
		issued: func(g *grant, out map[string]any) { out["open_id"] = g.account }}
	p.on(s, "GET /v2/auth/authorize/{$}", Token, d.consent)
	p.on(s, "POST /v2/oauth/token/{$}", Token, d.token)
	p.on(s, "POST /v2/oauth/revoke/{$}", Token, d.revoke)
	return p
}

// ttError is TikTok's error object, which stands in every answer.
func ttError(c *call, status int, code, message string) *reply {
	return answer(status, map[string]any{"data": map[string]any{}, "error": map[string]any{"code": code, "message": message, "log_id": c.id}})
}

// ttOK is a good answer, which has an error object too.
func ttOK(c *call, data map[string]any) *reply {
	return answer(http.StatusOK, map[string]any{"data": data, "error": map[string]any{"code": "ok", "message": "", "log_id": c.id}})
}

func ttBad(c *call, message string) *reply {
	return ttError(c, http.StatusBadRequest, "invalid_params", message)
}

// complain says a fault in TikTok's words. What it refuses it refuses with 200 at
// times; the simulator does so for content.
func (k *tiktok) complain(c *call, kind Kind, status int, wait time.Duration) *reply {
	if c.step == Token {
		return oauthComplaint(kind, status, wait)
	}
	switch kind {
	case RateLimit:
		return ttError(c, http.StatusTooManyRequests, "rate_limit_exceeded", "The API rate limit was exceeded.").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return ttError(c, http.StatusUnauthorized, "access_token_invalid", "The access token is invalid or not found in the request.")
	case MissingPermission:
		return ttError(c, http.StatusUnauthorized, "scope_not_authorized", "The user did not authorize the scope required for completing this request.")
	case Invalid:
		return ttError(c, http.StatusOK, "invalid_params", "The content is not acceptable.")
	}
	code := map[int]string{401: "access_token_invalid", 403: "spam_risk", 429: "rate_limit_exceeded"}[status]
	switch {
	case code != "":
	case status >= http.StatusInternalServerError:
		code = "internal_error"
	default:
		code = "invalid_params"
	}
	return ttError(c, status, code, "The request cannot be completed.")
}

func (k *tiktok) verdict(c *call, v verdict) *reply {
	if v == noScope {
		return k.complain(c, MissingPermission, 0, 0)
	}
	return k.complain(c, ExpiredToken, 0, 0)
}

// enter reads a call: its token, and its body into v.
func (k *tiktok) enter(c *call, v any, scopes ...string) (*account, *reply) {
	a, _, no := c.admitByToken(c.bearer(), scopes...)
	if no != good {
		return nil, k.verdict(c, no)
	}
	if err := c.object(v); err != nil {
		return nil, ttBad(c, err.Error())
	}
	return a, nil
}

// ttPrivacy is what an account of the simulator lets its creator choose from.
var ttPrivacy = []string{"PUBLIC_TO_EVERYONE", "MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"}

const ttLongest = 600 // seconds

// creatorInfo tells what an account may do now.
func (k *tiktok) creatorInfo(c *call) *reply {
	a, no := k.enter(c, &struct{}{}, "video.publish")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return ttOK(c, map[string]any{
			"creator_avatar_url": c.base() + "/_static/page.svg", "creator_username": a.Handle(), "creator_nickname": a.Name(),
			"privacy_level_options": ttPrivacy, "comment_disabled": false, "duet_disabled": false, "stitch_disabled": false, "max_video_post_duration_sec": ttLongest,
		})
	})
}

func (k *tiktok) userInfo(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer(), "user.info.basic")
	if v != good {
		return k.verdict(c, v)
	}
	c.params.values = c.r.URL.Query()
	if name := c.params.stray("fields"); name != "" || c.params.get("fields") == "" {
		return ttBad(c, "Fields are required, and nothing else is.")
	}
	return c.do(Check, a, func() *reply {
		return ttOK(c, map[string]any{"user": map[string]any{"open_id": a.id, "display_name": a.Name()}})
	})
}

// stranger is a video that the creator posted in the app.
func (k *tiktok) stranger(st *state, accountID, text string) *entry {
	a := st.at(network.TikTok).open(accountID)
	n, now := k.sim.next(), k.sim.opts.Now()
	e := &entry{Post: Post{ID: strconv.FormatInt(n, 10), Kind: "video", Text: text, Time: now, Stranger: true, seq: n}, born: now, private: map[string]string{"privacy": "PUBLIC_TO_EVERYONE"}}
	e.path = "/tiktok/p/" + e.ID
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}

// known says whether every word is among those that there are.
func known(words, all []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(all, w) })
}
