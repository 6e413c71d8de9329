package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"herald/db/network"
)

// slack is the Web API, with incoming webhooks. An account is a channel. A refusal
// is a 200 that says not ok.
type slack struct{ sim *Sim }

const (
	slText  = 4000 // advised; Slack cuts at 40,000 silently, which this does not let happen
	slAlt   = 2000
	slImage = 20_000_000
)

// slFile is an uploaded picture. owner.mu guards it.
type slFile struct {
	id    string
	owner *account
	size  int64
	data  blob
	there bool
	done  bool
}

func newSlack(s *Sim) *place {
	t := &slack{s}
	p := &place{
		name: network.Slack, title: "Slack", mux: http.NewServeMux(),
		kinds: joined(directKinds, listKinds), complain: t.complain, stranger: t.stranger,
		decorate: func(c *call, rep *reply) { rep.with("X-Slack-Req-Id", c.id) },
	}
	p.on(s, "POST /api/chat.postMessage", Commit, t.post)
	p.on(s, "GET /api/conversations.history", Find, func(c *call) *reply { return t.list(c, Find) })
	p.on(s, "GET /api/conversations.replies", FollowUp, func(c *call) *reply { return t.list(c, FollowUp) })
	p.on(s, "GET /api/chat.getPermalink", FollowUp, t.permalink)
	p.on(s, "POST /api/files.getUploadURLExternal", Prepare, t.begin)
	p.on(s, "POST /upload/{id}", Prepare, t.put)
	p.on(s, "POST /api/files.completeUploadExternal", Prepare, t.complete)
	p.on(s, "POST /api/auth.test", Check, t.me)
	p.on(s, "POST /services/{team}/{id}/{token}", Commit, t.hook)
	p.on(s, "GET /api/conversations.list", Check, t.channels)
	p.on(s, "POST /api/auth.revoke", Token, t.revoke)
	p.on(s, "GET /oauth/v2/authorize", Token, slDesk.consent)
	p.on(s, "POST /api/oauth.v2.access", Token, t.access)
	p.on(s, "/", Check, func(*call) *reply { return slError("unknown_method") })
	return p
}

var slDesk = desk{id: "client_id", secret: "client_secret", apart: ",", team: true, dead: "invalid_code",
	issued: func(_ *grant, out map[string]any) {
		out["ok"], out["bot_user_id"], out["team"] = true, "U1", map[string]string{"id": "T1", "name": "Bakery"}
		delete(out, "expires_in")
	}}

// access is Slack's token endpoint, which refuses with a success.
func (t *slack) access(c *call) *reply {
	rep := slDesk.token(c)
	if rep != nil && rep.status == http.StatusBadRequest {
		return slError(slDesk.dead)
	}
	return rep
}

// channels lists the channels that the bot can see.
func (t *slack) channels(c *call) *reply {
	list, a, v := c.reached("channels:read")
	if no := slVerdict(v); no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		items := []any{}
		for _, one := range list {
			items = append(items, map[string]any{"id": one.id, "name": one.Handle(), "is_channel": true, "is_archived": false})
		}
		return answer(http.StatusOK, map[string]any{"ok": true, "channels": items, "response_metadata": map[string]string{"next_cursor": ""}})
	})
}

func (t *slack) revoke(c *call) *reply {
	if _, v := c.st.at(c.place.name).look(c.bearer(), !c.sim.opts.Closed, c.now); v != good {
		return slVerdict(v)
	}
	return c.do(Token, nil, func() *reply {
		c.st.at(c.place.name).revoke(c.bearer())
		return answer(http.StatusOK, map[string]any{"ok": true, "revoked": true})
	})
}

func slError(code string) *reply {
	return answer(http.StatusOK, map[string]any{"ok": false, "error": code})
}

// complain says a fault in Slack's words.
func (t *slack) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	if k == "" && status == http.StatusTooManyRequests {
		k, wait = RateLimit, time.Minute
	}
	switch k {
	case RateLimit:
		return answer(http.StatusTooManyRequests, map[string]any{"ok": false, "error": "ratelimited"}).with("Retry-After", seconds(wait))
	case ExpiredToken:
		return slError("token_expired")
	case MissingPermission:
		return slError("missing_scope")
	case Invalid:
		return slError("invalid_blocks")
	}
	code := "invalid_arguments"
	if status >= http.StatusInternalServerError {
		code = "internal_error"
	}
	return answer(status, map[string]any{"ok": false, "error": code})
}

// open finds the channel that a call names.
func (t *slack) open(c *call, channel string, scopes ...string) (*account, *reply) {
	a, _, v := c.admit(channel, c.bearer(), scopes...)
	return a, slVerdict(v)
}

