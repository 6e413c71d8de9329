package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

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

// able reads who can decide, in the transaction.
func (sc *Scope) able(ctx context.Context, tx pgx.Tx, team team) (a able, err error) {
	a = able{team: team, approvers: map[model.ApproverID]bool{}, granted: map[grant]bool{}}
	rows, err := tx.Query(ctx, sqlAbleApprovers, sc.Actor.Tenant)
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
	if rows, err = tx.Query(ctx, sqlAbleMembers, sc.Actor.Tenant); err != nil {
		return a, err
	}
	grants, err := pgx.CollectRows(rows, pgx.RowToStructByName[grant])
	for _, g := range grants {
		a.granted[g] = true
	}
	return a, err
}

const sqlRequestsOpen = requestColumns + ` WHERE r.tenant_id = $1 AND ($2 = 0 OR r.client_id = $2) AND r.state = 'open' ORDER BY r.post_id, r.id`

// rewaiting brings what waits for approval to the people who are left: a request that
// somebody can still decide stays as it was asked, one for which all who are left have
// approved goes on, and one that nobody can decide is asked about again by the
// workflow of today, or goes back to its writer if there is none.
type rewaiting struct {
	able
	sc    *Scope
	tx    pgx.Tx
	mails *mailing
	came  map[model.ClientID]map[string]int // how many posts, by what became of them
}

// rewait does that for one client's open requests, or for all clients' if it is zero.
func (sc *Scope) rewait(ctx context.Context, tx pgx.Tx, team team, client model.ClientID) (*rewaiting, error) {
	r := &rewaiting{sc: sc, tx: tx, mails: newMailing(sc, team), came: map[model.ClientID]map[string]int{}}
	rows, err := tx.Query(ctx, sqlRequestsOpen, sc.Actor.Tenant, client)
	if err != nil {
		return r, err
	}
	open, err := pgx.CollectRows(rows, pgx.RowToStructByName[requestRow])
	if err != nil || len(open) == 0 {
		return r, err
	}
	if r.able, err = sc.able(ctx, tx, team); err != nil {
		return r, err
	}
	for _, row := range open {
		if err := r.one(ctx, row); err != nil {
			return r, err
		}
	}
	return r, r.mails.send(ctx, tx)
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
	g := deciding{sc: r.sc, team: r.team, by: decider{may: func(requestRow) error { return nil }}, d: Decision{Request: row.ID, Verdict: model.Approve, Hash: row.Hash, Stage: row.Stage}}
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
	r.mails.unplanned(g.version, g.out.Auto)
	return r.settled(ctx, row, "stage_passed")
}

const sqlRequestInsert = `
	INSERT INTO tenant.approval_requests (tenant_id, post_id, version_id, content_hash, client_id, stages, due_at, asked_by, asked_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`

const sqlRequestSupersede = `
	UPDATE tenant.approval_requests SET state = 'superseded', closed_at = $3 WHERE tenant_id = $1 AND id = $2 AND state = 'open'`

// again asks about a post anew, or gives it back to its writer.
func (r *rewaiting) again(ctx context.Context, row requestRow) error {
	g := deciding{sc: r.sc, by: decider{may: func(requestRow) error { return nil }}, d: Decision{Request: row.ID}}
	if err := g.lock(ctx, r.tx); err != nil || g.row.State != model.RequestOpen {
		return err
	}
	flows, err := r.sc.readWorkflows(ctx, r.tx, []model.ClientID{row.ClientID}, r.team)
	if err != nil || nobodyMissing(flows) != nil {
		return err // a stage that was empty before stays as it is
	}
	if _, err := r.tx.Exec(ctx, sqlRequestSupersede, r.sc.Actor.Tenant, row.ID, r.sc.now()); err != nil {
		return err
	}
	version, err := r.sc.version(ctx, r.tx, row.VersionID)
	if err != nil {
		return err
	}
	if g.targets, err = r.sc.targetsOf(ctx, r.tx, row.PostID); err != nil {
		return err
	}
	if len(flows) == 0 {
		flow := workflow{Client: row.ClientID, Name: row.Client, Zone: row.ClientZone, Stages: row.Stages}
		return r.giveBack(ctx, row, askOf(version, flow, row.Stage, g.liveTargets()).post)
	}
	a := askOf(version, flows[0], 1, g.liveTargets())
	a.sender = r.team.name(row.AskedBy)
	err = r.tx.QueryRow(ctx, sqlRequestInsert, r.sc.Actor.Tenant, row.PostID, row.VersionID, version.Hash, row.ClientID, flows[0].Stages, a.post.DueAt, row.AskedBy, r.sc.now()).Scan(&a.request)
	if err != nil {
		return err
	}
	r.mails.ask([]ask{a})
	return r.settled(ctx, row, "asked_again")
}

// giveBack makes a post a draft again, whose writer is told to submit it once more:
// nobody is asked about it any more, and nobody has said yes either.
func (r *rewaiting) giveBack(ctx context.Context, row requestRow, post model.ApprovalMailPost) error {
	if err := r.sc.supersede(ctx, r.tx, row.PostID); err != nil {
		return err
	}
	if _, err := r.tx.Exec(ctx, sqlPostsReview, r.sc.Actor.Tenant, []model.PostID{row.PostID}, "draft"); err != nil {
		return err
	}
	post.Stage = ""
	r.mails.giveBack(row.AskedBy, row.ID, post)
	return r.settled(ctx, row, "approval_reset")
}

// settled writes down what became of a post, and brings it up to date.
func (r *rewaiting) settled(ctx context.Context, row requestRow, verb string) error {
	if r.came[row.ClientID] == nil {
		r.came[row.ClientID] = map[string]int{}
	}
	r.came[row.ClientID][verb]++
	err := r.sc.audit(ctx, r.tx, note{verb: verb, subject: "post", id: int64(row.PostID), client: row.ClientID, detail: map[string]any{"request": row.ID}})
	if err != nil {
		return err
	}
	if err := r.sc.touch(ctx, r.tx, row.PostID); err != nil {
		return err
	}
	return r.sc.recompute(ctx, r.tx, row.PostID)
}
