package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Submission asks for approval of a post as it was at revision Seen. The
// approvers are shown the time that PlanPost kept with it.
type Submission struct {
	Post model.PostID
	Seen int
}

// Submitted is what became of one submission: the post as it now is, or the
// refusal No, with the post as it was.
type Submitted struct {
	Post model.PostID
	Page PostPage
	No   error
	Auto AutoPlan // what became of its plan, where nobody had to be asked
}

// Submit asks for approval of posts, in one transaction. Each post that can be
// submitted is, the others come back with their refusal: one whose networks
// would refuse it, one without accounts, one that changed since Seen.
//
// Every client that has a workflow is asked by its own; where a post spans
// several, all of them have to approve, which is the strictest combination.
// Clients without stages need nothing; if none has any, the post is approved at
// once. Each person gets one mail for the whole batch.
func (sc *Scope) Submit(ctx context.Context, list []Submission) (out []Submitted, err error) {
	defer wrap(&err, "submit posts")
	team, err := sc.team(ctx)
	if err != nil {
		return nil, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		out, err = sc.submitAll(ctx, tx, list, team)
		return err
	})
	return out, err
}

// SubmitPosts is Submit as a bulk action: the same form again answers what became of
// it the first time.
func (sc *Scope) SubmitPosts(ctx context.Context, key string, list []Submission) (out Acted, err error) {
	defer wrap(&err, "submit %d posts", len(list))
	team, err := sc.team(ctx)
	if err != nil {
		return out, err
	}
	return sc.once(ctx, key, func(tx pgx.Tx) (a Acted, err error) {
		all, err := sc.submitAll(ctx, tx, list, team)
		for _, one := range all {
			a.Done = append(a.Done, Done{Post: one.Post, No: one.No})
		}
		return a, err
	})
}

func (sc *Scope) submitAll(ctx context.Context, tx pgx.Tx, list []Submission, team team) (out []Submitted, err error) {
	// In order of their ids, so that two batches cannot lock each other out.
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Submission) int { return cmp.Compare(a.Post, b.Post) })
	list = slices.CompactFunc(list, func(a, b Submission) bool { return a.Post == b.Post })
	mails := newMailing(sc, team)
	for _, s := range list {
		one, asked, err := sc.trySubmit(ctx, tx, s, team)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
		mails.ask(asked)
		mails.unplanned(one.Page.Version, one.Auto)
	}
	return out, mails.send(ctx, tx)
}

// SubmitPost submits one post, and returns its refusal as the error.
func (sc *Scope) SubmitPost(ctx context.Context, s Submission) (PostPage, error) {
	out, err := sc.Submit(ctx, []Submission{s})
	if err != nil {
		return PostPage{}, err
	}
	return out[0].Page, out[0].No
}

// trySubmit submits one post, or leaves no trace and keeps its refusal.
func (sc *Scope) trySubmit(ctx context.Context, tx pgx.Tx, s Submission, team team) (one Submitted, asked []ask, err error) {
	one.Post = s.Post
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		asked, err = sc.submit(ctx, tx, s, team, &one)
		return err
	})
	err = refused(err)
	if _, no := model.Refused(err); no {
		one.No, one.Auto = err, AutoPlan{}
		return one, nil, nil
	}
	return one, asked, err
}

func (sc *Scope) submit(ctx context.Context, tx pgx.Tx, s Submission, team team, out *Submitted) (asked []ask, err error) {
	if out.Page, err = sc.postPage(ctx, tx, s.Post, sqlPostLock); err != nil {
		return nil, err
	}
	if err := sc.maySubmit(out.Page, s); err != nil {
		return nil, err
	}
	live, err := sc.submittable(ctx, tx, out.Page)
	if err != nil {
		return nil, err
	}
	if asked, err = sc.openRequests(ctx, tx, out.Page, live, team); err != nil {
		return nil, err
	}
	if out.Auto, err = sc.approveIfAll(ctx, tx, s.Post, out.Page.Version.ID, live); err != nil {
		return nil, err
	}
	out.Page, err = sc.settle(ctx, tx, s.Post)
	return asked, err
}

