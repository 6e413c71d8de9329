package sim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
)

// ghlMedia is a file of a post, which is fetched from where it is.
type ghlMedia struct {
	URL       string `json:"url"`
	Type      string `json:"type"`
	Caption   string `json:"caption"`
	Thumbnail string `json:"thumbnail"`
	Alt       string `json:"altText"`
}

// ghlBody is a new post. A member that is not here is refused.
type ghlBody struct {
	Accounts  []string        `json:"accountIds"`
	User      string          `json:"userId"`
	By        string          `json:"createdBy"`
	Type      string          `json:"type"`
	Summary   string          `json:"summary"`
	Media     []ghlMedia      `json:"media"`
	Status    string          `json:"status"`
	Date      string          `json:"scheduleDate"`
	Comment   string          `json:"followUpComment"`
	Tags      []string        `json:"tags"`
	Category  string          `json:"categoryId"`
	Bluesky   json.RawMessage `json:"blueskyPostDetails"`
	Facebook  json.RawMessage `json:"facebookPostDetails"`
	Google    json.RawMessage `json:"gmbPostDetails"`
	Instagram json.RawMessage `json:"instagramPostDetails"`
	Pinterest json.RawMessage `json:"pinterestPostDetails"`
	TikTok    json.RawMessage `json:"tiktokPostDetails"`
	YouTube   json.RawMessage `json:"youtubePostDetails"`
}

// ghlDetails are the members of what each network is told; see readMembers.
var ghlDetails = map[string]string{
	"bluesky":   "externalLink:s externalLinkTitle:s externalLinkDescription:s language:s replyTo:s quotePost:s",
	"facebook":  "type:post|story|reel! textFormatPresetId:s",
	"google":    "gmbEventType:STANDARD|EVENT|OFFER! title:s offerTitle:s startDate:o endDate:o termsConditions:s url:s couponCode:s redeemOnlineUrl:s actionType:none|order|book|shop|learn_more|call|sign_up",
	"instagram": "type:post|story|reel! collaborators:o showOnFeed:b",
	"pinterest": "title:s link:s pinterestBoards:a!",
	"tiktok":    "privacyLevel:PUBLIC_TO_EVERYONE|MUTUAL_FOLLOW_FRIENDS|SELF_ONLY! promoteOtherBrand:b enableComment:b enableDuet:b enableStitch:b videoDisclosure:b promoteYourBrand:b",
	"youtube":   "title:s privacyLevel:private|public|unlisted type:video|short!",
}

// ghlTypes are the kinds of file that are taken.
var ghlTypes = []string{"image/jpeg", "image/jpg", "image/png", "image/gif", "video/mp4", "video/mov", "video/webm"}

// ghlTrim is how long a text may be, by the platform that its details name; more is
// cut off without a word.
var ghlTrim = map[string]int{"facebook": 62000, "instagram": 2200, "google": 1500, "tiktok": 150, "pinterest": 500, "youtube": 5000, "bluesky": 300}

func (g *ghl) create(c *call) *reply {
	var v ghlBody
	err := c.object(&v)
	id := ""
	if len(v.Accounts) == 1 {
		id = v.Accounts[0]
	}
	a, no := g.enter(c, id, "socialplanner/post.write")
	if no != nil {
		return no
	}
	return c.do(Commit, a, func() *reply {
		if err != nil {
			return ghlError(http.StatusUnprocessableEntity, []string{err.Error()})
		}
		platform, details, no := v.check()
		if no == nil && ghlCommentTooLong(platform, v.Comment) {
			no = ghlError(http.StatusBadRequest, "followUpComment is too long")
		}
		if no != nil {
			return no
		}
		return g.keep(c, a, v, platform, details)
	})
}

// check finds what is wrong before anything is made, and which platform is told.
func (v ghlBody) check() (platform string, details words, no *reply) {
	switch {
	case len(v.Accounts) != 1:
		return "", nil, ghlError(http.StatusUnprocessableEntity, []string{"accountIds should have one account here"})
	case v.User == "":
		return "", nil, ghlError(http.StatusUnprocessableEntity, []string{"userId should not be empty"})
	case v.User != ghlUser:
		return "", nil, ghlError(http.StatusUnauthorized, "The user does not exist.")
	case !slices.Contains([]string{"post", "story", "reel"}, v.Type):
		return "", nil, ghlError(http.StatusUnprocessableEntity, []string{"type must be one of post, story, reel"})
	case strings.TrimSpace(v.Summary) == "" && len(v.Media) == 0:
		return "", nil, ghlError(http.StatusBadRequest, "Post content or media is required")
	}
	for _, m := range v.Media {
		if m.URL == "" || !slices.Contains(ghlTypes, m.Type) {
			return "", nil, ghlError(http.StatusBadRequest, "media.type must be one of "+strings.Join(ghlTypes, ", "))
		}
	}
	return v.told()
}

