package sim

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

const ytText = 10_000 // of a comment

// resource is a video as YouTube shows it. The owner's lock is held.
func (y *youtube) resource(c *call, e *entry, parts []string) map[string]any {
	out := map[string]any{"kind": "youtube#video", "etag": "e", "id": e.ID}
	for _, part := range parts {
		switch part {
		case "snippet":
			out[part] = map[string]any{"channelId": e.Account, "title": strings.TrimSpace(e.Title), "description": strings.TrimSpace(e.Text),
				"publishedAt": e.Time.UTC().Format(time.RFC3339), "categoryId": e.private["category"]}
		case "status":
			out[part] = y.verdict(c, e)
		}
	}
	return out
}

// verdict is what became of a video. The owner's lock is held.
func (y *youtube) verdict(c *call, e *entry) map[string]any {
	status := map[string]any{"uploadStatus": e.private["status"], "privacyStatus": e.private["privacy"], "madeForKids": e.private["kids"] == "true"}
	switch {
	case e.private["status"] == "failed":
		status["failureReason"] = e.private["why"]
	case e.private["status"] == "rejected":
		status["rejectionReason"] = e.private["why"]
	case e.removed(c.now):
		status["uploadStatus"], status["rejectionReason"] = "rejected", cmp.Or(e.private["why"], "termsOfUse")
	}
	return status
}

// mine is a video of the account.
func (y *youtube) mine(c *call, a *account, id string) *entry {
	e, ok := thing[*entry](c.st.at(network.YouTube), id)
	if !ok || e.owner != a {
		return nil
	}
	return e
}

// videos reads videos by id. The owner sees the private ones too, and those that
// were turned down.
func (y *youtube) videos(c *call) *reply {
	a, no := y.enter(c, ytReads)
	if no != nil {
		return no
	}
	if no := y.only(c, "part", "id", "maxResults", "pageToken"); no != nil {
		return no
	}
	parts, no := y.parts(c, "id", "snippet", "status", "processingDetails", "fileDetails")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		work := c.sim.faults.take(c, asyncKinds)
		items := []any{}
		for id := range strings.SplitSeq(c.params.get("id"), ",") {
			if e := y.mine(c, a, id); e != nil {
				e.read(func() {
					if work != nil && work.Kind == AsyncError {
						e.private["status"], e.private["why"], e.gone = "failed", "conversion", c.now
					}
					item := y.resource(c, e, parts)
					if status, ok := item["status"].(map[string]any); ok && work != nil && work.Kind == AsyncPending {
						status["uploadStatus"] = "uploaded"
					}
					items = append(items, item)
				})
			}
		}
		return answer(http.StatusOK, map[string]any{"kind": "youtube#videoListResponse", "items": items, "pageInfo": map[string]int{"totalResults": len(items)}})
	})
}

// channels answers whose the token is.
func (y *youtube) channels(c *call) *reply {
	a, no := y.enter(c, ytReads)
	if no != nil {
		return no
	}
	if no := y.only(c, "part", "mine"); no != nil {
		return no
	}
	if _, no := y.parts(c, "id", "snippet", "contentDetails", "status"); no != nil {
		return no
	}
	if c.params.get("mine") != "true" {
		return ytBad("missingRequiredParameter", "No filter selected. Expected one of: mine")
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"kind": "youtube#channelListResponse", "items": []any{map[string]any{
			"id": a.id, "snippet": map[string]any{"title": a.Name(), "customUrl": "@" + a.Handle()},
			"contentDetails": map[string]any{"relatedPlaylists": map[string]string{"uploads": "UU" + a.id, "likes": ""}},
			"status":         map[string]any{"privacyStatus": "public", "longUploadsStatus": "allowed"},
		}}})
	})
}

// playlistItems lists a channel's uploads, newest first.
func (y *youtube) playlistItems(c *call) *reply {
	a, no := y.enter(c, ytReads)
	if no != nil {
		return no
	}
	if no := y.only(c, "part", "playlistId", "maxResults", "pageToken"); no != nil {
		return no
	}
	if _, no := y.parts(c, "snippet", "contentDetails", "status"); no != nil {
		return no
	}
	limit, err := strconv.Atoi(c.params.get("maxResults"))
	if c.params.has("maxResults") && (err != nil || limit < 0 || limit > 50) {
		return ytBad("badRequest", "maxResults is 0 to 50.")
	}
	if !c.params.has("maxResults") {
		limit = 5
	}
	return c.do(Find, a, func() *reply {
		if c.params.get("playlistId") != "UU"+a.id {
			return ytError(http.StatusNotFound, "playlistNotFound", "The playlist identified with the request's playlistId parameter cannot be found.")
		}
		return y.uploads(c, a, limit)
	})
}

