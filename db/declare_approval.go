package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

const sqlStagedClients = `SELECT DISTINCT client_id FROM tenant.stages WHERE tenant_id = $1`

// flows reads the workflows of the workspace with those of their people who can
// decide, if the members are team.
func (h *hand) flows(ctx context.Context, team team) ([]workflow, error) {
	rows, err := h.tx.Query(ctx, sqlStagedClients, h.ID)
	if err != nil {
		return nil, err
	}
	clients, err := pgx.CollectRows(rows, pgx.RowTo[model.ClientID])
	if err != nil {
		return nil, err
	}
	return h.scope.readWorkflows(ctx, h.tx, clients, team)
}

// wereThere remembers who could decide before anything of the workspace changes.
func (h *hand) wereThere(ctx context.Context) (err error) {
	h.had, err = h.flows(ctx, h.before[h.ID])
	return err
}

// stagesStay refuses to leave a stage with nobody who can approve: what waits in it
// would wait for ever. One that was so before is not this run's doing.
func (h *hand) stagesStay(ctx context.Context) error {
	now, err := h.flows(ctx, h.after[h.ID])
	if err != nil {
		return err
	}
	for _, f := range now {
		for _, s := range f.Stages {
			had, there := stageOf(h.had, f.Client, s.Name)
			if len(s.People) > 0 || there && len(had.People) == 0 {
				continue
			}
			if err := h.refuseEmpty(ctx, f, s, had.People); err != nil {
				return err
			}
		}
	}
	return nil
}

func stageOf(flows []workflow, client model.ClientID, name string) (model.AskedStage, bool) {
	for _, f := range flows {
		for _, s := range f.Stages {
			if f.Client == client && s.Name == name {
				return s, true
			}
		}
	}
	return model.AskedStage{}, false
}

const sqlOpenCount = `SELECT count(*) FROM tenant.approval_requests WHERE tenant_id = $1 AND client_id = $2 AND state = 'open'`

const sqlApproverEmails = `SELECT email FROM tenant.approvers WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY email`

func (h *hand) refuseEmpty(ctx context.Context, f workflow, s model.AskedStage, had []model.AskedPerson) error {
	slug := ""
	for name, c := range h.clients {
		if c.id == f.Client {
			slug = name
		}
	}
	who, err := h.emails(ctx, had)
	if err != nil {
		return err
	}
	var waiting int
	if err := h.tx.QueryRow(ctx, sqlOpenCount, h.ID, f.Client).Scan(&waiting); err != nil {
		return err
	}
	say := "nobody could approve any more"
	if len(who) > 0 {
		say = strings.Join(who, " and ") + " could not approve any more"
	}
	h.refuse(h.whereLeft(slug, s.Name, who), "%s, and the stage %q of %s/%s would have nobody else%s; name somebody else in the client's stages in the same file, or leave the stage out there",
		say, s.Name, h.Slug, slug, waitingWords(waiting))
	return nil
}

func waitingWords(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", while one post of the client waits for approval"
	}
	return fmt.Sprintf(", while %d posts of the client wait for approval", n)
}

func (h *hand) emails(ctx context.Context, people []model.AskedPerson) (list []string, err error) {
	var approvers []model.ApproverID
	for _, p := range people {
		if p.Approver != 0 {
			approvers = append(approvers, p.Approver)
		} else if m, ok := h.before[h.ID][p.User]; ok {
			list = append(list, m.Email)
		}
	}
	rows, err := h.tx.Query(ctx, sqlApproverEmails, h.ID, approvers)
	if err != nil {
		return nil, err
	}
	more, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return append(list, more...), err
}

// whereLeft finds the line that leaves a stage empty: of the stage, if it is
// declared, of an approver, else of a member or user.
func (h *hand) whereLeft(client, stage string, who []string) string {
	for _, c := range h.said.Clients {
		if c.Slug != client {
			continue
		}
		for _, s := range c.Stages {
			if s.Name == stage {
				return s.At
			}
		}
		for _, a := range c.Approvers {
			if a.Remove && slices.Contains(who, a.Email) {
				return a.At
			}
		}
	}
	return h.whereSaid(h.Slug, who)
}

