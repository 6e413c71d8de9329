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
	_, err := tx.Exec(ctx, sqlAuditAdd, sc.auditRow(n)...)
	return err
}

func (sc *Scope) auditRow(n note) []any {
	if n.detail == nil {
		n.detail = map[string]any{}
	}
	if sc.held != nil {
		n.detail["link"] = sc.held.id
	}
	return []any{sc.Actor.Tenant, sc.now(), sc.Actor.User, sc.Actor.Name, n.verb, n.subject, n.id, n.client, n.detail}
}

// AuditEntry is one line of the activity page, with what its subject is called
// today.
type AuditEntry struct {
	ID        int64
	At        time.Time
	Name      string // as it was then
	Verb      string
	Subject   string
	SubjectID int64
	ClientID  *model.ClientID
	Client    *string
	Zone      *string // the client's
	PostID    *model.PostID
	Excerpt   *string // first words of the post, or of what the target carries
	Thing     *string // the account, client or file
	Detail    map[string]any
}

const sqlAuditList = `
	SELECT a.id, a.at, a.name, a.verb, a.subject, a.subject_id, a.client_id, c.name AS client, c.zone, p.id AS post_id, 
	       coalesce(tenant.words_of(tv.content, t.network), CASE WHEN $2 THEN` + postWords + `$3` + postWordsOf + `) AS excerpt,
	       coalesce(ac.handle, cl.name, m.name, ap.name, fo.name) AS thing, a.detail
	  FROM tenant.audit a
	  LEFT JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	  LEFT JOIN tenant.targets t ON a.subject = 'target' AND t.tenant_id = a.tenant_id AND t.id = a.subject_id
	  LEFT JOIN tenant.posts p ON p.tenant_id = a.tenant_id AND p.id = CASE a.subject WHEN 'post' THEN a.subject_id WHEN 'target' THEN t.post_id END
	  LEFT JOIN tenant.post_versions tv ON tv.tenant_id = t.tenant_id AND tv.id = t.version_id AND NOT ($2 AND tv.id = p.current_version_id)
	  LEFT JOIN tenant.accounts ac ON ac.tenant_id = a.tenant_id AND ac.id = CASE a.subject WHEN 'account' THEN a.subject_id WHEN 'target' THEN t.account_id END
	  LEFT JOIN tenant.clients cl ON a.subject = 'client' AND cl.tenant_id = a.tenant_id AND cl.id = a.subject_id
	  LEFT JOIN tenant.media m ON a.subject = 'media' AND m.tenant_id = a.tenant_id AND m.id = a.subject_id
	  LEFT JOIN tenant.media_folders fo ON a.subject = 'folder' AND fo.tenant_id = a.tenant_id AND fo.id = a.subject_id
	  LEFT JOIN tenant.approvers ap ON a.subject = 'approver' AND ap.tenant_id = a.tenant_id AND ap.id = a.subject_id
	 WHERE a.tenant_id = $1 AND ($2 OR a.client_id = ANY ($3))`

// AuditFilter picks lines of the activity. Zero values pick all.
type AuditFilter struct {
	Client   model.ClientID
	User     model.UserID
	Approver model.ApproverID
	Before   int64 // older than this line
	After    int64 // newer than this line
	Limit    int
}

// where adds the filter to a query that has the arguments args.
func (f AuditFilter) where(sql string, args []any) (string, []any) {
	for _, c := range []struct {
		says string
		of   int64
	}{
		{"a.client_id =", int64(f.Client)}, {"a.user_id =", int64(f.User)}, {"a.approver_id =", int64(f.Approver)},
		{"a.id <", f.Before}, {"a.id >", f.After},
	} {
		if c.of != 0 {
			args = append(args, c.of)
			sql += fmt.Sprintf(" AND %s $%d", c.says, len(args))
		}
	}
	order := "DESC"
	if f.After != 0 {
		order = "ASC" // those next to it, not the newest of all
	}
	args = append(args, f.Limit+1)
	return sql + fmt.Sprintf(" ORDER BY a.id %s LIMIT $%d", order, len(args)), args
}

