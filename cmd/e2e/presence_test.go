package e2e

import (
	"fmt"
	"strings"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// TestTwoWhoWriteOnePostSeeEachOther opens one post in two browsers; what a page hears
// by itself is never a notice.
func TestTwoWhoWriteOnePostSeeEachOther(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	a, b := newAgency(t), newAgency(t)
	page := a.write(t, "Open from nine", a.account(t, "museum", network.Mastodon))
	other := a.write(t, "Another post", a.account(t, "museum", network.Mastodon))
	post := a.path(fmt.Sprintf("/posts/%d", page.Post.ID))
	first := a.member(t, browser.Desktop, a.anna())
	first.visit(post)
	second := a.member(t, browser.Phone, a.ben())
	second.visit(post)
	first.says("post-presence", "is editing this post, too.")
	second.says("post-presence", "Anna Berger (since ")
	second.fits()
	second.judge(source)

	third := b.member(t, browser.Desktop, b.anna())
	third.visit(b.path("/calendar"))
	fourth := a.member(t, browser.Desktop, a.ben())
	fourth.visit(a.path(fmt.Sprintf("/posts/%d", other.Post.ID)))
	for _, p := range []*tab{third, fourth} {
		if strings.Contains(p.text(), "is editing this post") {
			t.Errorf("%s says who edits another post", p.address())
		}
	}

	first.signedOut()
	if _, err := first.Eval(`() => { const here = document.querySelector("post-presence"), next = here.cloneNode(); here.replaceWith(next) }`); err != nil {
		t.Fatal(err) // it listens anew, as after a lost line
	}
	first.until("silence", func() bool {
		said, err := first.Eval(`() => document.querySelector("post-presence").textContent + document.querySelectorAll("notice-card").length`)
		return err == nil && said.Value.Str() == "0"
	})
}
