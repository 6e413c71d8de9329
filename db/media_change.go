package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

const sqlMediaLock = `
	SELECT id, client_id, state, kind, width, height, revision, name FROM tenant.media
	 WHERE tenant_id = $1 AND id = ANY ($2) AND state <> 'deleted' ORDER BY id FOR NO KEY UPDATE`

// held is an asset that is about to be changed.
type held struct {
	ID       model.MediaID
	ClientID model.ClientID
	State    MediaState
	Kind     network.MediaKind
	Width    int
	Height   int
	Revision int
	Name     string
}

// maxAtOnce is how many assets one change may be about.
const maxAtOnce = 500

// changeMedia locks assets that the actor may change and runs f. It refuses with
// NotFound if one is not there.
func (sc *Scope) changeMedia(ctx context.Context, ids []model.MediaID, f func(tx pgx.Tx, list []held) error) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	switch {
	case len(ids) == 0:
		return model.Refuse(model.Unprocessable, "Choose at least one file.")
	case len(ids) > maxAtOnce:
		return model.Refuse(model.Unprocessable, fmt.Sprintf("At most %d files can be changed at once. Choose fewer.", maxAtOnce))
	}
	return sc.write(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sqlMediaLock, sc.Actor.Tenant, ids)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByName[held])
		if err != nil {
			return err
		}
		if len(list) != len(ids) {
			return errNoMedia
		}
		for _, h := range list {
			if err := sc.needMedia(model.MediaWrite, h.ClientID); err != nil {
				return err
			}
		}
		return f(tx, list)
	})
}

// noteMedia writes a line for each asset, all at once; each has its client.
func (sc *Scope) noteMedia(ctx context.Context, tx pgx.Tx, list []held, verb string, detail map[string]any) error {
	b := &pgx.Batch{}
	for _, h := range list {
		b.Queue(sqlAuditAdd, sc.auditRow(note{verb: verb, subject: "media", id: int64(h.ID), client: h.ClientID, detail: detail})...)
	}
	return tx.SendBatch(ctx, b).Close()
}

func freshMedia(h held, seen int) error {
	if h.Revision != seen {
		return model.Refuse(model.Conflict, "This file was changed while you had it open. Nothing was overwritten; reload to see it.")
	}
	return nil
}

// MediaWords are what people call an asset and say of it.
type MediaWords struct {
	Name string
	Alt  string
	Tags []string
}

const sqlMediaDescribe = `UPDATE tenant.media SET name = $3, alt = $4, tags = $5, revision = revision + 1 WHERE tenant_id = $1 AND id = $2`

// maxAlt is the longest alt text that an asset has; networks take less.
const maxAlt = 5000

// DescribeMedia sets the words of an asset, as a form has them that saw revision
// seen. Posts that have an alt text of their own keep it.
func (sc *Scope) DescribeMedia(ctx context.Context, id model.MediaID, seen int, w MediaWords) (err error) {
	defer wrap(&err, "describe media %d", id)
	w.Name, w.Alt, w.Tags = MediaName(w.Name), strings.TrimSpace(w.Alt), tidyTags(w.Tags)
	if n := utf8.RuneCountInString(w.Alt); n > maxAlt || !utf8.ValidString(w.Alt) || strings.ContainsRune(w.Alt, 0) {
		return model.RefuseField("alt", fmt.Sprintf("An alt text has at most %d characters; this one has %d.", maxAlt, n))
	}
	if err := fitTags(w.Tags); err != nil {
		return err
	}
	return sc.changeMedia(ctx, []model.MediaID{id}, func(tx pgx.Tx, list []held) error {
		if err := freshMedia(list[0], seen); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlMediaDescribe, sc.Actor.Tenant, id, w.Name, w.Alt, w.Tags); err != nil {
			return err
		}
		if err := sc.indexWords(ctx, tx, id); err != nil {
			return err
		}
		return sc.noteMedia(ctx, tx, list, "described", nil)
	})
}