// told reads the details of the one platform that has some.
func (v ghlBody) told() (platform string, details words, no *reply) {
	for name, raw := range map[string]json.RawMessage{"bluesky": v.Bluesky, "facebook": v.Facebook, "google": v.Google, "instagram": v.Instagram,
		"pinterest": v.Pinterest, "tiktok": v.TikTok, "youtube": v.YouTube} {
		if raw == nil {
			continue
		}
		read, bad := readMembers(ghlDetails[name], raw)
		if bad != "" || platform != "" {
			return "", nil, ghlError(http.StatusUnprocessableEntity, []string{name + ": " + bad})
		}
		platform, details = name, read
	}
	return platform, details, nil
}

func ghlCommentTooLong(platform, comment string) bool {
	name, _ := network.FromWire(network.GHL, platform)
	n, ok := network.Get(name)
	return comment != "" && (platform == "tiktok" || platform == "google" || ok && units(comment) > n.Comment.Max)
}

// keep makes the post and fetches its files.
func (g *ghl) keep(c *call, a *account, v ghlBody, platform string, details words) *reply {
	e := &entry{Post: Post{Kind: v.Type, Text: trimmed(v.Summary, ghlTrim[platform]), Title: details.text("title"), Link: details.text("link") + details.text("externalLink") + details.text("url"), Time: c.now}, private: map[string]string{}}
	var files []blob
	for _, m := range v.Media {
		f, err := c.pull(m.URL, 1<<30)
		if err != nil {
			e.private["failed"] = "The media could not be fetched"
		}
		files = append(files, f)
	}
	if e.private["failed"] == "" {
		e.private["failed"] = ghlRefused(v, platform, details, files)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	e.ID = strconv.FormatInt(c.sim.next(), 10)
	e.path = ghlPath(e.ID)
	for i, f := range files {
		e.Media = append(e.Media, c.keepMedia(f, v.Media[i].Alt))
		if f.kind == "video" {
			e.private["polls"] = strconv.Itoa(max(c.sim.Knobs().VideoPolls, 0))
		}
	}
	if v.Comment != "" {
		e.Replies = append(e.Replies, Reply{ID: strconv.FormatInt(c.sim.next(), 10), Text: v.Comment, Time: c.now})
	}
	if e.private["failed"] != "" {
		e.gone = c.now
	}
	c.publish(a, e)
	return g.told(c, ghlGood(http.StatusCreated, map[string]any{"post": ghlTell(e, "in_progress")}))
}

// trimmed cuts a text off where the platform's limit is.
func trimmed(text string, most int) string {
	if r := []rune(text); most > 0 && len(r) > most {
		return string(r[:most])
	}
	return text
}

// ghlRefused is what the network has against the files, by the name of its details.
func ghlRefused(v ghlBody, platform string, details words, files []blob) string {
	name, _ := network.FromWire(network.GHL, platform)
	as := v.Type
	if as == "post" {
		as = ""
	}
	switch {
	case slices.ContainsFunc(files, broken):
		return "Unsupported media"
	case against(name, v.Summary, as, details.text("title"), files, func(i int) string { return v.Media[i].Alt }) != "":
		return "The network did not take the media"
	}
	return ""
}

// show tells of a post by its id.
func (g *ghl) show(c *call) *reply {
	e, ok := thing[*entry](c.st.at(ghlName), c.r.PathValue("id"))
	id := ""
	if ok {
		id = e.owner.id
	}
	a, no := g.enter(c, id)
	if no != nil {
		return no
	}
	return c.do(Find, a, func() *reply {
		if !ok {
			return ghlError(http.StatusNotFound, "Post not found")
		}
		work := c.sim.faults.take(c, asyncKinds)
		var out map[string]any
		e.read(func() { out = ghlTell(e, e.state(work, c.now)) })
		return ghlGood(http.StatusOK, map[string]any{"post": out})
	})
}

// state is what has become of the post. owner.mu is held.
func (e *entry) state(work *Fault, now time.Time) string {
	if work != nil && work.Kind == AsyncError && e.private["failed"] == "" {
		e.private["failed"], e.gone = "The media could not be processed", now
	}
	left, _ := strconv.Atoi(e.private["polls"])
	switch {
	case e.private["failed"] != "":
		return "failed"
	case work != nil:
		return "in_progress"
	case left > 0:
		e.private["polls"] = strconv.Itoa(left - 1)
		return "in_progress"
	case e.removed(now):
		return "deleted"
	}
	return "published"
}

// ghlTell is a post as GoHighLevel tells of it.
func ghlTell(e *entry, status string) map[string]any {
	out := map[string]any{"_id": e.ID, "status": status, "summary": e.Text, "type": e.Kind, "accountIds": []string{e.owner.id}, "accountId": e.owner.id, "error": "",
		"createdAt": e.born.UTC().Format("2006-01-02T15:04:05.000Z07:00")}
	switch status {
	case "failed":
		out["error"] = e.private["failed"]
	case "published":
		out["postId"] = e.ID
	}
	return out
}
