package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/model"
)

func (b *wall) wording(t *testing.T, w db.Wording) model.WordingID {
	t.Helper()
	id, err := b.agency.Owner.AddWording(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestWordingsAreKeptByWhoWritesForTheirClient(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	bread := func(change ...string) url.Values {
		form := url.Values{"kind": {"hashtags"}, "name": {" Fresh   bread "}, "text": {"bread, #Bakery  sourdough #BREAD"}}
		for i := 0; i < len(change); i += 2 {
			form.Set(change[i], change[i+1])
		}
		return form
	}
	wantPage(t, owner("POST", "/w/north/wordings", bread()), 303)
	wantPage(t, owner("GET", "/w/north/wordings", nil), 200, "Fresh bread", "#bread #Bakery #sourdough<", "For every client")
	for say, form := range map[string]url.Values{
		"There is one of that name":        bread("name", "fresh BREAD"),
		"at most 60 characters":            bread("name", strings.Repeat("x", 61)),
		"Give it a name":                   bread("name", " "),
		"Write at least one hashtag":       bread("name", "x", "text", " # \u200b,"),
		"Put a blank between hashtags":     bread("name", "x", "text", "#one#two"),
		"Keep to 100 hashtags":             bread("name", "x", "text", numbered(101)),
		"Write what it says":               bread("name", "x", "kind", "snippet", "text", "\n \u200b"),
		"Keep a snippet under 10000":       bread("name", "x", "kind", "snippet", "text", strings.Repeat("x", 10_001)),
		"A template has to say something":  bread("name", "x", "kind", "template", "text", ""),
		"Keep the texts of a template und": bread("name", "x", "kind", "template", "text", strings.Repeat("x", 100_001)),
	} {
		wantPage(t, owner("POST", "/w/north/wordings", form), 422, say)
	}
	wantPage(t, owner("POST", "/w/north/wordings", bread("kind", "mood")), 404)
	wantPage(t, owner("POST", "/w/north/wordings", bread("kind", "snippet")), 303)            // the same name for another kind
	wantPage(t, owner("POST", "/w/north/wordings", bread("client", fmt.Sprint(b.acme))), 303) // and for one client

	editor := b.as(t, b.member(t, model.Editor, b.york))
	wantPage(t, editor("POST", "/w/north/wordings", bread("name", "Mine")), 403, "owners and admins")
	wantPage(t, editor("POST", "/w/north/wordings", bread("client", fmt.Sprint(b.acme))), 404)
	hidden := b.wording(t, db.Wording{ClientID: b.acme, Kind: db.Snippet, Name: "Secret words", Content: db.WordingContent{Text: "psst"}})
	if w := editor("GET", "/w/north/wordings", nil); strings.Contains(w.Body.String(), "Secret words") || !strings.Contains(w.Body.String(), "Fresh bread") {
		t.Error("an editor sees another client's snippet, or none of the workspace's")
	}
	for _, path := range []string{"", "/removal"} {
		wantPage(t, editor("POST", fmt.Sprintf("/w/north/wordings/%d%s", hidden, path), url.Values{"name": {"x"}, "text": {"y"}, "seen": {"1"}}), 404)
	}
	viewer := b.as(t, b.member(t, model.Viewer, b.acme))
	wantPage(t, viewer("GET", "/w/north/wordings", nil), 403)
	path := fmt.Sprintf("/w/north/wordings/%d", hidden)
	wantPage(t, owner("POST", path, url.Values{"name": {"Open words"}, "text": {"hello"}, "seen": {"1"}}), 303)
	stale := owner("POST", path, url.Values{"name": {"Late words"}, "text": {"typed too late"}, "seen": {"1"}})
	wantPage(t, stale, 409, "Somebody changed", "typed too late")
	wantPage(t, owner("GET", path, nil), 200, "Open words", "hello")
	wantPage(t, owner("POST", path+"/removal", url.Values{}), 303)
	wantPage(t, owner("GET", path, nil), 404)
	wantPage(t, owner("GET", "/w/north/activity", nil), 200, "made the hashtag group", "changed the snippet", "removed the snippet", "“Open words”")
}

func numbered(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "tag%d ", i)
	}
	return all.String()
}