// AuditPage is one page of the activity, newest first.
type AuditPage struct {
	Entries []AuditEntry
	Newer   bool // there are newer ones that the filter takes
	Older   bool
}

const sqlAuditKnown = `
	SELECT ($2::bigint = 0 OR EXISTS (SELECT FROM tenant.clients c WHERE c.tenant_id = $1 AND c.id = $2 AND ($5 OR c.id = ANY ($6))))
	   AND ($3::bigint = 0 OR EXISTS (SELECT FROM tenant.approvers a WHERE a.tenant_id = $1 AND a.id = $3 AND ($5 OR a.client_id = ANY ($6))))
	   AND ($4::bigint = 0 OR EXISTS (SELECT FROM tenant.audit l WHERE l.tenant_id = $1 AND l.user_id = $4 AND ($5 OR l.client_id = ANY ($6))))`

// auditKnows refuses a filter that names what is not there, or what the actor
// may not see. Members are there before they have done anything.
func (sc *Scope) auditKnows(ctx context.Context, tx pgx.Tx, f AuditFilter, team team) error {
	if _, member := team[f.User]; member {
		f.User = 0
	}
	clients, all := sc.Actor.ClientsWith(model.ActivityView)
	var known bool
	if err := tx.QueryRow(ctx, sqlAuditKnown, sc.Actor.Tenant, f.Client, f.Approver, f.User, all, clients).Scan(&known); err != nil {
		return err
	}
	if !known {
		return model.Refuse(model.NotFound, "There is no such client or person.")
	}
	return nil
}

// Activity lists what was done. Who sees only some clients sees only what
// concerns those. It refuses with NotFound a filter by what the actor may not see.
func (sc *Scope) Activity(ctx context.Context, f AuditFilter) (page AuditPage, err error) {
	defer wrap(&err, "list activity")
	if !sc.Actor.MayAnywhere(model.ActivityView) {
		return page, model.Refuse(model.Forbidden, "Your role does not show the activity of this workspace.")
	}
	team, err := sc.team(ctx)
	if err != nil {
		return page, err
	}
	clients, all := sc.Actor.ClientsWith(model.ActivityView)
	sql, args := f.where(sqlAuditList, []any{sc.Actor.Tenant, all, clients})
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if err := sc.auditKnows(ctx, tx, f, team); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		page.Entries, err = pgx.CollectRows(rows, pgx.RowToStructByName[AuditEntry])
		return err
	})
	more := len(page.Entries) > f.Limit
	page.Entries = page.Entries[:min(len(page.Entries), f.Limit)]
	page.Newer, page.Older = f.Before != 0, more
	if f.After != 0 {
		slices.Reverse(page.Entries)
		page.Newer, page.Older = more, true
	}
	return page, err
}

// Doer is a person that the activity can be filtered by.
type Doer struct {
	User     model.UserID
	Approver model.ApproverID
	Name     string
}

const sqlDoerApprovers = `
	SELECT 0::bigint AS "user", a.id AS approver, a.name || ' (' || c.name || ')' AS name
	  FROM tenant.approvers a JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	 WHERE a.tenant_id = $1 AND ($2 OR a.client_id = ANY ($3)) ORDER BY a.name, a.id`

// ActivityFilters are what the activity can be filtered by: the clients that the
// actor may see it of, the members, and those clients' approvers.
func (sc *Scope) ActivityFilters(ctx context.Context) (clients []ClientAccounts, people []Doer, err error) {
	defer wrap(&err, "list activity filters")
	team, err := sc.team(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range team {
		people = append(people, Doer{User: m.ID, Name: m.Name})
	}
	slices.SortFunc(people, func(a, b Doer) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.User, b.User)) })
	ids, all := sc.Actor.ClientsWith(model.ActivityView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlAccountClients, sc.Actor.Tenant, all, ids)
		if err != nil {
			return err
		}
		if clients, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[ClientAccounts]); err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, sqlDoerApprovers, sc.Actor.Tenant, all, ids); err != nil {
			return err
		}
		approvers, err := pgx.CollectRows(rows, pgx.RowToStructByName[Doer])
		people = append(people, approvers...)
		return err
	})
	return clients, people, err
}
