package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/blob"
	"herald/db/model"
)

// Upload is a file on its way in, piece by piece. It belongs to the person who
// sends it.
type Upload struct {
	ID       model.UploadID
	ClientID model.ClientID
	Name     string
	Size     int64  // as announced
	Received int64  // of those, safe in the store
	Type     string // sniffed from the first bytes; empty until they are here
	Draft    blob.Draft
	Hash     []byte        // SHA-256 so far, marshaled
	MediaID  model.MediaID // what it became; 0 until then
	Kept     bool          // its bytes are the asset's; false: the client had them already
}

// uploadLife is how long an upload may lie without a byte coming: over a weekend.
// One that is done is kept for those who did not hear the answer.
const (
	uploadLife = 72 * time.Hour
	doneLife   = 24 * time.Hour
)

const sqlUploadStart = `
	INSERT INTO tenant.uploads (tenant_id, client_id, name, size, created_by, created_at, due_at) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`

// StartUpload makes room for a file of size bytes. It refuses what RoomForMedia
// refuses, so that nobody sends a file that cannot stay.
func (sc *Scope) StartUpload(ctx context.Context, client model.ClientID, name string, size int64) (u Upload, err error) {
	defer wrap(&err, "start an upload for client %d", client)
	u = Upload{ClientID: client, Name: name, Size: size}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlMediaTurn, sc.Actor.Tenant); err != nil {
			return err
		}
		if err := sc.roomForMedia(ctx, tx, client, size); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sqlUploadStart, sc.Actor.Tenant, client, name, size, sc.Actor.User, sc.now(), sc.now().Add(uploadLife)).Scan(&u.ID)
	})
	return u, err
}

const sqlUploadGet = `
	SELECT id, client_id, name, size, received, type, draft, hash, coalesce(media_id, 0) AS media_id, kept, state
	  FROM tenant.uploads WHERE tenant_id = $1 AND id = $2 AND created_by = $3`

const sqlUploadLock = sqlUploadGet + ` FOR UPDATE`

var errNoUpload = model.Refuse(model.NotFound, "There is no such upload.")

// Upload reads an upload of the actor's. It refuses with NotFound those of others
// and of clients whose media the actor may not see, and with Gone one that lay too
// long.
func (sc *Scope) Upload(ctx context.Context, id model.UploadID) (u Upload, err error) {
	defer wrap(&err, "read upload %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		u, err = sc.upload(ctx, tx, sqlUploadGet, id)
		return err
	})
	return u, err
}

func (sc *Scope) upload(ctx context.Context, tx pgx.Tx, sql string, id model.UploadID) (Upload, error) {
	rows, err := tx.Query(ctx, sql, sc.Actor.Tenant, id, sc.Actor.User)
	if err != nil {
		return Upload{}, err
	}
	type row struct {
		Upload
		State string
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[row])
	if noRows(err) {
		return Upload{}, errNoUpload
	}
	if err != nil {
		return Upload{}, err
	}
	if r.State == "expired" {
		return Upload{}, model.Refuse(model.Gone, "This upload lay unfinished for three days and was given up. Choose the file again.")
	}
	return r.Upload, sc.needMedia(model.MediaWrite, r.ClientID)
}

const sqlUploadExtend = `
	UPDATE tenant.uploads SET received = $5, type = $6, draft = $7, hash = $8, due_at = $9
	 WHERE tenant_id = $1 AND id = $2 AND created_by = $3 AND received = $4 AND state = 'open' AND holder = $10 AND received < $5`

// ExtendUpload writes down a piece that is safe in the store: u as it is with the
// piece, of which the first from bytes were known. It refuses with Conflict unless
// holder has the upload and from is what is known.
func (sc *Scope) ExtendUpload(ctx context.Context, holder string, from int64, u Upload) (err error) {
	defer wrap(&err, "extend upload %d", u.ID)
	return sc.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sqlUploadExtend, sc.Actor.Tenant, u.ID, sc.Actor.User, from, u.Received, u.Type, u.Draft, u.Hash, sc.now().Add(uploadLife), holder)
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		if _, err := sc.upload(ctx, tx, sqlUploadGet, u.ID); err != nil {
			return err
		}
		return model.Refuse(model.Conflict, "This file is being sent twice at once. Ask where the upload stands, then go on from there.")
	})
}

