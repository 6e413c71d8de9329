package e2e

import (
	"strings"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// TestEverythingGoesWithoutScript is the main story in browsers that run no
// script: forms, links and folds are enough for it.
func TestEverythingGoesWithoutScript(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	look := browser.Desktop
	look.NoScript = true
	p := open(t, look)
	p.visit("/signin")
	p.fill("E-mail address", a.anna())
	p.fill("Password", password)
	p.goes("button", "Sign in")
	p.goes("link", "Create post")
	p.press("box", "Mastodon @bakery@social.example")
	p.press("box", "Instagram bakery.insta")
	p.goes("button", "Update for the chosen accounts")
	p.fill("Text", storyText)
	p.upload("#file", photo(t, "rye.jpg"))
	p.goes("button", "Upload")
	p.sees("rye.jpg")
	p.fill("Alt text", storyAlt)
	p.says("#composer-networks", "Mastodon") // its tab, not the account
	p.press("box", "Mastodon")
	p.goes("button", "Customise for Mastodon")
	p.fill("Text for Mastodon", storyToot)
	p.goes("button", "Check again")
	p.sees("Every network would take this.")
	p.goes("button", "Save")
	p.sees("Saved.")
	p.goes("button", "Submit for approval")
	p.sees("Sent for approval by Bakery.")
	post := p.address()

	phone := browser.Phone
	phone.NoScript = true
	client := open(t, phone)
	client.visit(a.link(t, 0))
	client.sees(storyText, storyToot)
	client.goes("button", "Approve")
	client.sees("You approved this.")

	p.visit(post)
	p.press("button", "More ways")
	p.goes("button", "Publish now")
	p.sees("On its way to 2 accounts now.")
	a.once(t, "bakery", network.Instagram)
	if got := a.once(t, "bakery", network.Mastodon).Text; got != storyToot {
		t.Errorf("Mastodon shows %q", got)
	}
	p.until("the page to say so", func() bool {
		p.visit(post)
		return strings.Count(p.text(), "See it live") == 2
	})
}
