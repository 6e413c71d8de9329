package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// telegram is the Bot API. An account is a channel or a supergroup, whose id and
// token belong together; a bot cannot read what it posted, so there are no lists.
type telegram struct{ sim *Sim }

const (
	tgText    = 4096
	tgCaption = 1024
	tgPhoto   = 10_000_000
	tgFile    = 50_000_000
)

func newTelegram(s *Sim) *place {
	t := &telegram{s}
	p := &place{
		name: network.Telegram, title: "Telegram", mux: http.NewServeMux(),
		kinds: directKinds, complain: t.complain, stranger: t.stranger,
		decorate: func(*call, *reply) {},
	}
	for method, h := range map[string]func(*call, *account) *reply{
		"sendMessage": t.text, "sendPhoto": t.photo, "sendVideo": t.video, "sendMediaGroup": t.album,
	} {
		p.on(s, "POST /{bot}/"+method, Commit, func(c *call) *reply { return t.send(c, h) })
	}
	p.on(s, "POST /{bot}/getMe", Check, t.me)
	p.on(s, "POST /{bot}/getChat", Check, t.chat)
	p.on(s, "POST /{bot}/getChatMember", Check, t.member)
	p.on(s, "/", Check, func(*call) *reply { return tgError(http.StatusNotFound, "Not Found") })
	return p
}

func tgError(code int, description string, more ...any) *reply {
	body := map[string]any{"ok": false, "error_code": code, "description": description}
	if len(more) > 0 {
		body["parameters"] = more[0]
	}
	return answer(code, body)
}

func tgBad(format string, args ...any) *reply {
	return tgError(http.StatusBadRequest, "Bad Request: "+fmt.Sprintf(format, args...))
}

func tgResult(v any) *reply {
	return answer(http.StatusOK, map[string]any{"ok": true, "result": v})
}

// complain says a fault in Telegram's words.
func (t *telegram) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	if k == "" && status == http.StatusTooManyRequests {
		k, wait = RateLimit, time.Minute
	}
	switch k {
	case RateLimit:
		seconds := int(math.Ceil(wait.Seconds()))
		return tgError(http.StatusTooManyRequests, fmt.Sprintf("Too Many Requests: retry after %d", seconds), map[string]int{"retry_after": seconds})
	case ExpiredToken:
		return tgError(http.StatusUnauthorized, "Unauthorized")
	case MissingPermission:
		return tgBad("not enough rights to send text messages to the chat")
	case Invalid:
		return tgBad("can't parse entities: Unsupported start tag \"x\" at byte offset 0")
	}
	if status > http.StatusInternalServerError { // from the edge
		return &reply{status: status, kind: "text/html", body: []byte("<html><head><title>" + strconv.Itoa(status) + "</title></head></html>")}
	}
	return tgError(status, http.StatusText(status))
}

// open reads a call and finds the chat that it names. The token of a bot stands
// in the path.
func (t *telegram) open(c *call) (*account, *reply) {
	token, isBot := strings.CutPrefix(c.r.PathValue("bot"), "bot")
	if err := c.read(graphNest, "json", "form", "multipart"); err != nil {
		return nil, tgBad("%s", err)
	}
	id := c.params.get("chat_id")
	if name, public := strings.CutPrefix(id, "@"); public {
		id = t.named(c, name)
	}
	now := c.st.at(network.Telegram).movedTo(id)
	a, _, v := c.admit(cmp.Or(now, id), token)
	switch {
	case !isBot, v == noToken, v == badToken:
		return nil, tgError(http.StatusUnauthorized, "Unauthorized")
	case v == elsewhere, id == "":
		return nil, tgBad("chat not found")
	case v == noScope:
		return nil, tgBad("need administrator rights in the channel chat")
	case v != good:
		return nil, tgError(http.StatusUnauthorized, "Unauthorized")
	case now != "":
		return nil, tgError(http.StatusBadRequest, "Bad Request: group chat was upgraded to a supergroup chat", map[string]any{"migrate_to_chat_id": json.Number(now)})
	}
	return a, nil
}

// named is the number of a public chat.
func (t *telegram) named(c *call, name string) string {
	for _, a := range c.st.at(network.Telegram).all() {
		if strings.EqualFold(a.Handle(), name) {
			return a.id
		}
	}
	return ""
}

// send reads and makes a message of one of the methods.
func (t *telegram) send(c *call, make func(*call, *account) *reply) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	if strings.HasPrefix(strings.TrimPrefix(c.r.PathValue("bot"), "bot"), "noscope") {
		return tgBad("not enough rights to send text messages to the chat")
	}
	return c.do(Commit, a, func() *reply {
		a.mu.Lock()
		defer a.mu.Unlock()
		return make(c, a)
	})
}

var tgCommon = []string{"chat_id", "disable_notification", "protect_content", "message_thread_id"}

func (t *telegram) stray(c *call, more ...string) *reply {
	if name := c.params.stray(append(more, tgCommon...)...); name != "" {
		return tgBad("there is no parameter %s", name)
	}
	return nil
}

func (t *telegram) text(c *call, a *account) *reply {
	text := c.params.get("text")
	switch {
	case strings.TrimSpace(text) == "":
		return tgBad("message text is empty")
	case units(text) > tgText:
		return tgBad("message is too long")
	}
	if no := t.stray(c, "text", "link_preview_options"); no != nil {
		return no
	}
	return tgResult(t.store(c, a, "post", text, nil))
}

