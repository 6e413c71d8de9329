package model_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"herald/db/model"
)

func local(t *testing.T, s string) model.LocalTime {
	t.Helper()
	l, err := model.ParseLocal(s)
	if err != nil {
		t.Fatalf("parse %s: %v", s, err)
	}
	return l
}

func TestResolveKnowsTheInstantOfATimeThatComesOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ local, zone, utc string }{
		{"2026-07-01T09:00", "America/New_York", "2026-07-01T13:00:00Z"},
		{"2026-03-08T01:59", "America/New_York", "2026-03-08T06:59:00Z"},
		{"2026-03-08T03:00", "America/New_York", "2026-03-08T07:00:00Z"},
		{"2026-11-01T00:59", "America/New_York", "2026-11-01T04:59:00Z"},
		{"2026-11-01T02:00", "America/New_York", "2026-11-01T07:00:00Z"},
		{"2026-03-29T01:59", "Europe/Berlin", "2026-03-29T00:59:00Z"},
		{"2026-03-29T03:00", "Europe/Berlin", "2026-03-29T01:00:00Z"},
		{"2026-10-25T03:00", "Europe/Berlin", "2026-10-25T02:00:00Z"},
		{"2026-03-08T01:00", "America/Havana", "2026-03-08T05:00:00Z"},
		{"2026-03-07T23:59", "America/Havana", "2026-03-08T04:59:00Z"},
		{"2026-10-04T02:30", "Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
		{"2026-04-05T02:00", "Australia/Lord_Howe", "2026-04-04T15:30:00Z"},
		{"2011-12-29T23:59", "Pacific/Apia", "2011-12-30T09:59:00Z"},
		{"2011-12-31T00:00", "Pacific/Apia", "2011-12-30T10:00:00Z"},
		{"2026-05-05T12:00", "Asia/Kathmandu", "2026-05-05T06:15:00Z"},
		{"2026-03-01T12:00", "Africa/Casablanca", "2026-03-01T12:00:00Z"}, // Ramadan
		{"2026-05-01T12:00", "Africa/Casablanca", "2026-05-01T11:00:00Z"},
		{"1880-06-01T12:00", "America/New_York", "1880-06-01T16:56:02Z"}, // local mean time
		{"1880-06-01T12:00:02", "Europe/Berlin", "1880-06-01T11:06:34Z"},
		{"0001-01-01T00:00", "UTC", "0001-01-01T00:00:00Z"},
		{"9999-12-31T23:59:59", "UTC", "9999-12-31T23:59:59Z"},
		{"2028-12-31T12:00", "America/New_York", "2028-12-31T17:00:00Z"}, // the last day of a leap year
		{"2140-12-31T23:30", "Australia/Lord_Howe", "2140-12-31T12:30:00Z"},
		{"9999-07-01T12:00", "Europe/Berlin", "9999-07-01T10:00:00Z"},
	} {
		when, err := model.Resolve(local(t, c.local), c.zone, model.Later)
		if err != nil || when.Repeated() {
			t.Errorf("%s in %s: got %+v, %v, want one instant", c.local, c.zone, when, err)
			continue
		}
		if got := when.At.Format(time.RFC3339); got != c.utc || when.At.Location() != time.UTC {
			t.Errorf("%s in %s: got %s, want %s", c.local, c.zone, got, c.utc)
		}
	}
}

func TestResolveRefusesASkippedTimeAndNamesTheNearestOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ local, zone, before, after string }{
		{"2026-03-08T02:00", "America/New_York", "2026-03-08T01:59", "2026-03-08T03:00"},
		{"2026-03-08T02:30", "America/New_York", "2026-03-08T01:59", "2026-03-08T03:00"},
		{"2026-03-08T02:59:59", "America/New_York", "2026-03-08T01:59", "2026-03-08T03:00"},
		{"2026-03-29T02:15", "Europe/Berlin", "2026-03-29T01:59", "2026-03-29T03:00"},
		{"2026-03-08T00:30", "America/Havana", "2026-03-07T23:59", "2026-03-08T01:00"},
		{"2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-04T01:59", "2026-10-04T02:30"},
		{"2011-12-30T10:00", "Pacific/Apia", "2011-12-29T10:00", "2011-12-31T10:00"},
		{"2026-03-22T02:30", "Africa/Casablanca", "2026-03-22T01:59", "2026-03-22T03:00"},
		{"1986-01-01T00:10", "Asia/Kathmandu", "1985-12-31T23:59", "1986-01-01T00:15"},
		{"1893-04-01T00:03", "Europe/Berlin", "1893-03-31T23:59", "1893-04-01T00:06:32"},
	} {
		_, err := model.Resolve(local(t, c.local), c.zone, model.Once)
		g, ok := errors.AsType[*model.Gap](err)
		if !ok {
			t.Errorf("%s in %s: got %v, want a gap", c.local, c.zone, err)
			continue
		}
		if got := g.Before.Local.String(); got != c.before {
			t.Errorf("%s in %s: before is %s, want %s", c.local, c.zone, got, c.before)
		}
		if got := g.After.Local.String(); got != c.after {
			t.Errorf("%s in %s: after is %s, want %s", c.local, c.zone, got, c.after)
		}
		for _, w := range []model.When{g.Before, g.After} {
			if again, err := w.Again(); err != nil || again != w {
				t.Errorf("%s in %s: the suggestion %s resolves to %+v, %v", c.local, c.zone, w.Local, again, err)
			}
		}
	}
}

