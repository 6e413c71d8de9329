package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"
)

// photo is a picture that a Page holds; owner.mu guards used.
type photo struct {
	id    string
	owner *account
	media Media
	post  string // the post it came with, "" while unpublished
	used  bool
	born  time.Time
}

const (
	photoBytes   = 10_000_000
	photosAPost  = 10   // stated nowhere; what products keep to
	commentText  = 8000 // UTF-16 units
	scheduleDays = 30 * 24 * time.Hour
)

func (fb *facebook) createPost(c *call) *reply {
	a, g, no := fb.page(c, "pages_manage_posts", "form", "json", "multipart")
	if no != nil {
		return no
	}
	if no := c.graphOnly("message", "link", "published", "scheduled_publish_time", "attached_media", "attached_media[*]", "call_to_action"); no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply { return fb.makePost(c, a, g) })
}

func (fb *facebook) makePost(c *call, a *account, g *grant) *reply {
	message, link := c.params.get("message"), c.params.get("link")
	when, no := fb.timing(c, scheduleDays)
	if no != nil {
		return no
	}
	photos, no := fb.attached(c, a)
	switch {
	case no != nil:
		return no
	case strings.TrimSpace(message) == "" && link == "" && len(photos) == 0:
		return graphBad("The parameter message is required")
	case link != "" && !webAddress(link):
		return graphBad("The url you supplied is invalid")
	case link != "" && len(photos) > 0:
		return graphBad("A post has either a link or attached_media.")
	}
	if no := fb.text("message", message); no != nil {
		return no
	}
	e := fb.post(c, a, g, "post", message, when)
	e.Link = link
	if no := fb.store(c, a, e, photos...); no != nil {
		return no
	}
	return fb.answered(c, e, map[string]any{"id": e.ID})
}

// attached reads attached_media, as a JSON array or as numbered parameters.
func (fb *facebook) attached(c *call, a *account) ([]*photo, *reply) {
	raw := []json.RawMessage{}
	if s := c.params.get("attached_media"); s != "" {
		if json.Unmarshal([]byte(s), &raw) != nil {
			return nil, graphBad("param attached_media must be an array.")
		}
	}
	for i, name := range numbered(c.params.values, "attached_media") {
		if name != fmt.Sprintf("attached_media[%d]", i) {
			return nil, graphBad("attached_media is numbered from 0 without gaps.")
		}
		raw = append(raw, json.RawMessage(c.params.get(name)))
	}
	if len(raw) > photosAPost {
		return nil, graphBad("attached_media has %d photos; %d are allowed.", len(raw), photosAPost)
	}
	var out []*photo
	for _, item := range raw {
		var one map[string]any
		if json.Unmarshal(item, &one) != nil || len(one) != 1 {
			return nil, graphBad("attached_media holds objects with a media_fbid.")
		}
		id, _ := one["media_fbid"].(string)
		p, ok := thing[*photo](c.st.at(a.network), id)
		if !ok || p.owner != a {
			return nil, graphMissing(id)
		}
		out = append(out, p)
	}
	return out, nil
}

// numbered returns the names like prefix[0], in the order of their numbers.
func numbered(values map[string][]string, prefix string) []string {
	var names []string
	number := func(name string) int {
		n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, prefix+"["), "]"))
		return n
	}
	for name := range values {
		if strings.HasPrefix(name, prefix+"[") {
			names = append(names, name)
		}
	}
	sort.Slice(names, func(i, j int) bool { return number(names[i]) < number(names[j]) })
	return names
}

// claim ties unpublished photos to a post; each can be used once. The owner's
// lock is held.
func (fb *facebook) claim(photos []*photo, e *entry) *reply {
	seen := map[string]bool{}
	for _, p := range photos {
		if p.used || seen[p.id] {
			return graphError(http.StatusBadRequest, 100, 1366051, "(#100) These photos were already posted.")
		}
		seen[p.id] = true
	}
	var targets []string
	for _, p := range photos {
		p.used, p.post = true, e.ID
		e.Media = append(e.Media, p.media)
		targets = append(targets, p.id)
	}
	if len(photos) > 0 {
		e.private["targets"] = strings.Join(targets, ",")
	}
	return nil
}

func (fb *facebook) createPhoto(c *call) *reply {
	a, g, no := fb.page(c, "pages_manage_posts", "form", "json", "multipart")
	if c.params.get("published") == "false" {
		c.step = Prepare
	}
	if no != nil {
		return no
	}
	if no := c.graphOnly("url", "source", "caption", "alt_text_custom", "published", "scheduled_publish_time"); no != nil {
		return no
	}
	when, no := fb.timing(c, scheduleDays)
	if no != nil {
		return no
	}
	step := Commit
	if when.hidden {
		step = Prepare
	}
	return c.do(step, a, func() *reply { return fb.makePhoto(c, a, g, when) })
}

