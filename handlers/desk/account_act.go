package desk

import (
	"context"
	"net/http"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/handlers/web"
	"herald/views/accounts"
)

// pauseAccount answers POST /accounts/{account}/pause.
func (d *Desk) pauseAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	paused := r.PostFormValue("paused") == "true"
	a, err := scope.PauseAccount(r.Context(), pathID[model.AccountID](r, "account"), accountSeen(r), paused)
	if err != nil {
		return err
	}
	return d.say(w, r, backTo(r, scope, a), a.Handle+pausedWords(paused))
}

func pausedWords(paused bool) string {
	if paused {
		return " is paused. What is due waits until it is resumed."
	}
	return " is resumed. What waited goes out shortly."
}

func accountSeen(r *http.Request) int {
	n, _ := web.Count(r.PostFormValue("seen")) // what is no number was never seen
	return n
}

// backTo is the page that sent the form: the account's own, or the list.
func backTo(r *http.Request, scope *db.Scope, a db.AccountCard) string {
	if own := accountPath(scope, a, ""); strings.HasSuffix(r.Referer(), own) {
		return own
	}
	return at(scope, "/accounts#account-"+id(a.ID))
}

// switchAccount answers POST /accounts/{account}/state.
func (d *Desk) switchAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	on := r.PostFormValue("on") == "true"
	a, err := scope.SwitchAccount(r.Context(), pathID[model.AccountID](r, "account"), accountSeen(r), on)
	if err != nil {
		return err
	}
	words := a.Handle + " is disabled. It takes no posts until it is enabled again."
	switch {
	case on && a.State == db.AccountReconnect:
		words = a.Handle + " is enabled, and needs a token before it can publish."
	case on:
		words = a.Handle + " is enabled again."
	}
	return d.say(w, r, accountPath(scope, a, ""), words)
}

// createAccountRetries answers POST /accounts/{account}/retries: what a lost
// connection held up goes out now.
func (d *Desk) createAccountRetries(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	n, err := scope.RetryStuck(r.Context(), pathID[model.AccountID](r, "account"))
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/accounts"), countPosts(n)+" on the way again.")
}

// createConnection answers POST /accounts/{account}/connection: a new token, or a
// new secret, which is shown this once.
func (d *Desk) createConnection(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	account := pathID[model.AccountID](r, "account")
	a, err := scope.Account(r.Context(), account)
	if err != nil {
		return err
	}
	c, made, err := connect.ReadCredentials(r, signs(a.Network), a.Zone)
	if err == nil && !made {
		err = connect.Filled(r, network.Entry{Fields: []network.Field{connect.SecretField(a.Network, a.Publisher)}}, &c)
	}
	if err == nil {
		err = d.checkToken(r.Context(), scope, a.ClientID, &c, connect.Connection{Network: a.Network, Publisher: a.Publisher, RemoteID: a.RemoteID, Address: a.Address, Handle: a.Handle, Settings: a.Settings})
	}
	if err == nil {
		a, err = scope.ReconnectAccount(r.Context(), account, accountSeen(r), c)
	}
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawAccount(w, r, scope, web.Status(err), func(p *accounts.AccountProps) {
			if p.Connect != nil {
				p.Connect.Expires, p.Connect.Problem = r.PostFormValue("expires"), map[string]string{no.Field: no.Say}
			}
		})
	}
	if err != nil {
		return err
	}
	if made {
		return d.drawAccount(w, r, scope, http.StatusOK, func(p *accounts.AccountProps) { p.Secret = c.Token.Reveal() })
	}
	words := a.Handle + " is connected again."
	if a.Stuck > 0 {
		words += " " + countPosts(a.Stuck) + " waiting for a retry."
	}
	return d.say(w, r, accountPath(scope, a, ""), words)
}

// checkToken asks the network at once whether it takes the token, and keeps what
// it says of the account. Only who may manage the client's accounts makes Herald
// call anybody.
func (d *Desk) checkToken(ctx context.Context, scope *db.Scope, client model.ClientID, c *db.Credentials, to connect.Connection) (err error) {
	if !scope.Actor.May(model.AccountsManage, client) {
		return nil // saving says why not
	}
	if err := c.Check(d.Now()); err != nil {
		return err
	}
	to.Token = c.Token
	c.Learned, err = d.CheckToken(ctx, to)
	return err
}

// editAccount answers POST /accounts/{account}: what is entered by hand.
func (d *Desk) editAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	account := pathID[model.AccountID](r, "account")
	before, err := scope.Account(r.Context(), account)
	if err != nil {
		return err
	}
	f := connect.ReadAccount(r)
	keepUnasked(r, &f, before)
	if err = d.CheckAddress.Clean(before.Network, &f, before.Address); err == nil {
		before, err = scope.EditAccount(r.Context(), account, accountSeen(r), f)
	}
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawAccount(w, r, scope, web.Status(err), func(p *accounts.AccountProps) {
			if p.Details != nil {
				p.Details.Handle, p.Details.RemoteID, p.Details.Address = f.Handle, f.RemoteID, f.Address
				p.Details.NewKey, p.Details.NewValue = r.PostFormValue("new_key"), r.PostFormValue("new_value")
				p.Details.Problem = map[string]string{no.Field: no.Say}
			}
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, accountPath(scope, before, ""), "Details saved.")
}

// keepUnasked keeps what the form of this network has no field for.
func keepUnasked(r *http.Request, f *db.AccountForm, a db.AccountCard) {
	if !r.PostForm.Has("remote_id") {
		f.RemoteID = a.RemoteID
	}
	if !r.PostForm.Has("address") {
		f.Address = a.Address
	}
}

// pauseClient answers POST /clients/{client}/pause.
func (d *Desk) pauseClient(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client, paused := pathID[model.ClientID](r, "client"), r.PostFormValue("paused") == "true"
	name, err := scope.PauseClient(r.Context(), client, paused)
	if err != nil {
		return err
	}
	return d.say(w, r, web.LocalPath(r.PostFormValue("back"), at(scope, "/accounts#client-"+id(client))), name+pausedWords(paused))
}

// pauseWorkspace answers POST /pause.
func (d *Desk) pauseWorkspace(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	paused := r.PostFormValue("paused") == "true"
	if err := scope.PauseWorkspace(r.Context(), paused); err != nil {
		return err
	}
	return d.say(w, r, web.LocalPath(r.PostFormValue("back"), at(scope, "/accounts")), "The workspace"+pausedWords(paused))
}
