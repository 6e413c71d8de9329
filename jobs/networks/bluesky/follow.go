package bluesky

import (
	"context"
	"strconv"
	"strings"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

func part(i int) string { return "part." + strconv.Itoa(i) }

const comment = "comment"

// Follow writes the posts of a thread after the first, each as an answer to the
// one before, and then the first comment, each at a key of its own; and it fills
// in an address that is missing.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if r.Permalink == "" && r.ExternalID != "" {
		r.Permalink = a.permalink(r.ExternalID)
	}
	list := owes(job)
	if len(list) == 0 || h.Get(list[len(list)-1].name) != "" {
		return r, nil
	}
	root, found, err := a.get(ctx, job, httpx.FollowUp, h.Get(rkey))
	switch {
	case err != nil:
		return r, err
	case !found:
		return r, fault.New(fault.Validation, recordGone, "The post is no longer there, so nothing can answer it.")
	}
	return r, a.answers(ctx, job, h, list, root.written)
}

// owed is one record that follows the post.
type owed struct{ name, text string }

// owes are the answers of a job, in their order.
func owes(job networks.Job) (list []owed) {
	for i, text := range parts(job)[1:] {
		list = append(list, owed{part(i + 1), text})
	}
	if job.Post.FirstComment != "" {
		list = append(list, owed{comment, job.Post.FirstComment})
	}
	return list
}

func (a *Adapter) answers(ctx context.Context, job networks.Job, h networks.Handles, list []owed, root written) error {
	last := root
	for _, one := range list {
		made, err := a.answer(ctx, job, h, one, reply{Root: root, Parent: last})
		if err != nil {
			return err
		}
		last = made
	}
	return nil
}

// answer writes one, unless an earlier run did. Writing it again is harmless, so
// there is nothing to look up after an answer that was lost.
func (a *Adapter) answer(ctx context.Context, job networks.Job, h networks.Handles, one owed, to reply) (written, error) {
	if uri, cid, ok := strings.Cut(h.Get(one.name), " "); ok {
		return written{URI: uri, CID: cid}, nil
	}
	key := h.Get(one.name + "." + rkey)
	if key == "" {
		key = tid(a.now(), job.Key+" "+one.name)
		if err := networks.Keep(ctx, h, one.name+"."+rkey, key); err != nil {
			return written{}, err
		}
	}
	words, err := run{Adapter: a, job: job, h: h}.words(ctx, key, one.text, to)
	if err != nil {
		return written{}, err
	}
	made, _, err := a.put(ctx, job, httpx.FollowUp, key, words)
	if f := fault.Of(err); f != nil && f.Code == "InvalidSwap" { // written before, when a name in it was not known yet
		made, err = a.there(ctx, job, key, f)
	}
	if err != nil {
		return written{}, err
	}
	return made, networks.Keep(ctx, h, one.name, made.URI+" "+made.CID)
}

// there is the record at a key; without one the refusal stands.
func (a *Adapter) there(ctx context.Context, job networks.Job, key string, refusal error) (written, error) {
	s, found, err := a.get(ctx, job, httpx.FollowUp, key)
	if err == nil && !found {
		err = refusal
	}
	return s.written, err
}

// words is the record of an answer.
func (r run) words(ctx context.Context, key, text string, to reply) (string, error) {
	facets, err := r.facets(ctx, text)
	if err != nil {
		return "", err
	}
	return marshal(post{Type: collection, Text: text, Made: made(key), Langs: languages(r.job.Post.Options), Facets: facets, Reply: &to})
}
