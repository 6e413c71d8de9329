package desk

import (
	"fmt"
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
	// Both begin as they look, so that whoever steers by voice can say what they see.
	p.Label = wall.Format("Mon 2 January") + ", " + postsWords(len(one.Cards)+one.More)
	p.MoreSays = fmt.Sprintf("+%d more on %s", one.More, wall.Format("Monday 2 January"))
	return p
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
	return s
}
