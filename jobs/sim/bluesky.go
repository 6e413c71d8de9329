package sim

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// bluesky is a personal data server and the video service, both under one
// address. Records, blobs, videos and sessions are in bluesky_*.go. An account's
// id is its DID.
type bluesky struct{ sim *Sim }

const (
	skyRate   = 3000 // calls in a window
	skyWindow = 5 * time.Minute
	skyPost   = "app.bsky.feed.post"
	skyTime   = "2006-01-02T15:04:05.000Z"
)

func newBluesky(s *Sim) *place {
	b := &bluesky{s}
	p := &place{
		name: network.Bluesky, title: "Bluesky", mux: http.NewServeMux(),
		kinds: allKinds, complain: b.complain, decorate: b.decorate, stranger: b.stranger,
	}
	on := func(method, name string, step Step, h func(*call) *reply) { p.on(s, method+" /xrpc/"+name, step, h) }
	on("POST", "com.atproto.repo.uploadBlob", Prepare, b.uploadBlob)
	on("POST", "com.atproto.repo.putRecord", Commit, b.putRecord)
	on("POST", "com.atproto.repo.createRecord", Commit, b.createRecord)
	on("POST", "com.atproto.repo.deleteRecord", FollowUp, b.deleteRecord)
	on("GET", "com.atproto.repo.getRecord", Find, b.getRecord)
	on("GET", "com.atproto.repo.listRecords", Find, b.listRecords)
	on("GET", "com.atproto.identity.resolveHandle", Prepare, b.resolveHandle)
	on("POST", "com.atproto.server.createSession", Token, b.createSession)
	on("POST", "com.atproto.server.refreshSession", Token, b.refreshSession)
	on("GET", "com.atproto.server.getSession", Check, b.getSession)
	on("GET", "com.atproto.server.getServiceAuth", Prepare, b.getServiceAuth)
	on("POST", "app.bsky.video.uploadVideo", Prepare, b.uploadVideo)
	on("GET", "app.bsky.video.getJobStatus", Prepare, b.getJobStatus)
	on("GET", "app.bsky.video.getUploadLimits", Check, b.getUploadLimits)
	p.on(s, "/", Check, func(c *call) *reply {
		return skyError(http.StatusNotImplemented, "MethodNotImplemented", "Method Not Implemented")
	})
	return p
}

func skyError(status int, name, format string, args ...any) *reply {
	return answer(status, map[string]string{"error": name, "message": fmt.Sprintf(format, args...)})
}

func skyInvalid(format string, args ...any) *reply {
	return skyError(http.StatusBadRequest, "InvalidRequest", format, args...)
}

// complain says a fault in the server's words.
func (b *bluesky) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return skyLimited(c.now, wait)
	case ExpiredToken:
		return skyVerdict(expired)
	case MissingPermission:
		return skyVerdict(noScope)
	case Invalid:
		return skyInvalid("Invalid %s record: Record/text must not be longer than 300 graphemes", skyPost)
	}
	switch {
	case status == http.StatusTooManyRequests:
		return skyLimited(c.now, time.Minute)
	case status == http.StatusUnauthorized:
		return skyError(status, "AuthenticationRequired", "Invalid identifier or password")
	case status == http.StatusForbidden:
		return skyVerdict(noScope)
	case status == http.StatusInternalServerError:
		return skyError(status, "InternalServerError", "Internal Server Error")
	case status > http.StatusInternalServerError:
		return skyError(status, "UpstreamFailure", "Upstream Failure")
	}
	return skyError(status, "InvalidRequest", "The request is not acceptable")
}

func skyLimited(now time.Time, wait time.Duration) *reply {
	return skyError(http.StatusTooManyRequests, "RateLimitExceeded", "Rate Limit Exceeded").
		with("RateLimit-Limit", strconv.Itoa(skyRate)).with("RateLimit-Remaining", "0").
		with("RateLimit-Reset", strconv.FormatInt(now.Add(wait).Unix(), 10)).with("Retry-After", strconv.Itoa(int(wait.Seconds())))
}

