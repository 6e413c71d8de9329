package db

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// WorkflowForm is a workflow as somebody wants it to be.
type WorkflowForm struct {
	Seen      string // the Workflow's that the form was drawn from
	Rules     WorkflowRules
	New       []NewApprover // outside people who become approvers of the client
	Gone      []model.ApproverID
	Confirmed bool // what happens to open requests has been read
}

// NewApprover is an outside person to be asked in a stage, counted from 0.
type NewApprover struct {
	Stage int
	Name  string // taken from the address if empty
	Email string
}

// WorkflowEffect is what a change of a workflow does to the requests that are open.
type WorkflowEffect struct {
	Open       int // when it was changed
	Stay       int // decided by the people they were asked with
	AskedAgain int // nobody who was asked can decide any more
	MovedOn    int // all who are left had approved
	GivenBack  int // nobody is asked any more
}

// Unconfirmed is the refusal of a change that concerns open requests, with what
// would happen to them. Nothing was changed.
type Unconfirmed struct {
	model.Refusal
	Effect WorkflowEffect
}

// Unwrap makes an Unconfirmed a Refusal to errors.As.
func (u *Unconfirmed) Unwrap() error { return &u.Refusal }

const sqlWorkflowLock = `SELECT FROM tenant.clients WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`

// SaveWorkflow changes a client's workflow. Requests that are open keep the people
// they were asked with, as long as one of them can decide; the others are asked
// again or given back, as by herald apply. Where requests are open and people or
// stages change, it refuses with an Unconfirmed until the form says so.
// It refuses with Conflict a form that was drawn before another change.
func (sc *Scope) SaveWorkflow(ctx context.Context, id model.ClientID, f WorkflowForm) (effect WorkflowEffect, err error) {
	defer wrap(&err, "save workflow of client %d", id)
	if err := sc.need(model.ClientsManage, id, "client"); err != nil {
		return effect, err
	}
	team, err := sc.team(ctx)
	if err != nil {
		return effect, err
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlWorkflowLock, sc.Actor.Tenant, id); err != nil {
			return err
		}
		was, err := sc.workflow(ctx, tx, id, team)
		if err != nil {
			return err
		}
		s := saving{sc: sc, tx: tx, team: team, was: was, form: f}
		effect, err = s.run(ctx)
		return err
	})
	return effect, err
}

// saving is one change of a workflow on its way.
type saving struct {
	sc   *Scope
	tx   pgx.Tx
	team team
	was  Workflow
	form WorkflowForm
}

func (s *saving) run(ctx context.Context) (effect WorkflowEffect, err error) {
	if s.form.Seen != s.was.Seen {
		return effect, model.Refuse(model.Conflict, "Somebody changed this workflow while you had it open, so nothing was saved. Below is yours: saving it once more replaces theirs.")
	}
	if err := s.check(); err != nil {
		return effect, err
	}
	if err := s.people(ctx); err != nil {
		return effect, err
	}
	now := s.form.Rules
	stages := len(s.form.Gone)+len(s.form.New) > 0 || !slices.EqualFunc(now.Stages, s.was.Rules.Stages, WorkflowStage.equal)
	if err := s.write(ctx, stages); err != nil {
		return effect, err
	}
	if effect, err = s.openOnes(ctx, stages); err != nil {
		return effect, err
	}
	if !stages && now.equal(s.was.Rules) {
		return effect, nil
	}
	return effect, s.sc.audit(ctx, s.tx, note{verb: "workflow_set", subject: "client", id: int64(s.was.ID), client: s.was.ID,
		detail: map[string]any{"stages": len(now.Stages), "asked_again": effect.AskedAgain, "given_back": effect.GivenBack}})
}

func (a WorkflowStage) equal(b WorkflowStage) bool {
	return a.Name == b.Name && a.Rule == b.Rule && slices.Equal(a.Users, b.Users) && slices.Equal(a.Approvers, b.Approvers)
}

func (r WorkflowRules) equal(o WorkflowRules) bool {
	return r.mark(nil) == o.mark(nil)
}

