package sim

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"herald/db/network"
)

// discord is the API's channels and webhooks. An account is a channel; its webhook
// has the same number, and any token where the channel was not declared.
type discord struct{ sim *Sim }

const (
	dcText = 2000
	dcAlt  = 1024
	dcFile = 10 << 20
	dcAll  = 25 << 20
	dcTime = "2006-01-02T15:04:05.000000-07:00"
	dcKeys = 3 * time.Minute // for which a nonce is known
)

func newDiscord(s *Sim) *place {
	d := &discord{s}
	p := &place{
		name: network.Discord, title: "Discord", mux: http.NewServeMux(),
		kinds: joined(directKinds, listKinds), complain: d.complain, stranger: d.stranger,
		decorate: func(c *call, rep *reply) { rep.with("Cf-Ray", c.id) },
	}
	p.on(s, "POST /api/{v}/channels/{id}/messages", Commit, d.asBot)
	p.on(s, "GET /api/{v}/channels/{id}/messages", Find, d.list)
	p.on(s, "GET /api/{v}/channels/{id}", Check, d.channel)
	p.on(s, "POST /api/{v}/webhooks/{id}/{token}", Commit, d.asHook)
	p.on(s, "GET /api/{v}/webhooks/{id}/{token}", Check, d.hook)
	p.on(s, "DELETE /api/{v}/webhooks/{id}/{token}", Token, d.remove)
	p.on(s, "GET /oauth2/authorize", Token, dcDesk.consent)
	p.on(s, "POST /api/oauth2/token", Token, dcDesk.token)
	p.on(s, "/", Check, func(*call) *reply { return dcError(http.StatusNotFound, 0, "404: Not Found") })
	return p
}

// dcDesk makes a webhook of the channel that the person chose. Its number is the
// channel's, and its token the one that was issued.
var dcDesk = desk{id: "client_id", secret: "client_secret", apart: " ",
	issued: func(g *grant, out map[string]any) {
		out["webhook"] = map[string]any{"id": g.account, "token": g.token, "name": "Herald", "channel_id": g.account, "guild_id": "9", "type": 1,
			"url": "https://discord.com/api/webhooks/" + g.account + "/" + g.token}
	}}

// remove deletes a webhook.
func (d *discord) remove(c *call) *reply {
	a, no := d.openHook(c)
	if no != nil {
		return no
	}
	return c.do(Token, a, func() *reply {
		c.st.at(c.place.name).revoke(c.r.PathValue("token"))
		return &reply{status: http.StatusNoContent}
	})
}

func dcError(status, code int, message string) *reply {
	return answer(status, map[string]any{"code": code, "message": message})
}

func dcInvalid(field, message string) *reply {
	return answer(http.StatusBadRequest, map[string]any{"code": 50035, "message": "Invalid Form Body",
		"errors": map[string]any{field: map[string]any{"_errors": []any{map[string]string{"code": "BASE_TYPE_BAD", "message": message}}}}})
}

// complain says a fault in Discord's words.
func (d *discord) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	if k == "" && status == http.StatusTooManyRequests {
		k, wait = RateLimit, time.Minute
	}
	switch k {
	case RateLimit:
		return answer(http.StatusTooManyRequests, map[string]any{"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": false}).
			with("X-RateLimit-Reset-After", strconv.FormatFloat(wait.Seconds(), 'f', 3, 64)).with("X-RateLimit-Scope", "shared")
	case ExpiredToken:
		return dcError(http.StatusUnauthorized, 0, "401: Unauthorized")
	case MissingPermission:
		return dcError(http.StatusForbidden, 50013, "Missing Permissions")
	case Invalid:
		return dcInvalid("content", "Must be 2000 or fewer in length.")
	}
	if status > http.StatusInternalServerError {
		return &reply{status: status, kind: "text/html", body: []byte("<html><head><title>" + strconv.Itoa(status) + "</title></head></html>")}
	}
	return dcError(status, 0, http.StatusText(status))
}

