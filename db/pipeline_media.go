package db

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// MediaKey names one task of the media queue.
type MediaKey struct {
	Shard  string         `json:"s"`
	Tenant model.TenantID `json:"t"`
	ID     int64          `json:"i"`
}

// MediaTask is a task that is handed out.
type MediaTask struct {
	MediaKey
	Video bool
}

// mediaShare is how many tasks of one workspace lie in the queue of pictures, and
// in that of videos: enough for a worker to find one when it is done, and few enough
// for another workspace's to come soon.
const mediaShare = 8

// TakeMedia takes up to limit tasks of a shard that are due, leased for a time,
// and hands them to enqueue; if that fails they stay due. Several share them. No
// workspace gets more than mediaShare into a queue, and they come in turn.
func (p *Pipeline) TakeMedia(ctx context.Context, shard string, lease time.Duration, limit int, enqueue func([]MediaTask) error) (n int, err error) {
	defer wrap(&err, "take media tasks of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT tenant_id, id, video FROM tenant.take_media($1, $2, $3, $4)`, p.now(), p.now().Add(lease), limit, mediaShare)
		if err != nil {
			return err
		}
		due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (k MediaTask, err error) {
			k.Shard = shard
			err = row.Scan(&k.Tenant, &k.ID, &k.Video)
			return k, err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		n = len(due)
		return enqueue(due)
	})
	return n, err
}

