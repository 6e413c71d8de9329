package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/accounts"
	"herald/views/ui"
)

// showDisconnection answers GET /accounts/{account}/disconnection: what it would do.
func (d *Desk) showDisconnection(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	a, err := scope.Account(r.Context(), pathID[model.AccountID](r, "account"))
	if err != nil {
		return err
	}
	if !scope.Actor.May(model.AccountsManage, a.ClientID) {
		return model.Refuse(model.Forbidden, "Your role does not allow that for this client. Ask an owner or admin of the workspace.")
	}
	p := accounts.DisconnectProps{Handle: a.Handle, Label: label(a), Action: accountPath(scope, a, "/disconnection"), Seen: id(int64(a.Revision)), Back: accountPath(scope, a, ""),
		Planned: a.Planned + a.Waiting + a.Stuck, Revokes: a.Publisher == network.Direct,
		Crumbs: []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts")}, {Label: a.Handle, Href: accountPath(scope, a, "")}}}
	return d.show(w, r, scope, http.StatusOK, page{title: "Disconnect " + a.Handle, nav: "accounts"}, accounts.Disconnect(p))
}

// createDisconnection answers POST /accounts/{account}/disconnection. The credentials
// are gone here before the network is asked to end them: if it cannot be, it says so.
func (d *Desk) createDisconnection(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	a, parting, err := scope.Disconnect(r.Context(), pathID[model.AccountID](r, "account"), accountSeen(r))
	if err != nil {
		return err
	}
	words := a.Handle + " is disconnected. Its settings, history and planned posts are kept."
	switch err := d.Networks.Revoke(r.Context(), parting); {
	case parting.Shared:
		words += " Other accounts use the same sign-in, so " + label(a) + " was not asked to end it."
	case err != nil:
		words += " " + label(a) + " could not be asked to end the connection: take Herald's access away there too."
	}
	return d.say(w, r, accountPath(scope, a, ""), words)
}
