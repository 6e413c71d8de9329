package ghl

import (
	"strconv"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
)

// body is a new post. Without a time it goes out at once.
func body(job networks.Job) map[string]any {
	w := &writer{networks.DetailsBy(network.GHL, job, map[string]any{
		"accountIds": []string{job.Account.RemoteID}, "userId": job.Account.Settings[user], "createdBy": job.Account.Settings[user],
		"type": kind(job.Post.Format), "summary": networks.TextBy(network.GHL, job), "media": files(job),
	})}
	if job.Post.FirstComment != "" {
		w.Out["followUpComment"] = job.Post.FirstComment
	}
	if tell := details[job.Account.Network]; tell != nil {
		tell(w)
	}
	return w.Out
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
type writer struct{ networks.Details }

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
	if w.Job.Post.Link != "" && w.Net.Link == network.LinkBeside {
		w.Out["blueskyPostDetails"] = filled(map[string]string{"externalLink": w.Job.Post.Link,
			"externalLinkTitle": w.Value(network.OptLinkTitle), "externalLinkDescription": w.Value(network.OptLinkWords)})
	}
}

func (w *writer) facebook() {
	w.Out["facebookPostDetails"] = map[string]any{"type": kind(w.Job.Post.Format)}
}

func (w *writer) instagram() {
	d := map[string]any{"type": kind(w.Job.Post.Format)}
	if w.Job.Post.Format == network.FormatReel {
		d["showOnFeed"] = w.On(network.OptShareToFeed)
	}
	if names := w.Collaborators(); names != nil {
		d["collaborators"] = map[string][]string{w.Job.Account.RemoteID: names}
	}
	w.Out["instagramPostDetails"] = d
}

func (w *writer) pinterest() {
	d := filled(map[string]string{"title": w.Value(network.OptTitle), "link": w.Job.Post.Link})
	d["pinterestBoards"] = []map[string]any{{"accountId": w.Job.Account.RemoteID, "boards": []string{w.Value(network.OptBoard)}}}
	w.Out["pinterestPostDetails"] = d
}

func (w *writer) tiktok() {
	own, paid := w.Disclosed()
	w.Out["tiktokPostDetails"] = map[string]any{"privacyLevel": w.Value(network.OptPrivacy),
		"enableComment": w.On(network.OptComments), "enableDuet": w.On(network.OptDuet), "enableStitch": w.On(network.OptStitch),
		"videoDisclosure": own || paid, "promoteYourBrand": own, "promoteOtherBrand": paid}
}

func (w *writer) youtube() {
	w.Out["youtubePostDetails"] = map[string]any{"title": w.Value(network.OptTitle), "privacyLevel": w.Value(network.OptPrivacy), "type": "video"}
}

func (w *writer) business() {
	d := map[string]any{"gmbEventType": w.Value(network.OptKind), "actionType": "none"}
	button := strings.ToLower(w.Value(network.OptButton))
	if w.Job.Post.Link != "" {
		d["actionType"], d["url"] = button, w.Job.Post.Link
	} else if button == "call" {
		d["actionType"] = button
	}
	if w.Value(network.OptKind) == "EVENT" {
		d["title"] = w.Value(network.OptEvent)
		d["startDate"], d["endDate"] = moment("start", w.Value(network.OptStarts)), moment("end", w.Value(network.OptEnds))
	}
	w.Out["gmbPostDetails"] = d
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
