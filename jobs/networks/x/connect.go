package x

import (
	"context"

	"herald/jobs/networks"
)

// Authorize is the page of X that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect redeems the code, which is good for half a minute.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	tokens, err := a.signIn.Redeem(ctx, c, code, nil)
	if err != nil {
		return nil, err
	}
	return networks.Only(ctx, a, networks.Account{}, "Account", tokens)
}

// Revoke gives the refresh token back, and all that came of it.
func (a *Adapter) Revoke(ctx context.Context, _ networks.App, account networks.Account) error {
	return a.signIn.Revoke(ctx, networks.Longest(account))
}
