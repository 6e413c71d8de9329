package desk

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/connect"
	"herald/handlers/web"
	"herald/views/accounts"
	"herald/views/ui"
)

// newAccount is what a form that adds an account is about: a network, by its own
// ways or through a publisher, for a client.
type newAccount struct {
	name   network.Name
	by     network.Publisher // empty is direct
	key    string            // of the entry
	client model.ClientID
}

// showNewAccount answers GET /accounts/new: which network, and then how.
func (d *Desk) showNewAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	q := r.URL.Query()
	n := newAccount{name: network.Name(q.Get("network")), by: network.Publisher(q.Get("by")), key: q.Get("entry"), client: model.ClientID(web.ID(q.Get("client")))}
	if n.name == "" && n.by == "" {
		return d.drawNetworks(w, r, scope, n.client)
	}
	return d.drawNewAccount(w, r, scope, http.StatusOK, n, func(*accounts.AddProps) {})
}

// manageable are the clients whose accounts the actor may manage.
func (d *Desk) manageable(r *http.Request, scope *db.Scope, chosen model.ClientID) (list []ui.Option, name string, err error) {
	all, err := scope.Accounts(r.Context())
	if err != nil {
		return nil, "", err
	}
	for _, c := range all.Clients {
		if scope.Actor.May(model.AccountsManage, c.ID) {
			list = append(list, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: c.ID == chosen})
			if c.ID == chosen {
				name = c.Name
			}
		}
	}
	if chosen != 0 && name == "" {
		return nil, "", errNoClient
	}
	return list, name, nil
}

// drawNetworks shows what can be connected, those first that have a sign-in.
func (d *Desk) drawNetworks(w http.ResponseWriter, r *http.Request, scope *db.Scope, client model.ClientID) error {
	_, name, err := d.manageable(r, scope, client)
	if err != nil {
		return err
	}
	to := func(key, value string) string {
		q := url.Values{key: {value}}
		if client != 0 {
			q.Set("client", id(client))
		}
		return at(scope, "/accounts/new?"+q.Encode())
	}
	signs := accounts.PickGroup{Title: "By signing in there", Say: "You sign in at the network, and come back here by yourself."}
	typed := accounts.PickGroup{Title: "With a password, a key or an address", Say: "You make it there, and paste it here."}
	others := accounts.PickGroup{Title: "Through a publisher", Say: "A service that your agency has a contract with, and in which the accounts are connected."}
	for _, n := range network.All() {
		item := accounts.PickItem{Network: string(n.Name), Label: n.Label, Href: to("network", string(n.Name))}
		if len(n.SignIns) > 0 {
			item.Say = "Sign in"
			if d.Networks.Missing(n.Name) != "" {
				item.Say = "Not set up here"
			}
			for _, e := range n.Entries {
				item.Say += " · " + e.Label
			}
			signs.Items = append(signs.Items, item)
		} else if len(n.Entries) > 0 {
			item.Say = n.Entries[0].Label
			typed.Items = append(typed.Items, item)
		}
	}
	for _, p := range network.Aggregators() {
		others.Items = append(others.Items, accounts.PickItem{Network: string(p), Label: network.PublisherLabel(p), Say: "Key", Href: to("by", string(p))})
	}
	p := accounts.PickProps{Crumbs: []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts")}}, Client: name, Groups: []accounts.PickGroup{signs, typed, others}}
	return d.show(w, r, scope, http.StatusOK, page{title: "Add an account", nav: "accounts"}, accounts.Pick(p))
}

// entry is what the form asks for; ok is false where nothing is typed.
func (n newAccount) entry() (e network.Entry, ok bool) {
	if n.by != "" {
		return network.EntryVia(n.by), slices.Contains(network.Aggregators(), n.by)
	}
	if one, there := network.Get(n.name); there {
		return one.EntryOf(n.key)
	}
	return e, false
}

func (n newAccount) label() string {
	if n.by != "" {
		return network.PublisherLabel(n.by)
	}
	return network.Label(n.name)
}

func (d *Desk) drawNewAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, n newAccount, with func(*accounts.AddProps)) error {
	clients, _, err := d.manageable(r, scope, n.client)
	if err != nil {
		return err
	}
	one, known := network.Get(n.name)
	entry, typed := n.entry()
	if !known && n.by == "" || !typed && len(one.SignIns) == 0 {
		return model.Refuse(model.NotFound, "There is no such network.")
	}
	p := accounts.AddProps{Title: "Connect " + n.label(), Network: string(n.name), Publisher: string(n.by), Action: at(scope, "/accounts"), Clients: clients, Problem: map[string]string{}, Values: map[string]string{},
		Crumbs: []ui.Crumb{{Label: "Accounts", Href: at(scope, "/accounts")}, {Label: "Add an account", Href: at(scope, "/accounts/new?client="+id(n.client))}}}
	if typed {
		p.Entry = &entry
	}
	if n.by == "" {
		d.directWays(scope, n, one, &p)
	} else {
		for _, reached := range network.Reached(n.by) {
			p.Networks = append(p.Networks, ui.Option{Value: string(reached.Name), Label: reached.Label, Chosen: reached.Name == n.name})
		}
	}
	with(&p)
	return d.show(w, r, scope, status, page{title: p.Title, nav: "accounts"}, accounts.Add(p))
}

