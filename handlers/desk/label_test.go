package desk_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"herald/db"
	"herald/db/model"
)

func (b *wall) label(t *testing.T, l db.Label) model.LabelID {
	t.Helper()
	id, err := b.agency.Owner.AddLabel(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestLabelsAreKeptByWhoWritesForTheirClient(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	bread := func() url.Values { return url.Values{"kind": {"label"}, "name": {" Fresh   bread "}, "tint": {"3"}} }
	wantPage(t, owner("POST", "/w/north/labels", bread()), 303)
	wantPage(t, owner("GET", "/w/north/labels", nil), 200, "Fresh bread", `data-tint="3"`)
	for name, change := range map[string]url.Values{
		"There is one of that name": {"name": {"fresh BREAD"}}, "at most 60 characters": {"name": {strings.Repeat("x", 61)}}, "Give it a name": {"name": {" "}},
		"Choose one of the colours": {"tint": {"8"}}, "Choose a label or a campaign": {"kind": {"mood"}},
	} {
		form := bread()
		for field, v := range change {
			form[field] = v
		}
		if form.Get("name") == " Fresh   bread " {
			form.Set("name", "Another")
		}
		wantPage(t, owner("POST", "/w/north/labels", form), 422, name)
	}
	form := bread()
	form.Set("client", fmt.Sprint(b.acme)) // the same name for a client alone
	wantPage(t, owner("POST", "/w/north/labels", form), 303)
	form.Set("kind", "campaign")
	wantPage(t, owner("POST", "/w/north/labels", form), 303)

	editor := b.as(t, b.member(t, model.Editor, b.york))
	wantPage(t, editor("POST", "/w/north/labels", bread()), 403, "owners and admins")
	form.Set("client", fmt.Sprint(b.acme))
	wantPage(t, editor("POST", "/w/north/labels", form), 404)
	hidden := b.label(t, db.Label{ClientID: b.acme, Kind: db.PlainLabel, Name: "Secret topic"})
	if w := editor("GET", "/w/north/labels", nil); strings.Contains(w.Body.String(), "Secret topic") || !strings.Contains(w.Body.String(), "Fresh bread") {
		t.Error("an editor sees another client's label, or none of the workspace's")
	}
	for _, path := range []string{"", "/removal"} {
		wantPage(t, editor("POST", fmt.Sprintf("/w/north/labels/%d%s", hidden, path), url.Values{"name": {"x"}, "tint": {"1"}}), 404)
	}
	viewer := b.as(t, b.member(t, model.Viewer, b.acme))
	wantPage(t, viewer("POST", fmt.Sprintf("/w/north/labels/%d/removal", hidden), url.Values{}), 403)
	wantPage(t, owner("POST", fmt.Sprintf("/w/north/labels/%d", hidden), url.Values{"name": {"Open topic"}, "tint": {"7"}}), 303)
	wantPage(t, owner("GET", "/w/north/labels", nil), 200, "Open topic")
	wantPage(t, owner("POST", fmt.Sprintf("/w/north/labels/%d/removal", hidden), url.Values{}), 303)
}

func TestPostsAreFoundByLabelCampaignAndAuthor(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	writer := b.member(t, model.Manager, b.acme)
	var posts []model.PostID
	for i, text := range []string{"plain", "springy", "of both", "abroad"} {
		account := b.mastodon
		if text == "abroad" {
			account = b.abroad
		}
		posts = append(posts, b.at(t, text, fmt.Sprintf("2026-03-1%dT10:00", i+2), "Europe/Berlin", account).Post.ID)
	}
	_, err := writer.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "by another hand", Accounts: []model.AccountID{b.mastodon}}})
	if err != nil {
		t.Fatal(err)
	}
	spring := b.label(t, db.Label{Kind: db.PlainLabel, Name: "Spring", Tint: 2})
	york := b.label(t, db.Label{ClientID: b.york, Kind: db.PlainLabel, Name: "Only york"})
	sale := b.label(t, db.Label{Kind: db.Campaign, Name: "Sale"})
	fair := b.label(t, db.Label{Kind: db.Campaign, Name: "Fair"})
	bulk := func(do string, label model.LabelID, of ...model.PostID) {
		form := url.Values{"do": {do}, "label": {fmt.Sprint(label)}}
		for _, p := range of {
			form.Add("post", fmt.Sprintf("%d:1", p))
		}
		wantPage(t, owner("POST", "/w/north/posts/labels", form), 303)
		wantPage(t, owner("POST", "/w/north/posts/labels", form), 303) // twice changes nothing more
	}
	bulk("add", spring, posts[1], posts[2], posts[3])
	bulk("add", york, posts[3])
	bulk("add", sale, posts[2], posts[3])
	bulk("add", fair, posts[3]) // takes the place of the other campaign
	bulk("remove", spring, posts[3])

	for filter, want := range map[string][]string{
		fmt.Sprintf("label=%d", spring):                         {"springy", "of both"},
		fmt.Sprintf("campaign=%d", sale):                        {"of both"},
		fmt.Sprintf("campaign=%d&campaign=%d", sale, fair):      {"of both", "abroad"},
		fmt.Sprintf("label=%d&label=%d", spring, york):          {"springy", "of both", "abroad"},
		fmt.Sprintf("label=%d&campaign=%d", spring, fair):       {},
		fmt.Sprintf("author=%d", writer.Actor.User):             {"by another hand"},
		fmt.Sprintf("author=%d", b.agency.Owner.Actor.User):     {"plain", "springy", "of both", "abroad"},
		fmt.Sprintf("label=%d&q=both&network=mastodon", spring): {"of both"},
	} {
		for _, path := range []string{"/posts?", "/calendar?view=list&date=2026-03-01&", "/calendar?date=2026-03&"} {
			if strings.HasPrefix(path, "/calendar") && strings.Contains(filter, fmt.Sprint("author=", writer.Actor.User)) {
				continue // it has no time
			}
			page := owner("GET", "/w/north"+path+filter, nil)
			wantPage(t, page, 200)
			for _, text := range []string{">plain<", ">springy<", ">of both<", ">abroad<", ">by another hand<"} {
				found := strings.Contains(page.Body.String(), text)
				if wanted := slices.Contains(want, strings.Trim(text, "<>")); found != wanted {
					t.Errorf("%s%s: %s is there: %t", path, filter, text, found)
				}
			}
		}
	}
	wantPage(t, owner("GET", fmt.Sprintf("/w/north/calendar?date=2026-03&label=%d&author=%d", spring, b.agency.Owner.Actor.User), nil), 200,
		"Remove the filter Spring", "Remove the filter By ", `<u role="img" title="Spring, Sale">`)
	only := b.as(t, b.member(t, model.Viewer, b.acme))
	wantPage(t, only("GET", fmt.Sprintf("/w/north/posts?label=%d", york), nil), 404)
	wantPage(t, owner("GET", "/w/north/posts?author=999999", nil), 404)
}

