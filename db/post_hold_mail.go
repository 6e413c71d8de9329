package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// heldFacts are what a mail about a hold says of the post.
type heldFacts struct {
	Content []byte
	Writer  model.UserID
	Author  model.UserID
	Client  string
	Zone    string
	DueAt   *time.Time
	Target  model.TargetID
}

const sqlHeldFacts = `
	SELECT v.content, v.created_by AS writer, p.created_by AS author, c.name AS client, c.zone, t.due_at, t.id AS target
	  FROM tenant.posts p
	  JOIN tenant.clients c ON c.tenant_id = p.tenant_id AND c.id = $3
	  JOIN tenant.targets t ON t.tenant_id = p.tenant_id AND t.post_id = p.id AND t.client_id = c.id AND t.state <> 'cancelled'
	  JOIN tenant.post_versions v ON v.tenant_id = t.tenant_id AND v.id = t.version_id
	 WHERE p.tenant_id = $1 AND p.id = $2 ORDER BY t.due_at NULLS LAST, t.id LIMIT 1`

// held owes a mail to who wrote the post, but not to who holds it or lets it go.
func (m *mailing) held(ctx context.Context, tx pgx.Tx, kind string, hold model.HoldID, by model.AskedPerson, post model.PostID, client model.ClientID, why string) error {
	facts, err := readList[heldFacts](ctx, tx, sqlHeldFacts, m.sc.Actor.Tenant, post, client)
	if err != nil || len(facts) == 0 {
		return err
	}
	f := facts[0]
	people := slices.DeleteFunc([]model.UserID{f.Writer, f.Author}, func(id model.UserID) bool { return id == by.User })
	slices.SortFunc(people, cmp.Compare)
	viewers, err := m.sc.viewers(ctx, tx, client, slices.Compact(people), m.team)
	if err != nil {
		return err
	}
	content, err := m.heldContent(ctx, tx, f, by, post, client, why)
	if err != nil {
		return err
	}
	for _, to := range viewers {
		if err := m.insert(ctx, tx, mailRow{key: fmt.Sprintf("%s:%d:%d", kind, hold, to.ID), kind: kind, email: to.Email, name: to.Name, content: content}); err != nil {
			return err
		}
	}
	return nil
}

func (m *mailing) heldContent(ctx context.Context, tx pgx.Tx, f heldFacts, by model.AskedPerson, post model.PostID, client model.ClientID, why string) (mail model.ApprovalMail, err error) {
	content, err := readOptional(f.Content)
	if err != nil {
		return mail, err
	}
	theirs, err := m.sc.networksOf(ctx, tx, content.Accounts, []model.ClientID{client})
	if err != nil {
		return mail, err
	}
	p := model.ApprovalMailPost{Post: post, Excerpt: eyes{networks: theirs}.words(Version{Content: content}), Client: f.Client, DueAt: f.DueAt, Zone: f.Zone, Words: why}
	return model.ApprovalMail{Agency: m.sc.Workspace.Name, Client: f.Client, Sender: by.Name, Posts: []model.ApprovalMailPost{p},
		Path: fmt.Sprintf("/w/%s/targets/%d", m.sc.Workspace.Slug, f.Target)}, nil
}
