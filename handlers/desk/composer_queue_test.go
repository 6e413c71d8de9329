package desk_test

import (
	"fmt"
	"net/url"
	"regexp"
	"testing"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// slotted gives the studio's account a slot at nine every day.
func (s *studio) slotted(t *testing.T) string {
	t.Helper()
	path := fmt.Sprintf("/w/north/accounts/%d/slots", s.account)
	form := url.Values{"day": {"0", "1", "2", "3", "4", "5", "6"}, "clock": {"09:00"}}
	if a := s.submit(t, s.owner, path, form); a.status != 303 || a.to != path {
		t.Fatalf("status %d to %q: %s", a.status, a.to, tags.ReplaceAllString(a.body, " "))
	}
	return path
}

// with is a form with other values.
func with(form url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// pressed are the values of a page's buttons of a name.
func pressed(a answer, name string) (values []string) {
	for _, m := range regexp.MustCompile(`name="`+name+`" value="([^"]*)"`).FindAllStringSubmatch(a.body, -1) {
		values = append(values, m[1])
	}
	return values
}

func (s *studio) approve(t *testing.T, id model.PostID) {
	t.Helper()
	s.decide(t, id, model.Approve)
}

func (s *studio) decide(t *testing.T, id model.PostID, verdict model.Verdict) {
	t.Helper()
	asked, err := s.agency.Owner.PostApprovals(t.Context(), id)
	if err == nil {
		_, err = s.agency.Owner.Decide(t.Context(), asked[0].ID, db.Decision{Request: asked[0].ID, Hash: asked[0].Hash, Stage: 1, Verdict: verdict, Words: "A word on it."})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAQueueIsKeptWithoutScript(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	path := s.slotted(t)
	page := s.get(t, s.owner, path).want(t, 200, "Added 7 times to the queue.", "Wed 11 Mar 2026, 09:00", "Free")
	slots := pressed(page, "slot")
	if len(slots) != 7 {
		t.Fatalf("%d slots on the page", len(slots))
	}
	s.submit(t, s.owner, path+"/removals", url.Values{"slot": slots[:1]})
	if page = s.get(t, s.owner, path); len(pressed(page, "slot")) != 6 {
		t.Error("the slot is still there")
	}
	for want, form := range map[string]url.Values{
		"Give a time of day":      {"day": {"1"}, "clock": {"25:00"}},
		"Choose at least one day": {"clock": {"10:00"}},
		"There is no such day":    {"day": {"9"}, "clock": {"10:00"}},
		"There is no such day.":   {"day": {"x"}, "clock": {"10:00"}},
	} {
		s.submit(t, s.owner, path, form).want(t, 422, want)
	}
	s.submit(t, s.owner, path+"/removals", url.Values{"slot": slots[:1]}).want(t, 404)
}

func TestTheLoudButtonIsWhatComesNext(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	fresh := func() answer { return s.post(t, s.owner, "/w/north/posts/form", with(s.fresh(t), "do", "refresh")) }
	loud := func(a answer) string { return a.form(t).Get("way") }
	if got := loud(fresh()); got != "schedule" {
		t.Errorf("without slots: %s", got)
	}
	fresh().want(t, 200, "Set up a queue…")
	s.slotted(t)
	if got := loud(fresh()); got != "slot" {
		t.Errorf("with a queue: %s", got)
	}
	fresh().want(t, 200, "Next free slot", "Put first", "Publish now")
	timed := with(s.fresh(t), "do", "refresh", "date", "2026-03-20", "clock", "10:00")
	if got := loud(s.post(t, s.owner, "/w/north/posts/form", timed)); got != "schedule" {
		t.Errorf("with a time: %s", got)
	}
	s.stage(t)
	if got := loud(fresh()); got != "submit" {
		t.Errorf("with a workflow: %s", got)
	}
	editor := s.signIn(t, s.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{s.client: model.Editor.Grants()}))
	page := s.post(t, editor, "/w/north/posts/form", with(s.fresh(t), "do", "refresh"))
	if loud(page) != "submit" || page.says("Publish now") || page.says("Put first") {
		t.Errorf("of who may not schedule: %s", loud(page))
	}
}

func TestPostsGoIntoTheQueueFromTheComposer(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.send(t, s.fresh(t), "slot").want(t, 422, "has no queue slots")
	if s.count(t, "posts") != 0 {
		t.Error("something was saved")
	}
	s.slotted(t)
	first, _ := s.saved(t, s.send(t, s.fresh(t), "slot"), "In the queue, on one account: Wed 11 Mar 2026, 09:00 (Berlin).")
	if got := s.stored(t, first).Targets[0].State; got != model.Scheduled {
		t.Errorf("the post is %s", got)
	}
	s.saved(t, s.send(t, s.fresh(t), "first"), "Put first, on one account: Wed 11 Mar 2026, 09:00 (Berlin).")
	if got := model.LocalOf(*s.stored(t, first).Targets[0].LocalAt).String(); got != "2026-03-12T09:00" {
		t.Errorf("what gave way goes out at %s", got)
	}
	s.stage(t)
	third, _ := s.saved(t, s.send(t, s.fresh(t), "slot"), "is held for it", "Fri 13 Mar 2026, 09:00")
	if got := s.stored(t, third); got.Targets[0].State != model.Draft || got.Post.Review != "in_review" {
		t.Errorf("the post is %s, %s", got.Targets[0].State, got.Post.Review)
	}
	s.get(t, s.owner, fmt.Sprintf("/w/north/accounts/%d/slots", s.account)).want(t, 200, "Fresh bread from seven", "Awaiting approval")
}

func TestWhatHasTimesOfItsOwnIsScheduledForThem(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.slotted(t)
	other := s.agency.Account(t, s.client, network.Webhook)
	if _, err := s.agency.Owner.AddSlots(t.Context(), other, []model.SlotTime{{Weekday: 5, Minute: 60}}); err != nil {
		t.Fatal(err)
	}
	s.stage(t)
	form := s.fresh(t)
	form.Add("account", fmt.Sprint(int64(other)))
	id, _ := s.saved(t, s.send(t, form, "slot"), "Each account's own slot, the first on Wed 11 Mar 2026, 09:00 (Berlin)")
	s.approve(t, id)
	form = s.get(t, s.owner, fmt.Sprintf("/w/north/posts/%d", id)).form(t)
	_, page := s.saved(t, s.send(t, form, "schedule"), "Scheduled, each account for its own time, on 2 accounts.")
	page.want(t, 200, "Wed 11 Mar 2026, 09:00", "Fri 13 Mar 2026, 01:00")
}
