package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/views/calendar"
	"herald/views/ui"
)

func (d *Desk) showList(w http.ResponseWriter, r *http.Request, scope *db.Scope, l lookup, day model.Date, notices []ui.NoticeProps) error {
	turn, err := readPage(l)
	if err != nil {
		return err
	}
	list, err := scope.CalendarList(r.Context(), day, turn, l.filter)
	if err != nil {
		return err
	}
	if err := d.rememberCalendar(r, scope, l); err != nil {
		return err
	}
	p := calendar.ListProps{FrameProps: d.calendarFrame(scope, l, list.Zone, list.Choices, nil)}
	p.Title, p.Step = "Planned", "page"
	p.Views = calendarViews(l, "list", list.Day)
	today := localDay(d.Now(), list.Zone)
	draw := cardDrawer(scope, list.Zone, list.Choices)
	feasts := listFeasts(l, list)
	for _, one := range list.Days {
		g := listGroup(one, today, draw)
		g.Notes = dayNotes(one.Date, list.Notes, feasts)
		p.Groups = append(p.Groups, g)
	}
	p.Empty = emptyWords("from "+list.Day.Say()+" on", p.Filter.Clear != "")
	p.Pages = pages(l, list.Earlier, list.Later, spanWords(list.Days))
	p.Previous, p.Next = p.Pages.Previous, p.Pages.Next
	return d.show(w, r, scope, http.StatusOK, page{title: "Planned posts", nav: "calendar", wide: true, clients: true, live: true, begins: true, notices: notices}, calendar.List(p))
}

func listFeasts(l lookup, list db.CalendarList) map[model.Date][]celebration {
	if len(list.Days) == 0 {
		return nil
	}
	return celebrations(list.Clients, l.filter.Clients, wallDay(list.Days[0].Date), wallDay(list.Days[len(list.Days)-1].Date).AddDate(0, 0, 1))
}

// readPage reads which part of a list an address asks for.
func readPage(l lookup) (p db.Page, err error) {
	if p.After, err = db.ParsePlace(l.values.Get("after")); err != nil {
		return p, err
	}
	if p.Before, err = db.ParsePlace(l.values.Get("before")); err != nil {
		return p, err
	}
	if p.After != (db.Place{}) && p.Before != (db.Place{}) {
		return p, model.RefuseField("after", "A page lies after or before another, not both. Go back to the list.")
	}
	return p, nil
}

// pages lead to a list's neighbours: back to what goes before its first row, on
// to what follows its last.
func pages(l lookup, back, on db.Place, words string) ui.PaginationProps {
	p := ui.PaginationProps{Words: words}
	if back != (db.Place{}) {
		p.Previous = l.with("before", back.String())
	}
	if on != (db.Place{}) {
		p.Next = l.with("after", on.String())
	}
	return p
}

// spanWords are the first and the last day of a page.
func spanWords(days []db.CalendarDay) string {
	if len(days) == 0 {
		return ""
	}
	first, last := wallDay(days[0].Date).Format("2 January"), wallDay(days[len(days)-1].Date).Format("2 January")
	if first == last {
		return first
	}
	return first + " to " + last
}

func listGroup(one db.CalendarDay, today model.Date, draw func(db.CalendarCard) calendar.Card) calendar.Group {
	g := calendar.Group{Title: wallDay(one.Date).Format("Monday 2 January 2006")}
	if one.Date == today {
		g.Note = "Today"
	}
	for _, c := range one.Cards {
		g.Cards = append(g.Cards, draw(c))
	}
	return g
}
