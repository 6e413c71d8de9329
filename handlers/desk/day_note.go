package desk

import (
	"net/http"
	"strconv"
	"time"

	"herald/db"
	"herald/db/holiday"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/calendar"
	"herald/views/ui"
)

func (d *Desk) dayNoteRoutes() []route {
	return []route{
		{"GET /w/{slug}/days", model.PostsView, d.showDays},
		{"POST /w/{slug}/days", model.PostsWrite, d.createDayNote},
		{"POST /w/{slug}/days/{note}/removal", model.PostsWrite, d.removeDayNote},
		{"POST /w/{slug}/clients/{client}/holidays", model.PostsWrite, d.setHolidays},
		{"POST /w/{slug}/clients/{client}/apart", model.PostsWrite, d.setApart},
	}
}

// showDays answers GET /days?date=2026-03 with a month's notes, and with whose
// holidays are shown. day=2026-03-20 begins a note there, client=ID for a client.
func (d *Desk) showDays(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	form := calendar.NoteForm{Client: r.FormValue("client")}
	day, err := calendarDate(r.FormValue("date"))
	if err != nil {
		return err
	}
	if on, err := model.ParseDate(r.FormValue("day")); err == nil {
		day, form.Day = on, on.String()
	}
	return d.drawDays(w, r, scope, http.StatusOK, day, form)
}

// createDayNote answers POST /days.
func (d *Desk) createDayNote(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	form := calendar.NoteForm{Day: r.PostFormValue("day"), Words: typed(r.PostFormValue("words")), Client: r.PostFormValue("client")}
	client, err := optionalID(form.Client)
	if err != nil {
		return err
	}
	day, err := model.ParseDate(form.Day)
	if err == nil {
		_, err = scope.AddDayNote(r.Context(), db.DayNote{ClientID: model.ClientID(client), Date: day, Words: form.Words})
	}
	if no, ok := model.Refused(err); ok && no.Kind == model.Unprocessable {
		form.Problem = no.Say
		if no.Field != "words" {
			form.Problem, form.DayProblem = "", no.Say
		}
		return d.drawDays(w, r, scope, http.StatusUnprocessableEntity, model.Date{}, form)
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/days?date="+day.String()[:7]), "Written down for "+day.Say()+".")
}

// removeDayNote answers POST /days/{note}/removal.
func (d *Desk) removeDayNote(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.RemoveDayNote(r.Context(), model.NoteID(web.ID(r.PathValue("note")))); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/days"), "The note is gone.")
}

// setHolidays answers POST /clients/{client}/holidays.
func (d *Desk) setHolidays(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.SetHolidays(r.Context(), model.ClientID(web.ID(r.PathValue("client"))), r.PostFormValue("holidays")); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/days"), "Saved. The calendar shows them from now on.")
}

// setApart answers POST /clients/{client}/apart.
func (d *Desk) setApart(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	minutes, err := web.Count(r.PostFormValue("apart"))
	if err != nil {
		minutes = -1
	}
	if err := scope.SetApart(r.Context(), model.ClientID(web.ID(r.PathValue("client"))), minutes); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/days"), "Saved. Posts that are closer than that are marked from now on.")
}

func (d *Desk) drawDays(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, month model.Date, form calendar.NoteForm) error {
	if month == (model.Date{}) {
		month = localDay(d.Now(), scope.Workspace.Zone)
	}
	notes, clients, err := scope.DayNotes(r.Context(), month)
	if err != nil {
		return err
	}
	first := wallDay(model.Date{Year: month.Year, Month: month.Month, Day: 1})
	p := calendar.DaysProps{Month: first.Format("January 2006"), Path: at(scope, "/days"), Calendar: at(scope, "/calendar"), New: form,
		Previous: at(scope, "/days?date="+first.AddDate(0, -1, 0).Format("2006-01")), Next: at(scope, "/days?date="+first.AddDate(0, 1, 0).Format("2006-01"))}
	if scope.MayKeep(0) {
		p.Clients = append(p.Clients, ui.Option{Label: "The whole workspace"})
	}
	for _, c := range clients {
		if scope.MayKeep(c.ID) {
			p.Clients = append(p.Clients, ui.Option{Value: id(c.ID), Label: c.Name, Chosen: id(c.ID) == form.Client})
		}
		p.Holidays = append(p.Holidays, holidayRow(scope, c))
	}
	for _, n := range notes {
		p.Notes = append(p.Notes, noteRow(scope, n))
	}
	return d.show(w, r, scope, status, page{title: "Notes and holidays", nav: "calendar"}, calendar.Days(p))
}

func noteRow(scope *db.Scope, n db.DayNote) calendar.NoteRow {
	row := calendar.NoteRow{Day: wallDay(n.Date).Format("Mon 2 January"), Href: at(scope, "/calendar?view=day&date="+n.Date.String()), Words: n.Words, Whose: n.Client, By: n.Name}
	if n.ClientID == 0 {
		row.Whose = "The whole workspace"
	}
	if scope.MayKeep(n.ClientID) {
		row.Remove = at(scope, "/days/"+id(n.ID)+"/removal")
	}
	return row
}

func holidayRow(scope *db.Scope, c db.CalendarClient) calendar.HolidayRow {
	row := calendar.HolidayRow{ID: id(c.ID), Client: c.Name, Region: "None", Apart: strconv.Itoa(c.Apart), Regions: []ui.Option{{Label: "None"}}}
	for _, r := range holiday.Regions() {
		chosen := r.Code == c.Holidays
		row.Regions = append(row.Regions, ui.Option{Value: r.Code, Label: r.Name, Chosen: chosen})
		if chosen {
			row.Region = r.Name
		}
	}
	if scope.MayKeep(c.ID) {
		row.Change, row.ChangeApart = at(scope, "/clients/"+id(c.ID)+"/holidays"), at(scope, "/clients/"+id(c.ID)+"/apart")
	}
	return row
}

// celebration is a holiday of a day, and whose it is.
type celebration struct {
	name    string
	clients []string
}

// celebrations are the holidays of the clients of a calendar, by day.
func celebrations(clients []db.CalendarClient, only []model.ClientID, from, to time.Time) map[model.Date][]celebration {
	all := map[model.Date][]celebration{}
	for _, c := range clients {
		if !shows(only, c.ID) {
			continue
		}
		for _, h := range holiday.Between(c.Holidays, from, to) {
			day := model.LocalOf(h.Date).Date
			all[day] = celebrate(all[day], h.Name, c.Name)
		}
	}
	return all
}

func celebrate(list []celebration, name, client string) []celebration {
	for i := range list {
		if list[i].name == name {
			list[i].clients = append(list[i].clients, client)
			return list
		}
	}
	return append(list, celebration{name, []string{client}})
}
