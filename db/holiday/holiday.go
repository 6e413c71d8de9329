// Package holiday knows the public holidays of countries and of parts of them. The
// rules are those of rickar/cal; which of them Herald offers stands in region.go.
package holiday

import (
	"slices"
	"strings"
	"time"
)

// Day is a holiday on a day of a country's calendar.
type Day struct {
	Date time.Time // midnight, UTC
	Name string    // in the country's language
}

// Between lists the holidays of a region, as "DE" or "DE-BY", from a day up to the
// one before another, in order. A region that is not known has none.
func Between(code string, from, to time.Time) (days []Day) {
	r, known := byCode(code)
	if !known {
		return nil
	}
	for year := from.Year(); year <= to.Year(); year++ {
		for _, h := range r.rules {
			at, _ := h.Calc(year)
			at = time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
			if at.Year() > 1 && !at.Before(from) && at.Before(to) {
				days = append(days, Day{at, h.Name})
			}
		}
	}
	slices.SortStableFunc(days, func(a, b Day) int { return a.Date.Compare(b.Date) })
	return slices.Compact(days)
}

// Region is a country, or a part of one, whose holidays are known.
type Region struct {
	Code string // "DE", "DE-BY"
	Name string // "Germany", "Germany, Bavaria"
}

// Regions lists what is known, by name.
func Regions() (list []Region) {
	for _, r := range regions {
		list = append(list, r.Region)
	}
	slices.SortFunc(list, func(a, b Region) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Known says whether a region is known.
func Known(code string) bool {
	_, known := byCode(code)
	return known
}

func byCode(code string) (region, bool) {
	i := slices.IndexFunc(regions, func(r region) bool { return r.Code == code })
	if i < 0 {
		return region{}, false
	}
	return regions[i], true
}
