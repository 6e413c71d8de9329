package desk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

func TestActivityTellsSentences(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	page := o.agency.Due(t, "Grand  opening of our second shop, with cake and a brass band for everyone", time.Hour, o.mastodon)
	anna("POST", fmt.Sprintf("/accounts/%d/pause", o.mastodon), "paused", "true", "seen", o.seen(t, o.mastodon))
	anna("POST", "/pause", "paused", "true")
	o.Super(t, dbtest.SecondShard, `INSERT INTO tenant.audit (tenant_id, at, name, verb, subject, subject_id, client_id, detail)
		VALUES ($1, $2, 'herald apply', 'declared', 'client', $3, $3, '{"made":false,"what":["name","zone"]}'), ($1, $2, 'Somebody', 'did_odd_things_to', 'thing', 1, NULL, '{}')`,
		o.agency.ID, o.Clock.Now(), o.client)
	w := anna("GET", "/activity")
	wantPage(t, w, 200, "owner 0", "scheduled", "“Grand opening of our second shop, with cake and a brass band…”", "for Tue 10 Mar 2026, 14:00 (Berlin)",
		fmt.Sprintf("/w/north/posts/%d", page.Post.ID), "paused", fmt.Sprintf("/w/north/accounts/%d", o.mastodon), "the workspace", "wrote a new version of",
		"Today, Tuesday 10 March 2026", "Times in Berlin", "herald apply", ": name, zone", "did odd things to")
}

func TestActivityIsFilteredByClientAndPerson(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	anna := o.as(t, o.agency.Owner)
	other := o.agency.Client(t, "other")
	hook := o.agency.Account(t, other, network.Webhook)
	ben := o.agency.Member(t, model.Admin, nil)
	o.agency.Post(t, "By the owner", o.mastodon)
	if _, err := ben.PauseAccount(t.Context(), hook, 1, true); err != nil {
		t.Fatal(err)
	}
	byClient := anna("GET", fmt.Sprintf("/activity?client=%d", other)).Body.String()
	if strings.Contains(byClient, "By the owner") || !strings.Contains(byClient, "@webhook-2") {
		t.Errorf("by client: %s", byClient)
	}
	byPerson := anna("GET", fmt.Sprintf("/activity?person=u%d", o.agency.Owner.Actor.User)).Body.String()
	if !strings.Contains(byPerson, "By the owner") || strings.Contains(byPerson, ">@webhook-2<") {
		t.Errorf("by person: %s", byPerson)
	}
	quiet := o.agency.Member(t, model.Admin, nil)
	wantPage(t, anna("GET", fmt.Sprintf("/activity?person=u%d", quiet.Actor.User)), 200, "Nobody did anything that this filter takes")
	for _, unknown := range []string{"person=a77", "person=u7777", "client=7777"} {
		wantPage(t, anna("GET", "/activity?"+unknown), 404, "There is no such client or person.")
	}
	for _, odd := range []string{"client=x", "person=x", "person=u", "person=", "before=x", "after=x", "before=-1", "client=99999999999999999999"} {
		wantPage(t, anna("GET", "/activity?"+odd), 200)
	}
}

func TestActivityShowsOnlyThePersonsClients(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	other := o.agency.Client(t, "other")
	hook := o.agency.Account(t, other, network.Webhook)
	if _, err := o.agency.Owner.PauseAccount(t.Context(), hook, 1, true); err != nil {
		t.Fatal(err)
	}
	if _, err := o.agency.Owner.PauseAccount(t.Context(), o.mastodon, 1, true); err != nil {
		t.Fatal(err)
	}
	eve := o.as(t, o.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{o.client: model.Viewer.Grants()}))
	for _, query := range []string{"", fmt.Sprintf("?client=%d", other), "?person=u1"} {
		if page := eve("GET", "/activity"+query).Body.String(); strings.Contains(page, "@webhook-2") || strings.Contains(page, "Client other") {
			t.Errorf("%q shows another client", query)
		}
	}
	wantPage(t, eve("GET", "/activity"), 200, "@mastodon-0")
}

var pageLink = regexp.MustCompile(`rel="(prev|next)" href="/w/north([^"]+)"`)

func TestActivityPagesReachEveryLineOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Super(t, dbtest.SecondShard, `INSERT INTO tenant.audit (tenant_id, at, name, verb, subject, subject_id)
		SELECT $1, $2, 'Line ' || n || '.', 'paused', 'workspace', 1 FROM generate_series(1, 120) n`, o.agency.ID, o.Clock.Now())
	anna := o.as(t, o.agency.Owner)
	links := func(path string) (map[string]string, string) {
		body := anna("GET", path).Body.String()
		to := map[string]string{}
		for _, m := range pageLink.FindAllStringSubmatch(body, -1) {
			to[m[1]] = strings.ReplaceAll(m[2], "&amp;", "&")
		}
		return to, body
	}
	seen, path, last := map[string]int{}, "/activity?person=", ""
	var trail []string
	for path != "" {
		to, body := links(path)
		for _, m := range regexp.MustCompile(`Line \d+\.`).FindAllString(body, -1) {
			seen[m]++
		}
		trail, last, path = append(trail, body), path, to["next"]
	}
	if len(seen) != 120 || len(trail) != 3 {
		t.Fatalf("%d lines on %d pages", len(seen), len(trail))
	}
	for line, n := range seen {
		if n != 1 {
			t.Errorf("%s shows %d times", line, n)
		}
	}
	to, _ := links(last)
	_, back := links(to["prev"])
	if strings.Count(back, "activity-line\"") != 50 || !strings.Contains(back, "Line 70.") || !strings.Contains(back, "Line 21.") {
		t.Errorf("the way back shows another page")
	}
}

// TestEveryVerbHasASentence reads the verbs that the database layer writes.
func TestEveryVerbHasASentence(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../db/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	words, err := os.ReadFile("activity_words.go")
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`note\{verb: "([a-z_]+)", subject: "([a-z]+)"`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range written.FindAllStringSubmatch(string(text), -1) {
			found++
			if !strings.Contains(string(words), `"`+m[2]+"/"+m[1]+`":`) && !strings.Contains(string(words), `"any/`+m[1]+`":`) {
				t.Errorf("%s writes %q of a %s, and the activity has no sentence for it", filepath.Base(file), m[1], m[2])
			}
		}
	}
	if found < 8 {
		t.Errorf("found %d verbs only", found)
	}
}
