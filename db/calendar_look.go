package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// maxLook is how long an address may be to be remembered.
const maxLook = 4000

const sqlLookGet = `SELECT query FROM tenant.calendar_looks WHERE tenant_id = $1 AND user_id = $2`

// CalendarLook is how the actor last looked at the calendar: the query of an
// address; empty if that is not known.
func (sc *Scope) CalendarLook(ctx context.Context) (query string, err error) {
	defer wrap(&err, "read calendar look")
	err = sc.read(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, sqlLookGet, sc.Actor.Tenant, sc.Actor.User).Scan(&query)
		if noRows(err) {
			return nil
		}
		return err
	})
	return query, err
}

// A look that is known already writes nothing.
const sqlLookKeep = `
	INSERT INTO tenant.calendar_looks AS k (tenant_id, user_id, query)
	SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM tenant.calendar_looks WHERE tenant_id = $1 AND user_id = $2 AND query = $3)
	ON CONFLICT (tenant_id, user_id) DO UPDATE SET query = excluded.query`

// KeepCalendarLook remembers how the actor looks at the calendar. Nobody else's
// page changes by it. An address that is too long is not remembered.
func (sc *Scope) KeepCalendarLook(ctx context.Context, query string) (err error) {
	defer wrap(&err, "keep calendar look")
	if len(query) > maxLook {
		return nil
	}
	return sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqlLookKeep, sc.Actor.Tenant, sc.Actor.User, query)
		return err
	})
}
