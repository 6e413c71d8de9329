package sim

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// xMedia is an upload. owner.mu guards what changes.
type xMedia struct {
	id       string
	owner    *account
	category string
	mime     string
	total    int64
	born     time.Time
	parts    map[int][]byte
	data     blob
	alt      string
	sealed   bool // FINALIZE was called
	polls    int
	need     int
	failed   string
	used     bool
}

const (
	xChunk  = 1 << 20 // what the edge lets through
	xLife   = 24 * time.Hour
	xAlt    = 1000
	xStill  = 5_000_000
	xMoving = 15_000_000
	xFilm   = 512_000_000
)

var xCategories = map[string][]string{
	"tweet_image": {"image/jpeg", "image/png", "image/webp"},
	"tweet_gif":   {"image/gif"},
	"tweet_video": {"video/mp4", "video/quicktime", "video/webm"},
}

func (m *xMedia) key() string {
	return map[string]string{"tweet_image": "3_", "tweet_gif": "16_", "tweet_video": "7_"}[m.category] + m.id
}

func (t *x) initialize(c *call) *reply {
	a, no := t.open(c, "media.write")
	if no != nil {
		return no
	}
	var b struct {
		Type     string `json:"media_type"`
		Total    int64  `json:"total_bytes"`
		Category string `json:"media_category"`
	}
	if err := c.object(&b); err != nil {
		return xInvalid("body", "%s", err)
	}
	return c.do(Prepare, a, func() *reply {
		types, known := xCategories[b.Category]
		switch {
		case !known:
			return xInvalid("media_category", "%s is no media_category", b.Category)
		case !slices.Contains(types, b.Type):
			return xInvalid("media_type", "%s does not go with %s", b.Type, b.Category)
		case b.Total < 1 || b.Total > map[string]int64{"tweet_image": xStill, "tweet_gif": xMoving, "tweet_video": xFilm}[b.Category]:
			return xInvalid("total_bytes", "total_bytes is %d, which is too large or nothing", b.Total)
		}
		m := &xMedia{id: xID(c.sim.next()), owner: a, category: b.Category, mime: b.Type, total: b.Total, born: c.now, parts: map[int][]byte{}}
		c.st.at(a.network).objects.Store(m.id, m)
		return answer(http.StatusOK, map[string]any{"data": map[string]any{"id": m.id, "media_key": m.key(), "expires_after_secs": int(xLife.Seconds())}})
	})
}

// mine finds an upload of the caller that has not run out.
func (t *x) mine(c *call, a *account, id string) (*xMedia, *reply) {
	m, ok := thing[*xMedia](c.st.at(a.network), id)
	if !ok || m.owner != a || c.now.Sub(m.born) >= xLife {
		return nil, xInvalid("id", "Your media IDs are invalid.")
	}
	return m, nil
}

