package db_test

import (
	"strings"
	"testing"

	"herald/db"
)

func TestTroubleIsNeverHiddenBehindWhatWentWell(t *testing.T) {
	t.Parallel()
	for shown, want := range map[string]string{
		"":                                    "draft",
		"scheduled":                           "scheduled",
		"published published":                 "published",
		"published cancelled":                 "published",
		"cancelled cancelled":                 "cancelled",
		"published failed":                    "partially_failed",
		"published needs_reconnect":           "partially_failed",
		"scheduled failed":                    "partially_failed",
		"failed needs_reconnect":              "failed",
		"failed cancelled":                    "failed",
		"published failed unknown_outcome":    "unknown_outcome",
		"published scheduled":                 "publishing",
		"scheduled publishing":                "publishing",
		"scheduled retry_scheduled":           "retry_scheduled",
		"scheduled approved":                  "scheduled",
		"approved draft":                      "draft",
		"approved in_review draft":            "in_review",
		"in_review changes_requested invalid": "invalid",
	} {
		if got := db.ShownTogether(strings.Fields(shown)); got != want {
			t.Errorf("%q shows %s, want %s", shown, got, want)
		}
	}
	for _, one := range db.Shown() {
		if got := db.ShownTogether([]string{one}); got != one {
			t.Errorf("%s alone shows %s", one, got)
		}
	}
}

func TestAPlaceInAListSurvivesItsAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a.b", "hq5e3k2yo0.1z"} {
		p, err := db.ParsePlace(s)
		if err != nil || p.String() != s {
			t.Errorf("%q came back as %q, %v", s, p, err)
		}
	}
	for _, s := range []string{"x", ".", "1", "-1.1", "1.-1", "zzzzzzzzzzzzzz.1", "1.1.1", "1. 1"} {
		if _, err := db.ParsePlace(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
}
