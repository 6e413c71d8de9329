package db

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Workflow is how one client's posts come to be approved, as its editor shows it.
type Workflow struct {
	ID        model.ClientID
	Name      string
	Slug      string
	Rules     WorkflowRules
	Seen      string           // what a form that changes it sends back
	Members   []WorkflowPerson // who may be asked: members who may approve for the client
	Watchers  []WorkflowPerson // who may be told: members who may see its posts
	Approvers []WorkflowPerson // the client's own people, asked or not
	Open      int              // requests that wait now
}

// WorkflowRules are what can be changed. A zero duration means never.
type WorkflowRules struct {
	Stages         []WorkflowStage
	TimeIsMaterial bool // moving a post asks for approval again
	AutoSchedule   bool // what has a time is scheduled by the final approval
	RemindAfter    time.Duration
	RemindEvery    time.Duration
	EscalateAfter  time.Duration
	EscalateTo     []model.UserID
}

// WorkflowStage is one stage with the people who are asked in it.
type WorkflowStage struct {
	Name      string
	Rule      model.Rule
	Users     []model.UserID
	Approvers []model.ApproverID
}

// WorkflowPerson is somebody who can be named in a workflow.
type WorkflowPerson struct {
	User     model.UserID
	Approver model.ApproverID
	Name     string
	Email    string
}

const sqlWorkflowClient = `
	SELECT id, name, slug, time_is_material, auto_schedule, coalesce(remind_after, '0'), coalesce(remind_every, '0'), coalesce(escalate_after, '0'),
	       ARRAY(SELECT e.user_id FROM tenant.escalation_people e WHERE e.tenant_id = c.tenant_id AND e.client_id = c.id ORDER BY e.user_id),
	       (SELECT count(*) FROM tenant.approval_requests r WHERE r.tenant_id = c.tenant_id AND r.client_id = c.id AND r.state = 'open')
	  FROM tenant.clients c WHERE c.tenant_id = $1 AND c.id = $2`

const sqlWorkflowStages = `
	SELECT s.name, s.rule,
	       ARRAY(SELECT p.user_id FROM tenant.stage_people p WHERE p.tenant_id = s.tenant_id AND p.stage_id = s.id AND p.user_id IS NOT NULL ORDER BY 1) AS users,
	       ARRAY(SELECT p.approver_id FROM tenant.stage_people p WHERE p.tenant_id = s.tenant_id AND p.stage_id = s.id AND p.approver_id IS NOT NULL ORDER BY 1) AS approvers
	  FROM tenant.stages s WHERE s.tenant_id = $1 AND s.client_id = $2 ORDER BY s.position`

const sqlWorkflowApprovers = `
	SELECT id AS approver, name, email FROM tenant.approvers WHERE tenant_id = $1 AND client_id = $2 AND revoked_at IS NULL ORDER BY lower(name), id`

const sqlWorkflowAccess = `SELECT user_id, permissions FROM tenant.client_access WHERE tenant_id = $1 AND client_id = $2`

// Workflow reads a client's workflow. It takes clients.manage.
func (sc *Scope) Workflow(ctx context.Context, id model.ClientID) (w Workflow, err error) {
	defer wrap(&err, "read workflow of client %d", id)
	if err := sc.need(model.ClientsManage, id, "client"); err != nil {
		return w, err
	}
	team, err := sc.team(ctx)
	if err != nil {
		return w, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		w, err = sc.workflow(ctx, tx, id, team)
		return err
	})
	return w, err
}

func (sc *Scope) workflow(ctx context.Context, tx pgx.Tx, id model.ClientID, team team) (w Workflow, err error) {
	r := &w.Rules
	err = tx.QueryRow(ctx, sqlWorkflowClient, sc.Actor.Tenant, id).Scan(&w.ID, &w.Name, &w.Slug, &r.TimeIsMaterial, &r.AutoSchedule, &r.RemindAfter, &r.RemindEvery, &r.EscalateAfter, &r.EscalateTo, &w.Open)
	if noRows(err) {
		return w, model.Refuse(model.NotFound, "There is no such client.")
	}
	if err != nil {
		return w, err
	}
	rows, err := tx.Query(ctx, sqlWorkflowStages, sc.Actor.Tenant, id)
	if err != nil {
		return w, err
	}
	if r.Stages, err = pgx.CollectRows(rows, pgx.RowToStructByName[WorkflowStage]); err != nil {
		return w, err
	}
	if rows, err = tx.Query(ctx, sqlWorkflowApprovers, sc.Actor.Tenant, id); err != nil {
		return w, err
	}
	if w.Approvers, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[WorkflowPerson]); err != nil {
		return w, err
	}
	w.Seen = r.mark(w.Approvers)
	return w, sc.workflowTeam(ctx, tx, &w, team)
}

// workflowTeam adds the members who can be named.
func (sc *Scope) workflowTeam(ctx context.Context, tx pgx.Tx, w *Workflow, team team) error {
	rows, err := tx.Query(ctx, sqlWorkflowAccess, sc.Actor.Tenant, w.ID)
	if err != nil {
		return err
	}
	granted := map[model.UserID][]model.Permission{}
	var user model.UserID
	var list []model.Permission
	if _, err := pgx.ForEachRow(rows, []any{&user, &list}, func() error {
		granted[user], list = list, nil
		return nil
	}); err != nil {
		return err
	}
	for _, m := range team {
		who := WorkflowPerson{User: m.ID, Name: m.Name, Email: m.Email}
		if m.mayApprove(slices.Contains(granted[m.ID], model.PostsApprove)) {
			w.Members = append(w.Members, who)
		}
		if m.Role.EveryClient() || slices.Contains(granted[m.ID], model.PostsView) {
			w.Watchers = append(w.Watchers, who)
		}
	}
	slices.SortFunc(w.Members, WorkflowPerson.compare)
	slices.SortFunc(w.Watchers, WorkflowPerson.compare)
	return nil
}

func (p WorkflowPerson) compare(q WorkflowPerson) int {
	return cmp.Or(cmp.Compare(p.Name, q.Name), cmp.Compare(p.User, q.User), cmp.Compare(p.Approver, q.Approver))
}

// mark is short for rules and people: another one says that they were changed.
func (r WorkflowRules) mark(approvers []WorkflowPerson) string {
	text, _ := json.Marshal(struct {
		Rules     WorkflowRules
		Approvers []WorkflowPerson
	}{r, approvers})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// WorkflowClient is a client in the list of workflows.
type WorkflowClient struct {
	ID     model.ClientID
	Name   string
	Stages []string
	Open   int
}

const sqlWorkflowClients = `
	SELECT c.id, c.name,
	       ARRAY(SELECT s.name FROM tenant.stages s WHERE s.tenant_id = c.tenant_id AND s.client_id = c.id ORDER BY s.position) AS stages,
	       (SELECT count(*) FROM tenant.approval_requests r WHERE r.tenant_id = c.tenant_id AND r.client_id = c.id AND r.state = 'open') AS open
	  FROM tenant.clients c WHERE c.tenant_id = $1 AND c.archived_at IS NULL AND ($2 OR c.id = ANY ($3)) ORDER BY lower(c.name), c.id`

// Workflows lists the clients whose workflow the actor may change.
func (sc *Scope) Workflows(ctx context.Context) (list []WorkflowClient, err error) {
	defer wrap(&err, "list workflows")
	ids, all := sc.Actor.ClientsWith(model.ClientsManage)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlWorkflowClients, sc.Actor.Tenant, all, ids)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[WorkflowClient])
		return err
	})
	return list, err
}
