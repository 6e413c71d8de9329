package facebook

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"herald/jobs/networks"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// Check asks which Page the token is for. What Facebook lists as granted comes
// along where it will say; a Page's own token often may not ask, and then
// Scopes stays empty, which means not known.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var page struct {
		ID       graph.ID `json:"id"`
		Name     string   `json:"name"`
		Username string   `json:"username"`
	}
	c := graph.Call{Step: httpx.Check, Token: account.Token, Method: http.MethodGet,
		Path: url.PathEscape(cmp.Or(account.RemoteID, "me")), Query: url.Values{"fields": {"id,name,username"}}}
	answer, err := a.door.Do(ctx, c, &page)
	if err != nil {
		return networks.Profile{}, err
	}
	if page.ID == "" {
		return networks.Profile{}, httpx.Unparsable(httpx.Check, answer)
	}
	scopes, _ := graph.Scopes(ctx, &a.door, account.Token) // the token works, whether or not it may ask
	return networks.Profile{RemoteID: string(page.ID), Handle: page.Username, Name: page.Name, Scopes: scopes}, nil
}