// MediaName is a file's name as it is kept and shown: its last part, at most 120
// characters, nothing invisible and no mark that turns the text around.
func MediaName(name string) string {
	name = strings.TrimSpace(printable(name[strings.LastIndexAny(name, `/\`)+1:]))
	clean := []rune(name)
	if len(clean) > 120 {
		clean = append(clean[:119], '…')
	}
	if len(clean) == 0 {
		return "file"
	}
	return string(clean)
}

// printable leaves out what cannot be seen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

const sqlMediaTag = `
	UPDATE tenant.media m SET tags = ARRAY(SELECT DISTINCT tag FROM unnest(m.tags || $3::text[]) tag WHERE tag <> ALL ($4::text[]) ORDER BY tag), revision = revision + 1
	 WHERE m.tenant_id = $1 AND m.id = ANY ($2) RETURNING cardinality(m.tags)`

const (
	maxTags    = 50 // of one asset
	maxTagSize = 50
)

var errManyTags = model.RefuseField("tags", fmt.Sprintf("A file has at most %d tags.", maxTags))

// fitTags refuses tags that an asset can't have.
func fitTags(tags []string) error {
	for _, t := range tags {
		if utf8.RuneCountInString(t) > maxTagSize || printable(t) != t {
			return model.RefuseField("tags", fmt.Sprintf("A tag has at most %d characters, all of them visible.", maxTagSize))
		}
	}
	if len(tags) > maxTags {
		return errManyTags
	}
	return nil
}

// TagMedia adds tags to assets and takes others away.
func (sc *Scope) TagMedia(ctx context.Context, ids []model.MediaID, add, remove []string) (err error) {
	defer wrap(&err, "tag media")
	add, remove = tidyTags(add), tidyTags(remove)
	if err := fitTags(add); err != nil {
		return err
	}
	return sc.changeMedia(ctx, ids, func(tx pgx.Tx, list []held) error {
		rows, err := tx.Query(ctx, sqlMediaTag, sc.Actor.Tenant, ids, add, remove)
		if err != nil {
			return err
		}
		counts, err := pgx.CollectRows(rows, pgx.RowTo[int])
		if err != nil {
			return err
		}
		if slices.Max(counts) > maxTags {
			return errManyTags
		}
		if err := sc.indexWords(ctx, tx, ids...); err != nil {
			return err
		}
		return sc.noteMedia(ctx, tx, list, "tagged", map[string]any{"added": add, "removed": remove})
	})
}

const sqlMediaMove = `UPDATE tenant.media SET folder_id = $3, revision = revision + 1 WHERE tenant_id = $1 AND id = ANY ($2)`

// MoveMedia puts assets into a folder of their client, or (nil) into none.
func (sc *Scope) MoveMedia(ctx context.Context, ids []model.MediaID, folder *model.FolderID) (err error) {
	defer wrap(&err, "move media")
	return sc.changeMedia(ctx, ids, func(tx pgx.Tx, list []held) error {
		if folder != nil {
			if err := sc.folderOf(ctx, tx, *folder, list); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, sqlMediaMove, sc.Actor.Tenant, ids, folder); err != nil {
			return err
		}
		return sc.noteMedia(ctx, tx, list, "moved", nil)
	})
}

// folderOf refuses a folder that is not one of the assets' own client.
func (sc *Scope) folderOf(ctx context.Context, tx pgx.Tx, id model.FolderID, list []held) error {
	var client model.ClientID
	err := tx.QueryRow(ctx, sqlFolderOf, sc.Actor.Tenant, id).Scan(&client)
	if noRows(err) || err == nil && !sc.Actor.May(model.MediaView, client) {
		return errNoFolder
	}
	if err != nil {
		return err
	}
	for _, h := range list {
		if h.ClientID != client {
			return model.Refuse(model.Unprocessable, "A file stays in its client's library. Choose a folder of the same client.")
		}
	}
	return nil
}

const sqlMediaFocus = `UPDATE tenant.media SET focal_x = $3, focal_y = $4, revision = revision + 1 WHERE tenant_id = $1 AND id = $2`

// FocusMedia sets the point that crops keep in view where nobody chose a crop.
// Posts that were written before keep theirs.
func (sc *Scope) FocusMedia(ctx context.Context, id model.MediaID, at model.Focal) (err error) {
	defer wrap(&err, "focus media %d", id)
	if at.X < 0 || at.X > 1000 || at.Y < 0 || at.Y > 1000 {
		return model.RefuseField("focal", "The point lies outside of the picture.")
	}
	return sc.changeMedia(ctx, []model.MediaID{id}, func(tx pgx.Tx, list []held) error {
		if _, err := tx.Exec(ctx, sqlMediaFocus, sc.Actor.Tenant, id, at.X, at.Y); err != nil {
			return err
		}
		return sc.noteMedia(ctx, tx, list, "cropped", nil)
	})
}

const sqlMediaCrop = `
	INSERT INTO tenant.media_crops (tenant_id, media_id, preset, x, y, width, height) VALUES ($1, $2, $3, $4, $5, $6, $7)
	ON CONFLICT (tenant_id, media_id, preset) DO UPDATE SET x = excluded.x, y = excluded.y, width = excluded.width, height = excluded.height`

const sqlMediaUncrop = `DELETE FROM tenant.media_crops WHERE tenant_id = $1 AND media_id = $2 AND preset = $3`

// CropMedia chooses the part of an asset that a preset's posts show; the zero
// crop takes the choice back. Posts that were written before keep theirs until
// they are saved again. It refuses a part that lies outside of the file or that
// the preset's network would not take.
func (sc *Scope) CropMedia(ctx context.Context, id model.MediaID, preset string, part model.Crop) (err error) {
	defer wrap(&err, "crop media %d", id)
	return sc.changeMedia(ctx, []model.MediaID{id}, func(tx pgx.Tx, list []held) error {
		if err := mayCrop(list[0], preset, part); err != nil {
			return err
		}
		sql, args := sqlMediaUncrop, []any{sc.Actor.Tenant, id, preset}
		if !part.Whole() {
			sql, args = sqlMediaCrop, append(args, part.X, part.Y, part.Width, part.Height)
		}
		if _, err := tx.Exec(ctx, sql, args...); err != nil {
			return err
		}
		return sc.noteMedia(ctx, tx, list, "cropped", map[string]any{"preset": preset})
	})
}

func mayCrop(h held, key string, part model.Crop) error {
	preset, ok := network.PresetFor(key, h.Kind)
	switch {
	case !ok:
		return model.RefuseField("preset", "Herald has no such crop.")
	case part.Whole():
		return nil
	case h.Width == 0:
		return model.Refuse(model.Conflict, "This file is still being prepared. Crop it once it is ready.")
	case !part.Within(h.Width, h.Height):
		return model.RefuseField("crop", "The crop lies outside of the picture.")
	case !preset.Takes(part.Width, part.Height):
		return model.RefuseField("crop", fmt.Sprintf("%s does not take this shape. Choose one of those offered.", preset.Label))
	}
	return nil
}
