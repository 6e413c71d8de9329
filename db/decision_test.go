package db_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

func TestStagesFollowOneAnotherAndTheLastApprovesThePost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	mia, dana := h.manager(t, h.client), h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.AnyOne, person(mia))
	h.stage(t, h.client, 4, model.AnyOne, dana)
	page := h.submit(t, h.Post(t, "Open today", h.account))[0]
	r := h.request(t, page.Post.ID, h.client)

	first, err := mia.Decide(t.Context(), r.ID, yes(r.ApprovalRequest))
	if err != nil || first.State != model.RequestOpen || first.Stage != 2 || first.Approved {
		t.Fatalf("first stage: %+v, %v", first, err)
	}
	again, err := mia.Decide(t.Context(), r.ID, yes(r.ApprovalRequest))
	if err != nil || !again.Repeated {
		t.Errorf("the double click: %+v, %v", again, err)
	}
	second := mustDecide(t, h.review(t, dana), yes(h.request(t, page.Post.ID, h.client).ApprovalRequest))
	if !second.Approved || second.State != model.RequestApproved {
		t.Errorf("second stage: %+v", second)
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.decisions`); n != 2 {
		t.Errorf("%d decisions", n)
	}
	last := h.mails(t)[len(h.mails(t))-1]
	if last.Kind != model.MailDecision || last.Email != "owner0@north.example" || !last.Content.Posts[0].Done || last.Content.Sender != "Dana" {
		t.Errorf("the writer is told %+v", last)
	}
}

// A batch that its inner stage approves post by post reaches the client in one
// mail with one link, as long as the mail has not left.
func TestAFurtherStageHearsOfABatchInOneMail(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	mia, lee, dana := h.manager(t, h.client), h.manager(t, h.client), h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.AnyOne, person(mia))
	h.stage(t, h.client, 2, model.AnyOne, dana, person(lee))
	var posts []db.PostPage
	for _, text := range []string{"One", "Two", "Three", "Four"} {
		posts = append(posts, h.Post(t, text, h.account))
	}
	pages := h.submit(t, posts...)
	before := len(h.mails(t))
	pass := func(page db.PostPage) {
		t.Helper()
		if _, err := mia.Decide(t.Context(), h.request(t, page.Post.ID, h.client).ID, yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)); err != nil {
			t.Fatal(err)
		}
	}
	told := func(kind string) (mails []mail) {
		for _, m := range h.mails(t)[before:] {
			if m.Kind == kind {
				mails = append(mails, m)
			}
		}
		return mails
	}
	for _, page := range pages[:3] {
		pass(page)
	}
	for _, kind := range []string{model.MailReviewRequest, model.MailApprovalWaiting} {
		if got := told(kind); len(got) != 1 || len(got[0].Content.Posts) != 3 || got[0].Content.Posts[2].Excerpt != "Three" {
			t.Fatalf("%s after three posts: %+v", kind, got)
		}
	}
	link, err := h.Store.Review(t.Context(), told(model.MailReviewRequest)[0].Token)
	if err != nil {
		t.Fatal(err)
	}
	if page, err := link.Page(t.Context()); err != nil || len(page.Items) != 3 {
		t.Errorf("the link opens %d posts, %v; want 3", len(page.Items), err)
	}
	pipe, err := db.OpenPipeline(t.Context(), h.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pipe.Close)
	lease := h.Clock.Now().Add(time.Hour)
	if left, err := pipe.TakeMails(t.Context(), db.MainShard, lease, 100); err != nil || len(left) != before {
		t.Errorf("%d mails left at once, %v; want the %d of before", len(left), err, before)
	}
	h.Clock.Advance(3 * time.Minute)
	if _, err := pipe.TakeMails(t.Context(), db.MainShard, lease, 100); err != nil {
		t.Fatal(err)
	}
	pass(pages[3])
	if got := told(model.MailReviewRequest); len(got) != 2 || len(got[0].Content.Posts) != 3 || len(got[1].Content.Posts) != 1 {
		t.Errorf("a post after the mail was taken: %+v", got)
	}
}

// What one person decides about a writer's posts one after the other, the writer
// hears in one mail; what another decides, and what comes later, in the next.
func TestAWriterHearsOfABatchOfDecisionsInOneMail(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana, lee := h.approver(t, h.client, "Dana"), h.approver(t, h.client, "Lee")
	h.stage(t, h.client, 1, model.AnyOne, dana, lee)
	var posts []db.PostPage
	for _, text := range []string{"One", "Two", "Three", "Four", "Five"} {
		posts = append(posts, h.Post(t, text, h.account))
	}
	pages := h.submit(t, posts...)
	links := map[string]*db.ReviewScope{"Dana": h.review(t, dana), "Lee": h.review(t, lee)}
	decide := func(page db.PostPage, who string, v model.Verdict) {
		t.Helper()
		d := yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)
		d.Verdict = v
		mustDecide(t, links[who], d)
	}
	decide(pages[0], "Dana", model.Approve)
	decide(pages[1], "Lee", model.Approve)
	decide(pages[2], "Dana", model.Reject)
	h.Clock.Advance(3 * time.Minute)
	decide(pages[3], "Dana", model.Approve)
	var got []string
	for _, m := range h.mails(t) {
		if m.Kind == model.MailDecision {
			said := m.Content.Sender + " " + m.Content.Path
			for _, p := range m.Content.Posts {
				said += " " + p.Excerpt + " " + string(p.Verdict)
			}
			got = append(got, said)
		}
	}
	single := func(i int) string { return fmt.Sprintf("/w/north/posts/%d", pages[i].Post.ID) }
	want := []string{"Dana /w/north/approvals One approve Three reject", "Lee " + single(1) + " Two approve", "Dana " + single(3) + " Four approve"}
	if !slices.Equal(got, want) {
		t.Errorf("the writer is told\n%q, want\n%q", got, want)
	}
}

func TestEveryoneMeansEveryoneEvenAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	names := []string{"Dana", "Lee", "Kim", "Sam"}
	var people []model.AskedPerson
	for _, n := range names {
		people = append(people, h.approver(t, h.client, n))
	}
	h.stage(t, h.client, 1, model.Everyone, people...)
	page := h.submit(t, h.Post(t, "Open today", h.account))[0]
	d := yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)

	one := mustDecide(t, h.review(t, people[0]), d)
	if one.State != model.RequestOpen {
		t.Fatalf("one of four settled it: %+v", one)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	approved := 0
	for _, p := range people[1:] {
		rs := h.review(t, p)
		for range 2 { // and each of them clicks twice
			wg.Go(func() {
				out, err := rs.Decide(t.Context(), []db.Decision{d})
				if err != nil || out[0].No != nil {
					t.Errorf("%s: %v, %v", p.Name, err, out)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if out[0].Approved {
					approved++
				}
			})
		}
	}
	wg.Wait()
	if approved != 1 {
		t.Errorf("the post was approved %d times", approved)
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.decisions`); n != 4 {
		t.Errorf("%d decisions of four people", n)
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.audit WHERE verb = 'approval_complete'`); n != 1 {
		t.Errorf("%d lines say that the post is approved", n)
	}
}

func TestWhoWasRemovedDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana, lee := h.approver(t, h.client, "Dana"), h.approver(t, h.client, "Lee")
	h.stage(t, h.client, 1, model.Everyone, dana, lee)
	page := h.submit(t, h.Post(t, "Open today", h.account))[0]
	links := h.review(t, dana)
	h.Super(t, h.Shard, `UPDATE tenant.approvers SET revoked_at = now() WHERE id = $1`, lee.Approver)
	if d := mustDecide(t, links, yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)); !d.Approved {
		t.Errorf("still waiting for somebody who left: %+v", d)
	}
	rs, err := h.Store.Review(t.Context(), h.lastLink(t, lee))
	wants(t, err, model.Gone, "no longer asks you")
	if rs.MayAskFresh() {
		t.Error("a removed approver may ask for a link")
	}
	wants(t, rs.AskFreshLink(t.Context(), ""), model.Gone, "")
}

func TestADecisionAboutAnOlderVersionShowsTheDifferenceAndRecordsNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana := h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.AnyOne, dana)
	page := h.submit(t, h.Post(t, "Open on Monday", h.account))[0]
	rs := h.review(t, dana)
	stale := yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)

	content := page.Version.Content
	content.Text = "Open on Tuesday"
	edited, err := h.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	changed := refusedAsChanged(t, rs, stale)
	if !strings.Contains(changed.Say, "once the newer version has been submitted") {
		t.Errorf("nothing newer is asked about yet: %q", changed.Say)
	}
	if changed.Newer != 0 || changed.Before[0].Text != "Open on Monday" || changed.After[0].Text != "Open on Tuesday" {
		t.Errorf("difference: %+v", changed)
	}
	shown, err := rs.Page(t.Context())
	if err != nil || len(shown.Items) != 1 || shown.Items[0].State != model.RequestSuperseded || shown.Items[0].MayDecide {
		t.Errorf("the link to what was superseded shows %+v, %v", shown.Items, err)
	}

	h.submit(t, edited)
	if changed = refusedAsChanged(t, rs, stale); changed.Newer == 0 || !strings.Contains(changed.Say, "then decide on the newer version") {
		t.Error("the newer request is not named")
	}
	shown, err = rs.Page(t.Context())
	if err != nil || len(shown.Items) != 1 || !shown.Items[0].MayDecide || !shown.Items[0].Newer || shown.Items[0].Before[0].Text != "Open on Monday" {
		t.Fatalf("the old link shows %+v, %v", shown.Items, err)
	}
	forged := yes(shown.Items[0].ApprovalRequest)
	forged.Hash = stale.Hash
	refusedAsChanged(t, rs, forged)
	if n := h.count(t, `SELECT count(*) FROM tenant.decisions`); n != 0 {
		t.Errorf("%d decisions were recorded", n)
	}
	if d := mustDecide(t, rs, yes(shown.Items[0].ApprovalRequest)); !d.Approved {
		t.Errorf("the newer version: %+v", d)
	}
}

func refusedAsChanged(t *testing.T, rs *db.ReviewScope, d db.Decision) *db.Changed {
	t.Helper()
	out, err := rs.Decide(t.Context(), []db.Decision{d})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, out[0].No, model.Conflict, "changed")
	changed, ok := errors.AsType[*db.Changed](out[0].No)
	if !ok {
		t.Fatalf("no difference comes with %v", out[0].No)
	}
	return changed
}

func TestChangesAndRejectionsGoBackToTheWriter(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana := h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.AnyOne, dana)
	for _, v := range []model.Verdict{model.RequestChanges, model.Reject} {
		page := h.submit(t, h.Post(t, "Draft for "+string(v), h.account))[0]
		d := yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)
		d.Verdict = v
		if v == model.RequestChanges {
			d.Words = "\u200b " // which nobody sees
			out, err := h.review(t, dana).Decide(t.Context(), []db.Decision{d})
			if err != nil {
				t.Fatal(err)
			}
			wants(t, out[0].No, model.Unprocessable, "Say what should change")
		}
		d.Words = "Too loud."
		mustDecide(t, h.review(t, dana), d)
		now, err := h.Owner.Post(t.Context(), page.Post.ID)
		if err != nil || now.Post.State != model.PostChangesRequested {
			t.Errorf("after %s the post is %s, %v", v, now.Post.State, err)
		}
		mails := h.mails(t)
		if last := mails[len(mails)-1]; last.Kind != model.MailDecision || last.Content.Posts[0].Words != "Too loud." || last.Content.Posts[0].Verdict != v {
			t.Errorf("the writer is told %+v", last)
		}
		h.Clock.Advance(3 * time.Minute) // so that the next decision is another mail's
	}
	in, err := h.Owner.Approvals(t.Context(), db.BoxChanges, 0)
	if err != nil || len(in.Requests) != 2 || in.Changes != 2 || in.Requests[0].Last().Words != "Too loud." {
		t.Errorf("inbox: %+v, %v", in, err)
	}
}

func TestOnlyThePeopleOfAStageDecideAndAnOwnersOverrideIsRecorded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana, mia := h.approver(t, h.client, "Dana"), h.manager(t, h.client)
	h.stage(t, h.client, 1, model.Everyone, dana, h.approver(t, h.client, "Lee"))
	page := h.submit(t, h.Post(t, "Open today", h.account))[0]
	r := h.request(t, page.Post.ID, h.client)
	d := yes(r.ApprovalRequest)

	_, err := mia.Decide(t.Context(), r.ID, d)
	wants(t, err, model.Forbidden, "not among them")
	editor := h.Member(t, model.Editor, map[model.ClientID][]model.Permission{h.client: model.Editor.Grants()})
	_, err = editor.Decide(t.Context(), r.ID, d)
	wants(t, err, model.Forbidden, "role")
	elsewhere := h.manager(t, h.Client(t, "bolt"))
	_, err = elsewhere.Decide(t.Context(), r.ID, d)
	wants(t, err, model.NotFound, "")
	_, err = h.World.Agency(t, "south", db.MainShard).Owner.Decide(t.Context(), r.ID, d)
	wants(t, err, model.NotFound, "")
	_, err = h.Owner.Decide(t.Context(), 999, d)
	wants(t, err, model.NotFound, "")

	out, err := h.Owner.Decide(t.Context(), r.ID, d)
	if err != nil || !out.Approved {
		t.Fatalf("the owner: %+v, %v", out, err)
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.audit WHERE verb = 'approved' AND (detail->>'override')::boolean`); n != 1 {
		t.Error("the override is not in the audit log")
	}
	if !h.request(t, page.Post.ID, h.client).Decisions[0].Override {
		t.Error("the decision does not say that it is an override")
	}
	late, err := h.review(t, dana).Decide(t.Context(), []db.Decision{d})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, late[0].No, model.Conflict, "decided meanwhile")
}

