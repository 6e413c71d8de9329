package blotato

import (
	"strconv"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
)

// body is a new post. Without a time it goes out at once.
func body(job networks.Job, handles map[string]string) map[string]any {
	word := wire(job)
	urls := []string{}
	for i := range job.Post.Media {
		urls = append(urls, handles[networks.MediaHandle(i)])
	}
	w := &writer{networks.DetailsBy(network.Blotato, job, map[string]any{"targetType": word})}
	if tell := targets[job.Account.Network]; tell != nil {
		tell(w)
	}
	parts := networks.PartsBy(network.Blotato, job)
	content := map[string]any{"text": parts[0], "mediaUrls": urls, "platform": word}
	if len(parts) > 1 {
		content["additionalPosts"] = more(parts[1:])
	}
	return map[string]any{"post": map[string]any{"accountId": job.Account.RemoteID, "target": w.Out, "content": content}}
}

// more are the posts of a thread behind the first, which has the files.
func more(texts []string) (list []any) {
	for _, text := range texts {
		list = append(list, map[string]any{"text": text, "mediaUrls": []string{}})
	}
	return list
}

// wire is what Blotato's posts call the account's network.
func wire(job networks.Job) string {
	name, _ := network.WireName(job.Account.Network, network.Blotato)
	return strings.ToLower(name)
}

// writer says how a network shows the post.
type writer struct{ networks.Details }

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

func (w *writer) facebook() {
	w.Out["pageId"] = w.Job.Account.Settings["page_id"]
	w.Set("mediaType", map[network.Format]string{network.FormatReel: "reel", network.FormatStory: "story", network.FormatVideo: "video"}[w.Job.Post.Format])
	w.Set("link", networks.CardBy(network.Blotato, w.Job))
}

func (w *writer) instagram() {
	w.Set("mediaType", map[network.Format]string{network.FormatReel: "reel", network.FormatStory: "story"}[w.Job.Post.Format])
	w.Set("altText", w.Job.Post.Media[0].Alt)
	if w.Job.Post.Format == network.FormatReel {
		w.Out["shareToFeed"] = w.On(network.OptShareToFeed)
	}
	if names := w.Collaborators(); names != nil {
		w.Out["collaborators"] = names
	}
}

func (w *writer) linkedin() { w.Set("pageId", w.Job.Account.Settings["page_id"]) }

func (w *writer) tiktok() {
	own, paid := w.Disclosed()
	w.Out["privacyLevel"] = w.Value(network.OptPrivacy)
	w.Out["disabledComments"], w.Out["disabledDuet"], w.Out["disabledStitch"] = !w.On(network.OptComments), !w.On(network.OptDuet), !w.On(network.OptStitch)
	w.Out["isBrandedContent"], w.Out["isYourBrand"] = paid, own
	w.Out["isAiGenerated"] = w.On(network.OptSynthetic)
	if w.Job.Post.Format == network.FormatVideo {
		return
	}
	w.Set("title", w.Value(network.OptTitle))
	w.Out["autoAddMusic"] = w.On(network.OptMusic)
	if cover, err := strconv.Atoi(w.Value(network.OptCoverPicture)); err == nil && cover > 0 {
		w.Out["imageCoverIndex"] = cover - 1
	}
}

func (w *writer) pinterest() {
	w.Out["boardId"] = w.Value(network.OptBoard)
	w.Set("title", w.Value(network.OptTitle))
	w.Set("altText", w.Job.Post.Media[0].Alt)
	w.Set("link", w.Job.Post.Link)
}

func (w *writer) threads() {
	if r := w.Value(network.OptReplies); r != "everyone" {
		w.Set("replyControl", r)
	}
}

func (w *writer) youtube() {
	w.Out["title"], w.Out["privacyStatus"] = w.Value(network.OptTitle), w.Value(network.OptPrivacy)
	w.Out["shouldNotifySubscribers"] = w.On(network.OptNotify)
	w.Out["isMadeForKids"], w.Out["containsSyntheticMedia"] = w.On(network.OptForKids), w.On(network.OptSynthetic)
}
