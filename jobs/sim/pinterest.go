package sim

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"herald/db/network"
)

// pinterest is version 5 of the API. An account has one board, whose number is
// its own. Videos are in pinterest_media.go.
type pinterest struct{ sim *Sim }

const pinTime = "2006-01-02T15:04:05"

var pinDesk = desk{id: "client_id", secret: "client_secret", apart: ",", life: 30 * 24 * time.Hour, hold: hold{life: 60 * 24 * time.Hour}, tells: "refresh_token_expires_in"}

func newPinterest(s *Sim) *place {
	t := &pinterest{s}
	p := &place{
		name: network.Pinterest, title: "Pinterest", mux: http.NewServeMux(),
		kinds: allKinds, complain: t.complain, stranger: t.stranger,
		decorate: func(c *call, rep *reply) { rep.with("X-Pinterest-RID", c.id) },
	}
	p.on(s, "POST /v5/pins", Commit, t.createPin)
	p.on(s, "GET /v5/boards/{id}/pins", Find, t.listPins)
	p.on(s, "GET /v5/boards", Check, t.boards)
	p.on(s, "GET /v5/user_account", Check, t.me)
	p.on(s, "POST /v5/media", Prepare, t.register)
	p.on(s, "GET /v5/media/{id}", Prepare, t.showMedia)
	p.on(s, "POST /store/{id}", Prepare, t.store)
	p.on(s, "GET /oauth/", Token, pinDesk.consent)
	p.on(s, "POST /v5/oauth/token", Token, pinDesk.token)
	p.on(s, "POST /v5/oauth/token/revoke", Token, pinDesk.revoke)
	p.on(s, "/", Check, func(*call) *reply { return pinError(http.StatusNotFound, 1, "Not found.") })
	return p
}

func pinError(status, code int, message string) *reply {
	return answer(status, map[string]any{"code": code, "message": message})
}

func pinBad(message string) *reply { return pinError(http.StatusBadRequest, 1, message) }

// complain says a fault in Pinterest's words.
func (t *pinterest) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	if c.step == Token {
		return oauthComplaint(k, status, wait)
	}
	if k == "" && status == http.StatusTooManyRequests {
		k, wait = RateLimit, time.Minute
	}
	switch k {
	case RateLimit:
		return pinError(http.StatusTooManyRequests, 8, "You have exceeded your rate limit. Try again later.").with("X-RateLimit-Reset", seconds(wait))
	case ExpiredToken:
		return pinVerdict(expired)
	case MissingPermission:
		return pinVerdict(noScope)
	case Invalid:
		return pinBad("'link' does not match the pattern")
	}
	return pinError(status, 0, http.StatusText(status))
}

func pinVerdict(v verdict) *reply {
	switch v {
	case good:
		return nil
	case noScope:
		return pinError(http.StatusForbidden, 29, "You are not permitted to access that resource.")
	}
	return pinError(http.StatusUnauthorized, 2, "Authentication failed.")
}

func (t *pinterest) open(c *call, scope string) (*account, *reply) {
	a, _, v := c.admitByToken(c.bearer(), scope)
	return a, pinVerdict(v)
}