func skyVerdict(v verdict) *reply {
	switch v {
	case noToken:
		return skyError(http.StatusUnauthorized, "AuthMissing", "Authentication Required")
	case expired:
		return skyError(http.StatusBadRequest, "ExpiredToken", "Token has expired")
	case noScope:
		return skyError(http.StatusForbidden, "InsufficientScope", "Missing required scope")
	}
	return skyError(http.StatusBadRequest, "InvalidToken", "Token could not be verified")
}

func (b *bluesky) decorate(c *call, rep *reply) {
	rep.with("X-Request-Id", c.id)
	if c.account == nil || rep.header.Get("RateLimit-Remaining") != "" {
		return
	}
	n, reset := c.account.count(c.now, skyWindow)
	rep.with("RateLimit-Limit", strconv.Itoa(skyRate)).with("RateLimit-Remaining", strconv.Itoa(max(0, skyRate-n))).
		with("RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10)).with("RateLimit-Policy", "3000;w=300")
}

// open finds the account of a call's token.
func (b *bluesky) open(c *call) (*account, *reply) {
	a, _, v := c.admitByToken(c.bearer())
	if v != good {
		return nil, skyVerdict(v)
	}
	if limit := c.sim.Knobs().CallLimit; limit > 0 {
		a.mu.Lock()
		n, end := a.calls.n, a.calls.start.Add(skyWindow)
		a.mu.Unlock()
		if n >= limit && c.now.Before(end) {
			return nil, skyLimited(c.now, end.Sub(c.now))
		}
	}
	return a, nil
}

// query reads a GET's parameters and refuses those it does not have.
func (b *bluesky) query(c *call, allowed ...string) *reply {
	c.params.values = c.r.URL.Query()
	if name := c.params.stray(allowed...); name != "" {
		return skyInvalid("Unknown parameter %s", name)
	}
	return nil
}

// repo finds the account that a repo parameter names: the caller's own, by id or
// handle.
func (b *bluesky) repo(a *account, name string) *reply {
	if name == "" || !a.answersTo(name) {
		return skyInvalid("Could not find repo: %s", name)
	}
	return nil
}

// skyID hashes anything to a content address.
func skyID(prefix string, v any) string {
	raw, isBytes := v.([]byte)
	if !isBytes {
		raw, _ = json.Marshal(v)
	}
	sum := sha256.Sum256(raw)
	return prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))
}

func skyURI(did, collection, rkey string) string {
	return "at://" + did + "/" + collection + "/" + rkey
}

func (b *bluesky) resolveHandle(c *call) *reply {
	if no := b.query(c, "handle"); no != nil {
		return no
	}
	handle := c.params.get("handle")
	return c.do(Prepare, nil, func() *reply {
		for _, a := range c.st.at(c.place.name).all() {
			if a.answersTo(handle) {
				return answer(http.StatusOK, map[string]string{"did": a.id})
			}
		}
		return skyInvalid("Unable to resolve handle")
	})
}

func (b *bluesky) stranger(st *state, accountID, text string) *entry {
	a := st.at(network.Bluesky).open(accountID)
	n := b.sim.next()
	rkey := skyTID(uint64(n))
	e := &entry{
		Post: Post{
			ID: skyURI(a.id, skyPost, rkey), Kind: "post", Text: text, Time: b.sim.opts.Now(), Stranger: true, seq: n,
			path: "/bluesky/profile/" + url.PathEscape(a.id) + "/post/" + rkey,
		},
		born: b.sim.opts.Now(), private: map[string]string{"rkey": rkey},
	}
	e.private["record"] = fmt.Sprintf(`{"$type":%q,"text":%s,"createdAt":%q}`, skyPost, jsonText(text), e.Time.UTC().Format(skyTime))
	e.private["cid"] = skyID("bafyrei", e.private["record"])
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}

func jsonText(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// skyTID is a number as a record key: thirteen letters that sort as it does.
func skyTID(n uint64) string {
	const letters = "234567abcdefghijklmnopqrstuvwxyz"
	out := make([]byte, 13)
	for i := range out {
		out[12-i] = letters[n&31]
		n >>= 5
	}
	return string(out)
}
