package desk

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/settings"
	"herald/views/ui"
)

// showClients answers GET /settings/clients.
func (d *Desk) showClients(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	all, err := scope.ClientSettings(r.Context())
	if err != nil {
		return err
	}
	p := settings.ClientsProps{Add: at(scope, "/settings/clients/new")}
	for _, c := range all {
		p.Clients = append(p.Clients, settings.Client{
			Name: c.Name, Href: clientPath(scope, c.ID), Zone: placeName(c.Zone), Accounts: counted(c.Accounts, "account", "No account yet"), Planned: counted(c.Planned, "post planned", "Nothing planned"),
			Paused: c.PausedAt != nil, Archived: c.ArchivedAt != nil,
		})
	}
	return d.showSettings(w, r, scope, http.StatusOK, page{title: "Clients"}, settings.Clients(p))
}

func clientPath(scope *db.Scope, client model.ClientID) string {
	return at(scope, "/settings/clients/"+id(client))
}

// counted is a number of things in words: "3 accounts", "3 posts planned".
func counted(n int, what, none string) string {
	first, rest, _ := strings.Cut(what, " ")
	switch n {
	case 0:
		return none
	case 1:
		return strings.TrimSpace("1 " + first + " " + rest)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %ss %s", n, first, rest))
}

// showNewClient answers GET /settings/clients/new.
func (d *Desk) showNewClient(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawNewClient(w, r, scope, http.StatusOK, func(p *settings.ClientProps) { p.Zone = zoneField(scope.Workspace.Zone) })
}

const cutoffDefault = "what the operator set, 24 hours as a rule"

func (d *Desk) drawNewClient(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*settings.ClientProps)) error {
	p := settings.ClientProps{Title: "Add a client", New: true, Crumbs: []ui.Crumb{{Label: "Clients", Href: at(scope, "/settings/clients")}}, Action: at(scope, "/settings/clients"), Default: cutoffDefault}
	with(&p)
	return d.showSettings(w, r, scope, status, page{title: "Clients"}, settings.ClientForm(p))
}

// readClientForm reads what is said of a client. Hours that are none become a
// cut-off that is refused.
func readClientForm(r *http.Request) db.ClientForm {
	f := db.ClientForm{Name: r.PostFormValue("name"), Zone: r.PostFormValue("zone"), Seen: r.PostFormValue("seen")}
	if hours := strings.TrimSpace(r.PostFormValue("late_cutoff")); hours != "" {
		n, err := strconv.ParseFloat(strings.Replace(hours, ",", ".", 1), 64)
		if f.LateCutoff = -1; err == nil && n > 0 && n < 10000 {
			f.LateCutoff = time.Duration(n * float64(time.Hour)).Truncate(time.Second)
		}
	}
	return f
}

// createClient answers POST /settings/clients.
func (d *Desk) createClient(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	f := readClientForm(r)
	c, err := scope.AddClient(r.Context(), f)
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		return d.drawNewClient(w, r, scope, web.Status(err), func(p *settings.ClientProps) {
			p.Name, p.Zone, p.Cutoff, p.Problem = f.Name, zoneField(f.Zone, scope.Workspace.Zone), r.PostFormValue("late_cutoff"), problems(no, "name")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, clientPath(scope, c.ID), c.Name+" is added. Connect its accounts next.")
}

// showClient answers GET /settings/clients/{client}.
func (d *Desk) showClient(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawClient(w, r, scope, http.StatusOK, func(*settings.ClientProps) {})
}

func (d *Desk) drawClient(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*settings.ClientProps)) error {
	c, blackouts, err := scope.ClientSetting(r.Context(), pathID[model.ClientID](r, "client"))
	if err != nil {
		return err
	}
	path := clientPath(scope, c.ID)
	p := settings.ClientProps{
		Title: c.Name, Crumbs: []ui.Crumb{{Label: "Clients", Href: at(scope, "/settings/clients")}}, Action: path, Seen: c.Seen(), Name: c.Name,
		Zone: zoneField(c.Zone, scope.Workspace.Zone), ZoneWords: placeName(c.Zone), Cutoff: hours(c.LateCutoff), Default: cutoffDefault,
		Links:  []ui.Tab{{Label: "Accounts", Icon: "plug", Href: at(scope, "/accounts#client-"+id(c.ID))}, {Label: "Calendar", Icon: "calendar-days", Href: at(scope, "/calendar?client="+id(c.ID))}, {Label: "Review pages", Icon: "palette", Href: lookPath(scope, c.ID)}},
		Paused: since(c.PausedAt, c.Zone), Pause: at(scope, "/clients/"+id(c.ID)+"/pause"), Archived: since(c.ArchivedAt, c.Zone), Archive: path + "/archive", Planned: c.Planned,
		Silence: path + "/blackouts",
	}
	for _, b := range blackouts {
		p.Blackouts = append(p.Blackouts, settings.Blackout{
			From: clientTime(b.From, c.Zone), To: clientTime(b.To, c.Zone), Reason: b.Reason, Over: !b.To.After(d.Now()), Remove: path + "/blackouts/" + id(b.ID) + "/removal",
		})
	}
	tags, err := scope.LinkTags(r.Context(), c.ID)
	if err != nil {
		return err
	}
	p.LinkTags = linkTagsPart(path, c.Name, tags)
	with(&p)
	return d.showSettings(w, r, scope, status, page{title: "Clients"}, settings.ClientForm(p))
}

