package connect

import (
	"context"
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/handlers/web"
	"herald/views/accounts"
)

// cookie binds a sign-in to the browser it was begun in. It is sent to no address but
// those of this package, and over to them also from other sites, as a network is.
const cookie = "herald_consent"

// browser is the hash of the browser's own secret; zero if it has none.
func browser(r *http.Request) [32]byte {
	c, err := r.Cookie(cookie)
	if err != nil || len(c.Value) < 43 {
		return [32]byte{}
	}
	return secret.HashToken(c.Value)
}

// mark gives the browser a secret of its own, unless it has one.
func (h *handler) mark(w http.ResponseWriter, r *http.Request) [32]byte {
	if hash := browser(r); hash != [32]byte{} {
		return hash
	}
	token, hash := secret.NewLinkToken()
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: token, Path: "/oauth/", MaxAge: 24 * 60 * 60, HttpOnly: true, Secure: h.Secure, SameSite: http.SameSiteLaxMode})
	return hash
}

// start answers POST /oauth/{network}/start with a page that leads to the network.
// A redirect would not do: what a form may lead to is only ourselves.
func (h *handler) start(w http.ResponseWriter, r *http.Request) error {
	n, ok := network.Get(network.Name(r.PathValue("network")))
	if !ok {
		return errNoNetwork
	}
	scope, err := h.who(r)
	if err != nil {
		return err
	}
	t, err := h.trip(r, scope, n)
	if err != nil {
		return err
	}
	if t.Consent, t.State, err = scope.StartConsent(r.Context(), t.Consent, h.mark(w, r)); err != nil {
		return err
	}
	to := h.Networks.Authorize(t)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Refresh", "0;url="+to)
	return web.Render(w, r, http.StatusOK, accounts.Leaving(n.Label, to))
}

var errNoNetwork = model.Refuse(model.NotFound, "There is no such network.")

// who is the member who asks.
func (h *handler) who(r *http.Request) (*db.Scope, error) {
	user, err := h.Sessions.User(r)
	if err != nil {
		return nil, err
	}
	if user == 0 {
		return nil, model.Refuse(model.Forbidden, "You are signed out. Sign in to Herald, then begin again.")
	}
	return h.Store.Enter(r.Context(), user, r.PostFormValue("workspace"))
}

// trip reads the form, and makes sure that the server knows our app.
func (h *handler) trip(r *http.Request, scope *db.Scope, n *network.Network) (t Trip, err error) {
	t.Network, t.Client, t.Account, t.Way = n.Name, model.ClientID(web.ID(r.PostFormValue("client"))), model.AccountID(web.ID(r.PostFormValue("account"))), r.PostFormValue("way")
	t.Redirect = h.redirect(n.Name)
	if _, ok := n.SignInOf(t.Way); !ok {
		return t, errNoNetwork
	}
	if say := h.Networks.Missing(n.Name); say != "" {
		return t, model.Refuse(model.Conflict, say)
	}
	if !scope.Actor.May(model.AccountsManage, t.Client) {
		return t, model.Refuse(model.NotFound, "There is no such client.")
	}
	if !h.Networks.Servers(n.Name) {
		return t, nil
	}
	if t.Address, err = h.server(r.Context(), scope, n, r.PostFormValue("address"), t.Account); err != nil {
		return t, err
	}
	t.App, err = h.app(r.Context(), scope, t)
	return t, err
}

// server is the address that was typed, or that of the account to be connected again.
func (h *handler) server(ctx context.Context, scope *db.Scope, n *network.Network, typed string, account model.AccountID) (string, error) {
	if account != 0 {
		a, err := scope.Account(ctx, account)
		return a.Address, err
	}
	address, say := network.CleanAddress(n.Name, typed)
	if say != "" {
		return "", model.RefuseField("address", say)
	}
	return address, h.CheckAddress(address)
}

// app is ours at the server. One that is not known there yet is registered.
func (h *handler) app(ctx context.Context, scope *db.Scope, t Trip) (db.App, error) {
	app, ok, err := scope.ServerApp(ctx, t.Network, t.Address)
	if err != nil || ok {
		return app, err
	}
	if app, err = h.Networks.Register(ctx, t.Network, t.Address, t.Redirect); err != nil {
		return app, err
	}
	return app, scope.KeepServerApp(ctx, t.Network, t.Address, app)
}
