package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// thContainer is a post on its way. owner.mu guards what changes.
type thContainer struct {
	id      string
	owner   *account
	kind    string // TEXT, IMAGE, VIDEO or CAROUSEL
	child   bool
	text    string
	link    string
	topic   string
	replyTo string
	spoiler bool
	media   []Media
	parts   []*thContainer
	born    time.Time
	done    time.Time // when it was first seen finished

	polls   int
	need    int
	failed  string // its error_message
	code    string // EXPIRED or "" in place of ERROR
	gone    bool
	tried   bool
	used    bool
	becomes *entry
}

const (
	thText  = 500
	thAlt   = 1000
	thImage = 8_000_000
	thVideo = 1_000_000_000
	thLinks = 5
)

var thParams = []string{
	"media_type", "text", "image_url", "video_url", "alt_text", "is_carousel_item", "children", "reply_to_id", "reply_control",
	"link_attachment", "topic_tag", "is_spoiler_media", "quote_post_id",
}

func (th *threads) createContainer(c *call) *reply {
	token, no := th.read(c, "form")
	if no != nil {
		return no
	}
	step, scope, id := Prepare, "threads_content_publish", c.r.PathValue("user")
	if c.params.get("reply_to_id") != "" {
		step, scope = FollowUp, "threads_manage_replies"
	}
	if id == "me" {
		id = c.me(token)
	}
	a, no := th.admit(c, id, token, scope)
	if no != nil {
		return no
	}
	if no := c.graphOnly(thParams...); no != nil {
		return no
	}
	return c.do(step, a, func() *reply { return th.makeContainer(c, a) })
}

