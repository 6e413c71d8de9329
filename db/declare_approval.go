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
	h.refuse(h.whereLeft(slug, s.Name, who), "%s, and the stage %q of %s/%s would have nobody else%s; %s",
		say, s.Name, h.Slug, slug, waitingWords(waiting), h.wayOut("name somebody else in the client's stages in the same file, or leave the stage out there", "name somebody else in the client's workflow first"))
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

// waitFor brings what waits for approval to the people who are left, and tells what
// became of it.
func (h *hand) waitFor(ctx context.Context) error {
	if len(h.problems) > 0 {
		return nil // nothing of this is committed
	}
	r, err := h.scope.rewait(ctx, h.tx, h.after[h.ID], 0)
	if err != nil {
		return err
	}
	for _, c := range h.said.Clients {
		h.tellCame(r, c.Slug)
	}
	for slug := range h.clients {
		h.tellCame(r, slug)
	}
	return nil
}

// becameWords are told of a client's posts, after how many they are.
var becameWords = []struct{ verb, say string }{
	{"asked_again", "asked about again, since nobody who was asked can approve any more"},
	{"stage_passed", "moved on, since all who are left had approved"},
	{"approval_reset", "given back to the writers, since nobody is asked any more"},
}

// tellCame adds the lines about a client's posts, once.
func (h *hand) tellCame(r *rewaiting, slug string) {
	client := h.clients[slug].id
	for _, w := range becameWords {
		if n := r.came[client][w.verb]; n > 0 {
			h.changes = append(h.changes, fmt.Sprintf("approvals of %s/%s: %d %s", h.Slug, slug, n, w.say))
		}
	}
	delete(r.came, client)
}
