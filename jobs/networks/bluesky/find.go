package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// stored is a record as its server has it.
type stored struct {
	written
	Value json.RawMessage `json:"value"`
}

// get reads a record of the account; found is false if there is none.
func (a *Adapter) get(ctx context.Context, job networks.Job, step httpx.Step, key string) (s stored, found bool, err error) {
	c := rest.Call{Step: step, Method: http.MethodGet, Path: "xrpc/com.atproto.repo.getRecord",
		Query: url.Values{"repo": {job.Account.RemoteID}, "collection": {collection}, "rkey": {key}}}
	answer, err := a.do(ctx, job, c, &s)
	if f := fault.Of(err); f != nil && f.Code == recordGone {
		return s, false, nil
	}
	if err == nil && (!ours(job.Account.RemoteID, key, s.URI) || s.CID == "" || len(s.Value) == 0) {
		err = httpx.Unparsable(step, answer)
	}
	return s, err == nil, err
}

// Find asks the account's own server for the record at the key that was chosen
// before the first attempt. The server's answer proves either way: what it has at
// that key is ours, and what it has not was not written, once no call can still
// be on its way, for which the caller looks twice.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	key := h.Get(rkey)
	if key == "" {
		return networks.Finding{Verdict: networks.Absent, Say: "No key was chosen for the post, so nothing can be live."}, nil
	}
	s, found, err := a.get(ctx, job, httpx.Find, key)
	switch {
	case err != nil:
		return networks.Finding{}, err
	case !found:
		return networks.Finding{Verdict: networks.Absent, Say: "The account's server has no post at the key that was chosen for this one."}, nil
	case slices.Contains(w.Taken, s.URI):
		return networks.Finding{Verdict: networks.CantTell, Say: "The post at the key that was chosen for this one is tied to another."}, nil
	}
	return networks.Finding{Verdict: networks.Found, Receipt: networks.Receipt{ExternalID: s.URI, Permalink: a.permalink(s.URI)},
		Say: "The account's server has a post at the key that was chosen for this one."}, nil
}

// The handles of a first comment.
const (
	commentKey = "comment.rkey"
	comment    = "comment"
)

// Follow writes the first comment, as a reply at a key of its own, and fills in
// an address that is missing.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, h networks.Handles) (networks.Receipt, error) {
	if r.Permalink == "" && r.ExternalID != "" {
		r.Permalink = a.permalink(r.ExternalID)
	}
	if job.Post.FirstComment == "" || h.Get(comment) != "" {
		return r, nil
	}
	root, found, err := a.get(ctx, job, httpx.FollowUp, h.Get(rkey))
	switch {
	case err != nil:
		return r, err
	case !found:
		return r, fault.New(fault.Validation, recordGone, "The post is no longer there, so it gets no first comment.")
	}
	return r, a.answer(ctx, job, root.written, h)
}

// answer writes the comment. Writing it again is harmless, so there is nothing to
// look up after an answer that was lost.
func (a *Adapter) answer(ctx context.Context, job networks.Job, root written, h networks.Handles) error {
	key := h.Get(commentKey)
	if key == "" {
		key = tid(a.now(), job.Key+" comment")
		if err := networks.Keep(ctx, h, commentKey, key); err != nil {
			return err
		}
	}
	facets, err := run{Adapter: a, job: job, h: h}.facets(ctx, job.Post.FirstComment)
	if err != nil {
		return err
	}
	words, err := marshal(post{Type: collection, Text: job.Post.FirstComment, Made: made(key), Langs: languages(job.Post.Options),
		Facets: facets, Reply: &reply{Root: root, Parent: root}})
	if err != nil {
		return err
	}
	answered, _, err := a.put(ctx, job, httpx.FollowUp, key, words)
	var f *fault.Fault
	if errors.As(err, &f) && f.Code == "InvalidSwap" { // written before, when a name in it was not known yet
		s, found, err := a.get(ctx, job, httpx.FollowUp, key)
		if err != nil || !found {
			return err
		}
		answered = s.written
	} else if err != nil {
		return err
	}
	return networks.Keep(ctx, h, comment, answered.URI)
}