// maySubmit refuses a post that is in no state to be submitted by the actor.
func (sc *Scope) maySubmit(page PostPage, s Submission) error {
	if err := fresh(page.Post, s.Seen); err != nil {
		return err
	}
	if err := sc.needAll(model.PostsWrite, page); err != nil {
		return err
	}
	switch {
	case page.Post.ArchivedAt != nil:
		return model.Refuse(model.Conflict, "This post was put away. Duplicate it to use it again.")
	case len(page.Version.Content.Accounts) == 0:
		return model.RefuseField("accounts", "Choose at least one account before submitting.")
	case page.Post.Review == "in_review":
		return model.Refuse(model.Conflict, "This post is already waiting for approval.")
	case page.Post.Review == "approved":
		return model.Refuse(model.Conflict, "This version is already approved.")
	}
	return nil
}

// submittable checks the content against its networks as they are today, and
// returns the targets that would carry it.
func (sc *Scope) submittable(ctx context.Context, tx pgx.Tx, page PostPage) ([]Target, error) {
	var live, of []Target
	for _, t := range page.Targets {
		if slices.Contains(page.Version.Content.Accounts, t.AccountID) {
			of = append(of, t)
		}
		if t.VersionID == page.Version.ID && (t.State == model.Draft || t.State == model.Invalid) {
			live = append(live, t)
		}
	}
	if len(live) == 0 {
		return nil, model.Refuse(model.Conflict, "Everything in this post has already been published or cancelled, so there is nothing to approve.")
	}
	plan, err := sc.plan(ctx, tx, page, PostForm{Content: page.Version.Content, Named: clientsOf(of), written: true})
	if err != nil {
		return nil, err
	}
	if err := plan.filesReady(); err != nil {
		return nil, err
	}
	if err := sc.settleRecipes(ctx, tx, live, plan.parts); err != nil {
		return nil, err
	}
	return live, sc.passes(ctx, tx, page, live, plan)
}

// passes refuses with the sentences of what the networks would refuse. A target
// that was invalid when saved, and no longer is, becomes a draft again.
func (sc *Scope) passes(ctx context.Context, tx pgx.Tx, page PostPage, live []Target, plan plan) error {
	var say []string
	for _, part := range plan.parts {
		i := slices.IndexFunc(live, func(t Target) bool { return t.AccountID == part.account.ID })
		if i < 0 {
			continue
		}
		for _, p := range part.problems {
			if !p.Warn {
				say = append(say, network.Label(part.account.Network)+" "+part.account.Handle+": "+p.Say)
			}
		}
		if live[i].State == model.Invalid && !blocking(part.problems) {
			if err := sc.repoint(ctx, tx, live[i], page.Version.ID, part); err != nil {
				return err
			}
		}
	}
	if len(say) > 0 {
		return model.Refuse(model.Unprocessable, "This post cannot be submitted yet. "+strings.Join(say, " "))
	}
	return nil
}

const sqlRequestInsert = `
	INSERT INTO tenant.approval_requests (tenant_id, post_id, version_id, content_hash, client_id, stages, due_at, asked_by, asked_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`

const sqlRequestsStanding = `
	SELECT client_id FROM tenant.approval_requests
	 WHERE tenant_id = $1 AND post_id = $2 AND version_id = $3 AND state IN ('open', 'approved')`

const sqlPostReview = `UPDATE tenant.posts SET review = $3 WHERE tenant_id = $1 AND id = $2`

// openRequests asks every client that has a workflow and has not been asked
// about this version, or has not said yes to it.
func (sc *Scope) openRequests(ctx context.Context, tx pgx.Tx, page PostPage, live []Target, team team) (asked []ask, err error) {
	flows, err := sc.workflows(ctx, tx, clientsOf(live), team)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sqlRequestsStanding, sc.Actor.Tenant, page.Post.ID, page.Version.ID)
	if err != nil {
		return nil, err
	}
	standing, err := pgx.CollectRows(rows, pgx.RowTo[model.ClientID])
	if err != nil {
		return nil, err
	}
	for _, f := range flows {
		if slices.Contains(standing, f.Client) {
			continue
		}
		a := askOf(page.Version, f, 1, live)
		a.sender = sc.Actor.Name
		err := tx.QueryRow(ctx, sqlRequestInsert, sc.Actor.Tenant, page.Post.ID, page.Version.ID, page.Version.Hash, f.Client, f.Stages, a.post.DueAt, sc.Actor.User, sc.now()).Scan(&a.request)
		if err != nil {
			return nil, err
		}
		asked = append(asked, a)
	}
	if _, err := tx.Exec(ctx, sqlPostReview, sc.Actor.Tenant, page.Post.ID, "in_review"); err != nil {
		return nil, err
	}
	return asked, sc.audit(ctx, tx, note{verb: "submitted", subject: "post", id: int64(page.Post.ID), client: onlyClient(live),
		detail: map[string]any{"version": page.Version.ID, "requests": len(asked)}})
}

