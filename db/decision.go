package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Decision is what one person says about the version they were shown. Hash and
// Stage come from the page: a version or a stage that is no longer the one that
// is asked about is not decided.
type Decision struct {
	Request model.RequestID
	Verdict model.Verdict
	Words   string
	Hash    string
	Stage   int
}

// Decided is what became of one decision, or the refusal No.
type Decided struct {
	Request  model.RequestID
	State    model.RequestState // of the request now
	Stage    int
	Approved bool // every client has approved: the post is
	Auto     AutoPlan
	Repeated bool // the person had decided the same before; nothing was added
	No       error
}

// Decide records the actor's decision. It takes posts.approve at the client, and
// a place in the current stage; owners and admins may decide without one, which is
// recorded as an override and settles the stage. The same decision again, with no
// other words, is a quiet success. A post that changed is a *Changed.
func (sc *Scope) Decide(ctx context.Context, id model.RequestID, d Decision) (Decided, error) {
	d.Request = id
	by := decider{
		person:   model.AskedPerson{User: sc.Actor.User, Name: sc.Actor.Name},
		override: sc.Actor.Role.EveryClient(),
		may: func(r requestRow) error {
			return sc.need(model.PostsApprove, r.ClientID, "approval request")
		},
	}
	out, err := sc.decide(ctx, by, []Decision{d})
	if err != nil {
		return Decided{}, err
	}
	return out[0], out[0].No
}

// decider is who decides, and what that person may decide about.
type decider struct {
	person   model.AskedPerson
	override bool // may decide without being asked
	may      func(requestRow) error
}

// decide records decisions in one transaction: those that can be are, the others
// come back with their refusal. Who is to be told gets one mail for all of them.
func (sc *Scope) decide(ctx context.Context, by decider, list []Decision) (out []Decided, err error) {
	defer wrap(&err, "decide")
	team, err := sc.team(ctx)
	if err != nil {
		return nil, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		out = nil
		mails := newMailing(sc, team)
		mails.gathers = true // posts of one batch are often decided one after the other
		for _, d := range list {
			one := deciding{sc: sc, team: team, by: by, d: d}
			err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return one.run(ctx, tx) })
			err = refused(err)
			if _, no := model.Refused(err); no {
				out = append(out, Decided{Request: d.Request, No: err})
				continue
			}
			if err != nil {
				return err
			}
			out = append(out, one.out)
			mails.ask(one.asks)
			if one.id != 0 && one.post.Verdict != "" {
				mails.tell(one.row.WrittenBy, one.id, one.post)
			}
			mails.unplanned(one.version, one.out.Auto)
		}
		return mails.send(ctx, tx)
	})
	return out, err
}

// deciding is one decision on its way: what it is about, and what follows.
type deciding struct {
	sc   *Scope
	team team
	by   decider
	d    Decision

	row     requestRow
	post    model.ApprovalMailPost // for the writer; without a verdict there is nothing to tell
	version Version
	targets []Target
	asks    []ask // the next stage's people
	id      int64 // of the decision
	out     Decided
}

const sqlDecisionMine = `
	SELECT verdict, words FROM tenant.decisions
	 WHERE tenant_id = $1 AND request_id = $2 AND stage = $3 AND coalesce(user_id, 0) = $4 AND coalesce(approver_id, 0) = $5`

// run decides under the post's lock, so that two people's decisions follow one
// upon the other and the post is approved once.
func (g *deciding) run(ctx context.Context, tx pgx.Tx) error {
	if err := g.readWords(); err != nil {
		return err
	}
	if err := g.lock(ctx, tx); err != nil {
		return err
	}
	g.out = Decided{Request: g.d.Request, State: g.row.State, Stage: g.row.Stage}
	var before model.Verdict
	var said string
	err := tx.QueryRow(ctx, sqlDecisionMine, g.sc.Actor.Tenant, g.d.Request, g.d.Stage, g.by.person.User, g.by.person.Approver).Scan(&before, &said)
	switch {
	case err == nil && before == g.d.Verdict && g.d.Hash == g.row.Hash && (g.d.Words == "" || g.d.Words == said):
		g.out.Repeated = true
		return nil
	case err == nil && g.row.State != model.RequestSuperseded:
		return model.Refuse(model.Conflict, "You have already decided on this: "+verdictWords(before)+". Nothing more was recorded.")
	case err != nil && !noRows(err):
		return err
	}
	override, err := g.mayDecide(ctx, tx)
	if err != nil {
		return err
	}
	if err := g.record(ctx, tx, override); err != nil {
		return err
	}
	if err := g.follow(ctx, tx, override); err != nil {
		return err
	}
	if err := g.sc.touch(ctx, tx, g.row.PostID); err != nil {
		return err
	}
	return g.sc.recompute(ctx, tx, g.row.PostID)
}