func TestADecisionCannotBeTakenTwiceInTwoWays(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana := h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.Everyone, dana, h.approver(t, h.client, "Lee"))
	page := h.submit(t, h.Post(t, "Open today", h.account))[0]
	d := yes(h.request(t, page.Post.ID, h.client).ApprovalRequest)
	rs := h.review(t, dana)
	mustDecide(t, rs, d)
	d.Verdict = model.Reject
	out, err := rs.Decide(t.Context(), []db.Decision{d})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, out[0].No, model.Conflict, "you approved it")
	d.Verdict = "publish"
	if out, err = rs.Decide(t.Context(), []db.Decision{d}); err != nil {
		t.Fatal(err)
	}
	wants(t, out[0].No, model.Unprocessable, "Choose")
	if n := h.count(t, `SELECT count(*) FROM tenant.decisions`); n != 1 {
		t.Errorf("%d decisions", n)
	}
}

func TestAMaterialEditTakesBackAnApproval(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	mia := h.manager(t, h.client)
	h.stage(t, h.client, 1, model.AnyOne, person(mia))
	page := h.submit(t, h.Post(t, "Open today", h.account))[0]
	r := h.request(t, page.Post.ID, h.client)
	if _, err := mia.Decide(t.Context(), r.ID, yes(r.ApprovalRequest)); err != nil {
		t.Fatal(err)
	}
	approved, err := h.Owner.Post(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	content := approved.Version.Content
	content.Text = "Closed today"
	edited, err := h.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: approved.Post.Revision, Content: content})
	if err != nil {
		t.Fatal(err)
	}
	if edited.Post.ApprovedVersionID != nil || edited.Targets[0].State != model.Draft {
		t.Errorf("post: %+v, target %s", edited.Post, edited.Targets[0].State)
	}
	h.submit(t, edited)
	now := h.request(t, page.Post.ID, h.client)
	if now.State != model.RequestOpen || now.BeforeIs != "approved" || now.Before[0].Text != "Open today" {
		t.Errorf("the new request: %+v", now.ApprovalRequest)
	}
}

func TestTheInboxSortsByWhoseTurnItIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	other := h.Client(t, "bolt")
	mia := h.manager(t, h.client)
	h.stage(t, h.client, 1, model.Everyone, person(mia), h.approver(t, h.client, "Dana"))
	h.stage(t, other, 1, model.AnyOne, h.approver(t, other, "Lee"))
	page := h.submit(t, h.Post(t, "Acme", h.account), h.Post(t, "Bolt", h.Account(t, other, network.Mastodon)))[0]

	in, err := mia.Approvals(t.Context(), db.BoxMine, 0)
	if err != nil || in.Mine != 1 || in.Others != 0 || len(in.Requests) != 1 || !in.Requests[0].MayDecide || in.Requests[0].Override {
		t.Fatalf("Mia's inbox: %+v, %v", in, err)
	}
	badge := func(who *db.Scope) int {
		frame, err := h.Store.Frame(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		return frame.Waiting
	}
	if m, o := badge(mia), badge(h.Owner); m != 1 || o != 0 {
		t.Errorf("the badge says %d to Mia and %d to the owner, whom nobody asks", m, o)
	}
	in, err = h.Owner.Approvals(t.Context(), db.BoxOthers, 0)
	if err != nil || in.Mine != 0 || len(in.Requests) != 2 || !in.Requests[0].Override || len(in.Requests[0].Links) != 1 {
		t.Errorf("the owner's inbox: %+v, %v", in, err)
	}
	r := h.request(t, page.Post.ID, h.client)
	if _, err := mia.Decide(t.Context(), r.ID, yes(r.ApprovalRequest)); err != nil {
		t.Fatal(err)
	}
	if n := badge(mia); n != 0 {
		t.Errorf("the badge says %d to Mia, who has decided", n)
	}
	if in, err = mia.Approvals(t.Context(), db.BoxOthers, 0); err != nil || in.Mine != 0 || len(in.Requests) != 1 || in.Requests[0].MayDecide {
		t.Errorf("after Mia's part: %+v, %v", in, err)
	}
}

