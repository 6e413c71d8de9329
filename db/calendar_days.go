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

// monthDays returns the whole weeks, Monday to Sunday, that hold a month, and
// the first instant after them.
func monthDays(month model.Date, zone string) (days []CalendarDay, end time.Time, err error) {
	first := time.Date(month.Year, month.Month, 1, 0, 0, 0, 0, time.UTC)
	at := first.AddDate(0, 0, -int(first.Weekday()+6)%7)
	for at.Before(first.AddDate(0, 1, 0)) || at.Weekday() != time.Monday {
		day := CalendarDay{Date: model.LocalOf(at).Date}
		if day.Start, err = dayStart(day.Date, zone); err != nil {
			return nil, end, err
		}
		days = append(days, day)
		at = at.AddDate(0, 0, 1)
	}
	end, err = dayStart(model.LocalOf(at).Date, zone)
	return days, end, err
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
