package desk

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/calendar"
	"herald/views/ui"
)

// showCalendar answers GET /calendar as a month, a week, a day or a list. View,
// date and filters are the address's; an address without any leads to how the
// person looked last.
func (d *Desk) showCalendar(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	l := calendarLookup(scope, r.URL.Query())
	if len(r.URL.Query()) == 0 {
		there, err := d.rememberedCalendar(r.Context(), scope)
		if err != nil {
			return err
		}
		if there != "" {
			return web.See(w, r, there)
		}
	}
	return d.drawCalendar(w, r, scope, l)
}

// drawCalendar shows the calendar of an address and says notices beside it.
func (d *Desk) drawCalendar(w http.ResponseWriter, r *http.Request, scope *db.Scope, l lookup, notices ...ui.NoticeProps) error {
	day, err := calendarDate(l.values.Get("date"))
	if err != nil {
		return err
	}
	switch span := db.Span(l.values.Get("view")); span {
	case "", db.MonthSpan:
		return d.showSpan(w, r, scope, l, db.MonthSpan, day, notices)
	case db.WeekSpan, db.DaySpan:
		return d.showSpan(w, r, scope, l, span, day, notices)
	case "list":
		return d.showList(w, r, scope, l, day, notices)
	}
	return model.RefuseField("view", "The calendar shows a month, a week, a day or a list. Choose one of them.")
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

func (d *Desk) showSpan(w http.ResponseWriter, r *http.Request, scope *db.Scope, l lookup, span db.Span, day model.Date, notices []ui.NoticeProps) error {
	c, err := scope.Calendar(r.Context(), span, day, l.filter)
	if err != nil {
		return err
	}
	if err := d.rememberCalendar(r, scope, l); err != nil {
		return err
	}
	p := d.calendarFrame(scope, l, c.Zone, c.Choices, c.Counts)
	p.Title, p.Step = spanTitle(span, c), string(span)
	p.Views = calendarViews(l, span, c.First)
	p.Previous, p.Next = spanLink(l, span, c.First, -1), spanLink(l, span, c.First, +1)
	p.Unscheduled, p.WaitingAt = c.Unscheduled, unscheduledAt(scope, l)
	p.Moves, p.Posts = movesAddress(scope, l), at(scope, "/posts")
	if err := d.fillTray(r, scope, l, c, &p); err != nil {
		return err
	}
	if empty(c.Days) {
		p.Empty = emptyWords("in "+p.Title, p.Filter.Clear != "")
	}
	free, err := d.freeSlots(r, scope, l, c)
	if err != nil {
		return err
	}
	g := dayDrawer{free: free, desk: d, scope: scope, lookup: l, page: c, today: localDay(d.Now(), c.Zone), card: cardDrawer(scope, c.Zone, c.Choices),
		feasts: celebrations(c.Clients, l.filter.Clients, wallDay(c.Days[0].Date), wallDay(c.Days[len(c.Days)-1].Date).AddDate(0, 0, 1))}
	look := page{title: p.Title, nav: "calendar", wide: true, clients: true, live: true, begins: true, here: l.address(l.values), notices: notices, modules: []string{"js/plan-board.js"}}
	if span == db.MonthSpan {
		p.Today += "#day-" + g.today.String()
		return d.show(w, r, scope, http.StatusOK, look, calendar.Month(g.month(p)))
	}
	return d.show(w, r, scope, http.StatusOK, look, calendar.Hours(g.hours(p)))
}

// fillTray adds the posts that have no time, if the address asks for them.
func (d *Desk) fillTray(r *http.Request, scope *db.Scope, l lookup, c db.Calendar, p *calendar.FrameProps) error {
	if l.values.Get("tray") == "" {
		p.TrayAt = l.with("tray", "open")
		return nil
	}
	cards, more, err := scope.CalendarTray(r.Context(), l.filter)
	if err != nil {
		return err
	}
	p.Tray = &calendar.Tray{More: more, Close: l.with("tray", ""), All: at(scope, "/posts?state=draft")}
	draw := cardDrawer(scope, c.Zone, c.Choices)
	for _, one := range cards {
		p.Tray.Cards = append(p.Tray.Cards, draw(one))
	}
	return nil
}

func empty(days []db.CalendarDay) bool {
	return !slices.ContainsFunc(days, func(day db.CalendarDay) bool { return len(day.Cards) > 0 })
}

func spanTitle(span db.Span, c db.Calendar) string {
	first := wallDay(c.First)
	switch span {
	case db.MonthSpan:
		return first.Format("January 2006")
	case db.DaySpan:
		return first.Format("Monday 2 January 2006")
	}
	last := wallDay(c.Days[len(c.Days)-1].Date)
	switch {
	case first.Year() != last.Year():
		return first.Format("2 January 2006") + " – " + last.Format("2 January 2006")
	case first.Month() != last.Month():
		return first.Format("2 January") + " – " + last.Format("2 January 2006")
	}
	return first.Format("2") + " – " + last.Format("2 January 2006")
}

// calendarFrame is what both views have around them.
func (d *Desk) calendarFrame(scope *db.Scope, l lookup, zone string, c db.Choices, counts map[string]int) calendar.FrameProps {
	p := calendar.FrameProps{Zone: zone, Feeds: at(scope, "/feeds"), Filter: l.filterProps(c, counts), Today: l.with("date", "")}
	p.Filter.Labels, p.Days = at(scope, "/labels"), at(scope, "/days")
	p.Export = lookup{path: at(scope, "/calendar.csv")}.address(l.values)
	if i := slices.IndexFunc(c.Clients, func(c db.CalendarClient) bool { return slices.Equal(l.filter.Clients, []model.ClientID{c.ID}) }); i >= 0 {
		p.Zone += ", as at " + c.Clients[i].Name
	}
	if scope.Actor.MayAnywhere(model.PostsWrite) {
		p.Create = at(scope, "/posts/new")
		if clients := l.values["client"]; len(clients) == 1 {
			p.CreateAt = append(p.CreateAt, ui.HiddenField{Name: "client", Value: clients[0]})
		}
	}
	return p
}

func calendarViews(l lookup, current db.Span, day model.Date) []ui.Tab {
	tab := func(span db.Span, label, icon, key string) ui.Tab {
		view := string(span)
		if span == db.MonthSpan {
			view = ""
		}
		return ui.Tab{Label: label, Icon: icon, Href: l.with("view", view, "date", spanDate(span, day)), Current: current == span, Attrs: templ.Attributes{"aria-keyshortcuts": key}}
	}
	return []ui.Tab{
		tab(db.MonthSpan, "Month", "calendar-days", "M"), tab(db.WeekSpan, "Week", "calendar-range", "W"), tab(db.DaySpan, "Day", "calendar", "D"), tab("list", "List", "list", "L"),
	}
}

// spanDate is how an address names the span that a day begins.
func spanDate(span db.Span, day model.Date) string {
	if span == db.MonthSpan {
		return wallDay(day).Format("2006-01")
	}
	return day.String()
}

// spanLink leads to the span before or after; nowhere beyond the years of the
// calendar.
func spanLink(l lookup, span db.Span, first model.Date, by int) string {
	at := wallDay(first)
	switch span {
	case db.MonthSpan:
		at = at.AddDate(0, by, 0)
	case db.WeekSpan:
		at = at.AddDate(0, 0, 7*by)
	default:
		at = at.AddDate(0, 0, by)
	}
	if at.Year() < 2000 || at.Year() > 2199 {
		return ""
	}
	return l.with("date", spanDate(span, model.LocalOf(at).Date))
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
