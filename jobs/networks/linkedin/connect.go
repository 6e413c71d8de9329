package linkedin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// member is what any app may ask for once it has the product "Share on LinkedIn";
// organisation needs the Community Management product, and LinkedIn refuses the whole
// sign-in of an app that asks for it without.
var (
	member       = []string{"openid", "profile", "w_member_social"}
	organisation = []string{"w_organization_social", "r_organization_social", "rw_organization_admin"}
)

func (a *Adapter) asks(c networks.Consent) []string {
	if c.Way == network.WayPages {
		return append(slices.Clone(member), organisation...)
	}
	return member
}

// Authorize is the page of LinkedIn that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string {
	s := a.signIn
	s.Scopes = a.asks(c)
	return s.Authorize(c)
}

// Connect lists the member, and the organisations for which they may post if those
// were asked for.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	tokens, err := a.signIn.Redeem(ctx, c, code, nil)
	if err != nil {
		return nil, err
	}
	all, err := networks.Only(ctx, a, networks.Account{}, "Profile", tokens)
	if err != nil || c.Way != network.WayPages {
		return all, err
	}
	pages, err := a.organisations(ctx, networks.Account{Token: tokens.Access})
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		all = append(all, networks.Choice{Profile: p, Kind: "Organisation", Tokens: tokens})
	}
	return all, nil
}

// organisations are those for which the token's member may post, with their names.
func (a *Adapter) organisations(ctx context.Context, account networks.Account) (list []networks.Profile, err error) {
	var urns []string
	for _, role := range roles {
		has, err := a.roles(ctx, account, role)
		if f := fault.Of(err); f != nil && f.Kind == fault.Validation {
			continue // a role that this version does not know
		}
		if err != nil {
			return nil, err
		}
		urns = append(urns, has...)
	}
	slices.Sort(urns)
	for _, urn := range slices.Compact(urns) {
		name := a.nameOf(ctx, account, urn)
		list = append(list, networks.Profile{RemoteID: urn, Handle: name, Name: name})
	}
	return list, nil
}

// nameOf is what an organisation is called; its number where LinkedIn does not say.
func (a *Adapter) nameOf(ctx context.Context, account networks.Account, urn string) string {
	id := strings.TrimPrefix(urn, "urn:li:organization:")
	var o struct {
		Name string `json:"localizedName"`
	}
	_, err := a.door.Do(ctx, a.call(networks.Job{Account: account}, httpx.Check, http.MethodGet, "rest/organizations/"+url.PathEscape(id), nil), &o)
	if err != nil || o.Name == "" {
		return "Organisation " + id
	}
	return httpx.SafeText(o.Name)
}

// Revoke gives the token back.
func (a *Adapter) Revoke(ctx context.Context, _ networks.App, account networks.Account) error {
	return a.signIn.Revoke(ctx, account.Token)
}
