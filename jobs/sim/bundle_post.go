package sim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"herald/db/network"
)

// bundlePost is a post of a team. owner.mu guards it.
type bundlePost struct {
	id, key, wire string
	owner         *account
	entry         *entry
	files         []blob
	status        string
	failed        string // what the network said
	polls         int    // how often it is still being handed on
	tries         int
	changed       time.Time
}

// bundleBody is a new post. A member that is not here is refused.
type bundleBody struct {
	Team    string                     `json:"teamId"`
	Title   string                     `json:"title"`
	Key     string                     `json:"referenceKey"`
	Date    string                     `json:"postDate"`
	Status  string                     `json:"status"`
	Types   []string                   `json:"socialAccountTypes"`
	Data    map[string]json.RawMessage `json:"data"`
	Comment map[string]string          `json:"firstComment"`
}

// bundleComments are the lengths of first comments; who is not here takes none.
var bundleComments = map[string]int{"TIKTOK": 150, "YOUTUBE": 10000, "INSTAGRAM": 2200, "FACEBOOK": 8000, "THREADS": 500, "LINKEDIN": 1250, "REDDIT": 10000,
	"MASTODON": 500, "DISCORD": 2000, "SLACK": 30000, "BLUESKY": 300}

func (b *bundle) create(c *call) *reply {
	var v bundleBody
	a, no := b.told(c, &v, &v.Team)
	if no != nil {
		return no
	}
	c.key = v.Key
	return c.do(Commit, a, func() *reply {
		due, no := v.check()
		if no != nil {
			return no
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if _, twice := thing[*bundlePost](c.st.at(bundleName), "ref/"+v.Key); twice && v.Key != "" {
			return bundleError(http.StatusConflict, "A post with this reference key exists already.")
		}
		p, no := b.compose(c, a, v)
		if no != nil {
			return no
		}
		b.schedule(c, p, due)
		sh := c.st.at(bundleName)
		sh.objects.Store(p.id, p)
		if p.key != "" {
			sh.objects.Store("ref/"+p.key, p)
		}
		return answer(http.StatusOK, p.tell(c, nil))
	})
}

func (v bundleBody) check() (due time.Time, no *reply) {
	due, err := time.Parse(time.RFC3339, v.Date)
	switch {
	case v.Title == "":
		return due, bundleBad("title must contain at least 1 character")
	case err != nil:
		return due, bundleBad("postDate is not a date")
	case v.Status != "DRAFT" && v.Status != "SCHEDULED":
		return due, bundleBad("status is DRAFT or SCHEDULED")
	case len(v.Key) > 128:
		return due, bundleBad("referenceKey must contain at most 128 characters")
	case len(v.Types) != 1 || !bundleHas(v.Types[0]) || len(v.Data) != 1 || v.Data[v.Types[0]] == nil:
		return due, bundleBad("socialAccountTypes and data are of one network here")
	}
	for name, text := range v.Comment {
		if most := bundleComments[name]; name != v.Types[0] || units(text) > most {
			return due, bundleBad("firstComment." + name + " is too long or not possible")
		}
	}
	return due, nil
}

// schedule publishes a post that is due, keeps as a draft what is late, and lets
// the network turn down what it does not take. owner.mu is held.
func (b *bundle) schedule(c *call, p *bundlePost, due time.Time) {
	p.changed = c.now
	if due.Before(c.now) {
		p.status = "DRAFT"
		return
	}
	b.hand(c, p)
}

// hand gives the post to its network. owner.mu is held.
func (b *bundle) hand(c *call, p *bundlePost) {
	p.changed, p.status, p.failed, p.tries = c.now, "SCHEDULED", "", p.tries+1
	if no := p.refused(); no != "" {
		p.status, p.failed = "ERROR", no
		return
	}
	if p.entry.Kind == "video" {
		p.polls = max(c.sim.Knobs().VideoPolls, 0)
	}
	fresh := *p.entry
	fresh.ID = strconv.FormatInt(c.sim.next(), 10)
	fresh.path, fresh.Time, fresh.Media, fresh.gone = bundlePath(fresh.ID), c.now, nil, time.Time{}
	for i, f := range p.files {
		fresh.Media = append(fresh.Media, c.keepMedia(f, p.entry.Media[i].Alt))
	}
	for i := range fresh.Replies {
		fresh.Replies[i].Time = c.now
	}
	p.entry = &fresh
	c.publish(p.owner, p.entry)
}

// refused is what the network has against the files and what is said of them.
func (p *bundlePost) refused() string {
	name, _ := network.FromWire(network.Bundle, p.wire)
	return against(name, p.entry.Text, p.entry.private["as"], p.entry.private["title"], p.files, func(i int) string { return p.entry.Media[i].Alt })
}

// find returns a post of a team by an id of either kind.
func (b *bundle) find(c *call, id string) (*bundlePost, *account, *reply) {
	p, ok := thing[*bundlePost](c.st.at(bundleName), id)
	if !ok {
		a, _, v := c.admitByToken(c.r.Header.Get("x-api-key"))
		if no := bundleVerdict(v); no != nil {
			return nil, nil, no
		}
		return nil, a, b.paced(c, a)
	}
	a, no := b.enter(c, p.owner.id)
	return p, a, no
}

var bundleNoPost = func() *reply { return bundleError(http.StatusNotFound, "Post not found") }

func (b *bundle) show(c *call) *reply      { return b.read(c, c.r.PathValue("id")) }
func (b *bundle) showByKey(c *call) *reply { return b.read(c, "ref/"+c.r.PathValue("key")) }

func (b *bundle) read(c *call, id string) *reply {
	p, a, no := b.find(c, id)
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		if p == nil {
			return bundleNoPost()
		}
		work := c.sim.faults.take(c, asyncKinds)
		a.mu.Lock()
		defer a.mu.Unlock()
		return answer(http.StatusOK, p.tell(c, work))
	})
}

