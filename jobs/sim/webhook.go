package sim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// webhook is the receiver of signed deliveries: it checks the signature over
// the raw bytes, the time, and answers a delivery it has had as done.
type webhook struct{ sim *Sim }

const (
	hookSkew = 300 * time.Second
	hookBody = 1 << 20
)

func newWebhook(s *Sim) *place {
	h := &webhook{s}
	kinds := joined(directKinds) // nothing asynchronous, and no list
	p := &place{
		name: network.Webhook, title: "Webhook", mux: http.NewServeMux(),
		kinds: kinds, complain: h.complain, stranger: h.stranger,
		decorate: func(c *call, rep *reply) { rep.with("X-Request-Id", c.id) },
	}
	p.on(s, "POST /{account}", Commit, h.receive)
	p.on(s, "/", Commit, func(c *call) *reply {
		return hookError(http.StatusMethodNotAllowed, "Deliveries are POSTed to /webhook/ACCOUNT.")
	})
	return p
}

func hookError(status int, words string) *reply {
	return answer(status, map[string]string{"error": words})
}

func (h *webhook) complain(_ *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return hookError(http.StatusTooManyRequests, "Too many deliveries.").
			with("Retry-After", strconv.Itoa(max(1, int(wait.Round(time.Second).Seconds()))))
	case ExpiredToken:
		return hookError(http.StatusUnauthorized, "The signature does not match.")
	case MissingPermission:
		return hookError(http.StatusForbidden, "This sender may not deliver here.")
	case Invalid:
		return hookError(http.StatusUnprocessableEntity, "The delivery cannot be used.")
	}
	return hookError(status, http.StatusText(status))
}

func (h *webhook) receive(c *call) *reply {
	id, sh := c.r.PathValue("account"), c.st.at(c.place.name)
	c.who = id
	a := sh.find(id)
	if a == nil && c.sim.opts.Closed {
		return hookError(http.StatusNotFound, "Nobody receives deliveries here.")
	}
	a = sh.open(id)
	c.account = a
	raw, no := h.body(c)
	if no != nil {
		return no
	}
	if no := h.verify(c, a, raw); no != nil {
		return no
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return hookError(http.StatusBadRequest, "The body is no JSON object.")
	}
	return c.do(Commit, a, func() *reply { return h.keep(c, a, raw, body) })
}

func (h *webhook) body(c *call) ([]byte, *reply) {
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, hookError(http.StatusUnsupportedMediaType, "A delivery is application/json.")
	}
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, hookBody+1))
	switch {
	case err != nil:
		return nil, hookError(http.StatusBadRequest, "The body could not be read.")
	case len(raw) > hookBody:
		return nil, hookError(http.StatusRequestEntityTooLarge, "A delivery is 1 MiB or less.")
	}
	return raw, nil
}

var deliveryShape = regexp.MustCompile(`^[\x21-\x7e]{1,200}$`)

// verify checks the headers: signature first, so that a stranger learns nothing else.
func (h *webhook) verify(c *call, a *account, raw []byte) *reply {
	head := c.r.Header
	stamp := head.Get("X-Timestamp")
	if !signed(head.Get("X-Signature-256"), a.signingSecret(), stamp, raw) {
		return hookError(http.StatusUnauthorized, "The signature is missing or does not match.")
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return hookError(http.StatusBadRequest, "X-Timestamp is a unix time in seconds.")
	}
	if off := c.now.Sub(time.Unix(seconds, 0)); off > hookSkew || off < -hookSkew {
		return hookError(http.StatusUnauthorized, "X-Timestamp is more than 300 seconds off.")
	}
	if !deliveryShape.MatchString(head.Get("X-Delivery-Id")) || head.Get("X-Event") == "" {
		return hookError(http.StatusBadRequest, "X-Delivery-Id and X-Event are required.")
	}
	return nil
}

func (a *account) signingSecret() string {
	a.label.RLock()
	defer a.label.RUnlock()
	if a.secret == "" {
		return DefaultSecret
	}
	return a.secret
}

// signed says whether one of the signatures in header is right for the bytes.
func signed(header, secret, stamp string, raw []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(raw)
	want := mac.Sum(nil)
	for part := range strings.FieldsFuncSeq(header, func(r rune) bool { return r == ',' || r == ' ' }) {
		text, ok := strings.CutPrefix(part, "sha256=")
		got, err := hex.DecodeString(text)
		if ok && err == nil && text == strings.ToLower(text) && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}

// keep stores a delivery, once per id.
func (h *webhook) keep(c *call, a *account, raw []byte, body map[string]any) *reply {
	id := c.r.Header.Get("X-Delivery-Id")
	media := h.media(c, a, id, body)
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, had := a.keys[id]; had {
		c.outcome = "replayed"
		return answer(http.StatusOK, map[string]any{"received": true, "duplicate": true})
	}
	a.keys[id] = keyed{id: id, when: c.now}
	text, _ := deep(body, "text").(string)
	link, _ := deep(body, "link").(string)
	e := &entry{
		Post:    Post{ID: id, Kind: "delivery", Text: text, Link: link, Media: media, Time: c.now, Title: c.r.Header.Get("X-Event")},
		private: map[string]string{"raw": string(raw)},
	}
	e.path = "/webhook/p/" + url.PathEscape(a.id) + "/" + url.PathEscape(id)
	c.publish(a, e)
	return answer(http.StatusOK, map[string]any{"received": true})
}

// media gets the pictures that a delivery points to, so that the page can show
// them; an address that gives nothing is left out.
func (h *webhook) media(c *call, a *account, id string, body map[string]any) []Media {
	list, _ := deep(body, "media").([]any)
	a.mu.Lock()
	_, had := a.keys[id]
	a.mu.Unlock()
	if had {
		return nil
	}
	var out []Media
	for _, item := range list[:min(len(list), 20)] {
		one, _ := item.(map[string]any)
		address, _ := one["url"].(string)
		alt, _ := one["alt"].(string)
		b, err := c.pull(address, igVideo)
		if err != nil {
			continue
		}
		out = append(out, c.keepMedia(b, alt))
	}
	return out
}

// deep finds the first value of a name, breadth first and in the order of names,
// wherever the sender put it.
func deep(body map[string]any, name string) any {
	level := []map[string]any{body}
	for range 4 {
		var next []map[string]any
		for _, m := range level {
			if v, ok := m[name]; ok && v != nil {
				return v
			}
			for _, key := range sortedKeys(m) {
				if inner, ok := m[key].(map[string]any); ok {
					next = append(next, inner)
				}
			}
		}
		level = next
	}
	return nil
}

func (h *webhook) stranger(st *state, accountID, text string) *entry {
	a := st.at(network.Webhook).open(accountID)
	n := h.sim.next()
	id := fmt.Sprintf("stranger-%d", n)
	e := &entry{
		Post: Post{ID: id, Kind: "delivery", Text: text, Time: h.sim.opts.Now(), Stranger: true, seq: n, path: "/webhook/p/" + url.PathEscape(a.id) + "/" + id},
		born: h.sim.opts.Now(),
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}
