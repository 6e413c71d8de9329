package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// aim is one planned target and where its page is.
func (b *wall) aim(t *testing.T, text string) (db.Target, string) {
	t.Helper()
	target := b.at(t, text, "2026-03-20T10:00", "Europe/Berlin", b.mastodon).Targets[0]
	return target, fmt.Sprintf("/w/north/targets/%d", target.ID)
}

// now reads a target again.
func (b *wall) now(t *testing.T, id model.TargetID) db.Target {
	t.Helper()
	target, err := b.agency.Owner.Target(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func seen(target db.Target, pairs ...string) url.Values {
	form := url.Values{"seen": {fmt.Sprint(target.Revision)}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

func TestEachStateExplainsItselfAndOffersWhatIsSafe(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	for name, c := range map[string]struct {
		reason string
		path   []model.State
		says   []string
		offers []string // nouns of the forms
	}{
		"scheduled":  {"", nil, []string{"goes out on Fri 20 Mar 2026, 10:00 (Berlin)", "every 60s"}, []string{"schedule", "cancellation"}},
		"queued":     {"", []model.State{model.Queued}, []string{"in line for Mastodon", "every 2s"}, []string{"cancellation"}},
		"publishing": {"", []model.State{model.Queued, model.Publishing}, []string{"at this moment", "every 2s"}, nil},
		"published":  {"", []model.State{model.Queued, model.Publishing, model.Published}, []string{"It is live on Mastodon."}, nil},
		"retry":      {"workspace_paused", []model.State{model.Queued, model.RetryScheduled}, []string{"The workspace is paused", "Resume the workspace"}, []string{"schedule", "cancellation"}},
		"unknown":    {"asking_the_network", []model.State{model.Queued, model.Publishing, model.UnknownOutcome}, []string{"two safe ways out", "give its address", "could publish it twice"}, []string{"findings"}},
		"manual":     {"manual_check_required", []model.State{model.Queued, model.Publishing, model.UnknownOutcome, model.Failed}, []string{"two safe ways out", "I looked at @mastodon-0"}, []string{"findings"}},
		"failed":     {"refused_by_network", []model.State{model.Queued, model.Failed}, []string{"The network refused the post."}, []string{"findings", "retries", "cancellation"}},
		"missed":     {"missed", []model.State{model.Queued, model.Failed}, []string{"Its time had passed"}, []string{"findings", "retries", "cancellation"}},
		"reconnect":  {"needs_reconnect", []model.State{model.Queued, model.NeedsReconnect}, []string{"Reconnect the account"}, []string{"findings", "retries", "cancellation"}},
		"cancelled":  {"archived", []model.State{model.Cancelled}, []string{"The post was put away"}, nil},
	} {
		target, path := b.aim(t, name)
		b.push(t, target.ID, c.reason, c.path...)
		page := owner("GET", path, nil)
		wantPage(t, page, 200, c.says...)
		for _, noun := range []string{"schedule", "cancellation", "retries", "findings"} {
			offered := strings.Contains(page.Body.String(), `action="`+path+"/"+noun+`"`)
			if want := strings.Contains(" "+strings.Join(c.offers, " ")+" ", " "+noun+" "); offered != want {
				t.Errorf("%s: %s offered is %v, want %v", name, noun, offered, want)
			}
		}
		polls := strings.Contains(page.Body.String(), `hx-trigger="every `)
		if on := b.now(t, target.ID).State.OnItsWay(); polls != on {
			t.Errorf("%s: renews itself is %v, on its way is %v", name, polls, on)
		}
	}
}

func TestATargetMovesToAnotherTimeOnce(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	target, path := b.aim(t, "movable")
	form := seen(target, "local", "2026-03-21T09:30", "zone", "Europe/Berlin")
	if w := owner("POST", path+"/schedule", form); w.Code != 303 || w.Header().Get("Location") != path {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	moved := b.now(t, target.ID)
	if got := moved.DueAt.UTC().Format(time.RFC3339); got != "2026-03-21T08:30:00Z" || moved.State != model.Scheduled {
		t.Errorf("due %s, %s", got, moved.State)
	}
	form.Set("local", "2026-03-25T11:00")
	w := owner("POST", path+"/schedule", form)
	wantPage(t, w, 409, "changed while you had it open", "Nothing was changed", `value="2026-03-25T11:00"`, fmt.Sprintf(`name="seen" value="%d"`, moved.Revision), "Sat 21 Mar 2026, 09:30")
	if again := b.now(t, target.ID); !again.DueAt.Equal(*moved.DueAt) {
		t.Errorf("a stale form moved it to %s", again.DueAt)
	}
	for form, want := range map[string]int{"": 409, "seen=x": 409, "seen=-1": 409} {
		v, _ := url.ParseQuery(form)
		v.Set("local", "2026-03-25T11:00")
		v.Set("zone", "Europe/Berlin")
		if w := owner("POST", path+"/schedule", v); w.Code != want {
			t.Errorf("%q: %d", form, w.Code)
		}
	}
}

func TestATimeThatCannotBeIsRefusedWithAWayOut(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	b.Super(t, dbtest.SecondShard, `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, '2026-05-01T00:00Z', '2026-05-02T00:00Z', 'Election day')`, b.agency.ID, b.acme)
	target, path := b.aim(t, "gap")
	for _, c := range []struct {
		local, zone string
		says        []string
	}{
		{"2026-03-29T02:30", "Europe/Berlin", []string{"02:30 on 29 March 2026 does not exist in Europe/Berlin", `name="pick" value="2026-03-29T01:59"`, `name="pick" value="2026-03-29T03:00"`, `value="2026-03-29T02:30"`}},
		{"2026-03-01T10:00", "Europe/Berlin", []string{"That time has passed"}},
		{"2062-04-01T10:00", "Europe/Berlin", []string{"1 April 2062 is more than 2 years ahead."}},
		{"2026-05-01T10:00", "Europe/Berlin", []string{"Election day"}},
		{"", "Europe/Berlin", []string{"Give day and time"}},
		{"2026-02-30T10:00", "Europe/Berlin", []string{"Give day and time"}},
		{"2026-04-01T10:00", "Mars/Olympus", []string{"Choose a time zone from the list"}},
		{"2026-10-25T02:30", "Europe/Berlin", []string{"02:30 comes twice that day", `name="occurrence"`, "The second time"}},
	} {
		w := owner("POST", path+"/schedule", seen(target, "local", c.local, "zone", c.zone))
		wantPage(t, w, 422, c.says...)
	}
	if now := b.now(t, target.ID); now.Revision != target.Revision {
		t.Error("a refused time changed the target")
	}
	if w := owner("POST", path+"/schedule", seen(target, "local", "2026-03-29T02:30", "zone", "Europe/Berlin", "pick", "2026-03-29T03:00")); w.Code != 303 {
		t.Fatalf("picked: %d %s", w.Code, w.Body)
	}
	picked := b.now(t, target.ID)
	if got := picked.DueAt.UTC().Format(time.RFC3339); got != "2026-03-29T01:00:00Z" {
		t.Errorf("picked: due %s", got)
	}
	for choice, want := range map[string]string{"earlier": "2026-10-25T00:30:00Z", "later": "2026-10-25T01:30:00Z"} {
		if w := owner("POST", path+"/schedule", seen(b.now(t, target.ID), "local", "2026-10-25T02:30", "zone", "Europe/Berlin", "occurrence", choice)); w.Code != 303 {
			t.Fatalf("%s: %d", choice, w.Code)
		}
		if got := b.now(t, target.ID).DueAt.UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s: due %s, want %s", choice, got, want)
		}
	}
	wantPage(t, owner("GET", path, nil), 200, "the clocks show it", "time)")
}

func TestCancellingTakesOnlyWhatHasNotBegun(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	target, path := b.aim(t, "cancelled")
	if w := owner("POST", path+"/cancellation", seen(target)); w.Code != 303 || b.now(t, target.ID).State != model.Cancelled {
		t.Fatalf("%d, %s", w.Code, b.now(t, target.ID).State)
	}
	wantPage(t, owner("POST", path+"/cancellation", seen(target)), 409, "Nothing was changed")
	flying, path := b.aim(t, "flying")
	b.push(t, flying.ID, "", model.Queued, model.Publishing)
	wantPage(t, owner("POST", path+"/cancellation", seen(b.now(t, flying.ID))), 409, "is being published at this moment")
	if b.now(t, flying.ID).State != model.Publishing {
		t.Error("a target in flight was cancelled")
	}
}

func TestAFailureIsRetriedAndAnUnclearOneNeverBlindly(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	failed, path := b.aim(t, "failed")
	b.push(t, failed.ID, "refused_by_network", model.Queued, model.Failed)
	if w := owner("POST", path+"/retries", seen(b.now(t, failed.ID))); w.Code != 303 || b.now(t, failed.ID).State != model.Scheduled {
		t.Errorf("%d, %s", w.Code, b.now(t, failed.ID).State)
	}
	wantPage(t, owner("GET", path, nil), 200, "Another try was asked for")
	manual, path := b.aim(t, "manual")
	b.push(t, manual.ID, "manual_check_required", model.Queued, model.Publishing, model.UnknownOutcome, model.Failed)
	wantPage(t, owner("POST", path+"/retries", seen(b.now(t, manual.ID))), 409, "could post it twice")
	wantPage(t, owner("POST", path+"/findings", seen(b.now(t, manual.ID), "verdict", "not_live")), 422, "Look first, then tick this")
	wantPage(t, owner("POST", path+"/findings", seen(b.now(t, manual.ID), "verdict", "perhaps")), 422, "Say whether the post is live")
	if got := b.now(t, manual.ID); got.State != model.Failed {
		t.Errorf("moved to %s without a look", got.State)
	}
	if w := owner("POST", path+"/findings", seen(b.now(t, manual.ID), "verdict", "not_live", "looked", "on")); w.Code != 303 || b.now(t, manual.ID).State != model.Scheduled {
		t.Errorf("not there: %d, %s", w.Code, b.now(t, manual.ID).State)
	}
	wantPage(t, owner("GET", path, nil), 200, "Looked on Mastodon: is not live", "by owner 0", "did not find the post")
}

func TestAnUnknownOutcomeIsResolvedByTheAddressOfTheLivePost(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	target, path := b.aim(t, "unknown")
	b.push(t, target.ID, "asking_the_network", model.Queued, model.Publishing, model.UnknownOutcome)
	for _, bad := range []string{"", "here", "javascript:alert(1)", "ftp://x.example/1"} {
		wantPage(t, owner("POST", path+"/findings", seen(b.now(t, target.ID), "verdict", "live", "address", bad)), 422, "beginning with https://", "two safe ways out")
	}
	wantPage(t, owner("POST", path+"/findings", seen(b.now(t, target.ID), "verdict", "not_live", "looked", "on")), 409, "Nothing was changed")
	address := "https://social.example/@acme/1?a=1&b=2"
	if w := owner("POST", path+"/findings", seen(b.now(t, target.ID), "verdict", "live", "address", address)); w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := b.now(t, target.ID); got.State != model.Published || got.Permalink != address {
		t.Errorf("%s at %s", got.State, got.Permalink)
	}
	wantPage(t, owner("GET", path, nil), 200, "A person saw it on Mastodon", `rel="noopener noreferrer"`, `href="https://social.example/@acme/1?a=1&amp;b=2"`)
}

func TestEvidenceShowsCallsNamesAndReminders(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	target, path := b.aim(t, "evidence")
	b.push(t, target.ID, "", model.Queued, model.Publishing, model.Published)
	b.Super(t, dbtest.SecondShard, `
		INSERT INTO tenant.attempts (tenant_id, target_id, version_id, attempt_no, state, calls, code, status, request_id, say, began_at, flown_at, ended_at)
		VALUES ($1, $2, $3, 1, 'published', $4, '', 200, 'req-77', '', $5, $5::timestamptz + interval '120 ms', $5::timestamptz + interval '1500 ms')`, b.agency.ID, target.ID, target.VersionID,
		`[{"step":"commit","method":"POST","host":"social.example","path":"/api/v1/<b>statuses","status":503,"request_id":"abc-1","began":"2026-03-10T12:00:00Z","took":1380000000,"error":"a 503"}]`, b.Clock.Now())
	b.Super(t, db.MainShard, `INSERT INTO control.publish_dispatch_index (tenant_id, target_id, version_id, task, shard, seq, due_at, status, enqueued_at, updated_at) VALUES ($1, $2, $3, 'publish', 'second', 1, $4, 'done', $4, $4)`,
		b.agency.ID, target.ID, target.VersionID, dbtest.Noon)
	page := b.as(t, b.member(t, model.Viewer, b.acme))("GET", path, nil)
	wantPage(t, page, 200, "Attempt 1: published", "The call that publishes began after 120 ms", "request id req-77", "POST social.example/api/v1/&lt;b&gt;statuses", "abc-1", "1.4 s", "503",
		"Handed over 10 Mar 2026, 13:00:00", "Version 1 written", "by owner 0", "submitting was enough")
}

func TestWhatComesAgainAndAgainStandsOnce(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	target, path := b.aim(t, "patience")
	b.push(t, target.ID, "account_paused", model.Queued, model.RetryScheduled)
	owner := b.as(t, b.agency.Owner)
	before := owner("GET", path, nil).Body.Len()
	for range 2 {
		b.Super(t, dbtest.SecondShard, `
			INSERT INTO tenant.target_changes (tenant_id, target_id, from_state, to_state, reason, at)
			SELECT $1, $2, m.before, m.after, m.why, $3::timestamptz + n * interval '1 min' FROM generate_series(1, 300) n,
			       (VALUES (1, 'retry_scheduled', 'queued', ''), (2, 'queued', 'retry_scheduled', 'account_paused')) m(nth, before, after, why) ORDER BY n, nth`, b.agency.ID, target.ID, b.Clock.Now())
		b.Super(t, dbtest.SecondShard, `
			INSERT INTO tenant.findings (tenant_id, target_id, attempt_no, verdict, say, calls, at)
			SELECT $1, $2, 1, 'cant_tell', 'The network did not answer the look-up.', jsonb_build_array(jsonb_build_object('method', 'GET', 'path', '/look/' || n)), $3::timestamptz + n * interval '1 h' FROM generate_series(6, 45) n`,
			b.agency.ID, target.ID, b.Clock.Now())
		b.Clock.Advance(100 * time.Hour)
		b.Super(t, dbtest.SecondShard, `INSERT INTO tenant.findings (tenant_id, target_id, attempt_no, verdict, say, at) VALUES ($1, $2, 1, 'absent', 'Not in the list.', $3)`, b.agency.ID, target.ID, b.Clock.Now().Add(-time.Hour))
	}
	page := owner("GET", path, nil)
	wantPage(t, page, 200, "300 times in all, the last on 10 Mar 2026, 18:00:00", "40 times in all, the last on 12 Mar 2026, 10:00:00", "/look/45", "Not in the list.")
	if n, grown := strings.Count(page.Body.String(), "trail-entry"), page.Body.Len()-before; n > 15 || grown > 20_000 {
		t.Errorf("%d entries, %d bytes more", n, grown)
	}
	if strings.Contains(page.Body.String(), "/look/44") || strings.Count(page.Body.String(), "Not in the list.") != 2 {
		t.Error("more than the last requests are shown, or something else was folded away")
	}
}

// A webhook cannot be asked: that the same delivery may be sent again is no proof
// that nothing arrived, and the page must not say that it is.
func TestWhatNobodyWasAskedAboutIsNotSaidToBeAbsent(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	target, path := b.aim(t, "lost")
	b.push(t, target.ID, "", model.Queued, model.Publishing)
	b.push(t, target.ID, "worker_lost", model.UnknownOutcome)
	b.Super(t, dbtest.SecondShard, `INSERT INTO tenant.findings (tenant_id, target_id, attempt_no, verdict, say, at) VALUES ($1, $2, 1, 'absent', 'The same delivery is sent again.', $3)`, b.agency.ID, target.ID, b.Clock.Now())
	b.push(t, target.ID, "proved_absent", model.RetryScheduled)
	page := b.as(t, b.agency.Owner)("GET", path, nil)
	wantPage(t, page, 200, "Safe to send again", "The worker stopped during the call that publishes", "cannot publish it twice")
	for _, untrue := range []string{"nothing was published", "not there", "before anything was sent"} {
		if strings.Contains(page.Body.String(), untrue) {
			t.Errorf("the page says %q", untrue)
		}
	}
}

func TestRolesMayDoWhatTheyAreNamedFor(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	viewer, editor, manager := b.as(t, b.member(t, model.Viewer, b.acme)), b.as(t, b.member(t, model.Editor, b.acme)), b.as(t, b.member(t, model.Manager, b.acme))
	target, path := b.aim(t, "roles")
	for name, who := range map[string]browser{"viewer": viewer, "editor": editor} {
		page := who("GET", path, nil)
		wantPage(t, page, 200, "goes out")
		if strings.Contains(page.Body.String(), `<form class="deed"`) {
			t.Errorf("a %s is offered what a %s may not do", name, name)
		}
		for _, noun := range []string{"schedule", "cancellation", "retries", "findings"} {
			if w := who("POST", path+"/"+noun, seen(target, "local", "2026-03-22T10:00", "zone", "Europe/Berlin", "verdict", "live", "address", "https://x.example/1")); w.Code != 403 {
				t.Errorf("a %s posts %s: %d", name, noun, w.Code)
			}
		}
	}
	if w := manager("POST", path+"/schedule", seen(target, "local", "2026-03-22T10:00", "zone", "Europe/Berlin")); w.Code != 303 {
		t.Errorf("a manager moves it: %d", w.Code)
	}
	half := b.as(t, b.agency.Member(t, model.Manager, map[model.ClientID][]model.Permission{b.acme: model.Viewer.Grants(), b.york: model.Manager.Grants()}))
	if w := half("POST", path+"/cancellation", seen(b.now(t, target.ID))); w.Code != 403 {
		t.Errorf("a manager of another client cancels here: %d", w.Code)
	}
}

func TestNobodyReachesAnothersTarget(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	other := b.World.Agency(t, "south", dbtest.SecondShard)
	foreign := other.Due(t, "theirs", time.Hour, other.Account(t, other.Client(t, "rival"), network.Mastodon)).Targets[0].ID
	hidden := b.at(t, "hidden", "2026-03-20T10:00", "America/New_York", b.abroad).Targets[0].ID
	own, _ := b.aim(t, "own")
	manager := b.as(t, b.member(t, model.Manager, b.acme))
	for _, id := range []string{fmt.Sprint(foreign), fmt.Sprint(hidden), "0", "-1", "x", "99999999999999999999"} {
		for _, path := range []string{"", "/status"} {
			if w := manager("GET", "/w/north/targets/"+id+path, nil); w.Code != 404 {
				t.Errorf("GET %s%s: %d", id, path, w.Code)
			}
		}
		for _, noun := range []string{"schedule", "cancellation", "retries", "findings"} {
			form := url.Values{"seen": {"1"}, "local": {"2026-03-22T10:00"}, "zone": {"Europe/Berlin"}, "verdict": {"live"}, "address": {"https://x.example/1"}, "looked": {"on"}}
			if w := manager("POST", "/w/north/targets/"+id+"/"+noun, form); w.Code != 404 {
				t.Errorf("POST %s to %s: %d", noun, id, w.Code)
			}
			form.Set("verdict", "not_live")
			if w := manager("POST", "/w/north/targets/"+id+"/"+noun, form); w.Code != 404 {
				t.Errorf("POST %s to %s: %d", noun, id, w.Code)
			}
		}
	}
	if w := manager("GET", fmt.Sprintf("/w/south/targets/%d", own.ID), nil); w.Code != 404 {
		t.Errorf("an own target under another workspace: %d", w.Code)
	}
}

func TestTheStatusSaysWhenThePageIsBehindAndStopsAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	target, path := b.aim(t, "status")
	b.push(t, target.ID, "", model.Queued)
	first := owner("GET", path, nil).Body.String()
	_, rest, _ := strings.Cut(first, `hx-get="`)
	poll, _, _ := strings.Cut(rest, `"`)
	poll = strings.ReplaceAll(poll, "&amp;", "&")
	same := owner("GET", poll, nil)
	wantPage(t, same, 200, "in line for Mastodon", "every 2s")
	if strings.Contains(same.Body.String(), "<html") || strings.Contains(same.Body.String(), "Something happened") || strings.Contains(same.Body.String(), "<a ") {
		t.Errorf("the part that renews itself: %s", same.Body)
	}
	b.Clock.Advance(time.Second)
	b.push(t, target.ID, "", model.Publishing)
	wantPage(t, owner("GET", poll, nil), 200, "at this moment", "Something happened since this page was opened", "every 2s")
	b.push(t, target.ID, "", model.Published)
	end := owner("GET", poll, nil)
	wantPage(t, end, 200, "It is live", "Show all of it")
	if strings.Contains(end.Body.String(), "hx-trigger") {
		t.Error("it goes on asking after the end")
	}
}
