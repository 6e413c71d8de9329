package sim

import (
	"encoding/base64"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"herald/db/network"
)

// mailchimp is the Marketing API, version 3. An account is an audience; what its
// subscribers got are its posts.
type mailchimp struct{ sim *Sim }

const (
	mcImage   = 1_000_000
	mcAtOnce  = 10          // calls of a key
	mcSending = time.Minute // until a campaign that is sent has reached everybody
)

func newMailchimp(s *Sim) *place {
	m := &mailchimp{s}
	p := &place{
		name: network.Mailchimp, title: "Mailchimp", mux: http.NewServeMux(),
		kinds: directKinds, complain: m.complain, stranger: m.stranger,
		decorate: func(c *call, rep *reply) { rep.with("X-Request-Id", c.id) }, enter: m.crowd,
	}
	p.on(s, "POST /3.0/campaigns", Prepare, m.create)
	p.on(s, "GET /3.0/campaigns", Prepare, m.list)
	p.on(s, "GET /3.0/campaigns/{id}", Find, m.show)
	p.on(s, "PUT /3.0/campaigns/{id}/content", Prepare, m.fill)
	p.on(s, "GET /3.0/campaigns/{id}/send-checklist", Prepare, m.checklist)
	p.on(s, "POST /3.0/campaigns/{id}/actions/send", Commit, m.send)
	p.on(s, "GET /3.0/lists/{id}", Prepare, m.audience)
	p.on(s, "GET /3.0/lists", Check, m.audiences)
	p.on(s, "GET /oauth2/authorize", Token, mcDesk.consent)
	p.on(s, "POST /oauth2/token", Token, mcDesk.token)
	p.on(s, "GET /oauth2/metadata", Check, m.metadata)
	p.on(s, "POST /3.0/file-manager/files", Prepare, m.file)
	p.on(s, "/", Check, func(*call) *reply {
		return mcError(http.StatusNotFound, "Resource Not Found", "The requested resource could not be found.")
	})
	return p
}

// crowd counts the calls of a key that are under way. The edge answers one too many,
// with a page.
func (m *mailchimp) crowd(c *call) (leave func(), no *reply) {
	v, _ := c.st.at(c.place.name).objects.LoadOrStore("under way:"+c.r.Header.Get("Authorization"), new(atomic.Int32))
	n := v.(*atomic.Int32)
	if n.Add(1) > mcAtOnce {
		no = &reply{status: http.StatusTooManyRequests, kind: "text/html", body: []byte("<html><head><title>429 Too Many Requests</title></head></html>")}
	}
	return func() { n.Add(-1) }, no
}

// mcDesk hands out tokens that do not run out, which it says with a life of zero, and
// knows no scopes.
var mcDesk = desk{id: "client_id", secret: "client_secret", apart: " ", team: true, issued: func(g *grant, out map[string]any) { g.scopes, out["scope"] = nil, nil }}

// metadata says where a token is good.
func (m *mailchimp) metadata(c *call) *reply {
	token, ok := strings.CutPrefix(c.r.Header.Get("Authorization"), "OAuth ")
	if _, v := c.st.at(c.place.name).look(token, !c.sim.opts.Closed, c.now); !ok || v != good {
		return oauthError(http.StatusUnauthorized, "invalid_token", "The token is not known.")
	}
	return c.do(Check, nil, func() *reply {
		return answer(http.StatusOK, map[string]any{"dc": "us21", "accountname": "Bakery", "api_endpoint": "https://us21.api.mailchimp.com", "login": map[string]string{"login_name": "ann"}})
	})
}

func (m *mailchimp) audiences(c *call) *reply {
	list, a, v := c.reached()
	if no := mcVerdict(v); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		items := []any{}
		for _, one := range list {
			items = append(items, map[string]any{"id": one.id, "name": one.Name(), "campaign_defaults": map[string]string{"from_name": one.Name(), "from_email": "news@bakery.example"}})
		}
		return answer(http.StatusOK, map[string]any{"lists": items, "total_items": len(items)})
	})
}

func mcError(status int, title, detail string) *reply {
	return answer(status, map[string]any{"type": "https://mailchimp.com/developer/marketing/docs/errors/", "title": title, "status": status, "detail": detail, "instance": "i"})
}

