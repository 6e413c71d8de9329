package sim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	tootChars   = 500
	tootKeyLife = time.Hour
	// raceGap is how long a raced key is unknown after its status exists.
	raceGap = 50 * time.Millisecond
)

var statusParams = []string{
	"status", "media_ids[]", "in_reply_to_id", "visibility", "sensitive", "spoiler_text", "language", "scheduled_at",
	"poll[options][]", "poll[expires_in]", "poll[multiple]", "poll[hide_totals]", "quoted_status_id", "quote_approval_policy",
}

func (m *mastodon) createStatus(c *call) *reply {
	a, no := m.open(c, []string{"write:statuses"}, "form", "json", "multipart")
	if no != nil {
		return no
	}
	if no := m.only(c, statusParams...); no != nil {
		return no
	}
	step := Commit
	if c.params.get("in_reply_to_id") != "" {
		step = FollowUp
	}
	return c.do(step, a, func() *reply { return m.keyed(c, a) })
}

// keyed makes a status once per Idempotency-Key, as far as the knob lets it.
func (m *mastodon) keyed(c *call, a *account) *reply {
	key, mode := c.r.Header.Get("Idempotency-Key"), c.sim.Knobs().Keys
	if key == "" || mode == "ignore" {
		a.mu.Lock()
		defer a.mu.Unlock()
		return m.make(c, a, "")
	}
	a.mu.Lock()
	if e := a.earlier(c, key); e != nil {
		defer a.mu.Unlock()
		c.outcome = "replayed"
		return answer(http.StatusOK, m.item(c, e))
	}
	if mode == "honour" {
		defer a.mu.Unlock()
		return m.make(c, a, key)
	}
	rep := m.make(c, a, "")
	a.mu.Unlock()
	if len(c.made) == 1 {
		time.Sleep(raceGap)
		a.mu.Lock()
		a.keys[key] = keyed{id: c.made[0].ID, when: c.now}
		a.mu.Unlock()
	}
	return rep
}

// earlier finds the status that a client key made within the hour. mu is held.
func (a *account) earlier(c *call, key string) *entry {
	k, ok := a.keys[key]
	if !ok || c.now.Sub(k.when) >= tootKeyLife {
		return nil
	}
	e, _ := thing[*entry](c.st.at(a.network), k.id)
	return e
}

// make checks and stores a status. a.mu is held.
func (m *mastodon) make(c *call, a *account, key string) *reply {
	p := &c.params
	files, no := m.attach(c, a)
	if no != nil {
		return no
	}
	if no := m.text(c, len(files)); no != nil {
		return no
	}
	e := &entry{
		Post:    Post{ID: strconv.FormatInt(c.sim.next(), 10), Kind: "post", Text: p.get("status"), Time: c.now},
		parent:  p.get("in_reply_to_id"),
		private: map[string]string{"visibility": "public", "spoiler": p.get("spoiler_text"), "language": p.get("language"), "sensitive": p.get("sensitive")},
	}
	e.path = "/mastodon/@" + a.Handle() + "/" + e.ID
	if no := m.choices(c, e); no != nil {
		return no
	}
	for _, f := range files {
		f.used = true
		f.media.Alt = f.alt
		e.Media = append(e.Media, f.media)
	}
	e.private["media"] = strings.Join(p.values["media_ids[]"], ",")
	c.publish(a, e)
	if parent, ok := thing[*entry](c.st.at(a.network), e.parent); ok && parent.owner == a {
		root := c.root(parent)
		root.Replies = append(root.Replies, Reply{ID: e.ID, Text: e.Text, Time: e.Time})
	}
	if key != "" {
		a.keys[key] = keyed{id: e.ID, when: c.now}
	}
	if !e.Time.Equal(c.now) {
		return answer(http.StatusOK, map[string]any{
			"id": e.ID, "scheduled_at": e.Time.UTC().Format(tootTime), "params": map[string]any{"text": e.Text}, "media_attachments": []any{},
		})
	}
	return answer(http.StatusOK, m.item(c, e))
}

// text checks that there is one, not too long.
func (m *mastodon) text(c *call, files int) *reply {
	text, spoiler := c.params.get("status"), c.params.get("spoiler_text")
	poll := len(c.params.values["poll[options][]"]) > 0
	switch n := tootLength(spoiler) + tootLength(text); {
	case n > tootChars:
		return tootInvalid("Text character limit of %d exceeded", tootChars)
	case strings.TrimSpace(text) == "" && files == 0 && !poll:
		return tootInvalid("Text can't be blank")
	case poll && files > 0:
		return tootInvalid("a status has either a poll or media")
	}
	return nil
}

// choices reads what the writer chose: visibility, time, answer, poll.
func (m *mastodon) choices(c *call, e *entry) *reply {
	p := &c.params
	if v := p.get("visibility"); v != "" {
		if !slices.Contains([]string{"public", "unlisted", "private", "direct"}, v) {
			return tootInvalid("Visibility is not included in the list")
		}
		e.private["visibility"] = v
		e.hidden = v == "private" || v == "direct"
	}
	if s := p.get("scheduled_at"); s != "" {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil || at.Before(c.now.Add(5*time.Minute)) {
			return tootInvalid("Scheduled at The scheduled date must be in the future")
		}
		e.Time = at
	}
	if lang := p.get("language"); len(lang) > 8 || lang != "" && len(lang) < 2 {
		return tootInvalid("Language is not a code of ISO 639")
	}
	if e.parent != "" {
		if _, ok := thing[*entry](c.st.at(c.place.name), e.parent); !ok {
			return tootError(http.StatusNotFound, tootMissing)
		}
		e.Kind = "reply"
	}
	return m.poll(c)
}