func TestAGapIsARefusalThatSaysWhyAndWhatToChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ local, zone, want string }{
		{"2026-03-08T02:30", "America/New_York", "02:30 on 8 March 2026 does not exist in America/New_York, because the clocks there jump from 02:00 to 03:00. Choose 01:59 or 03:00."},
		{"2026-03-08T00:30", "America/Havana", "00:30 on 8 March 2026 does not exist in America/Havana, because the clocks there jump from 00:00 to 01:00. Choose 23:59 on 7 March 2026 or 01:00."},
		{"2011-12-30T10:00", "Pacific/Apia", "10:00 on 30 December 2011 does not exist in Pacific/Apia, because the clocks there jump from 00:00 to 00:00 on 31 December 2011. Choose 10:00 on 29 December 2011 or 10:00 on 31 December 2011."},
	} {
		_, err := model.Resolve(local(t, c.local), c.zone, model.Once)
		no, ok := model.Refused(err)
		if !ok || no.Kind != model.Unprocessable || no.Field != "local" || no.Say != c.want || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestResolveTakesTheEarlierOfARepeatedTimeUnlessTheLaterIsChosen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ local, zone, earlier, later string }{
		{"2026-11-01T01:00", "America/New_York", "2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z"},
		{"2026-11-01T01:30", "America/New_York", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"},
		{"2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"},
		{"2026-11-01T00:30", "America/Havana", "2026-11-01T04:30:00Z", "2026-11-01T05:30:00Z"},
		{"2026-04-05T01:45", "Australia/Lord_Howe", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"},
		{"2026-02-15T02:30", "Africa/Casablanca", "2026-02-15T01:30:00Z", "2026-02-15T02:30:00Z"},
		{"1883-11-18T12:01", "America/New_York", "1883-11-18T16:57:02Z", "1883-11-18T17:01:00Z"},
		{"1867-10-19T12:00", "America/Juneau", "1867-10-18T20:57:41Z", "1867-10-19T20:57:41Z"}, // a whole day twice
	} {
		for choice, want := range map[model.Occurrence]string{model.Once: c.earlier, model.Earlier: c.earlier, model.Later: c.later} {
			when, err := model.Resolve(local(t, c.local), c.zone, choice)
			if err != nil || when.At.Format(time.RFC3339) != want || !when.Repeated() {
				t.Errorf("%s in %s, %q: got %+v, %v, want %s", c.local, c.zone, choice, when, err, want)
			}
			if choice != model.Once && when.Occurrence != choice {
				t.Errorf("%s in %s: occurrence %q, want %q", c.local, c.zone, when.Occurrence, choice)
			}
		}
	}
}

func TestResolveRefusesZonesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"", "Local", "local", "Mars/Olympus", "europe/berlin", "../etc/passwd", "Europe/../UTC",
		"posix/Europe/Berlin", "right/Europe/Berlin", "localtime", "Europe/Berlin\x00", strings.Repeat("A", 10_000)} {
		_, err := model.Resolve(local(t, "2026-01-01T12:00"), zone, model.Once)
		if no, ok := model.Refused(err); !ok || no.Field != "zone" {
			t.Errorf("%.30q: got %v, want a refusal about the zone", zone, err)
		}
	}
}

