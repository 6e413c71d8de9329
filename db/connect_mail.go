package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// connectGather is how long a mail of what was connected by a link waits for more of it.
const connectGather = 5 * time.Minute

// senders are whom the agency's side of a link concerns: who sent it, if they still see
// the client, else the owners and admins.
func (sc *Scope) senders(ctx context.Context, tx pgx.Tx) ([]teammate, error) {
	list, err := sc.viewers(ctx, tx, sc.held.client, []model.UserID{sc.held.madeBy}, sc.held.team)
	if err != nil || len(list) > 0 {
		return list, err
	}
	for _, m := range sc.held.team {
		if m.Role.EveryClient() {
			list = append(list, m)
		}
	}
	return list, nil
}

const sqlConnectCount = `UPDATE tenant.connect_links SET connected = connected + $3 WHERE tenant_id = $1 AND id = $2 RETURNING connected`

// One mail tells of all that a link connected within a few minutes. The row of the link
// is locked, so that there is one that carries the others.
const sqlConnectMail = `
	WITH carrier AS (
		SELECT id FROM tenant.mails WHERE tenant_id = $1 AND to_email = $4 AND kind = $3 AND about = $7 AND about <> '' AND carried_by IS NULL AND sent_at IS NULL AND NOT given_up
		   AND tries = 0 AND next_at > $8 ORDER BY id LIMIT 1 FOR NO KEY UPDATE)
	INSERT INTO tenant.mails (tenant_id, key, kind, to_email, to_name, content, about, made_at, next_at, carried_by)
	SELECT $1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN c.id IS NULL THEN $9 ELSE 'infinity'::timestamptz END, c.id FROM (SELECT) one LEFT JOIN carrier c ON true`

// connected is an account as such a mail names it.
func connected(a AccountCard, again bool) model.ConnectedAccount {
	return model.ConnectedAccount{Network: string(a.Network), Handle: a.Handle, Again: again}
}

// tellConnected owes whoever sent the actor's link a mail about accounts that were
// connected by it. What members connect is told to nobody.
func (sc *Scope) tellConnected(ctx context.Context, tx pgx.Tx, list ...model.ConnectedAccount) error {
	if sc.held == nil {
		return nil
	}
	var nth int
	if err := tx.QueryRow(ctx, sqlConnectCount, sc.Actor.Tenant, sc.held.id, len(list)).Scan(&nth); err != nil {
		return err
	}
	content := sc.connectMail(fmt.Sprintf("/w/%s/accounts#client-%d", sc.Workspace.Slug, sc.held.client))
	content.Accounts = list
	return sc.tellSenders(ctx, tx, model.MailConnected, nth, content, sc.now().Add(connectGather))
}

// mailAsked owes them one that says that a fresh link is asked for.
func (sc *Scope) mailAsked(ctx context.Context, tx pgx.Tx) error {
	path := fmt.Sprintf("/w/%s/clients/%d/connect-links?again=%d", sc.Workspace.Slug, sc.held.client, sc.held.id)
	return sc.tellSenders(ctx, tx, model.MailConnectAsked, int(sc.now().Unix()), sc.connectMail(path), sc.now())
}

func (sc *Scope) connectMail(path string) model.ConnectMail {
	return model.ConnectMail{Agency: sc.Workspace.Name, Client: sc.held.name, Person: sc.Actor.Name, Path: path}
}

func (sc *Scope) tellSenders(ctx context.Context, tx pgx.Tx, kind string, nth int, content model.ConnectMail, at time.Time) error {
	people, err := sc.senders(ctx, tx)
	if err != nil {
		return err
	}
	for _, to := range people {
		key := fmt.Sprintf("%s:%d:%d:%d", kind, sc.held.id, nth, to.ID)
		if _, err := tx.Exec(ctx, sqlConnectMail, sc.Actor.Tenant, key, kind, to.Email, to.Name, content, fmt.Sprintf("connect:%d", sc.held.id), sc.now(), at); err != nil {
			return err
		}
	}
	return nil
}

const sqlConnectHurry = `
	UPDATE tenant.mails SET next_at = $4 WHERE tenant_id = $1 AND kind = $2 AND about = $3 AND carried_by IS NULL AND sent_at IS NULL AND NOT given_up AND tries = 0 AND next_at > $4`

// hurryConnected lets what waits for more leave now.
func (sc *Scope) hurryConnected(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, sqlConnectHurry, sc.Actor.Tenant, model.MailConnected, fmt.Sprintf("connect:%d", sc.held.id), sc.now())
	return err
}
