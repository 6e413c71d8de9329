package facebook

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// asks are what the dialog asks for: to list Pages, to post, and to read what was
// posted, which the look-up needs.
var asks = []string{"pages_show_list", "pages_manage_posts", "pages_read_engagement", "pages_manage_engagement", "pages_read_user_content", "business_management"}

// Authorize is the dialog that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect lists the Pages of the person, each with a token of its own that does not
// run out by itself.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	short, err := a.code.Redeem(ctx, c, "oauth/access_token", code)
	if err != nil {
		return nil, err
	}
	long, err := a.code.Prolong(ctx, "oauth/access_token", url.Values{"grant_type": {"fb_exchange_token"}, "client_id": {a.code.ID}, "fb_exchange_token": {short.Token}})
	if err != nil {
		return nil, err
	}
	scopes, err := graph.Scopes(ctx, &a.door, long.Access)
	if err != nil {
		return nil, err
	}
	return a.pages(ctx, long.Access, scopes)
}

func (a *Adapter) pages(ctx context.Context, person secret.Token, scopes []string) (all []networks.Choice, err error) {
	c := graph.Call{Step: httpx.Check, Token: person, Method: http.MethodGet, Path: "me/accounts", Query: url.Values{"fields": {"id,name,username,access_token,tasks"}, "limit": {"100"}}}
	_, err = graph.Pages(ctx, &a.door, c, func(p pageEntry) bool {
		all = append(all, p.choice(scopes))
		return true
	})
	if err == nil && len(all) == 0 {
		err = fault.New(fault.Permission, "no_page", "Facebook shows Herald no Page of yours. Sign in again and choose the Pages it may use, or ask for a role on the Page.")
	}
	return all, err
}

// pageEntry is a Page as the person's list has it.
type pageEntry struct {
	ID       graph.ID `json:"id"`
	Name     string   `json:"name"`
	Username string   `json:"username"`
	Token    string   `json:"access_token"`
	Tasks    []string `json:"tasks"`
}

func (p pageEntry) choice(scopes []string) networks.Choice {
	c := networks.Choice{Kind: "Page", Profile: networks.Profile{RemoteID: string(p.ID), Handle: cmp.Or(p.Name, p.Username), Name: p.Name},
		Tokens: networks.Tokens{Access: secret.NewToken(p.Token), Scopes: scopes}}
	if p.Token == "" || len(p.Tasks) > 0 && !slices.Contains(p.Tasks, "CREATE_CONTENT") {
		c.Lacks = "Your role on this Page does not let you post. Ask one of its admins for the right to create content."
	}
	return c
}
