package model

import (
	"iter"
	"slices"
	"time"
)

// SlotTime is a time of the week on a wall: a weekday and a minute of its day.
type SlotTime struct {
	Weekday time.Weekday
	Minute  int
}

// Clock is its time of day, 09:30.
func (s SlotTime) Clock() string { return s.on(Date{}).Clock() }

func (s SlotTime) on(day Date) LocalTime {
	return LocalTime{Date: day, Hour: s.Minute / 60, Minute: s.Minute % 60}
}

// SlotsAhead yields the times at which slots come up in zone, in order, later than
// after. A day that skips a slot's time goes without it; of a time that comes twice
// the earlier one counts. A zone that is not known has none.
func SlotsAhead(slots []SlotTime, zone string, after time.Time) iter.Seq[When] {
	return func(yield func(When) bool) {
		location, err := LoadZone(zone)
		if err != nil || len(slots) == 0 {
			return
		}
		day := LocalOf(after.In(location)).Wall().Truncate(24 * time.Hour)
		for ; LocalOf(day).Year <= 9999; day = day.AddDate(0, 0, 1) {
			for _, when := range SlotsOn(slots, zone, LocalOf(day).Date) {
				if when.At.After(after) && !yield(when) {
					return
				}
			}
		}
	}
}

// SlotsOn are the times at which slots come up on one day, in order, by the same
// rule.
func SlotsOn(slots []SlotTime, zone string, day Date) (list []When) {
	weekday := LocalTime{Date: day}.Wall().Weekday()
	for _, s := range slots {
		if s.Weekday != weekday {
			continue
		}
		when, err := Resolve(s.on(day), zone, Earlier)
		if err == nil {
			list = append(list, when)
		}
	}
	slices.SortFunc(list, func(a, b When) int { return a.At.Compare(b.At) })
	return list
}
