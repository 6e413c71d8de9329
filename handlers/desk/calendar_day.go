package desk

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/views/calendar"
)

// dayDrawer draws the days of one page.
type dayDrawer struct {
	desk   *Desk
	scope  *db.Scope
	lookup lookup
	page   db.Calendar
	today  model.Date
	card   func(db.CalendarCard) calendar.Card
	feasts map[model.Date][]celebration
	free   map[model.Date][]calendar.FreeSlot
}

func (g dayDrawer) month(frame calendar.FrameProps) calendar.MonthProps {
	p := calendar.MonthProps{FrameProps: frame, Weekdays: []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}}
	for _, one := range g.page.Days {
		day := g.day(one)
		day.Outside = one.Date.Month != g.page.First.Month
		for _, c := range one.Cards {
			day.Cards = append(day.Cards, g.card(c))
		}
		p.Days = append(p.Days, day)
	}
	return p
}

// day is one day without its cards.
func (g dayDrawer) day(one db.CalendarDay) calendar.Day {
	wall := wallDay(one.Date)
	p := calendar.Day{
		Date: one.Date.String(), Number: fmt.Sprint(one.Date.Day), Weekday: wall.Format("Mon"),
		Href:  g.lookup.with("view", string(db.DaySpan), "date", one.Date.String()),
		Today: one.Date == g.today, Past: wall.Before(wallDay(g.today)), More: one.More,
	}
	p.Quiet, p.QuietSays = g.quiet(one)
	p.Free = g.free[one.Date]
	p.Notes = dayNotes(one.Date, g.page.Notes, g.feasts)
	// Both begin as they look, so that whoever steers by voice can say what they see.
	p.Label = wall.Format("Mon 2 January") + ", " + postsWords(len(one.Cards)+one.More)
	p.MoreSays = fmt.Sprintf("+%d more on %s", one.More, wall.Format("Monday 2 January"))
	return p
}

// dayNotes are a day's holidays and notes.
func dayNotes(day model.Date, notes []db.DayNote, feasts map[model.Date][]celebration) (list []calendar.DayNote) {
	for _, f := range feasts[day] {
		list = append(list, calendar.DayNote{Holiday: true, Words: f.name, Says: strings.Join(f.clients, ", ")})
	}
	for _, n := range notes {
		if n.Date == day {
			list = append(list, calendar.DayNote{Words: n.Words, Says: n.Client})
		}
	}
	return list
}

// shows says whether a filter by clients lets one through.
func shows(only []model.ClientID, client model.ClientID) bool {
	return len(only) == 0 || slices.Contains(only, client)
}

// quiet names the clients that have a blackout on a day, and says when and why.
func (g dayDrawer) quiet(one db.CalendarDay) (names, says string) {
	end := one.Start.Add(26 * time.Hour) // a day at which the clocks change, and its neighbours' first hours
	if next := slices.IndexFunc(g.page.Days, func(day db.CalendarDay) bool { return day.Date == one.Date }) + 1; next < len(g.page.Days) {
		end = g.page.Days[next].Start
	}
	var who, why []string
	for _, b := range g.page.Blackouts {
		if b.To.After(one.Start) && b.From.Before(end) {
			who = append(who, b.Client)
			why = append(why, fmt.Sprintf("%s, %s to %s: %s", b.Client, moment(b.From, g.page.Zone), moment(b.To, g.page.Zone), b.Reason))
		}
	}
	slices.Sort(who)
	return strings.Join(slices.Compact(who), ", "), strings.Join(why, "\n")
}

func moment(at time.Time, zone string) string {
	when, err := model.At(at, zone)
	if err != nil {
		return at.UTC().Format("2 Jan 15:04")
	}
	return when.Local.Wall().Format("2 Jan 15:04")
}

func (g dayDrawer) hours(frame calendar.FrameProps) calendar.HoursProps {
	p := calendar.HoursProps{FrameProps: frame}
	for _, one := range g.page.Days {
		p.Days = append(p.Days, g.day(one))
	}
	for hour := range 24 {
		row := calendar.Hour{Clock: fmt.Sprintf("%02d:00", hour)}
		for i, one := range g.page.Days {
			row.Slots = append(row.Slots, g.slot(p.Days[i], one, hour))
		}
		p.Hours = append(p.Hours, row)
	}
	return p
}

// slot is one hour of one day. An hour that the clocks skip takes nothing, and
// neither does one that is over.
func (g dayDrawer) slot(day calendar.Day, one db.CalendarDay, hour int) calendar.Slot {
	s := calendar.Slot{Date: day.Date, Clock: fmt.Sprintf("%02d:00", hour), Label: fmt.Sprintf("%s, %02d:00", wallDay(one.Date).Format("Mon 2 January"), hour), Today: day.Today}
	last, err := model.Resolve(model.LocalTime{Date: one.Date, Hour: hour, Minute: 59}, g.page.Zone, model.Later)
	s.Skipped = err != nil
	s.Past = err == nil && last.At.Before(g.desk.Now().Truncate(time.Minute))
	for _, c := range one.Cards {
		if when, err := model.At(c.DueAt, g.page.Zone); err == nil && when.Local.Hour == hour {
			s.Cards = append(s.Cards, g.card(c))
		}
	}
	for _, free := range g.free[one.Date] {
		if free.Hour == hour {
			s.Free = append(s.Free, free)
		}
	}
	return s
}
