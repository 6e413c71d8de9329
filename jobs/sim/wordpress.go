package sim

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// wordpress is one site with as many logins as there are accounts. Drafts are
// stored, and shown to their author alone.
type wordpress struct{ sim *Sim }

const wpImage = 10_000_000

// wpFile is an uploaded picture. owner.mu guards it.
type wpFile struct {
	owner *account
	data  blob
	alt   string
}

func newWordPress(s *Sim) *place {
	t := &wordpress{s}
	p := &place{
		name: network.WordPress, title: "WordPress", mux: http.NewServeMux(),
		kinds: directKinds, complain: t.complain, stranger: t.stranger,
		decorate: func(*call, *reply) {},
	}
	for _, kind := range []string{"posts", "pages"} {
		p.on(s, "POST /wp-json/wp/v2/"+kind, Prepare, func(c *call) *reply { return t.create(c, kind) })
		p.on(s, "GET /wp-json/wp/v2/"+kind, Prepare, t.search)
		p.on(s, "POST /wp-json/wp/v2/"+kind+"/{id}", Commit, t.update)
		p.on(s, "GET /wp-json/wp/v2/"+kind+"/{id}", Find, t.show)
	}
	for _, kind := range []string{"categories", "tags"} {
		p.on(s, "GET /wp-json/wp/v2/"+kind, Prepare, func(c *call) *reply { return t.terms(c, kind) })
	}
	p.on(s, "POST /wp-json/wp/v2/tags", Prepare, t.createTag)
	p.on(s, "POST /wp-json/wp/v2/media", Prepare, t.upload)
	p.on(s, "POST /wp-json/wp/v2/media/{id}", Prepare, t.describe)
	p.on(s, "GET /wp-json/wp/v2/users/me", Check, t.me)
	p.on(s, "/", Check, func(*call) *reply {
		return wpError(http.StatusNotFound, "rest_no_route", "No route was found matching the URL and request method.")
	})
	return p
}

func wpError(status int, code, message string) *reply {
	return answer(status, map[string]any{"code": code, "message": message, "data": map[string]any{"status": status}})
}

func wpBad(message string) *reply {
	return wpError(http.StatusBadRequest, "rest_invalid_param", message)
}

// complain says a fault in WordPress' words. It knows no limits itself: what
// stands in front of it does.
func (t *wordpress) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	if k == "" && status == http.StatusTooManyRequests {
		k, wait = RateLimit, time.Minute
	}
	switch k {
	case RateLimit:
		return wpError(http.StatusTooManyRequests, "too_many_requests", "Slow down.").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return wpError(http.StatusUnauthorized, "incorrect_password", "The provided password is an invalid application password.")
	case MissingPermission:
		return wpError(http.StatusForbidden, "rest_cannot_publish", "Sorry, you are not allowed to publish posts in this post type.")
	case Invalid:
		return wpBad("Invalid parameter(s): content")
	}
	if status >= http.StatusInternalServerError {
		return &reply{status: status, kind: "text/html", body: []byte("<html><body>There has been a critical error on this website.</body></html>")}
	}
	return wpError(status, "rest_invalid_param", http.StatusText(status))
}

// open finds the login of a call. Blanks in the password do not count.
func (t *wordpress) open(c *call) (*account, *reply) {
	user, password, ok := c.r.BasicAuth()
	if !ok {
		return nil, wpError(http.StatusUnauthorized, "rest_cannot_create", "Sorry, you are not allowed to create posts as this user.")
	}
	a, _, v := c.admit(user, strings.ReplaceAll(password, " ", ""), "publish_posts")
	switch v {
	case good:
		return a, nil
	case noScope:
		return nil, wpError(http.StatusForbidden, "rest_cannot_create", "Sorry, you are not allowed to create posts as this user.")
	}
	return nil, wpError(http.StatusUnauthorized, "incorrect_password", "The provided password is an invalid application password.")
}

// wpPost is the body of a post. A member that is not here is refused.
type wpPost struct {
	Title      *string `json:"title"`
	Content    string  `json:"content"`
	Excerpt    string  `json:"excerpt"`
	Slug       string  `json:"slug"`
	Status     string  `json:"status"`
	Date       wpDate  `json:"date_gmt"`
	Comments   string  `json:"comment_status"`
	Featured   int64   `json:"featured_media"`
	Categories []int64 `json:"categories"`
	Tags       []int64 `json:"tags"`
}

