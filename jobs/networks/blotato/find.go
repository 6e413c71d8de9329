package blotato

import (
	"cmp"
	"context"
	"encoding/json"
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
)

// state is what Blotato tells of a submission.
type state struct {
	ID     string `json:"postSubmissionId"`
	Status string `json:"status"`
	Link   string `json:"publicUrl"`
	Words  string `json:"errorMessage"`
}

func (a *Adapter) status(ctx context.Context, job networks.Job, step httpx.Step, id string) (s state, err error) {
	answer, err := a.door.Do(ctx, rest.From(job, step, http.MethodGet, "posts/"+url.PathEscape(id)), &s)
	if err == nil && (s.Status == "" || s.ID != "" && s.ID != id) {
		err = httpx.Unparsable(step, answer)
	}
	return s, err
}

// Find asks by the id of the submission: published is found, failed is absent, and
// anything else is not decided, for ever if need be: then a person is asked. Without
// an id the list is read.
func (a *Adapter) Find(ctx context.Context, job networks.Job, h networks.Handles, w networks.Window) (networks.Finding, error) {
	id, err := networks.KnownBy(ctx, h, submission, func(ctx context.Context) ([]string, error) { return a.listed(ctx, job, w) })
	switch {
	case err != nil:
		return networks.Finding{}, err
	case id == "":
		return networks.Unsure(label + " lists no such post of that time, and its list is no proof."), nil
	}
	s, err := a.status(ctx, job, httpx.Find, id)
	switch {
	case err != nil:
		return networks.Finding{}, err
	case s.Status == statusFailed:
		return networks.NotThere(label + " could not publish the post, so it is not live. " + s.reason().Say), nil
	case s.Status == statusPublished:
		return networks.FoundIt(networks.Receipt{ExternalID: id, Permalink: networks.WebOnly(s.Link)}, label+" says that the post is published."), nil
	}
	return networks.Finding{}, fault.New(fault.Transient, "processing", label+" is still working on the post; Herald looks again.")
}

// item is a post of the list. Its shape is not documented, so each member is taken
// where it stands.
type item struct {
	Submission string          `json:"postSubmissionId"`
	ID         string          `json:"id"`
	Status     string          `json:"status"`
	Account    json.RawMessage `json:"accountId"`
	Text       string          `json:"text"`
	Content    struct {
		Text string `json:"text"`
	} `json:"content"`
	Made time.Time `json:"createdAt"`
	Due  time.Time `json:"scheduledTime"`
}

// fits says whether the post may be the job's: of its time, account and text.
func (p item) fits(job networks.Job, text string, w networks.Window) bool {
	at := p.Made
	if at.IsZero() {
		at = p.Due
	}
	account := strings.Trim(string(p.Account), `"`)
	return !at.Before(w.Since) && !at.After(w.Until) && p.Status != statusFailed && p.name() != "" && !slices.Contains(w.Taken, p.name()) &&
		(account == "" || account == "null" || account == job.Account.RemoteID) && networks.SameText(cmp.Or(p.Content.Text, p.Text), text)
}

func (p item) name() string { return cmp.Or(p.Submission, p.ID) }

// listed are the ids of the posts of the list that may be the job's.
func (a *Adapter) listed(ctx context.Context, job networks.Job, w networks.Window) (ours []string, err error) {
	var list struct {
		Items *[]item `json:"items"`
	}
	answer, err := a.door.Do(ctx, rest.From(job, httpx.Find, http.MethodGet, "posts"), &list)
	if err == nil && list.Items == nil {
		err = httpx.Unparsable(httpx.Find, answer)
	}
	if err != nil {
		return nil, err
	}
	text := networks.TextBy(network.Blotato, job)
	for _, p := range *list.Items {
		if p.fits(job, text, w) {
			ours = append(ours, p.name())
		}
	}
	return ours, nil
}

// Follow learns the post's address, which Blotato does not always give.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, _ networks.Handles) (networks.Receipt, error) {
	if r.Permalink != "" {
		return r, nil
	}
	s, err := a.status(ctx, job, httpx.FollowUp, r.ExternalID)
	if err != nil {
		return r, err
	}
	if r.Permalink = networks.WebOnly(s.Link); r.Permalink == "" {
		return r, fault.New(fault.Transient, "no_address_yet", label+" does not know the post's address yet.")
	}
	return r, nil
}

// Check asks which account the number is of, and of Facebook which page it has.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	job := networks.Job{Account: account}
	var list named
	c := rest.From(job, httpx.Check, http.MethodGet, "users/me/accounts")
	c.Query = url.Values{"platform": {wire(job)}}
	answer, err := a.door.Do(ctx, c, &list)
	if err == nil && list.Items == nil {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	if err != nil {
		return networks.Profile{}, err
	}
	for _, one := range *list.Items {
		if one.ID.String() == account.RemoteID && strings.EqualFold(one.Platform, wire(job)) {
			p := networks.Profile{RemoteID: account.RemoteID, Handle: one.User, Name: one.Name, Settings: map[string]string{}}
			return p, a.pages(ctx, job, p.Settings)
		}
	}
	return networks.Profile{}, fault.New(fault.Permission, "not_connected", "This key has no "+network.Label(account.Network)+" account with this number. Connect it in Blotato, and enter its number as the account's id.")
}

// named is a list of accounts or pages.
type named struct {
	Items *[]struct {
		ID       json.Number `json:"id"`
		Platform string      `json:"platform"`
		User     string      `json:"username"`
		Name     string      `json:"fullname"`
	} `json:"items"`
}

// pages learns the page of an account that has one alone.
func (a *Adapter) pages(ctx context.Context, job networks.Job, settings map[string]string) error {
	if job.Account.Network != network.Facebook || job.Account.Settings["page_id"] != "" {
		return nil
	}
	var list named
	_, err := a.door.Do(ctx, rest.From(job, httpx.Check, http.MethodGet, "users/me/accounts/"+url.PathEscape(job.Account.RemoteID)+"/subaccounts"), &list)
	if err == nil && list.Items != nil && len(*list.Items) == 1 {
		settings["page_id"] = (*list.Items)[0].ID.String()
	}
	return err
}