func (y *youtube) uploads(c *call, a *account, limit int) *reply {
	lag, items, next := c.lag(), []any{}, ""
	started := c.params.get("pageToken") == ""
	a.newest(func(e *entry) bool {
		started = started || e.ID == c.params.get("pageToken")
		if !started || e.removed(c.now) || lag > 0 && c.now.Sub(e.born) < lag {
			return true
		}
		if len(items) == limit {
			next = e.ID
			return false
		}
		items = append(items, map[string]any{"id": "PI" + e.ID, "snippet": map[string]any{
			"channelId": a.id, "title": strings.TrimSpace(e.Title), "description": strings.TrimSpace(e.Text), "publishedAt": e.Time.UTC().Format(time.RFC3339),
			"playlistId": "UU" + a.id, "resourceId": map[string]string{"kind": "youtube#video", "videoId": e.ID},
		}})
		return true
	})
	out := map[string]any{"kind": "youtube#playlistItemListResponse", "items": items}
	if next != "" {
		out["nextPageToken"] = next
	}
	return answer(http.StatusOK, out)
}

// createThread puts a comment under a video.
func (y *youtube) createThread(c *call) *reply {
	a, no := y.enter(c, ytComments, "json")
	if no != nil {
		return no
	}
	if no := y.only(c, "part", "snippet.channelId", "snippet.videoId", "snippet.topLevelComment.snippet.textOriginal"); no != nil {
		return no
	}
	if _, no := y.parts(c, "snippet"); no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		text := c.params.get("snippet.topLevelComment.snippet.textOriginal")
		e := y.mine(c, a, c.params.get("snippet.videoId"))
		switch {
		case e == nil:
			return ytError(http.StatusNotFound, "videoNotFound", "The video identified by the videoId parameter could not be found.")
		case e.private["privacy"] == "private" || e.private["kids"] == "true":
			return ytError(http.StatusForbidden, "commentsDisabled", "The video identified by the videoId parameter has disabled comments.")
		case strings.TrimSpace(text) == "":
			return ytBad("commentTextRequired", "The comment resource that is being inserted must specify a value for the textOriginal property.")
		case units(text) > ytText:
			return ytBad("commentTextTooLong", "The comment resource that is being inserted contains too many characters.")
		}
		id := "Ug" + strconv.FormatInt(c.sim.next(), 36)
		e.read(func() {
			e.Replies = append(e.Replies, Reply{ID: id, Text: text, Time: c.now})
			c.spoke = e.shows(c.now)
		})
		return answer(http.StatusOK, ytThread(id, e.ID, text, c.now))
	})
}

func ytThread(id, video, text string, at time.Time) map[string]any {
	top := map[string]any{"id": id, "snippet": map[string]any{"textOriginal": text, "textDisplay": text, "publishedAt": at.UTC().Format(time.RFC3339)}}
	return map[string]any{"kind": "youtube#commentThread", "id": id, "snippet": map[string]any{"videoId": video, "topLevelComment": top}}
}

// listThreads lists the comments under a video, newest first.
func (y *youtube) listThreads(c *call) *reply {
	a, no := y.enter(c, ytComments)
	if no != nil {
		return no
	}
	if no := y.only(c, "part", "videoId", "order", "maxResults", "pageToken"); no != nil {
		return no
	}
	if _, no := y.parts(c, "id", "snippet", "replies"); no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		e := y.mine(c, a, c.params.get("videoId"))
		if e == nil {
			return ytError(http.StatusNotFound, "videoNotFound", "The video identified by the videoId parameter could not be found.")
		}
		items := []any{}
		e.read(func() {
			for _, r := range slices.Backward(e.Replies) {
				items = append(items, ytThread(r.ID, e.ID, r.Text, r.Time))
			}
		})
		return answer(http.StatusOK, map[string]any{"kind": "youtube#commentThreadListResponse", "items": items})
	})
}
