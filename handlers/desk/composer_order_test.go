package desk_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"

	"herald/db/model"
)

// hung is a post with three files, as its composer shows it.
func (s *studio) hung(t *testing.T) (model.PostID, url.Values) {
	t.Helper()
	id, page := s.saved(t, s.send(t, s.fresh(t), "save",
		file{"a.jpg", photo(t, 600, 400, 10)}, file{"b.jpg", photo(t, 600, 400, 90)}, file{"c.jpg", photo(t, 600, 400, 170)}), "Saved.")
	return id, page.form(t)
}

// edit presses a button that changes the form, without script.
func (s *studio) edit(t *testing.T, form url.Values, do string, says ...string) url.Values {
	t.Helper()
	form.Set("do", do)
	return s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200, says...).form(t)
}

func mediaIDs(list []model.ContentMedia) (names []string) {
	for _, m := range list {
		names = append(names, fmt.Sprint(int64(m.ID)))
	}
	return names
}

func wantOrder(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: the order is %v, want %v", what, got, want)
	}
}

func TestFilesAreOrderedByHand(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, form := s.hung(t)
	m := form["media"]
	a, b, c := m[0], m[1], m[2]

	form = s.edit(t, form, "place:"+a+".2", "a.jpg is number 3 of 3 now.")
	wantOrder(t, "dragged to the end", form["media"], b, c, a)
	form = s.edit(t, form, "up:"+a, "a.jpg is number 2 of 3 now.")
	wantOrder(t, "one up", form["media"], b, a, c)
	form = s.edit(t, form, "up:"+b)
	wantOrder(t, "no further than the top", form["media"], b, a, c)
	form = s.edit(t, form, "place:"+b+".99")
	wantOrder(t, "no further than the end", form["media"], a, c, b)
	before := s.stored(t, id).Version.Hash
	_, page := s.saved(t, s.send(t, form, "save"), "Saved.")
	stored := s.stored(t, id)
	wantOrder(t, "stored", mediaIDs(stored.Version.Content.Media), a, c, b)
	if slices.Equal(before, stored.Version.Hash) {
		t.Error("another order has the same hash")
	}
	wantOrder(t, "loaded again", page.form(t)["media"], a, c, b)
	form.Set("do", "place:"+a+".x")
	s.post(t, s.owner, "/w/north/posts/form", form).want(t, 422)
}

// TestANetworkHasItsFilesInAnOrderOfItsOwn: which the shared order leaves alone, and
// which a network without one follows.
func TestANetworkHasItsFilesInAnOrderOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, form := s.hung(t)
	m := form["media"]
	a, b, c := m[0], m[1], m[2]
	form = s.edit(t, form, "customise:mastodon")
	form = s.edit(t, form, "down:"+a)
	wantOrder(t, "a network without an order of its own", form["of.mastodon"], b, a, c)
	form = s.edit(t, form, "own-place:mastodon."+c+".0", "c.jpg is number 1 of 3 now.", "In an order of their own")
	wantOrder(t, "its own", form["of.mastodon"], c, b, a)
	form["file.mastodon"] = []string{c, a} // b is not for Mastodon
	form = s.edit(t, form, "down:"+b)
	wantOrder(t, "the shared one", form["media"], a, b, c)
	wantOrder(t, "its own, still", form["of.mastodon"], c, b, a)
	form["text.mastodon"] = []string{"For Mastodon"}
	_, page := s.saved(t, s.send(t, form, "save"), "Saved.")
	stored := s.stored(t, id).Version.Content
	wantOrder(t, "stored", mediaIDs(stored.Media), a, b, c)
	wantOrder(t, "stored for Mastodon", mediaIDs(*stored.Variants["mastodon"].Media), c, a)
	form = page.form(t)
	wantOrder(t, "loaded again", form["of.mastodon"], c, a, b)
	wantOrder(t, "what it gets", form["file.mastodon"], c, a)
	form = s.edit(t, form, "own-up:mastodon."+b)
	wantOrder(t, "one up", form["of.mastodon"], c, b, a)
	wantOrder(t, "b still is not for Mastodon", form["file.mastodon"], c, a)
}
