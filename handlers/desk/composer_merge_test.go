package desk_test

import (
	"fmt"
	"testing"

	"herald/db/model"
)

// two opens one post in two windows.
func (s *studio) two(t *testing.T) (path string, mine, theirs answer) {
	t.Helper()
	form := with(s.fresh(t), "link", "https://bakery.example/", "notes", "For Anna")
	id, _ := s.saved(t, s.send(t, form, "save"))
	path = fmt.Sprintf("/w/north/posts/%d", id)
	return path, s.get(t, s.owner, path), s.get(t, s.owner, path)
}

func TestWhatOnlyOneOfTwoChangedIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	path, mine, theirs := s.two(t)
	s.saved(t, s.send(t, with(theirs.form(t), "link", "https://bakery.example/menu", "notes", "For Ben"), "save"))
	s.saved(t, s.send(t, with(mine.form(t), "text", "Fresh bread from six"), "save"), "Saved. What others changed meanwhile is in it: link and notes.")
	form := s.get(t, s.owner, path).form(t)
	for field, want := range map[string]string{"text": "Fresh bread from six", "link": "https://bakery.example/menu", "notes": "For Ben"} {
		if got := form.Get(field); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
}

func TestWhatBothChangedIsAskedOneByOne(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	path, mine, theirs := s.two(t)
	s.saved(t, s.send(t, with(theirs.form(t), "text", "Fresh bread from nine", "link", "https://bakery.example/nine", "notes", "Theirs"), "save"))
	asked := s.send(t, with(mine.form(t), "text", "Fresh bread from six", "link", "https://bakery.example/six", "notes", "Mine"), "save")
	asked.want(t, 409, "This post changed while you had it open", "Fresh bread from nine", "Take theirs", "Keep both")
	if got := s.get(t, s.owner, path+"?copy=none").form(t).Get("text"); got != "Fresh bread from nine" {
		t.Errorf("something was overwritten: %q", got)
	}
	press := func(a answer, do string) answer {
		return s.post(t, s.owner, "/w/north/posts/form", with(a.form(t), "do", do)).want(t, 409)
	}
	rest := press(press(asked, "theirs:link"), "both:notes")
	form := rest.want(t, 409, "Settle the rest").form(t)
	if form.Get("link") != "https://bakery.example/nine" || form.Get("notes") != "Mine\n\nTheirs" || form.Get("text") != "Fresh bread from six" {
		t.Errorf("link %q, notes %q, text %q", form.Get("link"), form.Get("notes"), form.Get("text"))
	}
	if got := form["open"]; len(got) != 1 || got[0] != "text" {
		t.Errorf("left open: %v", got)
	}
	s.post(t, s.owner, "/w/north/posts/form", with(rest.form(t), "do", "theirs:link")).want(t, 409, "settled already")
	s.saved(t, s.send(t, form, "save"), "Saved.")
	if got := s.get(t, s.owner, path).form(t); got.Get("text") != "Fresh bread from six" || got.Get("link") != "https://bakery.example/nine" {
		t.Errorf("saved as %q, %q", got.Get("text"), got.Get("link"))
	}
}

func TestAThirdWhoSavesMeanwhileIsAskedAboutToo(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	path, mine, theirs := s.two(t)
	s.saved(t, s.send(t, with(theirs.form(t), "text", "Second"), "save"))
	asked := s.send(t, with(mine.form(t), "text", "First"), "save").want(t, 409)
	s.saved(t, s.send(t, with(s.get(t, s.owner, path).form(t), "text", "Third"), "save"))
	s.send(t, asked.form(t), "save").want(t, 409, "Third")
}

func TestAnApprovalThatMovedOnIsNotTakenBackUnasked(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.stage(t)
	_, mine, theirs := s.two(t)
	s.saved(t, s.send(t, theirs.form(t), "submit"))
	s.send(t, with(mine.form(t), "text", "Fresh bread from six"), "save").want(t, 409, "waiting for approval")
}

func TestAPostThatOnlyMovedInTimeIsNoClash(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	_, mine, theirs := s.two(t)
	s.saved(t, s.send(t, with(theirs.form(t), "date", "2026-03-20", "clock", "10:00"), "save"))
	s.saved(t, s.send(t, with(mine.form(t), "text", "Fresh bread from six"), "save"), "Saved.")
}

func TestADeliveryThatMovedOnIsNotTakenBackUnasked(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, page := s.saved(t, s.send(t, s.fresh(t), "submit"))
	mine, theirs := page.form(t), page.form(t)
	s.saved(t, s.send(t, with(theirs, "date", "2026-03-20", "clock", "10:00"), "schedule"))
	asked := s.send(t, with(mine, "text", "Fresh bread from six"), "save").want(t, 409, "it is now scheduled")
	if s.stored(t, id).Targets[0].State != model.Scheduled {
		t.Error("the plan was taken back")
	}
	s.saved(t, s.send(t, asked.form(t), "save"))
	if got := s.stored(t, id); got.Targets[0].State == model.Scheduled || got.Version.Content.Text != "Fresh bread from six" {
		t.Errorf("asked for again, it was not saved: %s, %q", got.Targets[0].State, got.Version.Content.Text)
	}
}
