package sim

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// ghlBlog is the blogs of GoHighLevel: an account is one blog, of whichever location it
// is asked for in. Drafts are stored, and shown to nobody.
type ghlBlog struct{ ghl }

const ghlImage = 25_000_000

func newGHLBlog(s *Sim) *place {
	g := &ghlBlog{ghl{s}}
	p := &place{
		name: network.GHLBlog, title: "GoHighLevel blog", mux: http.NewServeMux(),
		kinds: directKinds, complain: g.complain, stranger: g.stranger, decorate: g.decorate,
	}
	p.on(s, "POST /medias/upload-file", Prepare, g.upload)
	p.on(s, "POST /blogs/posts", Prepare, g.create)
	p.on(s, "PUT /blogs/posts/{id}", Commit, g.update)
	p.on(s, "GET /blogs/posts/url-slug-exists", Prepare, g.slugExists)
	p.on(s, "GET /blogs/posts/all", Find, g.posts)
	p.on(s, "GET /blogs/authors", Check, func(c *call) *reply { return g.terms(c, "authors") })
	p.on(s, "GET /blogs/categories", Check, func(c *call) *reply { return g.terms(c, "categories") })
	p.on(s, "GET /blogs/site/all", Check, g.sites)
	p.on(s, "/", Check, func(*call) *reply { return ghlError(http.StatusNotFound, "Not Found") })
	return p
}

// ghlArticle is the body of a post. A member that is not here is refused.
type ghlArticle struct {
	Title      *string   `json:"title"`
	Location   *string   `json:"locationId"`
	Blog       *string   `json:"blogId"`
	Image      *string   `json:"imageUrl"`
	Words      *string   `json:"description"`
	HTML       *string   `json:"rawHTML"`
	Status     *string   `json:"status"`
	Alt        *string   `json:"imageAltText"`
	Categories *[]string `json:"categories"`
	Tags       []string  `json:"tags"`
	Author     *string   `json:"author"`
	Slug       *string   `json:"urlSlug"`
	At         *string   `json:"publishedAt"`
	Canonical  string    `json:"canonicalLink"`
}

// wrong is what is missing or not right.
func (v ghlArticle) wrong() *reply {
	for name, member := range map[string]*string{"title": v.Title, "locationId": v.Location, "blogId": v.Blog, "imageUrl": v.Image, "description": v.Words,
		"rawHTML": v.HTML, "status": v.Status, "imageAltText": v.Alt, "author": v.Author, "urlSlug": v.Slug, "publishedAt": v.At} {
		if member == nil || *member == "" && name != "imageAltText" {
			return ghlError(http.StatusUnprocessableEntity, []string{name + " should not be empty"})
		}
	}
	_, err := time.Parse(time.RFC3339, *v.At)
	switch {
	case v.Categories == nil:
		return ghlError(http.StatusUnprocessableEntity, []string{"categories must be an array"})
	case !slices.Contains([]string{"DRAFT", "PUBLISHED", "SCHEDULED", "ARCHIVED"}, *v.Status):
		return ghlError(http.StatusUnprocessableEntity, []string{"status must be one of DRAFT, PUBLISHED, SCHEDULED, ARCHIVED"})
	case err != nil:
		return ghlError(http.StatusUnprocessableEntity, []string{"publishedAt must be an ISO 8601 date"})
	case slices.ContainsFunc(*v.Categories, func(id string) bool { return id != ghlCategory }):
		return ghlError(http.StatusBadRequest, "A category does not exist")
	}
	return nil
}

// ghlCategory is the one category of every location, as ghlUser is its one author.
const ghlCategory = "cat1"

// body reads a post and finds the blog that it is for.
func (g *ghlBlog) body(c *call) (v ghlArticle, a *account, no *reply) {
	err := c.object(&v)
	blog := ""
	if v.Blog != nil {
		blog = *v.Blog
	}
	if a, no = g.enter(c, blog, "blogs/post.write"); no == nil && err != nil {
		no = ghlError(http.StatusUnprocessableEntity, []string{err.Error()})
	}
	return v, a, no
}

func (g *ghlBlog) create(c *call) *reply {
	v, a, no := g.body(c)
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if no := v.wrong(); no != nil {
			return no
		}
		e := &entry{Post: Post{ID: strconv.FormatInt(c.sim.next(), 10), Kind: "post", Time: c.now}, hidden: true, private: map[string]string{}}
		if no := g.write(c, a, e, v); no != nil {
			return no
		}
		c.publish(a, e)
		return g.told(c, answer(http.StatusOK, map[string]any{"data": g.tell(c, e)}))
	})
}

var ghlPicture = regexp.MustCompile(`/_media/([0-9a-z]+)$`)

// write puts what a call says into a post. a.mu is held.
func (g *ghlBlog) write(c *call, a *account, e *entry, v ghlArticle) *reply {
	p := ghlPicture.FindStringSubmatch(*v.Image)
	if p == nil {
		return ghlError(http.StatusBadRequest, "imageUrl is not in the media of the location")
	}
	f, ok := c.st.media.get(p[1])
	switch {
	case !ok:
		return ghlError(http.StatusBadRequest, "imageUrl is not in the media of the location")
	case slices.ContainsFunc(a.posts, func(o *entry) bool { return o != e && o.private["slug"] == *v.Slug && !o.removed(c.now) }):
		return ghlError(http.StatusBadRequest, "urlSlug already exists")
	}
	e.Title, e.Text, e.Media = *v.Title, wpRead(*v.HTML), []Media{c.keepMedia(f, *v.Alt)}
	e.private["slug"], e.private["status"] = *v.Slug, *v.Status
	e.path = "/ghl_blog/p/" + *v.Slug
	return nil
}

