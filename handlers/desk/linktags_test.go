package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
)

func TestLinksAreTaggedWhenTheVersionIsMade(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner, scope := b.as(t, b.agency.Owner), b.agency.Owner
	path := fmt.Sprintf("/w/north/settings/clients/%d", b.acme)
	rule := func(change ...string) url.Values {
		form := url.Values{"seen": {"0"}, "source": {"{network}"}, "medium": {"social"}, "campaign": {"{campaign}"}, "hosts": {"https://www.acme.example.com/x bread.example.com"}}
		for i := 0; i < len(change); i += 2 {
			form.Set(change[i], change[i+1])
		}
		return form
	}
	wantPage(t, owner("POST", path+"/link-tags", rule("source", "{netwrok}")), 422, "{netwrok} stands for nothing")
	wantPage(t, owner("POST", path+"/link-tags", rule("hosts", "nowhere")), 422, "“nowhere” is no website", ">\nnowhere</textarea>")
	wantPage(t, owner("POST", path+"/link-tags", rule()), 303)
	wantPage(t, owner("POST", path+"/link-tags", rule("medium", "late")), 409, "Somebody changed this rule")
	wantPage(t, owner("GET", path, nil), 200, "https://acme.example.com/?utm_source=facebook&amp;utm_medium=social&amp;utm_campaign=spring-sale")

	campaign := b.label(t, db.Label{Kind: db.Campaign, Name: "Fresh Bread!"})
	form := db.PostForm{Content: model.Content{Text: "See https://bread.example.com/a?b=c#d and https://other.example.org/", Link: "https://acme.example.com/", Accounts: []model.AccountID{b.mastodon}}, Labels: []model.LabelID{campaign}}
	page, err := scope.SavePost(t.Context(), 0, form)
	if err != nil {
		t.Fatal(err)
	}
	const tags = "utm_source=mastodon&utm_medium=social&utm_campaign=fresh-bread"
	sent := page.Version.Content.For(string(network.Mastodon), b.mastodon)
	if sent.Text != "See https://bread.example.com/a?b=c&"+tags+"#d and https://other.example.org/" || sent.Link != "https://acme.example.com/?"+tags {
		t.Errorf("what goes out: %+v", sent)
	}
	if page.Version.Content.Text != form.Content.Text {
		t.Errorf("what was written became %q", page.Version.Content.Text)
	}
	if page.Version.Content.Hash() == page.Version.Content.Untagged().Hash() {
		t.Error("the tags are not in the hash")
	}
	post := fmt.Sprintf("/w/north/posts/%d", page.Post.ID)
	editor := owner("GET", post, nil)
	wantPage(t, editor, 200, "See https://bread.example.com/a?b=c#d and https://other.example.org/</textarea>", "2 links are tagged", "b=c&amp;"+strings.ReplaceAll(tags, "&", "&amp;")+"#d")

	if page, err = scope.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision}); err != nil {
		t.Fatal(err)
	}
	hash := page.Version.Content.Hash()
	wantPage(t, owner("POST", path+"/link-tags", rule("seen", "1", "medium", "other")), 303)
	form.Seen, form.Notes = page.Post.Revision, "only a note"
	if page, err = scope.SavePost(t.Context(), page.Post.ID, form); err != nil || page.Version.Content.Hash() != hash || page.Post.ApprovedVersionID == nil {
		t.Errorf("a note under a new rule: version %d, approved %v, %v", page.Version.Number, page.Post.ApprovedVersionID, err)
	}
	form.Seen, form.Content.Text = page.Post.Revision, "Other words https://bread.example.com"
	if page, err = scope.SavePost(t.Context(), page.Post.ID, form); err != nil || !strings.Contains(page.Version.Content.For("mastodon", b.mastodon).Text, "https://bread.example.com?utm_source=mastodon&utm_medium=other") {
		t.Errorf("new words have the old rule: %+v, %v", page.Version.Content.Tagged, err)
	}
	// Typed into another post, nothing of it is doubled.
	from := owner("GET", fmt.Sprintf("/w/north/posts/new?from=%d", page.Post.ID), nil)
	wantPage(t, from, 200, "Other words https://bread.example.com</textarea>")
}

