package sim

import (
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"herald/db/network"
)

// medium is the legacy API: it makes stories, and lists none.
type medium struct{ sim *Sim }

func newMedium(s *Sim) *place {
	m := &medium{s}
	p := &place{
		name: network.Medium, title: "Medium", mux: http.NewServeMux(),
		kinds: directKinds, complain: m.complain, stranger: m.stranger,
		decorate: func(*call, *reply) {},
	}
	p.on(s, "POST /v1/users/{id}/posts", Commit, m.create)
	p.on(s, "POST /v1/images", Prepare, m.upload)
	p.on(s, "GET /v1/me", Check, m.me)
	p.on(s, "/", Check, func(*call) *reply { return meError(http.StatusNotFound, 2001, "Not found") })
	return p
}

func meError(status, code int, message string) *reply {
	return answer(status, map[string]any{"errors": []any{map[string]any{"message": message, "code": code}}})
}

// complain says a fault in Medium's words.
func (m *medium) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	if k == "" && status == http.StatusTooManyRequests {
		k, wait = RateLimit, time.Minute
	}
	switch k {
	case RateLimit:
		return meError(http.StatusTooManyRequests, -1, "Rate limit exceeded").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return meError(http.StatusUnauthorized, 6003, "Token was invalid.")
	case MissingPermission:
		return meError(http.StatusForbidden, 2006, "User is not allowed to publish")
	case Invalid:
		return meError(http.StatusBadRequest, 2002, "content is not valid")
	}
	return meError(status, -1, http.StatusText(status))
}

func meVerdict(v verdict) *reply {
	switch v {
	case good:
		return nil
	case noScope, elsewhere:
		return meError(http.StatusForbidden, 2006, "User is not allowed to publish")
	}
	return meError(http.StatusUnauthorized, 6003, "Token was invalid.")
}

var mePicture = regexp.MustCompile(`<img src="[^"]*/_media/([0-9a-z]+)" alt="([^"]*)">\n`)

func (m *medium) create(c *call) *reply {
	a, _, v := c.admit(c.r.PathValue("id"), c.bearer(), "publishPost")
	if no := meVerdict(v); no != nil {
		return no
	}
	var b struct {
		Title     string   `json:"title"`
		Format    string   `json:"contentFormat"`
		Content   string   `json:"content"`
		Tags      []string `json:"tags"`
		Canonical string   `json:"canonicalUrl"`
		Status    string   `json:"publishStatus"`
		Notify    bool     `json:"notifyFollowers"`
	}
	if err := c.object(&b); err != nil {
		return meError(http.StatusBadRequest, 2002, err.Error())
	}
	return c.do(Commit, a, func() *reply {
		heading := "<h1>" + html.EscapeString(b.Title) + "</h1>\n"
		switch {
		case b.Format != "html" || b.Content == "":
			return meError(http.StatusBadRequest, 2002, "contentFormat or content is not valid")
		case utf8.RuneCountInString(b.Title) > 100:
			return meError(http.StatusBadRequest, 2002, "title is too long")
		case b.Status != "public" && b.Status != "unlisted" && b.Status != "draft":
			return meError(http.StatusBadRequest, 2002, "publishStatus is not valid")
		case b.Canonical != "" && !webAddress(b.Canonical):
			return meError(http.StatusBadRequest, 2002, "canonicalUrl is not valid")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		id := strconv.FormatInt(c.sim.next(), 16)
		body := strings.TrimPrefix(b.Content, heading)
		e := &entry{Post: Post{ID: id, Kind: "post", Title: b.Title, Link: b.Canonical, Time: c.now, path: "/medium/p/" + id}, hidden: b.Status == "draft", private: map[string]string{}}
		if p := mePicture.FindStringSubmatch(body); p != nil {
			if f, ok := c.st.media.get(p[1]); ok {
				e.Media = []Media{c.keepMedia(f, html.UnescapeString(p[2]))}
			}
			body = strings.Replace(body, p[0], "", 1)
		}
		e.Text = wpRead(body)
		c.publish(a, e)
		return answer(http.StatusCreated, map[string]any{"data": map[string]any{"id": id, "title": b.Title, "authorId": a.id, "url": c.base() + e.path, "publishStatus": b.Status, "tags": b.Tags}})
	})
}

func (m *medium) upload(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer(), "uploadImage")
	if no := meVerdict(v); no != nil {
		return no
	}
	if err := c.read(plainNest, "multipart"); err != nil {
		return meError(http.StatusBadRequest, 2002, err.Error())
	}
	data, err := c.params.file("image")
	return c.do(Prepare, a, func() *reply {
		f := sorted(data, int64(len(data)))
		if err != nil || f.size == 0 || f.size > 10_000_000 || f.mime != "image/jpeg" && f.mime != "image/png" && f.mime != "image/gif" || !f.whole() {
			return meError(http.StatusBadRequest, 2002, "The image is not valid")
		}
		return answer(http.StatusCreated, map[string]any{"data": map[string]string{"url": c.base() + c.keepMedia(f, "").path, "md5": "m"}})
	})
}

func (m *medium) me(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer())
	if no := meVerdict(v); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"data": map[string]string{"id": a.id, "username": a.Handle(), "name": a.Name()}})
	})
}

func (m *medium) stranger(st *state, accountID, text string) *entry {
	return m.sim.foreign(st, network.Medium, accountID, text, func(_ *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 16)
		return id, "/medium/p/" + id
	})
}
