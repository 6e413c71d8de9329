package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// UploadLease is how long a holder that does not speak up keeps an upload.
const UploadLease = 30 * time.Second

const sqlUploadHold = `
	UPDATE tenant.uploads SET holder = $4, held_until = $5, wanted = false
	 WHERE tenant_id = $1 AND id = $2 AND created_by = $3 AND (holder IS NULL OR held_until <= $6)`

const sqlUploadWant = `UPDATE tenant.uploads SET wanted = true WHERE tenant_id = $1 AND id = $2 AND created_by = $3`

// HoldUpload makes one request, in whatever process, the only one that writes to
// an upload. ok is false while another has it; that one is told that it is wanted.
func (sc *Scope) HoldUpload(ctx context.Context, id model.UploadID, holder string) (ok bool, err error) {
	defer wrap(&err, "hold upload %d", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sqlUploadHold, sc.Actor.Tenant, id, sc.Actor.User, holder, sc.now().Add(UploadLease), sc.now())
		if ok = tag.RowsAffected() == 1; err != nil || ok {
			return err
		}
		tag, err = tx.Exec(ctx, sqlUploadWant, sc.Actor.Tenant, id, sc.Actor.User)
		if err == nil && tag.RowsAffected() == 0 {
			err = errNoUpload
		}
		return err
	})
	return ok, err
}

const sqlUploadKeep = `
	UPDATE tenant.uploads SET held_until = $4 WHERE tenant_id = $1 AND id = $2 AND created_by = $5 AND holder = $3 RETURNING wanted`

// KeepUpload goes on with a hold. wanted says that another request waits, or has
// it already: then the holder lets go.
func (sc *Scope) KeepUpload(ctx context.Context, id model.UploadID, holder string) (wanted bool, err error) {
	defer wrap(&err, "keep upload %d", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, sqlUploadKeep, sc.Actor.Tenant, id, holder, sc.now().Add(UploadLease), sc.Actor.User).Scan(&wanted)
		if noRows(err) {
			wanted, err = true, nil
		}
		return err
	})
	return wanted, err
}

const sqlUploadFree = `
	UPDATE tenant.uploads SET holder = NULL, held_until = NULL, wanted = false WHERE tenant_id = $1 AND id = $2 AND holder = $3 AND created_by = $4`

// FreeUpload lets go of an upload.
func (sc *Scope) FreeUpload(ctx context.Context, id model.UploadID, holder string) (err error) {
	defer wrap(&err, "free upload %d", id)
	return sc.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqlUploadFree, sc.Actor.Tenant, id, holder, sc.Actor.User)
		return err
	})
}
