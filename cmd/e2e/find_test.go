package e2e

import (
	"testing"

	"github.com/go-rod/rod/lib/input"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// chord presses a key while Control is down.
func (p *tab) chord(key input.Key) {
	p.t.Helper()
	if err := p.KeyActions().Press(input.ControlLeft).Type(key).Release(input.ControlLeft).Do(); err != nil {
		p.t.Fatal(err)
	}
}

func TestKeysLeadAnywhere(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.write(t, "A coast at dusk", a.account(t, "museum", network.Facebook))
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/calendar"))
	p.follow(func() { p.key(input.KeyW) })
	p.says(".tab[aria-current]", "Week")
	p.key(input.Slash)
	p.until("the focus in the search", func() bool {
		at, err := p.Eval(`() => document.activeElement.getAttribute("name")`)
		return err == nil && at.Value.Str() == "q"
	})
	p.key(input.KeyD) // a letter where somebody types
	p.says(".tab[aria-current]", "Week")
	p.chord(input.KeyK)
	p.says("dialog[open] .find", "Calendar by day")
	p.says("dialog[open] .find", "save the post")
	if err := p.InsertText("coast"); err != nil {
		t.Fatal(err)
	}
	p.says("dialog[open] .find", "A coast at dusk")
	p.follow(func() { p.key(input.Enter) })
	p.says("h1", "A coast at dusk")
	p.fill("Text", "A coast at dawn")
	p.follow(func() { p.chord(input.KeyS) })
	p.sees("Saved")
	p.visit(a.path("/calendar"))
	p.key(input.KeyN)
	p.opened(true)
	p.says("#compose-sheet-title", "New post")
}

func TestSingleKeysCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/find"))
	p.press("button", "Single keys are on")
	p.find("button", "Single keys are off")
	p.visit(a.path("/accounts"))
	p.key(input.KeyN)
	p.chord(input.KeyK)
	p.says("dialog[open] .find", "Create post")
	p.says("h1", "Accounts")
}
