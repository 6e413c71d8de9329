// Package desk is the agency at work: calendar, composer, approvals, accounts,
// activity, the evidence of a target. Each handler reads its form, calls one
// method of the person's Scope, and draws. All routes stand in routes.go.
package desk

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
	"herald/handlers/connect"
	"herald/handlers/web"
	"herald/views/layout"
	"herald/views/ui"
)

// Desk is what the handlers work with.
type Desk struct {
	*web.Edge
	Ring         *secret.Ring
	Blobs        blob.Store
	BaseURL      string        // of this Herald, without a trailing slash
	URLLife      time.Duration // of members' media links
	Cost         secret.Cost   // of hashing a new password
	Limits       Limits
	CheckAddress connect.AddressChecker
	Fetch        Fetcher
	Hosts        db.HostLooker // looks at names that agencies say are theirs
	Changes      Changes
	Presence     Presence
	CheckToken   connect.TokenChecker
	Networks     connect.Networks
	Versions     map[network.Name]string // of networks' APIs, where the operator chose one
	Reviews      map[network.Name]string // the last days of networks' reviews of the app, where the operator entered one
}

// Limits are the operator's settings that handlers enforce.
type Limits struct {
	UploadBytes int64         // the largest file taken
	Patience    time.Duration // how long a form waits for its files to be scanned and prepared
}

// page describes one screen for the shell around it.
type page struct {
	title   string
	nav     string // which place of the navigation it belongs to
	wide    bool
	clients bool   // it is of one client or of all, as its address says
	begins  bool   // a new post opens over it
	live    bool   // asked for again when something in the workspace changes
	here    string // the screen's own address, where it answers another
	notices []ui.NoticeProps
	modules []string
	styles  []string // beside those of every page
}

// show draws a screen inside the shell.
func (d *Desk) show(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, p page, body templ.Component) error {
	shell, err := d.shell(w, r, scope, p)
	if err != nil {
		return err
	}
	ctx := templ.WithChildren(r.Context(), body)
	return web.Render(w, r.WithContext(ctx), status, layout.Shell(shell))
}

func (d *Desk) shell(w http.ResponseWriter, r *http.Request, scope *db.Scope, p page) (layout.ShellProps, error) {
	frame, err := d.Store.Frame(r.Context(), scope)
	if err != nil {
		return layout.ShellProps{}, err
	}
	s := layout.ShellProps{
		Title: p.title, Workspace: scope.Workspace.Name, Home: at(scope, "/calendar"), Find: at(scope, "/find"), Wide: p.wide, Modules: p.modules, Styles: p.styles,
		Person: layout.Person{Name: scope.Actor.Name, Email: frame.Email, SignOut: "/signout"},
		Nav:    nav(scope, frame, p.nav),
	}
	if p.live {
		s.Live = layout.Live{Events: at(scope, "/live"), Here: cmp.Or(p.here, r.URL.RequestURI())}
		s.Modules = append(s.Modules, "js/live-view.js")
	}
	for _, place := range frame.Workspaces[:min(len(frame.Workspaces), maxPlaces)] {
		s.Places = append(s.Places, layout.Place{Name: place.Name, Href: "/w/" + place.Slug + "/calendar", Current: place.Slug == scope.Workspace.Slug})
	}
	if len(frame.Workspaces) > maxPlaces {
		s.AllPlaces = at(scope, "/clients")
	}
	if scope.Actor.MayAnywhere(model.PostsWrite) {
		if p.begins {
			s.Begin = at(scope, "/posts/new")
			s.Modules = append(s.Modules, "js/compose-dialog.js")
		}
		s.Create = layout.NavItem{Label: "Create post", Href: at(scope, "/posts/new"), Icon: "plus"}
	}
	if s.Switch, err = d.clientSwitch(r, scope, frame, p); err != nil {
		return layout.ShellProps{}, err
	}
	s.Notices = p.notices
	for _, say := range d.Sessions.Flashes(w, r) {
		s.Notices = append(s.Notices, ui.NoticeProps{Tone: ui.Good, Say: say})
	}
	if scope.Workspace.State == "suspended" {
		s.Notices = append(s.Notices, ui.NoticeProps{Tone: ui.Warn, Say: "This workspace is suspended. Posts wait and are not lost; ask the operator of this Herald."})
	}
	return s, nil
}

func nav(scope *db.Scope, frame db.Frame, current string) []layout.NavItem {
	all := []struct {
		layout.NavItem
		needs model.Permission
	}{
		{layout.NavItem{Label: "Calendar", Href: at(scope, "/calendar"), Icon: "calendar-days"}, model.PostsView},
		{layout.NavItem{Label: "Posts", Href: at(scope, "/posts"), Icon: "files"}, model.PostsView},
		{layout.NavItem{Label: "Approvals", Href: at(scope, "/approvals"), Icon: "stamp", Count: frame.Waiting, CountWords: "waiting for you"}, model.PostsView},
		{layout.NavItem{Label: "Media", Href: at(scope, "/media"), Icon: "images"}, model.MediaView},
		{layout.NavItem{Label: "Accounts", Href: at(scope, "/accounts"), Icon: "plug", Count: frame.Disconnected, CountWords: "need reconnecting"}, model.AccountsView},
		{layout.NavItem{Label: "Activity", Href: at(scope, "/activity"), Icon: "history"}, model.ActivityView},
		{layout.NavItem{Label: "Settings", Href: at(scope, "/settings"), Icon: "settings"}, model.PostsView},
	}
	all = slices.DeleteFunc(all, func(n struct {
		layout.NavItem
		needs model.Permission
	}) bool {
		return !scope.Actor.MayAnywhere(n.needs)
	})
	var items []layout.NavItem
	for _, n := range all {
		n.Current = strings.EqualFold(n.Label, current)
		items = append(items, n.NavItem)
	}
	return items
}

// at is an address in the scope's workspace.
func at(scope *db.Scope, path string) string { return "/w/" + scope.Workspace.Slug + path }

// say keeps a sentence for the next page and sends the browser there.
func (d *Desk) say(w http.ResponseWriter, r *http.Request, path, sentence string) error {
	if err := d.Sessions.Flash(w, r, sentence); err != nil {
		return err
	}
	return web.See(w, r, path)
}

// mediaURL is a member's link to a stored file ("original" or "thumbnail"):
// signed for this workspace, and good only together with a session. The expiry
// is rounded up, so that a browser meets the same address for a while.
func (d *Desk) mediaURL(scope *db.Scope, id model.MediaID, file string) string {
	expires := d.Now().Add(2 * d.URLLife).Truncate(d.URLLife)
	return "/m/" + d.Ring.SignMedia(secret.ForMember, secret.MediaLink{Tenant: int64(scope.Actor.Tenant), Media: int64(id), File: file}, expires)
}
