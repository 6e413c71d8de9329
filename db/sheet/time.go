package sheet

import (
	"math"
	"strconv"
	"strings"
	"time"

	"herald/db/model"
)

// ParseDay reads a day as people and spreadsheets write it: 2026-03-29, 29.3.2026,
// 29 March 2026, a spreadsheet's number of days, or, with slashes, day or month
// first as dayFirst says.
func ParseDay(s string, dayFirst bool) (day model.Date, ok bool) {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, ",", " ")), " ")
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return serialDay(n)
	}
	layouts := append([]string{"2006-1-2", "2006/1/2", "2.1.2006", "2.1.06", "2 January 2006", "2 Jan 2006", "January 2 2006", "Jan 2 2006"}, slashed[dayFirst]...)
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return model.LocalOf(t).Date, true
		}
	}
	return day, false
}

var slashed = map[bool][]string{true: {"2/1/2006", "2/1/06", "2-1-2006"}, false: {"1/2/2006", "1/2/06", "1-2-2006"}}

// firstSerial and lastSerial bound what is taken for a spreadsheet's number of days:
// the years 1990 to 2150.
const firstSerial, lastSerial = 32874, 91676

func serialDay(n float64) (model.Date, bool) {
	if !(n >= firstSerial && n <= lastSerial) {
		return model.Date{}, false
	}
	return model.LocalOf(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(n))).Date, true
}

// ParseClock reads a time of day: 14:30, 14.30, 2:30 pm, 2pm, or a spreadsheet's share
// of a day.
func ParseClock(s string) (hour, minute int, ok bool) {
	s = strings.ToLower(strings.Join(strings.Fields(s), ""))
	s = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(s, "uhr"), "h"), "p.m.", "pm")
	s = strings.ReplaceAll(s, "a.m.", "am")
	for _, layout := range []string{"15:04", "15:04:05", "15.04", "3:04pm", "3pm", "3.04pm", "15h04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Hour(), t.Minute(), true
		}
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1 {
		return serialClock(n)
	}
	return 0, 0, false
}

// serialClock is the minute that is nearest: a spreadsheet's share of a day is never exact.
func serialClock(n float64) (hour, minute int, ok bool) {
	m := int(math.Round((n - math.Floor(n)) * 24 * 60))
	return m / 60 % 24, m % 60, true
}

// ParseWhen reads day and time of day, from two cells or from one that holds both.
// The second cell may be empty.
func ParseWhen(day, clock string, dayFirst bool) (l model.LocalTime, ok bool) {
	if clock == "" {
		return parseBoth(day, dayFirst)
	}
	d, ok := ParseDay(strings.TrimSuffix(day, " 00:00:00"), dayFirst)
	if !ok {
		return l, false
	}
	if n, err := strconv.ParseFloat(clock, 64); err == nil && n >= firstSerial {
		clock = strconv.FormatFloat(n-math.Floor(n), 'f', -1, 64) // a day stands beside the time
	}
	h, m, ok := ParseClock(clock)
	return model.LocalTime{Date: d, Hour: h, Minute: m}, ok
}

func parseBoth(s string, dayFirst bool) (l model.LocalTime, ok bool) {
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		d, ok := serialDay(n)
		if !ok || n == math.Floor(n) {
			return l, false
		}
		minutes := int(math.Round(n * 24 * 60))
		h, m := minutes/60%24, minutes%60
		if int(math.Floor(n))*24*60 > minutes-24*60 && h == 0 && m == 0 && n-math.Floor(n) > 0.5 {
			d, _ = serialDay(math.Ceil(n))
		}
		return model.LocalTime{Date: d, Hour: h, Minute: m}, true
	}
	for i := range s {
		if s[i] != ' ' && s[i] != 'T' && s[i] != ',' {
			continue
		}
		d, ok := ParseDay(s[:i], dayFirst)
		if !ok {
			continue
		}
		if h, m, ok := ParseClock(s[i+1:]); ok {
			return model.LocalTime{Date: d, Hour: h, Minute: m}, true
		}
	}
	return l, false
}
