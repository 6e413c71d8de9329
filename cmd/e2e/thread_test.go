package e2e

import (
	"fmt"
	"strings"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/model"
	"herald/db/network"
)

// wantThread checks what is stored of a post that is a thread on Mastodon alone.
func (a *agency) wantThread(t *testing.T, id model.PostID, shared string, account model.AccountID, pieces ...string) {
	t.Helper()
	page, err := a.owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	c := page.Version.Content
	if c.Text != shared {
		t.Errorf("the shared text became %q", c.Text)
	}
	own := c.Variants["mastodon"]
	if want := strings.Join(pieces, "\n---\n"); own.Text == nil || *own.Text != want {
		t.Errorf("the thread is kept as %v, want %q", own, want)
	}
	if got := c.Options[account]; got["thread"] != "true" || got["spoiler_text"] != "Bread inside" || got["visibility"] != "unlisted" {
		t.Errorf("the options are %v", got)
	}
}

// optioned waits until the options of the museum's account stand on the page.
func (p *tab) optioned(account model.AccountID) {
	p.t.Helper()
	p.until("the options", func() bool {
		got, err := p.Eval(`(a) => ["spoiler_text", "visibility"].map((k) => document.getElementById("option-" + a + "-" + k)?.value).join() + "," + document.getElementById("option-" + a + "-thread")?.checked`, int64(account))
		return err == nil && got.Value.Str() == "Bread inside,unlisted,true"
	})
}

// TestAThreadIsWrittenPostByPost: after a post of it was moved, Save keeps the
// thread's own words and the network's options, and so does the working copy.
func TestAThreadIsWrittenPostByPost(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	account := a.account(t, "museum", network.Mastodon)
	page := a.write(t, "Shared words", account, a.account(t, "museum", network.Facebook))
	post := a.path(fmt.Sprintf("/posts/%d", page.Post.ID))
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(post)
	p.press("box", "Mastodon")
	p.press("button", "Write as a thread")
	p.inOrder(".pieces", "Shared words", "")
	p.fill("Post 1", "Flour")
	p.fill("Post 2", "Water")
	p.press("button", "Add a post")
	p.until("the focus in the new post", func() bool {
		at, err := p.Eval(`() => document.activeElement?.id`)
		return err == nil && at.Value.Str() == "piece-mastodon-2"
	})
	p.fill("Post 3", "Salt and 👨‍👩‍👧‍👦")
	p.unfold(fmt.Sprintf("#options-%d:not([open]) > summary, #options-%d[open] .options-fields", account, account))
	p.fill("Content warning", "Bread inside")
	p.set("Who sees it", "unlisted")
	p.says("#count-mastodon-2", "22 / of 500") // ten characters as the eye sees them, and the warning
	p.still()
	p.press("button", "Move Post 3 up")
	p.inOrder(".pieces", "Flour", "Salt and 👨‍👩‍👧‍👦", "Water")
	p.says("#composer-moved", "Post 3 is number 2 of 3 now.")
	p.optioned(account)
	p.sees("Kept for you.")
	p.visit(post)
	p.sees("Here is what you typed and did not save")
	p.inOrder(".pieces", "Flour", "Salt and 👨‍👩‍👧‍👦", "Water")
	p.optioned(account)
	p.judge(axeSource(t))
	p.goes("button", "Save")
	p.sees("Saved.")
	a.wantThread(t, page.Post.ID, "Shared words", account, "Flour", "Salt and 👨‍👩‍👧‍👦", "Water")
	p.visit(post)
	p.inOrder(".pieces", "Flour", "Salt and 👨‍👩‍👧‍👦", "Water")
	p.optioned(account)

	p.haul(".pieces > :nth-child(1) .order-grip", ".pieces > :nth-child(2)")
	p.inOrder(".pieces", "Salt and 👨‍👩‍👧‍👦", "Flour", "Water")
	p.says("#composer-moved", "Post 1 is number 2 of 3 now.")
	p.still()
	p.goes("button", "Save")
	p.sees("Saved.")
	a.wantThread(t, page.Post.ID, "Shared words", account, "Salt and 👨‍👩‍👧‍👦", "Flour", "Water")
}

// TestAThreadIsSplitWhereTheCursorIs on a phone, and put in order by finger; what is
// typed is counted and shown.
// A slow line answers while somebody writes on: the words stay with their post, wherever
// that stands by then, and so does the caret.
func TestWhatIsWrittenWhileAPostMovesStaysWithIt(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.write(t, "A loaf", a.account(t, "museum", network.Mastodon))
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/posts/%d", page.Post.ID)))
	p.press("button", "Write as a thread")
	p.fill("Post 2", "A roll")
	p.still()
	gate := here.front.gated(t, a.path("/posts/form"), 0)
	p.press("button", "Move Post 2 up")
	p.press("field", "Post 2")
	p.types(" of rye")
	close(gate.open)
	p.inOrder(".pieces", "A roll of rye", "A loaf")
	p.types(", and more")
	p.inOrder(".pieces", "A roll of rye, and more", "A loaf")
	p.says(".look-thread", "A roll of rye, and more")
}

func TestAThreadIsSplitWhereTheCursorIs(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	page := a.write(t, "One family 👨‍👩‍👧‍👦 bakes", a.account(t, "museum", network.Mastodon))
	p := a.member(t, browser.Phone, a.anna())
	p.visit(a.path(fmt.Sprintf("/posts/%d", page.Post.ID)))
	p.press("button", "Write as a thread")
	p.inOrder(".pieces", "One family 👨‍👩‍👧‍👦 bakes", "")
	// Within the family, which no person can reach: it stays together.
	if _, err := p.find("field", "Post 1").Eval(`() => { this.focus(); this.setSelectionRange(14, 14) }`); err != nil {
		t.Fatal(err)
	}
	p.press("button", "Split here")
	p.inOrder(".pieces", "One family", "👨‍👩‍👧‍👦 bakes", "")
	p.presses(".pieces > :nth-child(2) .order-grip", ".pieces > :nth-child(1)")
	p.inOrder(".pieces", "👨‍👩‍👧‍👦 bakes", "One family", "")
	p.still()
	p.fill("Post 3", strings.Repeat("A loaf a day. ", 50))
	p.says("#count-mastodon-2", "699 / of 500")
	p.says(".look-thread", "One family")
}
