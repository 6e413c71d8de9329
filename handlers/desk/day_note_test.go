package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herald/db/model"
)

func TestDaysHaveNotesAndHolidaysInEveryView(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "good friday", "2026-04-03T10:00", "Europe/Berlin", b.mastodon)
	for _, form := range []url.Values{
		{"day": {"2026-04-03"}, "words": {"  Shop closes \n at noon "}, "client": {fmt.Sprint(b.acme)}},
		{"day": {"2026-04-03"}, "words": {"Team is away"}},
		{"day": {"2026-04-03"}, "words": {"Only york knows"}, "client": {fmt.Sprint(b.york)}},
	} {
		wantPage(t, owner("POST", "/w/north/days", form), 303)
	}
	wantPage(t, owner("POST", fmt.Sprintf("/w/north/clients/%d/holidays", b.acme), url.Values{"holidays": {"DE-BY"}}), 303)
	wantPage(t, owner("POST", fmt.Sprintf("/w/north/clients/%d/holidays", b.york), url.Values{"holidays": {"US"}}), 303)
	only := b.as(t, b.member(t, model.Editor, b.acme))
	for _, view := range []string{"date=2026-04", "view=week&date=2026-04-03", "view=day&date=2026-04-03", "view=list&date=2026-04-01"} {
		page := owner("GET", "/w/north/calendar?"+view, nil)
		wantPage(t, page, 200, "Karfreitag")
		for _, words := range []string{"Shop closes at noon", "Team is away", "Only york knows"} {
			if !strings.Contains(page.Body.String(), words) {
				t.Errorf("%s lacks %q", view, words)
			}
		}
		if w := only("GET", "/w/north/calendar?"+view, nil); strings.Contains(w.Body.String(), "york") || !strings.Contains(w.Body.String(), "Shop closes") || !strings.Contains(w.Body.String(), "Team is away") {
			t.Errorf("%s, for who sees acme alone, shows york's note or lacks its own", view)
		}
		if w := owner("GET", fmt.Sprintf("/w/north/calendar?client=%d&%s", b.york, view), nil); strings.Contains(w.Body.String(), "Karfreitag") {
			t.Errorf("%s of york shows acme's holiday", view)
		}
	}
	wantPage(t, owner("GET", "/w/north/calendar?date=2026-05&view=week", nil), 200) // a week without any
}

func TestNotesAreWrittenByWhoWritesForTheirClient(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner, editor := b.as(t, b.agency.Owner), b.as(t, b.member(t, model.Editor, b.acme))
	note := func(day, words string, client model.ClientID) url.Values {
		f := url.Values{"day": {day}, "words": {words}}
		if client != 0 {
			f.Set("client", fmt.Sprint(client))
		}
		return f
	}
	wantPage(t, editor("POST", "/w/north/days", note("2026-03-12", "mine", b.acme)), 303)
	wantPage(t, editor("POST", "/w/north/days", note("2026-03-12", "all", 0)), 403)
	wantPage(t, editor("POST", "/w/north/days", note("2026-03-12", "theirs", b.york)), 404)
	wantPage(t, b.as(t, b.member(t, model.Viewer, b.acme))("POST", "/w/north/days", note("2026-03-12", "x", b.acme)), 403)
	for say, form := range map[string]url.Values{
		"at most 300 characters": note("2026-03-12", strings.Repeat("x", 301), 0), "Write a note": note("2026-03-12", " ", 0),
		"from 2000 to 2199": note("9999-01-01", "x", 0), "kept words": note("not a day", "kept words", 0),
	} {
		wantPage(t, owner("POST", "/w/north/days", form), 422, say)
	}
	for range 29 {
		wantPage(t, owner("POST", "/w/north/days", note("2026-03-12", "again", 0)), 303)
	}
	wantPage(t, owner("POST", "/w/north/days", note("2026-03-12", "one too many", 0)), 422, "This day has 30 notes.", "one too many")
	wantPage(t, owner("POST", fmt.Sprintf("/w/north/clients/%d/holidays", b.acme), url.Values{"holidays": {"ATLANTIS"}}), 422)
	wantPage(t, editor("POST", fmt.Sprintf("/w/north/clients/%d/holidays", b.york), url.Values{"holidays": {"US"}}), 404)
	wantPage(t, owner("GET", "/w/north/days?date=2026-03", nil), 200, "mine", "Notes in March 2026")
}
