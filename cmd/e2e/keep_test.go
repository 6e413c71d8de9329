package e2e

import (
	"fmt"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// TestWhatIsTypedOutlivesTheTab: nothing is asked when the page is left, and the post
// opens on what was typed.
func TestWhatIsTypedOutlivesTheTab(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.write(t, "Open from nine", a.account(t, "museum", network.Mastodon))
	post := a.path(fmt.Sprintf("/posts/%d", page.Post.ID))
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(post)
	p.fill("Text", "Open from ten")
	p.sees("Kept for you. Nobody else sees it until you save.")
	p.visit(a.path("/calendar"))
	p.visit(post)
	p.sees("Here is what you typed and did not save")
	if got := p.value("Text"); got != "Open from ten" {
		t.Errorf("the post opens on %q", got)
	}
	p.goes("button", "Discard it, show the post as it is saved")
	p.until("the post as it is saved", func() bool { return p.value("Text") == "Open from nine" })
	if now, err := a.owner.Post(t.Context(), page.Post.ID); err != nil || now.Version.Content.Text != "Open from nine" {
		t.Errorf("what is stored became %q, %v", now.Version.Content.Text, err)
	}
}
