// Package bundle publishes through Bundle.social, an aggregator: one API for the
// accounts that are connected in a team there. An account's RemoteID is the team,
// its network says which of the team's accounts is meant, and its token is the
// organisation's key.
//
// Files are uploaded to the team in Prepare, once for all targets of a version that
// go there. Commit makes the post, due at once, under a reference key that is the
// same for the whole logical publish. Bundle.social has then only accepted it: the
// look-up asks by that key until it is posted, and a key that nobody knows is proof
// that nothing was accepted.
//
// Bundle.social tries again by itself, so nothing is sent while it may. Only a post
// that it gave up on is tried once more, and then the same post there is retried:
// there is never a second one, and it knows by itself what a network has already
// taken. What it kept as a draft, since its due time had passed, is given a new one.
// Start with Prepare; post.go has what each network is told.
package bundle

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Adapter publishes through Bundle.social. It is safe for concurrent use.
type Adapter struct {
	door  rest.Door
	now   func() time.Time
	large int64 // bytes from which a file takes the way for large ones
}

// New makes the adapter. Without an address it speaks to Bundle.social itself.
func New(env networks.Env) *Adapter {
	a := &Adapter{now: env.Now, large: 90_000_000}
	if a.now == nil {
		a.now = time.Now
	}
	a.door = rest.Door{HTTP: env.HTTP, Away: env.Guarded, Base: cmp.Or(env.Base, "https://api.bundle.social") + "/api/" + cmp.Or(env.Version, "v1"),
		Table: rest.Table{Network: label, Read: read, Rows: rows},
		Sign:  func(req *http.Request, token secret.Token) { req.Header.Set("x-api-key", token.Reveal()) }}
	return a
}

const label = "Bundle.social"

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Follower = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
)

// The handles.
const (
	told  = "told"  // the state of a failed post that was already said
	live  = "live"  // only in a Ready: an earlier attempt was accepted
	again = "again" // only in a Ready: the post there that is to be retried
	draft = "draft" // only in a Ready: the post there that is to be given a time
)

// Prepare tells what became of an earlier attempt and uploads the files.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if _, err := networks.FitsBy(network.Bundle, label, job); err != nil {
		return networks.Ready{}, err
	}
	ready := networks.Ready{Job: job, Handles: map[string]string{}, Book: h}
	if job.Attempt > 1 {
		goOn, err := a.earlier(ctx, job, h, ready.Handles)
		if err != nil || !goOn {
			return ready, err
		}
	}
	for i := range job.Post.Media {
		id, err := a.upload(ctx, job, h, i)
		if err != nil {
			return networks.Ready{}, err
		}
		ready.Handles[networks.MediaHandle(i)] = id
	}
	return ready, nil
}

// earlier looks for the post of a former attempt. goOn is true if there is none.
func (a *Adapter) earlier(ctx context.Context, job networks.Job, h networks.Handles, next map[string]string) (goOn bool, err error) {
	p, ok, err := a.ask(ctx, job, httpx.Prepare)
	switch {
	case err != nil || !ok:
		return !ok, err
	case p.Status == statusDraft:
		next[draft] = p.ID
	case p.failed(job):
		next[again] = p.ID
		if h.Get(told) != p.Updated {
			h.Note(told, p.Updated) // the reason is the result, which is written with it
			return false, p.reason(job)
		}
	default:
		next[live] = p.ID
	}
	return false, nil
}

// Commit makes the post, or sets the one that is there going again.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job, h := ready.Job, ready.Handles
	var c rest.Call
	switch {
	case h[live] != "":
		return networks.Receipt{}, networks.Accepted(label)
	case h[again] != "":
		c = rest.From(job, httpx.Commit, http.MethodPost, "post/"+h[again]+"/retry")
	case h[draft] != "":
		c = rest.From(job, httpx.Commit, http.MethodPatch, "post/"+h[draft])
		c.JSON = map[string]string{"status": statusScheduled, "postDate": a.soon()}
	default:
		c = rest.From(job, httpx.Commit, http.MethodPost, "post/")
		c.JSON = a.body(job, h)
	}
	var p post
	answer, err := a.door.Do(ctx, c, &p)
	switch {
	case err != nil:
		return networks.Receipt{}, err
	case !p.is(job):
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	case p.Status == statusDraft:
		return networks.Receipt{}, fault.New(fault.Transient, "kept_as_draft", label+" found the time of the post to be over and kept it as a draft; Herald gives it a new one.")
	}
	return networks.Receipt{}, networks.Accepted(label)
}

// lead is how far ahead a post is dated: one whose time is over becomes a draft.
const lead = 2 * time.Second

func (a *Adapter) soon() string {
	return a.now().Add(lead).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
