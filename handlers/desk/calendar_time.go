package desk

import (
	"strings"
	"time"

	"herald/db/model"
	"herald/views/ui"
)

// clientTime is an instant as clocks in a zone show it, for ui.Time. A time that
// the clocks show twice says which of the two it is.
func clientTime(at time.Time, zone string) ui.TimeProps {
	p := ui.TimeProps{ISO: at.UTC().Format(time.RFC3339), Words: at.UTC().Format("Mon 2 Jan 2006, 15:04"), Zone: "UTC", IANA: "UTC"}
	location, err := model.LoadZone(zone)
	if err != nil {
		return p
	}
	p.Words, p.Zone, p.IANA = at.In(location).Format("Mon 2 Jan 2006, 15:04")+model.TwiceWords(at, zone), placeName(zone), zone
	return p
}

// placeName is how people call a zone: Europe/Berlin is Berlin.
func placeName(zone string) string {
	_, place, found := strings.Cut(zone, "/")
	if !found {
		return zone
	}
	if i := strings.LastIndex(place, "/"); i >= 0 {
		place = place[i+1:]
	}
	return strings.ReplaceAll(place, "_", " ")
}

// clock is the time of day of an instant in a zone.
func clock(at time.Time, zone string) string {
	when, err := model.At(at, zone)
	if err != nil {
		return at.UTC().Format("15:04")
	}
	return when.Local.Clock()[:5]
}

// wallDay is a day as a time.Time, for its words and for its neighbours.
func wallDay(d model.Date) time.Time { return model.LocalTime{Date: d}.Wall() }