func (g *deciding) readWords() error {
	if g.d.Words = strings.TrimSpace(g.d.Words); network.Blank(g.d.Words) {
		g.d.Words = ""
	}
	switch {
	case !g.d.Verdict.Known():
		return model.RefuseField("verdict", "Choose to approve, to ask for changes, or to reject.")
	case g.d.Verdict == model.RequestChanges && g.d.Words == "":
		return model.RefuseField("words", "Say what should change, so that the writer knows.")
	}
	return tooLong("words", g.d.Words)
}

// lock finds the request, locks its post, and reads both as they are under the
// lock.
func (g *deciding) lock(ctx context.Context, tx pgx.Tx) (err error) {
	if g.row, err = g.sc.requestRow(ctx, tx, g.d.Request); err != nil {
		return err
	}
	if err := g.by.may(g.row); err != nil {
		return err
	}
	if _, err := g.sc.postRecords(ctx, tx, []model.PostID{g.row.PostID}, sqlPostLock); err != nil {
		return err
	}
	g.row, err = g.sc.requestRow(ctx, tx, g.d.Request)
	return err
}

func (sc *Scope) requestRow(ctx context.Context, tx pgx.Tx, id model.RequestID) (requestRow, error) {
	rows, err := tx.Query(ctx, sqlRequestGet, sc.Actor.Tenant, id)
	if err != nil {
		return requestRow{}, err
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[requestRow])
	if noRows(err) {
		return row, errNoRequest
	}
	return row, err
}

// mayDecide refuses what is not to be decided any more, or not by this person.
func (g *deciding) mayDecide(ctx context.Context, tx pgx.Tx) (override bool, err error) {
	r := model.ApprovalRequest{Stage: g.row.Stage, Stages: g.row.Stages}
	switch {
	case g.row.State == model.RequestSuperseded || g.row.VersionID != g.row.CurrentID || g.d.Hash != g.row.Hash:
		return false, g.changed(ctx, tx)
	case g.row.State != model.RequestOpen:
		return false, model.Refuse(model.Conflict, "This was decided meanwhile: it is "+stateOfRequest(g.row.State)+". Nothing was recorded.")
	case g.d.Stage != g.row.Stage:
		return false, model.Refuse(model.Conflict, fmt.Sprintf("This stage was decided meanwhile; it is now with %q. Nothing was recorded.", r.Current().Name))
	case r.Current().Has(g.by.person):
		return false, nil
	case g.by.override:
		return true, nil
	}
	return false, model.Refuse(model.Forbidden, fmt.Sprintf("This waits for the people of the stage %q, and you are not among them.", r.Current().Name))
}

const sqlDecisionInsert = `
	INSERT INTO tenant.decisions (tenant_id, request_id, stage, user_id, approver_id, name, verdict, words, content_hash, override, at)
	VALUES ($1, $2, $3, nullif($4, 0), nullif($5, 0), $6, $7, $8, decode($9, 'hex'), $10, $11) RETURNING id`

func (g *deciding) record(ctx context.Context, tx pgx.Tx, override bool) error {
	p := g.by.person
	err := tx.QueryRow(ctx, sqlDecisionInsert, g.sc.Actor.Tenant, g.row.ID, g.row.Stage, p.User, p.Approver, p.Name, g.d.Verdict, g.d.Words,
		g.row.Hash, override, g.sc.now()).Scan(&g.id)
	if err != nil {
		return err
	}
	detail := map[string]any{"request": g.row.ID, "stage": g.row.Stage, "version": g.row.VersionID}
	if override {
		detail["override"] = true
	}
	return g.sc.auditBy(ctx, tx, p, note{verb: verdictVerb(g.d.Verdict), subject: "post", id: int64(g.row.PostID), client: g.row.ClientID, detail: detail})
}

const sqlRequestMove = `
	UPDATE tenant.approval_requests SET state = $3, stage = $4, stage_since = CASE WHEN $4 > stage THEN $5 ELSE stage_since END, closed_at = CASE WHEN $3 = 'open' THEN NULL ELSE $5::timestamptz END
	 WHERE tenant_id = $1 AND id = $2 AND state = 'open'`

// follow moves the request on as the decision and the stage's rule say.
func (g *deciding) follow(ctx context.Context, tx pgx.Tx, override bool) (err error) {
	if g.version, err = g.sc.version(ctx, tx, g.row.VersionID); err != nil {
		return err
	}
	if g.targets, err = g.sc.targetsOf(ctx, tx, g.row.PostID); err != nil {
		return err
	}
	state, stage := model.RequestOpen, g.row.Stage
	switch g.d.Verdict {
	case model.RequestChanges:
		state = model.RequestChangesDue
	case model.Reject:
		state = model.RequestRejected
	default:
		passed, err := g.passed(ctx, tx, override)
		if err != nil {
			return err
		}
		if passed && stage == len(g.row.Stages) {
			state = model.RequestApproved
		} else if passed {
			stage++
		}
	}
	if _, err := tx.Exec(ctx, sqlRequestMove, g.sc.Actor.Tenant, g.row.ID, state, stage, g.sc.now()); err != nil {
		return err
	}
	g.out.State, g.out.Stage = state, stage
	return g.consequences(ctx, tx, stage > g.row.Stage)
}

