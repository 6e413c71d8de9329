package db_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// house is an agency with one client, one Mastodon account and its approvers.
type house struct {
	*dbtest.World
	*dbtest.Agency
	client  model.ClientID
	account model.AccountID
}

func newHouse(t *testing.T, shard string) *house {
	t.Helper()
	w := dbtest.New(t)
	h := &house{World: w, Agency: w.Agency(t, "north", shard)}
	h.client = h.Client(t, "acme")
	h.account = h.Account(t, h.client, network.Mastodon)
	return h
}

// approver adds a person of the client who decides by link.
func (h *house) approver(t *testing.T, client model.ClientID, name string) model.AskedPerson {
	t.Helper()
	id := dbtest.Look[model.ApproverID](t, h.World, h.Shard, `INSERT INTO tenant.approvers (tenant_id, client_id, name, email) VALUES ($1, $2, $3, lower($3) || '@client.example') RETURNING id`,
		h.ID, client, name)
	return model.AskedPerson{Approver: id, Name: name}
}

// manager adds a user who may approve for the client.
func (h *house) manager(t *testing.T, client model.ClientID) *db.Scope {
	t.Helper()
	return h.Member(t, model.Manager, map[model.ClientID][]model.Permission{client: model.Manager.Grants()})
}

func person(sc *db.Scope) model.AskedPerson {
	return model.AskedPerson{User: sc.Actor.User, Name: sc.Actor.Name}
}

func (h *house) stage(t *testing.T, client model.ClientID, position int, rule model.Rule, people ...model.AskedPerson) {
	t.Helper()
	id := dbtest.Look[int64](t, h.World, h.Shard, `INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, $3, 'Stage ' || $3::int, $4) RETURNING id`, h.ID, client, position, rule)
	for _, p := range people {
		h.Super(t, h.Shard, `INSERT INTO tenant.stage_people (tenant_id, stage_id, user_id, approver_id) VALUES ($1, $2, nullif($3::bigint, 0), nullif($4::bigint, 0))`, h.ID, id, p.User, p.Approver)
	}
}

func (h *house) submit(t *testing.T, pages ...db.PostPage) []db.PostPage {
	t.Helper()
	var list []db.Submission
	for _, p := range pages {
		list = append(list, db.Submission{Post: p.Post.ID, Seen: p.Post.Revision})
	}
	out, err := h.Owner.Submit(t.Context(), list)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	var now []db.PostPage
	for _, o := range out {
		if o.No != nil {
			t.Fatalf("submit: %v", o.No)
		}
		now = append(now, o.Page)
	}
	return now
}

// request is the newest one about a post for a client.
func (h *house) request(t *testing.T, post model.PostID, client model.ClientID) db.InboxRequest {
	t.Helper()
	list, err := h.Owner.PostApprovals(t.Context(), post)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.ClientID == client {
			return r
		}
	}
	t.Fatalf("post %d has no request for client %d", post, client)
	return db.InboxRequest{}
}

func yes(r model.ApprovalRequest) db.Decision {
	return db.Decision{Request: r.ID, Verdict: model.Approve, Hash: r.Hash, Stage: r.Stage}
}

type mail struct {
	Kind, Email, Token string
	Content            model.ApprovalMail
}

// mails are those owed now, oldest first, with their tokens opened as the mailer
// does it.
func (h *house) mails(t *testing.T) (all []mail) {
	t.Helper()
	rows := dbtest.Look[json.RawMessage](t, h.World, h.Shard, `
		SELECT coalesce(json_agg(json_build_object('key', key, 'kind', kind, 'email', to_email, 'content', content, 'sealed', encode(sealed, 'base64')) ORDER BY id), '[]') FROM tenant.mails WHERE tenant_id = $1`, h.ID)
	var list []struct {
		Key, Kind, Email string
		Content          model.ApprovalMail
		Sealed           []byte
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(rows), `\n`, "")), &list); err != nil {
		t.Fatalf("%v in %s", err, rows)
	}
	for _, m := range list {
		one := mail{Kind: m.Kind, Email: m.Email, Content: m.Content}
		if m.Sealed != nil {
			token, err := h.Ring.Open(m.Sealed, db.MailAAD(h.ID, m.Key))
			if err != nil {
				t.Fatalf("open the token of %s: %v", m.Key, err)
			}
			one.Token = token
		}
		all = append(all, one)
	}
	return all
}

// lastLink is the token of the newest review mail to a person.
func (h *house) lastLink(t *testing.T, p model.AskedPerson) string {
	t.Helper()
	token := ""
	for _, m := range h.mails(t) {
		if m.Email == strings.ToLower(p.Name)+"@client.example" && m.Token != "" {
			token = m.Token
		}
	}
	if token == "" {
		t.Fatalf("no review mail to %s", p.Name)
	}
	return token
}

func (h *house) review(t *testing.T, p model.AskedPerson) *db.ReviewScope {
	t.Helper()
	rs, err := h.Store.Review(t.Context(), h.lastLink(t, p))
	if err != nil {
		t.Fatalf("open the link of %s: %v", p.Name, err)
	}
	return rs
}

