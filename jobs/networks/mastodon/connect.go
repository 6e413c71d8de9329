package mastodon

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/oauth"
)

// asks are what the server is asked for: whose account it is, to post with files, and
// to read what was posted, which the look-up needs.
var asks = []string{"read:accounts", "read:statuses", "write:statuses", "write:media"}

// Register tells a server of our app, which it has to know before it asks anybody.
func (a *Adapter) Register(ctx context.Context, address, redirect string) (networks.App, error) {
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	c := call{job: networks.Job{Account: networks.Account{Address: address}}, step: httpx.Token, method: http.MethodPost, path: "/api/v1/apps",
		form: url.Values{"client_name": {"Herald"}, "redirect_uris": {redirect}, "scopes": {strings.Join(asks, " ")}}}
	answer, err := a.do(ctx, c, &made)
	if err == nil && (made.ID == "" || made.Secret == "") {
		err = httpx.Unparsable(httpx.Token, answer)
	}
	if err != nil {
		return networks.App{}, notThere(err)
	}
	return networks.App{ID: made.ID, Secret: secret.NewToken(made.Secret)}, nil
}

// notThere says of an address that has no such thing what it is.
func notThere(err error) error {
	if f := fault.Of(err); f.Kind == fault.Validation || f.Code == "unparsable" {
		return fault.New(fault.Validation, "no_server", "No Mastodon server answers at this address. Check how it is written.")
	}
	return err
}

// signIn is how a server has OAuth.
func (a *Adapter) signIn(c networks.Consent) oauth.SignIn {
	at := a.address(networks.Account{Address: c.Address})
	return oauth.SignIn{Page: at + "/oauth/authorize", Scopes: asks, Proof: oauth.S256, End: at + "/oauth/revoke",
		Endpoint: oauth.Endpoint{HTTP: a.http, URL: at + "/oauth/token", ID: c.App.ID, Secret: c.App.Secret.Reveal(), Network: "The server", Now: a.now}}
}

// Authorize is the server's page that asks the person.
func (a *Adapter) Authorize(c networks.Consent) string { return a.signIn(c).Authorize(c) }

// Connect gets the account's token, which does not run out by itself.
func (a *Adapter) Connect(ctx context.Context, c networks.Consent, code string) ([]networks.Choice, error) {
	tokens, err := a.signIn(c).Redeem(ctx, c, code, nil)
	if err != nil {
		return nil, err
	}
	return networks.Only(ctx, a, networks.Account{Address: c.Address}, "Account", tokens)
}

// Revoke gives the token back, which only the app it was made for can.
func (a *Adapter) Revoke(ctx context.Context, app networks.App, account networks.Account) error {
	if app.ID == "" {
		return nil
	}
	return a.signIn(networks.Consent{App: app, Address: account.Address}).Revoke(ctx, account.Token)
}
