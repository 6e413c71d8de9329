package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// TestPostsAreMovedTogetherFromTheList ticks two posts, moves them by two days and
// takes that back; the bar does the same on a phone.
func TestPostsAreMovedTogetherFromTheList(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	one, two := a.plan(t, "The first of two", 50*time.Hour), a.plan(t, "The second of two", 75*time.Hour)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts"))
	p.press("box", "Choose The first of two")
	p.press("box", "Choose The second of two")
	p.unfold(".posts-move")
	p.fill("By", "2")
	p.judge(axeSource(t))
	p.goes("button", "Move by that")
	p.sees("2 posts moved.")
	if got, want := a.due(t, one), one.Targets[0].LocalAt.AddDate(0, 0, 2); !got.Equal(want) {
		t.Errorf("the first is planned for %s, want %s", got, want)
	}
	p.press("button", "Undo")
	p.sees("2 posts moved back.")
	if got := a.due(t, two); !got.Equal(*two.Targets[0].LocalAt) {
		t.Errorf("the second is planned for %s", got)
	}
	p.visit(a.path(fmt.Sprintf("/calendar?view=day&client=%d&date=%s", a.client(t, "museum"), a.due(t, one).Format(time.DateOnly))))
	if _, err := p.Eval(`() => document.querySelector("[data-card]").focus()`); err != nil {
		t.Fatal(err)
	}
	p.key(input.KeyX)
	p.sees("One post chosen")
	p.goes("button", "Act on them in the list")
	p.sees("One chosen post", "The first of two")

	phone := a.member(t, browser.Narrow, a.anna())
	phone.visit(a.path("/posts"))
	phone.press("box", "Choose The second of two")
	phone.unfold(".posts-cancel")
	phone.fits()
	phone.goes("button", "Cancel the chosen posts")
	phone.sees("One post is cancelled.")
}

// TestAClientIsChosenForEveryList switches by the menu and finds the others filtered.
func TestAClientIsChosenForEveryList(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.write(t, "Bread of today", a.account(t, "bakery", network.Mastodon))
	a.write(t, "A coast at dusk", a.account(t, "museum", network.Mastodon))
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts"))
	p.sees("Bread of today", "A coast at dusk")
	p.judge(axeSource(t))
	p.unfold(".whose")
	p.goes("button", "Museum")
	p.sees("A coast at dusk")
	p.misses("Bread of today")
	p.goes("link", "Accounts")
	p.says(".account-clients", "Museum")
	p.misses("Bakery screens")
	phone := a.member(t, browser.Narrow, a.anna())
	phone.visit(a.path("/approvals"))
	phone.says(".whose-name", "Museum")
	phone.unfold(".whose")
	phone.fits()
	phone.goes("button", "All clients")
	phone.visit(a.path("/posts"))
	phone.sees("Bread of today", "A coast at dusk")
}