func hours(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return strconv.FormatFloat(d.Hours(), 'f', -1, 64)
}

// editClient answers POST /settings/clients/{client}.
func (d *Desk) editClient(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	f, client := readClientForm(r), pathID[model.ClientID](r, "client")
	err := scope.EditClient(r.Context(), client, f)
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		return d.drawClient(w, r, scope, web.Status(err), func(p *settings.ClientProps) {
			p.Name, p.Zone, p.Cutoff, p.Problem = f.Name, zoneField(f.Zone, scope.Workspace.Zone), r.PostFormValue("late_cutoff"), problems(no, "name")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, clientPath(scope, client), "Saved.")
}

// archiveClient answers POST /settings/clients/{client}/archive.
func (d *Desk) archiveClient(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client, archived := pathID[model.ClientID](r, "client"), r.PostFormValue("archived") == "true"
	name, err := scope.ArchiveClient(r.Context(), client, archived)
	if err != nil {
		return err
	}
	say := name + " is out of the archive, and paused until you resume it."
	if archived {
		say = name + " is archived."
	}
	return d.say(w, r, clientPath(scope, client), say)
}

// createBlackout answers POST /settings/clients/{client}/blackouts.
func (d *Desk) createBlackout(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client := pathID[model.ClientID](r, "client")
	from, to, err := readSpan(r)
	inside := 0
	if err == nil {
		inside, err = scope.AddBlackout(r.Context(), client, from, to, r.PostFormValue("reason"))
	}
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		return d.drawClient(w, r, scope, web.Status(err), func(p *settings.ClientProps) {
			p.From, p.To, p.Reason, p.Problem = r.PostFormValue("from"), r.PostFormValue("to"), r.PostFormValue("reason"), problems(no, "from")
		})
	}
	if err != nil {
		return err
	}
	say := "Nothing is published then."
	if inside > 0 {
		say += " " + counted(inside, "post planned", "") + " inside " + map[bool]string{true: "waits", false: "wait"}[inside == 1] + " for the end."
	}
	return d.say(w, r, clientPath(scope, client)+"#blackouts", say)
}

// readSpan reads from when until when, on the client's clocks.
func readSpan(r *http.Request) (from, to model.LocalTime, err error) {
	if from, err = model.ParseLocal(r.PostFormValue("from")); err != nil {
		return from, to, model.RefuseField("from", "Say day and time at which it begins.")
	}
	if to, err = model.ParseLocal(r.PostFormValue("to")); err != nil {
		return from, to, model.RefuseField("to", "Say day and time at which it ends.")
	}
	return from, to, nil
}

// createBlackoutRemoval answers POST /settings/clients/{client}/blackouts/{blackout}/removal.
func (d *Desk) createBlackoutRemoval(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client := pathID[model.ClientID](r, "client")
	if err := scope.RemoveBlackout(r.Context(), client, pathID[model.BlackoutID](r, "blackout")); err != nil {
		return err
	}
	return d.say(w, r, clientPath(scope, client)+"#blackouts", "The blackout is removed.")
}
