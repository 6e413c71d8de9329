package mastodon

import (
	"context"
	"net/http"
	"strconv"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

func part(i int) string { return "part_" + strconv.Itoa(i) }

// Follow writes the posts of a thread after the first, each as a reply to the one
// before, and then the first comment, and fills in a permalink that the commit did
// not give. Each reply has a client key of its own; once that no longer counts, it
// is looked for before it is written again.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	last := r.ExternalID
	for _, one := range owes(job) {
		id, err := a.reply(ctx, job, h, one, last)
		if err != nil {
			return r, err
		}
		last = id
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

// owed is one reply that follows the post.
type owed struct {
	name string // its handle
	want draft
}

// owes are the replies of a job, in their order.
func owes(job networks.Job) (list []owed) {
	for i, text := range parts(job)[1:] {
		list = append(list, owed{part(i + 1), partOf(job, text)})
	}
	if job.Post.FirstComment != "" {
		list = append(list, owed{comment, commentOf(job)})
	}
	return list
}

// reply writes one, unless an earlier run did, and returns its id.
func (a *Adapter) reply(ctx context.Context, job networks.Job, h networks.Handles, one owed, to string) (string, error) {
	if id := h.Get(one.name); id != "" {
		return id, nil
	}
	began, ok := parseStamp(h.Get(one.name + "_began"))
	if ok && a.now().Sub(began) >= keyHolds {
		s := search{a: a, job: job, step: httpx.FollowUp, want: one.want, replyTo: to,
			window: networks.Window{Since: began.Add(-slack), Until: a.now().Add(slack)}}
		if err := s.run(ctx); err != nil {
			return "", err
		}
		if len(s.found) > 0 {
			return s.found[0].ID, networks.Keep(ctx, h, one.name, s.found[0].ID)
		}
	}
	if !ok {
		if err := networks.Keep(ctx, h, one.name+"_began", stamp(a.now())); err != nil {
			return "", err
		}
	}
	return a.writeReply(ctx, job, h, one, to)
}

func (a *Adapter) writeReply(ctx context.Context, job networks.Job, h networks.Handles, one owed, to string) (string, error) {
	form := one.want.form()
	form.Set("in_reply_to_id", to)
	c := call{job: job, step: httpx.FollowUp, method: http.MethodPost, path: "/api/v1/statuses", form: form, key: clientKey(job.Key + " " + one.name)}
	var made posted
	answer, err := a.do(ctx, c, &made)
	if err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", httpx.Unparsable(httpx.FollowUp, answer)
	}
	return made.ID, networks.Keep(ctx, h, one.name, made.ID)
}
