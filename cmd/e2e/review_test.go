package e2e

import (
	"fmt"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

const internalWords = "The owner is stingy, keep it short"

// TestAClientAsksForChangesAndNeverSeesWhatIsInternal talks in both directions.
func TestAClientAsksForChangesAndNeverSeesWhatIsInternal(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.submitted(t, "Buns at noon", a.account(t, "bakery", network.Mastodon))
	desk := a.member(t, browser.Desktop, a.anna())
	desk.visit(a.path("/approvals?box=others"))
	desk.say(internalWords, "Only your team")
	desk.say("Is noon right?", "Bakery as well")

	client := open(t, browser.Phone)
	client.visit(a.link(t, 0))
	client.sees("Buns at noon", "Is noon right?")
	client.hides(internalWords)
	client.press("button", "Ask for changes or reject")
	client.refuses(invalid, stale)
	client.goes("button", "Request changes")
	client.sees("what should change")
	client.fill("What should change?", "Noon is too early, we open at one")
	client.goes("button", "Request changes")
	client.sees("You asked for changes: “Noon is too early, we open at one”")
	client.press("button", "Write a comment")
	client.fill("Comment", "And say which buns")
	client.goes("button", "Send comment")
	client.sees("And say which buns")
	client.hides(internalWords)
	client.fits()

	desk.visit(a.path("/approvals?box=changes"))
	desk.sees("Noon is too early, we open at one", "And say which buns", internalWords)
	desk.visit(a.path(fmt.Sprintf("/posts/%d", page.Post.ID)))
	desk.sees("Changes requested", "Noon is too early, we open at one")
}

// say adds a comment to the request on the page.
func (p *tab) say(words, reader string) {
	p.t.Helper()
	p.press("button", "Comment")
	p.fill("Comment", words)
	p.press("box", reader)
	p.goes("button", "Add comment")
	p.sees(words)
}

// hides fails the test if the page holds the words anywhere, seen or not.
func (p *tab) hides(words string) {
	p.t.Helper()
	all, err := p.HTML()
	if err != nil {
		p.t.Fatal(err)
	}
	if containsFolded(all, words) {
		p.t.Errorf("%s holds %q", p.address(), words)
	}
}

// TestAnEditAfterTheClientWasAskedIsAskedAgain walks through everything that can
// be out of date: an open page, an old link, an approval.
func TestAnEditAfterTheClientWasAskedIsAskedAgain(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.submitted(t, "Cake for everyone", a.account(t, "bakery", network.Mastodon))
	post := a.path(fmt.Sprintf("/posts/%d", page.Post.ID))
	client := open(t, browser.Phone)
	first := a.link(t, 0)
	client.visit(first)
	client.sees("Cake for everyone")

	desk := a.member(t, browser.Desktop, a.anna())
	desk.visit(post)
	desk.sees("Changing anything that is sent takes the request back")
	desk.fill("Text", "Cake for the first hundred")
	desk.goes("button", "Save")

	client.refuses(stale)
	client.goes("button", "Approve") // of a page that shows the old words
	client.sees("changed this post after asking you")
	client.visit(first)
	client.sees("This was changed after you were asked")
	desk.visit(post)
	desk.goes("button", "Submit for approval")
	desk.sees("Sent for approval by Bakery.")

	client.visit(a.link(t, 1))
	client.sees("Cake for the first hundred", "What changed since you were last asked")
	client.goes("button", "Approve")
	client.sees("You approved this.")
	desk.visit(post)
	desk.sees("This version is approved. Changing anything that is sent takes the approval back")
	desk.fill("Text", "Cake for the first ninety")
	desk.goes("button", "Save")
	desk.misses("This version is approved.")
	desk.press("button", "More ways")
	desk.goes("button", "Publish now")
	desk.sees("Nothing is published before; come back and publish it once it is approved.")
	if n := len(a.posts("bakery", network.Mastodon)); n != 0 {
		t.Errorf("%d posts of words that nobody approved", n)
	}
}

func TestALinkThatWasTakenBackExplainsItself(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.submitted(t, "Pretzels", a.account(t, "bakery", network.Mastodon))
	link := a.link(t, 0)
	desk := a.member(t, browser.Desktop, a.anna())
	desk.visit(a.path("/approvals?box=others"))
	desk.press("button", "Links sent: 1")
	desk.goes("button", "Take back")
	client := open(t, browser.Narrow)
	client.refuses(403, 404, 410)
	client.visit(link)
	client.sees("This link no longer works")
	client.misses("Pretzels")
	client.fits()
	client.goes("button", "Send me a fresh link")
	client.visit(a.link(t, 1))
	client.sees("Pretzels")
}
