package bluesky

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

const (
	keeps    = 50 * time.Minute // for which a server surely keeps a file that no record holds
	poll     = 5 * time.Second  // between two looks at a video
	patience = 30 * time.Minute // with one upload of a video
)

func blob(i int) string   { return "blob." + strconv.Itoa(i) }
func blobAt(i int) string { return blob(i) + ".at" }

// files brings every file to the server and returns how a record holds each.
// What was uploaded so long ago that it may be gone is uploaded again; the same
// bytes get the same reference.
func (r run) files(ctx context.Context) (refs []json.RawMessage, err error) {
	for i, m := range r.job.Post.Media {
		if m.Open == nil {
			return nil, fault.New(fault.Validation, "media_missing", "The file of "+r.what(i)+" is missing. Attach it again.")
		}
		if r.h.Get(blob(i)) == "" || r.age(blobAt(i)) > keeps {
			send := r.picture
			if m.Kind == network.Video {
				send = r.movie
			}
			if err := send(ctx, i); err != nil {
				return nil, err
			}
		}
		refs = append(refs, json.RawMessage(r.h.Get(blob(i))))
	}
	return refs, nil
}

// keep notes how a record holds a file, and since when. The same bytes have the
// same reference, so a second upload adds nothing.
func (r run) keep(i int, ref json.RawMessage) {
	networks.NoteAll(r.h, blobAt(i), r.now().UTC().Format(time.RFC3339), blob(i), string(ref))
}

// age is how long ago the instant of a handle was; long if there is none.
func (r run) age(name string) time.Duration {
	at, err := time.Parse(time.RFC3339, r.h.Get(name))
	if err != nil {
		return 24 * time.Hour
	}
	return r.now().Sub(at)
}

