package desk

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
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
	c, made, err := readCredentials(r, signs(a.Network), a.Zone)
	if err == nil {
		err = d.checkToken(r.Context(), scope, a.ClientID, &c, Connection{Network: a.Network, Publisher: a.Publisher, RemoteID: a.RemoteID, Address: a.Address, Handle: a.Handle, Settings: a.Settings})
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
func (d *Desk) checkToken(ctx context.Context, scope *db.Scope, client model.ClientID, c *db.Credentials, to Connection) (err error) {
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

// shortestSecret is the least length of a signing secret of a person's own.
const shortestSecret = 16

// readCredentials reads a token from the form, or makes a secret where the form
// asks for one.
func readCredentials(r *http.Request, webhook bool, zone string) (c db.Credentials, made bool, err error) {
	token := strings.TrimSpace(r.PostFormValue("token"))
	if webhook && r.PostFormValue("make") != "false" {
		token, _ = secret.NewLinkToken()
		return db.Credentials{Token: secret.NewToken(token)}, true, nil
	}
	if webhook && len(token) < shortestSecret {
		return c, false, model.RefuseField("token", "A signing secret has at least 16 characters.")
	}
	c = db.Credentials{Token: secret.NewToken(token), Refresh: secret.NewToken(strings.TrimSpace(r.PostFormValue("refresh")))}
	if local := r.PostFormValue("expires"); local != "" && !webhook {
		c.Expires, err = readExpiry(local, zone)
	}
	return c, false, err
}

func readExpiry(text, zone string) (*time.Time, error) {
	local, err := model.ParseLocal(text)
	if err != nil {
		return nil, model.RefuseField("expires", "Give day and time, or leave it empty.")
	}
	when, err := model.Resolve(local, zone, model.Earlier)
	if no, ok := model.Refused(err); ok {
		return nil, model.RefuseField("expires", no.Say)
	}
	if err != nil {
		return nil, err
	}
	return &when.At, nil
}

// editAccount answers POST /accounts/{account}: what is entered by hand.
func (d *Desk) editAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	account := pathID[model.AccountID](r, "account")
	before, err := scope.Account(r.Context(), account)
	if err != nil {
		return err
	}
	f := readAccountForm(r)
	keepUnasked(r, &f, before)
	if err = d.checkAddress(before.Network, &f, before.Address); err == nil {
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

// checkAddress writes an address that is new as it is kept, and asks whether Herald may
// call it.
func (d *Desk) checkAddress(name network.Name, f *db.AccountForm, was string) error {
	if f.Address == "" || f.Address == was {
		return nil
	}
	address, say := network.CleanAddress(name, f.Address)
	if say != "" {
		return model.RefuseField("address", say)
	}
	err := d.CheckAddress(address)
	if no, ok := errors.AsType[*model.Refusal](err); ok {
		return model.RefuseField("address", no.Say)
	}
	f.Address = address
	return err
}

func readAccountForm(r *http.Request) db.AccountForm {
	f := db.AccountForm{Handle: strings.TrimSpace(r.PostFormValue("handle")), RemoteID: strings.TrimSpace(r.PostFormValue("remote_id")),
		Address: strings.TrimSpace(r.PostFormValue("address")), Settings: map[string]string{}}
	for name, values := range r.PostForm {
		if key, ok := strings.CutPrefix(name, "setting."); ok && key != "" {
			f.Settings[key] = strings.TrimSpace(values[0])
		}
	}
	if key := strings.TrimSpace(r.PostFormValue("new_key")); key != "" {
		f.Settings[key] = strings.TrimSpace(r.PostFormValue("new_value"))
	}
	return f
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
