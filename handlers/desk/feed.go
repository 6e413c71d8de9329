package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/calendar"
	"herald/views/ui"
)

func (d *Desk) feedRoutes() []route {
	return []route{
		{"GET /w/{slug}/feeds", model.PostsView, d.showFeeds},
		{"POST /w/{slug}/feeds", model.PostsView, d.createFeed},
		{"POST /w/{slug}/feeds/{feed}/revocation", model.PostsView, d.createFeedRevocation},
	}
}

// showFeeds answers GET /feeds with the reader's addresses for calendar programs.
func (d *Desk) showFeeds(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawFeeds(w, r, scope, "")
}

// createFeed answers POST /feeds with a new address, which is shown this once.
// The one before it, of the same kind, ends.
func (d *Desk) createFeed(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	token, err := scope.MakeFeed(r.Context(), model.ClientID(web.ID(r.PostFormValue("client"))), web.SentKey(r))
	if err != nil {
		return err
	}
	return d.drawFeeds(w, r, scope, d.BaseURL+"/feeds/"+token+".ics")
}

// createFeedRevocation answers POST /feeds/{feed}/revocation.
func (d *Desk) createFeedRevocation(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.RevokeFeed(r.Context(), model.FeedID(web.ID(r.PathValue("feed")))); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/feeds"), "The address does not work any more.")
}

func (d *Desk) drawFeeds(w http.ResponseWriter, r *http.Request, scope *db.Scope, made string) error {
	feeds, clients, err := scope.Feeds(r.Context())
	if err != nil {
		return err
	}
	p := calendar.FeedsProps{Path: at(scope, "/feeds"), Key: web.FormKey(), Calendar: at(scope, "/calendar"), Made: made, Clients: []ui.Option{{Value: "", Label: "All clients that I see"}}}
	for _, c := range clients {
		p.Clients = append(p.Clients, ui.Option{Value: id(c.ID), Label: c.Name + " alone"})
	}
	for _, f := range feeds {
		p.Feeds = append(p.Feeds, calendar.Feed{Client: f.Client, Made: clientTime(f.CreatedAt, scope.Workspace.Zone), Revoke: at(scope, "/feeds/"+id(f.ID)+"/revocation")})
	}
	return d.show(w, r, scope, http.StatusOK, page{title: "Calendar addresses", nav: "calendar"}, calendar.Feeds(p))
}
