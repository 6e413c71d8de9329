package instagram

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

const (
	container = graph.ContainerID
	enough    = 2                // publishes of one container before a new one is made
	early     = 10 * time.Second // between two looks in the first minute
)

// containers is the job's way to a container that can be published.
func (a *Adapter) containers(job networks.Job, h networks.Handles) *graph.Containers {
	door := a.door(job.Account)
	b := &graph.Containers{Network: "Instagram", Handles: h, Now: a.now, Step: httpx.Prepare, Early: early, Enough: enough, Gone: gone}
	if job.Post.Format == network.FormatCarousel {
		b.Items = len(job.Post.Media)
	}
	make := func(ctx context.Context, form url.Values) (string, error) {
		c := call(job, httpx.Prepare, http.MethodPost, edge(job, "media"))
		c.Form = form
		return graph.Made(ctx, door, c)
	}
	b.Make = func(ctx context.Context, i int) (string, error) { return make(ctx, childForm(job.Post.Media[i])) }
	b.Whole = func(ctx context.Context, items []string) (string, error) {
		return make(ctx, containerForm(job.Post, items))
	}
	b.Look = func(ctx context.Context, id string) (string, string, error) {
		p, err := a.progress(ctx, job, httpx.Prepare, id)
		return p.state(), p.Status, err
	}
	b.Failed = func(_ context.Context, words string) error { return door.Table.Told(job.Attempt, words) }
	b.Room = func(ctx context.Context) error {
		return graph.Quota(ctx, door, call(job, httpx.Prepare, "", edge(job, "content_publishing_limit")), "Instagram")
	}
	return b
}

// progress reads the state of a container. An answer that says nothing of it is
// none.
func (a *Adapter) progress(ctx context.Context, job networks.Job, step httpx.Step, id string) (p progress, err error) {
	c := call(job, step, http.MethodGet, url.PathEscape(id))
	c.Query = url.Values{"fields": {"status_code,status"}}
	answer, err := a.door(job.Account).Do(ctx, c, &p)
	if err == nil && p == (progress{}) {
		err = httpx.Unparsable(step, answer)
	}
	return p, err
}

// gone says whether err means that a container is not there.
func gone(err error) bool {
	if graph.Missing(err) {
		return true
	}
	f := fault.Of(err)
	return f != nil && (f.Code == "24/2207006" || f.Code == "24/2207008")
}