// ReleaseMedia makes tasks of a shard due that were handed out and that nobody has
// begun: their queue was lost.
func (p *Pipeline) ReleaseMedia(ctx context.Context, shard string) (n int, err error) {
	defer wrap(&err, "release media tasks of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	err = pool.QueryRow(ctx, `SELECT tenant.release_media($1)`, p.now()).Scan(&n)
	return n, err
}

// MediaWork is a task that its owner works on.
type MediaWork struct {
	Key           MediaKey  `db:"-"`
	Owner         uuid.UUID `db:"-"`
	MediaID       model.MediaID
	ClientID      model.ClientID
	State         MediaState
	Kind          network.MediaKind
	Type          string
	Name          string
	Path          string
	ThumbPath     string
	OriginalPath  string
	Sha256        []byte
	Bytes         int64
	UploadedBytes int64
	Width         int
	Height        int
	DurationMs    int64
	VideoCodec    string
	AudioCodec    string
	FPS           float64 `db:"fps"`
	RenditionID   *model.RenditionID
	Recipe        string
	Tries         int // this one counted in
}

// ErrLostLease: another works on the task, or nobody needs to any more.
var ErrLostLease = errors.New("the lease of this task is lost")

// BeginMedia takes a task's lease until a time. It returns ErrLostLease if another
// has it or the task is gone.
func (p *Pipeline) BeginMedia(ctx context.Context, key MediaKey, lease time.Duration) (w MediaWork, err error) {
	defer wrapLease(&err, "begin media task %d", key.ID)
	pool, err := p.shard(key.Shard)
	if err != nil {
		return w, err
	}
	owner := uuid.New()
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.begin_media($1, $2, $3, $4, $5)`, key.Tenant, key.ID, owner, p.now().Add(lease), p.now())
	if err != nil {
		return w, err
	}
	w, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[MediaWork])
	if noRows(err) {
		return w, ErrLostLease
	}
	w.Key, w.Owner = key, owner
	return w, err
}

func wrapLease(err *error, format string, args ...any) {
	if !errors.Is(*err, ErrLostLease) {
		wrap(err, format, args...)
	}
}

// held runs a statement that answers whether the owner still had the lease.
func (p *Pipeline) held(ctx context.Context, w MediaWork, sql string, args ...any) (err error) {
	defer wrapLease(&err, "write media task %d", w.Key.ID)
	pool, err := p.shard(w.Key.Shard)
	if err != nil {
		return err
	}
	var mine bool
	if err := pool.QueryRow(ctx, sql, append([]any{w.Key.Tenant, w.Key.ID, w.Owner}, args...)...).Scan(&mine); err != nil {
		return err
	}
	if !mine {
		return ErrLostLease
	}
	return nil
}

// shown is held for what pages show at once.
func (p *Pipeline) shown(ctx context.Context, w MediaWork, sql string, args ...any) error {
	err := p.held(ctx, w, sql, args...)
	if err == nil {
		p.tell(w.Key.Tenant)
	}
	return err
}

// HoldMedia keeps the lease for another while, and says how far the work is. Pages
// that show it ask by themselves: to the others, which hear of a workspace's changes,
// it would be news each second.
func (p *Pipeline) HoldMedia(ctx context.Context, w MediaWork, lease time.Duration, percent int) error {
	return p.held(ctx, w, `SELECT tenant.hold_media($1, $2, $3, $4, $5)`, p.now().Add(lease), min(max(percent, 0), 100))
}

// WaitMedia gives the lease back for a time. say is for people and stands beside
// the file; fault is for the operator. fresh does not count the try.
func (p *Pipeline) WaitMedia(ctx context.Context, w MediaWork, wait time.Duration, say, fault string, fresh bool) error {
	return p.shown(ctx, w, `SELECT tenant.wait_media($1, $2, $3, $4, $5, $6, $7)`, p.now().Add(wait), say, fault, fresh)
}

// CleanMedia says that the scanner found nothing. The work goes on.
func (p *Pipeline) CleanMedia(ctx context.Context, w MediaWork) error {
	return p.shown(ctx, w, `SELECT tenant.clean_media($1, $2, $3)`)
}

// RefuseMedia ends a file as refused or quarantined; original is where its bytes
// lie from now on.
func (p *Pipeline) RefuseMedia(ctx context.Context, w MediaWork, state MediaState, say, original string) error {
	return p.shown(ctx, w, `SELECT tenant.refuse_media($1, $2, $3, $4, $5, $6)`, state, say, original)
}

// Developed is what was made of an uploaded file.
type Developed struct {
	Type        string
	Path        string
	Bytes       int64
	ThumbPath   string
	Placeholder []byte
	Width       int
	Height      int
	DurationMs  int64
	Probe       Probe
	Recipes     []string // what is to be made of it ahead
}

// ReadyMedia ends the work on a file: it may be published.
func (p *Pipeline) ReadyMedia(ctx context.Context, w MediaWork, d Developed) error {
	if d.Recipes == nil {
		d.Recipes = []string{}
	}
	if d.Placeholder == nil {
		d.Placeholder = []byte{}
	}
	f := d.Probe
	return p.shown(ctx, w, `SELECT tenant.ready_media($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
		d.Type, d.Path, d.Bytes, d.ThumbPath, d.Placeholder, d.Width, d.Height, d.DurationMs, f.Tool, f.Container, f.VideoCodec, f.AudioCodec, f.HasAudio,
		f.FPS, f.FPSVaries, f.Rotation, f.Frames, d.Recipes, p.now())
}

// FinishRendition ends the work on a rendition. With a reason it failed.
func (p *Pipeline) FinishRendition(ctx context.Context, w MediaWork, r Rendition) error {
	return p.shown(ctx, w, `SELECT tenant.finish_rendition($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		r.Type, r.Path, r.Bytes, r.Width, r.Height, r.DurationMs, r.Reason, p.now())
}

// Serve is one account that a file may be published on.
type Serve struct {
	Network  network.Name
	Settings map[string]string
	Crops    map[string]model.Crop
	FocalX   int
	FocalY   int
}

// MediaServes lists where a file may be published.
func (p *Pipeline) MediaServes(ctx context.Context, w MediaWork) (list []Serve, err error) {
	defer wrap(&err, "read what media %d serves", w.MediaID)
	pool, err := p.shard(w.Key.Shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.media_serves($1, $2)`, w.Key.Tenant, w.MediaID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Serve])
}

// MediaFiles lists what lies in the store for a deleted file.
func (p *Pipeline) MediaFiles(ctx context.Context, w MediaWork) (keys []string, err error) {
	defer wrap(&err, "list files of media %d", w.MediaID)
	pool, err := p.shard(w.Key.Shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.media_files($1, $2, $3)`, w.Key.Tenant, w.Key.ID, w.Owner)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// EraseMedia forgets where a deleted file's bytes were.
func (p *Pipeline) EraseMedia(ctx context.Context, w MediaWork) error {
	return p.held(ctx, w, `SELECT tenant.erase_media($1, $2, $3)`)
}

// DropMedia ends a task that has nothing to do any more.
func (p *Pipeline) DropMedia(ctx context.Context, w MediaWork) error {
	return p.held(ctx, w, `SELECT tenant.drop_media($1, $2, $3)`)
}
