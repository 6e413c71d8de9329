// Package ghl publishes through GoHighLevel's social planner, an aggregator: one token
// for the accounts that are connected in a sub-account there, which it calls a
// location. An account's RemoteID is the planner's id of it; the setting location_id
// names the location, and user_id the person there in whose name posts are made.
//
// GoHighLevel fetches files from their addresses. Commit makes the post, which goes
// out at once; its answer has the post's id, written with the result, and
// tells only that it was accepted. The look-up asks by that id. Without it (the answer
// was lost, or a refusal that GoHighLevel is known to give for posts that it made) the
// list of posts is read: presence tells, absence proves nothing. Start with Prepare.
package ghl

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Adapter publishes through GoHighLevel. It is safe for concurrent use.
type Adapter struct{ door rest.Door }

const label = "GoHighLevel"

// New makes the adapter. Without an address it speaks to GoHighLevel itself.
func New(env networks.Env) *Adapter {
	version := cmp.Or(env.Version, "v3")
	return &Adapter{rest.Door{HTTP: env.HTTP, Base: cmp.Or(env.Base, "https://services.leadconnectorhq.com"),
		Table: rest.Table{Network: label, Read: read, Rows: rows},
		Sign: func(req *http.Request, token secret.Token) {
			req.Header.Set("Authorization", "Bearer "+token.Reveal())
			req.Header.Set("Version", version)
		}}}
}

var (
	_ networks.Adapter = (*Adapter)(nil)
	_ networks.Checker = (*Adapter)(nil)
)

// The handles.
const (
	made = "post" // GoHighLevel's id of the post
	live = "live" // only in a Ready: an earlier attempt was accepted
)

// The settings of an account.
const (
	location = "location_id"
	user     = "user_id"
)

// Prepare tells what became of an earlier attempt. Files are fetched from where they
// are, so there is nothing to upload.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if _, err := networks.FitsBy(network.GHL, label, job); err != nil {
		return networks.Ready{}, err
	}
	if err := known(job); err != nil {
		return networks.Ready{}, err
	}
	ready := networks.Ready{Job: job, Handles: map[string]string{}, Book: h}
	if h.Get(made) == "" {
		return ready, nil
	}
	over, err := a.over(ctx, job, h)
	if err == nil && !over {
		ready.Handles[live] = "true"
	}
	return ready, err
}

// known says what is missing before anything can be sent. GoHighLevel fills in what
// stands in double braces, so that something else than what was approved went out.
func known(job networks.Job) error {
	switch {
	case job.Account.Settings[location] == "" || job.Account.Settings[user] == "":
		return fault.New(fault.Validation, "location_missing", label+" has to be told the sub-account and a user of it. Enter the account's settings location_id and user_id.")
	case strings.Contains(job.Post.Text, "{{") || strings.Contains(job.Post.FirstComment, "{{"):
		return fault.New(fault.Validation, "custom_value", label+" takes {{ for a place to fill in. Write it otherwise.")
	}
	return nil
}

// over says whether nothing is left of an earlier attempt. One that failed is
// forgotten, and the reason is the fault.
func (a *Adapter) over(ctx context.Context, job networks.Job, h networks.Handles) (bool, error) {
	p, err := a.status(ctx, job, httpx.Prepare, h.Get(made))
	if err != nil || p.Status != statusFailed {
		return false, err
	}
	networks.Forget(h, made)
	return true, p.reason()
}

// Commit makes the post.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[live] != "" {
		return networks.Receipt{}, networks.Accepted(label)
	}
	c := rest.From(ready.Job, httpx.Commit, http.MethodPost, place(ready.Job)+"/posts")
	c.JSON = body(ready.Job)
	var said struct {
		Success bool `json:"success"`
		Results struct {
			Post post `json:"post"`
		} `json:"results"`
	}
	answer, err := a.door.Do(ctx, c, &said)
	id := said.Results.Post.ID
	switch {
	case err != nil:
		return networks.Receipt{}, err
	case !said.Success || id == "" || !said.Results.Post.of(ready.Job):
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	ready.Book.Note(made, id) // the result follows, and is written with it
	return networks.Receipt{}, networks.Accepted(label)
}

// place is where a location's social planner is.
func place(job networks.Job) string {
	return "social-media-posting/" + url.PathEscape(job.Account.Settings[location])
}