// tell is the post as it now is. owner.mu is held.
func (p *bundlePost) tell(c *call, work *Fault) map[string]any {
	status, errors, external := p.status, map[string]any(nil), map[string]any(nil)
	if work != nil && work.Kind == AsyncError && p.failed == "" && p.status == "SCHEDULED" {
		p.status, p.failed, p.entry.gone, p.changed = "ERROR", "The media could not be processed.", c.now, c.now
		status = p.status
	}
	switch {
	case p.failed != "":
		errors = map[string]any{p.wire: map[string]any{"code": "IG:9004", "errorMessage": p.failed, "isTransient": false, "httpStatus": 400, "userFacingMessage": p.failed}}
	case status == "DRAFT" || c.step == Commit:
	case p.entry.removed(c.now):
		status = "DELETED"
	case work != nil || p.polls > 0:
		status = []string{"PROCESSING", "RETRYING"}[p.polls%2]
		p.polls = max(p.polls-1, 0)
	default:
		status = "POSTED"
		external = map[string]any{p.wire: map[string]any{"id": p.entry.ID, "permalink": c.base() + p.entry.path}}
	}
	return map[string]any{
		"id": p.id, "teamId": p.owner.id, "title": "Post", "referenceKey": p.key, "status": status, "data": map[string]any{}, "error": nil,
		"errorsVerbose": errors, "externalData": external, "retryCount": p.tries - 1, "updatedAt": p.changed.UTC().Format(time.RFC3339Nano),
		"createdAt": p.changed.UTC().Format(time.RFC3339Nano), "deletedAt": nil,
	}
}

