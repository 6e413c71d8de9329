package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// container is media on its way to a post. owner.mu guards what changes.
type container struct {
	id      string
	owner   *account
	kind    string // IMAGE, REELS, STORIES, VIDEO or CAROUSEL
	child   bool
	caption string
	media   []Media
	parts   []*container
	born    time.Time

	await   bool   // of an upload: the bytes are still to come
	polls   int    // how often it was asked for
	need    int    // how often it answers "in progress"
	failed  string // text of its error, with the subcode
	code    string // EXPIRED or "" in place of ERROR
	gone    bool   // vanished
	tried   bool   // a publish of it was tried
	used    bool   // in a carousel
	becomes *entry // once published
}

const (
	igCaption = 2200
	igAlt     = 1000
	igImage   = 8 << 20
	igVideo   = 300_000_000
	igStory   = 100_000_000 // of a story's video
	igPicture = 8_000_000   // of a story's picture
)

var containerParams = []string{
	"image_url", "video_url", "media_type", "caption", "alt_text", "location_id", "user_tags", "collaborators",
	"share_to_feed", "cover_url", "thumb_offset", "audio_name", "trial_params", "is_carousel_item", "children", "upload_type",
}

func igError(code, sub int, message string) *reply {
	return graphError(http.StatusBadRequest, code, sub, message)
}

func (ig *instagram) createContainer(c *call) *reply {
	a, _, no := ig.user(c, igPublish, "form")
	if no != nil {
		return no
	}
	if no := c.graphOnly(containerParams...); no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply { return ig.makeContainer(c, a) })
}

