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
	for _, path := range []string{"/oauth/", "/connect/"} {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: token, Path: path, MaxAge: 24 * 60 * 60, HttpOnly: true, Secure: h.Secure, SameSite: http.SameSiteLaxMode})
	}
	return hash
}

// start answers POST /oauth/{network}/start with a page that leads to the network.
// A redirect would not do: what a form may lead to is only ourselves.
func (h *handler) start(w http.ResponseWriter, r *http.Request) error {
	n, ok := network.Get(network.Name(r.PathValue("network")))
	if !ok {
		return errNoNetwork
	}
	if r.PostFormValue("link") != "" {
		return h.startByLink(w, r, n)
	}
	scope, err := h.who(r)
	if err != nil {
		return err
	}
	t, err := h.trip(r, scope, n, model.ClientID(web.ID(r.PostFormValue("client"))))
	if err != nil {
		return err
	}
	return h.leave(w, r, scope, n, t)
}

// startByLink is start for whoever holds a link. What is refused leads back to its page.
func (h *handler) startByLink(w http.ResponseWriter, r *http.Request, n *network.Network) error {
	token := r.PostFormValue("link")
	r.SetPathValue("token", token)
	cs, err := h.Store.Connecting(r.Context(), token, h.mark(w, r))
	if cs == nil {
		return err
	}
	if err == nil {
		err = cs.Confirm(r.PostFormValue("page"))
	}
	if err == nil {
		err = h.tooFast(r.Context(), token)
	}
	var t Trip
	if err == nil {
		t, err = h.trip(r, cs.Scope(), n, cs.ClientID())
	}
	if err == nil {
		err = h.leave(w, r, cs.Scope(), n, t)
	}
	if err == nil {
		return nil
	}
	if no, ok := model.Refused(err); ok && no.Field == "address" {
		if v, err := wayOf(r, cs, n.Name, "", ""); err == nil {
			web.LinkHeaders(w, h.BaseURL)
			return h.drawWay(w, r, cs, web.Status(no), v, no)
		}
	}
	return h.stopped(w, r, nil, db.Consent{Door: secret.NewToken(token)}, err)
}

// pathToken is the token of the link that the address names.
func pathToken(r *http.Request) secret.Token { return secret.NewToken(r.PathValue("token")) }

// leave begins the sign-in, and draws the page that leads to the network.
func (h *handler) leave(w http.ResponseWriter, r *http.Request, scope *db.Scope, n *network.Network, t Trip) (err error) {
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
func (h *handler) trip(r *http.Request, scope *db.Scope, n *network.Network, client model.ClientID) (t Trip, err error) {
	t.Network, t.Client, t.Account, t.Way = n.Name, client, model.AccountID(web.ID(r.PostFormValue("account"))), r.PostFormValue("way")
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