func (fb *facebook) makePhoto(c *call, a *account, g *grant, when timing) *reply {
	caption := c.params.get("caption")
	if no := fb.text("caption", caption); no != nil {
		return no
	}
	b, no := fb.bytes(c, "url", "source", photoBytes)
	if no != nil {
		return no
	}
	if b.size > photoBytes {
		return graphError(http.StatusBadRequest, 324, 1366046, "(#324) The photo is too large.")
	}
	if b.kind != "image" || !b.whole() || b.mime == "image/webp" {
		return graphError(http.StatusBadRequest, 324, 0, "(#324) Missing or invalid image file")
	}
	p := &photo{
		id: strconv.FormatInt(c.sim.next(), 10), owner: a, born: c.now,
		media: c.keepMedia(b, c.params.get("alt_text_custom")),
	}
	out := map[string]any{"id": p.id}
	if when.hidden {
		c.st.at(a.network).objects.Store(p.id, p)
		return answer(http.StatusOK, out)
	}
	e := fb.post(c, a, g, "photo", caption, when)
	if no := fb.store(c, a, e, p); no != nil {
		return no
	}
	c.st.at(a.network).objects.Store(p.id, p)
	out["post_id"] = e.ID
	return fb.answered(c, e, out)
}

// bytes gets a file from an address or from the request itself.
func (fb *facebook) bytes(c *call, address, upload string, limit int64) (blob, *reply) {
	url, sent := c.params.get(address), c.params.files[upload] != nil
	switch {
	case url != "" && sent:
		return blob{}, graphBad("Send either %s or %s.", address, upload)
	case sent:
		data, err := c.params.file(upload)
		if err != nil {
			return blob{}, graphBad("The file could not be read.")
		}
		return sorted(data, int64(len(data))), nil
	case url == "":
		return blob{}, graphBad("The parameter %s or %s is required.", address, upload)
	}
	b, err := c.pull(url, limit)
	if err != nil {
		if address == "file_url" {
			return blob{}, graphError(http.StatusBadRequest, 389, 0, "(#389) Unable to fetch video file from URL.")
		}
		return blob{}, graphError(http.StatusBadRequest, 324, 0, "(#324) Missing or invalid image file: "+err.Error())
	}
	return b, nil
}

func (fb *facebook) createComment(c *call) *reply {
	token, no := c.graphOpen("form", "json")
	if no != nil {
		return no
	}
	e, a, no := fb.owned(c, fb.postOf(c, c.r.PathValue("id")), token, "pages_manage_engagement")
	if no != nil {
		return no
	}
	if no := c.graphOnly("message", "attachment_url", "attachment_id"); no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		text := c.params.get("message")
		if strings.TrimSpace(text) == "" && !c.params.has("attachment_url") && !c.params.has("attachment_id") {
			return graphBad("A comment needs a message or an attachment.")
		}
		if units(text) > commentText {
			return graphBad("The comment has %d characters; %d are allowed.", units(text), commentText)
		}
		return c.comment(e, e.ID+"_", text)
	})
}

// owned finds a post by id and checks that the token is its Page's.
func (fb *facebook) owned(c *call, id, token, scope string) (*entry, *account, *reply) {
	e, ok := thing[*entry](c.st.at(c.place.name), id)
	if !ok {
		c.who, _, _ = strings.Cut(id, "_")
		return nil, nil, graphMissing(id)
	}
	a, _, no := fb.admit(c, e.owner.id, token, scope)
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

func (fb *facebook) editPost(c *call) *reply {
	token, no := c.graphOpen("form", "json")
	if no != nil {
		return no
	}
	e, a, no := fb.owned(c, c.r.PathValue("id"), token, "pages_manage_posts")
	if no != nil {
		return no
	}
	if no := c.graphOnly("message"); no != nil {
		return no
	}
	if no := fb.text("message", c.params.get("message")); no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		e.read(func() { e.Text, e.edited = c.params.get("message"), true })
		return answer(http.StatusOK, map[string]any{"success": true})
	})
}

func (fb *facebook) deletePost(c *call) *reply {
	token, no := c.graphOpen()
	if no != nil {
		return no
	}
	e, a, no := fb.owned(c, c.r.PathValue("id"), token, "pages_manage_posts")
	if no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		e.read(func() { e.gone = c.now })
		return answer(http.StatusOK, map[string]any{"success": true})
	})
}
