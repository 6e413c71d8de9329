package desk

import (
	"net/http"
	"regexp"
	"slices"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
)

// route is one address of the desk, with the permission it needs somewhere in
// the workspace. Which clients that reaches is the Scope's to check.
type route struct {
	pattern string
	needs   model.Permission
	handle  web.SignedFunc
}

// routes lists every address of the desk, by screen. Each screen's file holds
// its own list.
func (d *Desk) routes() []route {
	var all []route
	for _, list := range [][]route{
		d.calendarRoutes(),
		d.composerRoutes(),
		d.mediaRoutes(),
		d.libraryRoutes(),
		d.uploadRoutes(),
		d.approvalRoutes(),
		d.targetRoutes(),
		d.accountRoutes(), d.connectLinkRoutes(),
		d.activityRoutes(),
		d.liveRoutes(),
		d.findRoutes(),
		d.feedRoutes(),
		d.settingsRoutes(), d.deliveryRoutes(),
		d.networkRoutes(),
		d.workflowRoutes(),
		d.slotRoutes(),
		d.labelRoutes(), d.wordingRoutes(),
		d.dayNoteRoutes(),
		d.copyRoutes(),
		d.clientSwitchRoutes(),
		d.importRoutes(),
	} {
		all = append(all, list...)
	}
	return all
}

// Register adds the desk's routes to mux.
func (d *Desk) Register(mux web.Mux) {
	for _, r := range d.routes() {
		mux.Handle(r.pattern, d.Signed(r.needs, numbered(r.pattern, r.handle)))
	}
}

var wildcard = regexp.MustCompile(`\{(\w+)\}`)

// notIDs are the parts of an address that are no ids of rows.
var notIDs = []string{"slug", "hash", "upload", "number"}

// numbered answers 404 where a part of the address that should be an id is none,
// whatever the form says: to a Scope a zero may mean the whole workspace.
func numbered(pattern string, f web.SignedFunc) web.SignedFunc {
	var names []string
	for _, m := range wildcard.FindAllStringSubmatch(pattern, -1) {
		if !slices.Contains(notIDs, m[1]) {
			names = append(names, m[1])
		}
	}
	return func(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
		for _, name := range names {
			if web.ID(r.PathValue(name)) == 0 {
				return model.Refuse(model.NotFound, "There is nothing at this address.")
			}
		}
		return f(w, r, scope)
	}
}

// Patterns lists the desk's routes with their permissions, for the test that
// walks each with a stranger's ids.
func (d *Desk) Patterns() map[string]model.Permission {
	all := map[string]model.Permission{}
	for _, r := range d.routes() {
		all[r.pattern] = r.needs
	}
	return all
}