func TestAPostLeavesItsLinksWithoutTags(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner, scope := b.as(t, b.agency.Owner), b.agency.Owner
	if err := scope.SetLinkTags(t.Context(), db.LinkTags{ClientID: b.acme, Source: "herald", Everywhere: true}); err != nil {
		t.Fatal(err)
	}
	const box = `id="plain" name="plain" value="true"`
	form := url.Values{"text": {"See https://bread.example.com/"}, "account": {fmt.Sprint(b.mastodon)}, "key": {web.FormKey()}}
	wantPage(t, owner("POST", "/w/north/posts/check", form), 200, "utm_source=herald", box)
	form.Set("plain", "true")
	plain := owner("POST", "/w/north/posts/check", form)
	wantPage(t, plain, 200, box+" checked")
	if strings.Contains(plain.Body.String(), "utm_source") {
		t.Error("links are tagged all the same")
	}
	form.Set("do", "refresh")
	wantPage(t, owner("POST", "/w/north/posts/form", form), 200, box+" checked")

	page, err := scope.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: form.Get("text"), Accounts: []model.AccountID{b.mastodon}, Plain: true}})
	if err != nil {
		t.Fatal(err)
	}
	c := page.Version.Content
	if got := c.For("mastodon", b.mastodon).Text; got != form.Get("text") {
		t.Errorf("sent %q", got)
	}
	tagged := c
	if tagged.Plain = false; tagged.Hash() == c.Hash() {
		t.Error("the choice is not in the hash")
	}
	wantPage(t, owner("GET", fmt.Sprintf("/w/north/posts/%d", page.Post.ID), nil), 200, box+" checked")
}

func TestACampaignOfOneClientIsNotInTheLinksOfAnother(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	scope := b.agency.Owner
	for _, client := range []model.ClientID{b.acme, b.york} {
		if err := scope.SetLinkTags(t.Context(), db.LinkTags{ClientID: client, Source: "herald", Campaign: "{campaign}", Everywhere: true}); err != nil {
			t.Fatal(err)
		}
	}
	other := b.agency.Account(t, b.york, network.Telegram)
	secret := b.label(t, db.Label{Kind: db.Campaign, Name: "Secret sale", ClientID: b.acme})
	form := db.PostForm{Content: model.Content{Text: "https://bread.example.com/", Accounts: []model.AccountID{b.mastodon, other}}, Labels: []model.LabelID{secret}}
	checked, err := scope.CheckPost(t.Context(), 0, form, model.When{})
	if err != nil {
		t.Fatal(err)
	}
	if got := checked.Content.For("mastodon", b.mastodon).Text; got != "https://bread.example.com/?utm_source=herald&utm_campaign=secret-sale" {
		t.Errorf("the campaign's own client gets %q", got)
	}
	if got := checked.Content.For("telegram", other).Text; got != "https://bread.example.com/?utm_source=herald" {
		t.Errorf("the other client gets %q", got)
	}
}

func TestTagsAreCountedAndShorteningLeavesThemWhole(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	scope := b.agency.Owner
	if err := scope.SetLinkTags(t.Context(), db.LinkTags{ClientID: b.acme, Source: strings.Repeat("x", 100), Everywhere: true}); err != nil {
		t.Fatal(err)
	}
	hook := b.agency.Account(t, b.acme, network.Telegram)
	text := "https://acme.example.com/ " + strings.Repeat("word ", 800)
	form := db.PostForm{Content: model.Content{Text: text, Accounts: []model.AccountID{hook}}}
	checked, err := scope.CheckPost(t.Context(), 0, form, model.When{})
	if err != nil {
		t.Fatal(err)
	}
	target := checked.Targets[0]
	if n := target.Network; n.Length(target.Draft) < len(text)+100 {
		t.Errorf("%d characters were counted, %d written", n.Length(target.Draft), len(text))
	}
	form.Fit = true
	page, err := scope.SavePost(t.Context(), 0, form)
	if err != nil {
		t.Fatal(err)
	}
	c := page.Version.Content
	sent, written := c.For("telegram", hook).Text, c.Written("telegram", hook).Text
	if target.Network.Count(sent) > target.Network.Text.Max || !strings.HasPrefix(sent, "https://acme.example.com/?utm_source=xxx") || !strings.HasPrefix(written, "https://acme.example.com/ word") {
		t.Errorf("sent %.60q (%d), written %.40q", sent, target.Network.Count(sent), written)
	}
}
