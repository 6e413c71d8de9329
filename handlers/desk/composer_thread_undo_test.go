package desk_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"herald/db"
	"herald/db/network"
)

var counted = regexp.MustCompile(`id="count-bluesky-(\d)">\s*<span[^>]*>\s*<span data-count>(\d+)<`)

// TestAThreadIsCountedAsItGoesOut: a post of it fits only if it does with the tags that
// its links get, in its box as at the check, and a split leaves room for them.
func TestAThreadIsCountedAsItGoesOut(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	if err := s.agency.Owner.SetLinkTags(t.Context(), db.LinkTags{ClientID: s.client, Source: "{network}", Medium: "social", Hosts: []string{"bread.example.com"}}); err != nil {
		t.Fatal(err)
	}
	bluesky := s.agency.Account(t, s.client, network.Bluesky)
	form := s.fresh(t)
	form.Set("account", fmt.Sprint(int64(bluesky)))
	form = s.edit(t, form, "thread:bluesky")
	const link, tags = "https://bread.example.com/rye", "?utm_source=bluesky&utm_medium=social"
	long := strings.Repeat("bread ", 45) + link // 299 as it is written
	form["piece.bluesky"] = []string{"One " + link, "", long}
	form.Set("do", "refresh")
	for _, page := range []answer{s.post(t, s.owner, "/w/north/posts/check", form), s.post(t, s.owner, "/w/north/posts/form", form)} {
		found := counted.FindAllStringSubmatch(page.body, -1)
		if len(found) != 3 || found[0][2] != fmt.Sprint(len("One "+link+tags)) || found[2][2] != fmt.Sprint(len(long+tags)) {
			t.Errorf("the boxes count %v, want %d and %d", found, len("One "+link+tags), len(long+tags))
		}
		page.want(t, 200, fmt.Sprintf("Post 2 of the thread has %d characters", len(long+tags)))
	}
	page := s.edit(t, form, "split:bluesky")
	pieces := page["piece.bluesky"]
	if got := strings.Join(pieces, " "); got != "One "+link+" "+long {
		t.Errorf("split, the words are %q", got)
	}
	a := s.post(t, s.owner, "/w/north/posts/check", page)
	if len(pieces) != 3 || strings.Contains(a.body, "of the thread has") {
		t.Errorf("the split leaves what is too long: %q", pieces)
	}
	id, _ := s.saved(t, s.send(t, form, "save"))
	s.send(t, s.get(t, s.owner, fmt.Sprintf("/w/north/posts/%d", id)).form(t), "submit").want(t, 422, "Post 2 of the thread has")
}

// TestWhatWasSplitOrPutTogetherIsTakenBack: without script, and whatever was written
// since can be had again, too.
func TestWhatWasSplitOrPutTogetherIsTakenBack(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	option := fmt.Sprintf("option.%d.thread", s.account)
	long := strings.TrimSpace(strings.Repeat("loaf after loaf ", 50))
	form := s.fresh(t)
	form.Set("text", long)
	form = s.edit(t, form, "split:mastodon", "What was too long is split: there are 2 posts now.", "Undo")
	split := form["piece.mastodon"]
	if strings.Join(split, " ") != long {
		t.Fatalf("split into %q", split)
	}
	form["piece.mastodon"] = append(split, "Written since")
	form = s.edit(t, form, "undo-thread:mastodon", "The words are as they were before.")
	if _, own := form["text.mastodon"]; own || form.Get("text") != long || form.Get(option) == "true" {
		t.Errorf("taken back, the form has %v", form)
	}
	form = s.edit(t, form, "undo-thread:mastodon")
	wantOrder(t, "had again", form["piece.mastodon"], append(split, "Written since")...)

	form = s.edit(t, form, "unthread:mastodon", "The posts are one now.", "Undo")
	if got := form.Get("text.mastodon"); got != strings.Join(append(split, "Written since"), "\n\n") || form.Get(option) == "true" {
		t.Errorf("one post: %q", got)
	}
	form = s.edit(t, form, "undo-thread:mastodon")
	wantOrder(t, "a thread again", form["piece.mastodon"], append(split, "Written since")...)
	s.edit(t, form, "split:mastodon", "Each post fits: nothing was split.")
	form = s.edit(t, form, "piece-add:mastodon")
	if form.Has("undo_was") {
		t.Error("it can be taken back after something else was done")
	}
	form.Set("do", "undo-thread:mastodon")
	s.post(t, s.owner, "/w/north/posts/form", form).want(t, 422)
}

// TestWordsGoIntoAPostOfAThreadWithoutScript: the button beside a box chooses it.
func TestWordsGoIntoAPostOfAThreadWithoutScript(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	word, err := s.agency.Owner.AddWording(t.Context(), db.Wording{Kind: db.Snippet, Name: "Hours", Content: db.WordingContent{Text: "Open from seven."}})
	if err != nil {
		t.Fatal(err)
	}
	form := s.edit(t, s.fresh(t), "thread:mastodon")
	form["piece.mastodon"] = []string{"One", "Two", "Three"}
	form.Set("do", "words:piece.mastodon.1")
	page := s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200, "Put it at the end of", "Hours")
	if !regexp.MustCompile(`value="piece.mastodon.1" selected`).MatchString(page.body) || !strings.Contains(page.body, "Post 3 for Mastodon") {
		t.Error("the box is not chosen")
	}
	form = page.form(t)
	form.Set("into", "piece.mastodon.1")
	form = s.edit(t, form, fmt.Sprintf("insert:%d", word))
	wantOrder(t, "with the snippet", form["piece.mastodon"], "One", "Two\nOpen from seven.", "Three")
	form.Set("into", "piece.mastodon.7")
	form.Set("do", fmt.Sprintf("insert:%d", word))
	s.post(t, s.owner, "/w/north/posts/form", form).want(t, 422, "The thread has no such post any more.")
}
