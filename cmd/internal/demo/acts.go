package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// write makes a post with its pictures, comments and planned time.
func (h *history) write(ctx context.Context, p *post) error {
	scope := h.people[p.By]
	form := db.PostForm{Notes: p.Notes, Labels: h.labelled(p), Content: model.Content{
		Text: p.Text, Link: p.Link, FirstComment: p.Comment, Variants: map[string]model.Variant{}, Options: map[model.AccountID]map[string]string{},
	}}
	if err := h.address(p, &form); err != nil {
		return err
	}
	for name, text := range p.For {
		form.Content.Variants[string(name)] = model.Variant{Text: &text}
	}
	for _, one := range p.Pictures {
		a, err := h.hang(ctx, scope, sheet{p.client, one})
		if err != nil {
			return err
		}
		form.Content.Media = append(form.Content.Media, model.ContentMedia{ID: a.ID, Alt: a.Alt})
	}
	page, err := scope.SavePost(ctx, 0, form)
	if err != nil {
		return fmt.Errorf("%.40s: %w", p.Text, err)
	}
	if !p.planned.At.IsZero() {
		if page, err = scope.PlanPost(ctx, page.Post.ID, page.Post.Revision, p.planned); err != nil {
			return fmt.Errorf("%.40s: %w", p.Text, err)
		}
	}
	p.id, p.seen = page.Post.ID, page.Post.Revision
	return h.remarkAll(ctx, p)
}

// address chooses the accounts, confirms their clients by name, and gives each
// its options.
func (h *history) address(p *post, form *db.PostForm) error {
	named := map[model.ClientID]bool{}
	for _, to := range p.To {
		if !strings.Contains(to, "/") {
			to = p.client + "/" + to
		}
		a, known := h.accounts[to]
		if !known {
			return fmt.Errorf("posts.yaml: there is no account %s", to)
		}
		form.Content.Accounts = append(form.Content.Accounts, a.ID)
		named[a.Client] = true
		_, name, _ := strings.Cut(to, "/")
		if o := p.Options[network.Name(name)]; o != nil {
			form.Content.Options[a.ID] = o
		}
	}
	form.Named = slices.Sorted(maps.Keys(named))
	return nil
}

// remarkAll makes the comments of members. Approvers make theirs when they decide.
func (h *history) remarkAll(ctx context.Context, p *post) error {
	for _, r := range p.Remarks {
		scope, member := h.people[r.By]
		if !member {
			continue
		}
		form := db.CommentForm{Post: p.id, Visibility: model.Internal, Body: r.Text}
		if r.To == "client" {
			form.Visibility, form.Client = model.ClientVisible, h.clients[p.client].ID
		}
		if _, err := scope.Comment(ctx, form); err != nil {
			return err
		}
	}
	return nil
}

// revise writes the second version.
func (h *history) revise(ctx context.Context, p *post) error {
	scope := h.people[p.By]
	page, err := scope.Post(ctx, p.id)
	if err != nil {
		return err
	}
	content := page.Version.Content
	content.Text = p.Revised
	page, err = scope.SavePost(ctx, p.id, db.PostForm{Seen: page.Post.Revision, Content: content, Notes: page.Post.Notes, Labels: page.Post.Labels})
	p.seen = page.Post.Revision
	return err
}

// submit asks for approval of a sitting's posts at once.
func (h *history) submit(ctx context.Context, by string, posts []*post) error {
	scope := h.people[by]
	var list []db.Submission
	for _, p := range posts {
		list = append(list, db.Submission{Post: p.id, Seen: p.seen})
	}
	done, err := scope.Submit(ctx, list)
	for _, one := range done {
		err = errors.Join(err, one.No)
	}
	return err
}

// decide is one judge's look at a round: in the inbox, or by the links that were
// mailed.
func (h *history) decide(ctx context.Context, posts []*post, judges []judge, i, round int) error {
	wanted := map[model.PostID]*post{}
	for _, p := range posts {
		if _, _, says := p.verdict(judges, i, round); says {
			wanted[p.id] = p
		}
	}
	say := func(p *post, d *db.Decision) { d.Verdict, d.Words, _ = p.verdict(judges, i, round) }
	if judges[i].link {
		return h.decideByLinks(ctx, judges[i].who, wanted, say)
	}
	return h.decideInInbox(ctx, h.people[judges[i].who], wanted, say)
}