func slVerdict(v verdict) *reply {
	switch v {
	case good:
		return nil
	case noToken:
		return slError("not_authed")
	case expired:
		return slError("token_expired")
	case revoked:
		return slError("token_revoked")
	case noScope:
		return slError("missing_scope")
	case elsewhere:
		return slError("channel_not_found")
	}
	return slError("invalid_auth")
}

// slMessage is the body of a message. A member that is not here is refused.
type slMessage struct {
	Channel  string `json:"channel"`
	Text     string `json:"text"`
	Markup   *bool  `json:"mrkdwn"`
	Unfurl   *bool  `json:"unfurl_links"`
	Media    *bool  `json:"unfurl_media"`
	Thread   string `json:"thread_ts"`
	Pictures []struct {
		Fallback string `json:"fallback"`
		Blocks   []struct {
			Type string `json:"type"`
			File struct {
				ID string `json:"id"`
			} `json:"slack_file"`
			Alt string `json:"alt_text"`
		} `json:"blocks"`
	} `json:"attachments"`
	Metadata *struct {
		Type    string            `json:"event_type"`
		Payload map[string]string `json:"event_payload"`
	} `json:"metadata"`
}

func (t *slack) post(c *call) *reply {
	var m slMessage
	if err := c.object(&m); err != nil {
		return slError("invalid_arguments")
	}
	a, no := t.open(c, m.Channel, "chat:write")
	if no != nil {
		return no
	}
	step := Commit
	if m.Thread != "" {
		step = FollowUp
	}
	return c.do(step, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		e, no := t.make(c, a, m)
		if no != nil {
			return no
		}
		return answer(http.StatusOK, map[string]any{"ok": true, "channel": a.id, "ts": e.ID, "message": t.item(e)})
	})
}

var slEntities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// make checks and stores a message. a.mu is held.
func (t *slack) make(c *call, a *account, m slMessage) (*entry, *reply) {
	n := c.sim.next()
	id := fmt.Sprintf("%d.%06d", c.now.Unix(), n%1_000_000)
	e := &entry{Post: Post{ID: id, Kind: "post", Text: slEntities.Replace(m.Text), Time: c.now, path: slPath(a, id)}, parent: m.Thread, private: map[string]string{}}
	switch {
	case utf8.RuneCountInString(m.Text) > slText:
		return nil, slError("msg_too_long")
	case strings.TrimSpace(m.Text) == "" && len(m.Pictures) == 0:
		return nil, slError("no_text")
	case strings.ContainsAny(m.Text, "<>"):
		return nil, slError("invalid_arguments") // a sign that should have been an entity
	}
	for _, p := range m.Pictures {
		for _, b := range p.Blocks {
			f, ok := thing[*slFile](c.st.at(a.network), b.File.ID)
			if !ok || f.owner != a || !f.done || b.Type != "image" || b.Alt == "" || utf8.RuneCountInString(b.Alt) > slAlt {
				return nil, slError("invalid_blocks")
			}
			e.Media = append(e.Media, c.keepMedia(f.data, b.Alt))
		}
	}
	if m.Metadata != nil {
		e.private["type"], e.private["delivery"] = m.Metadata.Type, m.Metadata.Payload["delivery"]
	}
	if e.parent != "" {
		root, ok := thing[*entry](c.st.at(a.network), e.parent)
		if !ok || root.owner != a || root.removed(c.now) {
			return nil, slError("cannot_reply_to_message")
		}
		root.Replies = append(root.Replies, Reply{ID: id, Text: e.Text, Time: c.now})
		e.Kind = "reply"
	}
	c.publish(a, e)
	return e, nil
}

func slPath(a *account, ts string) string {
	return "/slack/archives/" + a.id + "/p" + strings.ReplaceAll(ts, ".", "")
}

// item is a message as Slack lists it. owner.mu is held.
func (t *slack) item(e *entry) map[string]any {
	out := map[string]any{"type": "message", "ts": e.ID, "text": e.Text}
	if e.private["delivery"] != "" {
		out["metadata"] = map[string]any{"event_type": e.private["type"], "event_payload": map[string]string{"delivery": e.private["delivery"]}}
	}
	return out
}

// list is the channel's messages, or the answers to one of them.
func (t *slack) list(c *call, step Step) *reply {
	c.params.values = c.r.URL.Query()
	a, no := t.open(c, c.params.get("channel"), "channels:history")
	if no != nil {
		return no
	}
	limit, err := strconv.Atoi(c.params.get("limit"))
	if name := c.params.stray("channel", "limit", "cursor", "oldest", "latest", "inclusive", "include_all_metadata", "ts"); name != "" || err != nil || limit < 1 || limit > 999 {
		return slError("invalid_arg_name")
	}
	start, _ := strconv.Atoi(c.params.get("cursor"))
	oldest, _ := strconv.ParseFloat(c.params.get("oldest"), 64)
	parent := c.params.get("ts")
	return c.do(step, a, func() *reply {
		want := func(e *entry) bool {
			return e.parent == parent && float64(e.Time.Unix()) >= oldest || parent != "" && e.ID == parent
		}
		list, next := c.listPage(a, start, limit, want, func(e *entry) any { return t.item(e) })
		return answer(http.StatusOK, map[string]any{"ok": true, "messages": list, "has_more": next != "", "response_metadata": map[string]string{"next_cursor": next}})
	})
}