// open finds the channel of a bot's call.
func (d *discord) open(c *call) (*account, *reply) {
	token, isBot := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bot ")
	if !strings.HasPrefix(c.r.Header.Get("User-Agent"), "DiscordBot (") {
		return nil, dcError(http.StatusForbidden, 40333, "internal network error")
	}
	if !isBot {
		token = ""
	}
	a, _, v := c.admit(c.r.PathValue("id"), token, "bot")
	switch v {
	case good:
		return a, nil
	case noScope:
		return nil, dcError(http.StatusForbidden, 50001, "Missing Access")
	case elsewhere:
		return nil, dcError(http.StatusNotFound, 10003, "Unknown Channel")
	}
	return nil, dcError(http.StatusUnauthorized, 0, "401: Unauthorized")
}

// openHook finds the channel of a webhook's call.
func (d *discord) openHook(c *call) (*account, *reply) {
	a, _, v := c.admit(c.r.PathValue("id"), c.r.PathValue("token"))
	switch v {
	case good:
		return a, nil
	case elsewhere:
		return nil, dcError(http.StatusNotFound, 10015, "Unknown Webhook")
	}
	return nil, dcError(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
}

// dcMessage is the body of a message. A member that is not here is refused.
type dcMessage struct {
	Content  string `json:"content"`
	Mentions struct {
		Parse []string `json:"parse"`
	} `json:"allowed_mentions"`
	Flags int `json:"flags"`
	Files []struct {
		ID          int    `json:"id"`
		Name        string `json:"filename"`
		Description string `json:"description"`
	} `json:"attachments"`
	Forum   string `json:"thread_name"`
	Nonce   string `json:"nonce"`
	Enforce bool   `json:"enforce_nonce"`

	thread string // where it stands, if not in the channel itself
}

// body reads a message, alone or as a part of a form.
func (d *discord) body(c *call) (m dcMessage, no *reply) {
	kind, err := bodyKind(c.r)
	switch {
	case err == nil && kind == "multipart":
		if err = c.read(graphNest, "multipart"); err == nil {
			err = strict([]byte(c.params.get("payload_json")), &m)
		}
	case err == nil:
		err = c.object(&m)
	}
	if err != nil {
		return m, dcInvalid("payload_json", err.Error())
	}
	return m, nil
}

func (d *discord) asBot(c *call) *reply {
	a, no := d.open(c)
	if no != nil {
		return no
	}
	m, no := d.body(c)
	if no == nil && m.Forum != "" {
		no = dcInvalid("thread_name", "unknown field")
	}
	if no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if known, ok := a.keys[m.Nonce]; ok && m.Enforce && c.now.Sub(known.when) < dcKeys {
			if e, ok := thing[*entry](c.st.at(a.network), known.id); ok {
				return answer(http.StatusOK, d.item(e))
			}
		}
		return d.make(c, a, m, "")
	})
}

func (d *discord) asHook(c *call) *reply {
	a, no := d.openHook(c)
	if no != nil {
		return no
	}
	m, no := d.body(c)
	if no == nil && m.Nonce != "" {
		no = dcInvalid("nonce", "unknown field")
	}
	if no != nil {
		return no
	}
	m.thread = c.r.URL.Query().Get("thread_id")
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if no := d.misplaced(c, a, m); no != nil {
			return no
		}
		rep := d.make(c, a, m, a.id)
		if rep.status == http.StatusOK && c.r.URL.Query().Get("wait") != "true" {
			return &reply{status: http.StatusNoContent}
		}
		return rep
	})
}

