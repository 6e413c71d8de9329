package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herald/db/model"
)

// clash is what the calendar says of the card with some words on a day.
func clash(t *testing.T, who browser, view, words string) string {
	t.Helper()
	page := who("GET", "/w/north/calendar?"+view, nil)
	wantPage(t, page, 200)
	_, card, found := strings.Cut(page.Body.String(), ">"+words+"<")
	if !found {
		t.Fatalf("%s shows no card %q", view, words)
	}
	card, _, _ = strings.Cut(card, "</a>")
	_, says, _ := strings.Cut(card, `<em role="img" title="`)
	says, _, _ = strings.Cut(says, `"`)
	return says
}

func TestPostsOfAnAccountThatAreTooCloseAreMarked(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "first", "2026-03-12T10:00", "Europe/Berlin", b.mastodon)
	second := b.at(t, "second", "2026-03-12T10:14", "Europe/Berlin", b.mastodon, b.hook)
	b.at(t, "elsewhere", "2026-03-13T10:00", "Europe/Berlin", b.mastodon)
	b.at(t, "on another account", "2026-03-13T10:05", "Europe/Berlin", b.hook)
	b.at(t, "at a distance", "2026-03-13T10:15", "Europe/Berlin", b.mastodon)
	handle := second.Targets[0].Account
	for words, want := range map[string]string{
		"first": "14 minutes later", "second": "14 minutes earlier", "elsewhere": "", "on another account": "", "at a distance": "",
	} {
		got := clash(t, owner, "view=week&date=2026-03-12", words)
		if (got == "") != (want == "") || !strings.Contains(got, want) || want != "" && !strings.Contains(got, handle) {
			t.Errorf("%q says %q, want %q on %s", words, got, want, handle)
		}
	}
	if got := clash(t, owner, "date=2026-03", "first"); got == "" {
		t.Error("the month does not mark it")
	}
	wantPage(t, owner("GET", "/w/north/calendar?view=list&date=2026-03-12", nil), 200, "14 minutes later")
	apart := func(minutes string, want int) {
		wantPage(t, owner("POST", fmt.Sprintf("/w/north/clients/%d/apart", b.acme), url.Values{"apart": {minutes}}), want)
	}
	apart("16", 303)
	if got := clash(t, owner, "view=week&date=2026-03-12", "at a distance"); got == "" {
		t.Error("posts 15 minutes apart are not marked where 16 are wanted")
	}
	for _, wrong := range []string{"-1", "1441", "x", ""} {
		apart(wrong, 422)
	}
	apart("0", 303)
	if got := clash(t, owner, "view=week&date=2026-03-12", "first"); got != "" {
		t.Errorf("nothing is to be marked, and it says %q", got)
	}
	apart("15", 303)
	b.push(t, second.Targets[0].ID, "cancelled", model.Cancelled)
	if got := clash(t, owner, "view=week&date=2026-03-12", "first"); got != "" {
		t.Errorf("what was cancelled is in the way: %q", got)
	}
}

func TestTheSameWordsOnAnAccountWithinAMonthAreMarked(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "Fresh bread", "2026-03-12T10:00", "Europe/Berlin", b.mastodon)
	b.at(t, "fresh  BREAD", "2026-03-20T10:00", "Europe/Berlin", b.mastodon)
	b.at(t, "Stale bread", "2026-03-13T10:00", "Europe/Berlin", b.mastodon)
	b.at(t, "Stale bread", "2026-04-14T10:00", "Europe/Berlin", b.mastodon)
	b.at(t, "Shared bread", "2026-03-14T10:00", "Europe/Berlin", b.mastodon)
	b.at(t, "Shared bread", "2026-03-15T10:00", "Europe/Berlin", b.hook)
	for words, want := range map[string]string{"Fresh bread": "8 days later", "fresh BREAD": "8 days earlier", "Stale bread": "", "Shared bread": ""} {
		if got := clash(t, owner, "date=2026-03", words); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q says %q, want %q", words, got, want)
		}
	}
}

func TestTheComposerWarnsOfACollisionAndRefusesNothing(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	id, _ := s.saved(t, s.send(t, form, "save"))
	page := s.stored(t, id)
	when, err := model.Resolve(model.LocalTime{Date: model.Date{Year: 2026, Month: 4, Day: 1}, Hour: 9}, "Europe/Berlin", model.Once)
	if err == nil {
		_, err = s.agency.Owner.PlanPost(t.Context(), id, page.Post.Revision, when)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := s.fresh(t)
	again.Set("date", "2026-04-01")
	again.Set("clock", "09:10")
	again.Set("zone", "Europe/Berlin")
	check := s.post(t, s.owner, "/w/north/posts/check", again)
	if !check.says("10 minutes earlier") || !check.says("Same words on") {
		t.Errorf("%d: the check does not warn", check.status)
	}
	again.Set("clock", "12:00")
	again.Set("text", "Other words")
	if check := s.post(t, s.owner, "/w/north/posts/check", again); check.says("earlier") || check.says("Same words") {
		t.Error("the check warns of nothing")
	}
	again.Set("clock", "09:10")
	s.saved(t, s.send(t, again, "schedule"))
}

func TestFreeSlotsAreDrawnAndBeginAPost(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.Super(t, b.agency.Shard, `INSERT INTO tenant.slots (tenant_id, account_id, weekday, minute) VALUES ($1, $2, 4, 540), ($1, $2, 4, 600), ($1, $3, 4, 540)`, b.agency.ID, b.mastodon, b.abroad)
	b.at(t, "takes one", "2026-03-12T10:00", "Europe/Berlin", b.mastodon) // a Thursday
	link := fmt.Sprintf(`href="/w/north/posts/new?account=%d&amp;clock=09%%3A00&amp;day=2026-03-12"`, b.mastodon)
	theirs := fmt.Sprintf(`href="/w/north/posts/new?account=%d&amp;clock=09%%3A00&amp;day=2026-03-12"`, b.abroad)
	for _, view := range []string{"date=2026-03", "view=week&date=2026-03-12", "view=day&date=2026-03-12"} {
		page := owner("GET", "/w/north/calendar?"+view, nil)
		wantPage(t, page, 200, link, theirs, "09:00 free", "14:00 free") // 9 in New York is 14 here
		if strings.Contains(page.Body.String(), "clock=10%3A00&amp;day=2026-03-12") {
			t.Errorf("%s offers a slot that is taken", view)
		}
		if w := owner("GET", fmt.Sprintf("/w/north/calendar?client=%d&%s", b.york, view), nil); strings.Contains(w.Body.String(), link) {
			t.Errorf("%s of york offers acme's slot", view)
		}
		if w := b.as(t, b.member(t, model.Viewer, b.acme))("GET", "/w/north/calendar?"+view, nil); strings.Contains(w.Body.String(), "09:00 free") {
			t.Errorf("%s offers a slot to who may not write", view)
		}
	}
	wantPage(t, owner("GET", fmt.Sprintf("/w/north/posts/new?account=%d&clock=09%%3A00&day=2026-03-12", b.abroad), nil), 200, `value="2026-03-12"`, `value="09:00"`, "America/New_York")
	wantPage(t, owner("GET", "/w/north/posts/new?account=999999", nil), 404)
}
