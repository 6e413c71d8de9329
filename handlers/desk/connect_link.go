package desk

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/ui"
)

func (d *Desk) connectLinkRoutes() []route {
	return []route{
		{"GET /w/{slug}/clients/{client}/connect-links", model.AccountsManage, d.showConnectLinks},
		{"POST /w/{slug}/clients/{client}/connect-links", model.AccountsManage, d.createConnectLink},
		{"POST /w/{slug}/connect-links/{link}/revocation", model.AccountsManage, d.revokeConnectLink},
	}
}

func connectLinksPath(scope *db.Scope, client model.ClientID) string {
	return at(scope, "/clients/"+id(client)+"/connect-links")
}

// showConnectLinks answers GET /clients/{client}/connect-links.
func (d *Desk) showConnectLinks(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client, again := pathID[model.ClientID](r, "client"), model.ConnectLinkID(web.ID(r.URL.Query().Get("again")))
	links, err := scope.ConnectLinks(r.Context(), client, again)
	if err != nil {
		return err
	}
	f := db.ConnectLinkForm{Name: links.Again.Name, Email: links.Again.Email, Networks: links.Again.Networks, Note: links.Again.Note}
	if again == 0 {
		if f.Networks, err = d.lost(r, scope, client); err != nil {
			return err
		}
	}
	return d.drawConnectLinks(w, r, scope, http.StatusOK, links, f, nil)
}

// lost are the networks at which accounts of a client need reconnecting.
func (d *Desk) lost(r *http.Request, scope *db.Scope, client model.ClientID) (list []network.Name, err error) {
	all, err := scope.Accounts(r.Context())
	for _, c := range all.Clients {
		for _, a := range c.Accounts {
			if c.ID == client && a.Publisher == network.Direct && slices.Contains([]string{"needs_reconnect", "disconnected"}, connect.Standing(a, d.Now())) {
				list = append(list, a.Network)
			}
		}
	}
	return list, err
}

// createConnectLink answers POST /clients/{client}/connect-links.
func (d *Desk) createConnectLink(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client := pathID[model.ClientID](r, "client")
	f := db.ConnectLinkForm{Key: web.SentKey(r), Name: r.PostFormValue("name"), Email: r.PostFormValue("email"), Note: r.PostFormValue("note")}
	for _, name := range r.PostForm["network"] {
		f.Networks = append(f.Networks, network.Name(name))
	}
	err := scope.SendConnectLink(r.Context(), client, f)
	if no, ok := model.Refused(err); ok && no.Field != "" {
		links, err := scope.ConnectLinks(r.Context(), client, 0)
		if err != nil {
			return err
		}
		return d.drawConnectLinks(w, r, scope, web.Status(no), links, f, no)
	}
	if err != nil {
		return err
	}
	return d.say(w, r, connectLinksPath(scope, client), "The link is on its way to "+strings.TrimSpace(f.Name)+".")
}

// revokeConnectLink answers POST /connect-links/{link}/revocation.
func (d *Desk) revokeConnectLink(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client, err := scope.RevokeConnectLink(r.Context(), pathID[model.ConnectLinkID](r, "link"))
	if err != nil {
		return err
	}
	return d.say(w, r, connectLinksPath(scope, client), "The link is taken back. It opens nothing any more.")
}

func (d *Desk) drawConnectLinks(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, links db.ConnectLinks, f db.ConnectLinkForm, no *model.Refusal) error {
	c := links.Client
	p := accounts.LinksProps{Client: c.Name, Action: connectLinksPath(scope, c.ID), Key: web.FormKey(), Name: f.Name, Email: f.Email, Note: f.Note, Networks: d.linkNetworks(f.Networks), Problem: map[string]string{},
		Crumbs: []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts#client-"+id(c.ID))}}}
	if no != nil {
		p.Problem[no.Field] = no.Say
	}
	for _, l := range links.Open {
		p.Open = append(p.Open, accounts.OpenLink{Name: l.Name, Email: l.Email, Networks: networkLabels(l.Networks), Connected: connectedWords(l.Connected),
			Until: clientTime(l.ExpiresAt, c.Zone), Revoke: at(scope, "/connect-links/"+id(l.ID)+"/revocation")})
	}
	return d.show(w, r, scope, status, page{title: "Ask " + c.Name + " to connect", nav: "accounts"}, accounts.Links(p))
}

// linkNetworks are those that a client can connect here.
func (d *Desk) linkNetworks(chosen []network.Name) (list []ui.Option) {
	for _, n := range network.All() {
		if len(n.SignIns)+len(n.Entries) == 0 {
			continue
		}
		o := ui.Option{Value: string(n.Name), Label: n.Label, Chosen: slices.Contains(chosen, n.Name)}
		if len(n.Entries) == 0 && d.Networks.Missing(n.Name) != "" {
			o.Disabled, o.Chosen, o.Help = true, false, "Not set up here"
		}
		list = append(list, o)
	}
	return list
}

func networkLabels(names []network.Name) string {
	var list []string
	for _, name := range names {
		list = append(list, network.Label(name))
	}
	return strings.Join(list, ", ")
}

func connectedWords(n int) string {
	switch n {
	case 0:
		return "Nothing connected yet."
	case 1:
		return "1 account connected."
	}
	return fmt.Sprintf("%d accounts connected.", n)
}
