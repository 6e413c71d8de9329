package db

import (
	"cmp"
	"context"
	"slices"
	"strings"

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

// Submit asks for approval of posts, in one transaction and a handful of statements,
// however many they are. Each post that can be submitted is, the others come back with
// their refusal and are not touched: one whose networks would refuse it, one without
// accounts, one that changed since Seen.
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

// SubmitPost submits one post, and returns its refusal as the error.
func (sc *Scope) SubmitPost(ctx context.Context, s Submission) (PostPage, error) {
	out, err := sc.Submit(ctx, []Submission{s})
	if err != nil {
		return PostPage{}, err
	}
	return out[0].Page, out[0].No
}

// submitting is one post of a batch on its way to approval.
type submitting struct {
	Submitted
	plan  plan
	live  []carried // the targets that would carry the version
	flows []workflow
	asked []ask
}

func (s *submitting) targets() (list []Target) {
	for _, c := range s.live {
		list = append(list, c.target)
	}
	return list
}

// form is the post's version, to be checked as if it was written today.
func (s *submitting) form() PostForm {
	var of []Target
	for _, t := range s.Page.Targets {
		if slices.Contains(s.Page.Version.Content.Accounts, t.AccountID) {
			of = append(of, t)
		}
	}
	return PostForm{Content: s.Page.Version.Content, Named: clientsOf(of), written: true}
}

// going are those of a batch that were not refused.
func going(batch []*submitting) (list []*submitting) {
	for _, s := range batch {
		if s.No == nil {
			list = append(list, s)
		}
	}
	return list
}

// submitAll judges the whole batch before it writes anything, so that a refused post
// needs nothing undone.
func (sc *Scope) submitAll(ctx context.Context, tx pgx.Tx, list []Submission, team team) (out []Submitted, err error) {
	batch, err := sc.openBatch(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	if err := sc.checkBatch(ctx, tx, going(batch)); err != nil {
		return nil, err
	}
	if err := sc.routeBatch(ctx, tx, going(batch), team); err != nil {
		return nil, err
	}
	if err := sc.sendBatch(ctx, tx, going(batch)); err != nil {
		return nil, err
	}
	mails := newMailing(sc, team)
	for _, s := range batch {
		out = append(out, s.Submitted)
		mails.ask(s.asked)
		mails.unplanned(s.Page.Version, s.Auto)
	}
	return out, mails.send(ctx, tx)
}

// openBatch locks the posts, each once, and refuses those that are in no state to be
// submitted by the actor.
func (sc *Scope) openBatch(ctx context.Context, tx pgx.Tx, list []Submission) (batch []*submitting, err error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Submission) int { return cmp.Compare(a.Post, b.Post) })
	list = slices.CompactFunc(list, func(a, b Submission) bool { return a.Post == b.Post })
	var ids []model.PostID
	for _, s := range list {
		ids = append(ids, s.Post)
	}
	pages, err := sc.postPages(ctx, tx, ids, sqlPostLock)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		one := &submitting{Submitted: Submitted{Post: s.Post, No: errNoPost}}
		if page, there := pages[s.Post]; there {
			one.Page = page
			if one.No = sc.maySubmit(page, s); one.No == nil {
				one.live, one.No = carriers(page)
			}
		}
		batch = append(batch, one)
	}
	return batch, nil
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

// carriers are the targets that would carry the page's version.
func carriers(page PostPage) (live []carried, err error) {
	for _, t := range page.Targets {
		if t.VersionID == page.Version.ID && (t.State == model.Draft || t.State == model.Invalid) {
			live = append(live, carried{target: t, version: page.Version.ID})
		}
	}
	if len(live) == 0 {
		return nil, model.Refuse(model.Conflict, "Everything in this post has already been published or cancelled, so there is nothing to approve.")
	}
	return live, nil
}

