package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/blob"
	"herald/db/model"
)

// OldUpload is an upload whose time is over.
type OldUpload struct {
	Tenant model.TenantID
	ID     model.UploadID
	Draft  blob.Draft
	Kept   bool // its bytes are an asset's, and stay
}

// ExpireUploads closes uploads of a shard whose time is over, and hands them out
// for their bytes to be taken away. Until DropUploads they come again, after an
// hour.
func (p *Pipeline) ExpireUploads(ctx context.Context, shard string, limit int) (list []OldUpload, err error) {
	defer wrap(&err, "expire uploads of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT tenant_id, id, draft, kept FROM tenant.expire_uploads($1, $2, $3)`, p.now(), p.now().Add(time.Hour), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[OldUpload])
}

// DropUploads forgets uploads that ExpireUploads handed out.
func (p *Pipeline) DropUploads(ctx context.Context, shard string, list []OldUpload) (err error) {
	defer wrap(&err, "drop uploads of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	var tenants []model.TenantID
	var ids []model.UploadID
	for _, u := range list {
		tenants, ids = append(tenants, u.Tenant), append(ids, u.ID)
	}
	_, err = pool.Exec(ctx, `SELECT tenant.drop_uploads($1, $2)`, tenants, ids)
	return err
}