const sqlDecisionApprovals = `
	SELECT coalesce(user_id, 0) AS "user", coalesce(approver_id, 0) AS approver, name FROM tenant.decisions
	 WHERE tenant_id = $1 AND request_id = $2 AND stage = $3 AND verdict = 'approve'`

// passed says whether the stage has all the approvals its rule wants.
func (g *deciding) passed(ctx context.Context, tx pgx.Tx, override bool) (bool, error) {
	stage := model.ApprovalRequest{Stage: g.row.Stage, Stages: g.row.Stages}.Current()
	if override || stage.Rule == model.AnyOne {
		return true, nil
	}
	rows, err := tx.Query(ctx, sqlDecisionApprovals, g.sc.Actor.Tenant, g.row.ID, g.row.Stage)
	if err != nil {
		return false, err
	}
	said, err := pgx.CollectRows(rows, pgx.RowToStructByName[model.AskedPerson])
	if err != nil {
		return false, err
	}
	left, err := g.sc.standing(ctx, tx, g.row.ClientID, stage, g.team)
	if err != nil {
		return false, err
	}
	have := model.AskedStage{People: said}
	for _, p := range left {
		if !have.Has(p) {
			return false, nil
		}
	}
	return true, nil
}

// consequences brings the post and the people to be told up to date.
func (g *deciding) consequences(ctx context.Context, tx pgx.Tx, next bool) (err error) {
	flow := workflow{Client: g.row.ClientID, Name: g.row.Client, Zone: g.row.ClientZone, Stages: g.row.Stages}
	a := askOf(g.version, flow, g.out.Stage, g.liveTargets())
	a.request, a.sender = g.row.ID, g.team.name(g.row.AskedBy)
	tell := a.post
	tell.Verdict, tell.Words = g.d.Verdict, g.d.Words
	switch {
	case g.out.State == model.RequestChangesDue || g.out.State == model.RequestRejected:
		g.post = tell
		_, err := tx.Exec(ctx, sqlPostsReview, g.sc.Actor.Tenant, []model.PostID{g.row.PostID}, "changes_requested")
		return err
	case next:
		g.asks = []ask{a}
		return nil
	case g.out.State == model.RequestApproved:
		one := &approving{post: g.row.PostID, version: g.row.VersionID, targets: g.targets}
		if err := g.sc.approveIfAll(ctx, tx, one); err != nil {
			return err
		}
		g.out.Auto = one.auto
		if err := tx.QueryRow(ctx, sqlPostIsApproved, g.sc.Actor.Tenant, g.row.PostID, g.row.VersionID).Scan(&g.out.Approved); err != nil {
			return err
		}
		if tell.Done = g.out.Approved; tell.Done {
			tell.Scheduled = g.out.Auto.All()
			g.post = tell
		}
	}
	return nil
}

const sqlPostIsApproved = `SELECT approved_version_id IS NOT DISTINCT FROM $3 FROM tenant.posts WHERE tenant_id = $1 AND id = $2`

// liveTargets are those that carry the version; after it was sent off there are
// none, and the mail then names no networks.
func (g *deciding) liveTargets() []Target {
	var live []Target
	for _, t := range g.targets {
		if t.VersionID == g.row.VersionID && t.State != model.Cancelled {
			live = append(live, t)
		}
	}
	return live
}

const sqlAuditBy = `
	INSERT INTO tenant.audit (tenant_id, at, user_id, approver_id, name, verb, subject, subject_id, client_id, detail)
	VALUES ($1, $2, nullif($3, 0), nullif($4, 0), $5, $6, $7, $8, nullif($9, 0), $10)`

// auditBy writes what a person did who may be a client's approver.
func (sc *Scope) auditBy(ctx context.Context, tx pgx.Tx, p model.AskedPerson, n note) error {
	if n.detail == nil {
		n.detail = map[string]any{}
	}
	_, err := tx.Exec(ctx, sqlAuditBy, sc.Actor.Tenant, sc.now(), p.User, p.Approver, p.Name, n.verb, n.subject, n.id, n.client, n.detail)
	return err
}

func verdictVerb(v model.Verdict) string {
	switch v {
	case model.RequestChanges:
		return "requested_changes"
	case model.Reject:
		return "rejected"
	}
	return "approved"
}

func verdictWords(v model.Verdict) string {
	switch v {
	case model.RequestChanges:
		return "you asked for changes"
	case model.Reject:
		return "you rejected it"
	}
	return "you approved it"
}

func stateOfRequest(s model.RequestState) string {
	switch s {
	case model.RequestChangesDue:
		return "back with changes requested"
	case model.RequestRejected:
		return "rejected"
	}
	return "approved"
}
