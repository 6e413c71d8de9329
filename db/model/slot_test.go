package model_test

import (
	"slices"
	"testing"
	"time"

	"herald/db/model"
)

func TestSlotsComeUpOnTheClocksOfTheirZone(t *testing.T) {
	t.Parallel()
	sunday := func(minutes ...int) (list []model.SlotTime) {
		for _, m := range minutes {
			list = append(list, model.SlotTime{Weekday: time.Sunday, Minute: m})
		}
		return list
	}
	for _, c := range []struct {
		what, zone, after string
		slots             []model.SlotTime
		want              []string
	}{
		{"in order, whatever order they are kept in", "Europe/Berlin", "2026-03-21T00:00:00Z", sunday(17*60, 9*60),
			[]string{"2026-03-22T08:00:00Z", "2026-03-22T16:00:00Z", "2026-03-29T07:00:00Z"}},
		{"not the one that is now", "Europe/Berlin", "2026-03-22T08:00:00Z", sunday(9 * 60),
			[]string{"2026-03-29T07:00:00Z", "2026-04-05T07:00:00Z"}},
		{"a day that skips the time goes without", "Europe/Berlin", "2026-03-23T00:00:00Z", sunday(2*60 + 30),
			[]string{"2026-04-05T00:30:00Z"}},
		{"of a time that comes twice the earlier one counts, once", "Europe/Berlin", "2026-10-24T00:00:00Z", sunday(2*60 + 30),
			[]string{"2026-10-25T00:30:00Z", "2026-11-01T01:30:00Z"}},
		{"a day far from that of the reader", "Pacific/Kiritimati", "2026-03-21T09:00:00Z", sunday(0),
			[]string{"2026-03-21T10:00:00Z", "2026-03-28T10:00:00Z"}},
		{"a day that begins after midnight", "America/Havana", "2026-03-07T00:00:00Z", sunday(30, 60),
			[]string{"2026-03-08T05:00:00Z", "2026-03-15T04:30:00Z"}},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for when := range model.SlotsAhead(c.slots, c.zone, after) {
			if got = append(got, when.At.Format(time.RFC3339)); len(got) == len(c.want) {
				break
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
}

func TestNothingComesUpWhereThereIsNoSlotOrNoZone(t *testing.T) {
	t.Parallel()
	for range model.SlotsAhead(nil, "Europe/Berlin", time.Time{}) {
		t.Error("no slot came up")
	}
	for range model.SlotsAhead([]model.SlotTime{{}}, "Mars/Base", time.Time{}) {
		t.Error("a slot came up in no zone")
	}
}
