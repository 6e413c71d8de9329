package instagram

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// Follow reads the post's address and writes the first comment, each unless
// done. What one of them could not do does not keep the other from being tried.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	r, noLink := a.address(ctx, job, r)
	return r, errors.Join(noLink, a.comment(ctx, job, r, h))
}

// address reads the permalink, which cannot be made from the id. A post that is
// not visible yet is Transient.
func (a *Adapter) address(ctx context.Context, job networks.Job, r networks.Receipt) (networks.Receipt, error) {
	if r.Permalink != "" {
		return r, nil
	}
	c := call(job, httpx.FollowUp, http.MethodGet, url.PathEscape(r.ExternalID))
	c.Query = url.Values{"fields": {"id,permalink"}}
	var m media
	answer, err := a.door(job.Account).Do(ctx, c, &m)
	if gone(err) {
		f := *fault.Of(err)
		f.Kind, f.Say = fault.Transient, "Instagram does not show the post's address yet."
		return r, &f
	}
	if err == nil && m.Permalink == "" {
		err = httpx.Unparsable(httpx.FollowUp, answer)
	}
	r.Permalink = m.Permalink
	return r, err
}

func (a *Adapter) comment(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) error {
	if job.Post.FirstComment == "" || job.Post.Format == network.FormatStory {
		return nil
	}
	c := call(job, httpx.FollowUp, "", "")
	return graph.Comment(ctx, a.door(job.Account), c, url.PathEscape(r.ExternalID)+"/comments", job.Post.FirstComment, h)
}
