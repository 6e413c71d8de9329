package facebook

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// created is what the calls that make something answer. Which id stands for
// the post depends on the call.
type created struct {
	ID        graph.ID `json:"id"`
	PostID    graph.ID `json:"post_id"`
	Permalink string   `json:"permalink_url"`
	Success   bool     `json:"success"`
}

// commitCall is the call that makes the post public.
func (a *Adapter) commitCall(ready networks.Ready) graph.Call {
	job := ready.Job
	switch post := job.Post; {
	case post.Format == network.FormatImage:
		return a.photo(job, httpx.Commit, 0, true)
	case isPhotoStory(post):
		return a.publish(job, "photo_stories", url.Values{"photo_id": {ready.Handles[photo(0)]}})
	case post.Format == network.FormatReel, post.Format == network.FormatStory:
		return a.publish(job, reelEdge(post), a.finishReel(ready))
	case post.Format == network.FormatVideo && ready.Handles[session] != "":
		return a.publish(job, "videos", described(post, url.Values{"upload_phase": {"finish"}, "upload_session_id": {ready.Handles[session]}}))
	case post.Format == network.FormatVideo:
		return a.publish(job, "videos", described(post, url.Values{"file_url": {post.Media[0].URL}, "published": {"true"}}))
	}
	c := a.publish(job, "feed", feed(ready))
	c.Query = url.Values{"fields": {"id,permalink_url"}}
	return c
}

func (a *Adapter) publish(job networks.Job, edge string, form url.Values) graph.Call {
	c := a.call(job, httpx.Commit, http.MethodPost, edge)
	c.Form = form
	return c
}

// feed is the form of a post in the feed: text, a link, pictures uploaded before.
func feed(ready networks.Ready) url.Values {
	post, form := ready.Job.Post, url.Values{"published": {"true"}}
	message, link := said(post)
	set(form, "message", message)
	set(form, "link", link)
	if post.Format == network.FormatImages {
		for i := range post.Media {
			media, _ := json.Marshal(map[string]string{"media_fbid": ready.Handles[photo(i)]})
			form.Set("attached_media["+strconv.Itoa(i)+"]", string(media))
		}
	}
	return form
}

// said is the text of a post, with the address in it where no card is wanted, and
// the link that a card is shown of.
func said(post networks.Post) (message, link string) {
	if len(post.Media) > 0 {
		return post.Text, ""
	}
	n, _ := network.Get(network.Facebook)
	d := network.Draft{Text: post.Text, Link: post.Link, Options: post.Options}
	if n.LinkOf(d) == network.LinkBeside {
		link = post.Link
	}
	return n.Body(d), link
}

// described adds to a video's form what people read beside it.
func described(post networks.Post, form url.Values) url.Values {
	set(form, "description", post.Text)
	set(form, "title", post.Options[network.OptTitle])
	return form
}

func set(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}

// externalID is the id of the post that the answer proves, or "".
func externalID(ready networks.Ready, made created) string {
	uploaded := ready.Handles[video]
	switch post := ready.Job.Post; {
	case post.Format == network.FormatImage:
		return string(made.PostID)
	case post.Format == network.FormatStory && made.Success && made.PostID != "":
		return string(made.PostID)
	case uploaded != "" && made.Success:
		return uploaded
	case uploaded != "", post.Format == network.FormatStory:
		return ""
	}
	return string(made.ID)
}

// ours says whether an id can be of a post of the page. Ids of posts begin with
// the page's; those of videos and stories stand alone.
func ours(page, id string) bool {
	owner, _, compound := strings.Cut(id, "_")
	return id != "" && (!compound || owner == page)
}

// absolute completes an address: those of videos come without a host.
func absolute(link string) string {
	if strings.HasPrefix(link, "/") {
		return "https://www.facebook.com" + link
	}
	return link
}
