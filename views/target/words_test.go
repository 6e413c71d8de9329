package target

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"herald/db/model"
)

func TestEveryStateIsExplainedInWholeSentences(t *testing.T) {
	t.Parallel()
	for _, state := range model.States() {
		for _, review := range []string{"draft", "in_review", "changes_requested", "approved"} {
			for _, reason := range []string{"", "edited", "manual_check_required", "never heard of"} {
				happened, todo := Explain(Situation{State: state, Reason: reason, Review: review, Network: "Mastodon", Account: "@acme", Due: "on Friday", Next: "at noon"})
				if happened == "" || !strings.HasSuffix(happened, ".") || todo != "" && !strings.HasSuffix(todo, ".") {
					t.Errorf("%s (%s, %s): %q, %q", state, review, reason, happened, todo)
				}
			}
		}
	}
}

// TestEveryReasonOfTheGuardsHasWords reads the guards' own statement, so that a
// reason added there is explained here.
func TestEveryReasonOfTheGuardsHasWords(t *testing.T) {
	t.Parallel()
	sql, err := os.ReadFile("../../db/migrations/tenant/0003_pipeline.sql")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`'(postponed|refused):([a-z_]+)'`).FindAllStringSubmatch(string(sql), -1)
	if len(found) < 10 {
		t.Fatalf("only %d reasons in the guards", len(found))
	}
	for _, m := range found {
		_, waiting := waits[m[2]]
		_, failed := failures[m[2]]
		if m[1] == "postponed" && !waiting || m[1] == "refused" && !failed && m[2] != "needs_reconnect" {
			t.Errorf("%s for %s is not explained", m[1], m[2])
		}
		if ReasonWords(model.RetryScheduled, m[2]) == "" {
			t.Errorf("the timeline has no words for %s", m[2])
		}
	}
}

func TestTheUnknownIsExplainedWithBothSafeWaysOut(t *testing.T) {
	t.Parallel()
	for _, s := range []Situation{{State: model.UnknownOutcome}, {State: model.Failed, Reason: "manual_check_required"}} {
		s.Network, s.Account, s.Next = "Mastodon", "@acme", "at noon"
		happened, todo := Explain(s)
		if !strings.Contains(happened, "no clear answer") || !strings.Contains(todo, "two safe ways out") || !strings.Contains(todo, "give its address") {
			t.Errorf("%s: %q, %q", s.State, happened, todo)
		}
	}
}

func TestALostWorkerClaimsNothingOnceItsCallHadBegun(t *testing.T) {
	t.Parallel()
	if got := ReasonWords(model.UnknownOutcome, "worker_lost"); !strings.Contains(got, "may be live or not") {
		t.Errorf("during the call: %q", got)
	}
	if got := ReasonWords(model.RetryScheduled, "worker_lost"); !strings.Contains(got, "before anything was sent") {
		t.Errorf("before the call: %q", got)
	}
}