// complain says a fault in Mailchimp's words.
func (m *mailchimp) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	if k == "" && status == http.StatusTooManyRequests {
		k, wait = RateLimit, time.Minute
	}
	switch k {
	case RateLimit:
		return mcError(http.StatusTooManyRequests, "Too Many Requests", "You have exceeded the limit of 10 simultaneous connections.").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return mcError(http.StatusUnauthorized, "API Key Invalid", "Your API key may be invalid.")
	case MissingPermission:
		return mcError(http.StatusForbidden, "Forbidden", "You don't have permission to access this.")
	case Invalid:
		return mcError(http.StatusBadRequest, "Invalid Resource", "The resource submitted could not be validated.")
	}
	return mcError(status, http.StatusText(status), "Something went wrong.")
}

func (m *mailchimp) open(c *call, list string) (*account, *reply) {
	a, _, v := c.admit(list, c.bearer(), "send")
	return a, mcVerdict(v)
}

func mcVerdict(v verdict) *reply {
	switch v {
	case good:
		return nil
	case noScope:
		return mcError(http.StatusForbidden, "Forbidden", "You don't have permission to access this.")
	case elsewhere:
		return mcError(http.StatusForbidden, "Wrong Datacenter", "The API key provided is linked to a different datacenter.")
	}
	return mcError(http.StatusUnauthorized, "API Key Invalid", "Your API key may be invalid.")
}

func (m *mailchimp) create(c *call) *reply {
	var b struct {
		Type       string `json:"type"`
		Recipients struct {
			List string `json:"list_id"`
		} `json:"recipients"`
		Settings struct {
			Subject string `json:"subject_line"`
			Preview string `json:"preview_text"`
			Title   string `json:"title"`
			From    string `json:"from_name"`
			ReplyTo string `json:"reply_to"`
		} `json:"settings"`
	}
	if err := c.object(&b); err != nil {
		return mcError(http.StatusBadRequest, "Invalid Resource", err.Error())
	}
	a, no := m.open(c, b.Recipients.List)
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		if b.Type != "regular" || b.Settings.Subject == "" || b.Settings.From == "" || !strings.Contains(b.Settings.ReplyTo, "@") {
			return mcError(http.StatusBadRequest, "Invalid Resource", "settings are not whole")
		}
		id := "c" + strconv.FormatInt(c.sim.next(), 36)
		e := &entry{Post: Post{ID: id, Kind: "post", Title: b.Settings.Subject, Time: c.now, path: "/mailchimp/p/" + id}, hidden: true, private: map[string]string{"title": b.Settings.Title}}
		a.mu.Lock()
		defer a.mu.Unlock()
		c.publish(a, e)
		return answer(http.StatusOK, m.item(c, e))
	})
}

// item is a campaign as the API describes it. owner.mu is held.
func (m *mailchimp) item(c *call, e *entry) map[string]any {
	status := "sent"
	switch {
	case e.removed(c.now):
		status = "archived"
	case e.hidden:
		status = "save"
	case c.now.Before(e.Time.Add(mcSending)):
		status = "sending"
	}
	return map[string]any{"id": e.ID, "status": status, "create_time": e.born.UTC().Format(time.RFC3339), "long_archive_url": c.base() + e.path,
		"settings": map[string]string{"title": e.private["title"], "subject_line": e.Title}, "recipients": map[string]any{"list_id": e.Account}}
}

func (m *mailchimp) list(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer())
	if v != good {
		return mcVerdict(v)
	}
	since, _ := time.Parse(time.RFC3339, c.r.URL.Query().Get("since_create_time"))
	return c.do(Prepare, a, func() *reply {
		list, _ := c.listPage(a, 0, 1000, func(e *entry) bool { return e.born.After(since) }, func(e *entry) any { return m.item(c, e) })
		return answer(http.StatusOK, map[string]any{"campaigns": list, "total_items": len(list)})
	})
}

// about finds the campaign that a path names, and its account.
func (m *mailchimp) about(c *call) (*entry, *account, *reply) {
	e, ok := thing[*entry](c.st.at(network.Mailchimp), c.r.PathValue("id"))
	if !ok {
		return nil, nil, mcError(http.StatusNotFound, "Resource Not Found", "The requested resource could not be found.")
	}
	a, no := m.open(c, e.owner.id)
	return e, a, no
}

