package sim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// youtube is the Data API with its upload host. Uploads are in youtube_upload.go,
// what is read in youtube_read.go.
type youtube struct{ sim *Sim }

const ytScope = "https://www.googleapis.com/auth/youtube"

func newYouTube(s *Sim) *place {
	y := &youtube{s}
	p := &place{
		name: network.YouTube, title: "YouTube", mux: http.NewServeMux(),
		kinds: allKinds, complain: y.complain, decorate: func(c *call, rep *reply) { rep.with("X-Goog-Request-Id", c.id) }, stranger: y.stranger,
	}
	p.on(s, "POST /upload/youtube/v3/videos", Prepare, y.open)
	p.on(s, "PUT /upload/youtube/v3/videos", Prepare, y.put)
	p.on(s, "POST /upload/youtube/v3/thumbnails/set", FollowUp, y.setThumbnail)
	p.on(s, "GET /youtube/v3/channels", Check, y.channels)
	p.on(s, "GET /youtube/v3/videos", Check, y.videos)
	p.on(s, "GET /youtube/v3/playlistItems", Find, y.playlistItems)
	p.on(s, "GET /youtube/v3/commentThreads", FollowUp, y.listThreads)
	p.on(s, "POST /youtube/v3/commentThreads", FollowUp, y.createThread)
	p.on(s, "/", Check, func(c *call) *reply {
		page := "<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title><p>The requested URL was not found on this server."
		return &reply{status: http.StatusNotFound, kind: "text/html; charset=UTF-8", body: []byte(page)}
	})
	googleSignIn(s, p, false)
	return p
}

func ytError(code int, reason, message string) *reply {
	return googleError(code, googleStatus(code), reason, message)
}

func ytBad(reason, message string) *reply { return ytError(http.StatusBadRequest, reason, message) }

// complain says a fault in YouTube's words.
func (y *youtube) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	if c.step == Token {
		return oauthComplaint(k, status, wait)
	}
	switch k {
	case RateLimit:
		return googleError(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "", "Too many requests.").with("Retry-After", seconds(wait))
	case ExpiredToken:
		return ytVerdict(expired)
	case MissingPermission:
		return ytVerdict(noScope)
	case Invalid:
		return ytBad("invalidVideoMetadata", "The request metadata is invalid.")
	}
	if status == http.StatusTooManyRequests {
		return y.complain(c, RateLimit, 0, time.Minute)
	}
	reason := map[int]string{401: "authError", 403: "forbidden", 404: "notFound"}[status]
	switch {
	case reason != "":
	case status >= http.StatusInternalServerError:
		reason = "backendError"
	default:
		reason = "badRequest"
	}
	return ytError(status, reason, "The request cannot be completed.")
}

func ytVerdict(v verdict) *reply {
	if v == noScope {
		return ytError(http.StatusForbidden, "insufficientPermissions", "Request had insufficient authentication scopes.")
	}
	return ytError(http.StatusUnauthorized, "authError", "Request had invalid authentication credentials.")
}

// enter reads a call: its token, and its parameters.
func (y *youtube) enter(c *call, scopes []string, kinds ...string) (*account, *reply) {
	a, _, v := c.admitByToken(c.bearer(), scopes...)
	if v != good {
		return nil, ytVerdict(v)
	}
	if err := c.read(plainNest, kinds...); err != nil {
		return nil, ytBad("badRequest", err.Error())
	}
	return a, nil
}

func (y *youtube) only(c *call, allowed ...string) *reply {
	if name := c.params.stray(allowed...); name != "" {
		return ytBad("badRequest", "Invalid JSON payload received. Unknown name \""+name+"\"")
	}
	return nil
}

// parts reads the part parameter, which every call needs.
func (y *youtube) parts(c *call, known ...string) ([]string, *reply) {
	parts := strings.Split(c.params.get("part"), ",")
	for _, p := range parts {
		if !slices.Contains(known, p) {
			return nil, ytBad("unknownPart", "Unknown part "+p)
		}
	}
	return parts, nil
}

var (
	ytUploads  = []string{ytScope + ".upload", ytScope, ytScope + ".force-ssl"}
	ytReads    = []string{ytScope + ".readonly", ytScope, ytScope + ".force-ssl"}
	ytComments = []string{ytScope + ".force-ssl"}
)

// stranger is a video that somebody uploaded in the studio.
func (y *youtube) stranger(st *state, accountID, text string) *entry {
	a := st.at(network.YouTube).open(accountID)
	n := y.sim.next()
	now := y.sim.opts.Now()
	e := &entry{
		Post: Post{ID: ytID(n), Kind: "video", Title: "By hand", Text: text, Time: now, Stranger: true, seq: n},
		born: now, private: map[string]string{"privacy": "public", "status": "processed"},
	}
	e.path = "/youtube/p/" + e.ID
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}

// ytID makes the eleven characters of a video's id.
func ytID(n int64) string {
	text := strconv.FormatInt(n, 36)
	return strings.Repeat("_", max(0, 11-len(text))) + text
}
