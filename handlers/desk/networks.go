package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/networks"
)

func (d *Desk) networkRoutes() []route {
	return []route{{"GET /w/{slug}/settings/networks", model.AccountsView, d.showNetworks}}
}

// showNetworks answers GET /settings/networks: what each network can do.
func (d *Desk) showNetworks(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p := page{title: "Networks", wide: true, styles: []string{"css/networks.css"}}
	var all networks.PageProps
	apps := d.apps(scope)
	for _, n := range network.All() {
		set := d.Versions[n.Name]
		all.Entries = append(all.Entries, networks.Entry{Network: n, Version: n.Version(set), App: apps[n.Name]})
		if say, _ := n.VersionEnds(set, d.Now()); say != "" {
			all.Ending = append(all.Ending, say)
		}
		if say, _ := n.ReviewEnds(d.Reviews[n.Name], d.Now()); say != "" {
			all.Reviews = append(all.Reviews, say)
		}
	}
	return d.showSettings(w, r, scope, http.StatusOK, p, networks.Page(all))
}

// apps are what whoever manages the workspace hears of Herald's apps at the networks.
func (d *Desk) apps(scope *db.Scope) map[network.Name]networks.App {
	if !scope.Actor.MayAnywhere(model.WorkspaceManage) {
		return nil
	}
	all := map[network.Name]networks.App{}
	for _, n := range network.All() {
		if len(n.SignIns) > 0 && !d.Networks.Servers(n.Name) {
			all[n.Name] = networks.App{Missing: d.Networks.Missing(n.Name), Redirect: d.BaseURL + "/oauth/" + string(n.Name) + "/callback", Asks: d.Networks.Asks(n.Name)}
		}
	}
	return all
}
