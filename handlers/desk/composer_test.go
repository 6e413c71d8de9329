package desk_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

func TestANewPostIsSavedAndOpensAgainAsItWas(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("link", " https://example.com/bread ")
	spring, err := s.agency.Owner.AddLabel(t.Context(), db.Label{Kind: db.PlainLabel, Name: "spring"})
	if err != nil {
		t.Fatal(err)
	}
	form.Set("label", fmt.Sprint(spring))
	form.Set("notes", "Ask Mia about the price.")
	id, page := s.saved(t, s.send(t, form, "save"), "Saved.", "Fresh bread from seven", "Ask Mia")
	stored := s.stored(t, id)
	if c := stored.Version.Content; c.Text != "Fresh bread from seven" || c.Link != "https://example.com/bread" || len(c.Accounts) != 1 {
		t.Errorf("stored %+v", c)
	}
	again := page.form(t)
	if again.Get("label") != fmt.Sprint(spring) || again.Get("link") != "https://example.com/bread" {
		t.Errorf("opened again: %v", again)
	}
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

func TestSchedulingWithoutAStageSaysWhen(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("date", "2026-03-12")
	form.Set("clock", "09:30")
	id, page := s.saved(t, s.send(t, form, "schedule"), "Scheduled for Thu 12 Mar 2026, 09:30 (Berlin), on one account.")
	target := s.stored(t, id).Targets[0]
	if target.State != model.Scheduled || target.DueAt.Format(time.RFC3339) != "2026-03-12T08:30:00Z" {
		t.Errorf("target is %s, due %v", target.State, target.DueAt)
	}
	moved := page.form(t)
	moved.Set("clock", "10:00")
	s.saved(t, s.send(t, moved, "schedule"), "Scheduled for Thu 12 Mar 2026, 10:00")
	if due := s.stored(t, id).Targets[0].DueAt; due.Format(time.RFC3339) != "2026-03-12T09:00:00Z" {
		t.Errorf("moved to %v", due)
	}
}

// stage gives the studio's client a workflow that the owner decides.
func (s *studio) stage(t *testing.T) {
	t.Helper()
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, 1, 'Client', 'any')`, s.agency.ID, s.client)
	s.Super(t, s.agency.Shard, `INSERT INTO tenant.stage_people (tenant_id, stage_id, user_id) SELECT tenant_id, id, $2 FROM tenant.stages WHERE tenant_id = $1`, s.agency.ID, s.agency.Owner.Actor.User)
}

func TestSchedulingWithAStageAsksFirstAndKeepsTheTime(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.stage(t)
	form := s.fresh(t)
	form.Set("date", "2026-03-12")
	form.Set("clock", "09:30")
	id, page := s.saved(t, s.send(t, form, "schedule"), "Sent for approval by Client bakery. It is planned for Thu 12 Mar 2026, 09:30 (Berlin) and not scheduled yet: somebody has to press Schedule once it is approved.", "Waiting for owner 0")
	if stored := s.stored(t, id); stored.Post.Review != "in_review" || stored.Targets[0].State != model.Draft {
		t.Errorf("post is %s, target %s", stored.Post.Review, stored.Targets[0].State)
	}
	asked, err := s.agency.Owner.PostApprovals(t.Context(), id)
	if err != nil || len(asked) != 1 || asked[0].DueAt == nil {
		t.Fatalf("asked %+v, %v", asked, err)
	}
	again := page.form(t)
	if again.Get("date") != "2026-03-12" || again.Get("clock") != "09:30" {
		t.Errorf("the time is gone: %v", again)
	}
	s.saved(t, s.send(t, again, "schedule"), "Saved. It still waits for approval by Client bakery. It is planned for Thu 12 Mar 2026, 09:30 (Berlin) and not scheduled yet")
	if _, err := s.agency.Owner.Decide(t.Context(), asked[0].ID, db.Decision{Request: asked[0].ID, Hash: asked[0].Hash, Stage: 1, Verdict: model.Approve}); err != nil {
		t.Fatal(err)
	}
	approved := s.get(t, s.owner, fmt.Sprintf("/w/north/posts/%d", id)).want(t, 200, "Approved").form(t)
	s.saved(t, s.send(t, approved, "schedule"), "Scheduled for Thu 12 Mar 2026, 09:30 (Berlin)")
}

func TestWhatWasSubmittedIsNotOfferedForSubmissionAgain(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.stage(t)
	const offer = `value="submit"`
	form := s.fresh(t)
	form.Set("date", "2026-03-12")
	form.Set("clock", "09:30")
	id, page := s.saved(t, s.send(t, form, "submit"))
	offers := func(when string, a answer, want bool) {
		if got := strings.Contains(a.body, offer); got != want {
			t.Errorf("%s: submitting is offered: %v", when, got)
		}
	}
	typed := func(text string) answer {
		changed := page.form(t)
		changed.Set("text", text)
		return s.post(t, s.owner, "/w/north/posts/check", changed).want(t, 200)
	}
	offers("in review", page, false)
	offers("changed in review", typed("Other words"), true)
	asked, err := s.agency.Owner.PostApprovals(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.agency.Owner.Decide(t.Context(), asked[0].ID, db.Decision{Request: asked[0].ID, Hash: asked[0].Hash, Stage: 1, Verdict: model.Approve}); err != nil {
		t.Fatal(err)
	}
	page = s.get(t, s.owner, fmt.Sprintf("/w/north/posts/%d", id)).want(t, 200, "Approved")
	offers("approved", page, false)
	offers("typed and taken back", typed(page.form(t).Get("text")), false)
	offers("changed after approval", typed("Other words").want(t, 200, "Changed since approval was asked for"), true)
	_, page = s.saved(t, s.send(t, page.form(t), "schedule"), "Scheduled")
	offers("scheduled", page, false)
	changed := page.form(t)
	changed.Set("text", "Other words")
	_, page = s.saved(t, s.send(t, changed, "save"))
	offers("saved differently", page, true)
}

func TestPublishingWithAStagePublishesNothing(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.stage(t)
	id, page := s.saved(t, s.send(t, s.fresh(t), "publish"), "Nothing is published before; come back and publish it once it is approved.")
	if s.count(t, "outbox") != 0 || s.stored(t, id).Post.Review != "in_review" {
		t.Error("something went out")
	}
	s.saved(t, s.send(t, page.form(t), "submit"), "It still waits for approval by Client bakery.")
}

func TestATextThatIsTooLongIsSavedAndNotSubmitted(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("text", strings.Repeat("bread and butter ", 40))
	form.Set("do", "refresh")
	s.post(t, s.owner, "/w/north/posts/check", form).want(t, 200, "679 / of 500", "take out 179, or shorten it to fit.")
	page := s.send(t, form, "submit").want(t, 422, "Saved, but not submitted", "Mastodon @mastodon-0: The text has 679 characters")
	again := page.form(t)
	if again.Get("post") == "" || again.Get("text") != strings.TrimSpace(strings.Repeat("bread and butter ", 40)) {
		t.Errorf("lost: %v", again)
	}
	again.Set("do", "fit:mastodon")
	fitted := s.post(t, s.owner, "/w/north/posts/form", again).want(t, 200, "has words of its own").form(t)
	n, _ := network.Get(network.Mastodon)
	if short := fitted.Get("text.mastodon"); n.Count(short) > 500 || !strings.HasSuffix(short, "…") {
		t.Fatalf("fitted to %q", short)
	}
	id, _ := s.saved(t, s.send(t, fitted, "submit"), "Approved")
	if v := s.stored(t, id).Version.Content.Variants["mastodon"]; v.Text == nil || *v.Text != fitted.Get("text.mastodon") {
		t.Errorf("what was shown is not what is stored: %+v", v)
	}
}

func TestAnEmptyPostAndOneWithoutAccountsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("text", "  ")
	s.send(t, form, "publish").want(t, 422, "Saved, but not published", "There is nothing to post yet")
	form = s.fresh(t)
	form.Del("account")
	s.send(t, form, "submit").want(t, 422, "Nothing was saved yet", "Choose at least one account.")
	if n := s.count(t, "posts"); n != 1 {
		t.Errorf("%d posts", n)
	}
}

func TestVariantsAndOptionsOpenAgainAsTheyWere(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("do", "customise:mastodon")
	form = s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200).form(t)
	if form.Get("text.mastodon") != "Fresh bread from seven" {
		t.Errorf("a variant does not start from the shared text: %v", form)
	}
	form.Set("first_comment.mastodon", "Thank you")
	visibility := fmt.Sprintf("option.%d.visibility", s.account)
	form.Set(visibility, "unlisted")
	id, page := s.saved(t, s.send(t, form, "save"))
	content := s.stored(t, id).Version.Content
	if v := content.Variants["mastodon"]; v.Text == nil || v.Link != nil || v.FirstComment == nil || *v.FirstComment != "Thank you" || v.Media != nil {
		t.Errorf("variant %+v", v)
	}
	if got := content.Options[s.account]; len(got) != 1 || got["visibility"] != "unlisted" {
		t.Errorf("options %v: defaults say nothing and are not kept", got)
	}
	if _, page = s.saved(t, s.send(t, page.form(t), "save")); s.stored(t, id).Version.Number != 1 {
		t.Error("opening and saving made a new version")
	}
	back := page.form(t)
	back.Set("do", "shared:mastodon")
	back = s.post(t, s.owner, "/w/north/posts/form", back).want(t, 200, "gets the shared text").form(t)
	s.saved(t, s.send(t, back, "save"))
	if v := s.stored(t, id).Version.Content.Variants; len(v) != 0 {
		t.Errorf("back to shared kept %v", v)
	}
}

func TestAVariantOfANetworkThatIsNotChosenIsKeptButNotSaved(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	hook := s.agency.Account(t, s.client, network.Webhook)
	form := s.fresh(t)
	form.Set("do", "customise:mastodon")
	form = s.post(t, s.owner, "/w/north/posts/form", form).form(t)
	form.Set("text.mastodon", "Only for Mastodon")
	form["account"] = []string{fmt.Sprint(int64(hook))}
	id, _ := s.saved(t, s.send(t, maps.Clone(form), "save"))
	if v := s.stored(t, id).Version.Content.Variants; len(v) != 0 {
		t.Errorf("stored %v", v)
	}
	form.Set("do", "refresh")
	if kept := s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200).form(t); kept.Get("text.mastodon") != "Only for Mastodon" {
		t.Errorf("the words are lost: %v", kept)
	}
}

func TestAllOfAClientReachesThatClientOnly(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	second := s.agency.Account(t, s.client, network.Webhook)
	other := s.agency.Client(t, "forest")
	s.agency.Account(t, other, network.Webhook)
	form := s.fresh(t)
	form.Del("account")
	form.Set("do", fmt.Sprintf("all:%d", s.client))
	got := s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200, "all 2 accounts chosen").form(t)
	if fmt.Sprint(got["account"]) != fmt.Sprint([]model.AccountID{s.account, second}) {
		t.Errorf("chosen %v", got["account"])
	}
	got.Set("do", fmt.Sprintf("none:%d", s.client))
	if got = s.post(t, s.owner, "/w/north/posts/form", got).want(t, 200).form(t); len(got["account"]) != 0 {
		t.Errorf("still chosen: %v", got["account"])
	}
}

func TestEachClientIsConfirmedByName(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	other := s.agency.Client(t, "forest")
	hook := s.agency.Account(t, other, network.Webhook)
	form := s.fresh(t)
	form.Add("account", fmt.Sprint(int64(hook)))
	page := s.send(t, form, "publish").want(t, 422, "This post goes to accounts of several clients", "Yes, it goes to Client bakery", "Yes, it goes to Client forest", "Confirm and publish now")
	if s.count(t, "posts") != 0 {
		t.Fatal("it was saved unasked")
	}
	form = page.form(t)
	form.Add("named", fmt.Sprint(int64(s.client)))
	form = s.send(t, form, "publish").want(t, 422, "Confirm each client by name").form(t)
	form.Add("named", fmt.Sprint(int64(other)))
	id, page := s.saved(t, s.send(t, form, "publish"), "On its way to 2 accounts now.")
	third := s.agency.Client(t, "harbour")
	s.Super(t, s.agency.Shard, `UPDATE tenant.targets SET state = 'draft' WHERE post_id = $1`, id)
	form = page.form(t)
	form.Set("text", "Changed")
	s.saved(t, s.send(t, form, "save"), "Saved.") // the same clients need no second word
	form = s.get(t, s.owner, fmt.Sprintf("/w/north/posts/%d", id)).form(t)
	form.Add("account", fmt.Sprint(int64(s.agency.Account(t, third, network.Webhook))))
	s.send(t, form, "save").want(t, 422, "Yes, it goes to Client harbour")
}

func TestWhoMayNotWriteSeesWhatIsSentAndNoForm(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	id, _ := s.saved(t, s.send(t, s.fresh(t), "save"))
	viewer := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants()}))
	page := s.get(t, viewer, fmt.Sprintf("/w/north/posts/%d", id)).want(t, 200, "Fresh bread from seven", "@mastodon-0")
	if strings.Contains(page.body, `id="composer"`) || page.says("Put this post away") {
		t.Error("a viewer gets a form")
	}
	s.get(t, viewer, fmt.Sprintf("/w/north/posts/%d/versions/1", id)).want(t, 200, "Fresh bread from seven")
}

func TestWhoMayNotScheduleIsToldBeforeAnythingIsSaved(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.owner = s.signIn(t, s.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{s.client: model.Editor.Grants()}))
	form := s.fresh(t)
	s.send(t, form, "publish").want(t, 403, "Nothing was saved yet", "Your role does not allow scheduling for Client bakery.")
	if s.count(t, "posts") != 0 {
		t.Error("it was saved")
	}
	s.saved(t, s.send(t, form, "submit"), "Approved")
}

func TestADisconnectedAccountIsSaidBeforeAnythingIsSaved(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.Super(t, s.agency.Shard, `UPDATE tenant.accounts SET state = 'needs_reconnect' WHERE id = $1`, s.account)
	form := s.fresh(t)
	s.send(t, form, "publish").want(t, 422, "Nothing was saved yet", "@mastodon-0 has lost its connection.", "Needs reconnecting")
	s.saved(t, s.send(t, form, "save"), "Saved.")
}

func TestFailuresAreRetriedTogetherAndAPostIsPutAway(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	post := s.agency.Due(t, "Rye", time.Hour, s.account).Post
	s.Super(t, s.agency.Shard, `UPDATE tenant.targets SET state = 'queued' WHERE post_id = $1`, post.ID)
	s.Super(t, s.agency.Shard, `UPDATE tenant.targets SET state = 'failed', reason = 'validation', say = 'Too large.' WHERE post_id = $1`, post.ID)
	path := fmt.Sprintf("/w/north/posts/%d", post.ID)
	s.get(t, s.owner, path).want(t, 200, "Too large.", "Retry 1 failure")
	s.post(t, s.owner, path+"/retries", url.Values{"seen": {"1"}}).want(t, 409)
	s.saved(t, s.post(t, s.owner, path+"/retries", url.Values{"seen": {fmt.Sprint(post.Revision)}}), "One account is tried again now.")
	seen := s.stored(t, post.ID).Post.Revision
	s.saved(t, s.post(t, s.owner, path+"/archive", url.Values{"seen": {fmt.Sprint(seen)}}), "The post was put away.", "Duplicate it to use it again.")
	s.get(t, s.owner, fmt.Sprintf("/w/north/posts/new?from=%d&day=2026-04-01", post.ID)).want(t, 200, "Rye")
}

// What would be refused is not offered: while something is being published the page says
// why the post cannot be put away, and whoever may not do so is not asked.
func TestPuttingAwayIsOfferedWhereItCanBeDone(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	post := s.agency.Due(t, "Rye", time.Hour, s.account).Post
	path := fmt.Sprintf("/w/north/posts/%d", post.ID)
	move := func(state string) {
		t.Helper()
		s.Super(t, s.agency.Shard, `UPDATE tenant.targets SET state = $2, owner = CASE $2 WHEN 'publishing' THEN gen_random_uuid() END WHERE post_id = $1`, post.ID, state)
	}
	offer := path + "/archive"
	if page := s.get(t, s.owner, path).want(t, 200); !strings.Contains(page.body, offer) {
		t.Error("it is not offered before")
	}
	reader := s.signIn(t, s.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants(), s.agency.Client(t, "other"): model.Editor.Grants()}))
	for _, c := range []struct{ state, say string }{{"queued", ""}, {"publishing", "is being published at this moment"}, {"unknown_outcome", "It is not known yet whether the post is live on @mastodon-0"}} {
		move(c.state)
		page := s.get(t, s.owner, path).want(t, 200, c.say)
		if c.say != "" && strings.Contains(page.body, offer) {
			t.Errorf("%s: putting away is offered", c.state)
		}
		if page := s.get(t, reader, path).want(t, 200); strings.Contains(page.body, "put-away") {
			t.Errorf("%s: somebody who may only read is asked to put it away", c.state)
		}
	}
}

func TestBytesThatNoDatabaseStoresAreTakenOut(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	form := s.fresh(t)
	form.Set("text", "Bread\x00 and \xff butter\r\nbelow")
	form.Set("notes", "a\x00b")
	id, _ := s.saved(t, s.send(t, form, "save"))
	if got := s.stored(t, id); got.Version.Content.Text != "Bread and \uFFFD butter\nbelow" || got.Post.Notes != "ab" {
		t.Errorf("stored %q, %q", got.Version.Content.Text, got.Post.Notes)
	}
}
