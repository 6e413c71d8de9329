package desk_test

import (
	"fmt"
	"testing"
	"time"

	"herald/db/dbtest"
)

func TestATimeThatDoesNotExistIsRefusedWithTheNearest(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("date", "2026-03-29")
	form.Set("clock", "02:30")
	page := s.send(t, form, "schedule").want(t, 422, "Nothing was saved yet", "02:30 on 29 March 2026 does not exist in Europe/Berlin", "Use 01:59 on 29 March 2026", "Use 03:00 on 29 March 2026")
	if s.count(t, "posts") != 0 {
		t.Error("it was saved")
	}
	form = page.form(t)
	form.Set("do", "at:2026-03-29T03:00")
	form = s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200).form(t)
	if form.Get("clock") != "03:00" || form.Get("text") != "Fresh bread from seven" {
		t.Fatalf("the suggestion is not in the form: %v", form)
	}
	id, _ := s.saved(t, s.send(t, form, "schedule"))
	if due := s.stored(t, id).Targets[0].DueAt; due.Format(time.RFC3339) != "2026-03-29T01:00:00Z" {
		t.Errorf("due %v", due)
	}
}

func TestAnHourThatComesTwiceAsksAndTakesTheEarlier(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("date", "2026-10-25")
	form.Set("clock", "02:30")
	form.Set("do", "refresh")
	s.post(t, s.owner, "/w/north/posts/check", form).want(t, 200, "so it comes twice. Which one?", "The earlier, 02:30 CEST", "The later, 02:30 CET")
	for choice, want := range map[string]string{"": "2026-10-25T00:30:00Z", "later": "2026-10-25T01:30:00Z"} {
		form := s.fresh(t)
		form.Set("date", "2026-10-25")
		form.Set("clock", "02:30")
		form.Set("occurrence", choice)
		id, page := s.saved(t, s.send(t, form, "schedule"))
		if due := s.stored(t, id).Targets[0].DueAt; due.Format(time.RFC3339) != want {
			t.Errorf("choice %q is due %v, want %s", choice, due, want)
		}
		page.want(t, 200, "Scheduled for Sun 25 Oct 2026, 02:30 ("+map[string]string{"": "first", "later": "second"}[choice]+" time) (Berlin)")
		if again := page.form(t); again.Get("occurrence") != map[string]string{"": "earlier", "later": "later"}[choice] {
			t.Errorf("opened again: %v", again["occurrence"])
		}
	}
}

func TestThePastHalfATimeAndUnknownZonesAreRefused(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	for _, c := range []struct{ date, clock, zone, say string }{
		{"2026-03-10", "12:30", "Europe/Berlin", "That time has passed."},
		{"9999-12-31", "12:30", "Europe/Berlin", "31 December 9999 is more than 2 years ahead. Posts can be planned until 10 March 2028: check the year."},
		{"2028-03-11", "12:30", "Europe/Berlin", "more than 2 years ahead"},
		{"", "12:30", "Europe/Berlin", "Choose a day as well."},
		{"2026-03-12", "", "Europe/Berlin", "Choose a time of day as well."},
		{"", "", "Europe/Berlin", "Choose a day and a time to schedule it for."},
		{"2026-02-30", "12:30", "Europe/Berlin", "Give day and time as in"},
		{"2026-03-12", "12:30", "Mars/Olympus", "Choose a time zone from the list"},
	} {
		form := s.fresh(t)
		form.Set("date", c.date)
		form.Set("clock", c.clock)
		form.Set("zone", c.zone)
		s.send(t, form, "schedule").want(t, 422, "Nothing was saved yet", c.say)
	}
	form := s.fresh(t)
	form.Set("date", "2206-03-12")
	form.Set("clock", "12:30")
	s.send(t, form, "save").want(t, 422, "Nothing was saved yet", "more than 2 years ahead")
	if s.count(t, "posts") != 0 {
		t.Error("something was saved")
	}
}

func TestABlackoutIsSaidBeforeAnythingIsSaved(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, $3, $4, 'Stocktaking')`,
		s.agency.ID, s.client, dbtest.Noon, dbtest.Noon.Add(48*time.Hour))
	form := s.fresh(t)
	form.Set("date", "2026-03-11")
	form.Set("clock", "09:30")
	s.send(t, form, "schedule").want(t, 422, "Client bakery has a blackout then (Stocktaking). It ends 12 March 13:00")
	s.send(t, form, "save").want(t, 422, "Stocktaking")
	if s.count(t, "posts") != 0 {
		t.Error("it was saved")
	}
	form.Set("date", "2026-03-13")
	s.saved(t, s.send(t, form, "schedule"), "Scheduled for Fri 13 Mar 2026, 09:30")
}

func TestADraftKeepsItsTimeAndCanLoseIt(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("date", "2026-03-12")
	form.Set("clock", "09:30")
	id, page := s.saved(t, s.send(t, form, "save"), "planned", "Thu 12 Mar 2026, 09:30")
	form = page.form(t)
	form.Set("text", "Another text keeps the time")
	_, page = s.saved(t, s.send(t, form, "save"), "Thu 12 Mar 2026, 09:30")
	form = page.form(t)
	form.Set("date", "")
	form.Set("clock", "")
	s.saved(t, s.send(t, form, "save"), "No time yet")
	if due := s.stored(t, id).Targets[0].DueAt; due != nil {
		t.Errorf("still planned for %v", due)
	}
}

func TestTheZoneFollowsTheClientUntilItIsChosen(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.Super(t, s.agency.Shard, `UPDATE tenant.clients SET zone = 'America/New_York' WHERE id = $1`, s.client)
	form := s.get(t, s.owner, "/w/north/posts/new").form(t)
	if form.Get("zone") != "Europe/Berlin" {
		t.Errorf("without a client the zone is %s", form.Get("zone"))
	}
	form.Set("account", fmt.Sprint(int64(s.account)))
	form.Set("do", "refresh")
	if got := s.post(t, s.owner, "/w/north/posts/form", form).form(t); got.Get("zone") != "America/New_York" {
		t.Errorf("with a client the zone is %s", got.Get("zone"))
	}
	form.Set("zone", "Asia/Tokyo")
	if got := s.post(t, s.owner, "/w/north/posts/form", form).form(t); got.Get("zone") != "Asia/Tokyo" {
		t.Errorf("a chosen zone became %s", got.Get("zone"))
	}
}
