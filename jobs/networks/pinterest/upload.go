package pinterest

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// The handles.
const (
	media = "media"      // Pinterest's number of the video
	sent  = "media.sent" // when all of it was there
)

const patience = time.Hour // with a video that Pinterest works on

// upload is one way of a video to Pinterest.
type upload struct {
	*Adapter
	job networks.Job
	h   networks.Handles
}

func (u upload) fill(ctx context.Context) error {
	if u.h.Get(sent) == "" {
		if err := u.send(ctx); err != nil {
			return err
		}
	}
	return u.look(ctx)
}

// send registers the video and sends it. What was registered is used once: an
// upload that broke off begins anew.
func (u upload) send(ctx context.Context) error {
	c := rest.From(u.job, httpx.Prepare, http.MethodPost, "media")
	c.JSON = map[string]string{"media_type": "video"}
	var made struct {
		ID     string            `json:"media_id"`
		To     string            `json:"upload_url"`
		Fields map[string]string `json:"upload_parameters"`
	}
	answer, err := u.door.Do(ctx, c, &made)
	if err == nil && (!isID(made.ID) || made.To == "") {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return err
	}
	u.h.Note(media, made.ID)
	if err := u.store(ctx, made.To, made.Fields); err != nil {
		return err
	}
	return u.h.Checkpoint(ctx, sent, u.now().UTC().Format(time.RFC3339)) // so many bytes are not sent twice
}

// store sends the bytes to Amazon's store, which knows no token: the fields are
// the right. It answers in XML, and a refusal is no word about the video.
func (u upload) store(ctx context.Context, to string, fields map[string]string) error {
	form := url.Values{}
	for name, value := range fields {
		form.Set(name, value)
	}
	c := rest.Call{Step: httpx.Prepare, Trail: u.job.Trail, Attempt: u.job.Attempt, Method: http.MethodPost, Address: to, Form: form,
		Files: []httpx.File{only(u.job.Post, network.Video).Part("file")}}
	answer, err := u.door.Do(ctx, c, nil)
	if f := fault.Of(err); f != nil && answer != nil && f.Kind != fault.RateLimited && f.Kind != fault.Transient {
		f = fault.New(fault.Transient, "upload_refused", "Pinterest's store did not take the video; Herald begins the upload anew.")
		f.Status = answer.Status
		return f
	}
	if err == nil && answer.Status != http.StatusNoContent && answer.Status != http.StatusCreated {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	return err
}

// look asks how the video is.
func (u upload) look(ctx context.Context) error {
	var now struct {
		Status string `json:"status"`
	}
	answer, err := u.door.Do(ctx, rest.From(u.job, httpx.Prepare, http.MethodGet, "media/"+url.PathEscape(u.h.Get(media))), &now)
	switch f := fault.Of(err); {
	case f != nil && f.Kind == fault.Validation:
		return u.again(fault.New(fault.Transient, "media_gone", "Pinterest no longer has the video; Herald sends it again."))
	case f != nil:
		return f
	case now.Status == "succeeded":
		return nil
	case now.Status == "failed":
		return u.again(fault.New(fault.Validation, "media_failed", "Pinterest could not use the video. Export it as MP4 with H.264, from four seconds to fifteen minutes long."))
	case now.Status == "":
		return httpx.Unparsable(httpx.Prepare, answer)
	case u.age() > patience:
		return u.again(fault.New(fault.Transient, "media_stuck", "Pinterest did not finish with the video; Herald sends it again."))
	case u.age() > time.Minute:
		return fault.Wait(30*time.Second, "media_processing", "Pinterest is still working on the video.")
	}
	return fault.Wait(5*time.Second, "media_processing", "Pinterest is still working on the video.")
}

func (u upload) age() time.Duration {
	at, err := time.Parse(time.RFC3339, u.h.Get(sent))
	if err != nil {
		return patience + time.Second
	}
	return u.now().Sub(at)
}

// again forgets the video, so that the next run sends it anew, and returns why.
func (u upload) again(why error) error {
	networks.Forget(u.h, sent, media)
	return why
}
