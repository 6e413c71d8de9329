package model

import (
	"cmp"
	"fmt"
	"time"
)

// Date is a day of the calendar, in no zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// LocalTime is what a clock and a calendar on the wall show, in no zone.
type LocalTime struct {
	Date
	Hour, Minute, Second int
}

// ParseDate reads 2006-01-02 and refuses days that the calendar lacks.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, RefuseField("day", "Give the day as year, month and day, as 2026-03-29.")
	}
	return LocalOf(t).Date, nil
}

// ParseLocal reads 2006-01-02T15:04, with or without seconds, as browsers send
// it, and refuses what no calendar or clock shows.
func ParseLocal(s string) (LocalTime, error) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil && len(s) == len(layout) {
			return LocalOf(t), nil
		}
	}
	return LocalTime{}, RefuseField("local", "Give day and time as in 2026-03-29T14:30.")
}

// LocalOf is what the clock of t shows.
func LocalOf(t time.Time) LocalTime {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	return LocalTime{Date{year, month, day}, hour, minute, second}
}

// String writes what ParseLocal reads, with seconds only if there are any.
func (l LocalTime) String() string { return l.Date.String() + "T" + l.Clock() }

// Clock is the time of day, 14:30 or 14:30:05.
func (l LocalTime) Clock() string {
	if l.Second == 0 {
		return fmt.Sprintf("%02d:%02d", l.Hour, l.Minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", l.Hour, l.Minute, l.Second)
}

// Wall is the same reading as a time.Time in UTC, which it is not: for columns of
// type timestamp, which have no zone either.
func (l LocalTime) Wall() time.Time {
	return time.Date(l.Year, l.Month, l.Day, l.Hour, l.Minute, l.Second, 0, time.UTC)
}

// String writes 2006-01-02.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// Say writes the day as in a sentence, 29 March 2026.
func (d Date) Say() string { return fmt.Sprintf("%d %s %d", d.Day, d.Month, d.Year) }

func (l LocalTime) valid() bool {
	return l.Year >= 1 && l.Year <= 9999 && LocalOf(l.Wall()) == l
}

func (l LocalTime) compare(other LocalTime) int {
	return cmp.Compare(l.Wall().Unix(), other.Wall().Unix())
}

// beside writes l in a sentence that is about other: without the day where it is
// the same.
func (l LocalTime) beside(other LocalTime) string {
	if l.Date == other.Date {
		return l.Clock()
	}
	return l.Clock() + " on " + l.Date.Say()
}
