package jobs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
)

// Unscheduled owes the mails about what is approved, planned and not scheduled on a shard:
// one to each person when the time is near, and one once it has passed. Doing it twice
// owes nothing more.
func (n *Notifier) Unscheduled(ctx context.Context, shard string, now time.Time) error {
	for {
		list, err := n.Pipe.Unscheduled(ctx, shard, now, batch)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, u := range list {
			if err := n.unscheduled(ctx, shard, now, u); err != nil {
				return err
			}
		}
		if err := n.Pipe.ToldUnscheduled(ctx, shard, now, list); err != nil {
			return err
		}
	}
}

func (n *Notifier) unscheduled(ctx context.Context, shard string, now time.Time, u db.Unscheduled) error {
	people, err := n.Pipe.Recipients(ctx, u.Tenant, []model.Role{model.Owner, model.Admin}, u.Known())
	if err != nil {
		return err
	}
	kind := model.MailUnscheduled
	if !u.DueAt.After(now) {
		kind = model.MailPlanPassed
	}
	for _, who := range concerned(u, people) {
		key := fmt.Sprintf("%s:%d:%d:%d", kind, u.Post, u.DueAt.Unix(), who.ID)
		if err := n.Pipe.AddMail(ctx, shard, u.Tenant, key, kind, who, unscheduledMail(u, u.For(who, model.PostsView))); err != nil {
			return err
		}
	}
	return nil
}

// concerned: the writer and whoever chose the time, of those who still see the post.
// If none of them may schedule it, somebody who may has to hear of it too: who does so
// for its clients, else the owners and admins.
func concerned(u db.Unscheduled, people []db.Recipient) (list []db.Recipient) {
	may := func(who db.Recipient) bool { return len(u.For(who, model.PostsSchedule)) == len(u.Targets) }
	for _, who := range people {
		if u.Concerns(who.ID) && len(u.For(who, model.PostsView)) > 0 {
			list = append(list, who)
		}
	}
	if slices.ContainsFunc(list, may) {
		return list
	}
	var theirs, everybodys []db.Recipient
	for _, who := range people {
		switch {
		case !may(who):
		case who.Role.EveryClient():
			everybodys = append(everybodys, who)
		default:
			theirs = append(theirs, who)
		}
	}
	if len(theirs) == 0 {
		theirs = everybodys
	}
	return append(list, theirs...)
}

// unscheduledMail is what somebody reads who sees those targets.
func unscheduledMail(u db.Unscheduled, seen []db.UnscheduledTarget) model.ApprovalMail {
	post := model.ApprovalMailPost{Post: u.Post, Excerpt: seen[0].Words, Client: seen[0].Name, DueAt: &u.DueAt, Zone: seen[0].Zone}
	for _, t := range seen {
		if !slices.Contains(post.Networks, t.Network) {
			post.Networks = append(post.Networks, t.Network)
		}
		if t.Client != seen[0].Client {
			post.Client = ""
		}
	}
	return model.ApprovalMail{Agency: u.Workspace, Client: post.Client, Posts: []model.ApprovalMailPost{post}, Path: fmt.Sprintf("/w/%s/posts/%d", u.Slug, u.Post)}
}
