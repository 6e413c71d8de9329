package model

import (
	"strings"
	"testing"
)

func TestDifferenceHoldsBothTexts(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"", ""}, {"", "new"}, {"old", ""}, {"Summer sale starts Monday.", "Summer sale starts on Tuesday."},
		{"a\n\nb  c", "a\nb c d"}, {"one two", "three four"}, {strings.Repeat("x ", 2000), strings.Repeat("y ", 2000)},
	} {
		before, after := joined(Difference(c[0], c[1]))
		if before != c[0] || after != c[1] {
			t.Errorf("%q to %q gives %q and %q", c[0], c[1], before, after)
		}
	}
}

func joined(pieces []Piece) (before, after string) {
	for _, p := range pieces {
		if p.Change != Added {
			before += p.Text
		}
		if p.Change != Removed {
			after += p.Text
		}
	}
	return before, after
}

func TestDifferenceMarksOnlyTheWordsThatChanged(t *testing.T) {
	t.Parallel()
	got := Difference("Our sale starts Monday at nine.", "Our sale starts Tuesday at nine.")
	want := []Piece{{Same, "Our sale starts "}, {Removed, "Monday"}, {Added, "Tuesday"}, {Same, " at nine."}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("piece %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func FuzzDifferenceHoldsBothTexts(f *testing.F) {
	f.Add("a b", "a c")
	f.Add("\xff \n", "é́ \u2028")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 4000 {
			return
		}
		gotBefore, gotAfter := joined(Difference(before, after))
		if gotBefore != before || gotAfter != after {
			t.Errorf("%q to %q gives %q and %q", before, after, gotBefore, gotAfter)
		}
	})
}

func TestARequestWaitsForThoseOfTheStageWhoHaveNotDecided(t *testing.T) {
	t.Parallel()
	mia, dana := AskedPerson{User: 1, Name: "Mia"}, AskedPerson{Approver: 1, Name: "Dana"}
	r := ApprovalRequest{State: RequestOpen, Stage: 2, Stages: []AskedStage{
		{Position: 1, Rule: AnyOne, People: []AskedPerson{mia}}, {Position: 2, Rule: Everyone, People: []AskedPerson{mia, dana}}},
		Decisions: []ApprovalDecision{{Stage: 1, Person: mia, Verdict: Approve}}}
	if got := r.Owing(); len(got) != 2 {
		t.Errorf("owing: %v", got)
	}
	r.Decisions = append(r.Decisions, ApprovalDecision{Stage: 2, Person: dana, Verdict: Approve})
	if r.WaitsFor(dana) || !r.WaitsFor(mia) {
		t.Error("a user and an approver of the same number are taken for one person")
	}
	r.State = RequestSuperseded
	if r.WaitsFor(mia) || len(r.Owing()) != 0 {
		t.Error("a superseded request waits for somebody")
	}
}