func (m *mailchimp) show(c *call) *reply {
	e, a, no := m.about(c)
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		return answer(http.StatusOK, m.item(c, e))
	})
}

var mcPicture = regexp.MustCompile(`<img src="[^"]*/_media/([0-9a-z]+)" alt="([^"]*)"[^>]*>\n?`)

func (m *mailchimp) fill(c *call) *reply {
	e, a, no := m.about(c)
	if no != nil {
		return no
	}
	var b struct {
		HTML string `json:"html"`
	}
	if err := c.object(&b); err != nil || b.HTML == "" {
		return mcError(http.StatusBadRequest, "Invalid Resource", "html is missing")
	}
	return c.do(Prepare, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !e.hidden {
			return mcError(http.StatusBadRequest, "Bad Request", "This campaign has already been sent.")
		}
		e.private["html"], e.Media = b.HTML, nil
		if p := mcPicture.FindStringSubmatch(b.HTML); p != nil {
			if f, ok := c.st.media.get(p[1]); ok {
				e.Media = []Media{c.keepMedia(f, html.UnescapeString(p[2]))}
			}
		}
		body, _, _ := strings.Cut(mcPicture.ReplaceAllString(b.HTML, ""), "\n<hr />")
		e.Text = wpRead(body)
		return answer(http.StatusOK, map[string]any{"html": b.HTML, "plain_text": e.Text})
	})
}

// missing is what keeps a campaign from being sent. owner.mu is held.
func (m *mailchimp) missing(e *entry) string {
	switch {
	case e.private["html"] == "":
		return "Your campaign has no content."
	case !strings.Contains(e.private["html"], "*|UNSUB|*"):
		return "Your campaign is missing an unsubscribe link."
	}
	return ""
}

func (m *mailchimp) checklist(c *call) *reply {
	e, a, no := m.about(c)
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		items := []any{}
		if say := m.missing(e); say != "" {
			items = append(items, map[string]any{"type": "error", "id": 1, "heading": "Content", "details": say})
		}
		return answer(http.StatusOK, map[string]any{"is_ready": len(items) == 0, "items": items})
	})
}

func (m *mailchimp) send(c *call) *reply {
	e, a, no := m.about(c)
	if no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case !e.hidden && c.now.Before(e.Time.Add(mcSending)):
			return mcError(http.StatusBadRequest, "Bad Request", "This campaign cannot be sent from its status, sending.")
		case !e.hidden:
			return mcError(http.StatusBadRequest, "Bad Request", "This campaign has already been sent.")
		case m.missing(e) != "":
			return mcError(http.StatusBadRequest, "Bad Request", "Your Campaign is not ready to send.")
		}
		e.hidden, e.Time = false, c.now
		c.made = append(c.made, e)
		return &reply{status: http.StatusNoContent}
	})
}

func (m *mailchimp) audience(c *call) *reply {
	a, no := m.open(c, c.r.PathValue("id"))
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"id": a.id, "name": a.Name(), "campaign_defaults": map[string]string{"from_name": a.Name(), "from_email": "news@bakery.example"}})
	})
}

func (m *mailchimp) file(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer())
	if v != good {
		return mcVerdict(v)
	}
	var b struct {
		Name string `json:"name"`
		Data string `json:"file_data"`
	}
	err := c.object(&b)
	raw, bad := base64.StdEncoding.DecodeString(b.Data)
	return c.do(Prepare, a, func() *reply {
		f := sorted(raw, int64(len(raw)))
		if err != nil || bad != nil || f.size == 0 || f.size > mcImage || f.mime != "image/jpeg" && f.mime != "image/png" && f.mime != "image/gif" || !f.whole() {
			return mcError(http.StatusBadRequest, "Invalid Resource", "The file cannot be used.")
		}
		kept := c.keepMedia(f, "")
		return answer(http.StatusOK, map[string]any{"id": 1, "full_size_url": c.base() + kept.path})
	})
}

func (m *mailchimp) stranger(st *state, accountID, text string) *entry {
	return m.sim.foreign(st, network.Mailchimp, accountID, text, func(_ *account, n int64) (string, string) {
		id := "c" + strconv.FormatInt(n, 36)
		return id, "/mailchimp/p/" + id
	})
}
