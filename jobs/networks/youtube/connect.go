package youtube

import (
	"context"

	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

// Authorize is the page of Google that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect lists the channels of the person.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	tokens, err := a.signIn.Redeem(ctx, c, code, nil)
	if err != nil {
		return nil, err
	}
	channels, err := a.channels(ctx, networks.Job{Account: networks.Account{Token: tokens.Access}}, httpx.Check)
	if err != nil {
		return nil, err
	}
	var all []networks.Choice
	for _, one := range channels {
		all = append(all, networks.Choice{Profile: one.profile(), Kind: "Channel", Tokens: tokens})
	}
	return all, nil
}

// Revoke ends all that Google granted for the channel.
func (a *Adapter) Revoke(ctx context.Context, _ networks.App, account networks.Account) error {
	return a.signIn.Revoke(ctx, networks.Longest(account))
}
