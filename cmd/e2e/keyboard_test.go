package e2e

import (
	"testing"

	"github.com/go-rod/rod/lib/input"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// reach presses Tab until the focus is on what is called name, where it has to
// be seen.
func (p *tab) reach(role, name string) {
	p.t.Helper()
	want := p.find(role, name)
	for range 150 {
		p.key(input.Tab)
		here, err := want.Eval(`() => document.activeElement === this && this.matches(":focus-visible")`)
		if err != nil {
			p.t.Fatal(err)
		}
		if here.Value.Bool() {
			return
		}
	}
	p.t.Fatalf("150 tabs never reach %s “%s”", role, name)
}

// types writes where the focus is.
func (p *tab) types(text string) {
	p.t.Helper()
	if err := p.InsertText(text); err != nil {
		p.t.Fatal(err)
	}
}

// TestAKeyboardIsEnough writes, saves, submits and approves a post without ever
// touching a mouse.
func TestAKeyboardIsEnough(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts/new"))
	p.reach("box", "Mastodon @bakery@social.example")
	p.key(input.Space)
	p.reach("field", "Text")
	p.types("Typed without a mouse")
	p.says("#composer-check", "Every network would take this.")
	p.reach("button", "Save")
	p.follow(func() { p.key(input.Enter) })
	p.sees("Saved.")
	p.reach("button", "Submit for approval")
	p.follow(func() { p.key(input.Enter) })
	p.sees("Sent for approval by Bakery.")

	client := open(t, browser.Desktop)
	client.visit(a.link(t, 0))
	client.reach("button", "Approve")
	client.follow(func() { client.key(input.Enter) })
	client.sees("You approved this.")

	p.visit(p.address())
	p.reach("button", "More ways")
	p.key(input.Enter)
	p.reach("button", "Publish now")
	p.follow(func() { p.key(input.Enter) })
	p.sees("On its way to one account now.")
	a.once(t, "bakery", network.Mastodon)
}