func (h *house) count(t *testing.T, sql string) int {
	t.Helper()
	return dbtest.Look[int](t, h.World, h.Shard, sql)
}

func wants(t *testing.T, err error, kind model.Kind, words string) {
	t.Helper()
	no, ok := model.Refused(err)
	if !ok || no.Kind != kind || !strings.Contains(no.Say, words) {
		t.Errorf("got %v, want %s with %q", err, kind, words)
	}
}

func TestSubmitApprovesAtOnceWithoutStages(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	page := h.submit(t, h.Post(t, "Open today", h.account))[0]
	if page.Post.State != model.PostApproved || page.Post.Review != "approved" || page.Post.ApprovedVersionID == nil || *page.Post.ApprovedVersionID != page.Version.ID {
		t.Errorf("post: %+v", page.Post)
	}
	if page.Targets[0].State != model.Ready {
		t.Errorf("target is %s", page.Targets[0].State)
	}
	if len(h.mails(t)) != 0 {
		t.Error("a mail was written though nobody is asked")
	}
}

func TestSubmitAsksTheFirstStageAndBindsTheRequestToTheVersion(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	mia, dana := h.manager(t, h.client), h.approver(t, h.client, "Dana")
	h.stage(t, h.client, 1, model.AnyOne, person(mia))
	h.stage(t, h.client, 2, model.AnyOne, dana)
	when, err := model.At(h.Clock.Now().Add(48*time.Hour), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	post := h.Post(t, "Open today", h.account)
	planned, err := h.Owner.PlanPost(t.Context(), post.Post.ID, post.Post.Revision, when)
	if err != nil {
		t.Fatal(err)
	}
	page, err := h.Owner.SubmitPost(t.Context(), db.Submission{Post: post.Post.ID, Seen: planned.Post.Revision})
	if err != nil {
		t.Fatal(err)
	}
	if page.Post.State != model.PostInReview || page.Targets[0].State != model.Draft || page.Targets[0].DueAt == nil {
		t.Errorf("post is %s, target %s due %v", page.Post.State, page.Targets[0].State, page.Targets[0].DueAt)
	}
	r := h.request(t, page.Post.ID, h.client)
	if r.VersionID != page.Version.ID || len(r.Hash) != 64 || len(r.Stages) != 2 || !r.WaitsFor(person(mia)) || r.WaitsFor(dana) || r.DueAt == nil {
		t.Errorf("request: %+v", r.ApprovalRequest)
	}
	if len(r.Previews) != 1 || r.Previews[0].Text != "Open today" {
		t.Errorf("previews: %+v", r.Previews)
	}
	mails := h.mails(t)
	if len(mails) != 1 || mails[0].Kind != model.MailApprovalWaiting || mails[0].Content.Path != "/w/north/approvals" || mails[0].Content.Posts[0].Excerpt != "Open today" {
		t.Errorf("mails: %+v", mails)
	}
	_, err = h.Owner.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision})
	wants(t, err, model.Conflict, "already waiting")
}

func TestSubmitRefusesWhatIsNotReady(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	long := h.Post(t, strings.Repeat("x ", 400), h.account)
	_, err := h.Owner.SubmitPost(t.Context(), db.Submission{Post: long.Post.ID, Seen: long.Post.Revision})
	wants(t, err, model.Unprocessable, "Mastodon @mastodon-0")

	bare := h.Post(t, "Nowhere to go")
	_, err = h.Owner.SubmitPost(t.Context(), db.Submission{Post: bare.Post.ID, Seen: bare.Post.Revision})
	wants(t, err, model.Unprocessable, "Choose at least one account")

	fine := h.Post(t, "Fine", h.account)
	_, err = h.Owner.SubmitPost(t.Context(), db.Submission{Post: fine.Post.ID, Seen: fine.Post.Revision + 1})
	wants(t, err, model.Conflict, "changed")

	h.stage(t, h.client, 1, model.AnyOne)
	_, err = h.Owner.SubmitPost(t.Context(), db.Submission{Post: fine.Post.ID, Seen: fine.Post.Revision})
	wants(t, err, model.Conflict, "nobody who could approve")

	viewer := h.Member(t, model.Viewer, map[model.ClientID][]model.Permission{h.client: model.Viewer.Grants()})
	_, err = viewer.SubmitPost(t.Context(), db.Submission{Post: fine.Post.ID, Seen: fine.Post.Revision})
	wants(t, err, model.Forbidden, "")
	if n := h.count(t, `SELECT count(*) FROM tenant.approval_requests`); n != 0 {
		t.Errorf("%d requests were left behind", n)
	}
}