func (t *x) append(c *call) *reply {
	a, no := t.open(c, "media.write")
	if no != nil {
		return no
	}
	if c.r.ContentLength > xChunk+4096 { // the edge, which says nothing
		_, _ = io.Copy(io.Discard, c.r.Body)
		return c.do(Prepare, a, func() *reply { return &reply{status: http.StatusRequestEntityTooLarge} })
	}
	if err := c.read(plainNest, "multipart"); err != nil {
		return xInvalid("body", "%s", err)
	}
	if name := c.params.stray("segment_index", "media"); name != "" {
		return xInvalid(name, "unknown field %s", name)
	}
	data, err := c.params.file("media")
	return c.do(Prepare, a, func() *reply {
		m, no := t.mine(c, a, c.r.PathValue("id"))
		if no != nil {
			return no
		}
		n, bad := strconv.Atoi(c.params.get("segment_index"))
		switch {
		case err != nil || len(data) == 0 || bad != nil || n < 0 || n > 999:
			return xInvalid("segment_index", "segment_index is 0 to 999, and media is a file")
		case m.sealed:
			return xInvalid("id", "The upload is finished.")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		m.parts[n] = data
		return answer(http.StatusOK, map[string]any{"data": map[string]any{"expires_at": m.born.Add(xLife).Unix()}})
	})
}

func (t *x) finalize(c *call) *reply {
	a, no := t.open(c, "media.write")
	if no != nil {
		return no
	}
	var b struct{}
	if err := c.object(&b); err != nil {
		return xInvalid("body", "Request body must be a JSON object")
	}
	return c.do(Prepare, a, func() *reply {
		m, no := t.mine(c, a, c.r.PathValue("id"))
		if no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return m.seal(c)
	})
}

// seal puts the parts together and looks at the file. owner.mu is held.
func (m *xMedia) seal(c *call) *reply {
	if m.sealed {
		return xInvalid("id", "The upload is finished already.")
	}
	var all []byte
	for i := range len(m.parts) {
		all = append(all, m.parts[i]...)
	}
	if int64(len(all)) != m.total {
		return xInvalid("id", "Segments do not add up to provided total file size.")
	}
	m.sealed, m.data = true, sorted(all, m.total)
	switch d := m.data; {
	case d.mime != m.mime:
		return &reply{status: http.StatusBadRequest, kind: "text/plain", body: []byte("media type unrecognized")}
	case d.kind == "image" && !d.whole():
		return xInvalid("id", "The media could not be read.")
	case d.mime == "image/gif" && (d.width > 1280 || d.height > 1080):
		return xInvalid("id", "GIFs have at most 1280x1080 pixels.")
	case d.kind == "video":
		m.failed = m.wrong()
		m.need = c.sim.Knobs().VideoPolls
	}
	return answer(http.StatusOK, map[string]any{"data": m.shown(c)})
}

// wrong says what X finds when it works on a video.
func (m *xMedia) wrong() string {
	d := m.data
	switch {
	case d.mime != "video/mp4":
		return "unsupported video format"
	case d.long > 0 && (d.long < 500*time.Millisecond || d.long > 140*time.Second):
		return "video duration is out of bounds"
	case d.width > 0 && (d.width > 1280 || !d.shaped(1.0/3, 3)):
		return "video dimensions are out of bounds"
	}
	return ""
}

// shown is an upload as X shows it. owner.mu is held.
func (m *xMedia) shown(c *call) map[string]any {
	out := map[string]any{"id": m.id, "media_key": m.key(), "size": m.total, "expires_after_secs": int(xLife.Seconds())}
	if m.need > 0 || c.sim.faults.expects(c, asyncKinds) {
		out["processing_info"] = map[string]any{"state": "pending", "check_after_secs": 1}
	}
	return out
}

func (t *x) status(c *call) *reply {
	a, no := t.open(c, "media.write")
	if no != nil {
		return no
	}
	if no := t.query(c, "command", "media_id"); no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		m, no := t.mine(c, a, c.params.get("media_id"))
		if no != nil {
			return no
		}
		if c.params.get("command") != "STATUS" || !m.sealed {
			return xInvalid("command", "command is STATUS, of an upload that is finished")
		}
		return t.poke(c, m)
	})
}

// poke is one poll of an upload.
func (t *x) poke(c *call, m *xMedia) *reply {
	f := c.sim.faults.take(c, asyncKinds)
	m.owner.mu.Lock()
	defer m.owner.mu.Unlock()
	if f != nil {
		c.outcome = string(f.Kind)
		if f.Kind == AsyncError {
			m.failed = "unsupported video format"
		}
	}
	info := map[string]any{"state": "succeeded", "progress_percent": 100}
	switch {
	case f != nil && f.Kind == AsyncPending, m.polls < m.need:
		m.polls++
		info = map[string]any{"state": "in_progress", "progress_percent": 10 * m.polls, "check_after_secs": 5}
	case m.failed != "":
		info = map[string]any{"state": "failed", "error": map[string]any{"code": 1, "name": "InvalidMedia", "message": m.failed}}
	}
	return answer(http.StatusOK, map[string]any{"data": map[string]any{"id": m.id, "media_key": m.key(), "processing_info": info}})
}