// pinBody is a new pin. A member that is not here is refused.
type pinBody struct {
	Board       string `json:"board_id"`
	Section     string `json:"board_section_id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Link        string `json:"link"`
	Alt         string `json:"alt_text"`
	Source      struct {
		Type  string `json:"source_type"`
		URL   string `json:"url"`
		Items []struct {
			URL         string `json:"url"`
			Title       string `json:"title"`
			Description string `json:"description"`
			Link        string `json:"link"`
		} `json:"items"`
		Index     int    `json:"index"`
		Media     string `json:"media_id"`
		CoverURL  string `json:"cover_image_url"`
		CoverType string `json:"cover_image_content_type"`
		Cover     string `json:"cover_image_data"`
		Moment    *int   `json:"cover_image_key_frame_time"`
	} `json:"media_source"`
}

var pinNumber = regexp.MustCompile(`^\d+$`)

func (t *pinterest) createPin(c *call) *reply {
	a, no := t.open(c, "pins:write")
	if no != nil {
		return no
	}
	var b pinBody
	if err := c.object(&b); err != nil {
		return pinBad(err.Error())
	}
	return c.do(Commit, a, func() *reply {
		over := func(s string, n int) bool { return utf8.RuneCountInString(s) > n }
		switch {
		case !pinNumber.MatchString(b.Board):
			return pinBad(b.Board + ` does not match '^\d+$'`)
		case b.Board != a.id:
			return pinError(http.StatusNotFound, 40, "Board not found.")
		case over(b.Title, 100), over(b.Description, 800), over(b.Alt, 500), len(b.Link) > 2048:
			return pinBad("title, description, alt_text or link is too long")
		case b.Link != "" && !webAddress(b.Link):
			return pinBad("'link' is not a URL")
		case strings.Contains(b.Link, "://bit.ly/"), strings.Contains(b.Link, "://youtu.be/"):
			return pinBad("Sorry! We blocked this link because it may lead to spam.")
		}
		files, kind, no := t.files(c, a, b)
		if no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		id := strconv.FormatInt(c.sim.next(), 10)
		e := &entry{Post: Post{ID: id, Kind: kind, Text: b.Description, Title: b.Title, Link: b.Link, Media: files, Time: c.now, path: pinPath(id)}, hidden: c.sim.Knobs().Unaudited, private: map[string]string{}}
		c.publish(a, e)
		return answer(http.StatusCreated, t.item(e))
	})
}

func pinPath(id string) string { return "/pinterest/pin/" + id }

var pinTypes = []string{"image/jpeg", "image/png", "image/webp", "image/gif", "image/bmp", "image/tiff"}

// files gets what the pin shows.
func (t *pinterest) files(c *call, a *account, b pinBody) ([]Media, string, *reply) {
	addresses := []string{b.Source.URL}
	switch b.Source.Type {
	case "image_url":
	case "multiple_image_urls":
		addresses = nil
		for _, item := range b.Source.Items {
			addresses = append(addresses, item.URL)
		}
		if len(addresses) < 2 || len(addresses) > 5 {
			return nil, "", pinBad("items does not match minItems=2, maxItems=5")
		}
	case "video_id":
		return t.film(c, a, b)
	default:
		return nil, "", pinBad("source_type is not known")
	}
	var files []Media
	for _, address := range addresses {
		f, err := c.pull(address, 20_000_000)
		switch {
		case err != nil:
			return nil, "", pinBad("Unable to reach the URL. Please check the URL is correct.")
		case f.size > 20_000_000, !slices.Contains(pinTypes, f.mime), !f.whole():
			return nil, "", pinBad("The image cannot be used")
		}
		files = append(files, c.keepMedia(f, b.Alt))
	}
	return files, "photo", nil
}

// film is the video of a pin, which needs a cover.
func (t *pinterest) film(c *call, a *account, b pinBody) ([]Media, string, *reply) {
	cover, err := base64.StdEncoding.DecodeString(b.Source.Cover)
	switch {
	case b.Source.CoverURL == "" && b.Source.Cover == "" && b.Source.Moment == nil:
		return nil, "", pinBad("cover_image_url or cover_image_content_type is required")
	case b.Source.Cover != "" && (err != nil || sorted(cover, int64(len(cover))).mime != b.Source.CoverType):
		return nil, "", pinBad("cover_image_data is not what cover_image_content_type says")
	}
	m, ok := thing[*pinMedia](c.st.at(a.network), b.Source.Media)
	if !ok || m.owner != a {
		return nil, "", pinBad("The media was not found")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch m.state() {
	case "succeeded":
		return []Media{c.keepMedia(m.data, b.Alt)}, "video", nil
	case "failed":
		return nil, "", pinBad("The media could not be processed")
	}
	return nil, "", pinError(http.StatusConflict, 1, "The media is still being processed.")
}

// item is a pin as Pinterest shows it. owner.mu is held.
func (t *pinterest) item(e *entry) map[string]any {
	kind := "image"
	if e.Kind == "video" {
		kind = "video"
	}
	out := map[string]any{
		"id": e.ID, "board_id": e.Account, "created_at": e.Time.UTC().Format(pinTime), "title": e.Title, "description": strings.TrimSpace(e.Text),
		"link": nil, "media": map[string]any{"media_type": kind}, "is_owner": true, "board_owner": map[string]any{"username": e.owner.Handle()},
	}
	if e.Link != "" {
		out["link"] = e.Link
	}
	return out
}

func (t *pinterest) listPins(c *call) *reply {
	a, no := t.open(c, "pins:read")
	if no != nil {
		return no
	}
	start, size, no := t.span(c)
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		if c.r.PathValue("id") != a.id {
			return pinError(http.StatusNotFound, 40, "Board not found.")
		}
		list, next := c.listPage(a, start, size, func(*entry) bool { return true }, func(e *entry) any { return t.item(e) })
		return pinPage(list, next)
	})
}

// pinPage is a page of a list; the last one has no bookmark.
func pinPage(list []any, next string) *reply {
	out := map[string]any{"items": list, "bookmark": nil}
	if next != "" {
		out["bookmark"] = "b" + next
	}
	return answer(http.StatusOK, out)
}

func (t *pinterest) span(c *call) (start, size int, no *reply) {
	c.params.values = c.r.URL.Query()
	if name := c.params.stray("bookmark", "page_size"); name != "" {
		return 0, 0, pinBad("unknown parameter " + name)
	}
	size, err := strconv.Atoi(c.params.get("page_size"))
	start, _ = strconv.Atoi(strings.TrimPrefix(c.params.get("bookmark"), "b"))
	if err != nil || size < 1 || size > 250 {
		return 0, 0, pinBad("page_size is 1 to 250")
	}
	return start, size, nil
}

func (t *pinterest) boards(c *call) *reply {
	a, no := t.open(c, "boards:read")
	if no != nil {
		return no
	}
	if _, _, no := t.span(c); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return pinPage([]any{map[string]any{"id": a.id, "name": a.Name(), "privacy": "PUBLIC"}}, "")
	})
}

func (t *pinterest) me(c *call) *reply {
	a, no := t.open(c, "user_accounts:read")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"id": a.id, "username": a.Handle(), "account_type": "BUSINESS"})
	})
}

func (t *pinterest) stranger(st *state, accountID, text string) *entry {
	return t.sim.foreign(st, network.Pinterest, accountID, text, func(_ *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, pinPath(id)
	})
}
