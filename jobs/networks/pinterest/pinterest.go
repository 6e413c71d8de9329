// Package pinterest publishes pins by version 5 of Pinterest's API.
//
// Commit call: POST /pins. Pinterest takes no key of ours and refuses no repeat, so
// after a lost answer the board's list decides: see Find. Pictures are fetched by
// Pinterest; a video is registered, sent to a store of Amazon's, and worked on
// before a pin can show it.
//
// Handles: media (Pinterest's number of the video) and media.sent (when all of it was
// there). Start with Prepare, then Commit.
package pinterest

import (
	"cmp"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
	"herald/jobs/networks/rest"
)

// Adapter publishes to Pinterest. It is safe for concurrent use.
type Adapter struct {
	door   rest.Door
	signIn oauth.SignIn
	web    string // where people see pins
	now    func() time.Time
}

// New makes the adapter. Without a base address it speaks to Pinterest itself.
func New(env networks.Env) *Adapter {
	base := cmp.Or(env.Base, "https://api.pinterest.com") + "/" + cmp.Or(env.Version, "v5")
	a := &Adapter{now: env.Now, web: cmp.Or(env.Auth, "https://www.pinterest.com"), door: rest.Door{HTTP: env.HTTP, Away: env.Guarded, Base: base, Table: table}}
	if a.now == nil {
		a.now = time.Now
	}
	a.signIn = oauth.SignIn{Page: cmp.Or(env.Auth, env.Base, "https://www.pinterest.com") + "/oauth/", Apart: ",", End: base + "/oauth/token/revoke",
		Scopes:   []string{"boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read"},
		Endpoint: oauth.Endpoint{HTTP: env.HTTP, URL: base + "/oauth/token", ID: env.ClientID, Secret: env.ClientSecret, Basic: true, Network: table.Network, Now: a.now, Wait: reset}}
	return a
}

var (
	_ networks.Adapter   = (*Adapter)(nil)
	_ networks.Checker   = (*Adapter)(nil)
	_ networks.Refresher = (*Adapter)(nil)
	_ networks.Straight  = (*Adapter)(nil)
)

// Straight: Pinterest fetches pictures itself.
func (a *Adapter) Straight(f network.Format) bool { return f != network.FormatVideo }

// Prepare uploads a video and waits until Pinterest has worked on it.
func (a *Adapter) Prepare(ctx context.Context, job networks.Job, h networks.Handles) (networks.Ready, error) {
	switch err := networks.Fits(job); {
	case err != nil:
		return networks.Ready{}, err
	case board(job) == "":
		return networks.Ready{}, fault.New(fault.Validation, "options_missing", "Pinterest wants to know the board. Choose one.")
	case job.Post.Format != network.FormatVideo:
		return networks.Ready{Job: job}, nil
	}
	u := upload{Adapter: a, job: job, h: h}
	if err := u.fill(ctx); err != nil {
		return networks.Ready{}, err
	}
	return networks.Ready{Job: job, Handles: map[string]string{media: h.Get(media)}}, nil
}

// board is the one that was chosen, or the only one that the account has.
func board(job networks.Job) string {
	return cmp.Or(job.Post.Options[network.OptBoard], value(job, network.OptBoard))
}

func value(job networks.Job, key string) string {
	n, _ := network.Get(network.Pinterest)
	return n.With(job.Account.Settings).Value(network.Draft{Options: job.Post.Options}, key)
}

// pin is a pin as it is sent, and, with what Pinterest adds, as lists show it.
type pin struct {
	Board       string  `json:"board_id"`
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	Link        string  `json:"link,omitempty"`
	Alt         string  `json:"alt_text,omitempty"`
	Source      *source `json:"media_source,omitempty"`
}

// source is what a pin shows.
type source struct {
	Type      string `json:"source_type"`
	URL       string `json:"url,omitempty"`
	Items     []item `json:"items,omitempty"`
	Media     string `json:"media_id,omitempty"`
	CoverType string `json:"cover_image_content_type,omitempty"`
	Cover     string `json:"cover_image_data,omitempty"`
	Moment    *int   `json:"cover_image_key_frame_time,omitempty"`
}

type item struct {
	URL string `json:"url"`
}