func (t *telegram) photo(c *call, a *account) *reply { return t.single(c, a, "photo") }
func (t *telegram) video(c *call, a *account) *reply { return t.single(c, a, "video") }

func (t *telegram) single(c *call, a *account, kind string) *reply {
	if no := t.stray(c, kind, "caption", "has_spoiler", "supports_streaming", "width", "height", "duration"); no != nil {
		return no
	}
	m, no := t.file(c, kind, kind)
	if no != nil {
		return no
	}
	caption := c.params.get("caption")
	if units(caption) > tgCaption {
		return tgBad("message caption is too long")
	}
	return tgResult(t.store(c, a, kind, caption, []Media{m}))
}

// tgItem is one file of an album.
type tgItem struct {
	Type    string `json:"type"`
	Media   string `json:"media"`
	Caption string `json:"caption"`
	Hidden  bool   `json:"has_spoiler"`
}

func (t *telegram) album(c *call, a *account) *reply {
	var items []tgItem
	if err := strict([]byte(c.params.get("media")), &items); err != nil || len(items) < 2 || len(items) > 10 {
		return tgBad("wrong number of messages to send, or the media cannot be read")
	}
	names, files := []string{"media"}, []Media{}
	for _, item := range items {
		name, ok := strings.CutPrefix(item.Media, "attach://")
		if !ok || slices.Contains(names, name) || item.Type != "photo" && item.Type != "video" {
			return tgBad("MEDIA_GROUPED_INVALID")
		}
		m, no := t.file(c, name, item.Type)
		switch {
		case no != nil:
			return no
		case units(item.Caption) > tgCaption:
			return tgBad("message caption is too long")
		}
		names, files = append(names, name), append(files, m)
	}
	if no := t.stray(c, names...); no != nil {
		return no
	}
	first := t.store(c, a, "carousel", items[0].Caption, files)
	out := []any{first}
	for range items[1:] {
		out = append(out, map[string]any{"message_id": c.sim.next(), "date": c.now.Unix(), "chat": first["chat"], "media_group_id": first["message_id"]})
	}
	return tgResult(out)
}

// file takes a file that was sent, and looks at it as Telegram does.
func (t *telegram) file(c *call, name, kind string) (Media, *reply) {
	data, err := c.params.file(name)
	if err != nil || data == nil {
		return Media{}, tgBad("wrong file identifier/HTTP URL specified")
	}
	b := sorted(data, int64(len(data)))
	switch {
	case kind == "photo" && b.size > tgPhoto, b.size > tgFile:
		return Media{}, tgError(http.StatusRequestEntityTooLarge, "Request Entity Too Large")
	case kind == "photo" && (b.mime != "image/jpeg" && b.mime != "image/png" || !b.whole()):
		return Media{}, tgBad("IMAGE_PROCESS_FAILED")
	case kind == "photo" && (b.width+b.height > 10_000 || !b.shaped(1.0/20, 20)):
		return Media{}, tgBad("PHOTO_INVALID_DIMENSIONS")
	case kind == "video" && b.mime != "video/mp4":
		return Media{}, tgBad("wrong type of the file")
	}
	return c.keepMedia(b, ""), nil
}

// store makes the message public. a.mu is held.
func (t *telegram) store(c *call, a *account, kind, text string, files []Media) map[string]any {
	n := c.sim.next()
	id := strconv.FormatInt(n, 10)
	e := &entry{
		Post:    Post{ID: id, Kind: kind, Text: text, Media: files, Time: c.now, path: tgPath(a, id)},
		private: map[string]string{},
	}
	c.publish(a, e)
	out := map[string]any{"message_id": n, "date": c.now.Unix(), "chat": t.place(a)}
	if len(files) == 0 {
		out["text"] = text
	} else if text != "" {
		out["caption"] = text
	}
	return out
}

func tgPath(a *account, id string) string { return "/telegram/@" + a.Handle() + "/" + id }

func (t *telegram) place(a *account) map[string]any {
	id := json.Number(a.id)
	if _, err := id.Int64(); err != nil {
		id = json.Number(numberOf(a.id))
	}
	kind := "channel"
	if a.wasOnce() != "" {
		kind = "supergroup"
	}
	return map[string]any{"id": id, "type": kind, "title": a.Name(), "username": a.Handle()}
}

func (t *telegram) me(c *call) *reply {
	token := strings.TrimPrefix(c.r.PathValue("bot"), "bot")
	_, _, v := c.admitByToken(token)
	if v != good {
		return tgError(http.StatusUnauthorized, "Unauthorized")
	}
	return c.do(Check, c.account, func() *reply {
		return tgResult(map[string]any{"id": json.Number(numberOf("bot")), "is_bot": true, "first_name": "Herald", "username": "herald_bot"})
	})
}

func (t *telegram) chat(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply { return tgResult(t.place(a)) })
}

func (t *telegram) member(c *call) *reply {
	a, no := t.open(c)
	if no != nil {
		return no
	}
	if c.params.get("user_id") != numberOf("bot") {
		return tgBad("user not found")
	}
	return c.do(Check, a, func() *reply {
		return tgResult(map[string]any{"status": "administrator", "can_post_messages": true, "user": map[string]any{"id": json.Number(numberOf("bot")), "is_bot": true}})
	})
}

func (t *telegram) stranger(st *state, accountID, text string) *entry {
	return t.sim.foreign(st, network.Telegram, accountID, text, func(a *account, n int64) (string, string) {
		id := strconv.FormatInt(n, 10)
		return id, tgPath(a, id)
	})
}
