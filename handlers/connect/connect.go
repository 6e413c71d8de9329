// Package connect is how a person's sign-in at a network becomes accounts: it sends
// them there, takes them up when they are back, and shows what they may choose from.
//
// Nothing that comes back with a person is believed but the state, and that only in
// the browser that took it along: workspace, client, network and person are what was
// kept with it. It works once, and runs out.
//
// Somebody of a client can do the same by an e-mailed link, without a user here: for
// that client, at the networks of the link. GET and HEAD of a link change nothing,
// whoever opens it; each POST needs a token from its page. Start with Register, then
// start.go, then link.go.
package connect

import (
	"context"
	"time"

	"herald/db"
	"herald/db/network"
	"herald/db/secret"
	"herald/handlers/web"
)

// Networks asks networks on behalf of whoever connects accounts. A refusal is a
// sentence for them.
type Networks interface {
	// Missing says why nobody can sign in at a network here; empty if they can.
	Missing(name network.Name) string
	// Asks lists the permissions that people are asked for there, whichever way they sign
	// in: what our app there has to have.
	Asks(name network.Name) []string
	// Servers says whether the network is many servers, each with an app of ours.
	Servers(name network.Name) bool
	Register(ctx context.Context, name network.Name, address, redirect string) (db.App, error)
	Authorize(t Trip) string
	Connect(ctx context.Context, t Trip, code string) ([]db.Choice, error)
	// Revoke asks a network to end what an account published with, where it can be
	// asked and nothing else uses it.
	Revoke(ctx context.Context, p db.Parting) error
}

// Trip is a sign-in as a network is asked about it.
type Trip struct {
	db.Consent
	App      db.App // at the server, of a network that is many
	Redirect string
	State    string
}

// Deps are what connecting works with.
type Deps struct {
	*web.Edge
	Networks     Networks
	CheckAddress AddressChecker
	CheckToken   TokenChecker
	BaseURL      string
	Ring         *secret.Ring  // signs the address of a logo
	URLLife      time.Duration // of it
	Secure       bool          // cookies over https only
}

type handler struct{ Deps }

// Register adds the addresses.
func Register(mux web.Mux, d Deps) {
	h := &handler{d}
	mux.Handle("POST /oauth/{network}/start", d.Open(h.start))
	mux.Handle("GET /oauth/{network}/callback", d.Open(h.back))
	mux.Handle("GET /connect/{token}", h.opened(h.showLink))
	mux.Handle("GET /connect/{token}/networks/{network}", h.opened(h.showNetwork))
	mux.Handle("POST /connect/{token}/accounts", h.confirmed(h.createAccount))
	mux.Handle("GET /connect/{token}/consents/{consent}", h.opened(h.showConsent))
	mux.Handle("POST /connect/{token}/consents/{consent}", h.confirmed(h.createConnections))
	mux.Handle("POST /connect/{token}/end", h.confirmed(h.end))
	mux.Handle("POST /connect/{token}/links", d.Open(h.createLink))
}

func (h *handler) redirect(name network.Name) string {
	return h.BaseURL + "/oauth/" + string(name) + "/callback"
}
