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

// autoGroup is what of one post an approval plans together: the targets of a client
// that wish for one time.
type autoGroup struct {
	of      *approving
	targets []Target
	when    model.When
	no      error
}

// autoSchedule plans those of the posts' ready targets that have a time and whose
// client's workflow schedules by itself: by every rule of scheduling, each client
// and time for itself. What a rule refuses stays ready.
func (sc *Scope) autoSchedule(ctx context.Context, tx pgx.Tx, list []*approving, ready []model.TargetID) error {
	wishes := map[*approving][]Target{}
	var all []Target
	for _, a := range list {
		wishes[a] = slices.DeleteFunc(readied(a.targets, ready), func(t Target) bool { return t.DueAt == nil || t.LocalAt == nil || t.Zone == nil })
		all = append(all, wishes[a]...)
	}
	if len(all) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, sqlAutoClients, sc.Actor.Tenant, clientsOf(all))
	if err != nil {
		return err
	}
	clients, err := pgx.CollectRows(rows, pgx.RowTo[model.ClientID])
	if err != nil {
		return err
	}
	var groups []*autoGroup
	for _, a := range list {
		for _, targets := range alikePlanned(wishes[a], clients) {
			groups = append(groups, &autoGroup{of: a, targets: targets, when: wished(targets[0])})
		}
	}
	return sc.planGroups(ctx, tx, groups)
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

// planGroups schedules the groups that the rules let through, and tells each post what
// became of its own.
func (sc *Scope) planGroups(ctx context.Context, tx pgx.Tx, groups []*autoGroup) error {
	if len(groups) == 0 {
		return nil
	}
	var all []Target
	for _, g := range groups {
		all = append(all, g.targets...)
	}
	facts, err := sc.planFacts(ctx, tx, all)
	if err != nil {
		return err
	}
	if err := sc.setGroups(ctx, tx, groups, facts); err != nil {
		return err
	}
	var notes []note
	for _, g := range groups {
		auto := &g.of.auto
		if no, refused := model.Refused(g.no); refused {
			auto.Refused, auto.late = append(auto.Refused, no.Say), append(auto.late, g.targets)
			continue
		}
		auto.Planned += len(g.targets)
		notes = append(notes, note{verb: "auto_scheduled", subject: "post", id: int64(g.of.post), client: onlyClient(g.targets), detail: auditWhen(g.when, len(g.targets))})
	}
	return sc.auditMany(ctx, tx, notes)
}

func (sc *Scope) setGroups(ctx context.Context, tx pgx.Tx, groups []*autoGroup, facts planFacts) error {
	var goes []timed
	for _, g := range groups {
		if g.no = sc.mayGoAsWished(facts, g); g.no == nil {
			goes = append(goes, timesOf(g.targets, g.when)...)
		}
	}
	if len(goes) == 0 {
		return nil
	}
	planned, err := sc.setTimes(ctx, tx, goes)
	for _, g := range groups {
		if g.no == nil && !slices.ContainsFunc(g.targets, func(t Target) bool { return slices.Contains(planned, t.ID) }) {
			g.no = errBeingPublished
		}
	}
	return err
}

func (sc *Scope) mayGoAsWished(facts planFacts, g *autoGroup) error {
	if g.when.At.Before(sc.now().Add(-pastSlack)) {
		return model.Refuse(model.Conflict, fmt.Sprintf("The time it was planned for, %s, had passed when it was approved.", inZone(g.when.At, g.when.Zone)))
	}
	return facts.mayGo(g.targets, g.when)
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

func (m *mailing) sendUnplanned(user model.UserID, list []unplanned) {
	to, ok := m.team[user]
	if !ok {
		return
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
	m.owe(mailRow{key: key, kind: model.MailNotScheduled, email: to.Email, name: to.Name, content: content})
}
