package threads

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
// does. Without a container nothing was published. A post is known by text, time and
// kind; without a text, time and kind alone do not prove a post to be ours. Absent
// means that the list was read over the whole window and has no post that fits, and
// the caller looks twice.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id := h.Get(container)
	if id == "" {
		return networks.NotThere("No container was completed, so nothing can be live."), nil
	}
	return graph.Trace{
		Network: "Threads", Upload: "container", Words: "text", Blank: parts(job)[0] == "", Gone: gone,
		Look: func(ctx context.Context) (string, error) {
			p, err := a.progress(ctx, job, httpx.Find, id)
			return p.state(), err
		},
		List: func(ctx context.Context) ([]networks.Receipt, bool, error) {
			return a.list(ctx, job, httpx.Find, "threads", w, func(m media) bool { return m.like(job) })
		},
	}.Find(ctx)
}

// list reads those of the account's posts, or of its answers, that fit and are
// nobody else's.
func (a *Adapter) list(ctx context.Context, job networks.Job, step httpx.Step, name string, w networks.Window, like func(media) bool) (fits []networks.Receipt, complete bool, err error) {
	span := graph.Span{Since: w.Since, Until: w.Until}
	c := call(job, step, http.MethodGet, edge(job, name))
	c.Query = span.Query(url.Values{"fields": {mediaFields}, "limit": {"50"}})
	complete, err = graph.Pages(ctx, &a.door, c, func(m media) bool {
		in, more := span.See(m.Made)
		if in && like(m) && !slices.Contains(w.Taken, string(m.ID)) {
			fits = append(fits, networks.Receipt{ExternalID: string(m.ID), Permalink: m.Permalink, More: len(parts(job)) > 1})
		}
		return more
	})
	return fits, complete, err
}

// kinds are what lists call the formats.
var kinds = map[network.Format]string{
	network.FormatText: "TEXT_POST", network.FormatLink: "TEXT_POST", network.FormatImage: "IMAGE",
	network.FormatVideo: "VIDEO", network.FormatCarousel: "CAROUSEL_ALBUM",
}

// like says whether m can be what the post became.
func (m media) like(job networks.Job) bool {
	return (m.Type == "" || m.Type == kinds[job.Post.Format]) && sameText(m.Text, parts(job)[0])
}
