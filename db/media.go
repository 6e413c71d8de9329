package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Asset is a stored picture or video of a client.
type Asset struct {
	ID         model.MediaID
	ClientID   model.ClientID
	State      string // ready, or why it cannot be published: uploading, scanning, refused, quarantined
	Kind       network.MediaKind
	Type       string // of what is published
	Name       string // as it was uploaded
	Path       string // what is published: upright, without metadata
	ThumbPath  string // empty where there is none
	Sha256     []byte // of the uploaded bytes
	Bytes      int64  // of what is published
	Width      int
	Height     int
	DurationMs int64
	Alt        string
	Reason     string // why it was refused
	CreatedAt  time.Time
}

const assetColumns = `
	SELECT id, client_id, state, kind, type, name, path, thumb_path, sha256, bytes, width, height, duration_ms, alt, reason, created_at FROM tenant.media`

const sqlMediaGet = assetColumns + ` WHERE tenant_id = $1 AND id = ANY ($2) AND state <> 'deleted'`

// Media reads assets, in the order of ids. It refuses with NotFound if one is
// not there or belongs to a client whose media the actor may not see.
func (sc *Scope) Media(ctx context.Context, ids []model.MediaID) (list []Asset, err error) {
	defer wrap(&err, "read media")
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := sc.assets(ctx, sqlMediaGet, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		i := slices.IndexFunc(found, func(a Asset) bool { return a.ID == id })
		if i < 0 {
			return nil, errNoMedia
		}
		if err := sc.needMedia(model.MediaView, found[i].ClientID); err != nil {
			return nil, err
		}
		list = append(list, found[i])
	}
	return list, nil
}

var errNoMedia = model.Refuse(model.NotFound, "One of the files is not there any more. Remove it and attach it again.")

// needMedia is need for files, whose own permission to look is media.view.
func (sc *Scope) needMedia(p model.Permission, client model.ClientID) error {
	if sc.Actor.May(p, client) {
		return nil
	}
	if !sc.Actor.May(model.MediaView, client) {
		return errNoMedia
	}
	return model.Refuse(model.Forbidden, "Your role does not allow uploading for this client. Ask an owner or admin of the workspace.")
}

func (sc *Scope) assets(ctx context.Context, sql string, args ...any) (list []Asset, err error) {
	err = sc.read(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql, append([]any{sc.Actor.Tenant}, args...)...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[Asset])
		return err
	})
	return list, err
}

const sqlMediaByHash = assetColumns + ` WHERE tenant_id = $1 AND client_id = $2 AND sha256 = $3 AND state <> 'deleted'`

// KnownMedia finds the client's asset that was made of the same bytes. It refuses
// if that one was refused when it was checked, and with NotFound a client whose
// media the actor may not see: whoever has a file could else ask who uses it.
func (sc *Scope) KnownMedia(ctx context.Context, client model.ClientID, sum [32]byte) (a Asset, known bool, err error) {
	defer wrap(&err, "look for media of client %d", client)
	if err := sc.needMedia(model.MediaView, client); err != nil {
		return a, false, err
	}
	list, err := sc.assets(ctx, sqlMediaByHash, client, sum[:])
	if err != nil || len(list) == 0 {
		return a, false, err
	}
	return list[0], true, refusedBefore(list[0])
}

func refusedBefore(a Asset) error {
	if a.State == "refused" || a.State == "quarantined" {
		return model.Refuse(model.Unprocessable, "This file was refused before: "+a.Reason)
	}
	return nil
}

// uploadsAtOnce is how many files one person may add in uploadWindow.
const (
	uploadsAtOnce = 500
	uploadWindow  = 10 * time.Minute
)

