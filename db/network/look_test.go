package network

import (
	"fmt"
	"strings"
	"testing"
)

func TestAFoldCutsBetweenWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fold   Fold
		text   string
		shown  string
		folded bool
	}{
		{Fold{}, strings.Repeat("x", 5000), strings.Repeat("x", 5000), false},
		{Fold{At: 10}, "ten chars.", "ten chars.", false},
		{Fold{At: 10}, "ten chars.\n", "ten chars.\n", false},
		{Fold{At: 10}, "eleven words", "eleven", true},
		{Fold{At: 6}, "eleven words", "eleven", true},
		{Fold{At: 4}, "unbroken", "unbr", true},
		{Fold{At: 3}, "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", true},
		{Fold{Lines: 2}, "one\ntwo\nthree", "one\ntwo", true},
		{Fold{Lines: 2}, "one\ntwo", "one\ntwo", false},
		{Fold{At: 3}, "\xff\xfe\xfd\xfc", "\xff\xfe\xfd", true},
		{Fold{At: 3}, "", "", false},
	} {
		shown, folded := c.fold.Cut(c.text)
		if shown != c.shown || folded != c.folded {
			t.Errorf("%+v of %q: %q, %t", c.fold, c.text, shown, folded)
		}
	}
}

func TestInkIsWhatReadersSeeAsLinks(t *testing.T) {
	t.Parallel()
	all := Ink{Links: true, Tags: true, Mentions: true}
	for _, c := range []struct {
		ink  Ink
		text string
		want string
	}{
		{all, "at https://a.com/#x and #bread, @mill!", "[link https://a.com/#x] [tag #bread] [mention @mill]"},
		{all, "me@mill.org is an address", ""},
		{all, "#1 and # and a#b and &#39;", ""},
		{all, "@mill@kiez.example. #über_uns", "[mention @mill@kiez.example] [tag #über_uns]"},
		{Ink{Tags: true}, "https://a.com #x @y", "[tag #x]"},
		{Ink{}, "https://a.com #x @y", ""},
	} {
		var got []string
		whole := ""
		for _, s := range c.ink.Stretches(c.text) {
			whole += s.Text
			if s.Kind != Plain {
				got = append(got, fmt.Sprintf("[%s %s]", s.Kind, s.Text))
			}
		}
		if strings.Join(got, " ") != c.want || whole != c.text {
			t.Errorf("%q: %v of %q", c.text, got, whole)
		}
	}
}

func TestEveryFoldSaysWhereItIsFrom(t *testing.T) {
	t.Parallel()
	for _, n := range All() {
		f := n.Look.Fold
		if f != (Fold{}) && (f.More == "" || f.Source == "" || f.At == 0 && f.Lines == 0) {
			t.Errorf("%s: %+v", n.Name, f)
		}
	}
}

func FuzzStretches(f *testing.F) {
	f.Add("at https://a.com/#x and #bread, @mill!")
	f.Add("\xff#\xfe@a.")
	f.Fuzz(func(t *testing.T, text string) {
		whole := ""
		for _, s := range (Ink{true, true, true}).Stretches(text) {
			whole += s.Text
		}
		if whole != text {
			t.Errorf("%q became %q", text, whole)
		}
	})
}
