package e2e

import (
	"testing"

	"github.com/go-rod/rod/lib/input"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// TestAColleagueIsNamedByAFewLetters: the list comes after an @, narrows, is walked by
// keys and by touch, says to a screen reader where it is, and goes on Escape.
func TestAColleagueIsNamedByAFewLetters(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	a := newAgency(t)
	a.submitted(t, "Buns at noon", a.account(t, "bakery", network.Mastodon))
	for _, look := range []browser.Look{browser.Desktop, browser.Narrow} {
		p := a.member(t, look, a.anna())
		p.visit(a.path("/approvals?box=others"))
		p.press("button", "Comment")
		state := func(name string) string {
			v, err := p.find("field", "Comment").Attribute(name)
			if err != nil || v == nil {
				return ""
			}
			return *v
		}
		p.fill("Comment", "Ask @")
		p.until("the list to open", func() bool { return state("aria-expanded") == "true" && state("aria-activedescendant") != "" })
		p.judge(source)
		p.fits()
		p.fill("Comment", "Ask @zz")
		p.until("the list to close", func() bool { return state("aria-expanded") == "" })
		p.fill("Comment", "a@be")
		if state("aria-expanded") != "" {
			t.Error("an address opens the list")
		}
		p.fill("Comment", "Ask @be")
		p.until("Ben to be offered", func() bool { return state("aria-activedescendant") != "" })
		p.key(input.Escape)
		if state("aria-expanded") != "" || p.value("Comment") != "Ask @be" {
			t.Errorf("Escape leaves %q", p.value("Comment"))
		}
		p.fill("Comment", "Ask @b")
		p.until("Ben to be offered", func() bool { return state("aria-activedescendant") != "" })
		if look == browser.Desktop {
			p.key(input.Enter)
		} else {
			p.press("option", "Ben Ohm")
		}
		p.until("Ben to be named", func() bool { return containsFolded(p.value("Comment"), "Ask @Ben") && state("aria-expanded") == "" })
		p.press("box", "Only your team")
		p.goes("button", "Add comment")
		p.sees("Comment added.")
	}
}
