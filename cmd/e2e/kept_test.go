package e2e

import (
	"fmt"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// signedOut ends the session in the window, as time or another tab would.
func (p *tab) signedOut() {
	p.t.Helper()
	if err := p.SetCookies(nil); err != nil {
		p.t.Fatal(err)
	}
}

// holds wants a field to hold exactly the text.
func (p *tab) holds(field, text string) {
	p.t.Helper()
	if got := p.value(field); got != text {
		p.t.Errorf("%s holds %q, want %q", field, got, text)
	}
}

// answered does something and waits until the page has heard n answers.
func (p *tab) answered(n int, act func()) {
	p.t.Helper()
	if _, err := p.Eval(`() => { window.heard = 0; document.addEventListener("htmx:finally:request", () => window.heard++) }`); err != nil {
		p.t.Fatal(err)
	}
	act()
	p.until(fmt.Sprintf("%d answers", n), func() bool {
		heard, err := p.Eval(`() => window.heard`)
		return err == nil && heard.Value.Int() >= n
	})
}

// TestWordsOutliveTheSession lets sessions end under people who write: with script
// the page stays and says so, and what is sent all the same waits behind the sign-in.
func TestWordsOutliveTheSession(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	asked := a.submitted(t, "Buns at noon", a.account(t, "bakery", network.Mastodon))
	request, err := a.owner.PostApprovals(t.Context(), asked.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, noScript := range []bool{false, true} {
		look := browser.Phone
		look.NoScript = noScript
		p := a.member(t, look, a.anna())
		p.refuses(401)
		p.visit(a.path("/posts/new"))
		p.press("box", "Mastodon @museum@social.example")
		p.signedOut()
		text := fmt.Sprintf("Open on Sunday, %t", noScript)
		p.fill("Text", text)
		if !noScript {
			p.sees("You are signed out, so nothing was done")
			p.press("button", "Dismiss")
			text += "!"
			p.answered(2, func() { p.fill("Text", text) }) // the check, and what keeps the words
			p.misses("You are signed out, so nothing was done")
		}
		p.goes("button", "Save")
		p.sees("You were signed out meanwhile")
		p.holds("Text", text)
		p.fits()
		p.fill("E-mail address", a.anna())
		p.fill("Password", password)
		p.goes("button", "Sign in")
		p.sees("You are signed in again")
		p.holds("Text", text)
		p.fits()
		p.goes("button", "Send it")
		p.sees("Saved.")
		p.holds("Text", text)
		p.visit(a.path(fmt.Sprintf("/approvals/%d", request[0].ID)))
		p.press("button", "Comment")
		p.fill("Comment", "Ask them about noon "+text)
		p.signedOut()
		p.goes("button", "Add comment")
		p.fill("E-mail address", a.anna())
		p.fill("Password", password)
		p.goes("button", "Sign in")
		p.goes("button", "Send it")
		p.sees("Comment added.", "Ask them about noon "+text)
	}
}

// TestAClientsWordsOutliveTheLink takes the link back while somebody writes on a
// phone.
func TestAClientsWordsOutliveTheLink(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.submitted(t, "Buns at noon", a.account(t, "bakery", network.Mastodon))
	p := open(t, browser.Phone)
	p.refuses(410)
	p.visit(a.link(t, 0))
	p.press("button", "Ask for changes or reject")
	p.fill("What should change?", "Noon is too early, we open at one")
	requests, err := a.owner.PostApprovals(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	request, err := a.owner.Approval(t.Context(), requests[0].ID)
	if err != nil || len(request.Links) == 0 {
		t.Fatalf("no link to take back: %v", err)
	}
	if err := a.owner.RevokeLink(t.Context(), request.Links[0].ID); err != nil {
		t.Fatal(err)
	}
	p.goes("button", "Request changes")
	p.sees("This link no longer works", "it is not lost")
	p.fits()
	p.holds("Your words", "Noon is too early, we open at one")
	p.goes("button", "Send me a fresh link")
	p.sees("A fresh link is on its way", "What you wrote is still below")
	p.visit(a.link(t, 1))
	p.press("button", "Ask for changes or reject")
	p.fill("What should change?", "Noon is too early, we open at one")
	p.goes("button", "Request changes")
	p.sees("You asked for changes: “Noon is too early, we open at one”")
}
