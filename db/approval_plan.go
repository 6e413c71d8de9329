package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// AutoPlan is what the final approval of a post did to its plan, where the
// clients' workflows schedule by themselves.
type AutoPlan struct {
	Planned int        // targets that are scheduled now
	Refused []string   // why others are not, a sentence each
	late    [][]Target // those, by reason
}

// All says whether everything that should have been scheduled is, and that
// something was.
func (a AutoPlan) All() bool { return a.Planned > 0 && len(a.Refused) == 0 }

// readied are those of the targets that an approval made ready.
func readied(targets []Target, ids []model.TargetID) (ready []Target) {
	for _, t := range targets {
		if slices.Contains(ids, t.ID) {
			t.State = model.Ready
			ready = append(ready, t)
		}
	}
	return ready
}

const sqlAutoClients = `SELECT id FROM tenant.clients WHERE tenant_id = $1 AND id = ANY ($2) AND auto_schedule`

// autoSchedule plans those of a post's ready targets that have a time and whose
// client's workflow schedules by itself: by every rule of scheduling, each client
// and time for itself. What a rule refuses stays ready.
func (sc *Scope) autoSchedule(ctx context.Context, tx pgx.Tx, post model.PostID, ready []Target) (auto AutoPlan, err error) {
	ready = slices.DeleteFunc(ready, func(t Target) bool { return t.DueAt == nil || t.LocalAt == nil || t.Zone == nil })
	if len(ready) == 0 {
		return auto, nil
	}
	rows, err := tx.Query(ctx, sqlAutoClients, sc.Actor.Tenant, clientsOf(ready))
	if err != nil {
		return auto, err
	}
	clients, err := pgx.CollectRows(rows, pgx.RowTo[model.ClientID])
	if err != nil {
		return auto, err
	}
	for _, group := range alikePlanned(ready, clients) {
		err := refused(pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return sc.planAsWished(ctx, tx, post, group) }))
		if no, ok := model.Refused(err); ok {
			auto.Refused, auto.late = append(auto.Refused, no.Say), append(auto.late, group)
			continue
		}
		if err != nil {
			return auto, err
		}
		auto.Planned += len(group)
	}
	return auto, nil
}

// alikePlanned groups targets by client and plan.
func alikePlanned(ready []Target, clients []model.ClientID) (groups [][]Target) {
	for _, t := range ready {
		if !slices.Contains(clients, t.ClientID) {
			continue
		}
		i := slices.IndexFunc(groups, func(g []Target) bool { return g[0].ClientID == t.ClientID && wished(g[0]) == wished(t) })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], t)
	}
	return groups
}

// wished is the plan that a target carries.
func wished(t Target) model.When {
	return model.When{At: t.DueAt.UTC(), Local: model.LocalOf(*t.LocalAt), Zone: *t.Zone, Occurrence: model.Occurrence(deref(t.Occurrence, ""))}
}

func (sc *Scope) planAsWished(ctx context.Context, tx pgx.Tx, post model.PostID, group []Target) error {
	when := wished(group[0])
	if when.At.Before(sc.now().Add(-pastSlack)) {
		return model.Refuse(model.Conflict, fmt.Sprintf("The time it was planned for, %s, had passed when it was approved.", inZone(when.At, when.Zone)))
	}
	return sc.planTargets(ctx, tx, post, group, when, "auto_scheduled")
}

// unplanned is one post that was approved and not scheduled.
type unplanned struct {
	version model.VersionID
	post    model.ApprovalMailPost
}

// unplanned adds what a rule kept off the calendar, for the post's writer.
func (m *mailing) unplanned(v Version, auto AutoPlan) {
	for i, group := range auto.late {
		t := group[0]
		a := askOf(v, workflow{Client: t.ClientID, Name: t.Client, Zone: t.ClientZone, Stages: []model.AskedStage{{}}}, 1, group)
		a.post.Words = auto.Refused[i]
		m.late[v.CreatedBy] = append(m.late[v.CreatedBy], unplanned{v.ID, a.post})
	}
}

func (m *mailing) sendUnplanned(ctx context.Context, tx pgx.Tx, user model.UserID, list []unplanned) error {
	to, ok := m.team[user]
	if !ok {
		return nil
	}
	var posts []model.ApprovalMailPost
	for _, u := range list {
		posts = append(posts, u.post)
	}
	content := model.ApprovalMail{Agency: m.sc.Workspace.Name, Client: oneClient(posts), Posts: posts, Path: "/w/" + m.sc.Workspace.Slug + "/posts"}
	if len(posts) == 1 {
		content.Path = fmt.Sprintf("/w/%s/posts/%d", m.sc.Workspace.Slug, posts[0].Post)
	}
	first := slices.MinFunc(list, func(a, b unplanned) int { return cmp.Compare(a.version, b.version) })
	key := fmt.Sprintf("%s:%d:%d", model.MailNotScheduled, first.version, user)
	return m.insert(ctx, tx, mailRow{key: key, kind: model.MailNotScheduled, email: to.Email, name: to.Name, content: content})
}
