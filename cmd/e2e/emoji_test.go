package e2e

import (
	"testing"

	"github.com/go-rod/rod/lib/input"

	"herald/cmd/internal/browser"
)

func TestAnEmojiIsFoundByWordAndGoesToTheCaret(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts/new"))
	p.fill("Text", "Good morning")
	p.caret("text", len("Good"))
	p.press("button", "Emoji")
	p.find("button", "grinning face")
	p.judge(axeSource(t))
	p.fill("Search emoji by word", "birthday ca")
	p.until("others to be gone", func() bool { return p.look("button", "grinning face") == nil })
	p.key(input.ArrowDown)
	p.key(input.Enter)
	p.until("the cake at the caret", func() bool { return p.value("Text") == "Good🎂 morning" })

	p.press("button", "Emoji")
	p.sees("Used last")
	p.chooses("Skin tone", "Dark")
	p.fill("Search emoji by word", "wave goodbye that nobody knows")
	p.sees("No emoji has such a name.")
	p.fill("Search emoji by word", "waving")
	p.press("button", "waving hand")
	p.until("the hand behind the cake", func() bool { return p.value("Text") == "Good🎂👋🏿 morning" })
}

func TestAnEmojiIsTappedOnAPhone(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Phone, a.anna())
	p.visit(a.path("/posts/new"))
	p.press("box", "Mastodon @museum@social.example")
	p.press("button", "Customise for Mastodon")
	p.until("a text of its own", func() bool { return p.look("field", "Text for Mastodon") != nil })
	p.fill("Text for Mastodon", "Good morning")
	p.press("button", "Emoji for Mastodon")
	p.fits()
	p.press("button", "grinning face")
	p.until("the face in the network's own text", func() bool { return p.value("Text for Mastodon") == "Good morning😀" })
	if got := p.value("Text"); got != "" {
		t.Errorf("the shared text says %q", got)
	}
}
