package e2e

import (
	"testing"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
)

// worded keeps a hashtag group and a snippet of the museum, and a template for
// everybody, whose id it returns.
func (a *agency) worded(t *testing.T) model.WordingID {
	t.Helper()
	var id model.WordingID
	var err error
	for _, w := range []db.Wording{
		{ClientID: a.client(t, "museum"), Kind: db.Hashtags, Name: "Museum tags", Content: db.WordingContent{Text: "museum mammoth"}},
		{ClientID: a.client(t, "museum"), Kind: db.Snippet, Name: "Hours", Content: db.WordingContent{Text: "Open from nine to five."}},
		{Kind: db.Template, Name: "Weekly", Content: db.WordingContent{Text: "This week", FirstComment: "More inside"}},
	} {
		if id, err = a.owner.AddWording(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

// caret puts the caret of a field behind its first n characters.
func (p *tab) caret(field string, n int) {
	p.t.Helper()
	if _, err := p.Eval(`(id, n) => { const f = document.getElementById(id); f.focus(); f.setSelectionRange(n, n) }`, field, n); err != nil {
		p.t.Fatal(err)
	}
}

func TestHashtagsAndSnippetsGoToTheCaret(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]browser.Look{"desktop": browser.Desktop, "phone": browser.Phone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			a.worded(t)
			p := a.member(t, look, a.anna())
			p.visit(a.path("/posts/new"))
			p.press("button", "Hashtags and snippets")
			p.sees("What is kept for one client appears once an account of it is chosen.")
			p.misses("Museum tags")
			p.press("button", "Close")
			p.press("box", "Mastodon @museum@social.example")
			p.fill("Text", "Before after")
			p.caret("text", len("Before"))
			p.press("button", "Hashtags and snippets")
			p.press("button", "Museum tags")
			p.until("hashtags at the caret", func() bool { return p.value("Text") == "Before #museum #mammoth after" })
			p.says("#composer-check", "#museum")
			p.press("button", "Customise for Mastodon")
			p.until("a text of its own", func() bool { return p.look("field", "Text for Mastodon") != nil })
			p.fill("Text for Mastodon", "Toot")
			p.press("button", "Hashtags and snippets for Mastodon")
			p.press("button", "Hours")
			p.until("a snippet in the network's own text", func() bool { return p.value("Text for Mastodon") == "Toot Open from nine to five." })
			p.fill("First comment", "Also")
			p.press("button", "Hashtags and snippets")
			p.judge(axeSource(t))
			p.press("button", "Museum tags")
			p.until("hashtags in the comment that was written in last", func() bool { return p.value("First comment") == "Also #museum #mammoth" })
			p.fits()
		})
	}
}

func TestAPostBecomesATemplateAndATemplateAPost(t *testing.T) {
	t.Parallel()
	for name, quiet := range map[string]bool{"with script": false, "without script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			a.worded(t)
			look := browser.Desktop
			look.NoScript = quiet
			p := a.member(t, look, a.anna())
			p.visit(a.path("/posts/new"))
			p.fill("Text", "The object of the week")
			p.unfold("#keep-template > summary")
			p.fill("Name of the template", "Object")
			if quiet {
				p.goes("button", "Keep as template")
			} else {
				p.press("button", "Keep as template")
			}
			p.sees("“Object” is kept. The post itself is not saved yet.")
			if got := p.value("Text"); got != "The object of the week" {
				t.Errorf("what was typed became %q", got)
			}
			if !quiet {
				p.says("#composer-kept", "Kept for you.") // the browser asks nobody to stay
			}
			p.visit(a.path("/wordings"))
			p.goes("link", "Start a post with Object")
			if got := p.value("Text"); got != "The object of the week" {
				t.Errorf("the new post says %q", got)
			}
			p.fill("Text", "")
			if quiet {
				p.goes("button", "Hashtags and snippets")
				p.sees("Put it at the end of")
			} else {
				p.press("button", "Hashtags and snippets")
			}
			p.goes("button", "Weekly")
			if got := p.value("Text") + " / " + p.value("First comment"); got != "This week / More inside" {
				t.Errorf("the empty post was filled with %q", got)
			}
		})
	}
}
