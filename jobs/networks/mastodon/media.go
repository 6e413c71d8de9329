package mastodon

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Names of handles.
const (
	firstCommit = "first_commit"
	live        = "live"
	absentAt    = "absent_at"
	comment     = "comment"
)

const (
	poll     = 5 * time.Second  // between two looks at a file being processed
	patience = 30 * time.Minute // with one upload; then it is sent again
)

func pendingName(i int) string { return "media_" + strconv.Itoa(i) }
func sinceName(i int) string   { return pendingName(i) + "_since" }
func readyName(i int) string   { return pendingName(i) + "_ready" }

func readyNames(job networks.Job) (names []string) {
	for i := range job.Post.Media {
		names = append(names, readyName(i))
	}
	return names
}

// mediaIDs are the ids of all files that were uploaded so far.
func mediaIDs(job networks.Job, h networks.Handles) (ids []string) {
	for i := range job.Post.Media {
		if id := cmp.Or(h.Get(readyName(i)), h.Get(pendingName(i))); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// upload brings the media of a job to the server.
type upload struct {
	a   *Adapter
	job networks.Job
	h   networks.Handles
}

// all sends every file that was not sent yet, then waits for those that the
// server still works on: it answers Waiting rather than hold a worker.
func (u upload) all(ctx context.Context) error {
	for i := range u.job.Post.Media {
		if err := u.ensure(ctx, i); err != nil || u.h.Get(live) != "" {
			return err
		}
	}
	for i := range u.job.Post.Media {
		if u.h.Get(readyName(i)) == "" {
			return fault.Wait(poll, "media_processing", "The server is still processing the media.")
		}
	}
	return nil
}

// ensure sends file i, or asks how it is. A file that a former attempt saw
// ready is asked for too: servers drop what is not attached for long.
func (u upload) ensure(ctx context.Context, i int) error {
	ready, pending := u.h.Get(readyName(i)), u.h.Get(pendingName(i))
	switch {
	case ready == "" && pending == "":
		return u.send(ctx, i)
	case ready != "" && u.job.Attempt <= 1:
		return nil
	}
	return u.ask(ctx, i, cmp.Or(ready, pending))
}

// ask looks at an uploaded file. Once it is not to be had, it is sent again.
func (u upload) ask(ctx context.Context, i int, id string) error {
	c := call{job: u.job, step: httpx.Prepare, method: http.MethodGet, path: "/api/v1/media/" + url.PathEscape(id)}
	answer, err := u.a.do(ctx, c, &attachment{})
	switch status := statusOf(answer); {
	case err != nil && status == http.StatusNotFound:
		return u.gone(ctx, i)
	case err != nil && status == http.StatusUnprocessableEntity:
		return u.failed(i, err)
	case err != nil:
		return err
	case status == http.StatusPartialContent:
		return u.stillPending(i)
	}
	u.h.Note(readyName(i), id)
	return nil
}

func statusOf(answer *httpx.Answer) int {
	if answer == nil {
		return 0
	}
	return answer.Status
}

// gone deals with a file that the server does not show: it was dropped, or it
// is part of a post already, and that post can only be ours.
func (u upload) gone(ctx context.Context, i int) error {
	if u.h.Get(firstCommit) != "" {
		if err := u.a.look(ctx, u.job, u.h); err != nil || u.h.Get(live) != "" {
			return err
		}
	}
	u.forget(i)
	return u.send(ctx, i)
}

// failed deals with a file that the server could not process.
func (u upload) failed(i int, err error) error {
	u.forget(i)
	f := *fault.Of(err)
	f.Kind, f.Code = fault.Validation, "media_failed"
	f.Say = "The server could not process " + u.what(i) + ". Upload it in another format."
	return &f
}

// stillPending gives a file up that has been processed for too long.
func (u upload) stillPending(i int) error {
	since, ok := parseStamp(u.h.Get(sinceName(i)))
	if !ok || u.a.now().Sub(since) < patience {
		return nil
	}
	u.forget(i)
	return fault.New(fault.Transient, "media_stuck", "The server did not finish processing "+u.what(i)+"; Herald sends it again.")
}

func (u upload) forget(i int) {
	networks.Forget(u.h, readyName(i), pendingName(i), sinceName(i))
}

// send uploads file i and notes its id: as ready if the server says so, else as
// pending. What no post holds is seen by nobody, and servers drop it.
func (u upload) send(ctx context.Context, i int) error {
	req, err := u.request(ctx, i)
	if err != nil {
		return err
	}
	answer, err := u.a.http.Do(ctx, u.job.Trail, httpx.Prepare, req)
	if err != nil {
		return err
	}
	if !answer.OK() {
		return u.refused(i, answer)
	}
	var made attachment
	if !parse(answer, &made) || made.ID == "" {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	if answer.Status != http.StatusAccepted {
		u.h.Note(readyName(i), made.ID)
		return nil
	}
	networks.NoteAll(u.h, pendingName(i), made.ID, sinceName(i), stamp(u.a.now()))
	return nil
}

func (u upload) request(ctx context.Context, i int) (*http.Request, error) {
	m := u.job.Post.Media[i]
	if m.Open == nil {
		return nil, fault.New(fault.Validation, "media_missing", "The file of "+u.what(i)+" is missing. Attach it again.")
	}
	fields := map[string]string{}
	if m.Alt != "" {
		fields["description"] = m.Alt
	}
	file := httpx.File{Field: "file", Name: cmp.Or(m.Name, "file"), Type: m.Type, Size: m.Bytes, Open: m.Open}
	address := u.a.address(u.job.Account) + "/api/v2/media"
	if _, err := url.Parse(address); err != nil {
		return nil, badAddress()
	}
	req, err := httpx.NewUpload(ctx, address, fields, file)
	if err != nil {
		return nil, &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read the file of " + u.what(i) + "; it tries again.", Cause: err}
	}
	sign(req, u.job.Account)
	return req, nil
}

// what names file i to a person.
func (u upload) what(i int) string {
	if len(u.job.Post.Media) == 1 {
		return "the " + string(u.job.Post.Media[i].Kind)
	}
	return string(u.job.Post.Media[i].Kind) + " " + strconv.Itoa(i+1)
}