// checkBatch checks the contents against their networks as they are today.
func (sc *Scope) checkBatch(ctx context.Context, tx pgx.Tx, batch []*submitting) error {
	if len(batch) == 0 {
		return nil
	}
	var forms []PostForm
	var kept []model.AccountID
	for _, s := range batch {
		forms, kept = append(forms, s.form()), append(kept, s.Page.Version.Content.Accounts...)
	}
	g, err := sc.ground(ctx, tx, forms, kept)
	if err != nil {
		return err
	}
	var parts []plannedTarget
	for i, s := range batch {
		s.plan, s.No = g.plan(sc, s.Page, forms[i])
		parts = append(parts, s.plan.parts...)
	}
	made, err := sc.renditionsOf(ctx, tx, parts)
	if err != nil {
		return err
	}
	for _, s := range going(batch) {
		s.plan.judgeRenditions(made)
		if s.No = s.plan.filesReady(); s.No == nil {
			s.No = s.passes()
		}
	}
	return nil
}

// passes gives each target its part of the plan, and refuses with the sentences of
// what the networks would refuse.
func (s *submitting) passes() error {
	var say []string
	live := s.live
	s.live = nil
	for _, part := range s.plan.parts {
		for _, c := range live {
			if c.target.AccountID != part.account.ID {
				continue
			}
			c.part = part
			s.live = append(s.live, c)
			for _, p := range part.problems {
				if !p.Warn {
					say = append(say, network.Label(part.account.Network)+" "+part.account.Handle+": "+p.Say)
				}
			}
		}
	}
	if len(say) > 0 {
		return model.Refuse(model.Unprocessable, "This post cannot be submitted yet. "+strings.Join(say, " "))
	}
	return nil
}

// routeBatch finds whose workflows each post takes, and refuses those of which a stage
// has nobody: they would wait for ever.
func (sc *Scope) routeBatch(ctx context.Context, tx pgx.Tx, batch []*submitting, team team) error {
	if len(batch) == 0 {
		return nil
	}
	var all []Target
	for _, s := range batch {
		all = append(all, s.targets()...)
	}
	flows, err := sc.readWorkflows(ctx, tx, clientsOf(all), team)
	for _, s := range batch {
		clients := clientsOf(s.targets())
		for _, f := range flows {
			if slices.Contains(clients, f.Client) {
				s.flows = append(s.flows, f)
			}
		}
		s.No = nobodyMissing(s.flows)
	}
	return err
}

// sendBatch writes what is to be written about the posts that were not refused.
func (sc *Scope) sendBatch(ctx context.Context, tx pgx.Tx, batch []*submitting) error {
	if len(batch) == 0 {
		return nil
	}
	if err := sc.settleTargets(ctx, tx, batch); err != nil {
		return err
	}
	if err := sc.openRequests(ctx, tx, batch); err != nil {
		return err
	}
	var posts []*approving
	var ids []model.PostID
	for _, s := range batch {
		posts, ids = append(posts, &approving{post: s.Post, version: s.Page.Version.ID, targets: s.targets()}), append(ids, s.Post)
	}
	if err := sc.approveIfAll(ctx, tx, posts...); err != nil {
		return err
	}
	if err := sc.settleAll(ctx, tx, ids); err != nil {
		return err
	}
	pages, err := sc.postPages(ctx, tx, ids, sqlPostGet)
	for i, s := range batch {
		s.Auto, s.Page = posts[i].auto, pages[s.Post]
	}
	return err
}

// settleTargets writes how files are sent, and makes drafts of targets that were
// invalid when they were saved and no longer are.
func (sc *Scope) settleTargets(ctx context.Context, tx pgx.Tx, batch []*submitting) error {
	var live, mended []carried
	for _, s := range batch {
		live = append(live, s.live...)
	}
	for _, c := range live {
		if c.target.State == model.Invalid {
			mended = append(mended, c)
		}
	}
	if err := sc.settleRecipes(ctx, tx, live); err != nil {
		return err
	}
	return sc.repoint(ctx, tx, mended)
}
