package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/ui"
)

// showConsent answers GET /consents/{consent}: what the person's sign-in offers.
func (d *Desk) showConsent(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawConsent(w, r, scope, http.StatusOK, nil, "")
}

// createConnections answers POST /consents/{consent} with accounts of what was chosen.
func (d *Desk) createConnections(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	id := pathID[model.ConsentID](r, "consent")
	c, _, err := scope.Choices(r.Context(), id)
	if err != nil {
		return err
	}
	chosen := r.PostForm["chosen"]
	cards, err := scope.Connect(r.Context(), id, chosen)
	if no, ok := model.Refused(err); ok && no.Field == "chosen" {
		return d.drawConsent(w, r, scope, web.Status(err), chosen, no.Say)
	}
	if err != nil {
		return err
	}
	return connect.Done(d.Edge, w, r, scope, c, cards)
}

func (d *Desk) drawConsent(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, chosen []string, problem string) error {
	consent := pathID[model.ConsentID](r, "consent")
	c, choices, err := scope.Choices(r.Context(), consent)
	if err != nil {
		return err
	}
	all, err := scope.Accounts(r.Context())
	if err != nil {
		return err
	}
	client, again := consentNames(all, c)
	p := connect.ChooseProps(c, choices, client, again, chosen, problem)
	p.Action, p.Cancel = at(scope, "/consents/"+id(consent)), at(scope, "/accounts#client-"+id(c.Client))
	return d.show(w, r, scope, status, page{title: "Connect accounts", nav: "accounts", modules: []string{accounts.ChooseModule}}, accounts.ChoosePage(p, []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts")}}))
}

// consentNames are the client of a sign-in and the account that it is to connect again.
func consentNames(all db.AccountsPage, c db.Consent) (client, again string) {
	for _, one := range all.Clients {
		if one.ID == c.Client {
			client = one.Name
			for _, a := range one.Accounts {
				if a.ID == c.Account {
					again = a.Handle
				}
			}
		}
	}
	return client, again
}

// signInForm is the form that leads to a network's own page, nil if it has none.
func (d *Desk) signInForm(scope *db.Scope, n *network.Network) *accounts.SignInForm {
	f := connect.SignInForm(d.Networks, n)
	if f != nil {
		f.Hidden = []ui.HiddenField{{Name: "workspace", Value: scope.Workspace.Slug}}
	}
	return f
}