func (t *slack) permalink(c *call) *reply {
	c.params.values = c.r.URL.Query()
	a, no := t.open(c, c.params.get("channel"))
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		e, ok := thing[*entry](c.st.at(a.network), c.params.get("message_ts"))
		if !ok || e.owner != a {
			return slError("message_not_found")
		}
		return answer(http.StatusOK, map[string]any{"ok": true, "channel": a.id, "permalink": c.base() + e.path})
	})
}

func (t *slack) begin(c *call) *reply {
	if err := c.read(plainNest, "form"); err != nil {
		return slError("invalid_arguments")
	}
	a, _, v := c.admitByToken(c.bearer(), "files:write")
	if v != good {
		return slVerdict(v)
	}
	return c.do(Prepare, a, func() *reply {
		size, err := strconv.ParseInt(c.params.get("length"), 10, 64)
		switch {
		case err != nil || size < 1 || c.params.get("filename") == "":
			return slError("invalid_arguments")
		case utf8.RuneCountInString(c.params.get("alt_txt")) > slAlt:
			return slError("invalid_arguments")
		case size > slImage:
			return slError("invalid_arguments")
		}
		f := &slFile{id: "F" + strconv.FormatInt(c.sim.next(), 10), owner: a, size: size}
		c.st.at(a.network).objects.Store(f.id, f)
		return answer(http.StatusOK, map[string]any{"ok": true, "upload_url": c.base() + "/slack/upload/" + f.id, "file_id": f.id})
	})
}

func (t *slack) put(c *call) *reply {
	f, ok := thing[*slFile](c.st.at(c.place.name), c.r.PathValue("id"))
	if !ok {
		return &reply{status: http.StatusNotFound}
	}
	b, err := c.raw(slImage)
	return c.do(Prepare, f.owner, func() *reply {
		f.owner.mu.Lock()
		defer f.owner.mu.Unlock()
		if err != nil || b.size != f.size {
			return &reply{status: http.StatusBadRequest, kind: "text/plain", body: []byte("bad length")}
		}
		f.data, f.there = b, true
		return &reply{status: http.StatusOK, kind: "text/plain", body: []byte("OK - " + strconv.FormatInt(b.size, 10))}
	})
}

func (t *slack) complete(c *call) *reply {
	var b struct {
		Files []struct {
			ID    string `json:"id"`
			Title string `json:"title"`
		} `json:"files"`
	}
	if err := c.object(&b); err != nil || len(b.Files) == 0 {
		return slError("invalid_arguments")
	}
	a, _, v := c.admitByToken(c.bearer(), "files:write")
	if v != good {
		return slVerdict(v)
	}
	return c.do(Prepare, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, one := range b.Files {
			f, ok := thing[*slFile](c.st.at(a.network), one.ID)
			if !ok || f.owner != a || !f.there {
				return slError("missing_file_data")
			}
			if m := f.data.mime; m != "image/jpeg" && m != "image/png" && m != "image/gif" || !f.data.whole() {
				return slError("invalid_arguments")
			}
			f.done = true
		}
		return answer(http.StatusOK, map[string]any{"ok": true, "files": b.Files})
	})
}

func (t *slack) me(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer())
	if v != good {
		return slVerdict(v)
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"ok": true, "team": "Bakery", "url": "https://bakery.slack.com/", "user_id": "U1", "bot_id": "B1"})
	})
}

// hook is an incoming webhook: the middle of its path is the channel. It speaks in
// plain words.
func (t *slack) hook(c *call) *reply {
	said := func(status int, word string) *reply {
		return &reply{status: status, kind: "text/plain", body: []byte(word)}
	}
	a, _, v := c.admit(c.r.PathValue("id"), c.r.PathValue("token"))
	if v != good {
		return said(http.StatusForbidden, "invalid_token")
	}
	var m slMessage
	if err := c.object(&m); err != nil || m.Channel != "" || m.Metadata != nil || len(m.Pictures) > 0 {
		return said(http.StatusBadRequest, "invalid_payload")
	}
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		if _, no := t.make(c, a, m); no != nil {
			return said(http.StatusBadRequest, "no_text")
		}
		return said(http.StatusOK, "ok")
	})
}

func (t *slack) stranger(st *state, accountID, text string) *entry {
	return t.sim.foreign(st, network.Slack, accountID, text, func(a *account, n int64) (string, string) {
		ts := fmt.Sprintf("%d.%06d", t.sim.opts.Now().Unix(), n%1_000_000)
		return ts, slPath(a, ts)
	})
}