func TestLabellingAnswersForEachPost(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	mine, theirs := b.agency.Approved(t, "mine", b.mastodon).Post.ID, b.agency.Approved(t, "of both clients", b.mastodon, b.abroad).Post.ID
	label := b.label(t, db.Label{Kind: db.PlainLabel, Name: "Spring"})
	editor := b.as(t, b.member(t, model.Editor, b.acme))
	form := url.Values{"label": {fmt.Sprint(label)}, "post": {fmt.Sprintf("%d:1", mine), fmt.Sprintf("%d:1", theirs)}}
	wantPage(t, editor("POST", "/w/north/posts/labels", form), 200, "One post is labelled, 1 not", "also goes to clients that you do not work for")
	form.Del("label")
	wantPage(t, editor("POST", "/w/north/posts/labels", form), 422, "Choose a label or campaign first.")
}

func TestALabelAddedMeanwhileIsNotTakenAwayUnseen(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	page := b.agency.Approved(t, "open in a tab", b.mastodon)
	label := b.label(t, db.Label{Kind: db.PlainLabel, Name: "Spring"})
	if _, err := b.agency.Owner.LabelPosts(t.Context(), db.Labelling{Posts: []model.PostID{page.Post.ID}, Add: []model.LabelID{label}}); err != nil {
		t.Fatal(err)
	}
	_, err := b.agency.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: page.Version.Content})
	if no, ok := model.Refused(err); !ok || no.Kind != model.Conflict {
		t.Errorf("a form from before the label was saved: %v", err)
	}
	now, err := b.agency.Owner.Post(t.Context(), page.Post.ID)
	if err != nil || len(now.Post.Labels) != 1 || now.Post.ApprovedVersionID == nil {
		t.Errorf("labels %v, approved %v, %v", now.Post.Labels, now.Post.ApprovedVersionID, err)
	}
}

func TestTheCalendarOpensAsItWasLeft(t *testing.T) {
	t.Parallel()
	b := newWall(t)
	owner := b.as(t, b.agency.Owner)
	label := b.label(t, db.Label{Kind: db.PlainLabel, Name: "Spring"})
	opens := func(want string) {
		t.Helper()
		w := owner("GET", "/w/north/calendar", nil)
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("opened without anything it leads to %q, want %q (%d)", got, want, w.Code)
		}
	}
	opens("")
	left := fmt.Sprintf("/w/north/calendar?label=%d&state=failed&view=week", label)
	wantPage(t, owner("GET", left+"&date=2026-03-10", nil), 200)
	opens(left)
	wantPage(t, owner("GET", "/w/north/calendar?client=999999", nil), 404) // what is refused is not remembered
	opens(left)
	if other := b.as(t, b.member(t, model.Viewer, b.acme))("GET", "/w/north/calendar", nil); other.Code != 200 {
		t.Errorf("somebody else is led to %q", other.Header().Get("Location"))
	}
	page := owner("GET", left, nil)
	wantPage(t, page, 200, `href="/w/north/calendar?view=week"`) // clear
	wantPage(t, owner("GET", "/w/north/calendar?view=week", nil), 200)
	opens("/w/north/calendar?view=week")
	wantPage(t, owner("GET", "/w/north/calendar?state=failed", nil), 200, `href="/w/north/calendar?view=month"`)
	wantPage(t, owner("GET", "/w/north/calendar?view=month", nil), 200)
	opens("")
	wantPage(t, owner("GET", left, nil), 200)
	if err := b.agency.Owner.RemoveLabel(t.Context(), label); err != nil {
		t.Fatal(err)
	}
	opens("") // what it was filtered by is gone
}
