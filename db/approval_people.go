package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// teammate is a member of the workspace as approvals need one.
type teammate struct {
	ID    model.UserID
	Name  string
	Email string
	Role  model.Role
}

// mayApprove says whether the member can decide for a client where posts.approve
// was granted or was not.
func (m teammate) mayApprove(granted bool) bool {
	return m.Role.EveryClient() || granted && slices.Contains(m.Role.Grants(), model.PostsApprove)
}

// team is the workspace's members who can sign in.
type team map[model.UserID]teammate

const sqlTeamList = `
	SELECT u.id, u.name, u.email, m.role FROM control.memberships m
	  JOIN control.users u ON u.id = m.user_id AND u.disabled_at IS NULL WHERE m.workspace_id = $1`

// team reads the members from the control plane. It runs before a transaction
// of the shard, never inside one: both may draw on the same connections.
func (sc *Scope) team(ctx context.Context) (team, error) {
	rows, err := sc.control.Query(ctx, sqlTeamList, sc.Actor.Tenant)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[teammate])
	all := team{}
	for _, m := range list {
		all[m.ID] = m
	}
	return all, err
}

// workflow is one client's stages with those of their people who can decide.
type workflow struct {
	Client model.ClientID
	Name   string
	Zone   string
	Stages []model.AskedStage
}

const sqlWorkflowList = `
	SELECT c.id, c.name, c.zone, s.id, s.name, s.rule, coalesce(p.user_id, 0), coalesce(p.approver_id, 0), coalesce(a.name, ''),
	       a.id IS NOT NULL AND a.revoked_at IS NULL, coalesce(ca.permissions, '{}')
	  FROM tenant.clients c
	  JOIN tenant.stages s ON s.tenant_id = c.tenant_id AND s.client_id = c.id
	  LEFT JOIN tenant.stage_people p ON p.tenant_id = s.tenant_id AND p.stage_id = s.id
	  LEFT JOIN tenant.approvers a ON a.tenant_id = p.tenant_id AND a.id = p.approver_id AND a.client_id = c.id
	  LEFT JOIN tenant.client_access ca ON ca.tenant_id = p.tenant_id AND ca.user_id = p.user_id AND ca.client_id = c.id
	 WHERE c.tenant_id = $1 AND c.id = ANY ($2)
	 ORDER BY c.name, c.id, s.position, p.user_id NULLS LAST, p.approver_id`

// readWorkflows reads the workflows of those clients that have one, as they are.
func (sc *Scope) readWorkflows(ctx context.Context, tx pgx.Tx, clients []model.ClientID, team team) (flows []workflow, err error) {
	rows, err := tx.Query(ctx, sqlWorkflowList, sc.Actor.Tenant, clients)
	if err != nil {
		return nil, err
	}
	var f workflow
	var stage, last model.StageID
	var s model.AskedStage
	var p model.AskedPerson
	var standing bool
	var granted []model.Permission
	_, err = pgx.ForEachRow(rows, []any{&f.Client, &f.Name, &f.Zone, &stage, &s.Name, &s.Rule, &p.User, &p.Approver, &p.Name, &standing, &granted}, func() error {
		if len(flows) == 0 || flows[len(flows)-1].Client != f.Client {
			flows = append(flows, workflow{Client: f.Client, Name: f.Name, Zone: f.Zone})
		}
		flow := &flows[len(flows)-1]
		if stage != last {
			flow.Stages = append(flow.Stages, model.AskedStage{Position: len(flow.Stages) + 1, Name: s.Name, Rule: s.Rule})
			last = stage
		}
		if m, ok := team[p.User]; ok {
			p.Name, standing = m.Name, m.mayApprove(slices.Contains(granted, model.PostsApprove))
		}
		if standing {
			here := &flow.Stages[len(flow.Stages)-1]
			here.People = append(here.People, p)
		}
		granted = nil
		return nil
	})
	return flows, err
}

// nobodyMissing refuses if a stage has nobody who could decide: the post would wait
// for ever.
func nobodyMissing(flows []workflow) error {
	for _, f := range flows {
		for _, s := range f.Stages {
			if len(s.People) == 0 {
				return model.Refuse(model.Conflict, fmt.Sprintf(
					"The stage %q of %s has nobody who could approve. Add a person to it, or take the stage away.", s.Name, f.Name))
			}
		}
	}
	return nil
}

const sqlApproversStanding = `
	SELECT id, name, email, client_id, coalesce(zone, '') AS zone FROM tenant.approvers WHERE tenant_id = $1 AND id = ANY ($2) AND revoked_at IS NULL ORDER BY id`

// approver is a client's person who decides from a link.
type approver struct {
	ID       model.ApproverID
	Name     string
	Email    string
	ClientID model.ClientID
	Zone     string // of their own; empty for the client's
}

// approversStanding returns those of the approvers who were not removed.
func (sc *Scope) approversStanding(ctx context.Context, tx pgx.Tx, ids []model.ApproverID) ([]approver, error) {
	rows, err := tx.Query(ctx, sqlApproversStanding, sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[approver])
}

const sqlAccessStanding = `
	SELECT user_id FROM tenant.client_access
	 WHERE tenant_id = $1 AND client_id = $2 AND user_id = ANY ($3) AND 'posts.approve' = ANY (permissions)`

// standing returns those of a stage's people who could still decide today. Who
// left since it was asked does not hold up the others.
func (sc *Scope) standing(ctx context.Context, tx pgx.Tx, client model.ClientID, stage model.AskedStage, team team) (left []model.AskedPerson, err error) {
	var users []model.UserID
	var approvers []model.ApproverID
	for _, p := range stage.People {
		if p.Approver != 0 {
			approvers = append(approvers, p.Approver)
		} else {
			users = append(users, p.User)
		}
	}
	here, err := sc.approversStanding(ctx, tx, approvers)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sqlAccessStanding, sc.Actor.Tenant, client, users)
	if err != nil {
		return nil, err
	}
	granted, err := pgx.CollectRows(rows, pgx.RowTo[model.UserID])
	if err != nil {
		return nil, err
	}
	for _, p := range stage.People {
		m, member := team[p.User]
		if member && m.mayApprove(slices.Contains(granted, p.User)) ||
			slices.ContainsFunc(here, func(a approver) bool { return a.ID == p.Approver }) {
			left = append(left, p)
		}
	}
	return left, nil
}
