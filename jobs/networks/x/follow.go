package x

import (
	"context"
	"strconv"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

func part(i int) string { return "part." + strconv.Itoa(i) }

const (
	comment = "comment"
	settle  = 90 * time.Second // until the account's list surely has a new post
	slack   = 2 * time.Minute
)

// Follow writes the posts of a thread after the first, each as an answer to the
// one before, and then the first comment. Each is written once: it goes on where
// an earlier run stopped, and looks before it repeats what may be there.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if r.Permalink == "" && r.ExternalID != "" {
		r.Permalink = a.permalink(job.Account, r.ExternalID)
	}
	last := r.ExternalID
	for i, text := range parts(job) {
		if i == 0 {
			continue
		}
		id, err := a.answer(ctx, job, h, part(i), last, text)
		if err != nil {
			return r, err
		}
		last = id
	}
	if job.Post.FirstComment != "" {
		if _, err := a.answer(ctx, job, h, comment, last, job.Post.FirstComment); err != nil {
			return r, err
		}
	}
	return r, nil
}

// answer writes an answer to a post, once.
func (a *Adapter) answer(ctx context.Context, job networks.Job, h networks.Handles, name, to, text string) (string, error) {
	return networks.Once{
		Handles: h, Name: name, Now: a.now, Settle: settle,
		Write: func(ctx context.Context) (string, error) {
			id, _, err := a.create(ctx, job, httpx.FollowUp, chosen(job, post{Text: text, Reply: &reply{To: to}}))
			return id, err
		},
		Look: func(ctx context.Context, since time.Time) (id string, err error) {
			_, err = a.list(ctx, job, httpx.FollowUp, since.Add(-slack), a.now().Add(slack), func(p listed) bool {
				if p.answered() == to && p.reads(text) {
					id = p.ID
				}
				return id == ""
			})
			return id, err
		},
	}.Do(ctx)
}
