package model

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Occurrence says which of two equal wall clock times is meant, in the hour that
// the clocks go back over. It is empty for a time that comes once.
type Occurrence string

// The occurrences.
const (
	Once    Occurrence = ""
	Earlier Occurrence = "earlier"
	Later   Occurrence = "later"
)

// When is a planned time: the instant, and the intent it was worked out from.
// The intent is what the person meant and outlives a change of a zone's rules.
type When struct {
	At         time.Time // UTC
	Local      LocalTime // what a clock on the wall shows
	Zone       string    // IANA name
	Occurrence Occurrence
}

// Gap is the refusal of a time that the clocks skip, with the nearest times that
// exist. model.Refused knows it as a Refusal.
type Gap struct {
	Refusal
	Before, After When
}

// Unwrap makes a Gap a Refusal to errors.As.
func (g *Gap) Unwrap() error { return &g.Refusal }

// Resolve works out the instant at which clocks in zone show local. A time that
// they skip is refused with a *Gap. A time that they show twice is taken by
// choice, the earlier if choice is empty; the result's Occurrence then says which
// it is, so that Repeated tells a caller to ask. For a time that comes once,
// choice does not matter. A zone that is not known and a choice that is none are
// refused.
func Resolve(local LocalTime, zone string, choice Occurrence) (When, error) {
	location, err := LoadZone(zone)
	if err != nil {
		return When{}, err
	}
	if choice != Once && choice != Earlier && choice != Later {
		return When{}, RefuseField("occurrence", "Choose the earlier or the later of the two times.")
	}
	if !local.valid() {
		return When{}, RefuseField("local", "There is no such date or time: correct it.")
	}
	instants := showing(local, location)
	when := When{Local: local, Zone: zone}
	switch len(instants) {
	case 0:
		return When{}, gap(local, zone, location)
	case 1:
		when.At = instants[0]
		return when, nil
	}
	when.At, when.Occurrence = instants[0], Earlier
	if choice == Later {
		when.At, when.Occurrence = instants[len(instants)-1], Later
	}
	return when, nil
}

// At is the When of an instant as people in zone see it, to the second.
func At(instant time.Time, zone string) (When, error) {
	location, err := LoadZone(zone)
	if err != nil {
		return When{}, err
	}
	instant = instant.Truncate(time.Second)
	local := LocalOf(instant.In(location))
	when := When{At: instant.UTC(), Local: local, Zone: zone}
	if instants := showing(local, location); len(instants) > 1 {
		when.Occurrence = Later
		if instant.Equal(instants[0]) {
			when.Occurrence = Earlier
		}
	}
	return when, nil
}

// Repeated says whether the clocks show this time twice.
func (w When) Repeated() bool { return w.Occurrence != Once }

// TwiceWords says, behind a time of day, which of two an instant is where the
// clocks of its zone show that time twice; nothing for any other instant.
func TwiceWords(at time.Time, zone string) string {
	when, err := At(at, zone)
	switch {
	case err != nil || !when.Repeated():
		return ""
	case when.Occurrence == Later:
		return " (second time)"
	}
	return " (first time)"
}

// Again works the instant out anew from the intent, for when a zone's rules have
// changed. The time may have become one that is skipped: then a *Gap.
func (w When) Again() (When, error) { return Resolve(w.Local, w.Zone, w.Occurrence) }

// MoveToDay keeps the time of day and the zone, and refuses with a *Gap where
// that day does not have the time.
func (w When) MoveToDay(day Date) (When, error) {
	return Resolve(LocalTime{day, w.Local.Hour, w.Local.Minute, w.Local.Second}, w.Zone, w.Occurrence)
}

// reach is how far an instant may lie from its wall clock time read as UTC: no
// zone was ever further from UTC than 16 hours. probe is less than any zone ever
// kept an offset for, which is four days.
const (
	reach = 18 * time.Hour
	probe = 6 * time.Hour
)

