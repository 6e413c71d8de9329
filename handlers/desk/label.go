package desk

import (
	"net/http"
	"strconv"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/calendar"
	"herald/views/ui"
)

func (d *Desk) labelRoutes() []route {
	return []route{
		{"GET /w/{slug}/labels", model.PostsView, d.showLabels},
		{"POST /w/{slug}/labels", model.PostsWrite, d.createLabel},
		{"POST /w/{slug}/labels/{label}", model.PostsWrite, d.changeLabel},
		{"POST /w/{slug}/labels/{label}/removal", model.PostsWrite, d.removeLabel},
	}
}

// showLabels answers GET /labels with what posts can be labelled with.
func (d *Desk) showLabels(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawLabels(w, r, scope, http.StatusOK, calendar.LabelForm{})
}

// createLabel answers POST /labels with a new label or campaign.
func (d *Desk) createLabel(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	form := calendar.LabelForm{Kind: r.PostFormValue("kind"), Name: r.PostFormValue("name"), Tint: r.PostFormValue("tint"), Client: r.PostFormValue("client")}
	client, err := optionalID(form.Client)
	if err != nil {
		return err
	}
	_, err = scope.AddLabel(r.Context(), db.Label{ClientID: model.ClientID(client), Kind: db.LabelKind(form.Kind), Name: typed(form.Name), Tint: readTint(form.Tint)})
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		form.Problem = no.Say
		return d.drawLabels(w, r, scope, http.StatusUnprocessableEntity, form)
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/labels"), "“"+form.Name+"” is there to be chosen.")
}

// readTint reads a colour; one that is none is refused when it is stored.
func readTint(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n >= len(db.Tints) {
		return -1
	}
	return n
}

func labelID(r *http.Request) model.LabelID { return model.LabelID(web.ID(r.PathValue("label"))) }

// changeLabel answers POST /labels/{label} with another name and colour.
func (d *Desk) changeLabel(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.ChangeLabel(r.Context(), labelID(r), typed(r.PostFormValue("name")), readTint(r.PostFormValue("tint"))); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/labels"), "Saved.")
}

// removeLabel answers POST /labels/{label}/removal.
func (d *Desk) removeLabel(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.RemoveLabel(r.Context(), labelID(r)); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/labels"), "Removed, from its posts too.")
}

func (d *Desk) drawLabels(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, form calendar.LabelForm) error {
	list, err := scope.Labels(r.Context())
	if err != nil {
		return err
	}
	clients, err := scope.ComposerClients(r.Context(), nil)
	if err != nil {
		return err
	}
	p := calendar.LabelsProps{Path: at(scope, "/labels"), Back: at(scope, "/posts"), Tints: db.Tints, New: form, Kinds: labelGroups(scope, list)}
	if scope.MayKeep(0) {
		p.Clients = append(p.Clients, ui.Option{Label: "The whole workspace"})
	}
	for _, c := range clients {
		p.Clients = append(p.Clients, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: id(c.ID) == form.Client})
	}
	return d.show(w, r, scope, status, page{title: "Labels and campaigns", nav: "posts"}, calendar.Labels(p))
}

func labelGroups(scope *db.Scope, list []db.Label) []calendar.LabelGroup {
	groups := []calendar.LabelGroup{
		{Title: "Labels", Say: "There are no labels yet. A post can have several: its topic, its season, who made it."},
		{Title: "Campaigns", Say: "There are no campaigns yet. A post belongs to at most one."},
	}
	for _, l := range list {
		g, path, field := &groups[0], at(scope, "/labels/"+id(l.ID)), "label"
		if l.Kind == db.Campaign {
			g, field = &groups[1], "campaign"
		}
		row := calendar.LabelRow{Label: ui.LabelProps{Name: l.Name, Tint: l.Tint, Campaign: l.Kind == db.Campaign}, Client: l.Client, ID: id(l.ID), Posts: at(scope, "/posts?"+field+"="+id(l.ID))}
		if scope.MayKeep(l.ClientID) {
			row.Change, row.Remove = path, path+"/removal"
		}
		g.Rows = append(g.Rows, row)
	}
	return groups
}
