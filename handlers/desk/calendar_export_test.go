package desk_test

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/model"
)

func exported(t *testing.T, who browser, query string) [][]string {
	t.Helper()
	w := who("GET", "/w/north/calendar.csv?"+query, nil)
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/csv") {
		t.Fatalf("%s: %d %s", query, w.Code, w.Header())
	}
	body, marked := strings.CutPrefix(w.Body.String(), "\uFEFF")
	if !marked || strings.Contains(strings.ReplaceAll(body, "\r\n", ""), "\r") {
		t.Errorf("%s: no byte order mark, or lines that do not end as RFC 4180 wants", query)
	}
	lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestTheCalendarIsExportedAsItIsFiltered(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	first := b.at(t, `Bread, "fresh"`+"\nevery day", "2026-03-12T10:00", "Europe/Berlin", b.mastodon)
	b.at(t, "abroad", "2026-03-13T10:00", "America/New_York", b.abroad)
	b.at(t, "in summer", "2026-03-30T10:00", "Europe/Berlin", b.mastodon, b.hook)
	label, sale := b.label(t, db.Label{Kind: db.PlainLabel, Name: "=Spring"}), b.label(t, db.Label{Kind: db.Campaign, Name: "Sale"})
	if _, err := b.agency.Owner.LabelPosts(t.Context(), db.Labelling{Posts: []model.PostID{first.Post.ID}, Add: []model.LabelID{label, sale}}); err != nil {
		t.Fatal(err)
	}
	lines := exported(t, owner, "date=2026-03")
	if len(lines) != 5 || len(lines[0]) != 12 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	want := []string{"2026-03-12T10:00:00+01:00", "Europe/Berlin", "Client acme", "Mastodon", first.Targets[0].Account, "Scheduled", `Bread, "fresh"` + "\nevery day", "'=Spring", "Sale"}
	for i, cell := range want {
		if got := lines[1][i]; strings.TrimPrefix(got, "'") != strings.TrimPrefix(cell, "'") {
			t.Errorf("%s is %q, want %q", lines[0][i], got, cell)
		}
	}
	if lines[2][0] != "2026-03-13T10:00:00-04:00" || lines[3][0] != "2026-03-30T10:00:00+02:00" {
		t.Errorf("times %q and %q are not the client's", lines[2][0], lines[3][0])
	}
	for query, n := range map[string]int{
		"date=2026-03&view=week": 2, "view=week&date=2026-03-12": 2, "view=day&date=2026-03-12": 1, "view=list&date=2026-03-13": 3, "date=2026-03&network=webhook": 1,
		fmt.Sprintf("date=2026-03&label=%d", label): 1, "date=2026-03&q=abroad": 1, "date=2026-06": 0,
	} {
		if strings.HasPrefix(query, "date=2026-03&view=week") {
			n = 0 // the week of the first
		}
		if got := len(exported(t, owner, query)) - 1; got != n {
			t.Errorf("%s: %d lines, want %d", query, got, n)
		}
	}
	if only := exported(t, b.as(t, b.member(t, model.Viewer, b.acme)), "date=2026-03"); len(only) != 4 || strings.Contains(fmt.Sprint(only), "york") {
		t.Errorf("who sees acme alone gets %q", only)
	}
	wantPage(t, owner("GET", "/w/north/calendar.csv?view=year", nil), 422)
	wantPage(t, owner("GET", "/w/north/calendar?"+url.Values{"date": {"2026-03"}, "q": {"bread"}}.Encode(), nil), 200, `href="/w/north/calendar.csv?date=2026-03&amp;q=bread"`)
}

func TestNoCellOfAnExportIsAFormula(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	for i, text := range []string{"=1+1", "+49 30", "-5 degrees", "@all", " =HYPERLINK(\"x\")", "\uff1d1+1", "|cmd", "plain = fine"} {
		b.at(t, text, fmt.Sprintf("2026-03-12T10:%02d", i), "Europe/Berlin", b.mastodon)
	}
	for _, line := range exported(t, b.as(t, b.agency.Owner), "date=2026-03")[1:] {
		for i, cell := range line {
			if strings.IndexAny(strings.TrimSpace(cell), "=+-@\uff1d|") == 0 {
				t.Errorf("column %d begins as a formula: %q", i, cell)
			}
		}
		if line[6] != "plain = fine" && !strings.HasPrefix(line[6], "'") {
			t.Errorf("%q is not guarded", line[6])
		}
	}
}