const sqlUploadDone = `
	UPDATE tenant.uploads SET state = 'done', due_at = $3 WHERE tenant_id = $1 AND id = $2 AND state = 'open'`

const sqlUploadBecame = `UPDATE tenant.uploads SET media_id = $3, kept = $4 WHERE tenant_id = $1 AND id = $2`

// FinishUpload makes an asset of an upload whose last byte is safe. It is AddMedia
// for uploads: where the client has the bytes already, that asset comes back with
// again set, and the caller takes the upload's own away. Finishing twice, even at
// once, makes one asset.
func (sc *Scope) FinishUpload(ctx context.Context, id model.UploadID, a Asset) (_ Asset, again bool, err error) {
	defer wrap(&err, "finish upload %d", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		u, err := sc.upload(ctx, tx, sqlUploadLock, id)
		if err != nil {
			return err
		}
		if u.MediaID != 0 {
			a, err = sc.assetNow(ctx, tx, sqlMediaGet, []model.MediaID{u.MediaID})
			again = !u.Kept
			return err
		}
		if u.Received < u.Size {
			return model.Refuse(model.Conflict, "This file is not here whole yet.")
		}
		a.ClientID, a.Name = u.ClientID, u.Name
		again, err = sc.becomeMedia(ctx, tx, id, &a)
		return err
	})
	return a, again, err
}

// becomeMedia closes the upload first: from then on it counts as the asset's
// bytes and not as bytes to come.
func (sc *Scope) becomeMedia(ctx context.Context, tx pgx.Tx, id model.UploadID, a *Asset) (again bool, err error) {
	if _, err := tx.Exec(ctx, sqlUploadDone, sc.Actor.Tenant, id, sc.now().Add(doneLife)); err != nil {
		return false, err
	}
	if again, err = sc.addMedia(ctx, tx, a); err != nil {
		return false, err
	}
	if again {
		if *a, err = sc.assetNow(ctx, tx, sqlMediaByHash, a.ClientID, a.Sha256); err != nil {
			return false, err
		}
		if err := refusedBefore(*a); err != nil {
			return false, err
		}
	}
	_, err = tx.Exec(ctx, sqlUploadBecame, sc.Actor.Tenant, id, a.ID, !again)
	return again, err
}

// assetNow reads one asset inside a transaction.
func (sc *Scope) assetNow(ctx context.Context, tx pgx.Tx, sql string, args ...any) (Asset, error) {
	rows, err := tx.Query(ctx, sql, append([]any{sc.Actor.Tenant}, args...)...)
	if err != nil {
		return Asset{}, err
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Asset])
	if noRows(err) {
		err = errNoMedia
	}
	return a, err
}

const sqlUploadDrop = `DELETE FROM tenant.uploads WHERE tenant_id = $1 AND id = $2 AND created_by = $3 AND state = 'open' RETURNING draft`

// DropUpload gives an upload up that is not done. The caller takes the bytes of
// the draft away.
func (sc *Scope) DropUpload(ctx context.Context, id model.UploadID) (draft blob.Draft, err error) {
	defer wrap(&err, "drop upload %d", id)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		u, err := sc.upload(ctx, tx, sqlUploadLock, id)
		if err != nil {
			return err
		}
		if u.MediaID != 0 {
			return model.Refuse(model.Conflict, "This file is in the library already. Delete it there.")
		}
		return tx.QueryRow(ctx, sqlUploadDrop, sc.Actor.Tenant, id, sc.Actor.User).Scan(&draft)
	})
	return draft, err
}
