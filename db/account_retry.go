package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

const sqlStuckPosts = `
	SELECT id FROM tenant.posts WHERE tenant_id = $1 AND id IN (
		SELECT post_id FROM tenant.targets WHERE tenant_id = $1 AND account_id = $2 AND state = 'needs_reconnect')
	 ORDER BY id FOR NO KEY UPDATE`

const sqlStuckTargets = `SELECT` + targetColumns + targetTables + `
	 WHERE t.tenant_id = $1 AND t.account_id = $2 AND t.state = 'needs_reconnect' AND t.post_id = ANY ($3) ORDER BY t.id`

const sqlPostsRecompute = `SELECT tenant.recompute_posts(array_fill($1::bigint, ARRAY[cardinality($2::bigint[])]), $2::bigint[])`

// RetryStuck sends everything that the account's lost connection held up on its
// way again, now, and says how many targets that are. Nothing to send is refused,
// so that a form sent twice sends once.
func (sc *Scope) RetryStuck(ctx context.Context, id model.AccountID) (n int, err error) {
	defer wrap(&err, "retry what account %d held up", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		a, err := sc.account(ctx, tx, id, model.PostsSchedule, sqlAccountGet)
		if err != nil {
			return err
		}
		stuck, err := sc.stuck(ctx, tx, id)
		if err != nil {
			return err
		}
		if n = len(stuck); n == 0 {
			return model.Refuse(model.Conflict, "No post waits for "+a.Handle+" any more.")
		}
		if err := sc.retry(ctx, tx, stuck); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlPostsRecompute, sc.Actor.Tenant, postsOf(stuck)); err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "retried", subject: "account", id: int64(id), client: a.ClientID, detail: map[string]any{"targets": n, "handle": a.Handle}})
	})
	return n, err
}

// stuck locks the posts first, as every change of a post's targets does, and
// then reads what still waits.
func (sc *Scope) stuck(ctx context.Context, tx pgx.Tx, id model.AccountID) ([]Target, error) {
	rows, err := tx.Query(ctx, sqlStuckPosts, sc.Actor.Tenant, id)
	if err != nil {
		return nil, err
	}
	posts, err := pgx.CollectRows(rows, pgx.RowTo[model.PostID])
	if err != nil {
		return nil, err
	}
	if rows, err = tx.Query(ctx, sqlStuckTargets, sc.Actor.Tenant, id, posts); err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Target])
}

func postsOf(targets []Target) []model.PostID {
	var ids []model.PostID
	for _, t := range targets {
		ids = append(ids, t.PostID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
