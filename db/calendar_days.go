package db

import (
	"errors"
	"time"

	"herald/db/model"
)

// CalendarDay is one day as people in the calendar's zone have it.
type CalendarDay struct {
	Date  model.Date
	Start time.Time // its first instant; days with a clock change are not 24 hours
	Cards []CalendarCard
	More  int // cards of the day that are not among Cards
}

// days returns the days of the span around a day, the first day it is named
// after, and the first instant after them.
func (s Span) days(day model.Date, zone string) (first model.Date, days []CalendarDay, end time.Time, err error) {
	from, to := s.bounds(day)
	for at := from; at.Before(to); at = at.AddDate(0, 0, 1) {
		one := CalendarDay{Date: model.LocalOf(at).Date}
		if one.Start, err = dayStart(one.Date, zone); err != nil {
			return first, nil, end, err
		}
		days = append(days, one)
	}
	if first = days[0].Date; s == MonthSpan {
		first = model.Date{Year: day.Year, Month: day.Month, Day: 1}
	}
	end, err = dayStart(model.LocalOf(to).Date, zone)
	return first, days, end, err
}

// bounds are the first day and the one after the last, as midnights in UTC. A
// month has whole weeks, Monday to Sunday.
func (s Span) bounds(day model.Date) (from, to time.Time) {
	from = model.LocalTime{Date: day}.Wall()
	to = from.AddDate(0, 0, 1)
	if s == DaySpan {
		return from, to
	}
	if s == MonthSpan {
		from = from.AddDate(0, 0, 1-day.Day)
		to = from.AddDate(0, 1, 0)
	}
	from = from.AddDate(0, 0, -int(from.Weekday()+6)%7)
	for to.Weekday() != time.Monday {
		to = to.AddDate(0, 0, 1)
	}
	return from, to
}

// dayStart is the first instant of a day. Where the clocks skip midnight the day
// begins when they have jumped; a day that they skip whole has no length.
func dayStart(day model.Date, zone string) (time.Time, error) {
	when, err := model.Resolve(model.LocalTime{Date: day}, zone, model.Earlier)
	if gap, ok := errors.AsType[*model.Gap](err); ok {
		return gap.After.At, nil
	}
	return when.At, err
}

// The years that a calendar opens on. Beyond them lies a slip of the keyboard.
const firstYear, lastYear = 2000, 2199

func calendarYear(d model.Date) error {
	if d.Year < firstYear || d.Year > lastYear {
		return model.RefuseField("date", "The calendar goes from 2000 to 2199. Choose a date in between.")
	}
	return nil
}