// picture uploads a picture.
func (r run) picture(ctx context.Context, i int) error {
	body, err := r.open(ctx, i)
	if err != nil {
		return err
	}
	var made struct {
		Blob json.RawMessage `json:"blob"`
	}
	answer, err := r.do(ctx, r.job, rest.Call{Step: httpx.Prepare, Method: http.MethodPost, Path: "xrpc/com.atproto.repo.uploadBlob", Body: body}, &made)
	if err != nil {
		return r.about(i, err)
	}
	if !isRef(made.Blob) {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	r.keep(i, made.Blob)
	return nil
}

func (r run) open(ctx context.Context, i int) (*rest.Body, error) {
	m := r.job.Post.Media[i]
	file, err := m.Open(ctx)
	if err != nil {
		return nil, &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read the file of " + r.what(i) + "; it tries again.", Cause: err}
	}
	return &rest.Body{ReadCloser: file, Length: m.Bytes, Type: m.Type}, nil
}

// about names the file that a refusal is about.
func (r run) about(i int, err error) error {
	f := fault.Of(err)
	if f.Kind == fault.Validation {
		f.Say = strings.Replace(f.Say, "A file", "The file of "+r.what(i), 1)
	}
	return f
}

// what names file i to a person.
func (r run) what(i int) string {
	kind := "the " + string(r.job.Post.Media[i].Kind)
	if len(r.job.Post.Media) > 1 {
		kind = string(r.job.Post.Media[i].Kind) + " " + strconv.Itoa(i+1)
	}
	return kind
}

// isRef says whether raw is a reference to a stored file.
func isRef(raw json.RawMessage) bool {
	var ref struct {
		Type string `json:"$type"`
		Ref  struct {
			Link string `json:"$link"`
		} `json:"ref"`
	}
	return json.Unmarshal(raw, &ref) == nil && ref.Type == "blob" && ref.Ref.Link != ""
}

// progress is how far the video service is with a video. The service wraps it in
// some of its answers.
type progress struct {
	ID      string          `json:"jobId"`
	State   string          `json:"state"`
	Blob    json.RawMessage `json:"blob"`
	Code    string          `json:"failureCode"`
	Message string          `json:"message"`
}

func (p *progress) read(body []byte) {
	var wrapped struct {
		Status *progress `json:"jobStatus"`
	}
	if json.Unmarshal(body, &wrapped) == nil && wrapped.Status != nil {
		*p = *wrapped.Status
		return
	}
	_ = json.Unmarshal(body, p)
}

// movie brings a video to the video service, which puts it into the account as a
// file of it, and waits for that by Waiting faults.
func (r run) movie(ctx context.Context, i int) error {
	if r.h.Get(videoJob) == "" {
		if err := r.sendMovie(ctx, i); err != nil || r.h.Get(videoJob) == "" {
			return err
		}
	}
	var p progress
	c := rest.Call{Step: httpx.Prepare, Trail: r.job.Trail, Attempt: r.job.Attempt, Method: http.MethodGet,
		Path: "xrpc/app.bsky.video.getJobStatus", Query: url.Values{"jobId": {r.h.Get(videoJob)}}}
	answer, err := r.service().Do(ctx, c, nil)
	if f := fault.Of(err); f != nil && f.Kind == fault.Validation {
		return r.again("video_lost", "Bluesky no longer has the video; Herald sends it again.")
	} else if f != nil {
		return f
	}
	p.read(answer.Body)
	switch {
	case isRef(p.Blob):
		r.done(i, p.Blob)
		return nil
	case p.State == "":
		return httpx.Unparsable(httpx.Prepare, answer)
	case p.State == "JOB_STATE_FAILED":
		return r.failed(p)
	case r.age(videoAt) > patience:
		return r.again("video_stuck", "Bluesky did not finish with the video; Herald sends it again.")
	}
	return fault.Wait(poll, "video_processing", "Bluesky is still working on the video.")
}

// service is the video service. It is no server that a user chose.
func (a *Adapter) service() *rest.Door { return &rest.Door{HTTP: a.http, Base: a.video, Table: table} }

// sendMovie uploads a video. A video that the service knows already comes back
// at once, with an error beside it.
func (r run) sendMovie(ctx context.Context, i int) error {
	token, err := r.pass(ctx)
	if err != nil {
		return err
	}
	body, err := r.open(ctx, i)
	if err != nil {
		return err
	}
	c := rest.Call{Step: httpx.Prepare, Trail: r.job.Trail, Attempt: r.job.Attempt, Token: token, Method: http.MethodPost, Body: body,
		Path: "xrpc/app.bsky.video.uploadVideo", Query: url.Values{"did": {r.job.Account.RemoteID}, "name": {cmp.Or(r.job.Post.Media[i].Name, "video.mp4")}}}
	answer, err := r.service().Do(ctx, c, nil)
	var p progress
	if answer != nil {
		p.read(answer.Body)
	}
	switch {
	case isRef(p.Blob):
		r.done(i, p.Blob)
		return nil
	case err != nil:
		return r.about(i, err)
	case p.ID == "":
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	networks.NoteAll(r.h, videoAt, r.now().UTC().Format(time.RFC3339), videoJob, p.ID) // the service knows a video that it gets again
	return nil
}

func (r run) done(i int, ref json.RawMessage) {
	r.keep(i, ref)
	r.h.Note(videoJob, "")
}

// again gives an upload up, so that the next run makes a new one.
func (r run) again(code, say string) error {
	networks.Forget(r.h, videoJob)
	return fault.New(fault.Transient, code, say)
}

// failed is what the service says of a video that it cannot use, or of a failure
// of its own.
func (r run) failed(p progress) error {
	networks.Forget(r.h, videoJob)
	code := cmp.Or(httpx.SafeText(p.Code), "video_failed")
	switch p.Code {
	case "pds_upload_failure", "generic_failure":
		return fault.New(fault.Transient, code, "Bluesky had trouble with the video; Herald sends it again.")
	case "pds_upload_unsupported_blob_size":
		return fault.New(fault.Validation, code, "The video is too large for the server of this account. Use a smaller one.")
	}
	return fault.New(fault.Validation, code, "Bluesky could not use the video. Export it as MP4 with H.264 and AAC, of three minutes at most.")
}