func (t *wordpress) create(c *call, kind string) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	var b wpPost
	if err := c.object(&b); err != nil {
		return wpBad(err.Error())
	}
	step := Prepare
	if b.Status != "draft" {
		step = Commit
	}
	content, title := b.Content, b.Title
	if title != nil && !t.trusts(c) {
		*title, content = wpKses(*title), wpKses(content)
	}
	return c.do(step, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !slices.Contains([]string{"draft", "publish", "future"}, b.Status) || title == nil || *title == "" && content == "" {
			return wpBad("Content, title, and excerpt are empty, or the status is not known.")
		}
		n := c.sim.next()
		id := strconv.FormatInt(n, 10)
		e := &entry{Post: Post{ID: id, Kind: "post", Text: wpRead(content), Title: *title, Time: c.now}, hidden: b.Status == "draft",
			private: map[string]string{"slug": t.freeSlug(a, b.Slug), "kind": kind, "raw": content, "date": string(b.Date)}}
		if b.Featured != 0 {
			f, ok := thing[*wpFile](c.st.at(a.network), "media:"+strconv.FormatInt(b.Featured, 10))
			if !ok {
				return wpBad("Invalid featured media ID.")
			}
			e.Media = []Media{c.keepMedia(f.data, f.alt)}
		}
		if !e.hidden {
			t.date(c, a, e)
		}
		e.path = wpPath(e)
		c.publish(a, e)
		return answer(http.StatusCreated, t.item(c, e))
	})
}

// wpPath is where a post is read. A draft that nobody named has no such place.
func wpPath(e *entry) string {
	if e.private["slug"] == "" {
		return ""
	}
	return "/wordpress/" + e.private["slug"]
}

// freeSlug is a slug that nothing has: WordPress adds a number to one that is taken.
// No slug is none.
func (t *wordpress) freeSlug(a *account, slug string) string {
	free := slug
	if slug == "" {
		return ""
	}
	for n := 2; slices.ContainsFunc(a.posts, func(e *entry) bool { return e.private["slug"] == free }); n++ {
		free = fmt.Sprintf("%s-%d", slug, n)
	}
	return free
}

var wpBreaks = regexp.MustCompile(`<br ?/?>`)

// wpRead is what people read of a content.
func wpRead(content string) string {
	s := strings.ReplaceAll(content, "</p>\n\n<p>", "\n\n")
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<p>"), "</p>")
	return html.UnescapeString(wpBreaks.ReplaceAllString(s, "\n"))
}

// item is a post as the API describes it. owner.mu is held.
func (t *wordpress) item(c *call, e *entry) map[string]any {
	id, _ := strconv.ParseInt(e.ID, 10, 64)
	status, link := "publish", c.base()+e.path
	if e.Time.After(c.now) {
		status = "future"
	}
	if e.hidden {
		status = "draft"
	}
	if status != "publish" {
		link = c.base() + "/wordpress/?p=" + e.ID
	}
	if e.removed(c.now) {
		status = "trash"
	}
	return map[string]any{"id": id, "status": status, "slug": e.private["slug"], "link": link, "date_gmt": e.Time.UTC().Format(wpTime), "type": strings.TrimSuffix(e.private["kind"], "s"),
		"title": map[string]string{"raw": e.Title, "rendered": e.Title}, "content": map[string]string{"raw": e.private["raw"]}}
}

// search finds posts by their slug.
func (t *wordpress) search(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	c.params.values = c.r.URL.Query()
	if name := c.params.stray("slug", "status", "context", "per_page", "page"); name != "" {
		return wpBad("Invalid parameter(s): " + name)
	}
	asked := strings.Split(cmp.Or(c.params.get("status"), "publish"), ",")
	return c.do(Prepare, a, func() *reply {
		list := []any{}
		a.newest(func(e *entry) bool {
			if item := t.item(c, e); e.private["slug"] == c.params.get("slug") && !e.removed(c.now) && slices.Contains(asked, item["status"].(string)) {
				list = append(list, item)
			}
			return true
		})
		return answer(http.StatusOK, list)
	})
}

// update changes a post; with the status publish it makes it public, if it is not.
func (t *wordpress) update(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	var b struct {
		Status string `json:"status"`
		Slug   string `json:"slug"`
		Date   wpDate `json:"date_gmt"`
	}
	if err := c.object(&b); err != nil {
		return wpBad(err.Error())
	}
	e, ok := thing[*entry](c.st.at(a.network), c.r.PathValue("id"))
	if ok && e.owner == a {
		c.key = e.private["slug"]
	}
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case !ok || e.owner != a || e.removed(c.now):
			return wpError(http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.")
		case b.Status != "publish" && (b.Status != "" || b.Date == ""):
			return wpBad("Invalid parameter(s): status")
		}
		e.private["date"] = cmp.Or(string(b.Date), e.private["date"])
		if b.Slug != "" && b.Slug != e.private["slug"] {
			e.private["slug"] = t.freeSlug(a, b.Slug)
		}
		if e.hidden && b.Status == "publish" {
			e.hidden = false
			c.made = append(c.made, e)
			t.date(c, a, e)
		} else if !e.hidden && b.Date != "" {
			t.date(c, a, e)
		}
		if e.path = wpPath(e); e.path != "" {
			c.st.at(a.network).pages.Store(e.path, e)
		}
		return answer(http.StatusOK, t.item(c, e))
	})
}

