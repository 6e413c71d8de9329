package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"herald/cmd/internal/browser"
	"herald/db/model"
	"herald/db/network"
)

// threaded is a post of the museum that goes to Mastodon as a thread.
func (a *agency) threaded(t *testing.T, pieces ...string) model.PostID {
	t.Helper()
	account, text := a.account(t, "museum", network.Mastodon), strings.Join(pieces, "\n---\n")
	page := a.write(t, "Shared words", account)
	form := page.Version.Content
	form.Variants = map[string]model.Variant{"mastodon": {Text: &text}}
	form.Options = map[model.AccountID]map[string]string{account: {network.OptThread: "true"}}
	return a.rewrite(t, page, form).Post.ID
}

// TestALongTextIsSplitAndPutTogether: no word is lost, and each is taken back by Undo,
// also after somebody wrote on.
func TestALongTextIsSplitAndPutTogether(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]browser.Look{"desktop": browser.Desktop, "phone": browser.Phone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			first, second := strings.TrimSpace(strings.Repeat("A loaf a day. ", 30)), strings.TrimSpace(strings.Repeat("And salt with it. ", 20))
			page := a.write(t, first+"\n\n"+second, a.account(t, "museum", network.Mastodon))
			p := a.member(t, look, a.anna())
			p.visit(a.path(fmt.Sprintf("/posts/%d", page.Post.ID)))
			p.press("button", "Split into a thread")
			p.inOrder(".pieces", first, second)
			p.sees("What was too long is split: there are 2 posts now.")
			p.fill("Post 2", "Written since")
			p.still()
			p.press("button", "Undo")
			p.sees("The words are as they were before.", "Mastodon gets the shared text.")
			p.press("button", "Undo")
			p.inOrder(".pieces", first, "Written since")
			p.press("button", "One post instead")
			p.until("one text", func() bool { return p.look("field", "Text for Mastodon") != nil })
			if got := strings.ReplaceAll(p.value("Text for Mastodon"), "\r", ""); got != first+"\n\nWritten since" {
				t.Errorf("put together: %q", got)
			}
			p.says("#composer-moved", "The posts are one now.")
			p.press("button", "Undo")
			p.inOrder(".pieces", first, "Written since")
			p.press("button", "Split what is too long")
			p.sees("Each post fits: nothing was split.")
			p.fits()
			p.judge(axeSource(t))
			p.still()
			p.goes("button", "Save")
			p.sees("Saved.")
			p.inOrder(".pieces", first, "Written since")
			if text := a.tootOf(t, page.Post.ID); text != first+"\n---\nWritten since" {
				t.Errorf("stored: %q", text)
			}
		})
	}
}

// TestEmojiAndSnippetsGoIntoThePostOfAThreadBesideThem, where its caret was, by keys
// and by finger.
func TestEmojiAndSnippetsGoIntoThePostOfAThreadBesideThem(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]browser.Look{"desktop": browser.Desktop, "phone": browser.Phone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgency(t)
			a.worded(t)
			id := a.threaded(t, "Good morning", "Good evening", "Good night")
			p := a.member(t, look, a.anna())
			p.visit(a.path(fmt.Sprintf("/posts/%d", id)))
			p.caret("piece-mastodon-1", len("Good"))
			p.press("button", "Emoji for Post 2")
			p.find("button", "grinning face")
			p.judge(axeSource(t))
			p.fits()
			if look.Touch {
				p.press("button", "grinning face")
			} else {
				p.fill("Search emoji by word", "grinning face")
				p.key(input.Enter)
			}
			p.inOrder(".pieces", "Good morning", "Good😀 evening", "Good night")
			p.until("the caret behind it", func() bool {
				at, err := p.Eval(`() => document.activeElement.id + document.activeElement.selectionStart`)
				return err == nil && at.Value.Str() == "piece-mastodon-16"
			})
			// The box that was used last is another one: what stands beside a box goes into it.
			p.press("button", "Hashtags and snippets for Post 3")
			p.press("button", "Museum tags")
			p.inOrder(".pieces", "Good morning", "Good😀 evening", "Good night #museum #mammoth")
			p.says("#count-mastodon-2", "27 / of 500")
			p.says(".look-thread", "#mammoth")
			p.still()
			p.goes("button", "Save")
			p.inOrder(".pieces", "Good morning", "Good😀 evening", "Good night #museum #mammoth")
		})
	}
}

// tootOf is what Mastodon gets of a post.
func (a *agency) tootOf(t *testing.T, id model.PostID) string {
	t.Helper()
	page, err := a.owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	text := page.Version.Content.Variants["mastodon"].Text
	if text == nil {
		return ""
	}
	return *text
}
