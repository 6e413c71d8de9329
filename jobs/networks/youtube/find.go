package youtube

import (
	"context"
	"slices"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

// mostPages bounds a look-up: a list that is longer was not read to its end.
const mostPages = 20

// Find asks the upload how far it is, which is proof both ways: the last byte
// makes the video, and the answer then is the video. Only if YouTube has forgotten
// the upload is the video looked for among the channel's uploads, by title,
// description and time; that list lags by minutes, and two that fit cannot be
// told apart.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	if film(job.Post) == nil || h.Get(address) == "" {
		return absent("No upload was begun, so nothing can be live."), nil
	}
	s := session{Adapter: a, job: job, h: h, size: film(job.Post).Bytes}
	at, err := s.probe(ctx, httpx.Find, h.Get(address))
	switch {
	case unknown(err):
		return a.findListed(ctx, job, w)
	case err != nil:
		return networks.Finding{}, err
	case at.made == nil:
		return absent("YouTube says that the upload is not complete, so there is no video."), nil
	}
	return a.standing(ctx, job, at.made.ID)
}

// standing makes sure that a video that was made is still there.
func (a *Adapter) standing(ctx context.Context, job networks.Job, id string) (networks.Finding, error) {
	v, err := a.video(ctx, job, httpx.Find, id)
	switch {
	case err != nil:
		return networks.Finding{}, err
	case v == nil:
		return cantTell("YouTube made the video and does not have it any more; somebody may have removed it."), nil
	case v.Status.gone():
		return cantTell("YouTube made the video and then turned it down. " + v.Status.why()), nil
	}
	return found(id, "The upload is complete, and the video is there."), nil
}

// list is a page of a list. Items has to be there: without it, it is no list.
type list[T any] struct {
	Items *[]T   `json:"items"`
	Next  string `json:"nextPageToken"`
}

// video reads one video; nil if YouTube has none of that id.
func (a *Adapter) video(ctx context.Context, job networks.Job, step httpx.Step, id string) (*video, error) {
	var page list[video]
	answer, err := a.door.Do(ctx, a.get(job, step, "videos", "part", "id,status,snippet", "id", id), &page)
	switch {
	case err != nil:
		return nil, err
	case page.Items == nil:
		return nil, httpx.Unparsable(step, answer)
	case len(*page.Items) == 0:
		return nil, nil
	}
	return &(*page.Items)[0], nil
}

// item is a video as the list of uploads shows it.
type item struct {
	Snippet struct {
		Title       string    `json:"title"`
		Description string    `json:"description"`
		Published   time.Time `json:"publishedAt"`
		Resource    struct {
			VideoID string `json:"videoId"`
		} `json:"resourceId"`
	} `json:"snippet"`
}

// findListed looks through the channel's uploads.
func (a *Adapter) findListed(ctx context.Context, job networks.Job, w networks.Window) (networks.Finding, error) {
	uploads, err := a.uploads(ctx, job, httpx.Find)
	if err != nil {
		return networks.Finding{}, err
	}
	var fits []string
	complete, err := a.eachUpload(ctx, job, uploads, func(i item) bool {
		s := i.Snippet
		if s.Published.Before(w.Since) {
			return false
		}
		v := video{}
		v.Snippet.Title, v.Snippet.Description = s.Title, s.Description
		if !s.Published.After(w.Until) && v.same(job.Post) && !slices.Contains(w.Taken, s.Resource.VideoID) {
			fits = append(fits, s.Resource.VideoID)
		}
		return true
	})
	switch {
	case err != nil:
		return networks.Finding{}, err
	case len(fits) == 1:
		return found(fits[0], "The channel has a video of that time with this title and description."), nil
	case len(fits) > 1:
		return cantTell("The channel has several videos of that time with this title and description, and nothing tells them apart."), nil
	case !complete:
		return cantTell("The channel has more videos of that time than could be read."), nil
	}
	return absent("YouTube has forgotten the upload, and the channel has no such video."), nil
}

// uploads is the id of the list of what the channel has uploaded.
func (a *Adapter) uploads(ctx context.Context, job networks.Job, step httpx.Step) (string, error) {
	own, err := a.channel(ctx, job, step)
	return own.Details.Related.Uploads, err
}

// eachUpload shows the channel's videos, newest first, until see has seen enough.
// It says whether the list was read that far.
func (a *Adapter) eachUpload(ctx context.Context, job networks.Job, uploads string, see func(item) (more bool)) (complete bool, err error) {
	next := ""
	for range mostPages {
		c := a.get(job, httpx.Find, "playlistItems", "part", "snippet", "playlistId", uploads, "maxResults", "50")
		if next != "" {
			c.Query.Set("pageToken", next)
		}
		var page list[item]
		answer, err := a.door.Do(ctx, c, &page)
		if err == nil && page.Items == nil {
			err = httpx.Unparsable(httpx.Find, answer)
		}
		if err != nil {
			return false, err
		}
		for _, i := range *page.Items {
			if !see(i) {
				return true, nil
			}
		}
		if next = page.Next; next == "" {
			return true, nil
		}
	}
	return false, nil
}

func found(id, say string) networks.Finding {
	return networks.Finding{Verdict: networks.Found, Say: say, Receipt: networks.Receipt{ExternalID: id}}
}

func absent(say string) networks.Finding { return networks.Finding{Verdict: networks.Absent, Say: say} }

func cantTell(say string) networks.Finding {
	return networks.Finding{Verdict: networks.CantTell, Say: say}
}
