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
	post network.Draft
	net  *network.Network
	job  networks.Job
	ids  []string
	out  map[string]any
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
	n, _ := entry(job.Account.Network)
	w := &writer{post: network.Draft{Options: job.Post.Options}, net: n.With(job.Account.Settings), job: job, out: map[string]any{"text": text(job)}}
	for i := range job.Post.Media {
		w.ids = append(w.ids, handles[networks.MediaHandle(i)])
	}
	if len(w.ids) > 0 {
		w.out["uploadIds"] = w.ids
	}
	parts[job.Account.Network](w)
	return w.out
}

// text is the post's text, with the link below it where the network has no other
// place for one.
func text(job networks.Job) string {
	n, _ := entry(job.Account.Network)
	return n.Body(network.Draft{Text: job.Post.Text, Link: job.Post.Link})
}

func (w *writer) value(key string) string { return w.net.Value(w.post, key) }
func (w *writer) on(key string) bool      { return w.value(key) == "true" }

// set tells what was chosen, and leaves out what was not.
func (w *writer) set(name, value string) {
	if value != "" {
		w.out[name] = value
	}
}

// kind is how Facebook and Instagram show the post.
func (w *writer) kind() {
	w.out["type"] = map[network.Format]string{network.FormatReel: "REEL", network.FormatStory: "STORY"}[w.job.Post.Format]
	if w.out["type"] == "" {
		w.out["type"] = "POST"
	}
}

// described names the files one by one, if one of them has an alt text.
func (w *writer) described(name string) {
	var items []map[string]string
	alt := false
	for i, m := range w.job.Post.Media {
		item := map[string]string{"uploadId": w.ids[i]}
		if m.Alt != "" {
			item["altText"], alt = m.Alt, true
		}
		items = append(items, item)
	}
	if alt {
		w.out[name] = items
	}
}

var replies = map[string]string{"everyone": "EVERYONE", "following": "FOLLOWING", "mentionedUsers": "MENTIONED_USERS", "subscribers": "SUBSCRIBERS", "verified": "VERIFIED"}

func (w *writer) x() {
	if r := w.value(network.OptReplies); r != "everyone" {
		w.set("replySettings", replies[r])
	}
	if w.on(network.OptMadeByAI) {
		w.out["isAiGenerated"] = true
	}
}

func (w *writer) facebook() {
	w.kind()
	w.described("mediaItems")
	w.set("link", w.job.Post.Link)
	w.set("mediaTitle", w.value(network.OptTitle))
}

func (w *writer) instagram() {
	w.kind()
	if len(w.job.Post.Media) == 1 {
		w.set("altText", w.job.Post.Media[0].Alt)
	} else {
		w.described("carouselItems")
	}
	if w.job.Post.Format != network.FormatReel {
		w.collaborators()
		return
	}
	w.out["shareToFeed"] = w.on(network.OptShareToFeed)
	w.number("thumbnailOffset", network.OptThumbOffset)
	w.collaborators()
}

func (w *writer) collaborators() {
	if names := network.Names(w.value(network.OptCollaborators)); names != nil {
		w.out["collaborators"] = names
	}
}

func (w *writer) number(name, key string) {
	if v, err := strconv.Atoi(w.value(key)); err == nil {
		w.out[name] = v
	}
}

func (w *writer) threads() {
	w.described("mediaItems")
	w.set("linkAttachment", w.job.Post.Link)
	w.set("topicTag", w.value(network.OptTopic))
	if r := w.value(network.OptReplies); r != "everyone" {
		w.set("replyControl", r)
	}
}

func (w *writer) linkedin() {
	w.set("link", w.job.Post.Link)
	w.set("mediaTitle", w.value(network.OptTitle))
	w.set("privacy", w.value(network.OptVisibility))
	if !w.on(network.OptReshare) {
		w.out["disableReshare"] = true
	}
}

func (w *writer) tiktok() {
	disclose := w.value(network.OptDisclose)
	w.set("privacy", w.value(network.OptPrivacy))
	w.out["disableComments"] = !w.on(network.OptComments)
	w.out["isBrandContent"] = disclose == "paid" || disclose == "both"
	w.out["isOrganicBrandContent"] = disclose == "own" || disclose == "both"
	w.out["type"] = "IMAGE"
	if w.job.Post.Format != network.FormatVideo {
		w.out["autoAddMusic"] = w.on(network.OptMusic)
		if cover, err := strconv.Atoi(w.value(network.OptCoverPicture)); err == nil && cover > 0 {
			w.out["photoCoverIndex"] = cover - 1
		}
		return
	}
	w.out["type"] = "VIDEO"
	w.out["disableDuet"], w.out["disableStitch"], w.out["isAiGenerated"] = !w.on(network.OptDuet), !w.on(network.OptStitch), w.on(network.OptSynthetic)
	w.number("thumbnailOffset", network.OptThumbOffset)
}

// youtube: what Bundle.social calls the text is the title.
func (w *writer) youtube() {
	w.out["type"], w.out["description"] = "VIDEO", w.out["text"]
	w.out["text"] = w.value(network.OptTitle)
	w.set("privacy", strings.ToUpper(w.value(network.OptPrivacy)))
	w.set("defaultLanguage", w.value(network.OptLanguage))
	w.out["madeForKids"], w.out["containsSyntheticMedia"] = w.on(network.OptForKids), w.on(network.OptSynthetic)
}

// pinterest: as with YouTube, the text is the title.
func (w *writer) pinterest() {
	w.out["description"] = w.out["text"]
	w.out["text"], w.out["boardName"] = w.value(network.OptTitle), w.value(network.OptBoard)
	w.set("link", w.job.Post.Link)
	w.set("altText", w.job.Post.Media[0].Alt)
}

func (w *writer) mastodon() {
	w.set("privacy", strings.ToUpper(w.value(network.OptVisibility)))
	w.set("spoiler", w.value(network.OptSpoiler))
}

func (w *writer) bluesky() {
	w.set("externalUrl", w.job.Post.Link)
	w.set("externalTitle", w.value(network.OptLinkTitle))
	w.set("externalDescription", w.value(network.OptLinkWords))
	if l := w.value(network.OptLabel); l != "" && l != "none" {
		w.out["labels"] = []string{l}
	}
	if w.job.Post.Format == network.FormatVideo {
		w.set("videoAlt", w.job.Post.Media[0].Alt)
	}
}
