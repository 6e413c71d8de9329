package sim

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"herald/db/network"
)

// googleBusiness is version 4 of the My Business API. An account is a location; it
// belongs to any account of Google's.
type googleBusiness struct{ sim *Sim }

var gbTopics = []string{"STANDARD", "EVENT", "OFFER"}

func newGoogleBusiness(s *Sim) *place {
	g := &googleBusiness{s}
	p := &place{
		name: network.GoogleBusiness, title: "Google Business Profile", mux: http.NewServeMux(),
		kinds: allKinds, complain: g.complain, stranger: g.stranger,
		decorate: func(*call, *reply) {},
	}
	const parent = "/v4/accounts/{a}/locations/{l}/localPosts"
	p.on(s, "POST "+parent, Commit, g.create)
	p.on(s, "GET "+parent, Find, g.list)
	p.on(s, "GET "+parent+"/{id}", Find, g.show)
	p.on(s, "GET /v1/accounts", Check, g.owners)
	p.on(s, "GET /v1/accounts/{a}/locations", Check, g.locations)
	googleSignIn(s, p, true)
	p.on(s, "/", Check, func(*call) *reply {
		return &reply{status: http.StatusNotFound, kind: "text/html", body: []byte("<html><title>Error 404 (Not Found)!!1</title></html>")}
	})
	return p
}

// gbInvalid is a refusal with its details.
func gbInvalid(field, message string) *reply {
	return answer(http.StatusBadRequest, map[string]any{"error": map[string]any{"code": 400, "status": "INVALID_ARGUMENT", "message": "Request contains an invalid argument.",
		"details": []any{map[string]any{"@type": "type.googleapis.com/google.mybusiness.v4.ValidationError", "errorDetails": []any{map[string]any{"code": 2, "field": field, "message": message}}}}}})
}

// complain says a fault in Google's words.
func (g *googleBusiness) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	if c.step == Token {
		return oauthComplaint(k, status, wait)
	}
	switch k {
	case RateLimit:
		return googleError(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "", "Quota exceeded").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return googleError(http.StatusUnauthorized, "UNAUTHENTICATED", "", "Request had invalid authentication credentials.")
	case MissingPermission:
		return googleError(http.StatusForbidden, "PERMISSION_DENIED", "", "The caller does not have permission")
	case Invalid:
		return gbInvalid("summary", "INVALID_VALUE")
	}
	return googleError(status, googleStatus(status), "", http.StatusText(status))
}

func (g *googleBusiness) open(c *call) (*account, *reply) {
	a, _, v := c.admit(c.r.PathValue("l"), c.bearer(), "https://www.googleapis.com/auth/business.manage")
	switch v {
	case good:
		return a, nil
	case noScope, elsewhere:
		return nil, googleError(http.StatusForbidden, "PERMISSION_DENIED", "", "The caller does not have permission")
	}
	return nil, googleError(http.StatusUnauthorized, "UNAUTHENTICATED", "", "Request had invalid authentication credentials.")
}

// gbPost is the body of a post. A member that is not here is refused.
type gbPost struct {
	Language string `json:"languageCode"`
	Summary  string `json:"summary"`
	Topic    string `json:"topicType"`
	Action   *struct {
		Type string `json:"actionType"`
		URL  string `json:"url"`
	} `json:"callToAction"`
	Event *struct {
		Title    string                    `json:"title"`
		Schedule map[string]map[string]int `json:"schedule"`
	} `json:"event"`
	Offer *struct {
		Coupon string `json:"couponCode"`
		URL    string `json:"redeemOnlineUrl"`
		Terms  string `json:"termsConditions"`
	} `json:"offer"`
	Media []struct {
		Format string `json:"mediaFormat"`
		Source string `json:"sourceUrl"`
	} `json:"media"`
}