func TestResolveRefusesAChoiceAndADateThatAreNone(t *testing.T) {
	t.Parallel()
	if _, err := model.Resolve(local(t, "2026-01-01T12:00"), "UTC", "latest"); err == nil {
		t.Error("the choice latest was taken")
	}
	for _, l := range []model.LocalTime{
		{}, {Date: model.Date{Year: 2026, Month: 2, Day: 30}}, {Date: model.Date{Year: 2026, Month: 1, Day: 1}, Hour: 24},
		{Date: model.Date{Year: 10_000, Month: 1, Day: 1}}, {Date: model.Date{Year: 2026, Month: 13, Day: 1}},
	} {
		if _, err := model.Resolve(l, "UTC", model.Once); err == nil {
			t.Errorf("%+v was taken", l)
		}
	}
}

func TestParseLocalRefusesWhatNoClockShows(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "2026-02-29T10:00", "2026-13-01T10:00", "2026-01-01T24:00", "2026-01-01T10:60", "2026-01-01 10:00",
		"2026-01-01T10:00Z", "2026-01-01T10:00+02:00", "2026-01-01T10", "26-01-01T10:00", "2026-01-01T10:00:00.5", "tomorrow"} {
		if l, err := model.ParseLocal(s); err == nil {
			t.Errorf("%q was read as %s", s, l)
		}
	}
	if d, err := model.ParseDate("2026-02-29"); err == nil {
		t.Errorf("2026-02-29 was read as %s", d)
	}
}

func TestMoveToDayKeepsTheTimeOfDay(t *testing.T) {
	t.Parallel()
	when, err := model.Resolve(local(t, "2026-03-20T02:30"), "Europe/Berlin", model.Once)
	if err != nil {
		t.Fatal(err)
	}
	moved, err := when.MoveToDay(model.Date{Year: 2026, Month: time.April, Day: 2})
	if err != nil || moved.Local.String() != "2026-04-02T02:30" || moved.At.Format(time.RFC3339) != "2026-04-02T00:30:00Z" {
		t.Errorf("over the change of clocks: got %+v, %v", moved, err)
	}
	_, err = when.MoveToDay(model.Date{Year: 2026, Month: time.March, Day: 29})
	if g, ok := errors.AsType[*model.Gap](err); !ok || g.After.Local.String() != "2026-03-29T03:00" {
		t.Errorf("to the day that lacks 02:30: got %v, want a gap", err)
	}
	twice, err := when.MoveToDay(model.Date{Year: 2026, Month: time.October, Day: 25})
	if err != nil || twice.Occurrence != model.Earlier {
		t.Errorf("to the day that has 02:30 twice: got %+v, %v, want the earlier", twice, err)
	}
}

func TestAgainFollowsTheIntentWhenAZonesRulesChange(t *testing.T) {
	t.Parallel()
	when, err := model.Resolve(local(t, "2027-07-01T09:00"), "Europe/Berlin", model.Once)
	if err != nil {
		t.Fatal(err)
	}
	stored := when
	stored.At = when.At.Add(-time.Hour) // as worked out under older rules
	if again, err := stored.Again(); err != nil || again != when {
		t.Errorf("got %+v, %v, want %+v", again, err, when)
	}
}

// Every instant is shown by some wall clock time, and that time leads back to it
// or, where it comes twice, to its twin.
func TestResolveOfWhatAClockShowsLeadsBackToTheInstant(t *testing.T) {
	t.Parallel()
	zones := []string{"America/New_York", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca",
		"Asia/Kathmandu", "Pacific/Kwajalein", "America/Sao_Paulo", "Africa/Monrovia", "Asia/Manila", "Antarctica/Troll", "Europe/Dublin", "America/Juneau"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		instant := time.Unix(rapid.Int64Range(-5_000_000_000, 8_000_000_000).Draw(t, "second"), 0)
		near := rapid.Bool().Draw(t, "near a change")
		if location, err := model.LoadZone(zone); err != nil {
			t.Fatal(err)
		} else if _, until := instant.In(location).ZoneBounds(); near && !until.IsZero() {
			instant = until.Add(time.Duration(rapid.IntRange(-7200, 7200).Draw(t, "off")) * time.Second)
		}
		when, err := model.At(instant, zone)
		if err != nil || !when.At.Equal(instant) {
			t.Fatalf("At: %+v, %v", when, err)
		}
		again, err := when.Again()
		if err != nil || again != when {
			t.Fatalf("%+v leads to %+v, %v", when, again, err)
		}
		blind, err := model.Resolve(when.Local, zone, model.Once)
		if err != nil || (!blind.At.Equal(instant)) != (when.Occurrence == model.Later) || blind.At.After(instant) {
			t.Fatalf("without a choice %+v leads to %+v, %v", when, blind, err)
		}
		if parsed, err := model.ParseLocal(when.Local.String()); err != nil || parsed != when.Local {
			t.Fatalf("%s is read as %s, %v", when.Local, parsed, err)
		}
	})
}

