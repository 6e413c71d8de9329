package facebook

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// The handles of a video.
const (
	video   = "video"         // its id
	begun   = "video.begun"   // when it was started
	sent    = "video.sent"    // set once the upload host has the file, or its address
	session = "video.session" // of an upload in pieces
	span    = "video.span"    // of an upload in pieces: what is wanted next, "from-to"
	live    = "video.live"    // only in a Ready: an earlier attempt published it
)

const (
	ask      = 10 * time.Second // between two looks at an upload
	patience = time.Hour        // with an upload that does not end
)

// started is what the first phase of an upload answers.
type started struct {
	VideoID graph.ID  `json:"video_id"`
	Session graph.ID  `json:"upload_session_id"`
	Start   graph.Int `json:"start_offset"`
	End     graph.Int `json:"end_offset"`
}

func reelEdge(p networks.Post) string {
	if p.Format == network.FormatStory {
		return "video_stories"
	}
	return "video_reels"
}

// reel uploads a reel or a video story: start, hand over the file, wait until
// it is there. An upload of an earlier run goes on where it was.
func (a *Adapter) reel(ctx context.Context, job networks.Job, h networks.Handles) (map[string]string, error) {
	fresh := h.Get(video) == ""
	if err := a.sendReel(ctx, job, h); err != nil {
		return nil, err
	}
	s, err := a.status(ctx, job, httpx.Prepare, h.Get(video))
	if graph.Missing(err) && !fresh {
		networks.Forget(h, video, begun, sent)
		return a.reel(ctx, job, h)
	}
	if graph.Missing(err) {
		return nil, fault.New(fault.Transient, "not_visible", "Facebook does not show the upload yet.")
	}
	if err != nil {
		return nil, err
	}
	return a.judge(h, s)
}

// judge decides by the state of an upload whether it can be published.
func (a *Adapter) judge(h networks.Handles, s status) (map[string]string, error) {
	id := h.Get(video)
	switch {
	case s.published():
		return map[string]string{video: id, live: "true"}, nil
	case s.failed():
		return nil, a.restart(h, fault.New(fault.Transient, "upload_failed", "Facebook could not take the video."+s.why()))
	case s.uploaded():
		return map[string]string{video: id}, nil
	case a.tired(h):
		return nil, a.restart(h, fault.New(fault.Transient, "upload_stuck", "Facebook did not get the whole video in an hour; Herald sends it again."))
	}
	return nil, fault.Wait(ask, "uploading", "Facebook is still fetching the video.")
}

// restart forgets the upload, so that the next run begins a new one.
func (a *Adapter) restart(h networks.Handles, f *fault.Fault) error {
	networks.Forget(h, video, begun, sent, session, span)
	return f
}

func (a *Adapter) tired(h networks.Handles) bool {
	at, err := time.Parse(time.RFC3339, h.Get(begun))
	return err == nil && a.now().Sub(at) > patience
}

// sendReel starts the upload and hands over the file, each unless done.
func (a *Adapter) sendReel(ctx context.Context, job networks.Job, h networks.Handles) error {
	if h.Get(video) == "" {
		if err := a.startReel(ctx, job, h); err != nil {
			return err
		}
	}
	if h.Get(sent) != "" {
		return nil
	}
	raw, err := handOver(ctx, job.Post.Media[0])
	if err != nil {
		return err
	}
	var done created
	answer, err := a.upload.Do(ctx, graph.Call{Step: httpx.Prepare, Trail: job.Trail, Attempt: job.Attempt,
		Token: job.Account.Token, Method: http.MethodPost, Path: url.PathEscape(h.Get(video)), Raw: raw}, &done)
	if err != nil {
		return err
	}
	if !done.Success {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	if raw.Body == nil {
		h.Note(sent, "true")
		return nil
	}
	return h.Checkpoint(ctx, sent, "true") // so many bytes are not sent twice
}

func (a *Adapter) startReel(ctx context.Context, job networks.Job, h networks.Handles) error {
	c := a.call(job, httpx.Prepare, http.MethodPost, reelEdge(job.Post))
	c.Form = url.Values{"upload_phase": {"start"}}
	var made started
	answer, err := a.door.Do(ctx, c, &made)
	if err != nil {
		return err
	}
	if made.VideoID == "" {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	networks.NoteAll(h, begun, a.now().UTC().Format(time.RFC3339), video, string(made.VideoID))
	return nil
}

// handOver tells the upload host where the file is, else gives it the bytes.
func handOver(ctx context.Context, m networks.Media) (*graph.Raw, error) {
	if m.URL != "" {
		return &graph.Raw{Header: map[string]string{"file_url": m.URL}}, nil
	}
	file, err := m.Open(ctx)
	if err != nil {
		return nil, unopened(err)
	}
	return &graph.Raw{Body: file, Length: m.Bytes, Header: map[string]string{
		"offset": "0", "file_size": strconv.FormatInt(m.Bytes, 10), "Content-Type": "application/octet-stream"}}, nil
}

func unopened(err error) error {
	return &fault.Fault{Kind: fault.Transient, Code: "media_unopened", Say: "Herald could not open the video; it tries again.", Cause: err}
}

// finishReel is the form that publishes the upload.
func (a *Adapter) finishReel(ready networks.Ready) url.Values {
	form := url.Values{"upload_phase": {"finish"}, "video_id": {ready.Handles[video]}}
	if ready.Job.Post.Format == network.FormatReel {
		form.Set("video_state", "PUBLISHED")
		return described(ready.Job.Post, form)
	}
	return form
}