func (th *threads) makeContainer(c *call, a *account) *reply {
	p := &c.params
	ct := &thContainer{
		id: thID(c.sim.next()), owner: a, born: c.now, kind: p.get("media_type"), text: p.get("text"), link: p.get("link_attachment"),
		topic: p.get("topic_tag"), replyTo: p.get("reply_to_id"), child: p.get("is_carousel_item") == "true", spoiler: p.get("is_spoiler_media") == "true",
	}
	for _, check := range []func(*call, *thContainer) *reply{th.words, th.choices, th.fill} {
		if no := check(c, ct); no != nil {
			return no
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, part := range ct.parts {
		if part.used || part.becomes != nil {
			return thError(100, 0, "A child of the carousel was used already.")
		}
	}
	for _, part := range ct.parts {
		part.used = true
		ct.media = append(ct.media, part.media...)
	}
	c.st.at(a.network).objects.Store(ct.id, ct)
	return answer(http.StatusOK, map[string]any{"id": ct.id})
}

// words checks the texts and counts the links.
func (th *threads) words(c *call, ct *thContainer) *reply {
	links := map[string]bool{}
	if ct.link != "" {
		links[ct.link] = true
	}
	for _, l := range xLinks(ct.text) {
		links[ct.text[l[0]:l[1]]] = true
	}
	switch {
	case thLength(ct.text) > thText:
		return thError(100, 0, "Param text must be at most 500 characters long.")
	case utf8.RuneCountInString(c.params.get("alt_text")) > thAlt:
		return thError(100, 0, "Param alt_text must be at most 1000 characters long.")
	case len(links) > thLinks:
		return thError(100, 0, "THREADS_API__LINK_LIMIT_EXCEEDED: A post has five links or less.")
	case ct.kind == "TEXT" && strings.TrimSpace(ct.text) == "" && ct.link == "":
		return thError(100, 0, "Param text is required.")
	case ct.link != "" && (ct.kind != "TEXT" || !webAddress(ct.link)):
		return thError(100, 0, "link_attachment is an address, of TEXT posts only.")
	case ct.child && (ct.text != "" || ct.replyTo != ""):
		return thError(100, 0, "A carousel item has no text.")
	}
	return nil
}

// thLength counts code points, and an emoji by its bytes.
func thLength(text string) (n int) {
	clusters := uniseg.NewGraphemes(text)
	for clusters.Next() {
		rs := clusters.Runes()
		if slices.ContainsFunc(rs, func(r rune) bool {
			return r >= 0x1f000 && r < 0x1fb00 || r == 0xfe0f || r == 0x20e3 || r >= 0x2600 && r <= 0x27bf
		}) {
			n += len(clusters.Str())
			continue
		}
		n += len(rs)
	}
	return n
}

func (th *threads) choices(c *call, ct *thContainer) *reply {
	controls := []string{"", "everyone", "accounts_you_follow", "mentioned_only", "parent_post_author_only", "followers_only"}
	switch {
	case !slices.Contains(controls, c.params.get("reply_control")):
		return thError(100, 0, "reply_control is not one of the known values.")
	case c.params.has("topic_tag") && (ct.topic == "" || len([]rune(ct.topic)) > 50 || strings.ContainsAny(ct.topic, ".&")):
		return thError(100, 0, "topic_tag has 1 to 50 characters, without . and &.")
	case ct.spoiler && (ct.kind == "TEXT" || ct.kind == ""):
		return thError(100, 0, "is_spoiler_media is for media.")
	}
	if ct.replyTo == "" {
		return nil
	}
	parent, ok := thing[*entry](c.st.at(c.place.name), ct.replyTo)
	if !ok || parent.owner != ct.owner {
		return graphMissing(ct.replyTo)
	}
	return nil
}

// fill gets the container's media as its kind wants them.
func (th *threads) fill(c *call, ct *thContainer) *reply {
	image, film, children := c.params.get("image_url"), c.params.get("video_url"), c.params.get("children")
	k := c.sim.Knobs()
	wrong := image != "" && ct.kind != "IMAGE" || film != "" && ct.kind != "VIDEO" || children != "" && ct.kind != "CAROUSEL"
	switch {
	case wrong:
		return thError(100, 0, "The address does not fit the media_type.")
	case ct.child && ct.kind != "IMAGE" && ct.kind != "VIDEO":
		return thError(100, 0, "A carousel item is an IMAGE or a VIDEO.")
	case ct.kind == "TEXT":
		return nil
	case ct.kind == "IMAGE":
		ct.need = k.ImagePolls
		return th.fetchImage(c, ct, image)
	case ct.kind == "VIDEO":
		ct.need = k.VideoPolls
		th.fetchVideo(c, ct, film)
		return nil
	case ct.kind == "CAROUSEL":
		return th.children(c, ct, strings.Split(children, ","))
	}
	return thError(100, 0, "media_type is TEXT, IMAGE, VIDEO or CAROUSEL.")
}

func (th *threads) children(c *call, ct *thContainer, ids []string) *reply {
	if len(ids) < 2 || len(ids) > 20 {
		return thError(100, 0, "A carousel has 2 to 20 items.")
	}
	for _, id := range ids {
		p, ok := thing[*thContainer](c.st.at(c.place.name), id)
		if !ok || p.owner != ct.owner || !p.child || slices.Contains(ct.parts, p) {
			return thError(24, 4279009, "The media "+id+" was not found.")
		}
		p.owner.mu.Lock()
		state := p.state(c)
		p.owner.mu.Unlock()
		if state != "FINISHED" {
			return thError(24, 4279009, "The media "+id+" is not ready.")
		}
		ct.parts = append(ct.parts, p)
	}
	return nil
}

// fetchImage really gets the picture; a bad one is refused at once.
func (th *threads) fetchImage(c *call, ct *thContainer, address string) *reply {
	b, err := c.pull(address, thImage)
	switch {
	case err != nil:
		return thError(100, 0, "The media could not be fetched from this URI.")
	case b.size > thImage:
		return thError(100, 0, "The image is larger than 8 MB.")
	case b.mime != "image/jpeg" && b.mime != "image/png" || !b.whole():
		return thError(100, 0, "The image format is not supported.")
	case b.width > 1440 || !b.shaped(0.1, 10):
		return thError(100, 0, fmt.Sprintf("An image of %d x %d is not supported.", b.width, b.height))
	}
	ct.media = []Media{c.keepMedia(b, c.params.get("alt_text"))}
	return nil
}

// fetchVideo gets the film; what is wrong with it shows when the container is
// asked for.
func (th *threads) fetchVideo(c *call, ct *thContainer, address string) {
	b, err := c.pull(address, thVideo)
	switch {
	case err != nil:
		ct.failed = "FAILED_DOWNLOADING_VIDEO"
	case b.mime != "video/mp4" && b.mime != "video/quicktime", b.size > thVideo:
		ct.failed = "FAILED_PROCESSING_VIDEO"
	case b.long > 5*time.Minute:
		ct.failed = "INVALID_DURATION"
	case b.width > 1920, b.width > 0 && !b.shaped(0.01, 10):
		ct.failed = "INVALID_ASPEC_RATIO"
	default:
		ct.media = []Media{c.keepMedia(b, c.params.get("alt_text"))}
	}
}

// state is what the container is now. owner.mu is held.
func (ct *thContainer) state(c *call) string {
	switch {
	case ct.becomes != nil:
		return "PUBLISHED"
	case ct.failed != "" && ct.code != "":
		return ct.code
	case ct.failed != "":
		return "ERROR"
	case c.now.Sub(ct.born) >= 24*time.Hour:
		return "EXPIRED"
	case ct.polls < ct.need, c.sim.faults.expects(c, kindSet{AsyncPending: ""}):
		return "IN_PROGRESS"
	}
	return "FINISHED"
}

// look is a poll: the state, and one look more on the clock.
func (ct *thContainer) look(c *call) string {
	f := c.sim.faults.take(c, asyncKinds)
	ct.owner.mu.Lock()
	defer ct.owner.mu.Unlock()
	switch {
	case f == nil:
	case f.Kind == AsyncPending:
		c.outcome = string(f.Kind)
		return "IN_PROGRESS"
	case ct.becomes == nil:
		c.outcome = string(f.Kind)
		ct.end(f)
	}
	state := ct.state(c)
	ct.polls++
	if state == "FINISHED" && ct.done.IsZero() {
		ct.done = c.now
	}
	return state
}

// end makes the container fail as the fault says: with Body as its message, as
// expired, or, with status 404, gone. owner.mu is held.
func (ct *thContainer) end(f *Fault) {
	ct.failed = "FAILED_PROCESSING_VIDEO"
	switch {
	case f.Status == http.StatusNotFound:
		ct.gone = true
	case strings.EqualFold(strings.TrimSpace(f.Body), "expired"):
		ct.code = "EXPIRED"
	case f.Body != "":
		ct.failed = f.Body
	}
}

func (th *threads) publish(c *call) *reply {
	a, no := th.open(c, "threads_content_publish", "form")
	if no != nil {
		return no
	}
	if no := c.graphOnly("creation_id"); no != nil {
		return no
	}
	ct, ok := thing[*thContainer](c.st.at(a.network), c.params.get("creation_id"))
	step := Commit
	if ok && ct.replyTo != "" {
		step = FollowUp
	}
	return c.do(step, a, func() *reply {
		if !ok || ct.owner != a || ct.child {
			return thError(24, 4279009, "The requested resource does not exist: Media Not Found")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return th.release(c, a, ct)
	})
}

// release makes a finished container public. a.mu is held.
func (th *threads) release(c *call, a *account, ct *thContainer) *reply {
	ct.tried = true
	posts, replies := a.today(c.now)
	state := ct.state(c)
	switch {
	case ct.gone, state == "IN_PROGRESS", state == "FINISHED" && c.now.Sub(ct.born) < c.sim.Knobs().Spread:
		return thError(24, 4279009, "The requested resource does not exist: Media Not Found")
	case state != "FINISHED":
		return thError(24, 4279009, "The container was published before, failed, or has expired.")
	case ct.replyTo == "" && posts >= thPosts, ct.replyTo != "" && replies >= thReplies:
		return thError(4, 2207051, "The account has reached what it may publish in 24 hours.")
	}
	n := c.sim.next()
	e := &entry{
		Post:    Post{ID: thID(n), Kind: "post", Text: ct.text, Link: ct.link, Media: ct.media, Time: c.now, path: thPath(a, n)},
		parent:  ct.replyTo,
		private: map[string]string{"shortcode": shortcode(n), "type": thType(ct.kind), "topic": ct.topic},
	}
	if e.parent != "" {
		e.Kind = "reply"
		root := c.root(e)
		root.Replies = append(root.Replies, Reply{ID: e.ID, Text: e.Text, Time: c.now})
	}
	c.publish(a, e)
	ct.becomes = e
	return answer(http.StatusOK, map[string]any{"id": e.ID})
}

func thType(kind string) string {
	return map[string]string{"TEXT": "TEXT_POST", "IMAGE": "IMAGE", "VIDEO": "VIDEO", "CAROUSEL": "CAROUSEL_ALBUM"}[kind]
}
