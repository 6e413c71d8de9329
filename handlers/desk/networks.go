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
	for _, n := range network.All() {
		set := d.Versions[n.Name]
		all.Entries = append(all.Entries, networks.Entry{Network: n, Version: n.Version(set)})
		if say, _ := n.VersionEnds(set, d.Now()); say != "" {
			all.Ending = append(all.Ending, say)
		}
	}
	return d.showSettings(w, r, scope, http.StatusOK, p, networks.Page(all))
}
