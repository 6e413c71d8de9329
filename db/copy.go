package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// WorkingCopy is what somebody has typed into a form and not saved. It belongs to
// its writer alone; no version, approval or screen of anybody else knows of it.
type WorkingCopy struct {
	Key    string       // of the form
	Post   model.PostID // zero: a new one
	Seen   int          // the revision of the post that it began from
	Words  string       // its first ones
	Fields string       // of the form, as a query
	KeptAt time.Time
}

// A working copy is bounded, and so is how many of them a person has: the oldest
// go first.
const (
	MaxCopy   = 1 << 20 // bytes
	maxCopies = 20
)

// copyLife is how long a working copy waits for its writer. Whoever keeps one clears
// away those of the workspace that have waited longer.
const copyLife = 30 * 24 * time.Hour

const sqlCopyKeep = `
	INSERT INTO tenant.working_copies (tenant_id, user_id, form_key, post_id, seen, words, fields, kept_at) VALUES ($1, $2, $3, nullif($4::bigint, 0), $5, $6, $7, $8)
	ON CONFLICT (tenant_id, user_id, form_key) DO UPDATE SET seen = excluded.seen, words = excluded.words, fields = excluded.fields, kept_at = excluded.kept_at
	 WHERE working_copies.post_id IS NOT DISTINCT FROM excluded.post_id`

const sqlCopiesBound = `
	DELETE FROM tenant.working_copies WHERE tenant_id = $1
	   AND (kept_at < $5 OR user_id = $2 AND form_key NOT IN (
	        SELECT form_key FROM tenant.working_copies WHERE tenant_id = $1 AND user_id = $2 ORDER BY form_key = $4 DESC, kept_at DESC LIMIT $3))`

// KeepCopy keeps what the actor has typed so far, over what the same form kept
// before. It refuses what is too long to be kept, and a post that the actor may not
// write. Nobody else's page is told.
func (sc *Scope) KeepCopy(ctx context.Context, c WorkingCopy) (err error) {
	defer wrap(&err, "keep working copy")
	if len(c.Fields) > MaxCopy {
		return model.Refuse(model.Unprocessable, "This is too long to be kept while you write. Save it, or shorten it.")
	}
	return refused(sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if err := sc.mayWriteCopy(ctx, tx, c.Post); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlCopyKeep, sc.Actor.Tenant, sc.Actor.User, c.Key, c.Post, c.Seen, model.Excerpt(c.Words, 140), c.Fields, sc.now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlCopiesBound, sc.Actor.Tenant, sc.Actor.User, maxCopies, c.Key, sc.now().Add(-copyLife))
		return err
	}))
}

func (sc *Scope) mayWriteCopy(ctx context.Context, tx pgx.Tx, post model.PostID) error {
	if post != 0 {
		page, err := sc.postPage(ctx, tx, post, sqlPostGet)
		if err != nil {
			return err
		}
		return sc.needAll(model.PostsWrite, page)
	}
	if !sc.Actor.MayAnywhere(model.PostsWrite) {
		return model.Refuse(model.Forbidden, "Your role does not allow writing posts.")
	}
	return nil
}

const copyColumns = `SELECT form_key AS key, coalesce(post_id, 0) AS post, seen, words, fields, kept_at FROM tenant.working_copies WHERE tenant_id = $1 AND user_id = $2`

const sqlCopies = copyColumns + ` AND coalesce(post_id, 0) = $3 AND kept_at > $4 ORDER BY kept_at DESC, form_key LIMIT 5`

// Copies lists the actor's latest working copies of a post, or, for zero, of new
// ones. Of a post that is not the actor's to write there are none.
func (sc *Scope) Copies(ctx context.Context, post model.PostID) (list []WorkingCopy, err error) {
	defer wrap(&err, "list working copies of post %d", post)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlCopies, sc.Actor.Tenant, sc.Actor.User, post, sc.now().Add(-copyLife))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[WorkingCopy])
		return err
	})
	return list, err
}

const sqlCopiesDrop = `DELETE FROM tenant.working_copies WHERE tenant_id = $1 AND user_id = $2 AND form_key = ANY ($3)`

// DropCopies forgets working copies of the actor: they were saved, or are not
// wanted. What is not there was forgotten before.
func (sc *Scope) DropCopies(ctx context.Context, keys ...string) (err error) {
	defer wrap(&err, "drop working copies")
	return sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqlCopiesDrop, sc.Actor.Tenant, sc.Actor.User, keys)
		return err
	})
}