func TestCommentsAreInternalOrForOneClient(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	other := h.Client(t, "bolt")
	page := h.Post(t, "For both", h.account, h.Account(t, other, network.Mastodon))
	mia, lou := h.manager(t, h.client), h.manager(t, other)
	for _, f := range []db.CommentForm{
		{Visibility: model.Internal, Body: "They never like red."},
		{Visibility: model.ClientVisible, Client: h.client, Body: "As you asked."},
		{Visibility: model.ClientVisible, Client: other, Body: "For Bolt."},
	} {
		f.Post = page.Post.ID
		if _, err := h.Owner.Comment(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range []struct {
		scope *db.Scope
		want  string
	}{{mia, "They never like red.|As you asked."}, {lou, "They never like red.|For Bolt."}, {h.Owner, "They never like red.|As you asked.|For Bolt."}} {
		list, err := who.scope.Comments(t.Context(), page.Post.ID)
		var bodies []string
		for _, c := range list {
			bodies = append(bodies, c.Body)
		}
		if got := strings.Join(bodies, "|"); got != who.want || err != nil {
			t.Errorf("%s reads %q, %v", who.scope.Actor.Name, got, err)
		}
	}
	_, err := mia.Comment(t.Context(), db.CommentForm{Post: page.Post.ID, Visibility: model.ClientVisible, Client: other, Body: "x"})
	wants(t, err, model.NotFound, "")
	_, err = mia.Comment(t.Context(), db.CommentForm{Post: page.Post.ID, Visibility: model.Internal, Body: " \n"})
	wants(t, err, model.Unprocessable, "Write something")
	viewer := h.Member(t, model.Viewer, map[model.ClientID][]model.Permission{h.client: model.Viewer.Grants()})
	_, err = viewer.Comment(t.Context(), db.CommentForm{Post: page.Post.ID, Visibility: model.Internal, Body: "x"})
	wants(t, err, model.Forbidden, "")
	_, err = h.World.Agency(t, "south", db.MainShard).Owner.Comments(t.Context(), page.Post.ID)
	wants(t, err, model.NotFound, "")
}

func TestWhatChangedIsTrueAfterPartOfAPostWasSent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana := h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.AnyOne, dana)
	other := h.Account(t, h.client, network.Mastodon)
	page := h.submit(t, h.Post(t, "Open on Monday", h.account, other))[0]
	first := h.request(t, page.Post.ID, h.client).ApprovalRequest
	link := h.review(t, dana)
	mustDecide(t, link, yes(first))
	sent, failed := page.Targets[0], page.Targets[1]
	h.Super(t, h.Shard, `UPDATE tenant.targets SET due_at = now(), local_at = now(), zone = 'UTC', occurrence = '', next_at = now() WHERE id = ANY ($1)`,
		[]model.TargetID{sent.ID, failed.ID})
	h.Push(t, sent.ID, "", model.Scheduled, model.Queued, model.Publishing, model.Published)
	h.Push(t, failed.ID, "permanent", model.Scheduled, model.Queued, model.Failed)

	page = h.edit(t, page, func(c *model.Content) { c.Text = "Open on Tuesday" })
	h.submit(t, page)
	r := h.request(t, page.Post.ID, h.client)
	accounts(t, "the newer version", r.Previews, failed.AccountID)
	accounts(t, "what was asked before", r.Before, failed.AccountID)
	if r.Before[0].Text != "Open on Monday" || r.Previews[0].Text != "Open on Tuesday" {
		t.Errorf("the change is told as %q to %q", r.Before[0].Text, r.Previews[0].Text)
	}
	link = h.review(t, dana)
	h.edit(t, page, func(c *model.Content) { c.Text = "Open on Wednesday" })
	no := refusedAsChanged(t, link, yes(r.ApprovalRequest))
	accounts(t, "the changed version", no.After, failed.AccountID)
	accounts(t, "the decided version", no.Before, failed.AccountID)
}

