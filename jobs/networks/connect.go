package networks

import (
	"context"
	"maps"

	"herald/db/secret"
)

// Connector is an adapter whose accounts a person connects by signing in at the
// network: OAuth 2 by authorization code (RFC 6749, section 4.1).
type Connector interface {
	// Authorize is the address of the page at which the network asks the person.
	Authorize(c Consent) string

	// Connect exchanges the code that the person brought back, which works once, and
	// lists what can be connected with it. Auth: the code is no good, and the person
	// has to begin again; Permission: they did not grant enough; Transient: the network
	// could not be asked.
	Connect(ctx context.Context, c Consent, code string) ([]Choice, error)
}

// Registrar is a Connector whose network is many servers, each of which has to be
// told of our app.
type Registrar interface {
	Register(ctx context.Context, address, redirect string) (App, error)
}

// Revoker is an adapter that can give a token back, so that it is worth nothing
// even to who kept a copy. app is ours at the account's server, where it has one.
type Revoker interface {
	Revoke(ctx context.Context, app App, account Account) error
}

// Consent is one sign-in of a person at a network: the same on the way there and
// on the way back.
type Consent struct {
	App      App    // of the server; zero where the configuration has the one app
	Way      string // which of the catalogue's ways to sign in; empty where there is one
	Address  string // the server, of a network that is many
	Redirect string // where the network sends the person back to
	State    string // comes back with them
	Verifier string // of PKCE (RFC 7636), made for this sign-in
}

// App is our app at one server.
type App struct {
	ID     string
	Secret secret.Token
}

// Choice is one thing that a sign-in lets us publish to.
type Choice struct {
	Profile
	Kind   string // what the network calls it, as Page
	Tokens Tokens // those of the person, or its own
	Lacks  string // why nothing can be published there, one sentence; empty if it can
}

// Only is the one choice of a network whose sign-in is for one account.
func Only(ctx context.Context, a Checker, account Account, kind string, t Tokens) ([]Choice, error) {
	account.Token, account.Refresh = t.Access, t.Refresh
	p, err := a.Check(ctx, account)
	if err != nil {
		return nil, err
	}
	return []Choice{{Profile: p, Kind: kind, Tokens: t}}, nil
}

// Longest is the credential of an account that lives longest: where one is given
// back, all that grew out of it ends.
func Longest(account Account) secret.Token {
	if account.Refresh.Empty() {
		return account.Token
	}
	return account.Refresh
}

// With is settings laid over others.
func With(settings, over map[string]string) map[string]string {
	all := maps.Clone(settings)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, over)
	return all
}
