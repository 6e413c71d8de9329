package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// note is one line of the audit log, written in the transaction of the change.
type note struct {
	verb    string
	subject string
	id      int64
	client  model.ClientID // zero: of no single client
	detail  map[string]any
}

const sqlAuditAdd = `
	INSERT INTO tenant.audit (tenant_id, at, user_id, name, verb, subject, subject_id, client_id, detail)
	VALUES ($1, $2, nullif($3, 0), $4, $5, $6, $7, nullif($8, 0), $9)`

// audit writes what the actor did. Details hold ids and short facts, never the
// text of a post, a token or an address.
func (sc *Scope) audit(ctx context.Context, tx pgx.Tx, n note) error {
	if n.detail == nil {
		n.detail = map[string]any{}
	}
	_, err := tx.Exec(ctx, sqlAuditAdd, sc.Actor.Tenant, sc.now(), sc.Actor.User, sc.Actor.Name, n.verb, n.subject, n.id, n.client, n.detail)
	return err
}

// AuditEntry is one line of the activity page.
type AuditEntry struct {
	ID        int64
	At        time.Time
	Name      string
	Verb      string
	Subject   string
	SubjectID int64
	ClientID  *model.ClientID
	Client    *string
	Detail    map[string]any
}

const sqlAuditList = `
	SELECT a.id, a.at, a.name, a.verb, a.subject, a.subject_id, a.client_id, c.name AS client, a.detail
	  FROM tenant.audit a
	  LEFT JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE a.tenant_id = $1 AND ($2 = 0 OR a.id < $2)
	   AND ($3 OR a.client_id = ANY ($4))
	 ORDER BY a.id DESC LIMIT $5`

// Activity lists what was done, newest first, before the entry before (0 for
// the newest). Who sees only some clients sees only what concerns those.
func (sc *Scope) Activity(ctx context.Context, before int64, limit int) (list []AuditEntry, err error) {
	defer wrap(&err, "list activity")
	if !sc.Actor.MayAnywhere(model.ActivityView) {
		return nil, model.Refuse(model.Forbidden, "Your role does not show the activity of this workspace.")
	}
	clients, all := sc.Actor.ClientsWith(model.ActivityView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlAuditList, sc.Actor.Tenant, before, all, clients, limit)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[AuditEntry])
		return err
	})
	return list, err
}
