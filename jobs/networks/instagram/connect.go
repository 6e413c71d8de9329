package instagram

import (
	"context"
	"net/url"

	"herald/db/network"
	"herald/jobs/networks"
)

// asks are what the page asks for: the profile, to publish, and to comment.
var asks = []string{"instagram_business_basic", "instagram_business_content_publish", "instagram_business_manage_comments"}

// Authorize is the page of Instagram that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect gets the account's token, which holds sixty days and renews itself while it
// lives: it is its own refresh token.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	short, err := a.code.Redeem(ctx, c, "oauth/access_token", code)
	if err != nil {
		return nil, err
	}
	k := a.code
	k.Door = a.renewal
	tokens, err := k.Prolong(ctx, "access_token", url.Values{"grant_type": {"ig_exchange_token"}, "access_token": {short.Token}})
	if err != nil {
		return nil, err
	}
	tokens.Refresh, tokens.Scopes = tokens.Access, short.Permissions
	login := map[string]string{"login": "instagram"}
	all, err := networks.Only(ctx, a, networks.Account{Network: network.Instagram, Settings: login}, "Account", tokens)
	for i := range all {
		all[i].Settings = networks.With(all[i].Settings, login)
	}
	return all, err
}
