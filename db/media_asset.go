package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// AssetPage is all that there is to know of one asset.
type AssetPage struct {
	LibraryAsset
	Folder     string                // its name; empty for none
	Networks   []string              // that the client has accounts on
	Crops      map[string]model.Crop // by preset
	Renditions []Rendition
	Uses       []Use // the first ones
	MayWrite   bool
}

// Rendition is a file made of an asset for networks that do not take it as it is.
type Rendition struct {
	ID         model.RenditionID
	Recipe     string // network.ParseRecipe reads it
	State      string // waiting, making, ready, failed
	Progress   int    // percent
	Reason     string // why it failed, in a sentence
	Type       string
	Path       string
	Bytes      int64
	Width      int
	Height     int
	DurationMs int64
	MadeAt     *time.Time
}

const sqlAssetPage = `
	SELECT ` + assetFields + `, c.name AS client, coalesce(f.name, '') AS folder,
	       ARRAY(SELECT DISTINCT a.network FROM tenant.accounts a WHERE a.tenant_id = m.tenant_id AND a.client_id = m.client_id AND a.state <> 'disabled' ORDER BY 1) AS networks
	  FROM tenant.media m JOIN tenant.clients c ON c.tenant_id = m.tenant_id AND c.id = m.client_id
	  LEFT JOIN tenant.media_folders f ON f.tenant_id = m.tenant_id AND f.id = m.folder_id
	 WHERE m.tenant_id = $1 AND m.id = $2 AND m.state <> 'deleted'`

const sqlAssetCrops = `SELECT preset, x, y, width, height FROM tenant.media_crops WHERE tenant_id = $1 AND media_id = $2`

const sqlAssetRenditions = `
	SELECT id, recipe, state, progress, reason, type, path, bytes, width, height, duration_ms, made_at
	  FROM tenant.media_renditions WHERE tenant_id = $1 AND media_id = $2 ORDER BY id`

// maxUses is how many posts that use an asset are named.
const maxUses = 20

// Asset reads one asset with its crops, renditions and uses.
func (sc *Scope) Asset(ctx context.Context, id model.MediaID) (page AssetPage, err error) {
	defer wrap(&err, "read asset %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		page, err = sc.assetPage(ctx, tx, id)
		return err
	})
	return page, err
}

func (sc *Scope) assetPage(ctx context.Context, tx pgx.Tx, id model.MediaID) (page AssetPage, err error) {
	rows, err := tx.Query(ctx, sqlAssetPage, sc.Actor.Tenant, id)
	if err != nil {
		return page, err
	}
	type row struct {
		LibraryAsset
		Folder   string
		Networks []string
	}
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[row])
	if noRows(err) {
		return page, errNoMedia
	}
	if err != nil {
		return page, err
	}
	if err := sc.needMedia(model.MediaView, r.ClientID); err != nil {
		return page, err
	}
	page = AssetPage{LibraryAsset: r.LibraryAsset, Folder: r.Folder, Networks: r.Networks, MayWrite: sc.Actor.May(model.MediaWrite, r.ClientID)}
	return page, sc.fillAsset(ctx, tx, &page)
}

func (sc *Scope) fillAsset(ctx context.Context, tx pgx.Tx, page *AssetPage) (err error) {
	if page.Crops, err = sc.crops(ctx, tx, page.ID); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, sqlAssetRenditions, sc.Actor.Tenant, page.ID)
	if err != nil {
		return err
	}
	if page.Renditions, err = pgx.CollectRows(rows, pgx.RowToStructByName[Rendition]); err != nil {
		return err
	}
	if page.Uses, err = sc.uses(ctx, tx, []model.MediaID{page.ID}, maxUses); err != nil {
		return err
	}
	all, err := sc.usage(ctx, tx, []model.MediaID{page.ID})
	page.Usage = all[page.ID]
	return err
}

func (sc *Scope) crops(ctx context.Context, tx pgx.Tx, id model.MediaID) (map[string]model.Crop, error) {
	rows, err := tx.Query(ctx, sqlAssetCrops, sc.Actor.Tenant, id)
	if err != nil {
		return nil, err
	}
	all := map[string]model.Crop{}
	var preset string
	var c model.Crop
	_, err = pgx.ForEachRow(rows, []any{&preset, &c.X, &c.Y, &c.Width, &c.Height}, func() error {
		all[preset] = c
		return nil
	})
	return all, err
}
