package desk_test

import (
	"testing"

	"herald/db/model"
)

func TestANewPostIsSavedAndOpensAgainAsItWas(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("link", " https://example.com/bread ")
	form.Set("labels", "spring, , bread,spring")
	form.Set("notes", "Ask Mia about the price.")
	id, page := s.saved(t, s.send(t, form, "save"), "Saved.", "Fresh bread from seven", "spring, bread", "Ask Mia")
	stored := s.stored(t, id)
	if c := stored.Version.Content; c.Text != "Fresh bread from seven" || c.Link != "https://example.com/bread" || len(c.Accounts) != 1 {
		t.Errorf("stored %+v", c)
	}
	again := page.form(t)
	if _, page = s.saved(t, s.send(t, again, "save"), "Saved."); s.stored(t, id).Version.Number != 1 {
		t.Error("saving what was opened made a new version")
	}
	changed := page.form(t)
	changed.Set("text", "Fresh bread from six")
	s.saved(t, s.send(t, changed, "save"))
	if v := s.stored(t, id).Version; v.Number != 2 || v.Content.Text != "Fresh bread from six" {
		t.Errorf("after an edit: %+v", v)
	}
}

func TestPublishingWithoutAStageSavesApprovesAndSends(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, _ := s.saved(t, s.send(t, s.fresh(t), "publish"), "On its way to one account now.")
	if page := s.stored(t, id); page.Targets[0].State != model.Scheduled || s.count(t, "outbox") != 1 {
		t.Errorf("target is %s", page.Targets[0].State)
	}
}
