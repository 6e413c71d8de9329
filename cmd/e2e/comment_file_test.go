package e2e

import (
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// TestFilesGoAlongWithComments: a member shows the client a picture, the client sends one
// back from a phone, and what is said inside stays inside.
func TestFilesGoAlongWithComments(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	a := newAgency(t)
	a.submitted(t, "Buns at noon", a.account(t, "bakery", network.Mastodon))
	desk := a.member(t, browser.Desktop, a.anna())
	desk.visit(a.path("/approvals?box=others"))
	for words, reader := range map[string]string{"Only between us": "Only your team", "Here is the logo": "Bakery as well"} {
		desk.press("button", "Comment")
		desk.fill("Comment", words)
		desk.upload("[name=file]", logo(t))
		desk.press("box", reader)
		desk.goes("button", "Add comment")
		desk.sees(words, "logo.png")
	}
	desk.judge(source)
	desk.fits()

	client := open(t, browser.Narrow)
	client.visit(a.link(t, 0))
	client.sees("Here is the logo", "logo.png")
	client.hides("Only between us")
	client.press("button", "Write a comment")
	client.fill("Comment", "And this is ours")
	client.upload("[name=file]", logo(t))
	client.judge(source)
	client.goes("button", "Send comment")
	client.sees("And this is ours")
	client.judge(source)
	client.fits()
}
