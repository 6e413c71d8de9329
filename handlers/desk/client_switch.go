package desk

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/find"
	"herald/views/layout"
)

// maxPlaces is how many workspaces the menu of them shows.
const maxPlaces = 8

func (d *Desk) clientSwitchRoutes() []route {
	return []route{
		{"GET /w/{slug}/clients", model.PostsView, d.showClientChoice},
		{"POST /w/{slug}/client", model.PostsView, d.useClient},
	}
}

// listsOfClients are the screens that are of one client or of all.
var listsOfClients = []string{"/calendar", "/posts", "/approvals", "/media", "/accounts"}

// allClients is the query of a list that is of no client in particular.
const allClients = "?client="

// ofClient wraps a list: an address without a query leads to the client that the
// person looked at last.
func (d *Desk) ofClient(p model.Permission, f web.SignedFunc) web.SignedFunc {
	return func(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
		if r.URL.RawQuery != "" || web.FromHTMX(r) {
			return f(w, r, scope)
		}
		client, err := scope.UsedClient(r.Context())
		if err != nil {
			return err
		}
		if client == 0 || !scope.Actor.May(p, client) {
			return f(w, r, scope)
		}
		return web.See(w, r, r.URL.Path+"?client="+id(client))
	}
}

// clientSwitch is the shell's choice of a client.
func (d *Desk) clientSwitch(r *http.Request, scope *db.Scope, frame db.Frame, p page) (s layout.ClientSwitch, err error) {
	if len(frame.Clients) < 2 {
		return s, nil
	}
	s = layout.ClientSwitch{Path: at(scope, "/client"), To: p.here}
	if s.To == "" && r.Method == http.MethodGet {
		s.To = r.URL.RequestURI()
	}
	asked := slices.DeleteFunc(r.URL.Query()["client"], func(v string) bool { return v == "" })
	several := p.clients && len(asked) > 1
	if several {
		s.Label = fmt.Sprintf("%d clients", len(asked))
	} else if frame, err = d.lookedAt(r, scope, frame, p, model.ClientID(web.ID(strings.Join(asked, "")))); err != nil {
		return s, err
	}
	if frame.More {
		s.All = at(scope, "/clients?to="+url.QueryEscape(s.To))
	}
	for _, c := range frame.Clients {
		one := layout.ClientChoice{Value: id(c.ID), Name: c.Name, Current: c.Chosen && !several}
		if one.Current {
			s.Label = c.Name
		}
		s.Clients = append(s.Clients, one)
	}
	return s, nil
}

// lookedAt remembers the client of a list that somebody opened; what a page asks for
// by itself is nobody's choice.
func (d *Desk) lookedAt(r *http.Request, scope *db.Scope, frame db.Frame, p page, client model.ClientID) (db.Frame, error) {
	if !p.clients || r.Method != http.MethodGet || r.URL.RawQuery == "" || web.FromHTMX(r) || client == currentClient(frame) {
		return frame, nil
	}
	if err := d.rememberClient(r, scope, client); err != nil {
		return frame, err
	}
	return d.Store.Frame(r.Context(), scope)
}

func currentClient(frame db.Frame) model.ClientID {
	for _, c := range frame.Clients {
		if c.Chosen {
			return c.ID
		}
	}
	return 0
}

// rememberClient keeps which client a person looks at, and that the calendar opens
// with it.
func (d *Desk) rememberClient(r *http.Request, scope *db.Scope, client model.ClientID) error {
	if err := scope.UseClient(r.Context(), client); err != nil {
		return err
	}
	look, err := scope.CalendarLook(r.Context())
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(look)
	if err != nil {
		values = url.Values{}
	}
	return scope.KeepCalendarLook(r.Context(), withClient(values, client).Encode())
}

// withClient is a query of a list with another client: what only means something
// beside the former goes.
func withClient(values url.Values, client model.ClientID) url.Values {
	for _, field := range []string{"client", "account", "folder", "after", "before", "page"} {
		values.Del(field)
	}
	if client != 0 {
		values.Set("client", id(client))
	}
	return values
}

// useClient answers POST /client: the list the person is on, or else the calendar,
// is of another client, or of all.
func (d *Desk) useClient(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	n, err := optionalID(r.PostFormValue("client"))
	if err != nil {
		return err
	}
	client := model.ClientID(n)
	if err := d.rememberClient(r, scope, client); err != nil {
		return err
	}
	to, err := url.Parse(web.LocalPath(r.PostFormValue("to"), ""))
	if err != nil || !slices.ContainsFunc(listsOfClients, func(list string) bool { return to.Path == at(scope, list) }) {
		return web.See(w, r, at(scope, "/calendar"))
	}
	l := lookup{path: to.Path, bare: allClients}
	return web.See(w, r, l.address(withClient(to.Query(), client)))
}

// showClientChoice answers GET /clients?q= with the clients and workspaces that
// answer to q.
func (d *Desk) showClientChoice(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	words := strings.Join(strings.Fields(r.FormValue("q")), " ")
	list, more, err := scope.FindClients(r.Context(), words)
	if err != nil {
		return err
	}
	p := find.ClientsProps{Path: at(scope, "/clients"), Words: words, Use: at(scope, "/client"), To: web.LocalPath(r.FormValue("to"), ""), More: more}
	for _, c := range list {
		p.Clients = append(p.Clients, find.Client{Value: id(c.ID), Name: c.Name, Current: c.Chosen})
	}
	frame, err := d.Store.Frame(r.Context(), scope)
	if err != nil {
		return err
	}
	for _, place := range frame.Workspaces {
		if len(frame.Workspaces) > 1 && answers(place.Name, words) {
			p.Workspaces = append(p.Workspaces, find.Item{Label: place.Name, Href: "/w/" + place.Slug + "/calendar", Icon: "building-2"})
		}
	}
	return d.show(w, r, scope, http.StatusOK, page{title: "Clients"}, find.Clients(p))
}