func TestABatchMakesOneMailForEachPersonAndKeepsWhatCannotBeSubmitted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.SecondShard)
	dana, lee := h.approver(t, h.client, "Dana"), h.approver(t, h.client, "Lee")
	mia := h.manager(t, h.client)
	h.stage(t, h.client, 1, model.Everyone, dana, lee, person(mia))
	var list []db.Submission
	for _, text := range []string{"One", "Two", strings.Repeat("x ", 400), "Three"} {
		p := h.Post(t, text, h.account)
		list = append(list, db.Submission{Post: p.Post.ID, Seen: p.Post.Revision})
	}
	list = append(list, list[0])
	out, err := h.Owner.Submit(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 4 || out[0].No != nil || out[1].No != nil || out[2].No == nil || out[3].No != nil {
		t.Fatalf("results: %+v", out)
	}
	mails := h.mails(t)
	if len(mails) != 3 {
		t.Fatalf("%d mails for three people", len(mails))
	}
	for _, m := range mails {
		if len(m.Content.Posts) != 3 {
			t.Errorf("%s to %s names %d posts", m.Kind, m.Email, len(m.Content.Posts))
		}
		if (m.Kind == model.MailReviewRequest) != (m.Token != "") || strings.Contains(toJSON(t, m.Content), m.Token) && m.Token != "" {
			t.Errorf("%s to %s: token %q", m.Kind, m.Email, m.Token)
		}
	}
	token := h.lastLink(t, dana)
	if n := h.count(t, `SELECT count(*) FROM tenant.review_links WHERE encode(token_hash, 'escape') LIKE '%`+token+`%'`); n != 0 {
		t.Error("the token is stored plain")
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAPostForSeveralClientsNeedsEveryOnesWorkflow(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	other := h.Client(t, "bolt")
	third := h.Client(t, "none")
	dana, lee := h.approver(t, h.client, "Dana"), h.approver(t, other, "Lee")
	h.stage(t, h.client, 1, model.AnyOne, dana)
	h.stage(t, other, 1, model.AnyOne, lee)
	page := h.submit(t, h.Post(t, "For all", h.account, h.Account(t, other, network.Mastodon), h.Account(t, third, network.Mastodon)))[0]

	forDana, forLee := h.review(t, dana), h.review(t, lee)
	danas, err := forDana.Page(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(danas.Items) != 1 || len(danas.Items[0].Previews) != 1 || danas.Items[0].Previews[0].AccountID != h.account {
		t.Fatalf("Dana sees %+v", danas.Items)
	}
	out, err := forDana.Decide(t.Context(), []db.Decision{yes(danas.Items[0].ApprovalRequest)})
	if err != nil || out[0].No != nil || out[0].State != model.RequestApproved || out[0].Approved {
		t.Fatalf("Dana: %+v, %v", out, err)
	}
	if now, _ := h.Owner.Post(t.Context(), page.Post.ID); now.Post.Review != "in_review" {
		t.Errorf("after one of two clients the post is %s", now.Post.Review)
	}
	lees := h.request(t, page.Post.ID, other)
	if out, err = forDana.Decide(t.Context(), []db.Decision{yes(lees.ApprovalRequest)}); err != nil {
		t.Fatal(err)
	}
	wants(t, out[0].No, model.NotFound, "")
	if out, err = forLee.Decide(t.Context(), []db.Decision{yes(lees.ApprovalRequest)}); err != nil || !out[0].Approved {
		t.Fatalf("Lee: %+v, %v", out, err)
	}
	now, err := h.Owner.Post(t.Context(), page.Post.ID)
	if err != nil || now.Post.State != model.PostApproved {
		t.Fatalf("post is %s, %v", now.Post.State, err)
	}
	for _, target := range now.Targets {
		if target.State != model.Ready {
			t.Errorf("%s is %s", target.Account, target.State)
		}
	}
}

func TestASecondSubmissionAsksOnlyWhoHasNotApprovedThisVersion(t *testing.T) {
	t.Parallel()
	h := newHouse(t, db.MainShard)
	other := h.Client(t, "bolt")
	dana, lee := h.approver(t, h.client, "Dana"), h.approver(t, other, "Lee")
	h.stage(t, h.client, 1, model.AnyOne, dana)
	h.stage(t, other, 1, model.AnyOne, lee)
	page := h.submit(t, h.Post(t, "For both", h.account, h.Account(t, other, network.Mastodon)))[0]
	mustDecide(t, h.review(t, dana), yes(h.request(t, page.Post.ID, h.client).ApprovalRequest))
	no := yes(h.request(t, page.Post.ID, other).ApprovalRequest)
	no.Verdict, no.Words = model.RequestChanges, "Shorter, please."
	mustDecide(t, h.review(t, lee), no)

	now, err := h.Owner.Post(t.Context(), page.Post.ID)
	if err != nil || now.Post.State != model.PostChangesRequested {
		t.Fatalf("post is %s, %v", now.Post.State, err)
	}
	h.submit(t, now)
	if n := h.count(t, `SELECT count(*) FROM tenant.approval_requests`); n != 3 {
		t.Errorf("%d requests, want 3: Dana has approved this very version", n)
	}
	d := mustDecide(t, h.review(t, lee), yes(h.request(t, page.Post.ID, other).ApprovalRequest))
	if !d.Approved {
		t.Errorf("the post is not approved: %+v", d)
	}
}

func mustDecide(t *testing.T, rs *db.ReviewScope, d db.Decision) db.Decided {
	t.Helper()
	out, err := rs.Decide(t.Context(), []db.Decision{d})
	if err := errors.Join(err, out[0].No); err != nil {
		t.Fatalf("decide: %v", err)
	}
	return out[0]
}
