package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// ReviewLink is a link that was mailed, as the agency sees it.
type ReviewLink struct {
	ID        model.LinkID
	Name      string
	Email     string
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt *time.Time
}

// Works says whether the link still opens.
func (l ReviewLink) Works(now time.Time) bool { return l.RevokedAt == nil && now.Before(l.ExpiresAt) }

const sqlLinkList = `
	SELECT lr.request_id, l.id, a.name, a.email, l.created_at, l.expires_at, l.revoked_at
	  FROM tenant.review_link_requests lr
	  JOIN tenant.review_links l ON l.tenant_id = lr.tenant_id AND l.id = lr.link_id
	  JOIN tenant.approvers a ON a.tenant_id = l.tenant_id AND a.id = l.approver_id
	 WHERE lr.tenant_id = $1 AND lr.request_id = ANY ($2) ORDER BY l.id`

func (sc *Scope) linksOf(ctx context.Context, tx pgx.Tx, list []model.ApprovalRequest) (map[model.RequestID][]ReviewLink, error) {
	var ids []model.RequestID
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	rows, err := tx.Query(ctx, sqlLinkList, sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	all := map[model.RequestID][]ReviewLink{}
	var id model.RequestID
	var l ReviewLink
	_, err = pgx.ForEachRow(rows, []any{&id, &l.ID, &l.Name, &l.Email, &l.CreatedAt, &l.ExpiresAt, &l.RevokedAt}, func() error {
		all[id] = append(all[id], l)
		l.RevokedAt = nil
		return nil
	})
	return all, err
}

const sqlLinkApprover = `
	SELECT a.id, a.name, a.email, a.client_id, coalesce(a.zone, '') AS zone FROM tenant.review_links l
	  JOIN tenant.approvers a ON a.tenant_id = l.tenant_id AND a.id = l.approver_id WHERE l.tenant_id = $1 AND l.id = $2`

// linkApprover returns whose link it is, if the actor may approve for that client.
func (sc *Scope) linkApprover(ctx context.Context, tx pgx.Tx, id model.LinkID) (approver, error) {
	rows, err := tx.Query(ctx, sqlLinkApprover, sc.Actor.Tenant, id)
	if err != nil {
		return approver{}, err
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[approver])
	if noRows(err) {
		return a, model.Refuse(model.NotFound, "There is no such review link.")
	}
	if err != nil {
		return a, err
	}
	return a, sc.need(model.PostsApprove, a.ClientID, "review link")
}

const sqlLinkRevoke = `
	UPDATE tenant.review_links SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL`

// RevokeLink takes a review link back: from now on it opens nothing. It is safe
// to do twice. The actor needs posts.approve at the approver's client.
func (sc *Scope) RevokeLink(ctx context.Context, id model.LinkID) (err error) {
	defer wrap(&err, "revoke review link %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		a, err := sc.linkApprover(ctx, tx, id)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, sqlLinkRevoke, sc.Actor.Tenant, id, sc.now())
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "link_revoked", subject: "client", id: int64(a.ClientID), client: a.ClientID, detail: map[string]any{"link": id, "approver": a.ID}})
	})
}

// SendFreshLink mails the person of a link a new one for everything that waits
// for them, and takes the old one back. The same form again, by its key, mails
// nothing more.
func (sc *Scope) SendFreshLink(ctx context.Context, id model.LinkID, key string) (err error) {
	defer wrap(&err, "send a fresh review link for %d", id)
	team, err := sc.team(ctx)
	if err != nil {
		return err
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		a, err := sc.linkApprover(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := sc.freshLink(ctx, tx, team, a, id, key, model.AskedPerson{User: sc.Actor.User, Name: sc.Actor.Name}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, sqlLinkRevoke, sc.Actor.Tenant, id, sc.now())
		return err
	})
}

// AskFreshLink mails the person of this link a new one, to the address the
// agency has stored and no other. It works for links that ran out or were taken
// back, and refuses with TooMany after a few in an hour. The same form again, by
// its key, mails nothing more.
func (rs *ReviewScope) AskFreshLink(ctx context.Context, key string) (err error) {
	defer wrap(&err, "ask for a fresh review link")
	if rs.banned {
		return rs.gone
	}
	team, err := rs.sc.team(ctx)
	if err != nil {
		return err
	}
	return rs.sc.write(ctx, func(tx pgx.Tx) error {
		return rs.sc.freshLink(ctx, tx, team, rs.who, rs.link, key, model.AskedPerson{Approver: rs.who.ID, Name: rs.who.Name})
	})
}

