package e2e

import (
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// TestOpenPagesFollowWhatHappens: a calendar that somebody looks at shows what
// others and the worker do, without being loaded again and without taking the focus.
func TestOpenPagesFollowWhatHappens(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/calendar"))
	p.find("link", "Today")
	before := p.document()
	if _, err := p.Eval(`() => document.querySelector(".steps a.button:not([data-only])").focus()`); err != nil {
		t.Fatal(err)
	}
	a.published(t, "Free entry on Sunday", network.Mastodon)
	p.sees("Free entry on Sunday")
	p.until("the card to say published", func() bool {
		n, err := p.Eval(`() => document.querySelectorAll("#live .plan[data-hue=published]").length`)
		return err == nil && n.Value.Int() > 0
	})
	if p.document() != before {
		t.Error("the page was loaded again")
	}
	focus, err := p.Eval(`() => document.activeElement.textContent.trim()`)
	if err != nil || focus.Value.Str() != "Today" {
		t.Errorf("the focus is on %v, %v; want Today", focus, err)
	}
}