// The most that a workflow holds, and how long its waits are.
const (
	mostStages   = 10
	mostPeople   = 30
	shortestWait = time.Hour
	longestWait  = 90 * 24 * time.Hour
)

// check refuses rules that make no sense, each with the field it is about.
func (s *saving) check() error {
	r := &s.form.Rules
	if len(r.Stages) > mostStages {
		return model.RefuseField("stages", fmt.Sprintf("A workflow has %d stages at most.", mostStages))
	}
	seen := map[string]bool{}
	for i := range r.Stages {
		if err := s.checkStage(i, seen); err != nil {
			return err
		}
	}
	for field, wait := range map[string]time.Duration{"remind_after": r.RemindAfter, "remind_every": r.RemindEvery, "escalate_after": r.EscalateAfter} {
		if wait != 0 && (wait < shortestWait || wait > longestWait) {
			return model.RefuseField(field, "Choose a time between an hour and 90 days.")
		}
	}
	slices.Sort(r.EscalateTo)
	r.EscalateTo = slices.Compact(r.EscalateTo)
	if r.RemindAfter == 0 {
		r.RemindEvery = 0
	}
	if r.EscalateAfter != 0 && len(r.EscalateTo) == 0 {
		return model.RefuseField("escalate_to", "Choose who is told, or tell nobody.")
	}
	for _, u := range r.EscalateTo {
		if !slices.ContainsFunc(s.was.Watchers, func(p WorkflowPerson) bool { return p.User == u }) {
			return model.RefuseField("escalate_to", "Somebody chosen there can no longer see this client's posts. Choose somebody else.")
		}
	}
	return nil
}

func (s *saving) checkStage(i int, seen map[string]bool) error {
	st := &s.form.Rules.Stages[i]
	field := func(part string) string { return fmt.Sprintf("%s-%d", part, i) }
	st.Name = strings.Join(strings.Fields(st.Name), " ")
	slices.Sort(st.Users)
	st.Users = slices.Compact(st.Users)
	switch {
	case network.Blank(st.Name):
		return model.RefuseField(field("name"), "Give the stage a name, such as Client.")
	case len([]rune(st.Name)) > 60:
		return model.RefuseField(field("name"), "That name is too long: keep it under 60 characters.")
	case seen[strings.ToLower(st.Name)]:
		return model.RefuseField(field("name"), "Another stage has this name.")
	case st.Rule != model.AnyOne && st.Rule != model.Everyone:
		return model.RefuseField(field("rule"), "Choose whether one of them is enough.")
	}
	seen[strings.ToLower(st.Name)] = true
	for _, u := range st.Users {
		if !slices.ContainsFunc(s.was.Members, func(p WorkflowPerson) bool { return p.User == u }) {
			return model.RefuseField(field("people"), "Somebody chosen there can no longer approve for this client. Choose somebody else.")
		}
	}
	return nil
}

const sqlApproverPut = `
	INSERT INTO tenant.approvers (tenant_id, client_id, email, name) VALUES ($1, $2, $3, $4)
	ON CONFLICT (tenant_id, client_id, email) DO UPDATE SET revoked_at = NULL, name = CASE WHEN $5 THEN excluded.name ELSE tenant.approvers.name END RETURNING id`

const sqlApproverRevoke = `UPDATE tenant.approvers SET revoked_at = $4 WHERE tenant_id = $1 AND client_id = $2 AND id = $3 AND revoked_at IS NULL`

