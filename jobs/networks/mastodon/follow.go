package mastodon

import (
	"context"
	"net/http"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

// Follow writes the first comment, as a reply, and fills in a permalink that the
// commit did not give. The comment has a client key of its own; once that no
// longer counts, the reply is looked for before it is written again.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if job.Post.FirstComment != "" && h.Get(comment) == "" {
		if err := a.reply(ctx, job, r.ExternalID, h); err != nil {
			return r, err
		}
	}
	if r.Permalink != "" {
		return r, nil
	}
	s, err := a.show(ctx, job, httpx.FollowUp, r.ExternalID)
	if err != nil {
		return r, err
	}
	r.Permalink = s.address()
	return r, nil
}

func (a *Adapter) reply(ctx context.Context, job networks.Job, to string, h networks.Handles) error {
	began, ok := parseStamp(h.Get(commentBegan))
	if ok && a.now().Sub(began) >= keyHolds {
		s := search{a: a, job: job, step: httpx.FollowUp, want: commentOf(job), replyTo: to,
			window: networks.Window{Since: began.Add(-slack), Until: a.now().Add(slack)}}
		if err := s.run(ctx); err != nil {
			return err
		}
		if len(s.found) > 0 {
			return save(ctx, h, comment, s.found[0].ID)
		}
	}
	if !ok {
		if err := save(ctx, h, commentBegan, stamp(a.now())); err != nil {
			return err
		}
	}
	return a.writeReply(ctx, job, to, h)
}

func (a *Adapter) writeReply(ctx context.Context, job networks.Job, to string, h networks.Handles) error {
	form := commentOf(job).form()
	form.Set("in_reply_to_id", to)
	c := call{job: job, step: httpx.FollowUp, method: http.MethodPost, path: "/api/v1/statuses", form: form, key: clientKey(job.Key + " comment")}
	var made posted
	answer, err := a.do(ctx, c, &made)
	if err != nil {
		return err
	}
	if made.ID == "" {
		return httpx.Unparsable(httpx.FollowUp, answer)
	}
	return save(ctx, h, comment, made.ID)
}
