package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db/network"
)

// tagged has one of the agency choose how links of a client are tagged.
func (a *agency) tagged(t *testing.T, p *tab, client string) {
	t.Helper()
	p.visit(a.path(fmt.Sprintf("/settings/clients/%d", a.client(t, client))))
	p.fill("Source", "{network}")
	p.fill("Medium", "social")
	p.fill("Websites whose links are tagged", "museum.example.com")
	p.goes("button", "Save link tags")
	p.sees("Saved. What is written from now on has these tags.", "https://museum.example.com/?utm_source=facebook&utm_medium=social")
}

func TestLinksGoOutWithTheirTagsUnlessAPostLeavesThemOut(t *testing.T) {
	t.Parallel()
	for name, quiet := range map[string]bool{"with script": false, "without script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			look := browser.Desktop
			look.NoScript = quiet
			p := a.member(t, look, a.anna())
			a.tagged(t, p, "museum")
			const written, sent = "https://museum.example.com/mammoth", "https://museum.example.com/mammoth?utm_source=mastodon&utm_medium=social"

			a.composeLink(t, p, quiet, written)
			p.sees(sent)
			if !quiet {
				p.judge(axeSource(t))
			}
			p.press("button", "More ways")
			p.goes("button", "Publish now")
			if got := a.once(t, "museum", network.Mastodon).Text; got != "See "+sent+"." {
				t.Errorf("Mastodon shows %q", got)
			}

			a.composeLink(t, p, quiet, written)
			p.press("box", "Send this post’s links without tags")
			if quiet {
				p.goes("button", "Check again")
			}
			p.until("no tags", func() bool { return !strings.Contains(p.text(), "One link is tagged") })
			p.goes("button", "Save")
			p.sees("Saved.")
			p.misses("One link is tagged")
			p.press("button", "More ways")
			p.goes("button", "Publish now")
			eventually(t, "the second post", func() bool { return len(a.posts("museum", network.Mastodon)) == 2 })
			var texts []string
			for _, post := range a.posts("museum", network.Mastodon) {
				texts = append(texts, post.Text)
			}
			if !slices.Contains(texts, "See "+written+".") {
				t.Errorf("Mastodon shows %q", texts)
			}
		})
	}
}

// composeLink writes a post with a link that a rule tags.
func (a *agency) composeLink(t *testing.T, p *tab, quiet bool, link string) {
	t.Helper()
	p.visit(a.path("/posts/new"))
	p.press("box", "Mastodon @museum@social.example")
	p.fill("Text", "See "+link+".")
	if quiet {
		p.goes("button", "Check again")
	}
	p.sees("One link is tagged")
}
