package bluesky

import (
	"context"
	"encoding/json"
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
	return networks.Finding{Verdict: networks.Found, Receipt: a.receipt(job, s.URI, ""),
		Say: "The account's server has a post at the key that was chosen for this one."}, nil
}
