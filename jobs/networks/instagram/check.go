package instagram

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/graph"
	"herald/jobs/networks/httpx"
)

// Check asks which account the token is for. What Facebook lists as granted
// comes along where it will say; empty Scopes means not known.
func (a *Adapter) Check(ctx context.Context, account networks.Account) (networks.Profile, error) {
	var user struct {
		ID       graph.ID `json:"id"`
		UserID   graph.ID `json:"user_id"`
		Username string   `json:"username"`
		Name     string   `json:"name"`
		Type     string   `json:"account_type"`
	}
	c := graph.Call{Step: httpx.Check, Token: account.Token, Method: http.MethodGet,
		Path: url.PathEscape(account.RemoteID), Query: url.Values{"fields": {"id,username,name"}}}
	if byInstagram(account) {
		c.Path, c.Query = "me", url.Values{"fields": {"user_id,username,account_type"}}
	}
	if c.Path == "" {
		return networks.Profile{}, fault.New(fault.Auth, "account_unknown", "Herald does not know which Instagram account this is. Reconnect the account.")
	}
	answer, err := a.door(account).Do(ctx, c, &user)
	if err != nil {
		return networks.Profile{}, err
	}
	id := cmp.Or(user.UserID, user.ID)
	if id == "" {
		return networks.Profile{}, httpx.Unparsable(httpx.Check, answer)
	}
	p := networks.Profile{RemoteID: string(id), Handle: user.Username, Name: user.Name}
	if user.Type != "" {
		p.Settings = map[string]string{"account_type": user.Type}
	}
	if !byInstagram(account) {
		p.Scopes, _ = graph.Scopes(ctx, a.door(account), account.Token) // the token works, whether or not it may ask
	}
	return p, nil
}

// Refresh renews a token of the sign-in through Instagram, once it is a day old
// and while it lives; it then holds 60 days. Tokens of the sign-in through
// Facebook cannot be renewed: a person has to connect again, which is Auth.
func (a *Adapter) Refresh(ctx context.Context, account networks.Account) (networks.Tokens, error) {
	if !byInstagram(account) {
		return networks.Tokens{}, fault.New(fault.Auth, "no_renewal", "This connection cannot be renewed without you. Reconnect the account.")
	}
	var renewed struct {
		Token   string    `json:"access_token"`
		Seconds graph.Int `json:"expires_in"`
	}
	// This one call is documented with the token as a parameter, and no other way.
	c := graph.Call{Step: httpx.Token, Method: http.MethodGet,
		Path: "refresh_access_token", Query: url.Values{"grant_type": {"ig_refresh_token"}, "access_token": {account.Token.Reveal()}}}
	answer, err := a.renewal.Do(ctx, c, &renewed)
	if err != nil {
		return networks.Tokens{}, err
	}
	if renewed.Token == "" {
		return networks.Tokens{}, httpx.Unparsable(httpx.Token, answer)
	}
	t := networks.Tokens{Access: secret.NewToken(renewed.Token)}
	if !account.Refresh.Empty() {
		t.Refresh = t.Access // the token is its own refresh token
	}
	if renewed.Seconds > 0 {
		t.Expires = a.now().Add(time.Duration(renewed.Seconds) * time.Second)
	}
	return t, nil
}
