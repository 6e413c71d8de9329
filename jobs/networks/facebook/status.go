package facebook

import (
	"context"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

// status is how far Facebook is with a video.
type status struct {
	Status struct {
		Video      string `json:"video_status"`
		Uploading  phase  `json:"uploading_phase"`
		Processing phase  `json:"processing_phase"`
		Publishing phase  `json:"publishing_phase"`
	} `json:"status"`
}

type phase struct {
	Status  string `json:"status"`
	Publish string `json:"publish_status"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

// over says whether a phase is through; both spellings are in use.
func (p phase) over() bool { return p.Status == "complete" || p.Status == "completed" }

func (s status) published() bool {
	p := s.Status.Publishing
	return p.Publish == "published" || p.over() && p.Publish == ""
}

func (s status) failed() bool {
	switch s.Status.Video {
	case "error", "upload_failed", "expired":
		return true
	}
	return s.Status.Uploading.Status == "error" || s.Status.Processing.Status == "error" || s.Status.Publishing.Status == "error"
}

// uploaded says whether the whole file is there; more is not needed to publish.
func (s status) uploaded() bool {
	switch s.Status.Video {
	case "upload_complete", "processing", "ready":
		return true
	}
	return s.Status.Uploading.over()
}

// busy says whether the video may still become public without another word.
func (s status) busy() bool {
	return s.Status.Publishing.Status == "in_progress" || s.Status.Processing.Status == "in_progress" || s.Status.Video == "processing"
}

// why is what Facebook says of a failure, as a sentence to append, or "".
func (s status) why() string {
	for _, p := range []phase{s.Status.Uploading, s.Status.Processing, s.Status.Publishing} {
		if said := httpx.SafeText(p.Error.Message); said != "" {
			return " Facebook says: " + said
		}
	}
	return ""
}

// status reads how far a video is. An answer that says nothing of it is none: it
// must not pass for "not published".
func (a *Adapter) status(ctx context.Context, job networks.Job, step httpx.Step, id string) (status, error) {
	var s status
	answer, err := a.door.Do(ctx, a.read(job, step, id, "status"), &s)
	if err == nil && s == (status{}) {
		err = httpx.Unparsable(step, answer)
	}
	return s, err
}
