package mailchimp

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

// Authorize is the page of Mailchimp that asks the person. It knows no scopes.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn.Authorize(c) }

// Connect lists the audiences of the account. Its token does not run out, and says
// nothing of the datacenter that it is good at: that is asked for.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	tokens, err := a.signIn.Redeem(ctx, c, code, nil)
	if err != nil {
		return nil, err
	}
	dc, err := a.where(ctx, tokens.Access)
	if err != nil {
		return nil, err
	}
	account := networks.Account{Token: tokens.Access, Settings: map[string]string{"dc": dc}}
	var page struct {
		Lists []audience `json:"lists"`
	}
	list := a.call(networks.Job{Account: account}, httpx.Check, http.MethodGet, "lists", nil)
	list.Query = url.Values{"count": {"1000"}}
	if _, err := a.door.Do(ctx, list, &page); err != nil {
		return nil, err
	}
	var all []networks.Choice
	for _, l := range page.Lists {
		all = append(all, networks.Choice{Kind: "Audience", Tokens: tokens, Profile: networks.Profile{RemoteID: l.ID, Handle: l.Name, Name: l.Name, Settings: account.Settings}})
	}
	if len(all) == 0 {
		err = fault.New(fault.Permission, "no_audience", "This Mailchimp account has no audience. Make one there, then connect it again.")
	}
	return all, err
}

// where is the datacenter that a token is good at.
func (a *Adapter) where(ctx context.Context, token secret.Token) (string, error) {
	door := a.door
	door.Sign = func(req *http.Request, t secret.Token) { req.Header.Set("Authorization", "OAuth "+t.Reveal()) }
	var about struct {
		DC string `json:"dc"`
	}
	answer, err := door.Do(ctx, rest.Call{Step: httpx.Check, Method: http.MethodGet, Address: a.about, Token: token}, &about)
	if err == nil && !datacenter.MatchString(about.DC) {
		err = httpx.Unparsable(httpx.Check, answer)
	}
	return about.DC, err
}
