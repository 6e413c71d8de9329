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
	ID            model.MediaID
	ClientID      model.ClientID
	State         MediaState
	Kind          network.MediaKind
	Type          string // of what is published; of what was uploaded until that is made
	Name          string // as it was uploaded, or as a person called it since
	Path          string // what is published: upright, without metadata; empty until it is made
	ThumbPath     string // empty where there is none
	OriginalPath  string // what was uploaded; no link reaches it
	Sha256        []byte // of the uploaded bytes
	Bytes         int64  // of what is published
	UploadedBytes int64
	Width         int // upright
	Height        int
	DurationMs    int64
	Alt           string
	Reason        string      // why it waits, was refused or is in quarantine, in a sentence
	Progress      int         // of the work on it, in percent
	Placeholder   []byte      // a ThumbHash; empty where there is none
	Focal         model.Focal `db:"focal"`
	FolderID      *model.FolderID
	Tags          []string
	Probe         Probe `db:"facts"`
	Revision      int
	CreatedAt     time.Time
}

// MediaState is where a file stands on its way into the library.
type MediaState string

// The states. Only a ready one is published.
const (
	MediaUploading   MediaState = "uploading"  // its bytes are still coming
	MediaScanning    MediaState = "scanning"   // not yet looked at
	MediaProcessing  MediaState = "processing" // found clean; what is published is being made
	MediaReady       MediaState = "ready"
	MediaRefused     MediaState = "refused"     // cannot be read, or breaks a rule: see Reason
	MediaQuarantined MediaState = "quarantined" // harmful; no post and no link reaches it
	MediaDeleted     MediaState = "deleted"
)

// OnItsWay says whether the file may still become ready by itself.
func (s MediaState) OnItsWay() bool {
	return s == MediaUploading || s == MediaScanning || s == MediaProcessing
}

// Lost says whether the file will not become ready.
func (s MediaState) Lost() bool {
	return s == MediaRefused || s == MediaQuarantined || s == MediaDeleted
}

// Probe is what a look at a file found beyond its size. Zero values are unknown.
type Probe struct {
	Tool       string  `json:"tool"` // herald, ffprobe, or ffprobe_missing: then a video has no codecs and no frame rate here
	Container  string  `json:"container"`
	VideoCodec string  `json:"video_codec"`
	AudioCodec string  `json:"audio_codec"`
	HasAudio   *bool   `json:"has_audio"`
	FPS        float64 `json:"fps"`
	FPSVaries  bool    `json:"fps_varies"`
	Rotation   int     `json:"rotation"` // of the uploaded file, clockwise; Width and Height count it in already
	Frames     int64   `json:"frames"`   // of a video or an animation
}

const assetFields = `m.id, m.client_id, m.state, m.kind, m.type, m.name, m.path, m.thumb_path, m.original_path, m.sha256, m.bytes, m.uploaded_bytes,
	       m.width, m.height, m.duration_ms, m.alt, m.reason, m.progress, m.placeholder, jsonb_build_object('x', m.focal_x, 'y', m.focal_y) AS focal,
	       m.folder_id, m.tags, jsonb_build_object('tool', m.probe, 'container', m.container, 'video_codec', m.video_codec, 'audio_codec', m.audio_codec,
	       'has_audio', m.has_audio, 'fps', m.fps, 'fps_varies', m.fps_varies, 'rotation', m.rotation, 'frames', m.frames) AS facts, m.revision, m.created_at`

const assetColumns = `
	SELECT ` + assetFields + ` FROM tenant.media m`

const sqlMediaGet = assetColumns + ` WHERE m.tenant_id = $1 AND m.id = ANY ($2) AND m.state <> 'deleted'`

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

var errNoMedia = model.Refuse(model.NotFound, "There is no such file, or not any more.")

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

