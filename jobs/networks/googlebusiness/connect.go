package googlebusiness

import (
	"context"
	"net/http"
	"net/url"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

// Authorize is the page of Google that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect lists the locations of every account that the person manages.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	tokens, err := a.signIn.Redeem(ctx, c, code, nil)
	if err != nil {
		return nil, err
	}
	owners, err := a.accounts(ctx, tokens.Access)
	if err != nil {
		return nil, err
	}
	var all []networks.Choice
	for _, owner := range owners {
		err := a.eachLocation(ctx, tokens.Access, owner, func(l place) bool {
			one := networks.Choice{Kind: "Location", Tokens: tokens,
				Profile: networks.Profile{RemoteID: owner + "/" + l.Name, Handle: l.Title, Name: l.Title}}
			if l.closed() {
				one.Lacks = sayNoPosts
			}
			all = append(all, one)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Permission, "no_location", "This Google account manages no business location. Sign in with one that does.")
	}
	return all, nil
}

// mostPages bounds how far a list is read.
const mostPages = 20

// accounts are the names of the accounts that the person manages, as accounts/1.
func (a *Adapter) accounts(ctx context.Context, token secret.Token) (names []string, err error) {
	c := rest.Call{Step: httpx.Check, Method: http.MethodGet, Path: "accounts", Token: token, Query: url.Values{}}
	for range mostPages {
		var page struct {
			Accounts []struct {
				Name string `json:"name"`
			} `json:"accounts"`
			Next string `json:"nextPageToken"`
		}
		if _, err := a.owners.Do(ctx, c, &page); err != nil {
			return nil, err
		}
		for _, one := range page.Accounts {
			names = append(names, one.Name)
		}
		if page.Next == "" {
			break
		}
		c.Query.Set("pageToken", page.Next)
	}
	return names, nil
}

// place is a location as its account lists it.
type place struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Metadata struct {
		May *bool `json:"canOperateLocalPost"`
	} `json:"metadata"`
}

func (p place) closed() bool { return p.Metadata.May != nil && !*p.Metadata.May }

const sayNoPosts = "Google does not let this location post: some kinds of business may not, and new ones have to be verified first."

// eachLocation shows the locations of an account to see, until see has seen enough.
func (a *Adapter) eachLocation(ctx context.Context, token secret.Token, owner string, see func(place) (more bool)) error {
	c := rest.Call{Step: httpx.Check, Method: http.MethodGet, Path: owner + "/locations", Token: token,
		Query: url.Values{"readMask": {"name,title,metadata"}, "pageSize": {"100"}}}
	for range mostPages {
		var page struct {
			Locations []place `json:"locations"`
			Next      string  `json:"nextPageToken"`
		}
		if _, err := a.places.Do(ctx, c, &page); err != nil {
			return err
		}
		for _, l := range page.Locations {
			if !see(l) {
				return nil
			}
		}
		if page.Next == "" {
			break
		}
		c.Query.Set("pageToken", page.Next)
	}
	return nil
}

// Revoke ends all that Google granted.
func (a *Adapter) Revoke(ctx context.Context, _ networks.App, account networks.Account) error {
	return a.signIn.Revoke(ctx, networks.Longest(account))
}