func TestWhatChangedNamesAnAccountThatIsGone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	h.stage(t, h.client, 1, model.AnyOne, h.approver(t, h.client, "Dana"))
	other := h.Account(t, h.client, network.Mastodon)
	page := h.submit(t, h.Post(t, "Open on Monday", h.account, other))[0]
	page = h.edit(t, page, func(c *model.Content) { c.Accounts = []model.AccountID{other} })
	h.submit(t, page)
	r := h.request(t, page.Post.ID, h.client)
	accounts(t, "what was asked before", r.Before, h.account, other)
	accounts(t, "the newer version", r.Previews, other)
}

func accounts(t *testing.T, what string, previews []model.Preview, want ...model.AccountID) {
	t.Helper()
	var have []model.AccountID
	for _, p := range previews {
		have = append(have, p.AccountID)
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("%s is for %v, want %v", what, have, want)
	}
}

// edit writes a post's next version.
func (h *house) edit(t *testing.T, page db.PostPage, change func(*model.Content)) db.PostPage {
	t.Helper()
	page, err := h.Owner.Post(t.Context(), page.Post.ID)
	if err != nil {
		t.Fatal(err)
	}
	content := page.Version.Content
	change(&content)
	if page, err = h.Owner.SavePost(t.Context(), page.Post.ID, db.PostForm{Seen: page.Post.Revision, Content: content}); err != nil {
		t.Fatal(err)
	}
	return page
}

