package instagram

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// Find asks the container first, then the account's list of posts, as graph.Trace
// does. Without a container nothing was published. A post is known by caption, time
// and type. Where there is no caption, and always for stories, time and type alone do
// not prove a post to be ours; they only name it once the container is published.
// Absent means that the list was read over the whole window and has no post that fits,
// and the caller looks twice.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id := h.Get(container)
	if id == "" {
		return networks.NotThere("No upload was completed, so nothing can be live."), nil
	}
	return graph.Trace{
		Network: "Instagram", Upload: "upload", Words: "caption", Blank: job.Post.Format == network.FormatStory || job.Post.Text == "", Gone: gone,
		Look: func(ctx context.Context) (string, error) {
			p, err := a.progress(ctx, job, httpx.Find, id)
			return p.state(), err
		},
		List: func(ctx context.Context) ([]networks.Receipt, bool, error) { return a.list(ctx, job, w) },
	}.Find(ctx)
}

// list reads the account's posts that fit the job and are nobody else's.
func (a *Adapter) list(ctx context.Context, job networks.Job, w networks.Window) (fits []networks.Receipt, complete bool, err error) {
	span := graph.Span{Since: w.Since, Until: w.Until}
	c := call(job, httpx.Find, http.MethodGet, edge(job, "media"))
	c.Query = url.Values{"fields": {mediaFields}, "limit": {"50"}}
	if job.Post.Format == network.FormatStory {
		c.Path = edge(job, "stories")
	} else {
		c.Query = span.Query(c.Query)
	}
	complete, err = graph.Pages(ctx, a.door(job.Account), c, func(m media) bool {
		in, more := span.See(m.Made)
		if in && m.like(job.Post) && !slices.Contains(w.Taken, string(m.ID)) {
			fits = append(fits, networks.Receipt{ExternalID: string(m.ID), Permalink: m.Permalink})
		}
		return more
	})
	return fits, complete, err
}

// like says whether m can be what the post became.
func (m media) like(p networks.Post) bool {
	if p.Format == network.FormatStory {
		return is(m.Type, kind(p)) && is(m.Product, "STORY")
	}
	if !networks.SameText(m.Caption, p.Text) {
		return false
	}
	switch p.Format {
	case network.FormatReel:
		return is(m.Type, "VIDEO") && m.Product != "STORY"
	case network.FormatCarousel:
		return is(m.Type, "CAROUSEL_ALBUM")
	}
	return is(m.Type, "IMAGE") && m.Product != "STORY"
}

// is says whether a field has a value, as far as it is given.
func is(field, want string) bool { return field == "" || field == want }

func kind(p networks.Post) string {
	if p.Media[0].Kind == network.Video {
		return "VIDEO"
	}
	return "IMAGE"
}