func (g *googleBusiness) create(c *call) *reply {
	a, no := g.open(c)
	if no != nil {
		return no
	}
	var b gbPost
	if err := c.object(&b); err != nil {
		return googleError(http.StatusBadRequest, "INVALID_ARGUMENT", "", "Invalid JSON payload received. "+err.Error())
	}
	return c.do(Commit, a, func() *reply {
		files, no := g.check(c, b)
		if no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		name := strings.TrimPrefix(c.r.URL.Path, "/v4/") + "/" + strconv.FormatInt(c.sim.next(), 10)
		e := &entry{Post: Post{ID: name, Kind: "post", Text: b.Summary, Media: files, Time: c.now, path: gbPath(name)}, private: map[string]string{"topic": b.Topic}}
		if b.Action != nil {
			e.Link, e.private["action"] = b.Action.URL, b.Action.Type
		}
		if b.Event != nil {
			e.Title = b.Event.Title
		}
		if gbPhone.MatchString(b.Summary) {
			return answer(http.StatusOK, g.item(c, e, "REJECTED"))
		}
		c.publish(a, e)
		return answer(http.StatusOK, g.item(c, e, "PROCESSING"))
	})
}

// gbPhone is what Google's review turns down at once.
var gbPhone = regexp.MustCompile(`\+\d{10,}`)

// check looks at a post and gets its picture.
func (g *googleBusiness) check(c *call, b gbPost) ([]Media, *reply) {
	switch {
	case !slices.Contains(gbTopics, b.Topic):
		return nil, gbInvalid("topic_type", "MISSING_VALUE")
	case utf8.RuneCountInString(b.Summary) > 1500:
		return nil, gbInvalid("summary", "STRING_TOO_LONG")
	case b.Topic != "STANDARD" && (b.Event == nil || b.Event.Title == "" || b.Event.Schedule["startDate"]["year"] == 0 || b.Event.Schedule["endDate"]["year"] == 0):
		return nil, gbInvalid("event", "MISSING_VALUE")
	case b.Event != nil && utf8.RuneCountInString(b.Event.Title) > 58:
		return nil, gbInvalid("event.title", "STRING_TOO_LONG")
	case b.Topic != "OFFER" && b.Offer != nil:
		return nil, gbInvalid("offer", "INVALID_VALUE")
	case b.Action != nil && (b.Action.Type == "CALL") != (b.Action.URL == ""):
		return nil, gbInvalid("call_to_action.url", "INVALID_VALUE")
	case b.Summary == "" && len(b.Media) == 0 && b.Event == nil && b.Action == nil:
		return nil, gbInvalid("summary", "MISSING_VALUE")
	case len(b.Media) > 1:
		return nil, gbInvalid("media", "TOO_MANY_ENTRIES")
	}
	var files []Media
	for _, m := range b.Media {
		f, err := c.pull(m.Source, 5_000_000)
		switch {
		case err != nil:
			return nil, gbInvalid("media.source_url", "PHOTO_FETCH_FAILED")
		case m.Format != "PHOTO", f.mime != "image/jpeg" && f.mime != "image/png", !f.whole(), f.size > 5_000_000, min(f.width, f.height) < 250:
			return nil, gbInvalid("media", "PHOTO_UPLOAD_FAILED")
		}
		files = append(files, c.keepMedia(f, ""))
	}
	return files, nil
}

func gbPath(name string) string { return "/google_business/p/" + strings.ReplaceAll(name, "/", "-") }

// item is a post as Google shows it. owner.mu is held.
func (g *googleBusiness) item(c *call, e *entry, state string) map[string]any {
	out := map[string]any{"name": e.ID, "languageCode": "en", "summary": e.Text, "state": state, "createTime": e.Time.UTC().Format(time.RFC3339), "updateTime": e.Time.UTC().Format(time.RFC3339), "topicType": e.private["topic"]}
	if state == "LIVE" {
		out["searchUrl"] = c.base() + e.path
	}
	if e.private["action"] != "" {
		out["callToAction"] = map[string]string{"actionType": e.private["action"], "url": e.Link}
	}
	if e.Title != "" {
		out["event"] = map[string]any{"title": e.Title}
	}
	var media []any
	for range e.Media {
		media = append(media, map[string]any{"mediaFormat": "PHOTO", "googleUrl": "https://lh3.example/x"})
	}
	if media != nil {
		out["media"] = media
	}
	return out
}

