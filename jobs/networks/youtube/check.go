package youtube

import (
	"cmp"
	"context"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// channel is a channel as YouTube describes it.
type channel struct {
	ID      string `json:"id"`
	Snippet struct {
		Title string `json:"title"`
		URL   string `json:"customUrl"`
	} `json:"snippet"`
	Details struct {
		Related struct {
			Uploads string `json:"uploads"`
		} `json:"relatedPlaylists"`
	} `json:"contentDetails"`
	Status struct {
		Long string `json:"longUploadsStatus"`
	} `json:"status"`
}

// channel reads the channel that the token is for.
func (a *Adapter) channel(ctx context.Context, job networks.Job, step httpx.Step) (channel, error) {
	all, err := a.channels(ctx, job, step)
	if err != nil {
		return channel{}, err
	}
	return all[0], nil
}

// channels reads the channels that the token is for, one at least. An account of
// Google's may have none, which is Permission.
func (a *Adapter) channels(ctx context.Context, job networks.Job, step httpx.Step) ([]channel, error) {
	var page list[channel]
	answer, err := a.door.Do(ctx, a.get(job, step, "channels", "part", "id,snippet,contentDetails,status", "mine", "true"), &page)
	switch {
	case err != nil:
		return nil, err
	case page.Items == nil:
		return nil, httpx.Unparsable(step, answer)
	case len(*page.Items) == 0:
		return nil, fault.New(fault.Permission, "no_channel", "This Google account has no YouTube channel. Make one at YouTube, then connect it again.")
	}
	for _, own := range *page.Items {
		if own.ID == "" || own.Details.Related.Uploads == "" {
			return nil, httpx.Unparsable(step, answer)
		}
	}
	return *page.Items, nil
}

// profile is the channel, and whether it may upload long videos.
func (c channel) profile() networks.Profile {
	p := networks.Profile{RemoteID: c.ID, Handle: cmp.Or(c.Snippet.URL, c.Snippet.Title), Name: c.Snippet.Title}
	if c.Status.Long == "disallowed" || c.Status.Long == "eligible" {
		p.Settings = map[string]string{"video_seconds": "900"}
	}
	return p
}

// Check asks which channel the token is for, and whether it may upload long
// videos.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	own, err := a.channel(ctx, networks.Job{Account: account}, httpx.Check)
	if err != nil {
		return networks.Profile{}, err
	}
	return own.profile(), nil
}
