package desk_test

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

// keyOf is how forms name the card that a post's first target is on.
func (b *wall) keyOf(t *testing.T, page db.PostPage) string {
	t.Helper()
	target := b.first(t, page)
	if target.DueAt == nil {
		return fmt.Sprintf(".%d", page.Post.ID)
	}
	return db.Place{At: *target.DueAt, ID: int64(page.Post.ID)}.String()
}

func (b *wall) first(t *testing.T, page db.PostPage) db.Target {
	t.Helper()
	target, err := b.agency.Owner.Target(t.Context(), page.Targets[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func (b *wall) wantLocal(t *testing.T, page db.PostPage, local, zone string, state model.State) {
	t.Helper()
	got := b.first(t, page)
	if got.LocalAt == nil || model.LocalOf(*got.LocalAt).String() != local || *got.Zone != zone || got.State != state {
		t.Errorf("%q: %v %v %s, want %s %s %s", page.Post.Excerpt, got.LocalAt, got.Zone, got.State, local, zone, state)
	}
}

func move(day, clock string, cards ...string) url.Values {
	return url.Values{"card": {strings.Join(cards, " ")}, "day": {day}, "clock": {clock}}
}

// undo is the form of the page's notice.
func undo(t *testing.T, page *httptest.ResponseRecorder) (path string, fields url.Values) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	fields = url.Values{}
	for n := range root.Descendants() {
		if attr(n, "class") != "notice-act" {
			continue
		}
		path = attr(n, "action")
		for in := range n.Descendants() {
			if in.Data == "input" {
				fields.Set(attr(in, "name"), attr(in, "value"))
			}
		}
	}
	return path, fields
}

func TestACardKeepsItsTimeOfDayOnAnotherDayAndGoesBackByUndo(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	bread := b.at(t, "bread", "2026-03-20T09:30", "Europe/Berlin", b.mastodon, b.hook)
	before := *b.first(t, bread).DueAt
	answer := owner("POST", "/w/north/calendar/moves?date=2026-03", move("2026-03-31", "", b.keyOf(t, bread)))
	wantPage(t, answer, 200, "March 2026", "Moved to", "Tue 31 Mar 2026, 09:30")
	b.wantLocal(t, bread, "2026-03-31T09:30", "Europe/Berlin", model.Scheduled) // the clocks went forward in between
	if words, n := within(t, answer, "day-2026-03-31", "plan"); n != 1 || !strings.Contains(words, "09:30") {
		t.Errorf("the answer shows %q on the new day", words)
	}
	path, fields := undo(t, answer)
	wantPage(t, owner("POST", path, fields), 200, "One post moved back.")
	b.wantLocal(t, bread, "2026-03-20T09:30", "Europe/Berlin", model.Scheduled)
	if got := *b.first(t, bread).DueAt; !got.Equal(before) {
		t.Errorf("undo led to %s, it was %s", got, before)
	}
	wantPage(t, owner("POST", path, fields), 409, "not planned for that time any more")
}

func TestADayIsTheCalendarsAndTheTimeOfDayIsTheClients(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	show := b.at(t, "late show", "2026-03-20T22:30", "America/New_York", b.abroad) // 03:30 on the 21st in Berlin
	owner("POST", "/w/north/calendar/moves", move("2026-03-24", "", b.keyOf(t, show)))
	b.wantLocal(t, show, "2026-03-23T22:30", "America/New_York", model.Scheduled)
	owner("POST", "/w/north/calendar/moves?view=week", move("2026-03-25", "11:15", b.keyOf(t, show)))
	b.wantLocal(t, show, "2026-03-25T06:15", "America/New_York", model.Scheduled)
	owner("POST", fmt.Sprintf("/w/north/calendar/moves?view=week&client=%d", b.york), move("2026-03-25", "11:15", b.keyOf(t, show)))
	b.wantLocal(t, show, "2026-03-25T11:15", "America/New_York", model.Scheduled)
}

func TestSeveralCardsGoAsFarAsTheOneThatWasDragged(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	one := b.at(t, "one", "2026-03-20T09:30", "Europe/Berlin", b.mastodon)
	two := b.at(t, "two", "2026-03-22T18:00", "Europe/Berlin", b.hook)
	draft := b.agency.Post(t, "draft", b.mastodon)
	when, _ := model.At(time.Date(2026, time.March, 23, 7, 0, 0, 0, time.UTC), "Europe/Berlin")
	draft, err := b.agency.Owner.PlanPost(t.Context(), draft.Post.ID, draft.Post.Revision, when)
	if err != nil {
		t.Fatal(err)
	}
	answer := owner("POST", "/w/north/calendar/moves", move("2026-03-21", "", b.keyOf(t, one), b.keyOf(t, two), b.keyOf(t, draft)))
	wantPage(t, answer, 200, "3 posts moved.")
	b.wantLocal(t, one, "2026-03-21T09:30", "Europe/Berlin", model.Scheduled)
	b.wantLocal(t, two, "2026-03-23T18:00", "Europe/Berlin", model.Scheduled)
	b.wantLocal(t, draft, "2026-03-24T08:00", "Europe/Berlin", model.Draft)
	path, fields := undo(t, answer)
	owner("POST", path, fields)
	b.wantLocal(t, one, "2026-03-20T09:30", "Europe/Berlin", model.Scheduled)
	b.wantLocal(t, draft, "2026-03-23T08:00", "Europe/Berlin", model.Draft)
}

func TestWhatHasNoTimeGetsOne(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	draft, approved := b.agency.Post(t, "draft", b.mastodon), b.agency.Approved(t, "approved", b.hook)
	answer := owner("POST", "/w/north/calendar/moves", move("2026-03-21", "", b.keyOf(t, draft)))
	wantPage(t, answer, 200, "Moved to", "Sat 21 Mar 2026, 09:00")
	b.wantLocal(t, draft, "2026-03-21T09:00", "Europe/Berlin", model.Draft)
	path, fields := undo(t, answer)
	wantPage(t, owner("POST", path, fields), 200, "One post moved back.")
	if got := b.first(t, draft); got.DueAt != nil {
		t.Errorf("undo left the draft planned for %s", got.DueAt)
	}
	answer = owner("POST", "/w/north/calendar/moves?view=week", move("2026-03-21", "14:45", b.keyOf(t, approved)))
	wantPage(t, answer, 200, "Scheduled for", "Sat 21 Mar 2026, 14:45")
	b.wantLocal(t, approved, "2026-03-21T14:45", "Europe/Berlin", model.Scheduled)
	if path, _ := undo(t, answer); path != "" {
		t.Error("scheduling is offered to be undone, which it cannot be")
	}
}

func TestAMoveThatMayNotBeMovesNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	good := b.at(t, "good", "2026-03-20T09:30", "Europe/Berlin", b.hook)
	early := b.at(t, "early", "2026-03-28T02:30", "Europe/Berlin", b.mastodon)
	out := b.at(t, "out", "2026-03-12T09:30", "Europe/Berlin", b.mastodon)
	abroad := b.at(t, "abroad", "2026-03-19T22:30", "America/New_York", b.abroad)
	b.push(t, out.Targets[0].ID, "", model.Queued, model.Publishing, model.Published)
	b.Super(t, dbtest.SecondShard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2026-03-25T00:00Z', '2026-03-26T00:00Z', 'quiet day')`, b.agency.ID, b.acme)
	member := b.as(t, b.member(t, model.Manager, b.acme))
	viewer := b.as(t, b.member(t, model.Viewer, b.acme))
	before := b.agency.Imprint(t)
	for _, c := range []struct {
		name   string
		who    browser
		form   url.Values
		status int
		say    string
	}{
		{"the past", owner, move("2026-03-01", "", b.keyOf(t, good)), 422, "That time has passed"},
		{"far ahead", owner, move("9999-03-01", "", b.keyOf(t, good)), 422, "more than 2 years ahead"},
		{"a blackout", owner, move("2026-03-25", "", b.keyOf(t, good)), 422, "quiet day"},
		{"a skipped time", owner, move("2026-03-29", "", b.keyOf(t, early)), 422, "does not exist"},
		{"a skipped hour", owner, move("2026-03-29", "02:15", b.keyOf(t, good)), 422, "does not exist"},
		{"what is published", owner, move("2026-03-21", "", b.keyOf(t, out)), 409, "“out” cannot be moved: it is published"},
		{"one of several", owner, move("2026-03-21", "", b.keyOf(t, good), b.keyOf(t, out)), 409, "cannot be moved"},
		{"one of several that is another's", member, move("2026-03-21", "", b.keyOf(t, good), b.keyOf(t, abroad)), 404, ""},
		{"another's", member, move("2026-03-21", "", b.keyOf(t, abroad)), 404, ""},
		{"without permission", viewer, move("2026-03-21", "", b.keyOf(t, good)), 403, "Your role"},
		{"not there any more", owner, move("2026-03-21", "", db.Place{At: dbtest.Noon, ID: int64(good.Post.ID)}.String()), 409, "not planned for that time any more"},
		{"no post", owner, move("2026-03-21", "", ".999999"), 404, ""},
		{"no card", owner, move("2026-03-21", ""), 422, "Choose at least one"},
		{"no day", owner, move("soon", "", b.keyOf(t, good)), 422, "as 2026-03-29"},
		{"no clock", owner, move("2026-03-21", "noon", b.keyOf(t, good)), 422, ""},
		{"nonsense", owner, move("2026-03-21", "", "0.0.0"), 422, ""},
		{"back to less", owner, url.Values{"card": {b.keyOf(t, good)}, "back": {""}}, 422, ""},
	} {
		answer := c.who("POST", "/w/north/calendar/moves", c.form)
		if answer.Code != c.status || !strings.Contains(answer.Body.String(), c.say) {
			t.Errorf("%s: %d, want %d and %q", c.name, answer.Code, c.status, c.say)
		}
	}
	if after := b.agency.Imprint(t); !maps.Equal(before, after) {
		t.Errorf("a refused move left a trace:\n%v\n%v", before, after)
	}
}

func TestAWeekAndADayShowTheirHours(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "morning", "2026-03-20T09:30", "Europe/Berlin", b.mastodon)
	b.at(t, "next week", "2026-03-23T09:30", "Europe/Berlin", b.mastodon)
	week := owner("GET", "/w/north/calendar?view=week&date=2026-03-18", nil)
	wantPage(t, week, 200, "16 – 22 March 2026", "morning", `data-day="2026-03-20" data-clock="09:00"`, "date=2026-03-23&amp;view=week", `class="plan-begin" hidden action="/w/north/posts/new"`)
	if strings.Contains(week.Body.String(), "next week") {
		t.Error("the week shows the next one's post")
	}
	day := owner("GET", "/w/north/calendar?view=day&date=2026-03-20", nil)
	wantPage(t, day, 200, "Friday 20 March 2026", "morning")
	spring := owner("GET", "/w/north/calendar?view=day&date=2026-03-29", nil)
	if n := strings.Count(spring.Body.String(), "data-skipped"); n != 1 {
		t.Errorf("%d hours are skipped on the day of the change, want 1", n)
	}
	wantPage(t, owner("GET", "/w/north/calendar?view=year", nil), 422, "a month, a week, a day or a list")
}

func TestTheTrayHoldsWhatHasNoTimeAndTakesBackWhatIsNotOnItsWay(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	draft := b.agency.Post(t, "a loose draft", b.mastodon)
	elsewhere := b.agency.Post(t, "of york", b.abroad)
	sent := b.at(t, "on its way", "2026-03-20T09:30", "Europe/Berlin", b.hook)
	closed := owner("GET", "/w/north/calendar", nil)
	if strings.Contains(closed.Body.String(), "a loose draft") {
		t.Error("the tray is open unasked")
	}
	open := owner("GET", fmt.Sprintf("/w/north/calendar?tray=open&client=%d", b.acme), nil)
	wantPage(t, open, 200, "Without a time", "a loose draft", `data-card="`+b.keyOf(t, draft)+`"`)
	if strings.Contains(open.Body.String(), "of york") {
		t.Error("the tray shows another client's draft")
	}
	owner("POST", "/w/north/calendar/moves", move("2026-03-21", "", b.keyOf(t, draft)))
	answer := owner("POST", "/w/north/calendar/moves?tray=open", move("", "", b.keyOf(t, draft)))
	wantPage(t, answer, 200, "One post without a time now.")
	if got := b.first(t, draft); got.DueAt != nil {
		t.Errorf("the tray left the draft planned for %s", got.DueAt)
	}
	path, fields := undo(t, answer)
	owner("POST", path, fields)
	b.wantLocal(t, draft, "2026-03-21T09:00", "Europe/Berlin", model.Draft)
	wantPage(t, owner("POST", "/w/north/calendar/moves", move("", "", b.keyOf(t, sent))), 409, "Cancel it on its page")
	b.wantLocal(t, sent, "2026-03-20T09:30", "Europe/Berlin", model.Scheduled)
	wantPage(t, b.as(t, b.member(t, model.Viewer, b.york))("GET", "/w/north/calendar?tray=open", nil), 200, "of york")
	if got := b.first(t, elsewhere); got.DueAt != nil {
		t.Error("the other draft moved")
	}
}

func TestBlackoutsShowOnTheirDaysToWhomTheyConcern(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	for client, reason := range map[model.ClientID]string{b.acme: "inventory", b.york: "a quiet day"} {
		b.Super(t, dbtest.SecondShard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2026-03-24T22:30Z', '2026-03-25T12:00Z', $3)`, b.agency.ID, client, reason)
	}
	all := b.as(t, b.agency.Owner)("GET", "/w/north/calendar?date=2026-03", nil)
	for id, want := range map[string]int{"day-2026-03-23": 0, "day-2026-03-24": 1, "day-2026-03-25": 1, "day-2026-03-26": 0} { // 23:30 in Berlin
		if words, n := within(t, all, id, "day-quiet"); n != want || want == 1 && !strings.Contains(words, "Blackout Client acme, Client york") {
			t.Errorf("%s: %d, %q", id, n, words)
		}
	}
	wantPage(t, all, 200, "24 Mar 23:30 to 25 Mar 13:00: inventory")
	for name, page := range map[string]*httptest.ResponseRecorder{
		"another's": b.as(t, b.member(t, model.Viewer, b.acme))("GET", "/w/north/calendar?date=2026-03", nil),
		"filtered":  b.as(t, b.agency.Owner)("GET", fmt.Sprintf("/w/north/calendar?view=week&date=2026-03-25&client=%d", b.acme), nil),
	} {
		if body := page.Body.String(); !strings.Contains(body, "inventory") || strings.Contains(body, "a quiet day") {
			t.Errorf("%s: shows the wrong blackouts", name)
		}
	}
}
