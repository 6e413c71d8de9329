package desk_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"herald/db/model"
	"herald/db/network"
)

// went moves a target that was due an hour ago to an end, published late by some time.
func (s *studio) went(t *testing.T, text string, ago, late time.Duration, reason string, states ...model.State) {
	t.Helper()
	page := s.agency.Due(t, text, time.Hour, s.account)
	id := page.Targets[0].ID
	s.agency.Push(t, id, reason, states...)
	s.Super(t, s.agency.Shard, `UPDATE tenant.targets SET due_at = $3::timestamptz, published_at = CASE WHEN published_at IS NOT NULL THEN $3::timestamptz + $4::interval END WHERE tenant_id = $1 AND id = $2`,
		s.agency.ID, id, s.Clock.Now().Add(-ago), late)
}

// TestTheReportCountsWhatWentOut has one post of each end.
func TestTheReportCountsWhatWentOut(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.get(t, s.owner, "/w/north/delivery").want(t, 200, "Nothing was due")
	published := []model.State{model.Queued, model.Publishing, model.Published}
	s.went(t, "on time", time.Hour, time.Second, "", published...)
	s.went(t, "on time too", 2*time.Hour, 59*time.Second, "", published...)
	s.went(t, "late", 26*time.Hour, 5*time.Minute, "", published...)
	s.went(t, "by hand", 3*time.Hour, 3*time.Hour, "found_by_hand", published...)
	s.went(t, "refused", time.Hour, 0, "refused_by_network", model.Queued, model.Failed)
	s.went(t, "stuck", time.Hour, 0, "needs_reconnect", model.Queued, model.NeedsReconnect)
	s.went(t, "long ago", 60*24*time.Hour, time.Second, "", published...)
	s.agency.Due(t, "to come", time.Hour, s.account)

	page := s.get(t, s.owner, "/w/north/delivery").want(t, 200, "2 of 5, within a minute of their time", "40 %", "The network refused the content", "are live; when they appeared is not known")
	if page.says("Nothing was due") {
		t.Error("the report is empty")
	}
	far := s.Clock.Now().AddDate(0, 0, -70).Format("2006-01-02")
	near := s.Clock.Now().AddDate(0, 0, -50).Format("2006-01-02")
	s.get(t, s.owner, "/w/north/delivery?from="+far+"&to="+near).want(t, 200, "1 of 1, within a minute")
	s.get(t, s.owner, "/w/north/delivery?from="+near+"&to="+far).want(t, 422, "The period ends before it begins.")
	s.get(t, s.owner, "/w/north/delivery?from=tomorrow").want(t, 422, "Give both days")

	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(s.get(t, s.owner, "/w/north/delivery/figures.csv").want(t, 200).body, "\ufeff"))).ReadAll()
	if err != nil || len(lines) != 2 || strings.Join(lines[1][3:10], " ") != "6 2 1 1 1 1 59.000" {
		t.Errorf("the figures are %v, %v", lines, err)
	}
}

// TestAReportIsNoFormula exports names that a spreadsheet would take for one.
func TestAReportIsNoFormula(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	account := s.agency.Account(t, s.client, network.Mastodon)
	s.Super(t, s.agency.Shard, `UPDATE tenant.accounts SET handle = '=HYPERLINK("http://evil.example")' WHERE tenant_id = $1 AND id = $2`, s.agency.ID, account)
	s.account = account
	s.went(t, "words", time.Hour, time.Second, "", model.Queued, model.Publishing, model.Published)
	got := s.get(t, s.owner, fmt.Sprintf("/w/north/delivery/posts.csv?client=%d", s.client)).want(t, 200)
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(got.body, "\ufeff"))).ReadAll()
	if err != nil || len(lines) != 2 || !strings.HasPrefix(lines[1][2], "'=") || lines[1][5] != "1.000" || lines[1][6] != "Published" {
		t.Errorf("the lines are %q, %v", lines, err)
	}
	if !strings.Contains(got.header.Get("Content-Disposition"), `filename="north-posts-`) {
		t.Errorf("the file is %q", got.header.Get("Content-Disposition"))
	}
}