// showing returns the instants at which a clock shows local, in order. It tries
// every offset in force around that time, because what time.Date picks for a
// skipped or repeated time differs from zone to zone. (Time.ZoneBounds would do
// in fewer steps, but is a day short at the end of leap years.)
func showing(local LocalTime, location *time.Location) []time.Time {
	var instants []time.Time
	var tried []time.Duration
	for at := local.Wall().Add(-reach); !at.After(local.Wall().Add(reach)); at = at.Add(probe) {
		offset := offsetAt(at, location)
		if slices.Contains(tried, offset) {
			continue
		}
		tried = append(tried, offset)
		if instant := local.Wall().Add(-offset); offsetAt(instant, location) == offset {
			instants = append(instants, instant)
		}
	}
	slices.SortFunc(instants, time.Time.Compare)
	return instants
}

func offsetAt(at time.Time, location *time.Location) time.Duration {
	_, seconds := at.In(location).Zone()
	return time.Duration(seconds) * time.Second
}

// gap refuses local, which no clock in the zone shows: it finds the jump that
// skips it.
func gap(local LocalTime, zone string, location *time.Location) error {
	for at := local.Wall().Add(-reach); at.Before(local.Wall().Add(reach)); at = at.Add(probe) {
		old, now := offsetAt(at, location), offsetAt(at.Add(probe), location)
		if old >= now {
			continue
		}
		jump := at.Add(time.Duration(sort.Search(int(probe/time.Second), func(i int) bool {
			return offsetAt(at.Add(time.Duration(i)*time.Second), location) == now
		})) * time.Second)
		if wallAt(jump, old).compare(local) <= 0 && local.compare(wallAt(jump, now)) < 0 {
			return newGap(local, zone, jump, old, now)
		}
	}
	return fmt.Errorf("no instant in %s shows %s, and no gap explains it", zone, local)
}

// newGap suggests the last minute before the jump and the first after it. Where
// a whole day is skipped, the same time on the days around it is nearer to what
// was meant.
func newGap(local LocalTime, zone string, jump time.Time, old, now time.Duration) *Gap {
	before, after := jump.Add(-time.Minute), jump
	if now-old >= 24*time.Hour {
		before, after = local.Wall().Add(-now), local.Wall().Add(-old)
	}
	g := &Gap{
		Before: When{At: before.UTC(), Local: wallAt(before, old), Zone: zone},
		After:  When{At: after.UTC(), Local: wallAt(after, now), Zone: zone},
	}
	from, to := wallAt(jump, old), wallAt(jump, now)
	g.Refusal = Refusal{Kind: Unprocessable, Field: "local", Say: fmt.Sprintf(
		"%s on %s does not exist in %s, because the clocks there jump from %s to %s. Choose %s or %s.",
		local.Clock(), local.Date.Say(), zone, from.beside(local), to.beside(local),
		g.Before.Local.beside(local), g.After.Local.beside(local))}
	return g
}

func wallAt(at time.Time, offset time.Duration) LocalTime { return LocalOf(at.UTC().Add(offset)) }

// Window is a stretch of time from From up to, not including, To.
type Window struct{ From, To time.Time }

// Holds says whether at lies in the window.
func (w Window) Holds(at time.Time) bool { return !at.Before(w.From) && at.Before(w.To) }

// InBlackout returns the window that forbids at: where several do, the one that
// ends last, so that its end is not forbidden by another of them.
func InBlackout(at time.Time, blackouts []Window) (Window, bool) {
	var last Window
	found := false
	for _, w := range blackouts {
		if w.Holds(at) && (!found || w.To.After(last.To)) {
			last, found = w, true
		}
	}
	return last, found
}

// TooLate says whether a post that was due is too late to be of use now. A
// cut-off of zero or less means that it never is.
func TooLate(due, now time.Time, cutoff time.Duration) bool {
	return cutoff > 0 && now.Sub(due) > cutoff
}