// retry sets a post going again that was given up.
func (b *bundle) retry(c *call) *reply {
	p, a, no := b.find(c, c.r.PathValue("id"))
	if no != nil {
		return no
	}
	if p != nil {
		c.key = p.key
	}
	return c.do(Commit, a, func() *reply {
		if p == nil {
			return bundleNoPost()
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if p.status != "ERROR" {
			return bundleError(http.StatusBadRequest, "Only failed posts can be retried.")
		}
		b.hand(c, p)
		return answer(http.StatusOK, p.tell(c, nil))
	})
}

// patch gives a draft a time.
func (b *bundle) patch(c *call) *reply {
	var v struct {
		Status string `json:"status"`
		Date   string `json:"postDate"`
	}
	err := c.object(&v)
	p, a, no := b.find(c, c.r.PathValue("id"))
	switch {
	case no != nil:
		return no
	case err != nil:
		return bundleBad(err.Error())
	}
	due, err := time.Parse(time.RFC3339, v.Date)
	if p != nil {
		c.key = p.key
	}
	return c.do(Commit, a, func() *reply {
		switch {
		case p == nil:
			return bundleNoPost()
		case err != nil || v.Status != "SCHEDULED":
			return bundleBad("status and postDate are required")
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if p.status != "DRAFT" {
			return bundleError(http.StatusBadRequest, "Only drafts can be changed.")
		}
		b.schedule(c, p, due)
		return answer(http.StatusOK, p.tell(c, nil))
	})
}

// compose reads the part of the network. owner.mu is held.
func (b *bundle) compose(c *call, a *account, v bundleBody) (*bundlePost, *reply) {
	wire := v.Types[0]
	part, bad := readMembers(bundleParts[wire], v.Data[wire])
	if bad != "" {
		return nil, bundleBad(bad)
	}
	p := &bundlePost{id: "post_" + strconv.FormatInt(c.sim.next(), 36), key: v.Key, wire: wire, owner: a}
	kind := map[string]string{"POST": "post", "REEL": "reel", "STORY": "story"}[part.text("type")]
	p.entry = &entry{Post: Post{Kind: "post", Text: part.text("text"), Link: part.text(bundleLinks[wire])}, private: map[string]string{"as": kind, "title": part.text("mediaTitle")}}
	if wire == "YOUTUBE" || wire == "PINTEREST" {
		p.entry.Title, p.entry.Text = p.entry.Text, part.text("description")
		p.entry.private["title"] = p.entry.Title
	}
	if comment := v.Comment[wire]; comment != "" {
		p.entry.Replies = []Reply{{ID: strconv.FormatInt(c.sim.next(), 10), Text: comment}}
	}
	name, _ := network.FromWire(network.Bundle, wire)
	if n, ok := network.Get(name); ok && n.Text.Max > 0 && n.Count(p.entry.Text) > n.Text.Max {
		return nil, bundleBad("text must contain at most " + strconv.Itoa(n.Text.Max) + " characters")
	}
	for i, id := range part.list("uploadIds") {
		f, ok := thing[*bundleFile](c.st.at(bundleName), id)
		if !ok || f.owner != a {
			return nil, bundleError(http.StatusNotFound, "Upload not found")
		}
		p.files = append(p.files, f.blob)
		p.entry.Media = append(p.entry.Media, Media{Kind: f.blob.kind, Alt: part.alt(i, id)})
		p.entry.Kind = map[string]string{"image": "photo"}[f.blob.kind]
		if p.entry.Kind == "" {
			p.entry.Kind = f.blob.kind
		}
	}
	if p.entry.Text == "" && len(p.files) == 0 {
		return nil, bundleBad("text or uploadIds is required")
	}
	return p, nil
}

var bundleLinks = map[string]string{"FACEBOOK": "link", "LINKEDIN": "link", "PINTEREST": "link", "THREADS": "linkAttachment", "BLUESKY": "externalUrl"}

// bundleParts are the members of each network's part: s text, b yes or no, n a
// number, l a list of words, f files with their alt texts, a choice of A|B; ! is
// required.
var bundleParts = map[string]string{
	"TWITTER":   "text:s uploadIds:l replySettings:EVERYONE|FOLLOWING|MENTIONED_USERS|SUBSCRIBERS|VERIFIED isAiGenerated:b",
	"PINTEREST": "text:s description:s boardName:s! uploadIds:l thumbnail:s link:s altText:s note:s dominantColor:s isAiGenerated:b",
	"FACEBOOK":  "type:POST|REEL|STORY text:s uploadIds:l mediaItems:f link:s thumbnail:s mediaTitle:s nativeScheduleTime:s",
	"INSTAGRAM": "type:POST|REEL|STORY text:s uploadIds:l altText:s thumbnailOffset:n thumbnail:s shareToFeed:b collaborators:l autoFitImage:b autoCropImage:b carouselItems:f locationId:s isPaidPartnership:b isAiGenerated:b",
	"THREADS":   "text:s uploadIds:l mediaItems:f topicTag:s replyControl:everyone|accounts_you_follow|mentioned_only|parent_post_author_only|followers_only linkAttachment:s",
	"TIKTOK": "type:VIDEO|IMAGE text:s uploadIds:l thumbnail:s privacy:SELF_ONLY|PUBLIC_TO_EVERYONE|MUTUAL_FOLLOW_FRIENDS|FOLLOWER_OF_CREATOR photoCoverIndex:n isBrandContent:b " +
		"isOrganicBrandContent:b disableComments:b disableDuet:b disableStitch:b thumbnailOffset:n isAiGenerated:b autoAddMusic:b autoScale:b uploadToDraft:b",
	"LINKEDIN": "text:s! uploadIds:l link:s thumbnail:s mediaTitle:s privacy:CONNECTIONS|PUBLIC|LOGGED_IN|CONTAINER hideFromFeed:b disableReshare:b",
	"YOUTUBE":  "type:VIDEO|SHORT uploadIds:l text:s description:s thumbnail:s privacy:PRIVATE|PUBLIC|UNLISTED defaultLanguage:s defaultAudioLanguage:s madeForKids:b containsSyntheticMedia:b hasPaidProductPlacement:b",
	"MASTODON": "text:s uploadIds:l thumbnail:s privacy:PUBLIC|UNLISTED|PRIVATE|DIRECT spoiler:s",
	"BLUESKY":  "text:s uploadIds:l tags:l labels:l quoteUri:s externalUrl:s externalTitle:s externalDescription:s thumbnail:s videoAlt:s",
}

// alt is the description of the i-th file, wherever its network has it.
func (w words) alt(i int, id string) string {
	for _, name := range []string{"mediaItems", "carouselItems"} {
		list, _ := w[name].([]any)
		for _, v := range list {
			if m, _ := v.(map[string]any); m["uploadId"] == id {
				alt, _ := m["altText"].(string)
				return alt
			}
		}
	}
	if i > 0 {
		return ""
	}
	if alt := w.text("altText"); alt != "" {
		return alt
	}
	return w.text("videoAlt")
}
