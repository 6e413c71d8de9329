package sim

import (
	"encoding/json"
	"net/http"
	"strings"
)

// fetchStatus tells how far a publish is.
func (k *tiktok) fetchStatus(c *call) *reply {
	var v struct {
		ID string `json:"publish_id"`
	}
	a, no := k.enter(c, &v, "video.publish")
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		p, ok := thing[*ttPublish](c.st.at(c.place.name), v.ID)
		switch {
		case !ok || c.now.Sub(p.born) < c.sim.Knobs().Spread:
			return ttError(c, http.StatusBadRequest, "invalid_publish_id", "The publish_id does not exist.")
		case p.owner != a:
			return ttError(c, http.StatusUnauthorized, "token_not_authorized_for_specified_publish_id", "The access token does not belong to this publish_id.")
		}
		work := c.sim.faults.take(c, asyncKinds)
		a.mu.Lock()
		defer a.mu.Unlock()
		return ttOK(c, p.tell(c, work))
	})
}

// tell is the state of a publish. owner.mu is held.
func (p *ttPublish) tell(c *call, work *Fault) map[string]any {
	out := map[string]any{"publicaly_available_post_id": []any{}, "uploaded_bytes": p.arrived, "downloaded_bytes": 0}
	if work != nil && work.Kind == AsyncError && p.failed == "" {
		p.failed, p.entry.gone = "file_format_check_failed", c.now
	}
	switch {
	case p.failed != "":
		out["status"], out["fail_reason"] = "FAILED", p.failed
	case !p.done:
		out["status"] = "PROCESSING_UPLOAD"
	case p.entry.removed(c.now):
		out["status"], out["fail_reason"] = "FAILED", "spam_risk"
	case work != nil:
		out["status"] = map[bool]string{true: "PROCESSING_DOWNLOAD", false: "PROCESSING_UPLOAD"}[p.pull]
	default:
		out["status"] = "PUBLISH_COMPLETE"
		if !p.entry.hidden && c.now.Sub(p.entry.born) >= c.sim.Knobs().ReadLag {
			out["publicaly_available_post_id"] = []any{json.Number(p.entry.ID)}
		}
	}
	return out
}

// ttListed are the fields that lists may be asked for.
var ttListed = []string{"id", "title", "video_description", "create_time", "share_url", "duration"}

func (k *tiktok) item(c *call, e *entry, fields []string) map[string]any {
	all := map[string]any{
		"id": e.ID, "title": e.Text, "video_description": e.Text, "create_time": e.Time.Unix(), "duration": 10,
		"share_url": "https://www.tiktok.com/@" + e.owner.Handle() + "/video/" + e.ID + "?utm_campaign=tt4d_open_api",
	}
	out := map[string]any{}
	for _, f := range fields {
		out[f] = all[f]
	}
	return out
}

// fields reads the fields parameter, which lists need.
func (k *tiktok) fields(c *call) ([]string, *reply) {
	fields := strings.Split(c.r.URL.Query().Get("fields"), ",")
	if !known(fields, ttListed) {
		return nil, ttBad(c, "The fields are not known.")
	}
	return fields, nil
}

// listVideos lists the public videos, newest first. Photos are not among them.
func (k *tiktok) listVideos(c *call) *reply {
	var v struct {
		Max    int         `json:"max_count"`
		Cursor json.Number `json:"cursor"`
	}
	a, no := k.enter(c, &v, "video.list")
	if no != nil {
		return no
	}
	fields, no := k.fields(c)
	if no != nil {
		return no
	}
	if v.Max < 0 || v.Max > 20 {
		return ttBad(c, "max_count is at most 20.")
	}
	if v.Max == 0 {
		v.Max = 10
	}
	return c.do(Find, a, func() *reply {
		lag, items, more := c.lag(), []any{}, false
		skip, _ := v.Cursor.Int64()
		seen := int64(0)
		a.newest(func(e *entry) bool {
			if !e.shows(c.now) || e.Kind != "video" || lag > 0 && c.now.Sub(e.born) < lag {
				return true
			}
			if seen++; seen <= skip {
				return true
			}
			if len(items) == v.Max {
				more = true
				return false
			}
			items = append(items, k.item(c, e, fields))
			return true
		})
		return ttOK(c, map[string]any{"videos": items, "cursor": skip + int64(len(items)), "has_more": more})
	})
}

// queryVideos reads public posts by id.
func (k *tiktok) queryVideos(c *call) *reply {
	var v struct {
		Filters struct {
			IDs []string `json:"video_ids"`
		} `json:"filters"`
	}
	a, no := k.enter(c, &v, "video.list")
	if no != nil {
		return no
	}
	fields, no := k.fields(c)
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		items := []any{}
		for _, id := range v.Filters.IDs {
			if e, ok := thing[*entry](c.st.at(c.place.name), id); ok && e.owner == a {
				e.read(func() {
					if e.shows(c.now) {
						items = append(items, k.item(c, e, fields))
					}
				})
			}
		}
		return ttOK(c, map[string]any{"videos": items})
	})
}
