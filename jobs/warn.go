package jobs

import (
	"context"
	"fmt"
	"time"

	"herald/db"
	"herald/db/model"
)

// connections is what mails about connections are about: those of a workspace that are
// owed together are one.
const connections = "connections"

// Warn owes the mails about connections of a shard that end soon: to owners, admins and
// whoever made the connection, two weeks before and three days before, each once. Doing
// it twice owes nothing more.
func (n *Notifier) Warn(ctx context.Context, shard string, now time.Time) error {
	for {
		list, err := n.Pipe.Ending(ctx, shard, now, batch)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, e := range list {
			if err := n.warn(ctx, shard, e); err != nil {
				return err
			}
		}
		if err := n.Pipe.ToldEnding(ctx, shard, now, list); err != nil {
			return err
		}
	}
}

func (n *Notifier) warn(ctx context.Context, shard string, e db.Ending) error {
	if e.Quiet {
		return nil
	}
	var made []model.UserID
	if e.ConnectedBy != nil {
		made = append(made, *e.ConnectedBy)
	}
	people, err := n.Pipe.Recipients(ctx, e.Tenant, []model.Role{model.Owner, model.Admin}, made)
	if err != nil {
		return err
	}
	facts := db.NoticeFacts{Workspace: e.Workspace, Slug: e.Slug, Client: e.Client, Account: e.Handle, Network: e.Network, Say: e.Say, DueAt: &e.EndsAt, Zone: e.Zone, AccountID: e.Account}
	for _, who := range people {
		key := fmt.Sprintf("%s:%d:%d:%d", MailConnectionEnds, e.Account, e.WarnAt.Unix(), who.ID)
		if err := n.Pipe.AddNotice(ctx, shard, e.Tenant, key, MailConnectionEnds, who, connections, facts); err != nil {
			return err
		}
	}
	return nil
}
