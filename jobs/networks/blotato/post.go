package blotato

import (
	"strconv"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
)

// body is a new post. Without a time it goes out at once.
func body(job networks.Job, handles map[string]string) map[string]any {
	n, _ := entry(job.Account.Network)
	word := wire(job)
	urls := []string{}
	for i := range job.Post.Media {
		urls = append(urls, handles[networks.MediaHandle(i)])
	}
	w := &writer{net: n.With(job.Account.Settings), job: job, out: map[string]any{"targetType": word}}
	if tell := targets[job.Account.Network]; tell != nil {
		tell(w)
	}
	return map[string]any{"post": map[string]any{
		"accountId": job.Account.RemoteID, "target": w.out,
		"content": map[string]any{"text": n.Body(network.Draft{Text: job.Post.Text, Link: job.Post.Link}), "mediaUrls": urls, "platform": word},
	}}
}

// wire is what Blotato's posts call the account's network.
func wire(job networks.Job) string {
	name, _ := network.WireName(job.Account.Network, network.Blotato)
	return strings.ToLower(name)
}

// writer says how a network shows the post.
type writer struct {
	net *network.Network
	job networks.Job
	out map[string]any
}

// targets are what each network is told; the others are told nothing.
var targets = map[network.Name]func(*writer){
	network.Facebook:  (*writer).facebook,
	network.Instagram: (*writer).instagram,
	network.LinkedIn:  (*writer).linkedin,
	network.TikTok:    (*writer).tiktok,
	network.Pinterest: (*writer).pinterest,
	network.Threads:   (*writer).threads,
	network.YouTube:   (*writer).youtube,
}

func (w *writer) value(key string) string {
	return w.net.Value(network.Draft{Options: w.job.Post.Options}, key)
}
func (w *writer) on(key string) bool { return w.value(key) == "true" }

// set tells what was chosen, and leaves out what was not.
func (w *writer) set(name, value string) {
	if value != "" {
		w.out[name] = value
	}
}

func (w *writer) facebook() {
	w.out["pageId"] = w.job.Account.Settings["page_id"]
	w.set("mediaType", map[network.Format]string{network.FormatReel: "reel", network.FormatStory: "story", network.FormatVideo: "video"}[w.job.Post.Format])
	w.set("link", w.job.Post.Link)
}

func (w *writer) instagram() {
	w.set("mediaType", map[network.Format]string{network.FormatReel: "reel", network.FormatStory: "story"}[w.job.Post.Format])
	w.set("altText", w.job.Post.Media[0].Alt)
	if w.job.Post.Format == network.FormatReel {
		w.out["shareToFeed"] = w.on(network.OptShareToFeed)
	}
	if names := network.Names(w.value(network.OptCollaborators)); names != nil {
		w.out["collaborators"] = names
	}
}

func (w *writer) linkedin() { w.set("pageId", w.job.Account.Settings["page_id"]) }

func (w *writer) tiktok() {
	disclose := w.value(network.OptDisclose)
	w.out["privacyLevel"] = w.value(network.OptPrivacy)
	w.out["disabledComments"], w.out["disabledDuet"], w.out["disabledStitch"] = !w.on(network.OptComments), !w.on(network.OptDuet), !w.on(network.OptStitch)
	w.out["isBrandedContent"] = disclose == "paid" || disclose == "both"
	w.out["isYourBrand"] = disclose == "own" || disclose == "both"
	w.out["isAiGenerated"] = w.on(network.OptSynthetic)
	if w.job.Post.Format == network.FormatVideo {
		return
	}
	w.set("title", w.value(network.OptTitle))
	w.out["autoAddMusic"] = w.on(network.OptMusic)
	if cover, err := strconv.Atoi(w.value(network.OptCoverPicture)); err == nil && cover > 0 {
		w.out["imageCoverIndex"] = cover - 1
	}
}

func (w *writer) pinterest() {
	w.out["boardId"] = w.value(network.OptBoard)
	w.set("title", w.value(network.OptTitle))
	w.set("altText", w.job.Post.Media[0].Alt)
	w.set("link", w.job.Post.Link)
}

func (w *writer) threads() {
	if r := w.value(network.OptReplies); r != "everyone" {
		w.set("replyControl", r)
	}
}

func (w *writer) youtube() {
	w.out["title"], w.out["privacyStatus"] = w.value(network.OptTitle), w.value(network.OptPrivacy)
	w.out["shouldNotifySubscribers"] = w.on(network.OptNotify)
	w.out["isMadeForKids"], w.out["containsSyntheticMedia"] = w.on(network.OptForKids), w.on(network.OptSynthetic)
}
