package db

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// stopPurpose is what the address that ends somebody's reminders is signed for, and
// stopLife how long after the mail it works.
const (
	stopPurpose = "no more reminders"
	stopLife    = 366 * 24 * time.Hour
)

// ReminderScope is the door of one person to their own reminders in one workspace.
type ReminderScope struct {
	Agency  string // as its look calls it
	Look    ShownLook
	Stopped bool // they come no more

	sc  *Scope // of nobody: it grants nothing
	who model.AskedPerson
	of  model.ClientID // an approver's
}

// Workspace is whose reminders they are.
func (rm *ReminderScope) Workspace() model.TenantID { return rm.sc.Actor.Tenant }

var errNoStop = model.Refuse(model.NotFound, "This address does not belong to reminders. Use the link in your e-mail again, whole.")

// Reminders opens a token of StopToken. It refuses with NotFound what is none, or whose
// person is not there any more.
func (s *Store) Reminders(ctx context.Context, token string) (_ *ReminderScope, err error) {
	defer wrap(&err, "open reminders")
	payload, err := s.ring.Verify(stopPurpose, token, s.now())
	if err != nil {
		return nil, errNoStop
	}
	var tenant model.TenantID
	rm := &ReminderScope{}
	if _, err := fmt.Sscan(string(payload), &tenant, &rm.who.User, &rm.who.Approver); err != nil {
		return nil, errNoStop
	}
	w, err := s.workspaceOf(ctx, tenant)
	if noRows(err) {
		return nil, errNoStop
	}
	if err != nil {
		return nil, err
	}
	if rm.sc, err = s.nobody(w); err != nil {
		return nil, err
	}
	if rm.who.User != 0 {
		team, err := rm.sc.team(ctx)
		if err != nil {
			return nil, err
		}
		rm.who.Name = team.name(rm.who.User)
	}
	return rm, rm.sc.read(ctx, func(tx pgx.Tx) error { return rm.load(ctx, tx) })
}

const sqlStopPerson = `SELECT name, client_id FROM tenant.approvers WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL`

const sqlStopStands = `SELECT EXISTS (SELECT FROM tenant.mail_stops WHERE tenant_id = $1 AND coalesce(user_id, 0) = $2 AND coalesce(approver_id, 0) = $3)`

func (rm *ReminderScope) load(ctx context.Context, tx pgx.Tx) error {
	if rm.who.Approver != 0 {
		err := tx.QueryRow(ctx, sqlStopPerson, rm.sc.Actor.Tenant, rm.who.Approver).Scan(&rm.who.Name, &rm.of)
		if noRows(err) {
			return errNoStop
		}
		if err != nil {
			return err
		}
	}
	if strings.TrimSpace(rm.who.Name) == "" {
		return errNoStop
	}
	if err := tx.QueryRow(ctx, sqlStopStands, rm.sc.Actor.Tenant, rm.who.User, rm.who.Approver).Scan(&rm.Stopped); err != nil {
		return err
	}
	return rm.dress(ctx, tx)
}

// dress has an approver's page look as the client's do, and a member's be Herald's own.
func (rm *ReminderScope) dress(ctx context.Context, tx pgx.Tx) (err error) {
	if rm.who.Approver != 0 {
		rm.Look, err = rm.sc.shownLook(ctx, tx, rm.of)
	}
	rm.Agency = cmp.Or(rm.Look.Name, rm.sc.Workspace.Name)
	return err
}

const sqlStopInsert = `INSERT INTO tenant.mail_stops (tenant_id, user_id, approver_id, at) VALUES ($1, nullif($2, 0), nullif($3, 0), $4) ON CONFLICT DO NOTHING`

const sqlStopReminders = `
	DELETE FROM tenant.reminders WHERE tenant_id = $1 AND kind = 'remind' AND coalesce(user_id, 0) = $2 AND coalesce(approver_id, 0) = $3`

// Stop ends the person's reminders. What already left comes all the same. Twice is once.
func (rm *ReminderScope) Stop(ctx context.Context) (err error) {
	defer wrap(&err, "stop reminders")
	err = rm.sc.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sqlStopInsert, rm.sc.Actor.Tenant, rm.who.User, rm.who.Approver, rm.sc.now())
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, sqlStopReminders, rm.sc.Actor.Tenant, rm.who.User, rm.who.Approver); err != nil {
			return err
		}
		return rm.audit(ctx, tx, "reminders_stopped")
	})
	rm.Stopped = rm.Stopped || err == nil
	return err
}

const sqlStopDelete = `DELETE FROM tenant.mail_stops WHERE tenant_id = $1 AND coalesce(user_id, 0) = $2 AND coalesce(approver_id, 0) = $3`

const sqlStopReplan = `SELECT tenant.plan_reminders(tenant_id, id) FROM tenant.approval_requests WHERE tenant_id = $1 AND state = 'open'`

// Resume lets them come again, for what still waits too.
func (rm *ReminderScope) Resume(ctx context.Context) (err error) {
	defer wrap(&err, "resume reminders")
	err = rm.sc.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sqlStopDelete, rm.sc.Actor.Tenant, rm.who.User, rm.who.Approver)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, sqlStopReplan, rm.sc.Actor.Tenant); err != nil {
			return err
		}
		return rm.audit(ctx, tx, "reminders_resumed")
	})
	rm.Stopped = rm.Stopped && err != nil
	return err
}

func (rm *ReminderScope) audit(ctx context.Context, tx pgx.Tx, verb string) error {
	n := note{verb: verb, subject: "user", id: int64(rm.who.User)}
	if rm.who.Approver != 0 {
		n = note{verb: verb, subject: "approver", id: int64(rm.who.Approver), client: rm.of}
	}
	return rm.sc.auditBy(ctx, tx, rm.who, n)
}
