package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/secret"
)

// Mail is one mail owed, taken under a lease.
type Mail struct {
	Shard     string
	Tenant    model.TenantID
	ID        model.MailID
	Kind      string
	To        string
	ToName    string
	Content   json.RawMessage   // what the mail says, by kind
	Carried   []json.RawMessage // what else it says of the same, each as Content
	Secret    secret.Token      // what it links to, if that must not be stored plain; empty if no key of the ring opens it
	Tries     int               // this one included
	Slug      string
	Workspace string
}

// MailAAD is what the sealed part of a mail is bound to.
func MailAAD(tenant model.TenantID, key string) string {
	return fmt.Sprintf("mails/%d/%s", tenant, key)
}

// TakeMails takes up to limit mails of a shard that are due. Who takes them
// finishes them before lease; else they are due again.
func (p *Pipeline) TakeMails(ctx context.Context, shard string, lease time.Time, limit int) (list []Mail, err error) {
	defer wrap(&err, "take mails of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.take_mails($1, $2, $3)`, p.now(), lease, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Mail, err error) {
		var sealed []byte
		var key string
		m.Shard = shard
		err = row.Scan(&m.Tenant, &m.ID, &key, &m.Kind, &m.To, &m.ToName, &m.Content, &sealed, &m.Tries, &m.Slug, &m.Workspace, &m.Carried)
		m.Secret, _ = p.unseal(sealed, MailAAD(m.Tenant, key)) // one mail that stays shut holds up no other
		return m, err
	})
}

// FinishMail says how a mail went. next is when to try again; a zero next after
// a failure gives it up.
func (p *Pipeline) FinishMail(ctx context.Context, m Mail, sent bool, problem string, next time.Time) (err error) {
	defer wrap(&err, "finish mail %d", m.ID)
	pool, err := p.shard(m.Shard)
	if err != nil {
		return err
	}
	var at *time.Time
	if !next.IsZero() {
		at = &next
	}
	_, err = pool.Exec(ctx, `SELECT tenant.finish_mail($1, $2, $3, $4, $5, $6, $7)`, m.Tenant, m.ID, sent, problem, at, !sent && at == nil, p.now())
	return err
}

// NoticeFacts are what a notice about a target or an account can say.
type NoticeFacts struct {
	Workspace   string          `json:"workspace"`
	Slug        string          `json:"slug"`
	ClientID    model.ClientID  `json:"client_id"`
	Client      string          `json:"client"`
	Account     string          `json:"account"`
	Network     string          `json:"network"`
	Excerpt     string          `json:"excerpt"`
	State       string          `json:"state"`
	Reason      string          `json:"reason"`
	Say         string          `json:"say"`
	DueAt       *time.Time      `json:"due_at"`
	Zone        string          `json:"zone"`
	CreatedBy   *model.UserID   `json:"-"`
	ConnectedBy *model.UserID   `json:"-"`
	ClientUsers []model.UserID  `json:"-"`
	AccountID   model.AccountID `json:"account_id"`
	Affected    int             `json:"affected"` // posts that wait for the account
	TargetID    *model.TargetID `json:"target_id,omitempty"`
	PostID      *model.PostID   `json:"post_id,omitempty"`
}

// NoticeFacts reads what an event's notice is about; ok is false if it is gone.
func (p *Pipeline) NoticeFacts(ctx context.Context, shard string, e Event) (f NoticeFacts, ok bool, err error) {
	defer wrap(&err, "read notice facts")
	pool, err := p.shard(shard)
	if err != nil {
		return f, false, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.notice_facts($1, $2, $3)`, e.Tenant, e.Target, e.Account)
	if err != nil {
		return f, false, err
	}
	f, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (f NoticeFacts, err error) {
		err = row.Scan(&f.Workspace, &f.Slug, &f.ClientID, &f.Client, &f.Account, &f.Network, &f.Excerpt, &f.State, &f.Reason, &f.Say,
			&f.DueAt, &f.Zone, &f.CreatedBy, &f.ConnectedBy, &f.ClientUsers, &f.AccountID, &f.Affected, &f.PostID)
		return f, err
	})
	if noRows(err) {
		return f, false, nil
	}
	f.TargetID = e.Target
	return f, err == nil, err
}

// Recipient is a person a notice goes to.
type Recipient struct {
	ID    model.UserID
	Email string
	Name  string
	Role  model.Role
}

const sqlRecipients = `
	SELECT u.id, u.email, u.name, m.role FROM control.memberships m JOIN control.users u ON u.id = m.user_id AND u.disabled_at IS NULL
	 WHERE m.workspace_id = $1 AND (m.role = ANY ($2) OR u.id = ANY ($3)) ORDER BY u.id`

// Recipients lists the workspace's people with one of the roles, and those of
// the users who are still in it.
func (p *Pipeline) Recipients(ctx context.Context, tenant model.TenantID, roles []model.Role, users []model.UserID) (list []Recipient, err error) {
	defer wrap(&err, "list recipients")
	rows, err := p.control.Query(ctx, sqlRecipients, tenant, roles, users)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Recipient])
}

// AddMail owes somebody a mail, once per key.
func (p *Pipeline) AddMail(ctx context.Context, shard string, tenant model.TenantID, key, kind string, to Recipient, content any) error {
	return p.addMail(ctx, shard, `SELECT tenant.add_mail($1, $2, $3, $4, $5, $6, $7)`, tenant, key, kind, to.Email, to.Name, content, p.now())
}

// noticeWait is how long a notice waits for what else happens to what it is about: what
// fails on one account often fails on the next within seconds.
const noticeWait = time.Minute

// AddNotice owes somebody a mail about something, as post:7, once per key. It leaves in
// a minute, and carries what of the same kind comes about the same until then.
func (p *Pipeline) AddNotice(ctx context.Context, shard string, tenant model.TenantID, key, kind string, to Recipient, about string, content any) error {
	now := p.now()
	return p.addMail(ctx, shard, `SELECT tenant.add_notice($1, $2, $3, $4, $5, $6, $7, $8, $9)`, tenant, key, kind, to.Email, to.Name, content,
		about, now, now.Add(noticeWait))
}

func (p *Pipeline) addMail(ctx context.Context, shard, sql string, args ...any) (err error) {
	defer wrap(&err, "add mail")
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, sql, args...)
	return err
}

// StopToken makes the part of an address by which one person of a workspace ends their
// reminders; exactly one of user and approver is set. Whoever has it can do that and
// nothing else.
func (p *Pipeline) StopToken(tenant model.TenantID, user model.UserID, approver model.ApproverID) string {
	return p.ring.Sign(stopPurpose, fmt.Appendf(nil, "%d %d %d", tenant, user, approver), p.now().Add(stopLife))
}
