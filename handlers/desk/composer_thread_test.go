package desk_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAThreadIsWrittenWithoutScript: its posts come and go by buttons, and a line of
// three hyphens in one makes two of it.
func TestAThreadIsWrittenWithoutScript(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	option := fmt.Sprintf("option.%d.", s.account)
	form := s.edit(t, s.fresh(t), "thread:mastodon", "Thread for Mastodon")
	wantOrder(t, "begun", form["piece.mastodon"], "Fresh bread from seven", "")
	form.Set(option+"spoiler_text", "Flour")
	form["piece.mastodon"] = []string{"One\n---\nTwo", "", "Three"}
	form = s.edit(t, form, "piece-up:mastodon.2")
	wantOrder(t, "moved", form["piece.mastodon"], "One", "", "Two", "Three")
	form = s.edit(t, form, "piece-add:mastodon")
	id, page := s.saved(t, s.send(t, form, "save"), "Saved.")
	c := s.stored(t, id).Version.Content
	if got := *c.Variants["mastodon"].Text; got != "One\n---\nTwo\n---\nThree" || c.Text != "Fresh bread from seven" {
		t.Errorf("kept as %q beside %q", got, c.Text)
	}
	if got := c.Options[s.account]; got["thread"] != "true" || got["spoiler_text"] != "Flour" {
		t.Errorf("the options are %v", got)
	}
	form = page.form(t)
	wantOrder(t, "loaded again", form["piece.mastodon"], "One", "Two", "Three")

	form["piece.mastodon"] = []string{"One", "", strings.Repeat("loaf ", 120)}
	s.post(t, s.owner, "/w/north/posts/check", form).want(t, 200, "Post 2 of the thread has")
	if a := s.post(t, s.owner, "/w/north/posts/check", form); !strings.Contains(a.body, `href="#piece-mastodon-2"`) {
		t.Error("the problem does not lead to the box that has it")
	}
	form = s.edit(t, form, "split:mastodon")
	if got := form["piece.mastodon"]; len(got) != 3 || got[0] != "One" || len(got[1]) > 500 {
		t.Errorf("split into %q", got)
	}
	form = s.edit(t, form, "piece-remove:mastodon.0")
	form = s.edit(t, form, "unthread:mastodon")
	if form.Get("text.mastodon") == "" || form.Get(option+"thread") != "false" || strings.Contains(form.Get("text.mastodon"), "---") {
		t.Errorf("one post again: %q, %v", form.Get("text.mastodon"), form[option+"thread"])
	}
	for _, do := range []string{"piece-up:mastodon.9", "piece-remove:mastodon.x", "piece-place:mastodon.0.y"} {
		form = s.edit(t, form, "thread:mastodon")
		form.Set("do", do)
		s.post(t, s.owner, "/w/north/posts/form", form).want(t, 422)
	}
	form.Set("do", "thread:facebook")
	s.post(t, s.owner, "/w/north/posts/form", form).want(t, 422, "None of the chosen accounts takes a thread")
}
