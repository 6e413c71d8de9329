package threads

import (
	"context"
	"net/url"

	"herald/jobs/networks"
)

// asks are what the page asks for: the profile, to publish, and to answer, which
// threads and first comments need.
var asks = []string{"threads_basic", "threads_content_publish", "threads_manage_replies", "threads_read_replies"}

// Authorize is the page of Threads that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect gets the profile's token, which holds sixty days and renews itself while it
// lives: it is its own refresh token.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	short, err := a.code.Redeem(ctx, c, "oauth/access_token", code)
	if err != nil {
		return nil, err
	}
	tokens, err := a.code.Prolong(ctx, "access_token", url.Values{"grant_type": {"th_exchange_token"}, "access_token": {short.Token}})
	if err != nil {
		return nil, err
	}
	tokens.Refresh, tokens.Scopes = tokens.Access, short.Permissions
	return networks.Only(ctx, a, networks.Account{}, "Profile", tokens)
}
