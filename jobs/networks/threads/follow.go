package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

func part(i int) string { return "part." + strconv.Itoa(i) }

const (
	comment = "comment"
	settle  = 90 * time.Second // until the account's list surely has a new answer
	slack   = 2 * time.Minute
)

// Follow reads the post's address, and writes the posts of a thread after the
// first, each as an answer to the one before, and then the first comment. What
// the address could not do does not keep the rest from being tried.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	r, noLink := a.address(ctx, job, r)
	return r, errors.Join(noLink, a.answers(ctx, job, r.ExternalID, h))
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
	answer, err := a.do(ctx, c, &m)
	if gone(err) {
		f := *fault.Of(err)
		f.Kind, f.Say = fault.Transient, "Threads does not show the post's address yet."
		return r, &f
	}
	if err == nil && m.Permalink == "" {
		err = httpx.Unparsable(httpx.FollowUp, answer)
	}
	r.Permalink = m.Permalink
	return r, err
}

func (a *Adapter) answers(ctx context.Context, job networks.Job, last string, h networks.Handles) error {
	texts := parts(job)[1:]
	names := make([]string, len(texts))
	for i := range texts {
		names[i] = part(i + 1)
	}
	if job.Post.FirstComment != "" {
		texts, names = append(texts, job.Post.FirstComment), append(names, comment)
	}
	var made []string
	for i, text := range texts {
		id, err := a.answer(ctx, job, h, names[i], last, text, made)
		if err != nil {
			return err
		}
		last, made = id, append(made, id)
	}
	return nil
}

// answer writes an answer to a post, once. made are those that are known to be
// other answers, since two may read the same.
func (a *Adapter) answer(ctx context.Context, job networks.Job, h networks.Handles, name, to, text string, made []string) (string, error) {
	if id := h.Get(name); id != "" {
		return id, nil
	}
	b := a.build(job, h, httpx.FollowUp, name+".", answerForm(job, to, text))
	return networks.Once{
		Handles: h, Name: name, Now: a.now, Settle: settle,
		Write: func(ctx context.Context) (string, error) {
			id, _, err := a.publish(ctx, job, httpx.FollowUp, h.Get(b.Prefix+container))
			return id, unseen(err)
		},
		Look: func(ctx context.Context, since time.Time) (string, error) { return b.find(ctx, since, text, made) },
		Ready: func(ctx context.Context) error {
			_, err := b.Ready(ctx)
			return unseen(err)
		},
	}.Do(ctx)
}

// unseen makes a "not found" about what we have just made something that may be
// tried again: for a while Threads does not find it.
func unseen(err error) error {
	if !gone(err) {
		return err
	}
	f := *fault.Of(err)
	f.Kind, f.Say = fault.Transient, "Threads does not find the post yet; Herald tries again."
	return &f
}

// find looks for an answer that may have been published. One whose container is
// published is only waited for.
func (b *build) find(ctx context.Context, since time.Time, text string, made []string) (string, error) {
	w := networks.Window{Since: since.Add(-slack), Until: b.Now().Add(slack), Taken: made}
	fits, _, err := b.list(ctx, b.job, httpx.FollowUp, "replies", w, func(m media) bool { return sameText(m.Text, text) })
	if err != nil || len(fits) > 0 {
		return firstOf(fits), err
	}
	p, err := b.progress(ctx, b.job, httpx.FollowUp, b.Handles.Get(b.Prefix+container))
	if gone(err) {
		return "", nil
	}
	if err == nil && p.state() == graph.Published {
		err = fault.New(fault.Transient, "not_listed", "Threads says that the answer is published but does not list it yet; Herald looks again.")
	}
	return "", err
}

func firstOf(fits []networks.Receipt) string {
	if len(fits) == 0 {
		return ""
	}
	return fits[0].ExternalID
}