func (h *history) decideInInbox(ctx context.Context, scope *db.Scope, wanted map[model.PostID]*post, say func(*post, *db.Decision)) error {
	box, err := scope.Approvals(ctx, db.BoxMine, 0)
	if err != nil {
		return err
	}
	for _, r := range box.Requests {
		p := wanted[r.PostID]
		if p == nil {
			continue
		}
		d := db.Decision{Hash: r.Hash, Stage: r.Stage}
		say(p, &d)
		if _, err := scope.Decide(ctx, r.ID, d); err != nil {
			return err
		}
	}
	return nil
}

var reviewLink = regexp.MustCompile(`/review/([0-9a-zA-Z._~-]+)`)

// decideByLinks opens a person's mails, newest first, until every post that is
// waited for is decided.
func (h *history) decideByLinks(ctx context.Context, who string, wanted map[model.PostID]*post, say func(*post, *db.Decision)) error {
	for _, m := range h.box.Mails() {
		if len(wanted) == 0 {
			return nil
		}
		if len(m.Recipients) != 1 || !strings.HasPrefix(m.Recipients[0], who+"@") {
			continue
		}
		found := reviewLink.FindStringSubmatch(m.Text)
		if found == nil {
			continue
		}
		if err := h.decideByLink(ctx, who, found[1], wanted, say); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) decideByLink(ctx context.Context, who, token string, wanted map[model.PostID]*post, say func(*post, *db.Decision)) error {
	review, err := h.store.Review(ctx, token)
	if no, refused := model.Refused(err); refused && no.Kind == model.Gone {
		return nil
	}
	if err != nil {
		return err
	}
	page, err := review.Page(ctx)
	if err != nil {
		return err
	}
	var list []db.Decision
	for _, item := range page.Items {
		p := wanted[item.PostID]
		if p == nil || !item.MayDecide {
			continue
		}
		if err := remarkByLink(ctx, review, who, p, item.ID); err != nil {
			return err
		}
		d := db.Decision{Request: item.ID, Hash: item.Hash, Stage: item.Stage}
		say(p, &d)
		list = append(list, d)
		delete(wanted, item.PostID)
	}
	if len(list) == 0 {
		return nil
	}
	out, err := review.Decide(ctx, list)
	for _, one := range out {
		err = errors.Join(err, one.No)
	}
	return err
}

func remarkByLink(ctx context.Context, review *db.ReviewScope, who string, p *post, request model.RequestID) error {
	i := slices.IndexFunc(p.Remarks, func(r remark) bool { return r.By == who })
	if i < 0 {
		return nil
	}
	_, err := review.Comment(ctx, request, "", p.Remarks[i].Text)
	p.Remarks = slices.Delete(slices.Clone(p.Remarks), i, i+1)
	return err
}

// schedule plans what was approved for its time.
func (h *history) schedule(ctx context.Context, p *post) error {
	scope := h.people[planner(p.client)]
	if p.By == "nora" {
		scope = h.people["nora"]
	}
	page, err := scope.Post(ctx, p.id)
	if err != nil || page.Post.Review != "approved" {
		return err
	}
	if _, err = scope.SchedulePost(ctx, p.id, page.Post.Revision, p.planned); err != nil {
		return fmt.Errorf("%.40s: %w", p.Text, err)
	}
	return nil
}

// cancel takes a post out of delivery, target by target.
func (h *history) cancel(ctx context.Context, p *post) error {
	scope := h.people[planner(p.client)]
	page, err := scope.Post(ctx, p.id)
	if err != nil {
		return err
	}
	for _, t := range page.Targets {
		if _, err := scope.CancelTarget(ctx, t.ID, t.Revision); err != nil {
			return err
		}
	}
	return nil
}

// retry sends what failed on its way again.
func (h *history) retry(ctx context.Context, p *post) error {
	scope := h.people[planner(p.client)]
	page, err := scope.Post(ctx, p.id)
	if err != nil {
		return err
	}
	_, err = scope.RetryFailed(ctx, p.id, page.Post.Revision)
	return err
}

// pauseLetter holds the guest letter back.
func (h *history) pauseLetter(ctx context.Context) error {
	jonas, id := h.people["jonas"], h.accounts[place("hemlock", network.Webhook)].ID
	card, err := jonas.Account(ctx, id)
	if err != nil {
		return err
	}
	_, err = jonas.PauseAccount(ctx, id, card.Revision, true)
	return err
}