const sqlRequestsUnsettled = `
	SELECT count(*) FROM (
		SELECT DISTINCT ON (client_id) state FROM tenant.approval_requests
		 WHERE tenant_id = $1 AND post_id = $2 AND version_id = $3 ORDER BY client_id, id DESC) last
	 WHERE last.state NOT IN ('approved', 'superseded')`

const sqlPostApprove = `
	UPDATE tenant.posts SET approved_version_id = $3, review = 'approved'
	 WHERE tenant_id = $1 AND id = $2 AND current_version_id = $3 AND approved_version_id IS NULL`

// approveIfAll approves the post if the last request of every client that was
// asked about the version is approved, or was taken back because nobody there is asked
// any more. The caller holds the post's lock, so this
// happens once. What the clients' workflows schedule by themselves is scheduled.
func (sc *Scope) approveIfAll(ctx context.Context, tx pgx.Tx, post model.PostID, version model.VersionID, targets []Target) (auto AutoPlan, err error) {
	var unsettled int
	if err := tx.QueryRow(ctx, sqlRequestsUnsettled, sc.Actor.Tenant, post, version).Scan(&unsettled); err != nil || unsettled > 0 {
		return auto, err
	}
	tag, err := tx.Exec(ctx, sqlPostApprove, sc.Actor.Tenant, post, version)
	if err != nil || tag.RowsAffected() == 0 {
		return auto, err
	}
	var ids []model.TargetID
	for _, t := range targets {
		if t.VersionID == version && (t.State == model.Draft || t.State == model.Invalid) {
			ids = append(ids, t.ID)
		}
	}
	ready, err := sc.moveTargets(ctx, tx, move{ids: ids, to: model.Ready, reason: "approved"})
	if err != nil {
		return auto, err
	}
	err = sc.audit(ctx, tx, note{verb: "approval_complete", subject: "post", id: int64(post), client: onlyClient(targets), detail: map[string]any{"version": version}})
	if err != nil {
		return auto, err
	}
	return sc.autoSchedule(ctx, tx, post, readied(targets, ready))
}

// settle ends a change of a post: revision and aggregate are brought up to date.
func (sc *Scope) settle(ctx context.Context, tx pgx.Tx, id model.PostID) (PostPage, error) {
	if err := sc.touch(ctx, tx, id); err != nil {
		return PostPage{}, err
	}
	if err := sc.recompute(ctx, tx, id); err != nil {
		return PostPage{}, err
	}
	return sc.postPage(ctx, tx, id, sqlPostGet)
}

const sqlRequestsSupersede = `
	UPDATE tenant.approval_requests SET state = 'superseded', closed_at = $3
	 WHERE tenant_id = $1 AND post_id = $2 AND state = 'open'`

// supersede closes the open requests of a post whose content changed or that was
// put away: what was asked about is no longer what would be sent. Their links
// stay: they explain what happened, and show the newer request once there is one.
func (sc *Scope) supersede(ctx context.Context, tx pgx.Tx, post model.PostID) error {
	_, err := tx.Exec(ctx, sqlRequestsSupersede, sc.Actor.Tenant, post, sc.now())
	return err
}

// askOf is what the people of one stage of a client's workflow are asked.
func askOf(v Version, f workflow, stage int, live []Target) ask {
	a := ask{stage: f.Stages[stage-1], post: model.ApprovalMailPost{Post: v.PostID, Client: f.Name, Zone: f.Zone, Stage: f.Stages[stage-1].Name}}
	for _, t := range live {
		if t.ClientID != f.Client {
			continue
		}
		if a.post.Excerpt == "" {
			a.post.Excerpt = model.Excerpt(v.Content.For(string(t.Network), t.AccountID).Text, 140)
		}
		if !slices.Contains(a.post.Networks, string(t.Network)) {
			a.post.Networks = append(a.post.Networks, string(t.Network))
		}
		a.post.DueAt = earliest(a.post.DueAt, t.DueAt)
	}
	return a
}

func earliest(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

var errNoRequest = model.Refuse(model.NotFound, "There is no such approval request.")

func tooLong(field, body string) error {
	if len([]rune(body)) <= maxWords {
		return nil
	}
	return model.RefuseField(field, fmt.Sprintf("That is too long: keep it under %d characters.", maxWords))
}

// maxWords bounds comments and the words of a decision, in code points.
const maxWords = 4000
