package e2e

import (
	"fmt"
	"testing"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// rewritten saves a post anew with other words.
func (a *agency) rewritten(t *testing.T, page db.PostPage, text string) db.PostPage {
	t.Helper()
	content := page.Version.Content
	content.Text = text
	var named []model.ClientID
	for _, target := range page.Targets {
		named = append(named, target.ClientID)
	}
	page, err := a.owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content, Named: named})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestTwoVersionsAreChosenInTheHistoryAndCompared(t *testing.T) {
	t.Parallel()
	source := axeSource(t)
	a := newAgency(t)
	page := a.write(t, "Open from nine", a.account(t, "museum", network.Mastodon))
	page = a.rewritten(t, page, "Open from ten")
	page = a.rewritten(t, page, "Open until noon")
	for name, look := range map[string]browser.Look{"at a desk": browser.Desktop, "on a phone": browser.Phone, "without script": {Width: browser.Desktop.Width, Height: browser.Desktop.Height, NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			p := a.member(t, look, a.anna())
			p.visit(a.path(fmt.Sprintf("/posts/%d", page.Post.ID)))
			p.unfold("#versions > summary")
			p.set("with", "1")
			p.goes("button", "Compare")
			p.sees("Version 3 against version 1", "What is different", "Open fromuntil ninenoon")
			if look.NoScript {
				return
			}
			p.fits()
			p.judge(source)
			p.set("with", "2")
			p.goes("button", "Compare")
			p.sees("Version 3 against version 2", "Only in version 2")
		})
	}
}