// update changes a post; with the status PUBLISHED it makes it public, if it is not.
func (g *ghlBlog) update(c *call) *reply {
	v, a, no := g.body(c)
	if no != nil {
		return no
	}
	e, ok := thing[*entry](c.st.at(a.network), c.r.PathValue("id"))
	if ok && e.owner == a {
		c.key = e.ID
	}
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !ok || e.owner != a || e.removed(c.now) {
			return ghlError(http.StatusNotFound, "Blog post not found")
		}
		if no := v.wrong(); no != nil {
			return no
		}
		if no := g.write(c, a, e, v); no != nil {
			return no
		}
		c.st.at(a.network).pages.Store(e.path, e)
		if e.hidden && *v.Status == "PUBLISHED" {
			e.hidden, e.Time = false, c.now
			c.made = append(c.made, e)
		}
		return answer(http.StatusOK, map[string]any{"updatedBlogPost": g.tell(c, e)})
	})
}

// tell is a post as the API describes it. owner.mu is held.
func (g *ghlBlog) tell(c *call, e *entry) map[string]any {
	return map[string]any{"_id": e.ID, "title": e.Title, "status": e.private["status"], "urlSlug": e.private["slug"], "canonicalLink": c.base() + e.path,
		"archived": false, "publishedAt": e.Time.UTC().Format(time.RFC3339), "updatedAt": c.now.UTC().Format(time.RFC3339)}
}

// asked finds the blog that a query names, and what of the query is not known.
func (g *ghlBlog) asked(c *call, blog string, known ...string) (*account, *reply) {
	a, no := g.enter(c, blog)
	if no != nil {
		return nil, no
	}
	c.params.values = c.r.URL.Query()
	if name := c.params.stray(append(known, "locationId")...); name != "" || c.params.get("locationId") == "" {
		return nil, ghlError(http.StatusUnprocessableEntity, []string{"locationId should not be empty, or not a parameter: " + name})
	}
	return a, nil
}

func (g *ghlBlog) slugExists(c *call) *reply {
	a, no := g.asked(c, "", "urlSlug", "postId")
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		taken := slices.ContainsFunc(a.posts, func(e *entry) bool {
			return e.private["slug"] == c.params.get("urlSlug") && e.ID != c.params.get("postId") && !e.removed(c.now)
		})
		return answer(http.StatusOK, map[string]any{"exists": taken})
	})
}

// span reads the two numbers that a list wants.
func (g *ghlBlog) span(c *call, from string) (start, count int, no *reply) {
	start, bad := strconv.Atoi(c.params.get(from))
	count, worse := strconv.Atoi(c.params.get("limit"))
	if bad != nil || worse != nil || start < 0 || count < 1 {
		return 0, 0, ghlError(http.StatusUnprocessableEntity, []string{"limit and " + from + " must be numbers"})
	}
	return start, count, nil
}

// posts lists those of a blog whose titles hold the words, drafts too.
func (g *ghlBlog) posts(c *call) *reply {
	a, no := g.asked(c, c.r.URL.Query().Get("blogId"), "blogId", "limit", "offset", "searchTerm", "status")
	if no != nil {
		return no
	}
	start, count, no := g.span(c, "offset")
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		words, status := strings.ToLower(c.params.get("searchTerm")), c.params.get("status")
		list, _ := c.listPage(a, start, count, func(e *entry) bool {
			return !e.Stranger && strings.Contains(strings.ToLower(e.Title), words) && (status == "" || status == e.private["status"])
		}, func(e *entry) any { return g.tell(c, e) })
		return answer(http.StatusOK, map[string]any{"blogs": list})
	})
}

// terms are the one author and the one category of every location.
func (g *ghlBlog) terms(c *call, kind string) *reply {
	a, no := g.asked(c, "", "limit", "offset")
	if no != nil {
		return no
	}
	start, _, no := g.span(c, "offset")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		list := []any{}
		switch {
		case start > 0:
		case kind == "authors":
			list = append(list, map[string]any{"_id": "nora", "name": "Nora", "locationId": c.params.get("locationId")})
		default:
			list = append(list, map[string]any{"_id": ghlCategory, "label": "News", "urlSlug": "news", "locationId": c.params.get("locationId")})
		}
		return answer(http.StatusOK, map[string]any{kind: list})
	})
}

func (g *ghlBlog) sites(c *call) *reply {
	a, no := g.asked(c, "", "skip", "limit", "searchTerm")
	if no != nil {
		return no
	}
	if _, _, no := g.span(c, "skip"); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"data": []any{map[string]any{"_id": a.id, "name": a.Name()}}})
	})
}

func (g *ghlBlog) upload(c *call) *reply {
	a, no := g.enter(c, "", "medias.write")
	if no != nil {
		return no
	}
	err := c.read(plainNest, "multipart")
	return c.do(Prepare, a, func() *reply {
		if err != nil {
			return ghlError(http.StatusBadRequest, err.Error())
		}
		data, err := c.params.file("file")
		f := sorted(data, int64(len(data)))
		if err != nil || f.size == 0 || f.size > ghlImage || !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, f.mime) || !f.whole() {
			return ghlError(http.StatusBadRequest, "The file is not one that can be used")
		}
		at := c.base() + c.keepMedia(f, "").path
		return answer(http.StatusOK, map[string]any{"fileId": url.PathEscape(at), "url": at})
	})
}

func (g *ghlBlog) stranger(st *state, accountID, text string) *entry {
	return g.sim.foreign(st, network.GHLBlog, accountID, text, func(_ *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, "/ghl_blog/p/post-" + id
	})
}
