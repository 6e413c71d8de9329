package ghl

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// The states that decide.
const (
	statusPublished = "published"
	statusFailed    = "failed"
	statusDeleted   = "deleted"
	statusPhone     = "notification_sent"
)

// post is what GoHighLevel tells of a post.
type post struct {
	ID       string    `json:"_id"`
	Status   string    `json:"status"`
	Error    string    `json:"error"`
	Account  string    `json:"accountId"`
	Accounts []string  `json:"accountIds"`
	Summary  string    `json:"summary"`
	Remote   string    `json:"postId"` // the network's id of it
	Made     time.Time `json:"createdAt"`
}

// of says whether the post may be of the job's account: it names that one or none.
func (p post) of(job networks.Job) bool {
	named := p.Accounts
	if p.Account != "" {
		named = append(slices.Clone(named), p.Account)
	}
	return len(named) == 0 || slices.Contains(named, job.Account.RemoteID)
}

func (p post) finding() networks.Finding {
	r := networks.Receipt{ExternalID: p.ID}
	if p.Remote != "" {
		r.ExternalID = p.Remote
	}
	return networks.FoundIt(r, label+" says that the post is published.")
}

func (a *Adapter) status(ctx context.Context, job networks.Job, step httpx.Step, id string) (post, error) {
	var said struct {
		Results struct {
			Post post `json:"post"`
		} `json:"results"`
	}
	answer, err := a.door.Do(ctx, rest.From(job, step, http.MethodGet, place(job)+"/posts/"+url.PathEscape(id)), &said)
	p := said.Results.Post
	if err == nil && (p.ID != id || p.Status == "" || !p.of(job)) {
		err = httpx.Unparsable(step, answer)
	}
	return p, err
}

// Find asks by the id of the post: published is found, failed is absent. What waits
// for a person, in GoHighLevel or on a phone, and what was deleted there is for a
// person to decide. Without an id the list is read.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id, err := networks.KnownBy(ctx, h, made, func(ctx context.Context) ([]string, error) { return a.listed(ctx, job, w) })
	switch {
	case err != nil:
		return networks.Finding{}, err
	case id == "":
		return networks.Unsure(label + " lists no such post of that time, and its list is no proof."), nil
	}
	p, err := a.status(ctx, job, httpx.Find, id)
	if err != nil {
		return networks.Finding{}, err
	}
	switch p.Status {
	case statusPublished:
		return p.finding(), nil
	case statusFailed:
		return networks.NotThere(label + " could not publish the post, so it is not live. " + p.reason().Say), nil
	case statusDeleted:
		return networks.Unsure("The post was deleted in " + label + "; whether it was live before cannot be told."), nil
	case statusPhone:
		return networks.Unsure(label + " sent the post to somebody's phone to be finished there; whether they did cannot be told."), nil
	}
	return networks.Finding{}, fault.New(fault.Transient, "processing", label+" is still working on the post; Herald looks again.")
}

// fits says whether the post may be the job's: of its time, account and text, which
// GoHighLevel may have trimmed.
func (p post) fits(job networks.Job, text string, w networks.Window) bool {
	return p.ID != "" && p.Status != statusFailed && !slices.Contains(w.Taken, p.ID) && !slices.Contains(w.Taken, p.Remote) &&
		!p.Made.Before(w.Since) && !p.Made.After(w.Until) && p.of(job) && networks.SameText(p.Summary, text)
}

// pageOf is how many posts a page of the list has.
const pageOf = 100

// listed are the ids of the posts of the list that may be the job's. Numbers and
// switches of the list are text: it takes nothing else.
func (a *Adapter) listed(ctx context.Context, job networks.Job, w networks.Window) (ours []string, err error) {
	c := rest.From(job, httpx.Find, http.MethodPost, place(job)+"/posts/list")
	c.JSON = map[string]string{"type": "all", "accounts": job.Account.RemoteID, "skip": "0", "limit": "100", "includeUsers": "false",
		"fromDate": stamp(w.Since), "toDate": stamp(w.Until)}
	var said struct {
		Results struct {
			Posts *[]post `json:"posts"`
		} `json:"results"`
	}
	answer, err := a.door.Do(ctx, c, &said)
	if err == nil && said.Results.Posts == nil {
		err = httpx.Unparsable(httpx.Find, answer)
	}
	if err != nil || len(*said.Results.Posts) >= pageOf {
		return nil, err
	}
	text := networks.TextBy(network.GHL, job)
	for _, p := range *said.Results.Posts {
		if p.fits(job, text, w) {
			ours = append(ours, p.ID)
		}
	}
	return ours, nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// Check asks whether the account is connected in the location, and of which name.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	job := networks.Job{Account: account}
	if account.Settings[location] == "" {
		return networks.Profile{}, fault.New(fault.Validation, "location_missing", "Herald has to know the sub-account: enter its id as the account's setting location_id.")
	}
	var said struct {
		Results struct {
			Accounts *[]struct {
				ID       string `json:"id"`
				Name     string `json:"name"`
				Platform string `json:"platform"`
				Expired  bool   `json:"isExpired"`
			} `json:"accounts"`
		} `json:"results"`
	}
	answer, err := a.door.Do(ctx, rest.From(job, httpx.Check, http.MethodGet, place(job)+"/accounts"), &said)
	if err == nil && said.Results.Accounts == nil {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	if err != nil {
		return networks.Profile{}, err
	}
	for _, one := range *said.Results.Accounts {
		if one.ID != account.RemoteID || !strings.EqualFold(strings.TrimSuffix(one.Platform, "-business"), wire(job)) {
			continue
		}
		if one.Expired {
			return networks.Profile{}, fault.New(fault.Permission, "connection_lost", "The network no longer lets "+label+" post for this account. Reconnect it in "+label+".")
		}
		p := networks.Profile{RemoteID: one.ID, Handle: one.Name, Name: one.Name, Settings: map[string]string{}}
		return p, a.person(ctx, job, p.Settings)
	}
	return networks.Profile{}, fault.New(fault.Permission, "not_connected", "No "+network.Label(account.Network)+" account with this id is connected in the sub-account. Connect it in "+label+", and enter its id.")
}

// person learns the user in whose name posts are made, where there is one alone and
// the token may look.
func (a *Adapter) person(ctx context.Context, job networks.Job, settings map[string]string) error {
	if job.Account.Settings[user] != "" {
		return nil
	}
	var said struct {
		Users []struct {
			ID string `json:"id"`
		} `json:"users"`
	}
	c := rest.From(job, httpx.Check, http.MethodGet, "users/")
	c.Query = url.Values{"locationId": {job.Account.Settings[location]}}
	_, err := a.door.Do(ctx, c, &said)
	if f := fault.Of(err); f != nil && f.Kind == fault.Permission {
		return nil
	}
	if len(said.Users) == 1 {
		settings[user] = said.Users[0].ID
	}
	return err
}
