package e2e

import (
	"testing"

	"github.com/go-rod/rod/lib/input"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

func TestOneKeyDecidesInTheInbox(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	account := a.account(t, "bakery", network.Mastodon)
	a.submitted(t, "The first loaf", account)
	a.submitted(t, "The second loaf", account)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/approvals?box=others"))
	p.key(input.KeyJ)
	p.until("the focus on the second request", func() bool {
		at, err := p.Eval(`() => document.activeElement.matches(".request:nth-of-type(2)")`)
		return err == nil && at.Value.Bool()
	})
	p.key(input.KeyR)
	p.types("Less flour")
	p.follow(func() { p.chord(input.Enter) })
	p.sees("Changes requested. The writer gets your words")
	p.visit(a.path("/approvals?box=others"))
	p.sees("The first loaf")
	p.misses("The second loaf")
	p.key(input.KeyC)
	p.types("Who baked it?")
	p.until("whom a comment can name", func() bool { // asked for by the field that has the focus now
		names, err := p.Eval(`() => [...document.querySelectorAll(".mention-list")].some((list) => !list.hasAttribute("hx-get"))`)
		return err == nil && names.Value.Bool()
	})
	if got := p.value("Comment"); got != "Who baked it?" {
		t.Errorf("the comment says %q", got)
	}
	p.visit(a.path("/approvals?box=others"))
	p.follow(func() { p.key(input.KeyA) })
	p.sees("Approved.")
}
