package jobs

import (
	"context"
	"fmt"

	"herald/db"
	"herald/db/model"
)

// Notifier turns notice events into mail owed: who has to know, once each.
type Notifier struct{ Pipe *db.Pipeline }

// Mail kinds that a notice becomes.
const (
	MailFailed         = "target_failed"
	MailManualCheck    = "manual_check"
	MailReconnect      = "needs_reconnect"
	MailConnectionEnds = "connection_ends"
)

// Notify owes the mails of one event. Doing it twice owes nothing more.
func (n *Notifier) Notify(ctx context.Context, shard string, e db.Event) error {
	facts, ok, err := n.Pipe.NoticeFacts(ctx, shard, e)
	if err != nil || !ok {
		return err
	}
	kind, roles, users := recipients(e, facts)
	if kind == "" {
		return nil
	}
	people, err := n.Pipe.Recipients(ctx, e.Tenant, roles, users)
	if err != nil {
		return err
	}
	for _, who := range people {
		if err := n.owe(ctx, shard, e, kind, who, facts); err != nil {
			return err
		}
	}
	return nil
}

// owe owes one mail. What happens to several targets of a post is told together.
func (n *Notifier) owe(ctx context.Context, shard string, e db.Event, kind string, who db.Recipient, facts db.NoticeFacts) error {
	key := fmt.Sprintf("%s:%d:%d", kind, e.ID, who.ID)
	if facts.PostID == nil {
		return n.Pipe.AddMail(ctx, shard, e.Tenant, key, kind, who, facts)
	}
	return n.Pipe.AddNotice(ctx, shard, e.Tenant, key, kind, who, fmt.Sprintf("post:%d", *facts.PostID), facts)
}

// recipients: a lost connection concerns owners, admins and who connected it; a
// failure concerns its author and who schedules for the client, and the owners.
// A target that waits for a reconnect is told of with its account, once.
func recipients(e db.Event, f db.NoticeFacts) (kind string, roles []model.Role, users []model.UserID) {
	if e.Kind == "notice.account" {
		if f.ConnectedBy != nil {
			users = append(users, *f.ConnectedBy)
		}
		return MailReconnect, []model.Role{model.Owner, model.Admin}, users
	}
	switch model.State(f.State) {
	case model.Failed:
	default:
		return "", nil, nil // it has moved on since
	}
	users = f.ClientUsers
	if f.CreatedBy != nil {
		users = append(users, *f.CreatedBy)
	}
	kind = MailFailed
	if f.Reason == "manual_check_required" {
		kind = MailManualCheck
	}
	return kind, []model.Role{model.Owner}, users
}