// directWays are those of the network itself.
func (d *Desk) directWays(scope *db.Scope, n newAccount, one *network.Network, p *accounts.AddProps) {
	p.Signs = one.Signs
	if p.SignIn = d.signInForm(scope, one); p.SignIn != nil {
		p.SignIn.Clients = p.Clients
	}
	if len(one.Entries) > 1 {
		for _, e := range one.Entries {
			q := url.Values{"network": {string(one.Name)}, "entry": {e.Key}, "client": {id(n.client)}}
			p.Entries = append(p.Entries, ui.Tab{Label: e.Label, Current: e.Key == p.Entry.Key, Href: at(scope, "/accounts/new?"+q.Encode())})
		}
	}
}

// createAccount answers POST /accounts. A secret that Herald made is in the
// answer itself, so that it is kept nowhere.
func (d *Desk) createAccount(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	n := newAccount{name: network.Name(r.PostFormValue("network")), by: network.Publisher(r.PostFormValue("by")), key: r.PostFormValue("entry"), client: model.ClientID(web.ID(r.PostFormValue("client")))}
	f := connect.ReadAccount(r)
	f.Publisher = n.by
	entry, _ := n.entry()
	c, made, err := connect.ReadCredentials(r, n.by == "" && signs(n.name), scope.Workspace.Zone)
	if err == nil {
		err = connect.Filled(r, entry, &c)
	}
	if err == nil {
		err = d.CheckAddress.Clean(n.name, &f, "")
	}
	if err == nil {
		err = d.checkToken(r.Context(), scope, n.client, &c, connect.Connection{Network: n.name, Publisher: n.by, RemoteID: f.RemoteID, Address: f.Address, Handle: f.Handle, Settings: f.Settings})
	}
	var a db.AccountCard
	if err == nil {
		if !entry.Takes("handle") {
			f.Handle = cmp.Or(c.Learned.Handle, f.RemoteID, n.label())
		}
		a, err = scope.AddAccount(r.Context(), n.client, n.name, f, c)
	}
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawNewAccount(w, r, scope, web.Status(err), n, func(p *accounts.AddProps) {
			for name := range r.PostForm {
				p.Values[name] = r.PostFormValue(name)
			}
			p.Own, p.Problem[no.Field] = r.PostFormValue("make") == "false", no.Say
			if !shown(*p, no.Field) {
				p.Problem[""] = no.Say
			}
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

// shown says whether the page has a field for a problem.
func shown(p accounts.AddProps, field string) bool {
	return field == "client" || field == "network" && len(p.Networks) > 0 || p.Signs && field == "token" || p.Entry != nil && p.Entry.Takes(field)
}
