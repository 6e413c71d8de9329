package bundle

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"herald/db/network"
	"herald/jobs/networks"
)

// body is a new post, due at once.
func (a *Adapter) body(job networks.Job, handles map[string]string) map[string]any {
	name := wire(job)
	b := map[string]any{
		"teamId": job.Account.RemoteID, "title": title(job.Post), "referenceKey": job.Key, "status": statusScheduled, "postDate": a.soon(),
		"socialAccountTypes": []string{name}, "data": map[string]any{name: part(job, handles)},
	}
	if job.Post.FirstComment != "" {
		b["firstComment"] = map[string]string{name: job.Post.FirstComment}
	}
	return b
}

// title is what the post is called in Bundle.social's own lists.
func title(p networks.Post) string {
	text := strings.Join(strings.Fields(p.Text), " ")
	if text == "" {
		return "Post"
	}
	if utf8.RuneCountInString(text) > 80 {
		text = string([]rune(text)[:79]) + "…"
	}
	return text
}

// writer puts a post together for one network.
type writer struct {
	networks.Details
	ids []string
}

// parts are what each network is told beside text and files.
var parts = map[network.Name]func(*writer){
	network.X:         (*writer).x,
	network.Facebook:  (*writer).facebook,
	network.Instagram: (*writer).instagram,
	network.Threads:   (*writer).threads,
	network.LinkedIn:  (*writer).linkedin,
	network.TikTok:    (*writer).tiktok,
	network.YouTube:   (*writer).youtube,
	network.Pinterest: (*writer).pinterest,
	network.Mastodon:  (*writer).mastodon,
	network.Bluesky:   (*writer).bluesky,
}

// part is the post as its network gets it.
func part(job networks.Job, handles map[string]string) map[string]any {
	w := &writer{Details: networks.DetailsBy(network.Bundle, job, map[string]any{"text": networks.TextBy(network.Bundle, job)})}
	for i := range job.Post.Media {
		w.ids = append(w.ids, handles[networks.MediaHandle(i)])
	}
	if len(w.ids) > 0 {
		w.Out["uploadIds"] = w.ids
	}
	parts[job.Account.Network](w)
	return w.Out
}

// kind is how Facebook and Instagram show the post.
func (w *writer) kind() {
	w.Out["type"] = map[network.Format]string{network.FormatReel: "REEL", network.FormatStory: "STORY"}[w.Job.Post.Format]
	if w.Out["type"] == "" {
		w.Out["type"] = "POST"
	}
}

// described names the files one by one, if one of them has an alt text.
func (w *writer) described(name string) {
	var items []map[string]string
	alt := false
	for i, m := range w.Job.Post.Media {
		item := map[string]string{"uploadId": w.ids[i]}
		if m.Alt != "" {
			item["altText"], alt = m.Alt, true
		}
		items = append(items, item)
	}
	if alt {
		w.Out[name] = items
	}
}

var replies = map[string]string{"everyone": "EVERYONE", "following": "FOLLOWING", "mentionedUsers": "MENTIONED_USERS", "subscribers": "SUBSCRIBERS", "verified": "VERIFIED"}

func (w *writer) x() {
	if r := w.Value(network.OptReplies); r != "everyone" {
		w.Set("replySettings", replies[r])
	}
	if w.On(network.OptMadeByAI) {
		w.Out["isAiGenerated"] = true
	}
}

func (w *writer) facebook() {
	w.kind()
	w.described("mediaItems")
	w.Set("link", networks.CardBy(network.Bundle, w.Job))
	w.Set("mediaTitle", w.Value(network.OptTitle))
}

func (w *writer) instagram() {
	w.kind()
	if len(w.Job.Post.Media) == 1 {
		w.Set("altText", w.Job.Post.Media[0].Alt)
	} else {
		w.described("carouselItems")
	}
	if w.Job.Post.Format != network.FormatReel {
		w.collaborators()
		return
	}
	w.Out["shareToFeed"] = w.On(network.OptShareToFeed)
	w.number("thumbnailOffset", network.OptThumbOffset)
	w.collaborators()
}

func (w *writer) collaborators() {
	if names := w.Collaborators(); names != nil {
		w.Out["collaborators"] = names
	}
}

func (w *writer) number(name, key string) {
	if v, err := strconv.Atoi(w.Value(key)); err == nil {
		w.Out[name] = v
	}
}

func (w *writer) threads() {
	w.described("mediaItems")
	w.Set("linkAttachment", w.Job.Post.Link)
	w.Set("topicTag", w.Value(network.OptTopic))
	if r := w.Value(network.OptReplies); r != "everyone" {
		w.Set("replyControl", r)
	}
}

func (w *writer) linkedin() {
	w.Set("link", w.Job.Post.Link)
	w.Set("mediaTitle", w.Value(network.OptTitle))
	w.Set("privacy", w.Value(network.OptVisibility))
	if !w.On(network.OptReshare) {
		w.Out["disableReshare"] = true
	}
}

func (w *writer) tiktok() {
	own, paid := w.Disclosed()
	w.Set("privacy", w.Value(network.OptPrivacy))
	w.Out["disableComments"] = !w.On(network.OptComments)
	w.Out["isBrandContent"], w.Out["isOrganicBrandContent"] = paid, own
	w.Out["type"] = "IMAGE"
	if w.Job.Post.Format != network.FormatVideo {
		w.Out["autoAddMusic"] = w.On(network.OptMusic)
		if cover, err := strconv.Atoi(w.Value(network.OptCoverPicture)); err == nil && cover > 0 {
			w.Out["photoCoverIndex"] = cover - 1
		}
		return
	}
	w.Out["type"] = "VIDEO"
	w.Out["disableDuet"], w.Out["disableStitch"], w.Out["isAiGenerated"] = !w.On(network.OptDuet), !w.On(network.OptStitch), w.On(network.OptSynthetic)
	w.number("thumbnailOffset", network.OptThumbOffset)
}

// youtube: what Bundle.social calls the text is the title.
func (w *writer) youtube() {
	w.Out["type"], w.Out["description"] = "VIDEO", w.Out["text"]
	w.Out["text"] = w.Value(network.OptTitle)
	w.Set("privacy", strings.ToUpper(w.Value(network.OptPrivacy)))
	w.Set("defaultLanguage", w.Value(network.OptLanguage))
	w.Out["madeForKids"], w.Out["containsSyntheticMedia"] = w.On(network.OptForKids), w.On(network.OptSynthetic)
}

// pinterest: as with YouTube, the text is the title.
func (w *writer) pinterest() {
	w.Out["description"] = w.Out["text"]
	w.Out["text"], w.Out["boardName"] = w.Value(network.OptTitle), w.Value(network.OptBoard)
	w.Set("link", w.Job.Post.Link)
	w.Set("altText", w.Job.Post.Media[0].Alt)
}

func (w *writer) mastodon() {
	w.Set("privacy", strings.ToUpper(w.Value(network.OptVisibility)))
	w.Set("spoiler", w.Value(network.OptSpoiler))
}

func (w *writer) bluesky() {
	w.Set("externalUrl", w.Job.Post.Link)
	w.Set("externalTitle", w.Value(network.OptLinkTitle))
	w.Set("externalDescription", w.Value(network.OptLinkWords))
	if l := w.Value(network.OptLabel); l != "" && l != "none" {
		w.Out["labels"] = []string{l}
	}
	if w.Job.Post.Format == network.FormatVideo {
		w.Set("videoAlt", w.Job.Post.Media[0].Alt)
	}
}