// misplaced is what is wrong with where a webhook's message is to stand: a forum has
// threads alone, and no other channel has one here. a.mu is held.
func (d *discord) misplaced(c *call, a *account, m dcMessage) *reply {
	forum := c.sim.Knobs().Forum
	switch {
	case forum && m.Forum == "" && m.thread == "":
		return dcError(http.StatusBadRequest, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id")
	case forum && m.Forum != "" && m.thread != "":
		return dcError(http.StatusBadRequest, 220002, "Webhooks posted to forum channels cannot have both a thread_name and thread_id")
	case !forum && m.Forum != "":
		return dcError(http.StatusBadRequest, 220003, "Webhooks can only create threads in forum channels")
	}
	if first, ok := thing[*entry](c.st.at(a.network), m.thread); m.thread != "" && (!ok || first.owner != a || first.Title == "") {
		return dcError(http.StatusNotFound, 10003, "Unknown Channel")
	}
	return nil
}

// make checks and stores a message. a.mu is held.
func (d *discord) make(c *call, a *account, m dcMessage, hook string) *reply {
	content := strings.TrimSpace(m.Content)
	switch {
	case units(content) > dcText:
		return dcInvalid("content", "Must be 2000 or fewer in length.")
	case content == "" && len(m.Files) == 0:
		return dcError(http.StatusBadRequest, 50006, "Cannot send an empty message")
	case len(m.Files) > 10:
		return dcError(http.StatusBadRequest, 30015, "Maximum number of attachments reached (10)")
	case units(m.Nonce) > 25, units(m.Forum) > 100:
		return dcInvalid("nonce", "Must be 25 or fewer in length.")
	}
	var files []Media
	total := int64(0)
	for i, f := range m.Files {
		data, err := c.params.file(fmt.Sprintf("files[%d]", f.ID))
		b := sorted(data, int64(len(data)))
		total += b.size
		switch {
		case err != nil || data == nil || f.ID != i:
			return dcInvalid("attachments", "There is no such file.")
		case utf8.RuneCountInString(f.Description) > dcAlt:
			return dcInvalid("attachments", "Must be 1024 or fewer in length.")
		case b.size > dcFile:
			return dcError(http.StatusBadRequest, 50045, "File uploaded exceeds the maximum size")
		case total > dcAll:
			return dcError(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
		}
		files = append(files, c.keepMedia(b, f.Description))
	}
	id := strconv.FormatInt(c.sim.next(), 10)
	if m.Forum != "" {
		m.thread = id // a thread has the number of its first message
	}
	channel := cmp.Or(m.thread, a.id)
	e := &entry{Post: Post{ID: id, Kind: "post", Text: m.Content, Title: m.Forum, Media: files, Time: c.now, path: dcPath(channel, id)},
		private: map[string]string{"bot": "true", "hook": hook, "channel": channel}}
	c.publish(a, e)
	if m.Enforce {
		a.keys[m.Nonce] = keyed{id, c.now}
	}
	return answer(http.StatusOK, d.item(e))
}

func dcPath(channel, id string) string { return "/discord/channels/9/" + channel + "/" + id }

// item is a message as Discord shows it, without the space around. owner.mu is held.
func (d *discord) item(e *entry) map[string]any {
	files := []any{}
	for i, m := range e.Media {
		files = append(files, map[string]any{"id": e.ID + strconv.Itoa(i), "filename": "file", "description": m.Alt, "size": m.Bytes})
	}
	out := map[string]any{"id": e.ID, "channel_id": cmp.Or(e.private["channel"], e.Account), "content": strings.TrimSpace(e.Text), "timestamp": e.Time.UTC().Format(dcTime), "type": 0, "attachments": files,
		"author": map[string]any{"id": "8", "username": "Herald", "bot": e.private["bot"] == "true"}}
	if e.private["hook"] != "" {
		out["webhook_id"] = e.private["hook"]
	}
	return out
}

func (d *discord) list(c *call) *reply {
	a, no := d.open(c)
	if no != nil {
		return no
	}
	c.params.values = c.r.URL.Query()
	limit, err := strconv.Atoi(c.params.get("limit"))
	if name := c.params.stray("limit", "before", "after"); name != "" || err != nil || limit < 1 || limit > 100 {
		return dcInvalid("limit", "Must be between 1 and 100.")
	}
	before := c.params.get("before")
	return c.do(Find, a, func() *reply {
		list, _ := c.listPage(a, 0, limit, func(e *entry) bool { return before == "" || e.ID < before }, func(e *entry) any { return d.item(e) })
		return answer(http.StatusOK, list)
	})
}

func (d *discord) channel(c *call) *reply {
	a, no := d.open(c)
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"id": a.id, "name": a.Handle(), "guild_id": "9", "type": 0})
	})
}

func (d *discord) hook(c *call) *reply {
	a, no := d.openHook(c)
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"id": a.id, "name": a.Name(), "channel_id": a.id, "guild_id": "9", "type": 1})
	})
}

func (d *discord) stranger(st *state, accountID, text string) *entry {
	return d.sim.foreign(st, network.Discord, accountID, text, func(a *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, dcPath(a.id, id)
	})
}
