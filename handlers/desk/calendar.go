package desk

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/views/calendar"
	"herald/views/ui"
)

// showCalendar answers GET /calendar as a month or as a list. View, date and
// filters are the address's.
func (d *Desk) showCalendar(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	l := readLookup(at(scope, "/calendar"), r.URL.Query())
	day, err := calendarDate(l.values.Get("date"))
	if err != nil {
		return err
	}
	switch l.values.Get("view") {
	case "", "month":
		return d.showMonth(w, r, scope, l, day)
	case "list":
		return d.showList(w, r, scope, l, day)
	}
	return model.RefuseField("view", "The calendar shows a month or a list. Choose one of them.")
}

// calendarDate reads 2026-03 or 2026-03-10; nothing is the zero day.
func calendarDate(s string) (model.Date, error) {
	if s == "" {
		return model.Date{}, nil
	}
	if len(s) == len("2026-03") {
		s += "-01"
	}
	day, err := model.ParseDate(s)
	if err != nil {
		return day, model.RefuseField("date", "Give the month as 2026-03 or the day as 2026-03-29.")
	}
	return day, nil
}

func (d *Desk) showMonth(w http.ResponseWriter, r *http.Request, scope *db.Scope, l lookup, day model.Date) error {
	m, err := scope.CalendarMonth(r.Context(), day, l.filter)
	if err != nil {
		return err
	}
	p := calendar.MonthProps{FrameProps: d.calendarFrame(scope, l, m.Zone, m.Clients, m.Counts), Weekdays: []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}}
	first := wallDay(m.Month)
	p.Title, p.Step = first.Format("January 2006"), "month"
	p.Views = calendarViews(l, "month", m.Month)
	p.Previous, p.Next = monthLink(l, first.AddDate(0, -1, 0)), monthLink(l, first.AddDate(0, 1, 0))
	p.Unscheduled, p.WaitingAt = m.Unscheduled, unscheduledAt(scope, l)
	today := localDay(d.Now(), m.Zone)
	p.Today += "#day-" + today.String()
	draw := cardDrawer(scope, m.Zone, m.Clients)
	some := false
	for _, one := range m.Days {
		p.Days = append(p.Days, monthDay(one, m.Month, today, l, draw))
		some = some || len(one.Cards) > 0
	}
	if !some {
		p.Empty = emptyWords("in "+p.Title, p.Filter.Clear != "")
	}
	return d.show(w, r, scope, http.StatusOK, page{title: p.Title, nav: "calendar", wide: true, live: true}, calendar.Month(p))
}

// calendarFrame is what both views have around them.
func (d *Desk) calendarFrame(scope *db.Scope, l lookup, zone string, clients []db.CalendarClient, counts map[string]int) calendar.FrameProps {
	p := calendar.FrameProps{Zone: zone, Filter: l.filterProps(clients, counts), Today: l.with("date", "")}
	if i := slices.IndexFunc(clients, func(c db.CalendarClient) bool { return slices.Equal(l.filter.Clients, []model.ClientID{c.ID}) }); i >= 0 {
		p.Zone += ", as at " + clients[i].Name
	}
	if scope.Actor.MayAnywhere(model.PostsWrite) {
		p.Create = at(scope, "/posts/new")
	}
	return p
}

func calendarViews(l lookup, current string, day model.Date) []ui.Tab {
	month := wallDay(day).Format("2006-01")
	return []ui.Tab{
		{Label: "Month", Icon: "calendar-days", Href: l.with("view", "", "date", month), Current: current == "month"},
		{Label: "List", Icon: "list", Href: l.with("view", "list", "date", day.String()), Current: current == "list"},
	}
}

// monthLink leads to another month; nowhere beyond the years of the calendar.
func monthLink(l lookup, first time.Time) string {
	if first.Year() < 2000 || first.Year() > 2199 {
		return ""
	}
	return l.with("date", first.Format("2006-01"))
}

// unscheduledAt is the list of approved posts, of the chosen clients.
func unscheduledAt(scope *db.Scope, l lookup) string {
	posts := lookup{path: at(scope, "/posts"), values: map[string][]string{"state": {"approved"}}}
	if clients := l.values["client"]; len(clients) > 0 {
		posts.values["client"] = clients
	}
	return posts.address(posts.values)
}

func localDay(at time.Time, zone string) model.Date {
	when, err := model.At(at, zone)
	if err != nil {
		return model.LocalOf(at.UTC()).Date
	}
	return when.Local.Date
}

func monthDay(one db.CalendarDay, month, today model.Date, l lookup, draw func(db.CalendarCard) calendar.Card) calendar.Day {
	wall := wallDay(one.Date)
	p := calendar.Day{
		ID: "day-" + one.Date.String(), Number: fmt.Sprint(one.Date.Day), Weekday: wall.Format("Mon"),
		Href:    l.with("view", "list", "date", one.Date.String()),
		Outside: one.Date.Month != month.Month, Today: one.Date == today, Past: wall.Before(wallDay(today)), More: one.More,
	}
	// Both begin as they look, so that whoever steers by voice can say what they see.
	p.Label = wall.Format("Mon 2 January") + ", " + postsWords(len(one.Cards)+one.More)
	p.MoreSays = fmt.Sprintf("+%d more on %s", one.More, wall.Format("Monday 2 January"))
	for _, c := range one.Cards {
		p.Cards = append(p.Cards, draw(c))
	}
	return p
}

func postsWords(n int) string {
	switch n {
	case 0:
		return "nothing planned"
	case 1:
		return "1 post"
	}
	return fmt.Sprintf("%d posts", n)
}

func emptyWords(where string, filtered bool) string {
	if filtered {
		return "Nothing " + where + " matches these filters"
	}
	return "Nothing is planned " + where
}