// Whatever wall clock time is asked for, it resolves to an instant that shows it
// or is refused with two neighbours between which nothing shows it.
func TestResolveAnswersForEveryWallClockTime(t *testing.T) {
	t.Parallel()
	zones := []string{"America/New_York", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "Antarctica/Troll"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		location, _ := model.LoadZone(zone)
		_, until := time.Unix(rapid.Int64Range(-4_000_000_000, 8_000_000_000).Draw(t, "second"), 0).In(location).ZoneBounds()
		if until.IsZero() {
			return
		}
		_, offset := until.In(location).Zone()
		l := model.LocalOf(until.UTC().Add(time.Duration(offset+rapid.IntRange(-90_000, 90_000).Draw(t, "off")) * time.Second))
		when, err := model.Resolve(l, zone, model.Once)
		if g, ok := errors.AsType[*model.Gap](err); ok {
			if !g.Before.Local.Wall().Before(l.Wall()) || !g.After.Local.Wall().After(l.Wall()) {
				t.Fatalf("%s in %s: suggested %s and %s", l, zone, g.Before.Local, g.After.Local)
			}
			return
		}
		if err != nil || model.LocalOf(when.At.In(location)) != l {
			t.Fatalf("%s in %s: got %+v, %v", l, zone, when, err)
		}
	})
}

func TestInBlackoutNamesTheWindowThatEndsLast(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	windows := []model.Window{{From: noon, To: noon.Add(time.Hour)}, {From: noon.Add(-time.Hour), To: noon.Add(2 * time.Hour)}, {From: noon.Add(5 * time.Hour), To: noon.Add(6 * time.Hour)}}
	for _, order := range [][]model.Window{windows, {windows[1], windows[0]}} {
		if w, ok := model.InBlackout(noon, order); !ok || w != windows[1] {
			t.Errorf("at noon: got %v, %v", w, ok)
		}
	}
	if _, ok := model.InBlackout(noon.Add(2*time.Hour), windows); ok {
		t.Error("the end of a window is still forbidden")
	}
	if _, ok := model.InBlackout(noon.Add(-time.Hour), windows); !ok {
		t.Error("the start of a window is not forbidden")
	}
	if _, ok := model.InBlackout(noon, nil); ok {
		t.Error("forbidden without any window")
	}
}

func TestTooLateCountsFromTheCutOff(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		late, cutoff time.Duration
		want         bool
	}{{24 * time.Hour, 24 * time.Hour, false}, {24*time.Hour + 1, 24 * time.Hour, true}, {-time.Hour, time.Minute, false}, {1000 * time.Hour, 0, false}} {
		if got := model.TooLate(due, due.Add(c.late), c.cutoff); got != c.want {
			t.Errorf("%v late with a cut-off of %v: got %v", c.late, c.cutoff, got)
		}
	}
}

func FuzzParseLocal(f *testing.F) {
	for _, s := range []string{"2026-03-29T02:30", "2026-03-29T02:30:15", "0000-00-00T00:00", "2026-03-29T2:30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := model.ParseLocal(s)
		if err != nil {
			return
		}
		if again, err := model.ParseLocal(l.String()); err != nil || again != l {
			t.Errorf("%q is %s, which is read as %s, %v", s, l, again, err)
		}
	})
}

func TestATimeThatComesTwiceSaysWhichItIs(t *testing.T) {
	t.Parallel()
	for instant, want := range map[string]string{
		"2026-10-25T00:30:00Z": " (first time)", "2026-10-25T01:30:00Z": " (second time)", "2026-10-25T02:30:00Z": "", "2026-03-29T01:30:00Z": "",
	} {
		at, _ := time.Parse(time.RFC3339, instant)
		if got := model.TwiceWords(at, "Europe/Berlin"); got != want {
			t.Errorf("%s: %q, want %q", instant, got, want)
		}
	}
	if got := model.TwiceWords(time.Now(), "Moon/Base"); got != "" {
		t.Errorf("a zone that is none: %q", got)
	}
}
