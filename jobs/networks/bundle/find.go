package bundle

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// The states of a post there.
const (
	statusDraft     = "DRAFT"
	statusScheduled = "SCHEDULED"
	statusPosted    = "POSTED"
	statusError     = "ERROR"
	statusDeleted   = "DELETED"
)

// post is what Bundle.social tells of a post.
type post struct {
	ID       string               `json:"id"`
	Team     string               `json:"teamId"`
	Key      string               `json:"referenceKey"`
	Status   string               `json:"status"`
	Updated  string               `json:"updatedAt"`
	External map[string]*external `json:"externalData"`
	Errors   map[string]*refusal  `json:"errorsVerbose"`
}

// external is what the network calls the post.
type external struct {
	ID   string `json:"id"`
	Link string `json:"permalink"`
}

// is says whether the answer speaks of the job's post.
func (p post) is(job networks.Job) bool {
	return p.ID != "" && p.Status != "" && p.Team == job.Account.RemoteID && (p.Key == "" || p.Key == job.Key)
}

// failed says that Bundle.social has given up on the job's network, which it may
// tell of a post that it calls posted since other networks took it.
func (p post) failed(job networks.Job) bool {
	return p.Status == statusError || p.Status == statusPosted && p.Errors[wire(job)] != nil
}

func (p post) receipt(job networks.Job) networks.Receipt {
	r := networks.Receipt{ExternalID: p.ID}
	if e := p.External[wire(job)]; e != nil {
		if e.ID != "" {
			r.ExternalID = e.ID
		}
		r.Permalink = networks.WebOnly(e.Link)
	}
	return r
}

// wire is what Bundle.social calls the account's network.
func wire(job networks.Job) string {
	name, _ := network.WireName(job.Account.Network, network.Bundle)
	return name
}

// ask reads the job's post by its reference key; ok is false if there is none.
func (a *Adapter) ask(ctx context.Context, job networks.Job, step httpx.Step) (p post, ok bool, err error) {
	answer, err := a.door.Do(ctx, rest.From(job, step, http.MethodGet, "post/reference-key/"+url.PathEscape(job.Key)), &p)
	switch {
	case err != nil && fault.Of(err).Code == noSuch:
		return p, false, nil
	case err == nil && !p.is(job):
		err = httpx.Unparsable(step, answer)
	}
	return p, err == nil, err
}

// Find asks for the post by its reference key. Nobody knowing the key proves that
// nothing was accepted; while Bundle.social works on the post, tries again or has
// somebody review it, nothing is decided.
func (a *Adapter) Find(ctx context.Context, job networks.Job, _ networks.Handles, _ networks.Window) (networks.Finding, error) {
	p, ok, err := a.ask(ctx, job, httpx.Find)
	switch {
	case err != nil:
		return networks.Finding{}, err
	case !ok:
		return networks.NotThere(label + " knows no post with our key."), nil
	case p.failed(job):
		return networks.NotThere(label + " gave up on the post, so it is not live. " + p.reason(job).Say), nil
	case p.Status == statusPosted:
		return networks.FoundIt(p.receipt(job), label+" says that the post is published."), nil
	case p.Status == statusDraft:
		return networks.NotThere(label + " keeps the post as a draft, so it is not live."), nil
	case p.Status == statusDeleted:
		return networks.Unsure("The post was deleted in " + label + "; whether it was live before cannot be told."), nil
	}
	return networks.Finding{}, fault.New(fault.Transient, "processing", label+" is still working on the post; Herald looks again.")
}

// Follow learns the post's own id and address. The first comment went with the post.
func (a *Adapter) Follow(ctx context.Context, job networks.Job, r networks.Receipt, _ networks.Handles) (networks.Receipt, error) {
	if r.Permalink != "" {
		return r, nil
	}
	p, ok, err := a.ask(ctx, job, httpx.FollowUp)
	if err != nil || !ok {
		return r, err
	}
	if r = p.receipt(job); r.Permalink == "" {
		return r, fault.New(fault.Transient, "no_address_yet", label+" does not know the post's address yet.")
	}
	return r, nil
}

// Check asks which account of the network is connected in the team.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	job := networks.Job{Account: account}
	if account.RemoteID == "" {
		return networks.Profile{}, fault.New(fault.Validation, "team_missing", "Herald has to know the team: enter its id in Bundle.social as the account's id.")
	}
	var team struct {
		ID       string `json:"id"`
		Accounts []struct {
			Type     string `json:"type"`
			User     string `json:"username"`
			Name     string `json:"displayName"`
			Deleted  string `json:"deletedAt"`
			Channels []struct {
				Name string `json:"name"`
			} `json:"channels"`
		} `json:"socialAccounts"`
	}
	answer, err := a.door.Do(ctx, rest.From(job, httpx.Check, http.MethodGet, "team/"+url.PathEscape(account.RemoteID)), &team)
	if err == nil && team.ID != account.RemoteID {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	if err != nil {
		return networks.Profile{}, err
	}
	for _, s := range team.Accounts {
		if !strings.EqualFold(s.Type, wire(job)) || s.Deleted != "" {
			continue
		}
		p := networks.Profile{RemoteID: team.ID, Handle: s.User, Name: s.Name, Settings: map[string]string{}}
		var boards []network.Choice
		for _, c := range s.Channels {
			boards = append(boards, network.Choice{Value: c.Name, Label: c.Name})
		}
		if account.Network == network.Pinterest && len(boards) > 0 {
			p.Settings["boards"] = network.Offer(boards)
		}
		return p, nil
	}
	return networks.Profile{}, fault.New(fault.Permission, "not_connected", "No "+network.Label(account.Network)+" account is connected in this team. Connect it in Bundle.social first.")
}
