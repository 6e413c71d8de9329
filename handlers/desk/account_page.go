package desk

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/ui"
)

// showAccount answers GET /accounts/{account}.
func (d *Desk) showAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawAccount(w, r, scope, http.StatusOK, func(*accounts.AccountProps) {})
}

// drawAccount shows one account as it now is, with what with adds to it.
func (d *Desk) drawAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*accounts.AccountProps)) error {
	a, err := scope.Account(r.Context(), pathID[model.AccountID](r, "account"))
	if err != nil {
		return err
	}
	p := accounts.AccountProps{
		Title: a.Handle, Seen: strconv.Itoa(a.Revision), Card: d.accountCard(scope, a), Queue: accountPath(scope, a, "/slots"),
		Crumbs: []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts")}, {Label: a.Client, Href: at(scope, "/accounts#client-"+id(a.ClientID))}},
	}
	p.Card.Facts = append(p.Card.Facts, d.accountMore(a)...)
	if scope.Actor.May(model.AccountsManage, a.ClientID) {
		d.accountForms(scope, a, &p)
	}
	with(&p)
	return d.show(w, r, scope, status, page{title: a.Handle, nav: "accounts"}, accounts.AccountPage(p))
}

// pathID reads an id from the address. What is no number is no row's id.
func pathID[T ~int64](r *http.Request, name string) T {
	return T(web.ID(r.PathValue(name)))
}

// accountMore are the facts that only the account's own page shows.
func (d *Desk) accountMore(a db.AccountCard) []ui.Fact {
	facts := []ui.Fact{{Name: "Network", Value: ui.Text(label(a))}, {Name: "Client", Value: ui.Text(a.Client)}}
	if a.RemoteID != "" {
		facts = append(facts, ui.Fact{Name: "Its id there", Value: ui.Text(a.RemoteID)})
	}
	return append(facts, ui.Fact{Name: "Added", Value: ui.Time(clientTime(a.CreatedAt, a.Zone))})
}

func (d *Desk) accountForms(scope *db.Scope, a db.AccountCard, p *accounts.AccountProps) {
	webhook := signs(a.Network)
	if a.State != db.AccountDisabled {
		p.Connect = &accounts.ConnectForm{
			Action: accountPath(scope, a, "/connection"), Webhook: webhook, Needed: p.Card.Fix != "", Field: connect.SecretField(a.Network, a.Publisher),
			Refresh: a.HasRefresh, Zone: placeName(a.Zone),
		}
	}
	if one, ok := network.Get(a.Network); ok && a.Publisher == network.Direct && p.Connect != nil {
		if p.SignIn = d.signInForm(scope, one); p.SignIn != nil {
			p.SignIn.Server, p.Connect.Beside = nil, p.SignIn.Missing == ""
			p.SignIn.Hidden = append(p.SignIn.Hidden, ui.HiddenField{Name: "client", Value: id(a.ClientID)}, ui.HiddenField{Name: "account", Value: id(a.ID)})
		}
	}
	p.Details = &accounts.DetailsForm{
		Action: accountPath(scope, a, ""), Handle: a.Handle, RemoteID: a.RemoteID, Address: a.Address, NoID: webhook,
	}
	if a.Publisher == network.Direct {
		p.Details.AddressSays = network.AddressOf(a.Network)
	}
	for _, key := range slices.Sorted(maps.Keys(a.Settings)) {
		p.Details.Settings = append(p.Details.Settings, accounts.Setting{Key: key, Value: a.Settings[key]})
	}
	if a.HasToken || a.HasRefresh {
		p.Disconnect = accountPath(scope, a, "/disconnection")
	}
	p.Switch = &accounts.Switch{Action: accountPath(scope, a, "/state"), Name: "on", Value: "false", Seen: p.Seen, Label: "Disable account", Icon: "power", Danger: true,
		Say: "A disabled account takes no posts. What is planned for it fails when it is due, and says so. It can be enabled again."}
	if a.State == db.AccountDisabled {
		p.Switch = &accounts.Switch{Action: accountPath(scope, a, "/state"), Name: "on", Value: "true", Seen: p.Seen, Label: "Enable account", Icon: "power",
			Say: "This account is disabled and takes no posts. Enabling it sends nothing by itself."}
	}
}

// signs says whether an account's token is a secret that Herald can make.
func signs(name network.Name) bool {
	n, ok := network.Get(name)
	return ok && n.Signs
}
