package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// commentFiles are the files of a comment m.
const commentFiles = `
	       coalesce((SELECT jsonb_agg(jsonb_build_object('id', f.media_id, 'name', a.name, 'state', a.state, 'thumb', a.thumb_path <> '') ORDER BY f.place)
	                   FROM tenant.comment_files f JOIN tenant.media a ON a.tenant_id = f.tenant_id AND a.id = f.media_id
	                  WHERE f.tenant_id = m.tenant_id AND f.comment_id = m.id), '[]'::jsonb) AS files`

// CommentFilesMost is how many files one comment has.
const CommentFilesMost = 5

const sqlCommentFileClients = `
	SELECT id, client_id FROM tenant.media WHERE tenant_id = $1 AND id = ANY ($2) AND state NOT IN ('deleted', 'refused', 'quarantined')`

// mayAttach refuses files that are not there, and of a client that the comment is not
// about: who reads it must be one who may see them.
func (sc *Scope) mayAttach(ctx context.Context, tx pgx.Tx, files []model.MediaID, clients []model.ClientID) error {
	if len(files) > CommentFilesMost {
		return model.RefuseField("body", fmt.Sprintf("A comment has at most %d files.", CommentFilesMost))
	}
	if len(files) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, sqlCommentFileClients, sc.Actor.Tenant, files)
	if err != nil {
		return err
	}
	there := 0
	var id model.MediaID
	var client model.ClientID
	_, err = pgx.ForEachRow(rows, []any{&id, &client}, func() error {
		if slices.Contains(clients, client) && sc.Actor.May(model.MediaView, client) {
			there++
		}
		return nil
	})
	if err == nil && there != len(files) {
		err = model.Refuse(model.NotFound, "There is no such file.")
	}
	return err
}

const sqlCommentFilesAdd = `
	INSERT INTO tenant.comment_files (tenant_id, comment_id, media_id, place) SELECT $1, $2, f.id, f.place FROM unnest($3::bigint[]) WITH ORDINALITY AS f(id, place)
	ON CONFLICT DO NOTHING`

// attachFiles puts files to a comment that was just made.
func (sc *Scope) attachFiles(ctx context.Context, tx pgx.Tx, comment int64, files []model.MediaID) error {
	if len(files) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, sqlCommentFilesAdd, sc.Actor.Tenant, comment, files)
	return err
}
