package desk

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
)

// calendarLookup reads the address of a calendar. An address without a field would
// be that of the last look, so one that shows everything names its view.
func calendarLookup(scope *db.Scope, values url.Values) lookup {
	l := readLookup(at(scope, "/calendar"), values)
	l.bare = "?view=" + string(db.MonthSpan)
	return l
}

// rememberCalendar keeps view and filters of a calendar that somebody opened and
// could be read; what a page asks for by itself is nobody's choice.
func (d *Desk) rememberCalendar(r *http.Request, scope *db.Scope, l lookup) error {
	if web.FromHTMX(r) || r.Method != http.MethodGet || r.URL.RawQuery == "" {
		return nil
	}
	kept := url.Values{}
	for _, field := range filterFields {
		if len(l.values[field]) > 0 {
			kept[field] = l.values[field]
		}
	}
	if view := l.values.Get("view"); slices.Contains([]string{string(db.WeekSpan), string(db.DaySpan), "list"}, view) {
		kept.Set("view", view)
	}
	return scope.KeepCalendarLook(r.Context(), kept.Encode())
}

// rememberedCalendar is the address of the last look; empty if there is none, or
// if what it filters by is gone.
func (d *Desk) rememberedCalendar(ctx context.Context, scope *db.Scope) (string, error) {
	query, err := scope.CalendarLook(ctx)
	if err != nil || query == "" {
		return "", err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", nil
	}
	l := calendarLookup(scope, values)
	_, err = scope.CalendarZone(ctx, l.filter)
	if _, no := model.Refused(err); no {
		return "", nil
	}
	return l.address(l.values), err
}
