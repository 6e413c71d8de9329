package desk_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db/model"
)

// keeps sends the form to be kept, as kept-form does after a pause.
func (s *studio) keeps(t *testing.T, form url.Values) answer {
	t.Helper()
	return s.submit(t, s.owner, "/w/north/posts/copies", form)
}

func TestWhatWasTypedOutlivesAClosedTab(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := with(s.fresh(t), "text", "Half a thou", "notes", "For Anna", "date", "2026-03-20", "clock", "10:00")
	s.keeps(t, form).want(t, 200, "Kept for you")
	s.keeps(t, with(form, "text", "Half a thought"))
	if s.count(t, "posts") != 0 || s.count(t, "working_copies") != 1 {
		t.Fatalf("%d posts, %d copies", s.count(t, "posts"), s.count(t, "working_copies"))
	}
	page := s.get(t, s.owner, "/w/north/posts/new").want(t, 200, "You began a post and did not save it", "Half a thought")
	if got := page.form(t).Get("text"); got != "" {
		t.Errorf("a new post begins with %q", got)
	}
	back := s.get(t, s.owner, "/w/north/posts/new?copy="+form.Get("copy")).want(t, 200, "Here is what you typed and did not save").form(t)
	for field, want := range map[string]string{"text": "Half a thought", "notes": "For Anna", "date": "2026-03-20", "account": fmt.Sprint(int64(s.account)), "key": form.Get("key")} {
		if got := back.Get(field); got != want {
			t.Errorf("%s came back as %q, want %q", field, got, want)
		}
	}
	if back.Get("copy") == form.Get("copy") {
		t.Error("two tabs keep one copy")
	}
	s.saved(t, s.send(t, back, "save"), "Saved.")
	if n := s.count(t, "working_copies"); n != 0 {
		t.Errorf("%d copies of what is saved", n)
	}
}

func TestAPostOpensOnWhatItsWriterTypedLast(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, page := s.saved(t, s.send(t, s.fresh(t), "save"))
	path := fmt.Sprintf("/w/north/posts/%d", id)
	s.keeps(t, page.form(t))
	if s.get(t, s.owner, path).says("Here is what you typed") {
		t.Error("what is stored is told as not saved")
	}
	form := with(page.form(t), "text", "Better words")
	s.keeps(t, form)
	if got := s.stored(t, id); got.Version.Content.Text != "Fresh bread from seven" || got.Version.Number != 1 || got.Post.Revision != 1 {
		t.Errorf("keeping changed the post: %+v", got.Post)
	}
	again := s.get(t, s.owner, path).want(t, 200, "Here is what you typed and did not save").form(t)
	if got := again.Get("text"); got != "Better words" {
		t.Errorf("the post opens on %q", got)
	}
	other := s.signIn(t, s.agency.Member(t, model.Admin, nil))
	if s.get(t, other, path).says("Better words") {
		t.Error("somebody else reads what was not saved")
	}
	dropped := s.post(t, s.owner, "/w/north/posts/copies/removals", with(again, "drop", again.Get("from")))
	if dropped.to != path || s.get(t, s.owner, path).says("Better words") {
		t.Errorf("discarded, and still there: to %q", dropped.to)
	}
}

func TestACopyOfAnOlderPostIsOfferedAndComparedOnSaving(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, page := s.saved(t, s.send(t, s.fresh(t), "save"))
	path := fmt.Sprintf("/w/north/posts/%d", id)
	s.keeps(t, with(page.form(t), "text", "Mine, not saved"))
	other := with(s.get(t, s.owner, path+"?copy=none").form(t), "text", "Saved meanwhile")
	s.saved(t, s.send(t, other, "save"))
	s.get(t, s.owner, path).want(t, 200, "You typed changes that were not saved, before this post was changed", "Mine, not saved")
	back := s.get(t, s.owner, path+"?copy="+page.form(t).Get("copy")).want(t, 200, "The post was changed since").form(t)
	s.send(t, back, "save").want(t, 409, "This post changed while you had it open", "Saved meanwhile", "Mine, not saved")
}

func TestWhatABrowserKeptIsBroughtBack(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	local := url.Values{"post": {""}, "key": {form.Get("key")}, "copy": {form.Get("copy")}, "seen": {"0"}, "text": {"Typed on a train\x00"}, "account": {fmt.Sprint(int64(s.account))}, "do": {"publish"}}
	back := s.post(t, s.owner, "/w/north/posts/form", with(form, "do", "restore", "local", local.Encode())).want(t, 200).form(t)
	if back.Get("text") != "Typed on a train" || s.count(t, "posts") != 0 {
		t.Errorf("it came back as %q", back.Get("text"))
	}
	local.Set("post", "7")
	s.post(t, s.owner, "/w/north/posts/form", with(form, "do", "restore", "local", local.Encode())).want(t, 422, "did not arrive whole")
}

func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	s.keeps(t, with(form, "notes", strings.Repeat("ü", 200_000))).want(t, 422, "too long to be kept")
	s.keeps(t, with(form, "notes", "", "copy", "short")).want(t, 422, "did not arrive whole")
	for i := range 25 {
		s.Clock.Advance(time.Minute)
		s.keeps(t, with(form, "copy", fmt.Sprintf("key-of-a-form-%010d", i))).want(t, 200)
	}
	if n := s.count(t, "working_copies"); n != 20 {
		t.Errorf("%d copies are kept", n)
	}
	s.Clock.Advance(31 * 24 * time.Hour)
	if s.get(t, s.signIn(t, s.agency.Owner), "/w/north/posts/new").says("did not save") {
		t.Error("what nobody came back for is still offered")
	}
	if err := s.agency.Owner.DropCopies(t.Context()); err != nil {
		t.Error(err)
	}
}
