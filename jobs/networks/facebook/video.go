package facebook

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// chunks uploads a video in pieces, for files that have no address Facebook
// could fetch. Each step is a checkpoint, so that an upload goes on where it stopped.
func (a *Adapter) chunks(ctx context.Context, job networks.Job, h networks.Handles) (map[string]string, error) {
	if h.Get(session) == "" {
		if err := a.startChunks(ctx, job, h); err != nil {
			return nil, err
		}
	}
	if err := a.sendChunks(ctx, job, h); err != nil {
		if over(err) {
			return nil, a.restart(h, fault.Of(err))
		}
		return nil, err
	}
	return map[string]string{video: h.Get(video), session: h.Get(session)}, nil
}

func (a *Adapter) startChunks(ctx context.Context, job networks.Job, h networks.Handles) error {
	c := a.call(job, httpx.Prepare, http.MethodPost, "videos")
	c.Form = url.Values{"upload_phase": {"start"}, "file_size": {strconv.FormatInt(job.Post.Media[0].Bytes, 10)}}
	var made started
	answer, err := a.door.Do(ctx, c, &made)
	if err != nil {
		return err
	}
	if made.VideoID == "" || made.Session == "" {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	networks.NoteAll(h, video, string(made.VideoID), span, made.span(), session, string(made.Session))
	return nil
}

func (s started) span() string { return fmt.Sprintf("%d-%d", s.Start, s.End) }

// sendChunks sends the pieces that Facebook asks for until it asks for none.
func (a *Adapter) sendChunks(ctx context.Context, job networks.Job, h networks.Handles) error {
	file := httpx.Pieces{Open: job.Post.Media[0].Open}
	defer file.Close()
	for {
		var from, to int64
		if _, err := fmt.Sscanf(h.Get(span), "%d-%d", &from, &to); err != nil || from > to || to > job.Post.Media[0].Bytes {
			return a.restart(h, fault.New(fault.Transient, "upload_span", "Facebook asked for a part of the video that does not exist; Herald sends it again."))
		}
		if from == to {
			return nil
		}
		next, err := a.sendChunk(ctx, job, h.Get(session), &file, from, to)
		if err != nil {
			return err
		}
		if int64(next.Start) <= from && next.Start != next.End {
			return a.restart(h, fault.New(fault.Transient, "upload_span", "Facebook did not take the video's next part; Herald sends it again."))
		}
		if err := h.Checkpoint(ctx, span, next.span()); err != nil {
			return err
		}
	}
}

func (a *Adapter) sendChunk(ctx context.Context, job networks.Job, id string, file *httpx.Pieces, from, to int64) (started, error) {
	c := a.call(job, httpx.Prepare, http.MethodPost, "videos")
	c.Form = url.Values{"upload_phase": {"transfer"}, "upload_session_id": {id}, "start_offset": {strconv.FormatInt(from, 10)}}
	c.File = &httpx.File{Field: "video_file_chunk", Name: "chunk", Type: "application/octet-stream", Size: to - from,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return file.Piece(ctx, from, to) }}
	var next started
	_, err := a.door.Do(ctx, c, &next)
	return next, err
}

// over says whether err means that the upload has to begin anew: its session
// is over, or it no longer knows where it was.
func over(err error) bool {
	_, subcode, _ := strings.Cut(fault.Of(err).Code, "/")
	return subcode == "1363041" || subcode == "1363037" || graph.Missing(err)
}