func TestWordingsAreOfferedInPostsOfTheirClient(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	ours := b.wording(t, db.Wording{Kind: db.Snippet, Name: "For all", Content: db.WordingContent{Text: "open at nine"}})
	acme := b.wording(t, db.Wording{ClientID: b.acme, Kind: db.Hashtags, Name: "Acme tags", Content: db.WordingContent{Text: "acme"}})
	york := b.wording(t, db.Wording{ClientID: b.york, Kind: db.Snippet, Name: "York words", Content: db.WordingContent{Text: "of york"}})
	choices := func(accounts ...model.AccountID) string {
		q := url.Values{}
		for _, a := range accounts {
			q.Add("account", fmt.Sprint(a))
		}
		w := owner("GET", "/w/north/wordings/choices?"+q.Encode(), nil)
		wantPage(t, w, 200, "For all", `data-insert="open at nine"`)
		return w.Body.String()
	}
	for page, want := range map[string][2]bool{choices(): {}, choices(b.mastodon): {true, false}, choices(b.abroad): {false, true}, choices(b.mastodon, b.abroad): {true, true}} {
		if strings.Contains(page, "Acme tags") != want[0] || strings.Contains(page, "York words") != want[1] {
			t.Errorf("offered in a post for (acme, york) %v: %s", want, page)
		}
	}
	insert := func(what model.WordingID, into, text string) url.Values {
		return url.Values{"do": {fmt.Sprintf("insert:%d", what)}, "into": {into}, "text": {text}, "first_comment": {"first"}, "account": {fmt.Sprint(b.mastodon)},
			"variant": {"mastodon"}, "own.mastodon": {"text"}, "text.mastodon": {"toot"}}
	}
	wantPage(t, owner("POST", "/w/north/posts/form", insert(ours, "text", "Hello")), 200, "Hello\nopen at nine</textarea>", "\ntoot</textarea>")
	wantPage(t, owner("POST", "/w/north/posts/form", insert(acme, "first_comment", "Hello")), 200, "\nHello</textarea>", "first\n#acme</textarea>")
	wantPage(t, owner("POST", "/w/north/posts/form", insert(acme, "text.mastodon", "Hello")), 200, "\nHello</textarea>", "toot\n#acme</textarea>")
	wantPage(t, owner("POST", "/w/north/posts/form", insert(york, "text", "Hello")), 422, "kept for", "\nHello</textarea>")
	wantPage(t, owner("POST", "/w/north/posts/form", url.Values{"do": {"words"}, "text": {"Hello"}, "account": {fmt.Sprint(b.mastodon)}}), 200, "Acme tags", "Put it at the end of", "\nHello</textarea>")
}

func TestAPostStartsFromATemplateAndIsKeptAsOne(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	label := b.label(t, db.Label{Kind: db.PlainLabel, Name: "Weekly"})
	form := url.Values{"text": {"Bread of the week"}, "account": {fmt.Sprint(b.mastodon)}, "label": {fmt.Sprint(label)}, "template_name": {"Weekly bread"}, "template_client": {fmt.Sprint(b.acme)},
		"variant": {"mastodon"}, "own.mastodon": {"text"}, "text.mastodon": {"Toot of the week"}, fmt.Sprintf("option.%d.visibility", b.mastodon): {"unlisted"}}
	wantPage(t, owner("POST", "/w/north/wordings/templates", form), 200, "“Weekly bread” is kept", "Bread of the week")
	wantPage(t, owner("POST", "/w/north/wordings/templates", form), 422, "There is one of that name already", "Bread of the week")
	list, err := b.agency.Owner.Wordings(t.Context())
	if err != nil || len(list) != 1 || list[0].ClientID != b.acme || list[0].Content.Options["mastodon"]["visibility"] != "unlisted" {
		t.Fatalf("kept %+v, %v", list, err)
	}
	wantPage(t, owner("GET", "/w/north/wordings", nil), 200, "own words for Mastodon", "options for Mastodon", "1 label")

	started := owner("GET", fmt.Sprintf("/w/north/posts/new?template=%d", list[0].ID), nil)
	wantPage(t, started, 200, "\nBread of the week</textarea>", `value="Toot of the week"`, fmt.Sprintf(`name="label" id="label-%d" value="%d" checked`, label, label), fmt.Sprintf(`name="template" value="%d"`, list[0].ID))
	if strings.Contains(started.Body.String(), fmt.Sprintf(`name="account" id="account-%d" value="%d" checked`, b.mastodon, b.mastodon)) {
		t.Error("a template chose an account")
	}
	// The account is chosen later; its options come with it.
	chosen := url.Values{"do": {"refresh"}, "text": {"Bread"}, "account": {fmt.Sprint(b.mastodon)}, "template": {fmt.Sprint(list[0].ID)}}
	wantPage(t, owner("POST", "/w/north/posts/form", chosen), 200, `<option value="unlisted" selected`)
	chosen.Set(fmt.Sprintf("option.%d.visibility", b.mastodon), "")
	if page := owner("POST", "/w/north/posts/form", chosen).Body.String(); strings.Contains(page, `<option value="unlisted" selected`) {
		t.Error("an option that was taken back came again")
	}

	start := url.Values{"do": {fmt.Sprintf("template:%d", list[0].ID)}, "account": {fmt.Sprint(b.mastodon)}}
	wantPage(t, owner("POST", "/w/north/posts/form", start), 200, "\nBread of the week</textarea>", "\nToot of the week</textarea>", `<option value="unlisted" selected`)
	start.Set("text", "Mine")
	wantPage(t, owner("POST", "/w/north/posts/form", start), 422, "says something already", "\nMine</textarea>")
	start.Set("text", "")
	start.Set("account", fmt.Sprint(b.abroad))
	wantPage(t, owner("POST", "/w/north/posts/form", start), 422, "is kept for")
}