// able are the people of a workspace who can decide, by client.
type able struct {
	team      team
	approvers map[model.ApproverID]bool
	granted   map[grant]bool
}

type grant struct {
	User   model.UserID
	Client model.ClientID
}

func (a able) can(client model.ClientID, p model.AskedPerson) bool {
	m, member := a.team[p.User]
	return a.approvers[p.Approver] || member && m.mayApprove(a.granted[grant{p.User, client}])
}

const sqlAbleApprovers = `SELECT id FROM tenant.approvers WHERE tenant_id = $1 AND revoked_at IS NULL`

const sqlAbleMembers = `SELECT user_id AS "user", client_id AS client FROM tenant.client_access WHERE tenant_id = $1 AND 'posts.approve' = ANY (permissions)`

func (h *hand) able(ctx context.Context) (a able, err error) {
	a = able{team: h.after[h.ID], approvers: map[model.ApproverID]bool{}, granted: map[grant]bool{}}
	rows, err := h.tx.Query(ctx, sqlAbleApprovers, h.ID)
	if err != nil {
		return a, err
	}
	approvers, err := pgx.CollectRows(rows, pgx.RowTo[model.ApproverID])
	if err != nil {
		return a, err
	}
	for _, id := range approvers {
		a.approvers[id] = true
	}
	if rows, err = h.tx.Query(ctx, sqlAbleMembers, h.ID); err != nil {
		return a, err
	}
	grants, err := pgx.CollectRows(rows, pgx.RowToStructByName[grant])
	for _, g := range grants {
		a.granted[g] = true
	}
	return a, err
}

const sqlRequestsOpen = requestColumns + ` WHERE r.tenant_id = $1 AND r.state = 'open' ORDER BY r.post_id, r.id`

// waitFor brings what waits for approval to the people who are left: a request that
// somebody can still decide stays as it was asked, one for which all who are left have
// approved goes on, and one that nobody can decide is asked about again by the
// workflow of today, or goes back to its writer if there is none.
func (h *hand) waitFor(ctx context.Context) error {
	if len(h.problems) > 0 {
		return nil // nothing of this is committed
	}
	rows, err := h.tx.Query(ctx, sqlRequestsOpen, h.ID)
	if err != nil {
		return err
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByName[requestRow])
	if err != nil || len(open) == 0 {
		return err
	}
	able, err := h.able(ctx)
	if err != nil {
		return err
	}
	r := rewaiting{hand: h, able: able, mails: newMailing(h.scope, able.team), count: map[string]int{}}
	for _, row := range open {
		if err := r.one(ctx, row); err != nil {
			return err
		}
	}
	for _, c := range h.said.Clients {
		r.tell(c.Slug)
	}
	for slug := range h.clients {
		r.tell(slug)
	}
	return r.mails.send(ctx, h.tx)
}

// rewaiting is that work for one workspace.
type rewaiting struct {
	*hand
	able
	mails *mailing
	count map[string]int // by client and what became of the posts
}

func (r *rewaiting) one(ctx context.Context, row requestRow) error {
	for _, s := range row.Stages[row.Stage-1:] {
		if !slices.ContainsFunc(s.People, func(p model.AskedPerson) bool { return r.can(row.ClientID, p) }) {
			return r.again(ctx, row)
		}
	}
	now := row.Stages[row.Stage-1]
	if now.Rule == model.Everyone && slices.ContainsFunc(now.People, func(p model.AskedPerson) bool { return !r.can(row.ClientID, p) }) {
		return r.goOn(ctx, row)
	}
	return nil
}

// goOn moves a request on if all who are left of its stage have approved it.
func (r *rewaiting) goOn(ctx context.Context, row requestRow) error {
	g := deciding{sc: r.scope, team: r.team, by: decider{may: func(requestRow) error { return nil }}, d: Decision{Request: row.ID, Verdict: model.Approve, Hash: row.Hash, Stage: row.Stage}}
	if err := g.lock(ctx, r.tx); err != nil || g.row.State != model.RequestOpen || g.row.Stage != row.Stage {
		return err
	}
	if passed, err := g.passed(ctx, r.tx, false); err != nil || !passed {
		return err
	}
	if err := g.follow(ctx, r.tx, false); err != nil {
		return err
	}
	r.mails.ask(g.asks)
	if g.post.Verdict != "" {
		r.mails.tell(row.WrittenBy, -int64(row.ID), g.post) // no decision has a number below zero
	}
	return r.settled(ctx, row, "stage_passed")
}