const sqlMediaRoom = `
	SELECT c.archived_at IS NOT NULL,
	       (SELECT count(*) FROM tenant.media m WHERE m.tenant_id = c.tenant_id AND m.created_by = $3 AND m.created_at > $4),
	       t.media_bytes, (SELECT coalesce(sum(m.bytes), 0)::bigint FROM tenant.media m WHERE m.tenant_id = c.tenant_id AND m.state <> 'deleted' AND t.media_bytes IS NOT NULL)
	  FROM tenant.clients c JOIN tenant.tenants t ON t.tenant_id = c.tenant_id
	 WHERE c.tenant_id = $1 AND c.id = $2`

// RoomForMedia refuses unless the actor may add a file of that many bytes for the
// client now: the permission, the plan's storage, and how much one person may
// upload in a short time. It is asked before any work is done on the bytes.
func (sc *Scope) RoomForMedia(ctx context.Context, client model.ClientID, bytes int64) (err error) {
	defer wrap(&err, "ask for room for media of client %d", client)
	return sc.read(ctx, func(tx pgx.Tx) error { return sc.roomForMedia(ctx, tx, client, bytes) })
}

func (sc *Scope) roomForMedia(ctx context.Context, tx pgx.Tx, client model.ClientID, bytes int64) error {
	if err := sc.needMedia(model.MediaWrite, client); err != nil {
		return err
	}
	var archived bool
	var lately int
	var quota *int64
	var used int64
	err := tx.QueryRow(ctx, sqlMediaRoom, sc.Actor.Tenant, client, sc.Actor.User, sc.now().Add(-uploadWindow)).Scan(&archived, &lately, &quota, &used)
	switch {
	case noRows(err):
		return model.Refuse(model.NotFound, "There is no such client.")
	case err != nil:
		return err
	case archived:
		return model.Refuse(model.Conflict, "This client was put away, so nothing can be uploaded for it.")
	case lately >= uploadsAtOnce:
		return model.Refuse(model.TooMany, "You have uploaded very many files in a short time. Wait ten minutes, then go on.")
	case quota != nil && used+bytes > *quota:
		return model.Refuse(model.TooLarge, fmt.Sprintf("The workspace's storage is full: %d of %d MB are used. Delete files, or ask for more room.", used>>20, *quota>>20))
	}
	return nil
}

const sqlMediaInsert = `
	INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, thumb_path, sha256, bytes, width, height, duration_ms, created_by, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
	ON CONFLICT (tenant_id, client_id, sha256) WHERE state <> 'deleted' DO NOTHING RETURNING id`

// The plan's storage is counted by one upload of a workspace at a time.
const sqlMediaTurn = `SELECT pg_advisory_xact_lock(hashtextextended('media ' || $1::bigint, 0))`

// AddMedia records an asset whose bytes are stored. Where the client has one of
// the same bytes already, that one comes back with again set, and the caller
// takes its own copy away. It refuses what RoomForMedia refuses.
func (sc *Scope) AddMedia(ctx context.Context, a Asset) (_ Asset, again bool, err error) {
	defer wrap(&err, "add media for client %d", a.ClientID)
	a.CreatedAt = sc.now()
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlMediaTurn, sc.Actor.Tenant); err != nil {
			return err
		}
		if err := sc.roomForMedia(ctx, tx, a.ClientID, a.Bytes); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, sqlMediaInsert, sc.Actor.Tenant, a.ClientID, a.State, a.Kind, a.Type, a.Name, a.Path, a.ThumbPath, a.Sha256,
			a.Bytes, a.Width, a.Height, a.DurationMs, sc.Actor.User, a.CreatedAt).Scan(&a.ID)
		if noRows(err) {
			again = true
			return nil
		}
		if err != nil {
			return err
		}
		return sc.audit(ctx, tx, note{verb: "uploaded", subject: "media", id: int64(a.ID), client: a.ClientID,
			detail: map[string]any{"type": a.Type, "bytes": a.Bytes}})
	})
	if err != nil || !again {
		return a, false, err
	}
	a, _, err = sc.KnownMedia(ctx, a.ClientID, [32]byte(a.Sha256))
	return a, true, err
}
