package desk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

func TestTheMonthShowsAPostOnItsLocalDayAtTheEdgesOfTheMonth(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "first minute", "2026-04-01T00:00", "Europe/Berlin", b.mastodon)
	b.at(t, "last minute", "2026-04-30T23:59", "Europe/Berlin", b.mastodon)
	b.at(t, "day before", "2026-03-31T23:59", "Europe/Berlin", b.mastodon)
	page := owner("GET", "/w/north/calendar?date=2026-04", nil)
	wantPage(t, page, 200, "April 2026", "Times in Europe/Berlin")
	for id, want := range map[string]string{"day-2026-04-01": "first minute", "day-2026-04-30": "last minute", "day-2026-03-31": "day before"} {
		if words, n := within(t, page, id, "plan"); n != 1 || !strings.Contains(words, want) {
			t.Errorf("%s: %d cards, %q, want %q alone", id, n, words, want)
		}
	}
	march := owner("GET", "/w/north/calendar?date=2026-03", nil)
	if words, _ := within(t, march, "day-2026-03-31", "plan"); !strings.Contains(words, "23:59") {
		t.Errorf("the last day of March says %q", words)
	}
	if strings.Contains(march.Body.String(), "last minute") {
		t.Error("March shows the last of April")
	}
}

func TestDaysWithAClockChangeHoldTheirPosts(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	b.Clock.Set(time.Date(2025, time.December, 1, 12, 0, 0, 0, time.UTC))
	owner := b.as(t, b.agency.Owner)
	for _, c := range []struct {
		zone     string
		day      string   // of the change
		late     string   // its last minute, local
		early    string   // the day after, its first minute
		repeated []string // UTC instants that the clocks show alike
	}{
		{"America/New_York", "2026-03-08", "2026-03-08T23:59", "2026-03-09T00:00", nil},
		{"America/New_York", "2026-11-01", "2026-11-01T23:59", "2026-11-02T00:00", []string{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"}},
		{"Europe/Berlin", "2026-03-29", "2026-03-29T23:59", "2026-03-30T00:00", nil},
		{"Europe/Berlin", "2026-10-25", "2026-10-25T23:59", "2026-10-26T00:00", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"}},
		{"Australia/Lord_Howe", "2026-10-04", "2026-10-04T23:59", "2026-10-05T00:00", nil},
		{"Australia/Lord_Howe", "2026-04-05", "2026-04-05T23:59", "2026-04-06T00:00", []string{"2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"}},
		{"America/Havana", "2026-03-08", "2026-03-08T23:59", "2026-03-09T00:00", nil},
	} {
		client := b.agency.Client(t, strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(c.zone))+c.day)
		b.zone(t, client, c.zone)
		account := b.agency.Account(t, client, network.Mastodon)
		b.at(t, "late", c.late, c.zone, account)
		b.at(t, "early", c.early, c.zone, account)
		want := 1
		for _, instant := range c.repeated {
			at, _ := time.Parse(time.RFC3339, instant)
			when, err := model.At(at, c.zone)
			if err != nil || !when.Repeated() {
				t.Fatalf("%s %s: %+v, %v", c.zone, instant, when, err)
			}
			b.when(t, "twice", when, account)
			want++
		}
		path := fmt.Sprintf("/w/north/calendar?client=%d&date=%s", client, c.day[:7])
		page := owner("GET", path, nil)
		wantPage(t, page, 200, "Times in "+c.zone)
		if words, n := within(t, page, "day-"+c.day, "plan"); n != want || !strings.Contains(words, "23:59 ") || strings.Contains(words, "early") {
			t.Errorf("%s %s: %d cards, want %d: %q", c.zone, c.day, n, want, words)
		}
		if words, n := within(t, page, "day-"+c.early[:10], "plan"); n != 1 || !strings.Contains(words, "00:00") {
			t.Errorf("%s %s: %d cards: %q", c.zone, c.early, n, words)
		}
	}
}

func TestACalendarOfOneClientIsInThatClientsZone(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "late show", "2026-03-20T22:30", "America/New_York", b.abroad)
	all := owner("GET", "/w/north/calendar?date=2026-03", nil)
	if words, _ := within(t, all, "day-2026-03-21", "plan"); !strings.Contains(words, "03:30") {
		t.Errorf("in the workspace's zone: %q", words)
	}
	wantPage(t, all, 200, "Fri 22:30 New York")
	one := owner("GET", fmt.Sprintf("/w/north/calendar?date=2026-03&client=%d", b.york), nil)
	wantPage(t, one, 200, "Times in America/New_York, as at Client york")
	if words, _ := within(t, one, "day-2026-03-20", "plan"); !strings.Contains(words, "22:30") {
		t.Errorf("in the client's zone: %q", words)
	}
}

func TestTheNetworksOfAPostAtOneTimeAreOneCardAndFullDaysLeadToTheirList(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	for i := range 5 {
		b.at(t, fmt.Sprintf("post %d", i), fmt.Sprintf("2026-03-12T1%d:00", i), "Europe/Berlin", b.mastodon, b.hook)
	}
	page := owner("GET", "/w/north/calendar", nil)
	words, n := within(t, page, "day-2026-03-12", "plan")
	if n != 3 || !strings.Contains(words, "+2 more") {
		t.Errorf("%d cards: %q", n, words)
	}
	wantPage(t, page, 200, `role="img" title="Mastodon, Webhook"`, `href="/w/north/calendar?date=2026-03-12&amp;view=day"`, "2 more on Thursday 12 March")
	list := owner("GET", "/w/north/calendar?view=list&date=2026-03-12", nil)
	wantPage(t, list, 200, "Thursday 12 March 2026", "post 0", "post 4", "@webhook-1", "/w/north/targets/")
}

func TestFiltersNarrowTheMonthAndTakeThemselvesAwayAgain(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.at(t, "plain one", "2026-03-12T10:00", "Europe/Berlin", b.mastodon)
	failed := b.at(t, "broken 100%", "2026-03-12T11:00", "Europe/Berlin", b.hook)
	b.at(t, "abroad", "2026-03-12T12:00", "Europe/Berlin", b.abroad)
	unknown := b.at(t, "who knows", "2026-03-12T13:00", "Europe/Berlin", b.mastodon)
	gone := b.at(t, "taken back", "2026-03-12T14:00", "Europe/Berlin", b.mastodon)
	b.push(t, failed.Targets[0].ID, "refused_by_network", model.Queued, model.Failed)
	b.push(t, unknown.Targets[0].ID, "asking_the_network", model.Queued, model.Publishing, model.UnknownOutcome)
	b.push(t, gone.Targets[0].ID, "cancelled", model.Cancelled)
	for filter, want := range map[string][]string{
		"":                                   {"plain one", "broken 100%", "abroad"},
		"&state=failed":                      {"broken 100%"},
		"&state=unknown_outcome":             {"who knows"},
		"&state=failed&state=scheduled":      {"plain one", "broken 100%", "abroad"},
		"&state=cancelled":                   {"taken back"},
		"&network=webhook":                   {"broken 100%"},
		fmt.Sprintf("&client=%d", b.york):    {"abroad"},
		fmt.Sprintf("&account=%d", b.abroad): {"abroad"},
		"&q=100%25":                          {"broken 100%"},
		"&q=BROKEN++100":                     {"broken 100%"},
		"&q=_":                               {},
		"&q=plain&state=failed":              {},
	} {
		page := owner("GET", "/w/north/calendar?date=2026-03"+filter, nil)
		words, n := within(t, page, "day-2026-03-12", "plan")
		if n != len(want) {
			if filter != "" || n != 3 { // three of four fit the cell
				t.Errorf("%q: %d cards, want %d: %q", filter, n, len(want), words)
			}
		}
		for _, w := range want {
			if !strings.Contains(words, w) {
				t.Errorf("%q: %q is missing from %q", filter, w, words)
			}
		}
	}
	page := owner("GET", "/w/north/calendar?date=2026-03&state=failed&q=broken", nil)
	wantPage(t, page, 200, "Remove the filter Failed", `href="/w/north/calendar?date=2026-03&amp;q=broken"`, "Remove the filter “broken”",
		`href="/w/north/calendar?date=2026-03&amp;state=failed"`, `href="/w/north/calendar?date=2026-03"`, "Outcome unknown")
}

func TestAFilterOfNothingIsRefusedAndHidesWhetherItExists(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	other := b.World.Agency(t, "south", dbtest.SecondShard)
	foreign := other.Client(t, "rival")
	theirs := other.Account(t, foreign, network.Mastodon)
	only := b.as(t, b.member(t, model.Editor, b.acme))
	for _, path := range []string{"/calendar", "/calendar?view=list", "/posts"} {
		and := "?"
		if strings.Contains(path, "?") {
			and = "&"
		}
		for query, want := range map[string]int{
			fmt.Sprintf("client=%d", foreign): 404, fmt.Sprintf("account=%d", theirs): 404,
			fmt.Sprintf("client=%d", b.york): 404, fmt.Sprintf("account=%d", b.abroad): 404,
			fmt.Sprintf("client=%d&client=%d", b.acme, b.york): 404,
			"client=x": 404, "account=-1": 404, "network=myspace": 422, "state=gone": 422, "q=" + strings.Repeat("x", 201): 422,
		} {
			if w := only("GET", "/w/north"+path+and+query, nil); w.Code != want {
				t.Errorf("%s with %s: %d, want %d", path, query, w.Code, want)
			}
		}
	}
	for query, want := range map[string]int{"date=2026-13": 422, "date=yesterday": 422, "date=1850-01": 422, "date=2026-02-30": 422, "view=year": 422, "view=list&after=x": 422,
		"view=list&after=1.1&before=1.1": 422, "date=": 200, "date=2000-01": 200, "date=2199-12": 200} {
		if w := only("GET", "/w/north/calendar?"+query, nil); w.Code != want {
			t.Errorf("%s: %d, want %d", query, w.Code, want)
		}
	}
	if w := only("GET", "/w/south/calendar", nil); w.Code != 404 {
		t.Errorf("another workspace: %d", w.Code)
	}
}

func TestWhoSeesSomeClientsSeesNothingOfTheOthers(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	b.at(t, "shared words", "2026-03-12T10:00", "Europe/Berlin", b.mastodon, b.abroad)
	b.at(t, "secret words", "2026-03-12T11:00", "Europe/Berlin", b.abroad)
	only := b.as(t, b.member(t, model.Viewer, b.acme))
	for _, path := range []string{"/w/north/calendar?date=2026-03", "/w/north/calendar?view=list&date=2026-03-01", "/w/north/posts"} {
		w := only("GET", path, nil)
		wantPage(t, w, 200, "shared words", "Client acme")
		for _, hidden := range []string{"secret", "york", "mastodon-2", "/posts/new"} {
			if strings.Contains(w.Body.String(), hidden) {
				t.Errorf("%s shows %q", path, hidden)
			}
		}
	}
	none := b.as(t, b.member(t, model.Viewer))
	if w := none("GET", "/w/north/calendar", nil); w.Code != 403 {
		t.Errorf("without any client: %d", w.Code)
	}
}

func TestTheListGoesBothWaysWithoutLosingOrRepeatingACard(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	first := b.agency.Due(t, "template", time.Hour, b.mastodon).Post.ID
	// Copies at equal times too, so that the place within one instant counts.
	b.Super(t, dbtest.SecondShard, `
		WITH p AS (INSERT INTO tenant.posts (tenant_id, state, review, excerpt, created_by, created_at, updated_at)
			SELECT tenant_id, state, review, 'copy ' || n || '.', created_by, created_at, updated_at FROM tenant.posts, generate_series(1, 130) n WHERE tenant_id = $1 AND id = $2 RETURNING *),
		v AS (INSERT INTO tenant.post_versions (tenant_id, post_id, number, content, created_by, created_at)
			SELECT tenant_id, id, 1, '{}', created_by, created_at FROM p RETURNING *)
		SELECT 1`, b.agency.ID, first)
	b.Super(t, dbtest.SecondShard, `
		INSERT INTO tenant.targets (tenant_id, post_id, version_id, client_id, account_id, network, due_at, local_at, zone, occurrence, created_at, updated_at)
		SELECT v.tenant_id, v.post_id, v.id, $2, $3, 'mastodon', $4::timestamptz + ((v.post_id / 7) || ' hours')::interval, now(), 'Europe/Berlin', '', now(), now()
		  FROM tenant.post_versions v JOIN tenant.posts p ON p.tenant_id = v.tenant_id AND p.id = v.post_id WHERE v.tenant_id = $1 AND p.excerpt LIKE 'copy%'`,
		b.agency.ID, b.acme, b.mastodon, dbtest.Noon)
	seen := map[string]int{}
	read := func(path string) (earlier, later string) {
		page := owner("GET", path, nil)
		wantPage(t, page, 200)
		for i := range 130 {
			if strings.Contains(page.Body.String(), fmt.Sprintf(">copy %d.<", i+1)) {
				seen[fmt.Sprint(i+1)]++
			}
		}
		return linkOf(t, page, "prev"), linkOf(t, page, "next")
	}
	path, pages := "/w/north/calendar?view=list&date=2026-03-10", 0
	earlier, later := read(path)
	if earlier != "" {
		t.Errorf("the first page leads to something earlier: %s", earlier)
	}
	for pages = 1; later != "" && pages < 10; pages++ {
		path = later
		earlier, later = read(path)
	}
	if len(seen) != 130 || pages != 3 {
		t.Errorf("%d cards on %d pages, want 130 on 3", len(seen), pages)
	}
	for back := 0; earlier != "" && back < 10; back++ {
		earlier, _ = read(earlier)
	}
	twice := 0 // on the way and back: all but those of the last page and the first post of all
	for i, n := range seen {
		if n > 2 {
			t.Errorf("copy %s was shown %d times", i, n)
		}
		twice += n - 1
	}
	if twice != 99 {
		t.Errorf("going back showed %d cards, want 99", twice)
	}
}
