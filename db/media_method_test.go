package db_test

import (
	"context"
	"crypto/sha256"
	"errors"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

func mediaSeen(of dbtest.Holding) int {
	list, err := of.Owner.Media(context.Background(), []model.MediaID{of.Media})
	if err != nil {
		return 0
	}
	return list[0].Revision
}

func library(filter func(of dbtest.Holding) db.LibraryFilter) call {
	return func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
		return sc.Library(ctx, filter(of))
	}
}

func mediaMethods() map[string]method {
	return map[string]method{
		"Media": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Media(ctx, []model.MediaID{of.Media})
		}),
		"VisibleMedia": {empty: true, calls: map[string]call{"ids": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.VisibleMedia(ctx, []model.MediaID{of.Media})
		}}},
		"SentFiles": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.SentFiles(ctx, of.Planned, 0)
		}),
		"KnownMedia": {empty: true, calls: map[string]call{"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			a, _, err := sc.KnownMedia(ctx, of.Client, sha256.Sum256([]byte(of.Mark)))
			return a, err
		}}},
		"RoomForMedia": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RoomForMedia(ctx, of.Client, 1)
		}),
		"AddMedia": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			a, _, err := sc.AddMedia(ctx, asset(of.Client))
			return a, err
		}),
		"Asset": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Asset(ctx, of.Media)
		}),
		"Library": {calls: map[string]call{
			"client": library(func(of dbtest.Holding) db.LibraryFilter { return db.LibraryFilter{Client: of.Client} }),
			"folder": library(func(of dbtest.Holding) db.LibraryFilter { return db.LibraryFilter{Folder: of.Folder} }),
			"files":  library(func(of dbtest.Holding) db.LibraryFilter { return db.LibraryFilter{IDs: []model.MediaID{of.Media}} }),
		}},
		"LibraryClients": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			return sc.LibraryClients(ctx)
		}),
		"MediaUses": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.MediaUses(ctx, []model.MediaID{of.Media})
		}),
		"Tags": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Tags(ctx, of.Client)
		}),
		"Folders": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Folders(ctx, of.Client)
		}),
		"Storage": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Storage(ctx) }),
		"AddFolder": {changes: true, calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return sc.AddFolder(ctx, of.Client, nil, "A new folder")
			},
			"parent": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.AddFolder(ctx, own.Client, &of.Folder, "A new folder")
			},
		}},
		"RenameFolder": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RenameFolder(ctx, of.Folder, "Another name")
		}),
		"RemoveFolder": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RemoveFolder(ctx, of.Folder)
		}),
		"DescribeMedia": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.DescribeMedia(ctx, of.Media, mediaSeen(of), db.MediaWords{Name: "new.jpg", Alt: "What it shows", Tags: []string{"summer"}})
		}),
		"TagMedia": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.TagMedia(ctx, []model.MediaID{of.Media}, []string{"summer"}, nil)
		}),
		"MoveMedia": {changes: true, calls: map[string]call{
			"file": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return nil, sc.MoveMedia(ctx, []model.MediaID{of.Media}, nil)
			},
			"folder": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return nil, sc.MoveMedia(ctx, []model.MediaID{own.Media}, &of.Folder)
			},
		}},
		"FocusMedia": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.FocusMedia(ctx, of.Media, model.Focal{X: 100, Y: 900})
		}),
		"CropMedia": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.CropMedia(ctx, of.Media, "instagram/post", model.Crop{X: 10, Y: 0, Width: 80, Height: 100})
		}),
		"RetryMedia": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RetryMedia(ctx, of.Media)
		}),
		"DeleteMedia": {changes: true, calls: map[string]call{
			"unasked": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				err := sc.DeleteMedia(ctx, []model.MediaID{of.Media}, false)
				if _, used := errors.AsType[*db.InUse](err); used && own.Media == of.Media { // its draft uses it
					err = sc.DeleteMedia(ctx, []model.MediaID{of.Media}, true)
				}
				return nil, err
			},
			"sure": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return nil, sc.DeleteMedia(ctx, []model.MediaID{of.Media}, true)
			},
		}},
	}
}
