package desk_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"

	"herald/db/dbtest"
	"herald/db/model"
)

func TestAFormThatCameTwiceMakesOnePost(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	first, _ := s.saved(t, s.send(t, form, "save"))
	second, _ := s.saved(t, s.send(t, form, "save"), "This form came twice. It was carried out once.")
	if first != second || s.count(t, "posts") != 1 || s.count(t, "post_versions") != 1 {
		t.Errorf("posts %d and %d, %d in all", first, second, s.count(t, "posts"))
	}
}

func TestADoubleClickOnPublishPublishesOnce(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("do", "publish")
	var wg sync.WaitGroup
	answers := make([]answer, 4)
	for i := range answers {
		r := s.request(t, "/w/north/posts", maps.Clone(form))
		wg.Go(func() { answers[i] = s.do(t, s.owner, r) })
	}
	wg.Wait()
	if s.count(t, "posts") != 1 || s.count(t, "targets") != 1 {
		t.Fatalf("%d posts, %d targets", s.count(t, "posts"), s.count(t, "targets"))
	}
	if n := dbtest.Look[int](t, s.World, s.agency.Shard, `SELECT count(*) FROM tenant.audit WHERE verb = 'published_now'`); n != 1 {
		t.Errorf("published %d times", n)
	}
	for _, a := range answers {
		if a.status != 303 { // a refusal would say that it was not published
			t.Errorf("status %d: %.500s", a.status, a.body)
		}
	}
	id, _ := s.saved(t, s.send(t, form, "publish"), "This form came twice.")
	if s.stored(t, id).Targets[0].State != model.Scheduled {
		t.Error("the replay changed something")
	}
}

func TestADoubleClickOnAnOpenPostIsNoRefusal(t *testing.T) {
	t.Parallel()
	for _, do := range []string{"submit", "schedule", "publish"} {
		s := newStudio(t)
		id, page := s.saved(t, s.send(t, s.fresh(t), "save"))
		form := with(page.form(t), "do", do, "date", "2026-03-20", "clock", "10:00")
		var wg sync.WaitGroup
		answers := make([]answer, 4)
		for i := range answers {
			r := s.request(t, fmt.Sprintf("/w/north/posts/%d", id), maps.Clone(form))
			wg.Go(func() { answers[i] = s.do(t, s.owner, r) })
		}
		wg.Wait()
		for _, a := range answers {
			if a.status != 303 {
				t.Errorf("%s: status %d: %.500s", do, a.status, a.body)
			}
		}
		if n := dbtest.Look[int](t, s.World, s.agency.Shard, `SELECT count(*) FROM tenant.audit WHERE verb IN ('scheduled', 'published_now')`); do != "submit" && n != 1 {
			t.Errorf("%s was carried out %d times", do, n)
		}
	}
}

func TestAStaleFormDoesNotTakeBackAPlanUnasked(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	for _, do := range []string{"publish", "schedule"} {
		id, page := s.saved(t, s.send(t, s.fresh(t), "submit"))
		mine, theirs := page.form(t), page.form(t)
		s.saved(t, s.send(t, with(theirs, "date", "2026-03-20", "clock", "10:00"), "schedule"))
		due := *s.stored(t, id).Targets[0].DueAt
		asked := s.send(t, with(mine, "date", "2026-03-21", "clock", "11:00"), do).want(t, 409, "This post changed while you had it open: it is scheduled otherwise by now.")
		if got := *s.stored(t, id).Targets[0].DueAt; !got.Equal(due) {
			t.Errorf("%s moved it to %s", do, got)
		}
		s.saved(t, s.send(t, asked.form(t), do))
		if got := *s.stored(t, id).Targets[0].DueAt; got.Equal(due) {
			t.Errorf("%s, asked for again, did nothing", do)
		}
	}
}

// TestAStaleTimeIsNotSaidToHaveComeTwice has a colleague publish while another plans.
func TestAStaleTimeIsNotSaidToHaveComeTwice(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, page := s.saved(t, s.send(t, s.fresh(t), "submit"))
	mine, theirs := page.form(t), page.form(t)
	s.saved(t, s.send(t, theirs, "publish"))
	for _, state := range []model.State{model.Queued, model.Publishing} {
		s.Super(t, s.agency.Shard, `UPDATE tenant.targets SET state = $2, owner = CASE $2 WHEN 'publishing' THEN gen_random_uuid() END WHERE post_id = $1`, id, state)
		if a := s.send(t, with(mine, "date", "2026-03-21", "clock", "11:00"), "schedule"); a.status != 409 || strings.Contains(a.body, "came twice") {
			t.Errorf("while it is %s: status %d, %.300s", state, a.status, a.body)
		}
	}
}

func TestAStaleFormDoesNotAskAgainForWhatWasSentBack(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.stage(t)
	id, page := s.saved(t, s.send(t, s.fresh(t), "save"))
	mine, theirs := page.form(t), page.form(t)
	s.saved(t, s.send(t, theirs, "submit"))
	s.decide(t, id, model.RequestChanges)
	asked := s.send(t, mine, "submit").want(t, 409, "it is back with changes requested")
	s.saved(t, s.send(t, asked.form(t), "submit"), "Sent for approval")
}

func TestAFormSentBackChangedShowsWhatItMadeBefore(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	id, _ := s.saved(t, s.send(t, form, "save"))
	form.Set("text", "Written after going back")
	page := s.send(t, form, "save").want(t, 409, "This form was sent before and made this post.", "Fresh bread from seven", "Written after going back")
	mine := page.form(t)
	s.saved(t, s.send(t, mine, "save"))
	if v := s.stored(t, id).Version; v.Content.Text != "Written after going back" || s.count(t, "posts") != 1 {
		t.Errorf("stored %+v", v)
	}
}

func TestAStaleFormLosesNothingAndOverwritesNothing(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, page := s.saved(t, s.send(t, s.fresh(t), "save"))
	mia, noa := page.form(t), page.form(t)
	mia.Set("text", "Mia's text")
	s.saved(t, s.send(t, mia, "save"))
	noa.Set("text", "Noa's text")
	page = s.send(t, noa, "publish").want(t, 409, "This post changed while you had it open", "Version 2 is by owner 0.", "Mia's text", "Noa's text", "Save mine over it")
	if v := s.stored(t, id).Version; v.Content.Text != "Mia's text" || s.count(t, "outbox") != 0 {
		t.Errorf("overwritten: %+v", v)
	}
	mine := page.form(t)
	if mine.Get("text") != "Noa's text" {
		t.Errorf("lost: %v", mine)
	}
	s.saved(t, s.send(t, mine, "save"), "Saved.")
	if v := s.stored(t, id).Version; v.Content.Text != "Noa's text" || v.Number != 3 {
		t.Errorf("stored %+v", v)
	}
	s.saved(t, s.send(t, mine, "save"), "This form came twice.")
}

func TestAFormWithoutAKeyIsRefused(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	for _, key := range []string{"", "short", "with spaces in the middle of it"} {
		form := url.Values{"key": {key}, "text": {"x"}, "do": {"save"}, "account": {fmt.Sprint(int64(s.account))}}
		s.post(t, s.owner, "/w/north/posts", form).want(t, 422)
	}
	if s.count(t, "posts") != 0 {
		t.Error("it was saved")
	}
}
