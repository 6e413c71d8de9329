package facebook

import (
	"context"
	"errors"
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

// address reads the permalink. For a short while after it was made Facebook
// does not find a post: that is Transient. If Facebook will not say, the address
// is made from the id.
func (a *Adapter) address(ctx context.Context, job networks.Job, r networks.Receipt) (networks.Receipt, error) {
	if r.Permalink != "" {
		return r, nil
	}
	link, err := a.permalink(ctx, job, r.ExternalID)
	switch f := fault.Of(err); {
	case graph.Missing(err):
		return r, &fault.Fault{Kind: fault.Transient, Code: f.Code, Status: f.Status, RequestID: f.RequestID, Say: "Facebook does not show the post's address yet."}
	case f != nil && f.Kind != fault.Validation && f.Kind != fault.Permission:
		return r, f
	case link == "":
		link = made(job.Post.Format, r.ExternalID)
	}
	r.Permalink = absolute(link)
	return r, nil
}

func (a *Adapter) permalink(ctx context.Context, job networks.Job, id string) (string, error) {
	if job.Post.Format == network.FormatStory {
		stories, _, err := a.stories(ctx, job, httpx.FollowUp, func(s story) bool { return string(s.PostID) == id })
		if err != nil || len(stories) == 0 {
			return "", err
		}
		return stories[0].URL, nil
	}
	var post created
	_, err := a.door.Do(ctx, a.read(job, httpx.FollowUp, id, "id,permalink_url"), &post)
	return post.Permalink, err
}

// made is the address that a post has if Facebook does not tell another.
func made(format network.Format, id string) string {
	if format == network.FormatReel {
		return "https://www.facebook.com/reel/" + url.PathEscape(id)
	}
	return "https://www.facebook.com/" + url.PathEscape(id)
}

func (a *Adapter) comment(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) error {
	if job.Post.FirstComment == "" || job.Post.Format == network.FormatStory {
		return nil
	}
	c := graph.Call{Step: httpx.FollowUp, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token}
	return graph.Comment(ctx, &a.door, c, url.PathEscape(r.ExternalID)+"/comments", job.Post.FirstComment, h)
}
