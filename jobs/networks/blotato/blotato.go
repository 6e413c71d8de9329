// Package blotato publishes through Blotato, an aggregator: one key for all accounts
// that are connected there. An account's RemoteID is its number there; the setting
// page_id names the page, where its network has pages.
//
// Files are uploaded in Prepare, once for all targets of a version. Commit makes the
// post, which goes out at once; its answer is the id of a submission, written with the
// result, and tells only that it was accepted. The look-up asks by
// that id. Without it (the answer was lost) the list of posts is read: presence
// tells, absence proves nothing, and an id that Blotato does not know answers like
// one that is being worked on, so then a person looks. Start with Prepare.
package blotato

import (
	"cmp"
	"context"
	"net/http"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Adapter publishes through Blotato. It is safe for concurrent use.
type Adapter struct{ door rest.Door }

const label = "Blotato"

// New makes the adapter. Without an address it speaks to Blotato itself.
func New(env networks.Env) *Adapter {
	return &Adapter{rest.Door{HTTP: env.HTTP, Away: env.Guarded, Base: cmp.Or(env.Base, "https://backend.blotato.com") + "/" + cmp.Or(env.Version, "v2"),
		Table: rest.Table{Network: label, Read: read, Rows: rows},
		Sign:  func(req *http.Request, token secret.Token) { req.Header.Set("blotato-api-key", token.Reveal()) }}}
}

var (
	_ networks.Adapter  = (*Adapter)(nil)
	_ networks.Follower = (*Adapter)(nil)
	_ networks.Checker  = (*Adapter)(nil)
)

// The handles.
const (
	submission = "submission" // Blotato's id of the post
	live       = "live"       // only in a Ready: an earlier attempt was accepted
)

// Prepare tells what became of an earlier attempt and uploads the files.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	if _, err := networks.FitsBy(network.Blotato, label, job); err != nil {
		return networks.Ready{}, err
	}
	if job.Account.Network == network.Facebook && job.Account.Settings["page_id"] == "" {
		return networks.Ready{}, fault.New(fault.Validation, "page_missing", label+" has to be told which page. Check the account, or enter its setting page_id.")
	}
	ready := networks.Ready{Job: job, Handles: map[string]string{}, Book: h}
	if h.Get(submission) != "" {
		over, err := a.over(ctx, job, h)
		if err != nil {
			return networks.Ready{}, err
		}
		if !over {
			ready.Handles[live] = "true"
			return ready, nil
		}
	}
	for i := range job.Post.Media {
		url, err := a.upload(ctx, job, h, i)
		if err != nil {
			return networks.Ready{}, err
		}
		ready.Handles[networks.MediaHandle(i)] = url
	}
	return ready, nil
}

// over says whether nothing is left of an earlier attempt. One that failed is
// forgotten, and the reason is the fault.
func (a *Adapter) over(ctx context.Context, job networks.Job, h networks.Handles) (bool, error) {
	s, err := a.status(ctx, job, httpx.Prepare, h.Get(submission))
	if err != nil || s.Status != statusFailed {
		return false, err
	}
	networks.Forget(h, submission)
	return true, s.reason()
}

// upload gives Blotato a file and returns the address that it has there. Uploads
// publish nothing, so one that failed half-way is made again.
func (a *Adapter) upload(ctx context.Context, job networks.Job, h networks.Handles, i int) (string, error) {
	m := job.Post.Media[i]
	return networks.Staged(ctx, job, h, i, "", func(ctx context.Context) (string, error) {
		c := rest.From(job, httpx.Prepare, http.MethodPost, "media/uploads")
		c.JSON = map[string]string{"filename": m.Part("file").Name}
		var to struct {
			Put    string `json:"presignedUrl"`
			Public string `json:"publicUrl"`
		}
		answer, err := a.door.Do(ctx, c, &to)
		if err == nil && (networks.WebOnly(to.Put) == "" || networks.WebOnly(to.Public) == "") {
			err = httpx.Unparsable(httpx.Prepare, answer)
		}
		if err != nil {
			return "", err
		}
		file, err := m.Open(ctx)
		if err != nil {
			return "", err
		}
		_, err = a.door.Do(ctx, rest.Call{Step: httpx.Prepare, Trail: job.Trail, Attempt: job.Attempt, Method: http.MethodPut, Address: to.Put,
			Body: &rest.Body{ReadCloser: file, Length: m.Bytes, Type: m.Type}}, nil)
		return to.Public, err
	})
}

// Commit makes the post.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	if ready.Handles[live] != "" {
		return networks.Receipt{}, networks.Accepted(label)
	}
	c := rest.From(ready.Job, httpx.Commit, http.MethodPost, "posts")
	c.JSON = body(ready.Job, ready.Handles)
	var made struct {
		ID string `json:"postSubmissionId"`
	}
	answer, err := a.door.Do(ctx, c, &made)
	switch {
	case err != nil:
		return networks.Receipt{}, err
	case made.ID == "":
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	ready.Book.Note(submission, made.ID) // the result follows, and is written with it
	return networks.Receipt{}, networks.Accepted(label)
}