func (g *googleBusiness) show(c *call) *reply {
	a, no := g.open(c)
	if no != nil {
		return no
	}
	e, ok := thing[*entry](c.st.at(a.network), strings.TrimPrefix(c.r.URL.Path, "/v4/"))
	return c.do(Find, a, func() *reply {
		f := c.sim.faults.take(c, asyncKinds)
		a.mu.Lock()
		defer a.mu.Unlock()
		state := "LIVE"
		switch {
		case !ok || e.owner != a || e.removed(c.now) && e.private["state"] == "":
			return googleError(http.StatusNotFound, "NOT_FOUND", "", "Requested entity was not found.")
		case f != nil && f.Kind == AsyncPending:
			c.outcome, state = string(f.Kind), "PROCESSING"
		case f != nil:
			c.outcome, e.private["state"], e.gone = string(f.Kind), "REJECTED", c.now
		}
		if e.private["state"] != "" {
			state = e.private["state"]
		}
		return answer(http.StatusOK, g.item(c, e, state))
	})
}

func (g *googleBusiness) list(c *call) *reply {
	a, no := g.open(c)
	if no != nil {
		return no
	}
	c.params.values = c.r.URL.Query()
	size, err := strconv.Atoi(c.params.get("pageSize"))
	if name := c.params.stray("pageSize", "pageToken"); name != "" || err != nil || size < 1 || size > 100 {
		return gbInvalid("page_size", "INVALID_VALUE")
	}
	start, _ := strconv.Atoi(c.params.get("pageToken"))
	return c.do(Find, a, func() *reply {
		list, next := c.listPage(a, start, size, func(*entry) bool { return true }, func(e *entry) any { return g.item(c, e, "LIVE") })
		out := map[string]any{"localPosts": list}
		if next != "" {
			out["nextPageToken"] = next
		}
		return answer(http.StatusOK, out)
	})
}

// owners lists the accounts of the person: there is one.
func (g *googleBusiness) owners(c *call) *reply {
	if _, v := c.st.at(c.place.name).look(c.bearer(), !c.sim.opts.Closed, c.now); v != good {
		return googleError(http.StatusUnauthorized, "UNAUTHENTICATED", "", "Request had invalid authentication credentials.")
	}
	return c.do(Check, nil, func() *reply {
		return answer(http.StatusOK, map[string]any{"accounts": []any{map[string]any{"name": "accounts/1", "accountName": "Bakeries", "type": "PERSONAL"}}})
	})
}

func (g *googleBusiness) locations(c *call) *reply {
	list, a, v := c.reached()
	if v != good {
		return googleError(http.StatusUnauthorized, "UNAUTHENTICATED", "", "Request had invalid authentication credentials.")
	}
	if c.r.URL.Query().Get("readMask") == "" {
		return gbInvalid("read_mask", "MISSING_VALUE")
	}
	return c.do(Check, a, func() *reply {
		items := []any{}
		for _, one := range list {
			items = append(items, map[string]any{"name": "locations/" + one.id, "title": one.Name(), "metadata": map[string]any{"canOperateLocalPost": !strings.HasPrefix(one.id, "99")}})
		}
		return answer(http.StatusOK, map[string]any{"locations": items})
	})
}

func (g *googleBusiness) stranger(st *state, accountID, text string) *entry {
	e := g.sim.foreign(st, network.GoogleBusiness, accountID, text, func(_ *account, n int64) (string, string) {
		name := "accounts/1/locations/" + accountID + "/localPosts/" + strconv.FormatInt(n, 10)
		return name, gbPath(name)
	})
	e.read(func() { e.private["topic"] = "STANDARD" })
	return e
}
