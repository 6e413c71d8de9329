package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

const sqlRequestsSupersede = `
	UPDATE tenant.approval_requests SET state = 'superseded', closed_at = $3
	 WHERE tenant_id = $1 AND post_id = $2 AND state = 'open'`

// supersede closes the open requests of a post whose content changed or that was
// put away: what was asked about is no longer what would be sent.
func (sc *Scope) supersede(ctx context.Context, tx pgx.Tx, post model.PostID) error {
	_, err := tx.Exec(ctx, sqlRequestsSupersede, sc.Actor.Tenant, post, sc.now())
	return err
}
