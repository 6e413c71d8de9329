package ghl

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// blogRows are refusals of the blog API, before those of the service.
var blogRows = []rest.Row{
	{Status: 400, Words: []string{"slug"}, Kind: fault.Validation, Name: "slug_taken", Say: "Another post of the blog has this slug. Choose another."},
	{Status: 401, Words: []string{"authclass", "scope"}, Kind: fault.Permission, Name: "missing_scope", Say: "The token may not do this in {network}. Give it the scopes of blogs and media."},
	{Status: 404, Kind: fault.Validation, Name: noSuch, Quote: true, Say: "{network} does not know the sub-account, the blog or the post. Check the account's ids."},
}

const (
	listed    = 100 // posts of one page of the list
	listPages = 20
)

// each shows the posts of the blog whose titles are like the job's, until see says
// that it is enough.
func (b *Blog) each(ctx context.Context, job networks.Job, step httpx.Step, see func(told) (enough bool)) error {
	for page := range listPages {
		c := rest.From(job, step, http.MethodGet, "blogs/posts/all")
		c.Query = url.Values{"locationId": {job.Account.Settings[location]}, "blogId": {job.Account.RemoteID}, "limit": {strconv.Itoa(listed)},
			"offset": {strconv.Itoa(page * listed)}, "searchTerm": {value(job, network.OptTitle)}}
		var list struct {
			Posts *[]told `json:"blogs"`
		}
		answer, err := b.door.Do(ctx, c, &list)
		if err == nil && list.Posts == nil {
			err = httpx.Unparsable(step, answer)
		}
		if err != nil {
			return err
		}
		for _, p := range *list.Posts {
			if see(p) {
				return nil
			}
		}
		if len(*list.Posts) < listed {
			return nil
		}
	}
	return nil
}

// drafted looks for a draft of ours by its slug.
func (b *Blog) drafted(ctx context.Context, job networks.Job) (id string, err error) {
	err = b.each(ctx, job, httpx.Prepare, func(p told) bool {
		if p.Slug == keySlug(job) {
			id = p.ID
		}
		return id != ""
	})
	return id, err
}

// Find asks what became of the draft. Without one, nothing can be live.
func (b *Blog) Find(ctx context.Context, job networks.Job, h networks.Handles, _ networks.Window) (networks.Finding, error) {
	id := h.Get(draft)
	if id == "" {
		return networks.NotThere("No draft was completed, so nothing can be live."), nil
	}
	var now told
	err := b.each(ctx, job, httpx.Find, func(p told) bool {
		if p.ID == id {
			now = p
		}
		return now.ID != ""
	})
	switch {
	case err != nil:
		return networks.Finding{}, err
	case now.ID == "":
		return networks.Unsure("The blog no longer lists the draft: somebody took it away, published or not."), nil
	case now.Status == blogPublished && !now.Archived:
		return networks.FoundIt(networks.Receipt{ExternalID: id, Permalink: networks.WebOnly(now.Link)}, "The blog says that the post is published."), nil
	case now.Status == blogDraft && !now.Archived:
		return networks.NotThere("The blog says that the post is still a draft."), nil
	}
	return networks.Unsure("The blog says that the post is " + httpx.SafeText(now.Status) + "."), nil
}

// terms are the categories or the authors of the sub-account, as the composer offers
// them.
func (b *Blog) terms(ctx context.Context, job networks.Job, step httpx.Step, kind string) ([]network.Choice, error) {
	c := rest.From(job, step, http.MethodGet, "blogs/"+kind)
	c.Query = url.Values{"locationId": {job.Account.Settings[location]}, "limit": {"100"}, "offset": {"0"}}
	var list map[string][]struct {
		ID    string `json:"_id"`
		Name  string `json:"name"`
		Label string `json:"label"`
	}
	answer, err := b.door.Do(ctx, c, &list)
	if err == nil && list[kind] == nil {
		err = httpx.Unparsable(step, answer)
	}
	var choices []network.Choice
	for _, t := range list[kind] {
		choices = append(choices, network.Choice{Value: t.ID, Label: t.Name + t.Label})
	}
	return choices, err
}

// Check asks whether the blog is in the sub-account, and what there is to choose. What
// the token may not read of that is typed.
func (b *Blog) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	job := networks.Job{Account: account}
	if account.Settings[location] == "" {
		return networks.Profile{}, fault.New(fault.Validation, "location_missing", "Herald has to know the sub-account: enter its id as the account's setting location_id.")
	}
	c := rest.From(job, httpx.Check, http.MethodGet, "blogs/site/all")
	c.Query = url.Values{"locationId": {account.Settings[location]}, "skip": {"0"}, "limit": {"100"}}
	var said struct {
		Blogs *[]struct {
			ID   string `json:"_id"`
			Name string `json:"name"`
		} `json:"data"`
	}
	answer, err := b.door.Do(ctx, c, &said)
	if err == nil && said.Blogs == nil {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	if err != nil {
		return networks.Profile{}, err
	}
	for _, blog := range *said.Blogs {
		if blog.ID == account.RemoteID {
			return b.learned(ctx, job, blog.Name)
		}
	}
	return networks.Profile{}, fault.New(fault.Permission, "not_connected", "The sub-account has no blog with this id. Look it up in the address of the blog's dashboard, and enter it.")
}

func (b *Blog) learned(ctx context.Context, job networks.Job, name string) (networks.Profile, error) {
	p := networks.Profile{RemoteID: job.Account.RemoteID, Handle: name, Name: name, Settings: map[string]string{}}
	for _, kind := range []string{"authors", "categories"} {
		switch list, err := b.terms(ctx, job, httpx.Check, kind); {
		case err == nil && len(list) > 0:
			p.Settings[kind] = network.Offer(list)
		case err != nil && fault.Of(err).Kind != fault.Permission:
			return networks.Profile{}, err
		}
	}
	return p, nil
}
