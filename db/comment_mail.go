package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// How much one approver may write in a short time: each comment is a mail.
const (
	commentsAtOnce = 10
	commentWindow  = 10 * time.Minute
)

const sqlCommentsLately = `
	SELECT (SELECT count(*) FROM tenant.comments WHERE tenant_id = $1 AND approver_id = $2 AND at > $3)
	     + (SELECT count(*) FROM tenant.suggestions WHERE tenant_id = $1 AND approver_id = $2 AND at > $3)`

// mayWriteMore refuses with TooMany an approver who has written very much lately.
// One approver's comments are counted one at a time.
func (sc *Scope) mayWriteMore(ctx context.Context, tx pgx.Tx, id model.ApproverID) error {
	if _, err := tx.Exec(ctx, sqlApproverLock, sc.Actor.Tenant, id); err != nil {
		return err
	}
	var lately int
	if err := tx.QueryRow(ctx, sqlCommentsLately, sc.Actor.Tenant, id, sc.now().Add(-commentWindow)).Scan(&lately); err != nil {
		return err
	}
	if lately >= commentsAtOnce {
		return model.Refuse(model.TooMany, "You have written a lot in a short time. What you wrote is still here: wait ten minutes, then send it.")
	}
	return nil
}

// comment owes a mail about an approver's comment to each person of the agency
// whom it concerns: who wrote the version, who asked about it, and who of the
// agency decides now.
func (m *mailing) comment(ctx context.Context, tx pgx.Tx, c model.Comment, about requestRow) error {
	people := []model.UserID{about.WrittenBy, about.AskedBy}
	if about.State == model.RequestOpen {
		for _, p := range about.request(m.team).Current().People {
			people = append(people, p.User)
		}
	}
	slices.Sort(people)
	viewers, err := m.sc.viewers(ctx, tx, about.ClientID, slices.Compact(people), m.team)
	if err != nil {
		return err
	}
	content, err := m.commentContent(ctx, tx, c, about)
	if err != nil {
		return err
	}
	for _, to := range viewers {
		key := fmt.Sprintf("%s:%d:%d", model.MailComment, c.ID, to.ID)
		if err := m.insert(ctx, tx, mailRow{key: key, kind: model.MailComment, email: to.Email, name: to.Name, content: content}); err != nil {
			return err
		}
	}
	return nil
}

func (m *mailing) commentContent(ctx context.Context, tx pgx.Tx, c model.Comment, about requestRow) (mail model.ApprovalMail, err error) {
	content, err := readOptional(about.Content)
	if err != nil {
		return mail, err
	}
	theirs, err := m.sc.networksOf(ctx, tx, content.Accounts, []model.ClientID{about.ClientID})
	if err != nil {
		return mail, err
	}
	excerpt := eyes{networks: theirs}.words(Version{Content: content})
	post := model.ApprovalMailPost{Post: about.PostID, Excerpt: excerpt, Client: about.Client, DueAt: about.DueAt, Zone: about.ClientZone, Words: c.Body}
	return model.ApprovalMail{Agency: m.sc.Workspace.Name, Client: about.Client, Sender: c.Name, Posts: []model.ApprovalMailPost{post},
		Path: fmt.Sprintf("/w/%s/approvals/%d", m.sc.Workspace.Slug, about.ID)}, nil
}

const sqlAccessViewing = `
	SELECT user_id FROM tenant.client_access
	 WHERE tenant_id = $1 AND client_id = $2 AND user_id = ANY ($3) AND 'posts.view' = ANY (permissions)`

// viewers are those of the users who are still in the workspace and may still
// see the client's posts.
func (sc *Scope) viewers(ctx context.Context, tx pgx.Tx, client model.ClientID, users []model.UserID, team team) (list []teammate, err error) {
	rows, err := tx.Query(ctx, sqlAccessViewing, sc.Actor.Tenant, client, users)
	if err != nil {
		return nil, err
	}
	granted, err := pgx.CollectRows(rows, pgx.RowTo[model.UserID])
	if err != nil {
		return nil, err
	}
	for _, id := range users {
		if who, member := team[id]; member && (who.Role.EveryClient() || slices.Contains(granted, id)) {
			list = append(list, who)
		}
	}
	return list, nil
}
