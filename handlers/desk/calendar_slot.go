package desk

import (
	"net/http"
	"net/url"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/calendar"
)

// freeSlots are the slots of a calendar's days that are still to be had, by the day
// that its clocks show, for who may begin posts there.
func (d *Desk) freeSlots(r *http.Request, scope *db.Scope, l lookup, c db.Calendar) (map[model.Date][]calendar.FreeSlot, error) {
	if !scope.Actor.MayAnywhere(model.PostsWrite) {
		return nil, nil
	}
	from, to := c.Days[0].Start, c.Days[len(c.Days)-1].Start.AddDate(0, 0, 1)
	free, err := scope.FreeSlots(r.Context(), from, to, l.filter)
	if err != nil {
		return nil, err
	}
	days := map[model.Date][]calendar.FreeSlot{}
	for _, s := range free {
		here, err := model.At(s.When.At, c.Zone)
		if err != nil {
			return nil, err
		}
		if scope.Actor.May(model.PostsWrite, s.Client) {
			days[here.Local.Date] = append(days[here.Local.Date], drawSlot(scope, s, here.Local))
		}
	}
	return days, nil
}

func drawSlot(scope *db.Scope, s db.FreeSlot, here model.LocalTime) calendar.FreeSlot {
	at := lookup{path: at(scope, "/posts/new")}
	href := at.address(url.Values{"account": {id(s.Account)}, "day": {s.When.Local.Date.String()}, "clock": {s.When.Local.Clock()[:5]}})
	return calendar.FreeSlot{Hour: here.Hour, Clock: here.Clock()[:5], Href: href, Mark: calendar.Mark{Network: string(s.Network), Label: network.Label(s.Network)}, Account: s.Handle}
}