func (ig *instagram) makeContainer(c *call, a *account) *reply {
	k := c.sim.Knobs()
	ct := &container{
		id: strconv.FormatInt(c.sim.next(), 10), owner: a, born: c.now,
		kind: c.params.get("media_type"), caption: c.params.get("caption"), child: c.params.get("is_carousel_item") == "true",
	}
	if ct.kind == "" && c.params.get("video_url") == "" {
		ct.kind = "IMAGE"
	}
	if no := ig.text(c, ct, k); no != nil {
		return no
	}
	if no := ig.fill(c, ct, k); no != nil {
		return no
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made = recent(a.made, c.now.Add(-24*time.Hour))
	if len(a.made) >= k.Containers {
		return igError(9, 2207042, "Too many containers were made in 24 hours.")
	}
	a.made = append(a.made, c.now)
	if no := ct.adopt(); no != nil {
		return no
	}
	c.st.at(a.network).objects.Store(ct.id, ct)
	out := map[string]any{"id": ct.id}
	if ct.await {
		out["uri"] = c.base() + "/instagram/ig-api-upload/" + c.r.PathValue("version") + "/" + ct.id
	}
	return answer(http.StatusOK, out)
}

// adopt ties a carousel's children to it. owner.mu is held.
func (ct *container) adopt() *reply {
	for _, p := range ct.parts {
		if p.used || p.becomes != nil {
			return igError(24, 2207008, "A child of the carousel was used already.")
		}
	}
	for _, p := range ct.parts {
		p.used = true
		ct.media = append(ct.media, p.media...)
	}
	return nil
}

// text checks caption, alt text and names.
func (ig *instagram) text(c *call, ct *container, k Knobs) *reply {
	alt := c.params.get("alt_text")
	switch {
	case units(ct.caption) > igCaption:
		return igError(36004, 2207010, fmt.Sprintf("The caption has %d characters; %d are allowed.", units(ct.caption), igCaption))
	case hashtags(ct.caption) > k.Hashtags:
		return igError(36004, 2207010, fmt.Sprintf("The caption has %d hashtags; %d are allowed.", hashtags(ct.caption), k.Hashtags))
	case mentions(ct.caption) > 20:
		return igError(36004, 2207010, "The caption mentions more than 20 accounts.")
	case ct.caption != "" && (ct.kind == "STORIES" || ct.child):
		return graphBad("A story or a carousel item has no caption.")
	case alt != "" && ct.kind != "IMAGE":
		return graphBad("alt_text is for images only.")
	case utf8.RuneCountInString(alt) > igAlt:
		return graphBad("alt_text has more than %d characters.", igAlt)
	case strings.Count(c.params.get("collaborators"), ",") > 2:
		return graphBad("A post has three collaborators or less.")
	}
	return nil
}

// fill gets the container's media as its kind wants them.
func (ig *instagram) fill(c *call, ct *container, k Knobs) *reply {
	image, film, children := c.params.get("image_url"), c.params.get("video_url"), c.params.get("children")
	resumable := c.params.get("upload_type") == "resumable"
	switch ct.kind {
	case "IMAGE", "REELS", "STORIES", "VIDEO":
		if children != "" {
			return graphBad("children is for carousels.")
		}
	case "CAROUSEL":
		if image != "" || film != "" || ct.child || resumable {
			return graphBad("A carousel has only children and a caption.")
		}
		return ig.children(c, ct, strings.Split(children, ","))
	default:
		return igError(100, 2207023, "The media type "+ct.kind+" is unknown.")
	}
	switch {
	case ct.kind == "VIDEO" && !ct.child:
		return igError(100, 2207023, "The media type VIDEO is only for carousel items. Use REELS.")
	case ct.child && (ct.kind == "REELS" || ct.kind == "STORIES"):
		return igError(100, 2207023, "A carousel item is an image or a VIDEO.")
	case resumable && image == "" && film == "" && ct.kind != "IMAGE":
		ct.await, ct.need = true, k.VideoPolls
		return nil
	case (image == "") == (film == ""):
		return graphBad("The parameter image_url or video_url is required, and only one of them.")
	case ct.kind == "IMAGE" && film != "", image != "" && (ct.kind == "REELS" || ct.kind == "VIDEO"):
		return graphBad("The address does not fit the media type %s.", ct.kind)
	case image != "":
		ct.need = k.ImagePolls
		return ig.fetchImage(c, ct, image)
	}
	ct.need = k.VideoPolls
	ig.fetchVideo(c, ct, film)
	return nil
}

func (ig *instagram) children(c *call, ct *container, ids []string) *reply {
	if len(ids) < 2 || len(ids) > 10 {
		return igError(100, 2207028, "A carousel has 2 to 10 items.")
	}
	for _, id := range ids {
		p, ok := thing[*container](c.st.at(c.place.name), strings.TrimSpace(id))
		if !ok || p.owner != ct.owner || !p.child || slices.Contains(ct.parts, p) {
			return igError(24, 2207006, "The media "+id+" was not found, or is no carousel item.")
		}
		p.owner.mu.Lock()
		state, _ := p.state(c)
		p.owner.mu.Unlock()
		switch state {
		case "FINISHED":
		case "IN_PROGRESS":
			return igError(9007, 2207027, "The media "+id+" is not ready.")
		default:
			return igError(24, 2207008, "The media "+id+" failed or has expired.")
		}
		ct.parts = append(ct.parts, p)
	}
	ct.need = c.sim.Knobs().ImagePolls
	return nil
}

// fetchImage really gets the picture; a bad one is refused at once.
func (ig *instagram) fetchImage(c *call, ct *container, address string) *reply {
	b, err := c.pull(address, igImage)
	if err != nil {
		return igError(9004, 2207052, "The media could not be fetched from this URI.")
	}
	switch {
	case b.size > igImage, ct.kind == "STORIES" && b.size > igPicture:
		return igError(36000, 2207004, "The image is larger than 8 MiB.")
	case b.mime != "image/jpeg" || !b.whole() || b.several():
		return igError(36001, 2207005, "The image format is not supported: JPEG is.")
	case ct.kind == "IMAGE" && !b.shaped(0.8, 1.91):
		return igError(36003, 2207009, fmt.Sprintf("The aspect ratio of %d x %d is not between 4:5 and 1.91:1.", b.width, b.height))
	}
	ct.media = []Media{c.keepMedia(b, c.params.get("alt_text"))}
	return nil
}

// fetchVideo gets the film; what is wrong with it shows when the container is
// asked for.
func (ig *instagram) fetchVideo(c *call, ct *container, address string) {
	b, err := c.pull(address, igVideo)
	if err != nil {
		ct.failed = "Error: The media could not be fetched from this URI. Subcode 2207052"
		return
	}
	ct.takeVideo(c, b)
}

// shaped says whether a picture's width is to its height as the bounds allow,
// with the half percent that 1200 x 628 needs.
func (b blob) shaped(least, most float64) bool {
	shape := float64(b.width) / float64(b.height)
	return shape >= least*0.995 && shape <= most*1.005
}

func (ct *container) takeVideo(c *call, b blob) {
	limit, most := int64(igVideo), 15*time.Minute
	if ct.kind == "STORIES" {
		limit, most = igStory, time.Minute
	}
	switch {
	case b.long > most, b.long > 0 && b.long < 3*time.Second:
		ct.failed = fmt.Sprintf("Error: The video has to last 3 s to %s. Subcode 2207026", most)
	case b.width > 1920, b.width > 0 && !b.shaped(0.01, 10):
		ct.failed = fmt.Sprintf("Error: %d x %d pixels are not supported. Subcode 2207026", b.width, b.height)
	case b.mime != "video/mp4" && b.mime != "video/quicktime":
		ct.failed = "Error: The video format is not supported. Subcode 2207026"
	case b.size > limit:
		ct.failed = "Error: The video is too large. Subcode 2207026"
	default:
		ct.media = []Media{c.keepMedia(b, "")}
	}
}

// state is what the container is now, and its text. owner.mu is held.
func (ct *container) state(c *call) (code, text string) {
	switch {
	case ct.becomes != nil:
		return "PUBLISHED", "Published: Media has been successfully published."
	case ct.failed != "" && ct.code != "":
		return ct.code, ct.failed
	case ct.failed != "":
		return "ERROR", ct.failed
	case c.now.Sub(ct.born) >= 24*time.Hour:
		return "EXPIRED", "Expired: The container was not published within 24 hours."
	case ct.await, ct.polls < ct.need, c.sim.faults.expects(c, kindSet{AsyncPending: ""}):
		return "IN_PROGRESS", "In Progress: Media is still being processed."
	}
	return "FINISHED", "Finished: Media has been uploaded and it is ready to be published."
}

// look is a poll of a container: the answer, and one look more on the clock.
func (ct *container) look(c *call) (code, text string) {
	f := c.sim.faults.take(c, asyncKinds)
	ct.owner.mu.Lock()
	defer ct.owner.mu.Unlock()
	if f == nil {
		code, text = ct.state(c)
		ct.polls++
		return code, text
	}
	c.outcome = string(f.Kind)
	if f.Kind == AsyncPending {
		return "IN_PROGRESS", "In Progress: Media is still being processed."
	}
	if ct.becomes == nil {
		ct.end(f)
	}
	return ct.state(c)
}

// end makes the container fail as the fault says: with Body as its text, as
// expired, or, with status 404, gone. owner.mu is held.
func (ct *container) end(f *Fault) {
	ct.failed = "Error: The video format is not supported. Subcode 2207026"
	if len(ct.media) > 0 && ct.media[0].Kind == "image" {
		ct.failed = "Error: The image format is not supported: JPEG is. Subcode 2207005"
	}
	switch {
	case f.Status == http.StatusNotFound:
		ct.gone = true
	case strings.EqualFold(strings.TrimSpace(f.Body), "expired"):
		ct.code, ct.failed = "EXPIRED", "Expired: The container was not published within 24 hours."
	case f.Body != "":
		ct.failed = "Error: " + strings.TrimPrefix(f.Body, "Error: ")
	}
}
