package db_test

import (
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

func (h *house) workflow(t *testing.T) db.Workflow {
	t.Helper()
	w, err := h.Owner.Workflow(t.Context(), h.client)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (h *house) rules(t *testing.T, change func(*db.WorkflowForm)) (db.WorkflowEffect, error) {
	t.Helper()
	w := h.workflow(t)
	f := db.WorkflowForm{Seen: w.Seen, Rules: w.Rules}
	change(&f)
	return h.Owner.SaveWorkflow(t.Context(), h.client, f)
}

func TestAWorkflowIsSavedAsItWasAskedForAndTwiceIsOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	manager := h.manager(t, h.client)
	want := db.WorkflowRules{TimeIsMaterial: true, AutoSchedule: true, RemindAfter: 24 * time.Hour, RemindEvery: 48 * time.Hour, EscalateAfter: 96 * time.Hour, EscalateTo: []model.UserID{h.Owner.Actor.User}}
	save := func(f *db.WorkflowForm) {
		f.Rules = want
		f.Rules.Stages = []db.WorkflowStage{{Name: " Our  desk ", Rule: model.AnyOne, Users: []model.UserID{manager.Actor.User}}, {Name: "Client", Rule: model.Everyone}}
		f.New = []db.NewApprover{{Stage: 1, Name: "Dana Weber", Email: "Dana@Client.example"}, {Stage: 1, Email: "lee@client.example"}, {Stage: 1, Email: h.Owner.Actor.Name}}
	}
	_, err := h.rules(t, save)
	wants(t, err, model.Unprocessable, "is no e-mail address")
	if _, err := h.rules(t, func(f *db.WorkflowForm) { save(f); f.New = f.New[:2] }); err != nil {
		t.Fatal(err)
	}
	w := h.workflow(t)
	if len(w.Rules.Stages) != 2 || w.Rules.Stages[0].Name != "Our desk" || len(w.Rules.Stages[1].Approvers) != 2 || w.Rules.Stages[1].Rule != model.Everyone {
		t.Fatalf("stages %+v", w.Rules.Stages)
	}
	if w.Approvers[0].Name != "Dana Weber" || w.Approvers[0].Email != "dana@client.example" || w.Approvers[1].Name != "lee" {
		t.Errorf("approvers %+v", w.Approvers)
	}
	got := w.Rules
	got.Stages = nil
	if toJSON(t, got) != toJSON(t, want) {
		t.Errorf("rules %+v", got)
	}
	audits := h.count(t, `SELECT count(*) FROM tenant.audit WHERE verb = 'workflow_set'`)
	if _, err := h.rules(t, func(f *db.WorkflowForm) {}); err != nil || h.workflow(t).Seen != w.Seen || h.count(t, `SELECT count(*) FROM tenant.audit WHERE verb = 'workflow_set'`) != audits {
		t.Errorf("the same rules again changed something: %v", err)
	}
}

func TestAWorkflowRefusesWhatWouldNeverBeDecided(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	viewer := h.Member(t, model.Viewer, map[model.ClientID][]model.Permission{h.client: model.Viewer.Grants()})
	owner := []model.UserID{h.Owner.Actor.User}
	for _, c := range []struct {
		words string
		rules db.WorkflowRules
	}{
		{"Choose somebody", db.WorkflowRules{Stages: []db.WorkflowStage{{Name: "Client", Rule: model.AnyOne}}}},
		{"can no longer approve", db.WorkflowRules{Stages: []db.WorkflowStage{{Name: "Client", Rule: model.AnyOne, Users: []model.UserID{viewer.Actor.User}}}}},
		{"Give the stage a name", db.WorkflowRules{Stages: []db.WorkflowStage{{Name: " \u200b ", Rule: model.AnyOne, Users: owner}}}},
		{"under 60", db.WorkflowRules{Stages: []db.WorkflowStage{{Name: strings.Repeat("x", 61), Rule: model.AnyOne, Users: owner}}}},
		{"has this name", db.WorkflowRules{Stages: []db.WorkflowStage{{Name: "Client", Rule: model.AnyOne, Users: owner}, {Name: "client", Rule: model.AnyOne, Users: owner}}}},
		{"one of them is enough", db.WorkflowRules{Stages: []db.WorkflowStage{{Name: "Client", Rule: "most", Users: owner}}}},
		{"between an hour", db.WorkflowRules{RemindAfter: time.Minute}},
		{"between an hour", db.WorkflowRules{EscalateAfter: 91 * 24 * time.Hour, EscalateTo: owner}},
		{"Choose who is told", db.WorkflowRules{EscalateAfter: time.Hour}},
		{"no longer see", db.WorkflowRules{EscalateTo: []model.UserID{9999}}},
		{"10 stages at most", db.WorkflowRules{Stages: make([]db.WorkflowStage, 11)}},
	} {
		_, err := h.rules(t, func(f *db.WorkflowForm) { f.Rules = c.rules })
		if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, c.words) {
			t.Errorf("%s: %v", c.words, err)
		}
	}
	_, err := h.rules(t, func(f *db.WorkflowForm) { f.Seen = "old" })
	wants(t, err, model.Conflict, "nothing was saved")
	_, err = h.manager(t, h.client).Workflow(t.Context(), h.client)
	wants(t, err, model.Forbidden, "role")
}

