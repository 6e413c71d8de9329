package holiday_test

import (
	"testing"
	"time"

	"herald/db/holiday"
)

func day(s string) time.Time {
	at, _ := time.Parse(time.DateOnly, s)
	return at
}

func TestHolidaysAreThoseOfTheRegion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ region, from, to, want string }{
		{"DE", "2026-04-01", "2026-04-30", "2026-04-03 Karfreitag, 2026-04-06 Ostermontag, "},
		{"DE-BY", "2026-01-01", "2026-01-31", "2026-01-01 Neujahrstag, 2026-01-06 Heilige Drei Könige, "},
		{"DE-BE", "2026-03-01", "2026-03-31", "2026-03-08 Frauentag, "},
		{"US", "2026-11-20", "2026-12-01", "2026-11-26 Thanksgiving Day, "},
		{"GB", "2025-12-20", "2026-01-02", "2025-12-25 Christmas Day, 2025-12-26 Boxing Day, 2026-01-01 New Year's Day, "}, // over the turn of a year
		{"DE", "2026-04-07", "2026-04-30", ""},
		{"XX", "2026-01-01", "2027-01-01", ""},
		{"", "2026-01-01", "2027-01-01", ""},
	} {
		got := ""
		for _, d := range holiday.Between(c.region, day(c.from), day(c.to)) {
			got += d.Date.Format(time.DateOnly) + " " + d.Name + ", "
		}
		if got != c.want {
			t.Errorf("%s from %s: %q, want %q", c.region, c.from, got, c.want)
		}
	}
}

func TestEveryRegionHasAYearOfHolidays(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range holiday.Regions() {
		days := holiday.Between(r.Code, day("2026-01-01"), day("2027-01-01"))
		if len(days) < 5 || len(days) > 30 || seen[r.Code] || r.Name == "" || len(r.Code) > 10 || !holiday.Known(r.Code) {
			t.Errorf("%s (%s) has %d holidays in a year", r.Code, r.Name, len(days))
		}
		seen[r.Code] = true
		for _, d := range days {
			if d.Name == "" {
				t.Errorf("%s: a holiday without a name on %s", r.Code, d.Date)
			}
		}
	}
}