func (t *x) describe(c *call) *reply {
	a, no := t.open(c, "media.write")
	if no != nil {
		return no
	}
	var b struct {
		ID       string `json:"id"`
		Metadata struct {
			Alt struct {
				Text string `json:"text"`
			} `json:"alt_text"`
		} `json:"metadata"`
	}
	if err := c.object(&b); err != nil {
		return xInvalid("body", "%s", err)
	}
	return c.do(Prepare, a, func() *reply {
		m, no := t.mine(c, a, b.ID)
		if no != nil {
			return no
		}
		if n := utf8.RuneCountInString(b.Metadata.Alt.Text); n == 0 || n > xAlt || m.category == "tweet_video" {
			return xInvalid("metadata.alt_text.text", "alt_text has 1 to %d characters, and no video has one", xAlt)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		m.alt = b.Metadata.Alt.Text
		return answer(http.StatusOK, map[string]any{"data": map[string]any{"id": m.id, "associated_metadata": b.Metadata}})
	})
}

// attach finds the media of a post. a.mu is held.
func (t *x) attach(c *call, a *account, ids []string) (list []*xMedia, no *reply) {
	if len(ids) < 1 || len(ids) > 4 {
		return nil, xInvalid("media.media_ids", "media.media_ids: array has 1 to 4 items")
	}
	for _, id := range ids {
		m, no := t.mine(c, a, id)
		switch {
		case no != nil:
			return nil, no
		case !m.sealed, m.polls < m.need, m.failed != "", slices.Contains(list, m), m.need > 0 && c.sim.faults.expects(c, kindSet{AsyncPending: ""}):
			return nil, xInvalid("media.media_ids", "Your media IDs are invalid.")
		case m.category != "tweet_image" && len(ids) > 1:
			return nil, xInvalid("media.media_ids", "A post has up to four images, or one GIF, or one video.")
		}
		list = append(list, m)
	}
	return list, nil
}

// timeline gives the newest posts first.
func (t *x) timeline(c *call) *reply {
	a, no := t.open(c, "tweet.read")
	if no != nil {
		return no
	}
	if no := t.query(c, "max_results", "start_time", "end_time", "since_id", "until_id", "exclude", "tweet.fields", "post.fields", "pagination_token", "expansions"); no != nil {
		return no
	}
	most, err := strconv.Atoi(c.params.get("max_results"))
	since, until, bad := t.bounds(c)
	switch {
	case err != nil || most < 5 || most > 100:
		return xInvalid("max_results", "The `max_results` query parameter value [%s] is not between 5 and 100", c.params.get("max_results"))
	case bad != nil:
		return bad
	}
	return c.do(Find, a, func() *reply {
		if a.id != c.r.PathValue("id") {
			return answer(http.StatusOK, map[string]any{"errors": []any{map[string]any{
				"title": "Not Found Error", "detail": "Could not find user with id: [" + c.r.PathValue("id") + "].", "type": "https://api.x.com/2/problems/resource-not-found",
			}}})
		}
		return t.page(c, a, most, since, until)
	})
}

// bounds are those of a list: whole seconds, the later one left out.
func (t *x) bounds(c *call) (since, until time.Time, no *reply) {
	for name, into := range map[string]*time.Time{"start_time": &since, "end_time": &until} {
		if s := c.params.get(name); s != "" {
			at, err := time.Parse(time.RFC3339, s)
			if err != nil || at.Nanosecond() != 0 {
				return since, until, xInvalid(name, "%s is not YYYY-MM-DDTHH:mm:ssZ", name)
			}
			*into = at
		}
	}
	return since, until, nil
}

func (t *x) page(c *call, a *account, most int, since, until time.Time) *reply {
	lag, after := c.lag(), c.params.get("pagination_token")
	fields := strings.Split(c.params.get("tweet.fields"), ",")
	list, meta := []any{}, map[string]any{}
	started, noReplies := after == "", strings.Contains(c.params.get("exclude"), "replies")
	a.newest(func(e *entry) bool {
		switch {
		case !started:
			started = "t"+e.ID == after
		case e.removed(c.now), noReplies && e.parent != "", e.Time.Before(since), !until.IsZero() && !e.Time.Before(until), lag > 0 && c.now.Sub(e.born) < lag:
		case len(list) == most:
			meta["next_token"] = meta["last"]
			return false
		default:
			list = append(list, t.item(e, fields))
			meta["last"] = "t" + e.ID
		}
		return true
	})
	delete(meta, "last")
	meta["result_count"] = len(list)
	if len(list) == 0 {
		return answer(http.StatusOK, map[string]any{"meta": meta})
	}
	return answer(http.StatusOK, map[string]any{"data": list, "meta": meta})
}

// item is a post as lists show it: the fields that were asked for.
func (t *x) item(e *entry, fields []string) map[string]any {
	text, links := xShorten(e)
	out := map[string]any{"id": e.ID, "text": text}
	all := map[string]any{"created_at": e.Time.UTC().Format(xTime), "conversation_id": e.ID}
	if len(links) > 0 {
		all["entities"] = map[string]any{"urls": links}
	}
	if len(e.Media) > 0 {
		all["attachments"] = map[string]any{"media_keys": strings.Fields(e.private["keys"])}
	}
	if e.parent != "" {
		all["referenced_tweets"] = []any{map[string]string{"type": "replied_to", "id": e.parent}}
		all["in_reply_to_user_id"] = e.Account
	}
	for _, name := range fields {
		if v, ok := all[name]; ok {
			out[name] = v
		}
	}
	return out
}
