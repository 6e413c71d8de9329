package ghl

import (
	"strconv"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
)

// body is a new post. Without a time it goes out at once.
func body(job networks.Job) map[string]any {
	n, _ := entry(job.Account.Network)
	w := &writer{net: n.With(job.Account.Settings), job: job, out: map[string]any{
		"accountIds": []string{job.Account.RemoteID}, "userId": job.Account.Settings[user], "createdBy": job.Account.Settings[user],
		"type": kind(job.Post.Format), "summary": n.Body(network.Draft{Text: job.Post.Text, Link: job.Post.Link}), "media": files(job),
	}}
	if job.Post.FirstComment != "" {
		w.out["followUpComment"] = job.Post.FirstComment
	}
	if tell := details[job.Account.Network]; tell != nil {
		tell(w)
	}
	return w.out
}

func kind(f network.Format) string {
	switch f {
	case network.FormatReel:
		return "reel"
	case network.FormatStory:
		return "story"
	}
	return "post"
}

func files(job networks.Job) []map[string]string {
	list := []map[string]string{}
	for _, m := range job.Post.Media {
		one := map[string]string{"url": m.URL, "type": mime(m.Type)}
		if m.Alt != "" && m.Kind == network.Image {
			one["altText"] = m.Alt
		}
		list = append(list, one)
	}
	return list
}

// mime is what GoHighLevel calls a type of file.
func mime(t string) string {
	if t == "video/quicktime" {
		return "video/mov"
	}
	return t
}

// wire is what GoHighLevel's posts call the account's network.
func wire(job networks.Job) string {
	name, _ := network.WireName(job.Account.Network, network.GHL)
	return strings.ToLower(name)
}

// writer says how a network shows the post.
type writer struct {
	net *network.Network
	job networks.Job
	out map[string]any
}

// details are what each network is told; the others are told nothing.
var details = map[network.Name]func(*writer){
	network.Bluesky:        (*writer).bluesky,
	network.Facebook:       (*writer).facebook,
	network.GoogleBusiness: (*writer).business,
	network.Instagram:      (*writer).instagram,
	network.Pinterest:      (*writer).pinterest,
	network.TikTok:         (*writer).tiktok,
	network.YouTube:        (*writer).youtube,
}

func (w *writer) value(key string) string {
	return w.net.Value(network.Draft{Options: w.job.Post.Options}, key)
}
func (w *writer) on(key string) bool { return w.value(key) == "true" }

// filled leaves out what was not chosen.
func filled(pairs map[string]string) map[string]any {
	out := map[string]any{}
	for name, value := range pairs {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

func (w *writer) bluesky() {
	if w.job.Post.Link != "" && w.net.Link == network.LinkBeside {
		w.out["blueskyPostDetails"] = filled(map[string]string{"externalLink": w.job.Post.Link,
			"externalLinkTitle": w.value(network.OptLinkTitle), "externalLinkDescription": w.value(network.OptLinkWords)})
	}
}

func (w *writer) facebook() {
	w.out["facebookPostDetails"] = map[string]any{"type": kind(w.job.Post.Format)}
}

func (w *writer) instagram() {
	d := map[string]any{"type": kind(w.job.Post.Format)}
	if w.job.Post.Format == network.FormatReel {
		d["showOnFeed"] = w.on(network.OptShareToFeed)
	}
	if names := network.Names(w.value(network.OptCollaborators)); names != nil {
		d["collaborators"] = map[string][]string{w.job.Account.RemoteID: names}
	}
	w.out["instagramPostDetails"] = d
}

func (w *writer) pinterest() {
	d := filled(map[string]string{"title": w.value(network.OptTitle), "link": w.job.Post.Link})
	d["pinterestBoards"] = []map[string]any{{"accountId": w.job.Account.RemoteID, "boards": []string{w.value(network.OptBoard)}}}
	w.out["pinterestPostDetails"] = d
}

func (w *writer) tiktok() {
	disclose := w.value(network.OptDisclose)
	own, other := disclose == "own" || disclose == "both", disclose == "paid" || disclose == "both"
	w.out["tiktokPostDetails"] = map[string]any{"privacyLevel": w.value(network.OptPrivacy),
		"enableComment": w.on(network.OptComments), "enableDuet": w.on(network.OptDuet), "enableStitch": w.on(network.OptStitch),
		"videoDisclosure": own || other, "promoteYourBrand": own, "promoteOtherBrand": other}
}

func (w *writer) youtube() {
	w.out["youtubePostDetails"] = map[string]any{"title": w.value(network.OptTitle), "privacyLevel": w.value(network.OptPrivacy), "type": "video"}
}

func (w *writer) business() {
	d := map[string]any{"gmbEventType": w.value(network.OptKind), "actionType": "none"}
	button := strings.ToLower(w.value(network.OptButton))
	if w.job.Post.Link != "" {
		d["actionType"], d["url"] = button, w.job.Post.Link
	} else if button == "call" {
		d["actionType"] = button
	}
	if w.value(network.OptKind) == "EVENT" {
		d["title"] = w.value(network.OptEvent)
		d["startDate"], d["endDate"] = moment("start", w.value(network.OptStarts)), moment("end", w.value(network.OptEnds))
	}
	w.out["gmbPostDetails"] = d
}

// moment is a day, as 2026-05-01, with or without a time of day, as 2026-05-01 18:30.
func moment(which, written string) map[string]any {
	day, clock, timed := strings.Cut(written, " ")
	d := map[string]any{which + "Date": numbers([]string{"year", "month", "day"}, day, "-")}
	if timed {
		d[which+"Time"] = numbers([]string{"hours", "minutes", "seconds"}, clock+":00", ":")
	}
	return d
}

func numbers(names []string, written, apart string) map[string]int {
	out := map[string]int{}
	for i, part := range strings.SplitN(written, apart, len(names)) {
		out[names[i]], _ = strconv.Atoi(part)
	}
	return out
}
