package pinterest

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// listed is a pin as a board shows it. Its time has no zone, and is UTC.
type listed struct {
	ID      string `json:"id"`
	Created string `json:"created_at"`
	pin
	Media struct {
		Type string `json:"media_type"`
	} `json:"media"`
}

func (l listed) made() time.Time {
	at, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(l.Created, "Z"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Find looks through the board's pins for one with the words, the title and the
// kind. A link that is there has to be ours, but may be missing. A pin without
// words is like any other, and proves nothing. Lists lag, so absence is weak.
func (a *Adapter) Find(ctx context.Context, job networks.Job, _ networks.Handles, w networks.Window) (networks.Finding, error) {
	s := networks.Sieve{Window: w, Looked: "the board", Marked: job.Post.Text == "" && value(job, network.OptTitle) == ""}
	return s.Read(ctx, func(ctx context.Context, bookmark string) (list []networks.Listed, next string, err error) {
		c := rest.From(job, httpx.Find, http.MethodGet, "boards/"+url.PathEscape(board(job))+"/pins")
		c.Query = pageQuery(bookmark, "100")
		var page struct {
			Items    *[]listed `json:"items"`
			Bookmark string    `json:"bookmark"`
		}
		answer, err := a.door.Do(ctx, c, &page)
		if err == nil && page.Items == nil {
			err = httpx.Unparsable(httpx.Find, answer)
		}
		if err != nil {
			return nil, "", err
		}
		for _, l := range *page.Items {
			list = append(list, networks.Listed{Receipt: a.receipt(l.ID, ""), Made: l.made(), Alike: l.like(job)})
		}
		return list, page.Bookmark, nil
	})
}

func (l listed) like(job networks.Job) bool {
	p := job.Post
	film := p.Format == network.FormatVideo
	return networks.SameText(l.Description, p.Text) && networks.SameText(l.Title, value(job, network.OptTitle)) &&
		(l.Link == "" || p.Link != "" && strings.TrimSuffix(l.Link, "/") == strings.TrimSuffix(p.Link, "/")) &&
		(l.Media.Type == "" || strings.Contains(l.Media.Type, "video") == film)
}
