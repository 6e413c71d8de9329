package desk

import (
	"net/http"
	"strconv"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/settings"
	"herald/views/ui"
)

// showWorkspaceSettings answers GET /settings/general.
func (d *Desk) showWorkspaceSettings(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawWorkspaceSettings(w, r, scope, http.StatusOK, func(*settings.WorkspaceProps) {})
}

func (d *Desk) drawWorkspaceSettings(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*settings.WorkspaceProps)) error {
	set, err := scope.WorkspaceSetting(r.Context())
	if err != nil {
		return err
	}
	p := settings.WorkspaceProps{
		Action: at(scope, "/settings/general"), Pause: at(scope, "/pause"), Seen: set.Seen(), Name: set.Name, Zone: zoneField(set.Zone), Paused: since(set.PausedAt, set.Zone),
		Plan: []ui.Fact{
			{Name: "Address", Value: ui.Text(d.BaseURL + "/w/" + scope.Workspace.Slug)},
			{Name: "Published this month", Value: ui.Text(ofLimit(set.Posts, set.PostsAMonth, strconv.Itoa))},
			{Name: "Files", Value: ui.Text(ofLimit(set.Bytes, set.MediaBytes, megabytes))},
		},
	}
	with(&p)
	return d.showSettings(w, r, scope, status, page{title: "General"}, settings.Workspace(p))
}

// ofLimit says how much of a limit is used; without one there is none to tell.
func ofLimit[T any](used T, limit *T, words func(T) string) string {
	if limit == nil {
		return words(used)
	}
	return words(used) + " of " + words(*limit)
}

// zoneField offers time zones, with those of the workspace and others named first.
func zoneField(current string, others ...string) settings.Zone {
	near, more := web.ZoneChoices(current, append([]string{current}, append(others, "UTC")...)...)
	return settings.Zone{Near: near, More: more}
}

// editWorkspace answers POST /settings/general.
func (d *Desk) editWorkspace(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	f := db.WorkspaceForm{Name: r.PostFormValue("name"), Zone: r.PostFormValue("zone"), Seen: r.PostFormValue("seen")}
	err := scope.EditWorkspace(r.Context(), f)
	if no, ok := model.Refused(err); ok && no.Kind != model.Forbidden {
		return d.drawWorkspaceSettings(w, r, scope, web.Status(err), func(p *settings.WorkspaceProps) {
			p.Name, p.Zone, p.Problem = f.Name, zoneField(f.Zone, scope.Workspace.Zone), problems(no, "name")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/general"), "Saved.")
}

// problems puts a refusal to its field, else to the one that the eye falls on.
func problems(no *model.Refusal, otherwise string) map[string]string {
	if no.Field == "" {
		return map[string]string{otherwise: no.Say}
	}
	return map[string]string{no.Field: no.Say}
}