const sqlRequestSupersede = `
	UPDATE tenant.approval_requests SET state = 'superseded', closed_at = $3 WHERE tenant_id = $1 AND id = $2 AND state = 'open'`

// again asks about a post anew, or gives it back to its writer.
func (r *rewaiting) again(ctx context.Context, row requestRow) error {
	g := deciding{sc: r.scope, by: decider{may: func(requestRow) error { return nil }}, d: Decision{Request: row.ID}}
	if err := g.lock(ctx, r.tx); err != nil || g.row.State != model.RequestOpen {
		return err
	}
	flows, err := r.scope.readWorkflows(ctx, r.tx, []model.ClientID{row.ClientID}, r.team)
	if err != nil || nobodyMissing(flows) != nil {
		return err // a stage that was empty before stays as it is
	}
	if _, err := r.tx.Exec(ctx, sqlRequestSupersede, r.ID, row.ID, r.now); err != nil {
		return err
	}
	version, err := r.scope.version(ctx, r.tx, row.VersionID)
	if err != nil {
		return err
	}
	if g.targets, err = r.scope.targetsOf(ctx, r.tx, row.PostID); err != nil {
		return err
	}
	if len(flows) == 0 {
		flow := workflow{Client: row.ClientID, Name: row.Client, Zone: row.ClientZone, Stages: row.Stages}
		return r.giveBack(ctx, row, askOf(version, flow, row.Stage, g.liveTargets()).post)
	}
	a := askOf(version, flows[0], 1, g.liveTargets())
	a.sender = r.team.name(row.AskedBy)
	err = r.tx.QueryRow(ctx, sqlRequestInsert, r.ID, row.PostID, row.VersionID, version.Hash, row.ClientID, flows[0].Stages, a.post.DueAt, row.AskedBy, r.now).Scan(&a.request)
	if err != nil {
		return err
	}
	r.mails.ask([]ask{a})
	return r.settled(ctx, row, "asked_again")
}

// giveBack makes a post a draft again, whose writer is told to submit it once more:
// nobody is asked about it any more, and nobody has said yes either.
func (r *rewaiting) giveBack(ctx context.Context, row requestRow, post model.ApprovalMailPost) error {
	if err := r.scope.supersede(ctx, r.tx, row.PostID); err != nil {
		return err
	}
	if _, err := r.tx.Exec(ctx, sqlPostReview, r.ID, row.PostID, "draft"); err != nil {
		return err
	}
	post.Stage = ""
	r.mails.giveBack(row.AskedBy, row.ID, post)
	return r.settled(ctx, row, "approval_reset")
}

// settled writes down what became of a post, and brings it up to date.
func (r *rewaiting) settled(ctx context.Context, row requestRow, verb string) error {
	r.count[fmt.Sprintf("%d %s", row.ClientID, verb)]++
	err := r.scope.audit(ctx, r.tx, note{verb: verb, subject: "post", id: int64(row.PostID), client: row.ClientID, detail: map[string]any{"request": row.ID}})
	if err != nil {
		return err
	}
	if err := r.scope.touch(ctx, r.tx, row.PostID); err != nil {
		return err
	}
	return r.scope.recompute(ctx, r.tx, row.PostID)
}

// becameWords are told of a client's posts, after how many they are.
var becameWords = []struct{ verb, say string }{
	{"asked_again", "asked about again, since nobody who was asked can approve any more"},
	{"stage_passed", "moved on, since all who are left had approved"},
	{"approval_reset", "given back to the writers, since nobody is asked any more"},
}

// tell adds the lines about a client's posts, once.
func (r *rewaiting) tell(slug string) {
	for _, w := range becameWords {
		key := fmt.Sprintf("%d %s", r.clients[slug].id, w.verb)
		if n := r.count[key]; n > 0 {
			r.changes = append(r.changes, fmt.Sprintf("approvals of %s/%s: %d %s", r.Slug, slug, n, w.say))
			delete(r.count, key)
		}
	}
}
