package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Blackout is a time in which nothing of a client is published.
type Blackout struct {
	Client   string // its name
	From, To time.Time
	Reason   string
}

const sqlCalendarBlackouts = `
	SELECT c.name AS client, b.from_at AS "from", b.to_at AS "to", b.reason
	  FROM tenant.blackouts b JOIN tenant.clients c ON c.tenant_id = b.tenant_id AND c.id = b.client_id
	 WHERE b.tenant_id = $1 AND ($2 OR b.client_id = ANY ($3)) AND b.to_at > $4 AND b.from_at < $5 ORDER BY b.from_at, c.name, b.id LIMIT 100`

// blackouts reads those of the clients that a filter lets through.
func (sc *Scope) blackouts(ctx context.Context, tx pgx.Tx, s sieve, from, to time.Time) ([]Blackout, error) {
	rows, err := tx.Query(ctx, sqlCalendarBlackouts, append(s.args[:3:3], from, to)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Blackout])
}
