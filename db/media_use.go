package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Usage is how many posts use an asset as they stand now. Versions that were
// written over do not count.
type Usage struct {
	Posts     int // all that are not put away
	Scheduled int // of those, with a target that is on its way
	Published int // of those, with a target that is published
}

// Use is one post that uses an asset.
type Use struct {
	MediaID   model.MediaID
	Post      model.PostID
	Excerpt   string
	Hidden    bool // the actor may not see posts of the client, so it has no excerpt
	State     model.PostState
	Scheduled bool // a target is on its way
	Published bool
	DueAt     *time.Time // of the first target that is on its way
}

// useOfMedia finds the posts whose current or approved version has an asset m.
// Each step goes by an index that begins with the workspace.
const useOfMedia = postOfMedia + `
	  CROSS JOIN LATERAL (
		SELECT coalesce(bool_or(t.state IN (` + statesOnTheWay + `)), false) AS scheduled, coalesce(bool_or(t.state = 'published'), false) AS published,
		       min(t.due_at) FILTER (WHERE t.state IN (` + statesOnTheWay + `)) AS due_at
		  FROM tenant.targets t WHERE t.tenant_id = p.tenant_id AND t.post_id = p.id) s`

const postOfMedia = `
	  FROM tenant.version_media vm
	  JOIN tenant.post_versions v ON v.tenant_id = vm.tenant_id AND v.id = vm.version_id
	  JOIN tenant.posts p ON p.tenant_id = v.tenant_id AND p.id = v.post_id AND v.id IN (p.current_version_id, p.approved_version_id) AND p.archived_at IS NULL`

const statesOnTheWay = `'scheduled', 'queued', 'publishing', 'retry_scheduled', 'unknown_outcome', 'needs_reconnect'`

const sqlMediaUsage = `
	SELECT vm.media_id, count(DISTINCT p.id), count(DISTINCT p.id) FILTER (WHERE s.scheduled), count(DISTINCT p.id) FILTER (WHERE s.published)` + useOfMedia + `
	 WHERE vm.tenant_id = $1 AND vm.media_id = ANY ($2) GROUP BY vm.media_id`

func (sc *Scope) usage(ctx context.Context, tx pgx.Tx, ids []model.MediaID) (map[model.MediaID]Usage, error) {
	rows, err := tx.Query(ctx, sqlMediaUsage, sc.Actor.Tenant, ids)
	if err != nil {
		return nil, err
	}
	all := map[model.MediaID]Usage{}
	var id model.MediaID
	var u Usage
	_, err = pgx.ForEachRow(rows, []any{&id, &u.Posts, &u.Scheduled, &u.Published}, func() error {
		all[id] = u
		return nil
	})
	return all, err
}

const sqlMediaUses = `
	SELECT vm.media_id, p.id AS post, CASE WHEN h.hidden THEN '' ELSE CASE WHEN $4 THEN` + postWords + `$5` + postWordsOf + ` END AS excerpt, h.hidden, p.state, s.scheduled, s.published, s.due_at` + useOfMedia + `
	  JOIN tenant.media m ON m.tenant_id = vm.tenant_id AND m.id = vm.media_id
	  CROSS JOIN LATERAL (SELECT NOT ($4 OR coalesce(m.client_id = ANY ($5), false)) AS hidden) h
	 WHERE vm.tenant_id = $1 AND vm.media_id = ANY ($2)
	 GROUP BY vm.media_id, p.tenant_id, p.id, h.hidden, s.scheduled, s.published, s.due_at
	 ORDER BY s.scheduled DESC, p.updated_at DESC, p.id, vm.media_id LIMIT $3`

// uses names posts that use any of the assets: those on their way first.
func (sc *Scope) uses(ctx context.Context, tx pgx.Tx, ids []model.MediaID, limit int) ([]Use, error) {
	clients, all := sc.Actor.ClientsWith(model.PostsView)
	rows, err := tx.Query(ctx, sqlMediaUses, sc.Actor.Tenant, ids, limit, all, clients)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Use])
}
