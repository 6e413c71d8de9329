package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// InUse is the refusal to delete assets that posts use: it names them.
type InUse struct {
	Uses   []Use // one of each post that is named
	More   int   // further posts that are not named
	Files  int   // how many of the assets are used
	Chosen int   // of so many
}

func (e *InUse) Error() string {
	what, it := "this", "it"
	switch {
	case e.Chosen > 1 && e.Files == 1:
		what = "one of these files"
	case e.Chosen > 1 && e.Files == e.Chosen:
		what, it = "these files", "them"
	case e.Chosen > 1:
		what, it = fmt.Sprintf("%d of these files", e.Files), "them"
	}
	if len(e.Uses)+e.More == 1 {
		return fmt.Sprintf("A post uses %s. If you delete %s, that post cannot go out as it is.", what, it)
	}
	return fmt.Sprintf("%d posts use %s. If you delete %s, they cannot go out as they are.", len(e.Uses)+e.More, what, it)
}

// Unwrap makes it a refusal for those who do not ask what it names.
func (e *InUse) Unwrap() error { return model.Refuse(model.Conflict, e.Error()) }

const sqlMediaDelete = `
	UPDATE tenant.media SET state = 'deleted', folder_id = NULL, revision = revision + 1 WHERE tenant_id = $1 AND id = ANY ($2)`

const sqlMediaErase = `
	INSERT INTO tenant.media_tasks AS t (tenant_id, media_id, next_at, made_at) SELECT $1, unnest($2::bigint[]), $3, $4
	ON CONFLICT (tenant_id, media_id, coalesce(rendition_id, 0)) DO UPDATE SET next_at = excluded.next_at, owner = NULL, queued = false, video = excluded.video, tries = 0`

// DeleteMedia deletes assets. Where posts use one that are not put away it does
// nothing and returns an *InUse, unless sure is set. The bytes are owed to the
// media queue at once: a presigned address of the object store is good until they
// are gone. A network that is fetching one then fails, and its target is told why.
func (sc *Scope) DeleteMedia(ctx context.Context, ids []model.MediaID, sure bool) (err error) {
	defer wrap(&err, "delete media")
	return sc.changeMedia(ctx, ids, func(tx pgx.Tx, list []held) error {
		if err := sc.mayDelete(ctx, tx, ids, sure); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlMediaDelete, sc.Actor.Tenant, ids); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlWordsDrop, sc.Actor.Tenant, ids); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlMediaErase, sc.Actor.Tenant, ids, sc.now(), sc.now()); err != nil {
			return err
		}
		if err := wakeRelay(ctx, tx); err != nil {
			return err
		}
		return sc.noteMedia(ctx, tx, list, "deleted", nil)
	})
}

func (sc *Scope) mayDelete(ctx context.Context, tx pgx.Tx, ids []model.MediaID, sure bool) error {
	if sure {
		return nil
	}
	used, err := sc.inUse(ctx, tx, ids)
	if err != nil || len(used.Uses) == 0 {
		return err
	}
	return &used
}

const sqlMediaPosts = `SELECT count(DISTINCT p.id), count(DISTINCT vm.media_id)` + postOfMedia + ` WHERE vm.tenant_id = $1 AND vm.media_id = ANY ($2)`

// inUse names the first posts that use any of the assets.
func (sc *Scope) inUse(ctx context.Context, tx pgx.Tx, ids []model.MediaID) (used InUse, err error) {
	all, err := sc.uses(ctx, tx, ids, min(maxUses*len(ids), 500)) // a post may use them all
	if err != nil || len(all) == 0 {
		return used, err
	}
	named := map[model.PostID]bool{}
	for _, u := range all {
		if !named[u.Post] && len(named) < maxUses {
			named[u.Post], used.Uses = true, append(used.Uses, u)
		}
	}
	used.Chosen = len(ids)
	err = tx.QueryRow(ctx, sqlMediaPosts, sc.Actor.Tenant, ids).Scan(&used.More, &used.Files)
	used.More -= len(used.Uses)
	return used, err
}

const sqlMediaRetry = `
	UPDATE tenant.media SET state = 'scanning', reason = '', progress = 0, revision = revision + 1
	 WHERE tenant_id = $1 AND id = $2 AND state IN ('refused', 'scanning', 'processing') AND original_path <> ''`

const sqlRenditionsRetry = `
	WITH again AS (
		UPDATE tenant.media_renditions SET state = 'waiting', reason = '', progress = 0 WHERE tenant_id = $1 AND media_id = $2 AND state = 'failed' RETURNING tenant_id, id, media_id)
	INSERT INTO tenant.media_tasks AS t (tenant_id, media_id, rendition_id, next_at, made_at) SELECT tenant_id, media_id, id, $3, $3 FROM again
	ON CONFLICT (tenant_id, media_id, coalesce(rendition_id, 0)) DO UPDATE SET next_at = excluded.next_at, owner = NULL, queued = false, tries = 0, last_error = ''`

// RetryMedia has a file looked at again that was refused or is stuck, and what
// failed to be made of it made again. It refuses what is in quarantine.
func (sc *Scope) RetryMedia(ctx context.Context, id model.MediaID) (err error) {
	defer wrap(&err, "retry media %d", id)
	return sc.changeMedia(ctx, []model.MediaID{id}, func(tx pgx.Tx, list []held) error {
		if list[0].State == MediaQuarantined {
			return model.Refuse(model.Conflict, "This file is harmful and stays locked away. Delete it.")
		}
		tag, err := tx.Exec(ctx, sqlMediaRetry, sc.Actor.Tenant, id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() > 0 {
			err = sc.oweMedia(ctx, tx, id, sc.now())
		} else {
			_, err = tx.Exec(ctx, sqlRenditionsRetry, sc.Actor.Tenant, id, sc.now())
		}
		if err != nil {
			return err
		}
		if err := wakeRelay(ctx, tx); err != nil {
			return err
		}
		return sc.noteMedia(ctx, tx, list, "retried", nil)
	})
}