// TestAChangedWorkflowSaysFirstWhatHappensToOpenRequests and then does it, by the
// rule of herald apply.
func TestAChangedWorkflowSaysFirstWhatHappensToOpenRequests(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	dana, lee := h.approver(t, h.client, "Dana"), h.approver(t, h.client, "Lee")
	h.stage(t, h.client, 1, model.Everyone, dana, lee)
	kept := h.submit(t, h.Post(t, "Decided by Lee alone", h.account))[0]
	mustDecide(t, h.review(t, lee), yes(h.request(t, kept.Post.ID, h.client).ApprovalRequest))
	waits := h.submit(t, h.Post(t, "Waits for both", h.account))[0]
	mails := len(h.mails(t))

	leave := func(f *db.WorkflowForm) {
		f.Rules.Stages[0].Name = "Client"
		f.Gone = []model.ApproverID{dana.Approver}
	}
	_, err := h.rules(t, leave)
	effect, asks := db.Confirm(err)
	if !asks || effect != (db.WorkflowEffect{Open: 2, Stay: 1, MovedOn: 1}) {
		t.Fatalf("asks %v: %+v, %v", asks, effect, err)
	}
	if w := h.workflow(t); w.Rules.Stages[0].Name != "Stage 1" || len(w.Approvers) != 2 || len(h.mails(t)) != mails {
		t.Fatal("something was saved before it was confirmed")
	}
	if _, err := h.rules(t, func(f *db.WorkflowForm) { leave(f); f.Confirmed = true }); err != nil {
		t.Fatal(err)
	}
	if got := h.request(t, kept.Post.ID, h.client); got.State != model.RequestApproved {
		t.Errorf("what all who are left approved is %s", got.State)
	}
	if got := h.request(t, waits.Post.ID, h.client); got.State != model.RequestOpen || got.Stages[0].Name != "Stage 1" {
		t.Errorf("what Lee still decides is %+v", got.ApprovalRequest)
	}
	effect, err = h.rules(t, func(f *db.WorkflowForm) {
		f.Rules.Stages[0] = db.WorkflowStage{Name: "Desk", Rule: model.AnyOne, Users: []model.UserID{h.Owner.Actor.User}}
		f.Gone, f.Confirmed = []model.ApproverID{lee.Approver}, true
	})
	if err != nil || effect.AskedAgain != 1 {
		t.Fatalf("%+v, %v", effect, err)
	}
	if got := h.request(t, waits.Post.ID, h.client); got.State != model.RequestOpen || got.Stages[0].Name != "Desk" {
		t.Errorf("what nobody could decide is %+v", got.ApprovalRequest)
	}
	if effect, err = h.rules(t, func(f *db.WorkflowForm) { f.Rules.Stages, f.Confirmed = nil, true }); err != nil || effect.Stay != 1 {
		t.Errorf("who was asked still decides: %+v, %v", effect, err)
	}
}