// people makes new approvers, takes away those who go, and leaves no stage without
// anybody. A member's address names the member.
func (s *saving) people(ctx context.Context) error {
	for _, n := range s.form.New {
		if err := s.add(ctx, n); err != nil {
			return err
		}
	}
	for _, id := range s.form.Gone {
		tag, err := s.tx.Exec(ctx, sqlApproverRevoke, s.sc.Actor.Tenant, s.was.ID, id, s.sc.now())
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return model.Refuse(model.NotFound, "There is no such approver of this client.")
		}
		if _, err := s.tx.Exec(ctx, sqlApproverLinks, s.sc.Actor.Tenant, id, s.sc.now()); err != nil {
			return err
		}
	}
	known := s.known()
	for i := range s.form.Rules.Stages {
		st := &s.form.Rules.Stages[i]
		slices.Sort(st.Approvers)
		st.Approvers = slices.Compact(st.Approvers)
		for _, a := range st.Approvers {
			if !slices.Contains(known, a) {
				return model.Refuse(model.NotFound, "There is no such approver of this client.")
			}
		}
		st.Approvers = slices.DeleteFunc(st.Approvers, func(a model.ApproverID) bool { return slices.Contains(s.form.Gone, a) })
		if n := len(st.Users) + len(st.Approvers); n == 0 {
			return model.RefuseField(fmt.Sprintf("people-%d", i), "Choose somebody, or take the stage away: a post would wait there for ever.")
		} else if n > mostPeople {
			return model.RefuseField(fmt.Sprintf("people-%d", i), fmt.Sprintf("A stage has %d people at most.", mostPeople))
		}
	}
	return nil
}

func (s *saving) known() (ids []model.ApproverID) {
	for _, a := range s.was.Approvers {
		ids = append(ids, a.Approver)
	}
	return ids
}

func (s *saving) add(ctx context.Context, n NewApprover) error {
	field := fmt.Sprintf("new-%d", n.Stage)
	address, err := netmail.ParseAddress(n.Email)
	if err != nil || address.Address != n.Email || len(n.Email) > 254 || !strings.Contains(n.Email[strings.LastIndex(n.Email, "@")+1:], ".") {
		return model.RefuseField(field, fmt.Sprintf("%q is no e-mail address. Write one address a line, with the name in front if you like: Dana Weber <dana@client.example>.", n.Email))
	}
	if n.Stage < 0 || n.Stage >= len(s.form.Rules.Stages) {
		return model.RefuseField(field, "That stage is not there.")
	}
	email := strings.ToLower(n.Email)
	st := &s.form.Rules.Stages[n.Stage]
	if i := slices.IndexFunc(s.was.Members, func(p WorkflowPerson) bool { return strings.EqualFold(p.Email, email) }); i >= 0 {
		st.Users = append(st.Users, s.was.Members[i].User)
		slices.Sort(st.Users)
		st.Users = slices.Compact(st.Users)
		return nil
	}
	name := strings.Join(strings.Fields(n.Name), " ")
	given := !network.Blank(name)
	if !given {
		name, _, _ = strings.Cut(email, "@")
	}
	if len([]rune(name)) > 80 {
		return model.RefuseField(field, "A name has 80 characters at most.")
	}
	var id model.ApproverID
	if err := s.tx.QueryRow(ctx, sqlApproverPut, s.sc.Actor.Tenant, s.was.ID, email, name, given).Scan(&id); err != nil {
		return err
	}
	st.Approvers = append(st.Approvers, id)
	s.was.Approvers = append(s.was.Approvers, WorkflowPerson{Approver: id})
	return nil
}

const sqlWorkflowPut = `
	UPDATE tenant.clients SET time_is_material = $3, auto_schedule = $4, remind_after = nullif($5, interval '0'), remind_every = nullif($6, interval '0'),
	       escalate_after = nullif($7, interval '0') WHERE tenant_id = $1 AND id = $2`

func (s *saving) write(ctx context.Context, stages bool) error {
	r := s.form.Rules
	_, err := s.tx.Exec(ctx, sqlWorkflowPut, s.sc.Actor.Tenant, s.was.ID, r.TimeIsMaterial, r.AutoSchedule, r.RemindAfter, r.RemindEvery, r.EscalateAfter)
	if err != nil {
		return err
	}
	if err := s.sc.escalateTo(ctx, s.tx, s.was.ID, r.EscalateTo); err != nil {
		return err
	}
	if err := s.sc.replanReminders(ctx, s.tx, s.was.ID); err != nil || !stages {
		return err
	}
	var rows []stageRow
	for _, st := range r.Stages {
		row := stageRow{name: st.Name, rule: string(st.Rule)}
		for _, u := range st.Users {
			row.people = append(row.people, int64(u))
		}
		for _, a := range st.Approvers {
			row.people = append(row.people, -int64(a))
		}
		rows = append(rows, row)
	}
	return s.sc.replaceStages(ctx, s.tx, s.was.ID, rows)
}