// TestTheInboxStandsInTheOrderOfWhatIsPlanned and knows what is late: its time has
// passed, or it has waited until others are told.
func TestTheInboxStandsInTheOrderOfWhatIsPlanned(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	mia := h.manager(t, h.client)
	h.stage(t, h.client, 1, model.AnyOne, person(mia))
	loose := h.submit(t, h.Post(t, "Without a time", h.account))[0]
	late := h.submit(t, h.plan(t, h.Post(t, "The day after", h.account), 48*time.Hour))[0]
	soon := h.submit(t, h.plan(t, h.Post(t, "Tomorrow", h.account), 24*time.Hour))[0]
	order := func(box db.Box) (ids []model.PostID, in db.Inbox) {
		t.Helper()
		in, err := mia.Approvals(t.Context(), box, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range in.Requests {
			ids = append(ids, r.PostID)
		}
		return ids, in
	}
	if got, in := order(db.BoxMine); !slices.Equal(got, []model.PostID{soon.Post.ID, late.Post.ID, loose.Post.ID}) || in.Overdue != 0 {
		t.Errorf("mine: %v, %d overdue", got, in.Overdue)
	}
	h.Clock.Advance(30 * time.Hour)
	if got, in := order(db.BoxOverdue); !slices.Equal(got, []model.PostID{soon.Post.ID}) || in.Overdue != 1 || in.Mine != 3 {
		t.Errorf("overdue: %v, %+v", got, in)
	}
	h.Super(t, h.Shard, `UPDATE tenant.clients SET escalate_after = '29 hours'`)
	if got, _ := order(db.BoxOverdue); len(got) != 3 {
		t.Errorf("overdue once others would be told: %v", got)
	}
	decide(t, mia, h.request(t, soon.Post.ID, h.client).ApprovalRequest)
	if got, in := order(db.BoxOverdue); len(got) != 2 || in.Overdue != 2 {
		t.Errorf("overdue after a decision: %v", got)
	}
}

func decide(t *testing.T, who *db.Scope, r model.ApprovalRequest) {
	t.Helper()
	if _, err := who.Decide(t.Context(), r.ID, yes(r)); err != nil {
		t.Fatal(err)
	}
}
