package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// facebook is the Graph API for Pages. A Page's posts, photos, videos and
// stories are in facebook_*.go.
type facebook struct{ sim *Sim }

const facebookText = 63206 // UTF-16 units

func newFacebook(s *Sim) *place {
	fb := &facebook{s}
	p := &place{
		name: network.Facebook, title: "Facebook", mux: http.NewServeMux(),
		kinds: allKinds, complain: fb.complain, stranger: fb.stranger,
		decorate: func(c *call, rep *reply) { graphHeaders(c, rep, "pages") },
	}
	p.on(s, "POST /{version}/{page}/feed", Commit, fb.createPost)
	p.on(s, "POST /{version}/{page}/photos", Commit, fb.createPhoto)
	p.on(s, "POST /{version}/{page}/videos", Commit, fb.createVideo)
	p.on(s, "POST /{version}/{page}/video_reels", Commit, fb.createReel)
	p.on(s, "POST /{version}/{page}/photo_stories", Commit, fb.createPhotoStory)
	p.on(s, "POST /{version}/{page}/video_stories", Commit, fb.createVideoStory)
	p.onUpload(s, "POST /video-upload/{version}/{video}", fb.upload)
	p.on(s, "POST /{version}/{id}/comments", FollowUp, fb.createComment)
	p.on(s, "GET /{version}/{id}/comments", FollowUp, fb.listComments)
	p.on(s, "POST /{version}/{id}", FollowUp, fb.editPost)
	p.on(s, "DELETE /{version}/{id}", FollowUp, fb.deletePost)
	p.on(s, "GET /{version}/{id}", Find, fb.showObject)
	p.on(s, "GET /{version}/{page}/feed", Find, fb.listFeed)
	p.on(s, "GET /{version}/{page}/published_posts", Find, fb.listPublished)
	p.on(s, "GET /{version}/{page}/video_reels", Find, fb.listReels)
	p.on(s, "GET /{version}/{page}/stories", Find, fb.listStories)
	graphSignIn(s, p)
	p.on(s, "/", Check, func(c *call) *reply { return graphNowhere(c) })
	return p
}

// complain says a fault in Graph's words.
func (fb *facebook) complain(c *call, k Kind, status int, wait time.Duration) *reply {
	switch k {
	case RateLimit:
		return graphLimited(c, 32, "pages", wait)
	case ExpiredToken:
		return graphVerdict(expired, "")
	case MissingPermission:
		return graphVerdict(noScope, "")
	case Invalid:
		return graphBad("Invalid parameter.")
	}
	return graphStatus(status)
}

// page opens a call on a Page: its parameters, its token and its limits.
func (fb *facebook) page(c *call, scope string, kinds ...string) (*account, *grant, *reply) {
	token, no := c.graphOpen(kinds...)
	if no != nil {
		return nil, nil, no
	}
	return fb.admit(c, c.r.PathValue("page"), token, scope)
}

func (fb *facebook) admit(c *call, id, token, scope string) (*account, *grant, *reply) {
	a, g, v := c.admit(id, token, scope)
	if v != good {
		return nil, nil, graphVerdict(v, id)
	}
	if g.user && scope != "pages_read_engagement" {
		return nil, nil, graphError(http.StatusBadRequest, 210, 0, "(#210) A page access token is required to request this resource.")
	}
	if no := graphOverLimit(c, a, 32, "pages"); no != nil {
		return nil, nil, no
	}
	return a, g, nil
}

// graphOverLimit refuses when the account has used up Knobs.CallLimit.
func graphOverLimit(c *call, a *account, code int, kind string) *reply {
	limit := c.sim.Knobs().CallLimit
	if limit <= 0 {
		return nil
	}
	a.mu.Lock()
	n, end := a.calls.n, a.calls.start.Add(time.Hour)
	a.mu.Unlock()
	if n < limit || !c.now.Before(end) {
		return nil
	}
	return graphLimited(c, code, kind, end.Sub(c.now))
}

// graphNowhere answers a path that is no call.
func graphNowhere(c *call) *reply {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodPost && c.r.Method != http.MethodDelete {
		return graphError(http.StatusMethodNotAllowed, 100, 0, "Unsupported method.")
	}
	return graphError(http.StatusNotFound, 2500, 0, "Unknown path components: "+c.r.URL.Path)
}

// timing is when and whether a post shows.
type timing struct {
	at     time.Time
	hidden bool
}

// timing reads published and scheduled_publish_time.
func (fb *facebook) timing(c *call, latest time.Duration) (timing, *reply) {
	when, no := timing{at: c.now}, (*reply)(nil)
	if s := c.params.get("published"); s != "" {
		published, err := strconv.ParseBool(s)
		if err != nil {
			return when, graphBad("published is true or false.")
		}
		when.hidden = !published
	}
	s := c.params.get("scheduled_publish_time")
	if s == "" {
		return when, no
	}
	at, ok := graphMoment(s)
	switch {
	case !ok:
		return when, graphBad("scheduled_publish_time is a unix time or an ISO time.")
	case !when.hidden:
		return when, graphBad("A scheduled post has published=false.")
	case at.Before(c.now.Add(10*time.Minute)) || at.After(c.now.Add(latest)):
		return when, graphBad("The specified scheduled publish time is invalid.")
	}
	return timing{at: at}, nil
}

// post makes an entry of a Page.
func (fb *facebook) post(c *call, a *account, g *grant, kind, text string, when timing) *entry {
	n := strconv.FormatInt(c.sim.next(), 10)
	id := a.id + "_" + n
	return &entry{
		Post:   Post{ID: id, Kind: kind, Text: text, Time: when.at, path: "/facebook/p/" + id},
		hidden: when.hidden, private: map[string]string{"app": g.app},
	}
}

// store publishes e with its photos under the account's lock, unless it repeats
// the last post and the knob says that this is refused.
func (fb *facebook) store(c *call, a *account, e *entry, photos ...*photo) *reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.sim.Knobs().Duplicates && len(a.posts) > 0 {
		last := a.posts[len(a.posts)-1]
		if last.shows(c.now) && last.Text == e.Text && last.Link == e.Link && len(last.Media) == len(e.Media)+len(photos) {
			return graphError(http.StatusBadRequest, 506, 0, "(#506) Duplicate status message")
		}
	}
	if no := fb.claim(photos, e); no != nil {
		return no
	}
	c.publish(a, e)
	return nil
}

// answered is the answer of a create call: the id, and the permalink if it was
// asked for.
func (fb *facebook) answered(c *call, e *entry, out map[string]any) *reply {
	for field := range strings.SplitSeq(c.params.get("fields"), ",") {
		if strings.TrimSpace(field) == "permalink_url" {
			out["permalink_url"] = c.base() + e.path
		}
	}
	return answer(http.StatusOK, out)
}

// text refuses a text over the limit.
func (fb *facebook) text(name, s string) *reply {
	if n := units(s); n > facebookText {
		return graphBad("%s has %d characters; %d are allowed.", name, n, facebookText)
	}
	return nil
}

func (fb *facebook) stranger(st *state, accountID, text string) *entry {
	a := st.at(network.Facebook).open(accountID)
	n := fb.sim.next()
	id := fmt.Sprintf("%s_%d", a.id, n)
	e := &entry{
		Post: Post{ID: id, Kind: "post", Text: text, Time: fb.sim.opts.Now(), Stranger: true, seq: n, path: "/facebook/p/" + id},
		born: fb.sim.opts.Now(),
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	st.put(a, e)
	return e
}