const sqlEscalationClear = `DELETE FROM tenant.escalation_people WHERE tenant_id = $1 AND client_id = $2`

const sqlEscalationAdd = `INSERT INTO tenant.escalation_people (tenant_id, client_id, user_id) SELECT $1, $2, unnest($3::bigint[])`

// escalateTo replaces whom a client's waiting posts are told of.
func (sc *Scope) escalateTo(ctx context.Context, tx pgx.Tx, client model.ClientID, users []model.UserID) error {
	if _, err := tx.Exec(ctx, sqlEscalationClear, sc.Actor.Tenant, client); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, sqlEscalationAdd, sc.Actor.Tenant, client, users)
	return err
}

const sqlRemindersReplan = `SELECT tenant.replan_reminders($1, $2)`

// replanReminders brings the reminders of a client's open requests to what its
// workflow says now.
func (sc *Scope) replanReminders(ctx context.Context, tx pgx.Tx, client model.ClientID) error {
	_, err := tx.Exec(ctx, sqlRemindersReplan, sc.Actor.Tenant, client)
	return err
}

const sqlStagesClear = `DELETE FROM tenant.stages WHERE tenant_id = $1 AND client_id = $2`

const sqlStageInsert = `INSERT INTO tenant.stages (tenant_id, client_id, position, name, rule) VALUES ($1, $2, $3, $4, $5) RETURNING id`

const sqlStagePerson = `INSERT INTO tenant.stage_people (tenant_id, stage_id, user_id, approver_id) VALUES ($1, $2, nullif(greatest($3, 0), 0), nullif(greatest(-$3, 0), 0))`

// replaceStages replaces a client's stages as a whole.
func (sc *Scope) replaceStages(ctx context.Context, tx pgx.Tx, client model.ClientID, want []stageRow) error {
	if _, err := tx.Exec(ctx, sqlStagesClear, sc.Actor.Tenant, client); err != nil {
		return err
	}
	for i, s := range want {
		var id model.StageID
		if err := tx.QueryRow(ctx, sqlStageInsert, sc.Actor.Tenant, client, i+1, s.name, s.rule).Scan(&id); err != nil {
			return err
		}
		for _, person := range s.people {
			if _, err := tx.Exec(ctx, sqlStagePerson, sc.Actor.Tenant, id, person); err != nil {
				return err
			}
		}
	}
	return nil
}

// openOnes brings open requests to the people who are left, or refuses with what
// would happen to them.
func (s *saving) openOnes(ctx context.Context, stages bool) (e WorkflowEffect, err error) {
	e.Open = s.was.Open
	if !stages || s.was.Open == 0 {
		e.Stay = s.was.Open
		return e, nil
	}
	r, err := s.sc.rewait(ctx, s.tx, s.team, s.was.ID)
	if err != nil {
		return e, err
	}
	came := r.came[s.was.ID]
	e.AskedAgain, e.MovedOn, e.GivenBack = came["asked_again"], came["stage_passed"], came["approval_reset"]
	e.Stay = e.Open - e.AskedAgain - e.MovedOn - e.GivenBack
	if !s.form.Confirmed {
		return e, &Unconfirmed{Refusal: model.Refusal{Kind: model.Conflict, Field: "confirmed", Say: "Posts wait for approval by this workflow. Read what happens to them, then save once more."}, Effect: e}
	}
	return e, nil
}

// Confirm is what a refusal that waits for a yes holds; ok is false for any other.
func Confirm(err error) (e WorkflowEffect, ok bool) {
	u, ok := errors.AsType[*Unconfirmed](err)
	if ok {
		e = u.Effect
	}
	return e, ok
}