// Commit makes the pin, in one call.
func (a *Adapter) Commit(ctx context.Context, ready networks.Ready) (networks.Receipt, error) {
	job := ready.Job
	source, err := sourceOf(ctx, ready)
	if err != nil {
		return networks.Receipt{}, err
	}
	c := rest.From(job, httpx.Commit, http.MethodPost, "pins")
	c.JSON = pin{Board: board(job), Title: value(job, network.OptTitle), Description: job.Post.Text, Link: job.Post.Link, Alt: described(job.Post), Source: source}
	var made struct {
		ID    string `json:"id"`
		Board string `json:"board_id"`
	}
	answer, err := a.door.Do(ctx, c, &made)
	switch {
	case err != nil:
		return networks.Receipt{}, err
	case !isID(made.ID), made.Board != "" && made.Board != board(job):
		return networks.Receipt{}, httpx.Unparsable(httpx.Commit, answer)
	}
	return a.receipt(made.ID, answer.RequestID), nil
}

func isID(s string) bool { return s != "" && len(s) <= 25 && strings.Trim(s, "0123456789") == "" }

func (a *Adapter) receipt(id, request string) networks.Receipt {
	return networks.Receipt{ExternalID: id, Permalink: a.web + "/pin/" + id + "/", RequestID: request}
}

// described is the alt text of a pin, which has one for all it shows.
func described(p networks.Post) string {
	i := slices.IndexFunc(p.Media, func(m networks.Media) bool { return m.Alt != "" })
	if i < 0 {
		return ""
	}
	return p.Media[i].Alt
}

// only is the post's file of a kind, or nil.
func only(p networks.Post, kind network.MediaKind) *networks.Media {
	i := slices.IndexFunc(p.Media, func(m networks.Media) bool { return m.Kind == kind })
	if i < 0 {
		return nil
	}
	return &p.Media[i]
}

// sourceOf is what the pin shows. A video without a picture for its cover shows
// its first moment.
func sourceOf(ctx context.Context, ready networks.Ready) (*source, error) {
	p := ready.Job.Post
	switch p.Format {
	case network.FormatImage:
		return &source{Type: "image_url", URL: p.Media[0].URL}, nil
	case network.FormatImages:
		s := &source{Type: "multiple_image_urls"}
		for _, m := range p.Media {
			s.Items = append(s.Items, item{URL: m.URL})
		}
		return s, nil
	}
	s := &source{Type: "video_id", Media: ready.Handles[media]}
	cover := only(p, network.Image)
	if cover == nil {
		s.Moment = new(0)
		return s, nil
	}
	raw, err := bytesOf(ctx, *cover)
	if err != nil {
		return nil, &fault.Fault{Kind: fault.Transient, Code: "not_sent", Say: "Herald could not read the cover; it tries again.", Cause: err}
	}
	s.CoverType, s.Cover = cover.Type, base64.StdEncoding.EncodeToString(raw)
	return s, nil
}

func bytesOf(ctx context.Context, m networks.Media) ([]byte, error) {
	f, err := m.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 20_000_000))
}

// Refresh renews the token. The answer's refresh token takes the place of ours.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	return a.signIn.Refresh(ctx, account.Refresh)
}

// Check asks whose the token is and which boards there are.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
	}
	answer, err := a.door.Do(ctx, rest.From(networks.Job{Account: account}, httpx.Check, http.MethodGet, "user_account"), &me)
	if err == nil && me.ID == "" {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	if err != nil {
		return networks.Profile{}, err
	}
	boards, err := a.boards(ctx, account)
	return networks.Profile{RemoteID: me.ID, Handle: "@" + me.Username, Name: me.Username, Settings: map[string]string{"boards": network.Offer(boards)}}, err
}

func (a *Adapter) boards(ctx context.Context, account networks.Account) (list []network.Choice, err error) {
	bookmark := ""
	for range 4 {
		var page struct {
			Items []struct {
				ID   string `json:"id"`
				Name string `json:"name"`
			} `json:"items"`
			Bookmark string `json:"bookmark"`
		}
		c := rest.From(networks.Job{Account: account}, httpx.Check, http.MethodGet, "boards")
		c.Query = pageQuery(bookmark, "250")
		if _, err := a.door.Do(ctx, c, &page); err != nil {
			return nil, err
		}
		for _, b := range page.Items {
			list = append(list, network.Choice{Value: b.ID, Label: b.Name})
		}
		if bookmark = page.Bookmark; bookmark == "" {
			break
		}
	}
	return list, nil
}

func pageQuery(bookmark, size string) url.Values {
	q := url.Values{"page_size": {size}}
	if bookmark != "" {
		q.Set("bookmark", bookmark)
	}
	return q
}
