package desk_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	ics "github.com/arran4/golang-ical"

	"herald/db/dbtest"
	"herald/db/model"
)

var feedAddress = regexp.MustCompile(`/feeds/[^"<]+\.ics`)

// subscribe makes an address and reads it.
func subscribe(t *testing.T, who browser, client string) (path string) {
	t.Helper()
	page := who("POST", "/w/north/feeds", url.Values{"client": {client}})
	wantPage(t, page, 200, "It is shown this once")
	path = feedAddress.FindString(page.Body.String())
	wantPage(t, who("GET", "/w/north/feeds", nil), 200, "Addresses in use")
	if strings.Contains(who("GET", "/w/north/feeds", nil).Body.String(), path) {
		t.Error("the address is shown again")
	}
	return path
}

// stranger is a calendar program: it has no session.
func (b *wall) stranger(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// events reads a calendar and returns summaries with their start.
func events(t *testing.T, answer *httptest.ResponseRecorder) (all []string) {
	t.Helper()
	if answer.Code != 200 || answer.Header().Get("Content-Type") != "text/calendar; charset=utf-8" {
		t.Fatalf("%d %s", answer.Code, answer.Header())
	}
	c, err := ics.ParseCalendar(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Events() {
		at, err := e.GetStartAt()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, at.UTC().Format("2006-01-02 15:04 ")+e.GetProperty(ics.ComponentPropertySummary).Value)
	}
	return all
}

func TestCalendarProgramsReadWhatTheirOwnerMaySee(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "bread, rolls; and \"more\"", "2026-03-20T09:30", "Europe/Berlin", b.mastodon)
	b.at(t, "a show", "2026-03-20T22:30", "America/New_York", b.abroad)
	b.at(t, "far away", "2027-09-20T09:30", "Europe/Berlin", b.mastodon)
	draft := b.agency.Post(t, "a draft", b.mastodon)
	when, _ := model.At(b.Clock.Now().AddDate(0, 0, 2), "Europe/Berlin")
	if _, err := b.agency.Owner.PlanPost(t.Context(), draft.Post.ID, draft.Post.Revision, when); err != nil {
		t.Fatal(err)
	}
	all := subscribe(t, owner, "")
	if got := strings.Join(events(t, b.stranger(all)), "\n"); got != "2026-03-12 12:00 Draft: a draft\n2026-03-20 08:30 Scheduled: bread, rolls; and \"more\"\n2026-03-21 02:30 Scheduled: a show" {
		t.Errorf("all clients:\n%s", got)
	}
	half := b.member(t, model.Viewer, b.acme)
	mine := subscribe(t, b.as(t, half), "")
	if got := events(t, b.stranger(mine)); len(got) != 2 || strings.Contains(strings.Join(got, " "), "a show") {
		t.Errorf("a member of one client reads %q", got)
	}
	one := subscribe(t, owner, fmt.Sprint(b.acme))
	answer := b.stranger(one)
	if strings.Contains(answer.Body.String(), "/posts/") {
		t.Error("a client's calendar leads into the workspace")
	}
	if got := events(t, answer); len(got) != 1 || !strings.Contains(got[0], "bread") {
		t.Errorf("the client's calendar has %q", got)
	}
	wantPage(t, b.as(t, half)("POST", "/w/north/feeds", url.Values{"client": {fmt.Sprint(b.york)}}), 404)
}

func TestACalendarAddressEndsWhenItIsRevokedReplacedOrItsOwnerLeaves(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	first := subscribe(t, owner, "")
	second := subscribe(t, owner, "")
	wantPage(t, b.stranger(first), 404, "does not work any more")
	events(t, b.stranger(second))
	revoke := regexp.MustCompile(`/w/north/feeds/\d+/revocation`).FindString(owner("GET", "/w/north/feeds", nil).Body.String())
	wantPage(t, b.as(t, b.member(t, model.Admin))("POST", revoke, url.Values{}), 404)
	wantPage(t, owner("POST", revoke, url.Values{}), 303)
	wantPage(t, b.stranger(second), 404)
	half := b.member(t, model.Viewer, b.acme)
	theirs := subscribe(t, b.as(t, half), fmt.Sprint(b.acme))
	events(t, b.stranger(theirs))
	b.Super(t, "second", `DELETE FROM tenant.client_access WHERE tenant_id = $1 AND user_id = $2`, b.agency.ID, half.Actor.User)
	wantPage(t, b.stranger(theirs), 404)
	for _, path := range []string{"/feeds/x.ics", "/feeds/.ics", strings.TrimSuffix(second, ".ics"), strings.Replace(second, ".ics", "x.ics", 1)} {
		wantPage(t, b.stranger(path), 404)
	}
}

// TestTheSameFormMakesOneAddress: loading the page again that shows an address, or
// pressing twice, ends none that somebody may have given to a program already.
func TestTheSameFormMakesOneAddress(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner, other := b.as(t, b.agency.Owner), b.as(t, b.member(t, model.Admin))
	form := url.Values{"client": {""}, "key": {keyOf(t, owner("GET", "/w/north/feeds", nil).Body.String())}}
	for _, sql := range []string{ // adding takes so long that all have looked before the first is there
		`CREATE FUNCTION tenant.adding() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN NEW; END $$`,
		`CREATE TRIGGER adding BEFORE INSERT ON tenant.feeds FOR EACH ROW EXECUTE FUNCTION tenant.adding()`,
	} {
		b.Super(t, b.agency.Shard, sql)
	}
	var wg sync.WaitGroup
	made := make([]string, 4)
	for i := range made {
		wg.Go(func() {
			page := owner("POST", "/w/north/feeds", form)
			wantPage(t, page, 200, "It is shown this once")
			made[i] = feedAddress.FindString(page.Body.String())
		})
	}
	wg.Wait()
	if len(slices.Compact(made)) != 1 {
		t.Errorf("addresses %q", made)
	}
	events(t, b.stranger(made[0]))
	if n := dbtest.Look[int](t, b.World, b.agency.Shard, `SELECT count(*) FROM tenant.feeds`); n != 1 {
		t.Errorf("%d feeds", n)
	}
	if page := other("POST", "/w/north/feeds", form); feedAddress.FindString(page.Body.String()) == made[0] {
		t.Error("another's form of the same key tells the address")
	}
	newer := subscribe(t, owner, "")
	wantPage(t, owner("POST", "/w/north/feeds", form), 409, "made an address before, which has ended")
	events(t, b.stranger(newer))
}
