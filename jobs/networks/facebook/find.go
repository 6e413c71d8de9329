package facebook

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// storyLife is how long a story is listed for certain: it lives a day, and only
// Pages with an archive list it afterwards.
const storyLife = 23 * time.Hour

// Find looks for the post among what the Page published.
//
// Feed posts and pictures: /published_posts over the window, newest first, page
// by page. A post that holds a picture of ours is ours; else the text (composed
// alike, trimmed), the kind and number of attachments, the link and our app's id
// decide. Two that fit and nothing to tell them apart, or one that fits but for
// the link or the app: can't tell. Absent means that the whole window was read
// and held nothing that fits; Facebook's own lag is why the caller looks twice.
//
// A video that Facebook fetched itself has no id before the commit and is listed
// only when processed, so it can be found but never proved absent. A reel, a
// video story and a video sent in pieces have an id, whose state decides. A
// story is known by the id of its picture or video, for as long as it lives.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	switch post := job.Post; {
	case post.Format == network.FormatStory:
		return a.findStory(ctx, job, h, w)
	case post.Format == network.FormatReel, h.Get(session) != "":
		return a.findVideo(ctx, job, h, w)
	}
	return a.findPost(ctx, job, h, w)
}

// findPost looks through /published_posts.
func (a *Adapter) findPost(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	s := search{job: job, uploads: uploads(job.Post, h), window: w, span: graph.Span{Since: w.Since, Until: w.Until}, app: a.app}
	c := a.call(job, httpx.Find, http.MethodGet, "published_posts")
	c.Query = s.span.Query(url.Values{"limit": {"25"}, "fields": {listFields}})
	complete, err := graph.Pages(ctx, &a.door, c, s.see)
	if err != nil {
		return networks.Finding{}, err
	}
	return s.finding(complete), nil
}

// uploads are the ids of our own pictures and video.
func uploads(p networks.Post, h networks.Handles) (ids []string) {
	names := []string{video}
	for i := range p.Media {
		names = append(names, photo(i))
	}
	for _, name := range names {
		if id := h.Get(name); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// findVideo goes by the state of the upload. Without an upload nothing can have
// been published.
func (a *Adapter) findVideo(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id := h.Get(video)
	if id == "" {
		return absent("No upload was begun, so nothing can be live."), nil
	}
	s, err := a.status(ctx, job, httpx.Find, id)
	switch {
	case graph.Missing(err):
		return a.findListed(ctx, job, id, w)
	case err != nil:
		return networks.Finding{}, err
	case s.published():
		return found(id, "", "Facebook says that the video is published."), nil
	case s.busy():
		return networks.Finding{}, fault.New(fault.Transient, "processing", "Facebook is still working on the video; Herald looks again.")
	case s.failed():
		return absent("Facebook gave up on the video, so it is not live." + s.why()), nil
	case job.Post.Format == network.FormatVideo && s.Status.Publishing.Status != "not_started":
		return a.findPost(ctx, job, h, w) // the state says nothing of publishing
	}
	return absent("Facebook has the video and says that it was not published."), nil
}

// findListed looks for a video that Facebook does not show by its id.
func (a *Adapter) findListed(ctx context.Context, job networks.Job, id string, w networks.Window) (networks.Finding, error) {
	c := a.call(job, httpx.Find, http.MethodGet, "video_reels")
	span := graph.Span{Since: w.Since}
	c.Query = span.Query(url.Values{"limit": {"25"}, "fields": {"id,description,updated_time"}})
	listed := false
	_, err := graph.Pages(ctx, &a.door, c, func(item struct {
		ID graph.ID `json:"id"`
	}) bool {
		listed = string(item.ID) == id
		return !listed
	})
	if err != nil {
		return networks.Finding{}, err
	}
	if listed {
		return found(id, "", "The Page's list of reels has the video."), nil
	}
	return cantTell("Facebook neither shows nor lists the video; it may have been removed."), nil
}

type story struct {
	PostID  graph.ID   `json:"post_id"`
	MediaID graph.ID   `json:"media_id"`
	Made    graph.Time `json:"creation_time"`
	URL     string     `json:"url"`
}

// findStory looks for a story by the id of its picture or video.
func (a *Adapter) findStory(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id := h.Get(photo(0)) + h.Get(video)
	if id == "" {
		return absent("Nothing was uploaded, so nothing can be live."), nil
	}
	if !isPhotoStory(job.Post) {
		s, err := a.status(ctx, job, httpx.Find, id)
		if err == nil && s.busy() {
			return networks.Finding{}, fault.New(fault.Transient, "processing", "Facebook is still working on the video; Herald looks again.")
		}
	}
	stories, complete, err := a.stories(ctx, job, httpx.Find, func(s story) bool { return string(s.MediaID) == id })
	switch {
	case err != nil:
		return networks.Finding{}, err
	case len(stories) > 0:
		return found(string(stories[0].PostID), stories[0].URL, "The Page's list of stories has it."), nil
	case complete && a.now().Sub(w.Since) < storyLife:
		return absent("The Page's list of stories does not have it."), nil
	}
	return cantTell("The story may have ended already, so the Page's list of stories says nothing."), nil
}

// stories reads the Page's stories that fit, up to the first.
func (a *Adapter) stories(ctx context.Context, job networks.Job, step httpx.Step, fits func(story) bool) (list []story, complete bool, err error) {
	c := a.call(job, step, http.MethodGet, "stories")
	c.Query = url.Values{"limit": {"25"}}
	complete, err = graph.Pages(ctx, &a.door, c, func(s story) bool {
		if fits(s) {
			list = append(list, s)
		}
		return len(list) == 0
	})
	return list, complete, err
}

func found(id, link, say string) networks.Finding {
	return networks.Finding{Verdict: networks.Found, Receipt: networks.Receipt{ExternalID: id, Permalink: absolute(link)}, Say: say}
}

func absent(say string) networks.Finding { return networks.Finding{Verdict: networks.Absent, Say: say} }

func cantTell(say string) networks.Finding {
	return networks.Finding{Verdict: networks.CantTell, Say: say}
}

// taken says whether a listed post is tied to another target, under any of its
// ids.
func taken(w networks.Window, ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return id != "" && slices.Contains(w.Taken, id) })
}