// freshAnHour is how many links a person is sent on request within an hour.
const freshAnHour = 3

const sqlApproverLock = `SELECT FROM tenant.approvers WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`

const sqlFreshCount = `
	SELECT count(*) FROM tenant.review_links WHERE tenant_id = $1 AND approver_id = $2 AND asked_from IS NOT NULL AND created_at > $3`

const sqlFreshSent = `SELECT EXISTS (SELECT FROM tenant.review_links WHERE tenant_id = $1 AND asked_from = $2 AND form_key = $3)`

const sqlRequestsWaiting = requestColumns + `
	 WHERE r.tenant_id = $1 AND r.client_id = $2 AND r.state = 'open'
	   AND r.stages @> jsonb_build_array(jsonb_build_object('position', r.stage, 'people', jsonb_build_array(jsonb_build_object('approver', $3::bigint))))
	   AND NOT EXISTS (SELECT FROM tenant.decisions d WHERE d.tenant_id = r.tenant_id AND d.request_id = r.id AND d.stage = r.stage AND d.approver_id = $3)
	 ORDER BY r.due_at NULLS LAST, r.id LIMIT 100`

// freshLink mails an approver a link to all that waits for them.
func (sc *Scope) freshLink(ctx context.Context, tx pgx.Tx, team team, to approver, from model.LinkID, key string, by model.AskedPerson) error {
	if _, err := tx.Exec(ctx, sqlApproverLock, sc.Actor.Tenant, to.ID); err != nil {
		return err
	}
	var sent bool
	if err := tx.QueryRow(ctx, sqlFreshSent, sc.Actor.Tenant, from, key).Scan(&sent); err != nil || sent {
		return err
	}
	var lately int
	if err := tx.QueryRow(ctx, sqlFreshCount, sc.Actor.Tenant, to.ID, sc.now().Add(-time.Hour)).Scan(&lately); err != nil {
		return err
	}
	if lately >= freshAnHour {
		return model.Refuse(model.TooMany, "Fresh links were just sent. Look into the mailbox, the spam folder included, or try again in an hour.")
	}
	asks, err := sc.waitingAsks(ctx, tx, team, to)
	if err != nil {
		return err
	}
	if len(asks) == 0 {
		return model.Refuse(model.Conflict, "Nothing waits for approval at the moment, so there is no need for a fresh link.")
	}
	mails := newMailing(sc, team)
	mails.from, mails.form, mails.approvers[to.ID] = from, key, asks
	if err := mails.send(ctx, tx); err != nil {
		return err
	}
	return sc.auditBy(ctx, tx, by, note{verb: "link_sent", subject: "client", id: int64(to.ClientID), client: to.ClientID, detail: map[string]any{"approver": to.ID, "instead_of": from}})
}

func (sc *Scope) waitingAsks(ctx context.Context, tx pgx.Tx, team team, to approver) (asks []ask, err error) {
	rows, err := tx.Query(ctx, sqlRequestsWaiting, sc.Actor.Tenant, to.ClientID, to.ID)
	if err != nil {
		return nil, err
	}
	waiting, err := pgx.CollectRows(rows, pgx.RowToStructByName[requestRow])
	if err != nil {
		return nil, err
	}
	for _, row := range waiting {
		v, err := sc.version(ctx, tx, row.VersionID)
		if err != nil {
			return nil, err
		}
		targets, err := sc.targetsOf(ctx, tx, row.PostID)
		if err != nil {
			return nil, err
		}
		g := deciding{row: row, targets: targets}
		a := askOf(v, workflow{Client: row.ClientID, Name: row.Client, Zone: row.ClientZone, Stages: row.Stages}, row.Stage, g.liveTargets())
		a.request, a.sender = row.ID, team.name(row.AskedBy)
		asks = append(asks, a)
	}
	return asks, nil
}
