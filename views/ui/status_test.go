package ui

import (
	"os"
	"strings"
	"testing"

	"herald/db/model"
	"herald/db/network"
)

var postStates = []model.PostState{
	model.PostDraft, model.PostInvalid, model.PostReady, model.PostInReview, model.PostChangesRequested, model.PostApproved,
	model.PostScheduled, model.PostPublishing, model.PostPublished, model.PostPartiallyFailed, model.PostFailed, model.PostCancelled,
}

func TestEveryStateHasItsOwnWordAndItsOwnShape(t *testing.T) {
	t.Parallel()
	states := map[string]bool{}
	for _, s := range model.States() {
		states[string(s)] = true
	}
	for _, s := range postStates {
		states[string(s)] = true
	}
	words, shapes := map[string]string{}, map[string]string{}
	for s := range states {
		l, ok := looks[s]
		if !ok {
			t.Errorf("%s has no look", s)
			continue
		}
		if other := words[l.word]; other != "" {
			t.Errorf("%s and %s share the word %q", s, other, l.word)
		}
		if other := shapes[l.shape]; other != "" {
			t.Errorf("%s and %s share the shape %q", s, other, l.shape)
		}
		words[l.word], shapes[l.shape] = s, s
	}
}

func TestEveryLookIsDrawnAndColoured(t *testing.T) {
	t.Parallel()
	marks, tokens := source(t, "../../static/img/marks.svg"), source(t, "../../static/css/tokens.css")
	for state, l := range looks {
		if !strings.Contains(marks, `id="state-`+l.shape+`"`) {
			t.Errorf("%s: marks.svg has no state-%s", state, l.shape)
		}
		if !strings.Contains(tokens, `[data-hue="`+l.hue+`"]`) {
			t.Errorf("%s: tokens.css has no data-hue %s", state, l.hue)
		}
	}
	for _, n := range network.All() {
		if !glyphs[string(n.Name)] {
			t.Errorf("%s has no glyph", n.Name)
		}
	}
	for name := range glyphs {
		if !strings.Contains(marks, `id="network-`+name+`"`) {
			t.Errorf("marks.svg has no network-%s", name)
		}
	}
}

func TestAStateNobodyForesawIsShownInWords(t *testing.T) {
	t.Parallel()
	if got := StatusWord("late_reject"); got != "Late reject" {
		t.Errorf("got %q", got)
	}
	if got := StatusWord(""); got != "" {
		t.Errorf("nothing became %q", got)
	}
}

func TestInitialsSurviveAnyName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Mia Lindqvist": "ML", "Zoë": "Z", "": "?", "  ": "?", "otto von brandt": "OB", "Ömer": "Ö", "\xff": "\uFFFD",
	} {
		if got := initials(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func source(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