const sqlMediaByHash = assetColumns + ` WHERE m.tenant_id = $1 AND m.client_id = $2 AND m.sha256 = $3 AND m.state <> 'deleted'`

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
	if a.State == MediaRefused || a.State == MediaQuarantined {
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
	       (SELECT count(*) FROM tenant.media m WHERE m.tenant_id = c.tenant_id AND m.created_by = $3 AND m.created_at > $4)
	       + (SELECT count(*) FROM tenant.uploads u WHERE u.tenant_id = c.tenant_id AND u.created_by = $3 AND u.state = 'open'),
	       t.media_bytes, (SELECT coalesce(sum(m.uploaded_bytes), 0)::bigint FROM tenant.media m WHERE m.tenant_id = c.tenant_id AND m.state <> 'deleted' AND t.media_bytes IS NOT NULL),
	       (SELECT coalesce(sum(u.size), 0)::bigint FROM tenant.uploads u WHERE u.tenant_id = c.tenant_id AND u.state = 'open' AND t.media_bytes IS NOT NULL)
	  FROM tenant.clients c JOIN tenant.tenants t ON t.tenant_id = c.tenant_id
	 WHERE c.tenant_id = $1 AND c.id = $2`

// RoomForMedia refuses unless the actor may add a file of that many bytes for the
// client now: the permission, the plan's storage, of which open uploads take what
// they announced, and how much one person may upload in a short time. It is asked before any work is done on the bytes.
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
	var used, coming int64
	err := tx.QueryRow(ctx, sqlMediaRoom, sc.Actor.Tenant, client, sc.Actor.User, sc.now().Add(-uploadWindow)).Scan(&archived, &lately, &quota, &used, &coming)
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
	case quota != nil && used+coming+bytes > *quota:
		return model.Refuse(model.TooLarge, fmt.Sprintf("The workspace's storage has no room for this: %d of %d MB are used, and uploads under way take another %d MB. Wait for them, or cancel one.", used>>20, *quota>>20, coming>>20))
	}
	return nil
}

const sqlMediaInsert = `
	INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, thumb_path, original_path, sha256, bytes, uploaded_bytes, width, height,
	       duration_ms, placeholder, probe, created_by, created_at, alt)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
	ON CONFLICT (tenant_id, client_id, sha256) WHERE state <> 'deleted' DO NOTHING RETURNING id`

// The plan's storage is counted by one upload of a workspace at a time.
const sqlMediaTurn = `SELECT pg_advisory_xact_lock(hashtextextended('media ' || $1::bigint, 0))`

// AddMedia records an asset whose bytes are stored: one that is scanning, with
// OriginalPath, which the pipeline then makes ready or refuses; or one that is
// ready as it is. Where the client has one of the same bytes already, that one
// comes back with again set, and the caller takes its own copy away. It refuses
// what RoomForMedia refuses.
func (sc *Scope) AddMedia(ctx context.Context, a Asset) (_ Asset, again bool, err error) {
	defer wrap(&err, "add media for client %d", a.ClientID)
	err = sc.write(ctx, func(tx pgx.Tx) error {
		again, err = sc.addMedia(ctx, tx, &a)
		return err
	})
	if err != nil || !again {
		return a, false, err
	}
	a, _, err = sc.KnownMedia(ctx, a.ClientID, [32]byte(a.Sha256))
	return a, true, err
}

func (sc *Scope) addMedia(ctx context.Context, tx pgx.Tx, a *Asset) (again bool, err error) {
	a.CreatedAt, a.Revision = sc.now(), 1
	a.UploadedBytes = max(a.UploadedBytes, a.Bytes)
	if a.Placeholder == nil {
		a.Placeholder = []byte{}
	}
	if _, err := tx.Exec(ctx, sqlMediaTurn, sc.Actor.Tenant); err != nil {
		return false, err
	}
	if err := sc.roomForMedia(ctx, tx, a.ClientID, a.UploadedBytes); err != nil {
		return false, err
	}
	err = tx.QueryRow(ctx, sqlMediaInsert, sc.Actor.Tenant, a.ClientID, a.State, a.Kind, a.Type, a.Name, a.Path, a.ThumbPath, a.OriginalPath, a.Sha256,
		a.Bytes, a.UploadedBytes, a.Width, a.Height, a.DurationMs, a.Placeholder, a.Probe.Tool, sc.Actor.User, a.CreatedAt, a.Alt).Scan(&a.ID)
	if noRows(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if err := sc.indexWords(ctx, tx, a.ID); err != nil {
		return false, err
	}
	if a.State == MediaScanning {
		if err := sc.oweMedia(ctx, tx, a.ID, sc.now()); err != nil {
			return false, err
		}
	}
	return false, sc.audit(ctx, tx, note{verb: "uploaded", subject: "media", id: int64(a.ID), client: a.ClientID,
		detail: map[string]any{"type": a.Type, "bytes": a.UploadedBytes}})
}

const sqlMediaOwe = `
	INSERT INTO tenant.media_tasks AS t (tenant_id, media_id, next_at, made_at) VALUES ($1, $2, $3, $4)
	ON CONFLICT (tenant_id, media_id, coalesce(rendition_id, 0)) DO UPDATE SET next_at = excluded.next_at, owner = NULL, queued = false, tries = 0, last_error = ''`

// oweMedia has the pipeline go on with a file at a time, and wakes it.
func (sc *Scope) oweMedia(ctx context.Context, tx pgx.Tx, id model.MediaID, at time.Time) error {
	if _, err := tx.Exec(ctx, sqlMediaOwe, sc.Actor.Tenant, id, at, sc.now()); err != nil {
		return err
	}
	return wakeRelay(ctx, tx)
}