func (t *wordpress) show(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	e, ok := thing[*entry](c.st.at(a.network), c.r.PathValue("id"))
	return c.do(Find, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !ok || e.owner != a {
			return wpError(http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.")
		}
		return answer(http.StatusOK, t.item(c, e))
	})
}

// terms are one category and the tags that were made.
func (t *wordpress) terms(c *call, kind string) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	search := strings.ToLower(c.r.URL.Query().Get("search"))
	return c.do(Prepare, a, func() *reply {
		list := []any{}
		if kind == "categories" && strings.Contains("news", search) {
			list = append(list, map[string]any{"id": 1, "name": "News"})
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		for name, k := range a.keys {
			if tag, ok := strings.CutPrefix(name, "tag:"); ok && kind == "tags" && strings.Contains(tag, search) {
				id, _ := strconv.Atoi(k.id)
				list = append(list, map[string]any{"id": id, "name": tag})
			}
		}
		return answer(http.StatusOK, list)
	})
}

func (t *wordpress) createTag(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	var b struct {
		Name string `json:"name"`
	}
	if err := c.object(&b); err != nil || b.Name == "" {
		return wpBad("Invalid parameter(s): name")
	}
	return c.do(Prepare, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		name := "tag:" + strings.ToLower(b.Name)
		if k, there := a.keys[name]; there {
			id, _ := strconv.Atoi(k.id)
			return answer(http.StatusBadRequest, map[string]any{"code": "term_exists", "message": "A term with the name provided already exists.", "data": map[string]any{"status": 400, "term_id": id}})
		}
		n := c.sim.next()
		a.keys[name] = keyed{strconv.FormatInt(n, 10), c.now}
		return answer(http.StatusCreated, map[string]any{"id": n, "name": b.Name})
	})
}

func (t *wordpress) upload(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	b, err := c.raw(wpImage)
	return c.do(Prepare, a, func() *reply {
		switch {
		case err != nil || b.size == 0:
			return wpError(http.StatusBadRequest, "rest_upload_no_data", "No data supplied.")
		case c.r.Header.Get("Content-Disposition") == "":
			return wpError(http.StatusBadRequest, "rest_upload_no_content_disposition", "No Content-Disposition supplied.")
		case b.size > wpImage:
			return &reply{status: http.StatusRequestEntityTooLarge, kind: "text/html", body: []byte("<html>413 Request Entity Too Large</html>")}
		case !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, b.mime), !b.whole():
			return wpError(http.StatusInternalServerError, "rest_upload_unknown_error", "Sorry, you are not allowed to upload this file type.")
		}
		n := c.sim.next()
		c.st.at(a.network).objects.Store("media:"+strconv.FormatInt(n, 10), &wpFile{owner: a, data: b})
		return answer(http.StatusCreated, map[string]any{"id": n, "mime_type": b.mime, "status": "inherit"})
	})
}

func (t *wordpress) describe(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	var b struct {
		Alt string `json:"alt_text"`
	}
	if err := c.object(&b); err != nil {
		return wpBad(err.Error())
	}
	return c.do(Prepare, a, func() *reply {
		f, ok := thing[*wpFile](c.st.at(a.network), "media:"+c.r.PathValue("id"))
		if !ok || f.owner != a {
			return wpError(http.StatusNotFound, "rest_post_invalid_id", "Invalid post ID.")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		f.alt = b.Alt
		id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
		return answer(http.StatusOK, map[string]any{"id": id, "alt_text": b.Alt})
	})
}

func (t *wordpress) me(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"id": 1, "name": a.Name(), "capabilities": map[string]bool{"publish_posts": true, "upload_files": true, "unfiltered_html": t.trusts(c)}})
	})
}

func (t *wordpress) stranger(st *state, accountID, text string) *entry {
	e := t.sim.foreign(st, network.WordPress, accountID, text, func(_ *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, "/wordpress/post-" + id
	})
	e.read(func() { e.private["slug"], e.private["kind"] = "post-"+e.ID, "posts" })
	return e
}
