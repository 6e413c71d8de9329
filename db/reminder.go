package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// ReminderKind says what a reminder is.
type ReminderKind string

// The kinds of reminder.
const (
	Remind   ReminderKind = "remind"   // to whoever is asked, until the decision
	Escalate ReminderKind = "escalate" // to members, once, when reminding helped nothing
)

// Reminding is one person to whom a reminder is due, under a lease, with all that
// waits there.
type Reminding struct {
	Tenant    model.TenantID
	Workspace string
	Slug      string
	Kind      ReminderKind
	User      model.UserID
	Approver  model.ApproverID
	Email     string // of an approver; empty if removed
	Name      string
	Zone      string // an approver's own or the client's
	Waits     []ReminderWait

	lease time.Time
}

// ReminderWait is one request that waits for the person, or, of an escalation, for others.
type ReminderWait struct {
	ID       int64           `json:"id"`
	Due      bool            `json:"due"` // one that the lease is about
	Request  model.RequestID `json:"request"`
	Post     model.PostID    `json:"post"`
	Client   string          `json:"client"`
	Zone     string          `json:"zone"` // the client's
	DueAt    *time.Time      `json:"due_at"`
	Stage    string          `json:"stage"`
	Since    time.Time       `json:"since"`
	AskedBy  model.UserID    `json:"asked_by"`
	Words    *string         `json:"words"`
	Networks []string        `json:"networks"`
	May      bool            `json:"may"` // granted at the client itself
	Owing    []string        `json:"owing"`
}

// TakeReminders takes those of a shard that are due now, of up to limit of them, by
// person. Who takes them sends them or puts them off before lease; else they are due again.
func (p *Pipeline) TakeReminders(ctx context.Context, shard string, now, lease time.Time, limit int) (list []Reminding, err error) {
	defer wrap(&err, "take reminders of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.take_reminders($1, $2, $3)`, now, lease, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Reminding, err error) {
		r.lease = lease
		err = row.Scan(&r.Tenant, &r.Workspace, &r.Slug, &r.Kind, &r.User, &r.Approver, &r.Email, &r.Name, &r.Zone, &r.Waits)
		return r, err
	})
}

func (r Reminding) ids(due bool) (ids []int64) {
	for _, w := range r.Waits {
		if w.Due || !due {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// PutOffReminder makes a person's reminder due at another time; the zero time ends it.
func (p *Pipeline) PutOffReminder(ctx context.Context, shard string, r Reminding, at time.Time) (err error) {
	defer wrap(&err, "put off reminders")
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	var until *time.Time
	if !at.IsZero() {
		until = &at
	}
	_, err = pool.Exec(ctx, `SELECT tenant.put_off_reminders($1, $2, $3, $4)`, r.Tenant, r.ids(true), r.lease, until)
	return err
}

// SendReminder owes the mail of one reminder, with a link of its own for an approver, and
// plans the next. It says false, and owes nothing, if something of it was decided
// meanwhile or somebody else has taken it: what is left is due again at the lease's end.
func (p *Pipeline) SendReminder(ctx context.Context, shard string, r Reminding, to Recipient, content model.ApprovalMail, now time.Time) (sent bool, err error) {
	defer wrap(&err, "send reminder")
	pool, err := p.shard(shard)
	if err != nil {
		return false, err
	}
	kind, approver := model.MailReminder, any(nil)
	var hash, sealed []byte
	var until *time.Time
	ids := r.ids(false)
	key := fmt.Sprintf("%s:%d:%d", kind, slices.Min(ids), now.UnixNano())
	switch {
	case r.Kind == Escalate:
		kind = model.MailEscalation
	case r.Approver != 0:
		kind, approver, until = model.MailReviewReminder, r.Approver, new(now.Add(linkLife))
		var token string
		var sum [32]byte
		token, sum = newReviewToken(r.Tenant)
		hash, sealed, content.Until = sum[:], p.ring.Seal(token, MailAAD(r.Tenant, key)), until
	}
	err = pool.QueryRow(ctx, `SELECT tenant.send_reminder($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, r.Tenant, ids, r.lease, now, key, kind, to.Email, to.Name,
		content, sealed, approver, hash, until).Scan(&sent)
	return sent, err
}

// Reader is a member as mail about approvals needs one.
type Reader struct {
	Recipient
	Zone string // the member's own, else the workspace's
}

const sqlReaders = `
	SELECT u.id, u.email, u.name, m.role, coalesce(u.zone, w.zone) FROM control.memberships m
	  JOIN control.users u ON u.id = m.user_id AND u.disabled_at IS NULL JOIN control.workspaces w ON w.id = m.workspace_id
	 WHERE m.workspace_id = $1 AND u.id = ANY ($2)`

// Readers finds those of the users who are still in the workspace.
func (p *Pipeline) Readers(ctx context.Context, tenant model.TenantID, users []model.UserID) (all map[model.UserID]Reader, err error) {
	defer wrap(&err, "find readers")
	rows, err := p.control.Query(ctx, sqlReaders, tenant, users)
	if err != nil {
		return nil, err
	}
	all = map[model.UserID]Reader{}
	var r Reader
	_, err = pgx.ForEachRow(rows, []any{&r.ID, &r.Email, &r.Name, &r.Role, &r.Zone}, func() error {
		all[r.ID] = r
		return nil
	})
	return all, err
}