func (m *mastodon) poll(c *call) *reply {
	options := c.params.values["poll[options][]"]
	life, err := strconv.Atoi(c.params.get("poll[expires_in]"))
	switch {
	case len(options) == 0:
		return nil
	case len(options) < 2 || len(options) > 4:
		return tootInvalid("Poll options must be 2 to 4")
	case err != nil || life < 300 || life > 2629746:
		return tootInvalid("Poll expires in must be 300 to 2629746 seconds")
	case slices.ContainsFunc(options, func(o string) bool { return o == "" || tootLength(o) > 50 }):
		return tootInvalid("Poll options must have 1 to 50 characters")
	}
	return nil
}

// attach finds the media of a status. a.mu is held.
func (m *mastodon) attach(c *call, a *account) ([]*attachment, *reply) {
	ids := c.params.values["media_ids[]"]
	if len(ids) > 4 {
		return nil, tootInvalid("Cannot attach more than 4 files")
	}
	var out []*attachment
	films := 0
	for _, id := range ids {
		f, ok := thing[*attachment](c.st.at(a.network), id)
		switch {
		case !ok || f.owner != a || f.used || slices.Contains(out, f):
			return nil, tootInvalid("Media %s was not found, or is attached already", id)
		case f.failed:
			return nil, tootInvalid("Media %s could not be processed", id)
		case !f.ready(c):
			return nil, tootError(http.StatusUnprocessableEntity, "Cannot attach files that have not finished processing. Try again in a moment!")
		}
		if f.media.Kind != "image" {
			films++
		}
		out = append(out, f)
	}
	if films > 0 && len(out) > 1 {
		return nil, tootInvalid("Cannot attach a video to a status that already contains images")
	}
	return out, nil
}

// item is a status as Mastodon shows it. Its owner's lock is held.
func (m *mastodon) item(c *call, e *entry) map[string]any {
	files := []any{}
	ids := strings.Split(e.private["media"], ",")
	for i, media := range e.Media {
		files = append(files, map[string]any{
			"id": ids[min(i, len(ids)-1)], "type": media.Kind, "url": c.base() + media.path,
			"preview_url": c.base() + media.path, "description": orNull(media.Alt),
		})
	}
	out := map[string]any{
		"id": e.ID, "created_at": e.Time.UTC().Format(tootTime), "in_reply_to_id": orNull(e.parent),
		"uri": c.base() + e.path, "url": c.base() + e.path, "content": tootHTML(e.Text), "visibility": e.private["visibility"],
		"spoiler_text": e.private["spoiler"], "sensitive": e.private["sensitive"] == "true", "language": orNull(e.private["language"]),
		"media_attachments": files, "account": m.person(c, e.owner), "reblog": nil, "mentions": []any{}, "tags": []any{}, "emojis": []any{},
	}
	if !e.Stranger {
		out["application"] = map[string]any{"name": "API"}
	}
	return out
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// status finds one that the caller may see.
func (m *mastodon) status(c *call, a *account) (*entry, *reply) {
	e, ok := thing[*entry](c.st.at(c.place.name), c.r.PathValue("id"))
	var seen bool
	if ok {
		e.read(func() { seen = !e.removed(c.now) && (e.owner == a || e.shows(c.now)) && !e.Time.After(c.now) })
	}
	if !seen {
		return nil, tootError(http.StatusNotFound, tootMissing)
	}
	return e, nil
}

func (m *mastodon) showStatus(c *call) *reply {
	return m.one(c, Find, "read:statuses", func(e *entry) map[string]any { return m.item(c, e) })
}

// showSource gives the text as it was written, to its writer only.
func (m *mastodon) showSource(c *call) *reply {
	return m.one(c, Find, "read:statuses", func(e *entry) map[string]any {
		if e.owner != c.account {
			return nil
		}
		return map[string]any{"id": e.ID, "text": e.Text, "spoiler_text": e.private["spoiler"]}
	})
}

func (m *mastodon) deleteStatus(c *call) *reply {
	return m.one(c, FollowUp, "write:statuses", func(e *entry) map[string]any {
		if e.owner != c.account {
			return nil
		}
		e.gone = c.now
		out := m.item(c, e)
		out["text"] = e.Text
		return out
	})
}

// one answers about one status with what show makes of it, nil for not there.
func (m *mastodon) one(c *call, step Step, scope string, show func(*entry) map[string]any) *reply {
	a, no := m.open(c, []string{scope})
	if no != nil {
		return no
	}
	if no := m.only(c); no != nil {
		return no
	}
	return c.do(step, a, func() *reply {
		e, no := m.status(c, a)
		if no != nil {
			return no
		}
		var out map[string]any
		e.read(func() { out = show(e) })
		if out == nil {
			return tootError(http.StatusNotFound, tootMissing)
		}
		return answer(http.StatusOK, out)
	})
}