// plan gives a post a time on the client's clock before it is submitted.
func (h *house) plan(t *testing.T, page db.PostPage, after time.Duration) db.PostPage {
	t.Helper()
	when, err := model.At(h.Clock.Now().Add(after), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	page, err = h.Owner.PlanPost(t.Context(), page.Post.ID, page.Post.Revision, when)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestTheFinalApprovalSchedulesWhatHasATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	dana := h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.AnyOne, dana)
	h.Super(t, h.Shard, `UPDATE tenant.clients SET auto_schedule = true`)
	planned := h.submit(t, h.plan(t, h.Post(t, "Planned", h.account), 48*time.Hour))[0]
	loose := h.submit(t, h.Post(t, "Without a time", h.account))[0]

	rs := h.review(t, dana)
	if got := mustDecide(t, h.linkTo(t, dana, planned.Post.ID), yes(h.request(t, planned.Post.ID, h.client).ApprovalRequest)); !got.Auto.All() {
		t.Errorf("decided %+v", got)
	}
	if got := mustDecide(t, rs, yes(h.request(t, loose.Post.ID, h.client).ApprovalRequest)); got.Auto.Planned != 0 || !got.Approved {
		t.Errorf("decided %+v", got)
	}
	now, _ := h.Owner.Post(t.Context(), planned.Post.ID)
	if now.Targets[0].State != model.Scheduled || !now.Targets[0].DueAt.Equal(*planned.Targets[0].DueAt) {
		t.Errorf("the planned one is %+v", now.Targets[0])
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.outbox WHERE kind = 'target.publish'`); n != 1 {
		t.Errorf("%d events", n)
	}
	now, _ = h.Owner.Post(t.Context(), loose.Post.ID)
	if now.Targets[0].State != model.Ready {
		t.Errorf("the loose one is %s", now.Targets[0].State)
	}
	if n := h.count(t, `SELECT count(*) FROM tenant.audit WHERE verb = 'auto_scheduled' AND name = 'Dana'`); n != 1 {
		t.Errorf("%d audit lines", n)
	}
}

// linkTo is the approver's newest link that opens the post.
func (h *house) linkTo(t *testing.T, p model.AskedPerson, post model.PostID) *db.ReviewScope {
	t.Helper()
	for _, m := range h.mails(t) {
		if m.Kind != model.MailReviewRequest || m.Content.Posts[0].Post != post {
			continue
		}
		rs, err := h.Store.Review(t.Context(), m.Token)
		if err != nil {
			t.Fatal(err)
		}
		return rs
	}
	t.Fatalf("no link to post %d", post)
	return nil
}

func TestWhatARuleKeepsFromBeingScheduledIsMailedToTheWriter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prevent string
		later   time.Duration
		words   string
	}{
		"passed":   {`SELECT`, 50 * time.Hour, "had passed when it was approved"},
		"blackout": {`INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) SELECT tenant_id, id, '2020-01-01', '2099-01-01', 'Mourning' FROM tenant.clients`, 0, "Mourning"},
		"account":  {`UPDATE tenant.accounts SET state = 'needs_reconnect'`, 0, "lost its connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, db.MainShard)
			writer := h.manager(t, h.client)
			dana := h.approver(t, h.client, "Dana")
			h.stage(t, h.client, 1, model.AnyOne, dana)
			h.Super(t, h.Shard, `UPDATE tenant.clients SET auto_schedule = true`)
			page := h.plan(t, h.Post(t, "Planned", h.account), 48*time.Hour)
			h.Super(t, h.Shard, `ALTER TABLE tenant.post_versions DISABLE TRIGGER ALL`)
			h.Super(t, h.Shard, `UPDATE tenant.post_versions SET created_by = $1`, writer.Actor.User)
			h.submit(t, page)
			h.Super(t, h.Shard, c.prevent)
			h.Clock.Advance(c.later)
			got := mustDecide(t, h.review(t, dana), yes(h.request(t, page.Post.ID, h.client).ApprovalRequest))
			if !got.Approved || got.Auto.Planned != 0 || len(got.Auto.Refused) != 1 {
				t.Errorf("decided %+v", got)
			}
			now, _ := h.Owner.Post(t.Context(), page.Post.ID)
			if now.Targets[0].State != model.Ready || now.Post.State != model.PostApproved {
				t.Errorf("the post is %s, its target %s", now.Post.State, now.Targets[0].State)
			}
			var told []mail
			for _, m := range h.mails(t) {
				if m.Kind == model.MailNotScheduled {
					told = append(told, m)
				}
			}
			if len(told) != 1 || !strings.Contains(told[0].Content.Posts[0].Words, c.words) || !strings.HasPrefix(told[0].Email, "manager") {
				t.Errorf("told %+v", told)
			}
		})
	}
}
