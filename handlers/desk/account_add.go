package desk

import (
	"net/http"
	"slices"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/ui"
)

// showNewAccount answers GET /accounts/new, for one network at a time.
func (d *Desk) showNewAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client := web.ID(r.URL.Query().Get("client"))
	return d.drawNewAccount(w, r, scope, http.StatusOK, network.Name(r.URL.Query().Get("network")), model.ClientID(client), func(*accounts.AddProps) {})
}

func (d *Desk) drawNewAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, name network.Name, client model.ClientID, with func(*accounts.AddProps)) error {
	all, err := scope.Accounts(r.Context())
	if err != nil {
		return err
	}
	n, ok := network.Get(name)
	if !ok || n.Address == "" {
		n = network.Addressed()[0]
	}
	p := accounts.AddProps{
		Crumbs: []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts")}}, Action: at(scope, "/accounts"), Network: string(n.Name), Signs: n.Signs, TokenHelp: n.TokenHelp,
		Details: accounts.DetailsForm{AddressSays: n.Address, NoID: n.Signs},
	}
	for _, one := range network.Addressed() {
		p.Pick = append(p.Pick, ui.Tab{Label: one.Label, Current: one == n, Href: at(scope, "/accounts/new?network="+string(one.Name)+"&client="+id(client))})
	}
	for _, c := range all.Clients {
		if scope.Actor.May(model.AccountsManage, c.ID) {
			p.Clients = append(p.Clients, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: c.ID == client})
		}
	}
	if client != 0 && !slices.ContainsFunc(p.Clients, func(o ui.Option) bool { return o.Chosen }) {
		return errNoClient
	}
	with(&p)
	return d.show(w, r, scope, status, page{title: "Add an account", nav: "accounts"}, accounts.Add(p))
}

// createAccount answers POST /accounts. A secret that Herald made is in the
// answer itself, so that it is kept nowhere.
func (d *Desk) createAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	name, f := network.Name(r.PostFormValue("network")), readAccountForm(r)
	client := web.ID(r.PostFormValue("client"))
	c, made, err := readCredentials(r, signs(name), scope.Workspace.Zone)
	if err == nil {
		err = d.checkAddress(name, &f, "")
	}
	if err == nil {
		err = d.checkToken(r.Context(), scope, model.ClientID(client), &c, Connection{Network: name, RemoteID: f.RemoteID, Address: f.Address})
	}
	var a db.AccountCard
	if err == nil {
		a, err = scope.AddAccount(r.Context(), model.ClientID(client), name, f, c)
	}
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawNewAccount(w, r, scope, web.Status(err), name, model.ClientID(client), func(p *accounts.AddProps) {
			p.Details.Handle, p.Details.Address, p.Details.RemoteID = f.Handle, f.Address, f.RemoteID
			p.Own, p.Problem, p.Details.Problem = r.PostFormValue("make") == "false", map[string]string{no.Field: no.Say}, map[string]string{no.Field: no.Say}
		})
	}
	if err != nil {
		return err
	}
	if made {
		r.SetPathValue("account", id(a.ID))
		return d.drawAccount(w, r, scope, http.StatusCreated, func(p *accounts.AccountProps) { p.Secret = c.Token.Reveal() })
	}
	return d.say(w, r, accountPath(scope, a, ""), a.Handle+" is added. Posts can go there now.")
}
