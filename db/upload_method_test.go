package db_test

import (
	"context"
	"crypto/sha256"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/network"
)

// arriving is why uploads are quiet: how a file comes is nobody's business but its
// sender's, and the asset's own line follows once it is whole.
const arriving = "the asset's line is written with the last byte"

func quiet(f call) method {
	return method{calls: map[string]call{"id": f}, changes: true, quiet: arriving}
}

// whole is the asset that an upload becomes.
func whole(of dbtest.Holding) db.Asset {
	sum := sha256.Sum256([]byte("the bytes of " + of.Mark))
	return db.Asset{State: db.MediaScanning, Kind: network.Image, Type: "image/jpeg", OriginalPath: "x.jpg", Sha256: sum[:], UploadedBytes: 2}
}

func uploadMethods() map[string]method {
	return map[string]method{
		"StartUpload": quiet(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			u, err := sc.StartUpload(ctx, of.Client, "new.jpg", 10)
			return u.ID, err
		}),
		"Upload": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Upload(ctx, of.Arriving)
		}),
		"HoldUpload": quiet(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.HoldUpload(ctx, of.Arriving, "me")
		}),
		"KeepUpload": {changes: true, quiet: arriving, empty: true, calls: map[string]call{"id": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.KeepUpload(ctx, of.Arriving, "x")
		}}},
		"FreeUpload": {changes: true, quiet: arriving, empty: true, calls: map[string]call{"id": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.FreeUpload(ctx, of.Arriving, "x")
		}}},
		"ExtendUpload": quiet(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			u, _ := of.Owner.Upload(ctx, of.Arriving)
			u.ID, u.Received, u.Hash = of.Arriving, 2, []byte{}
			return nil, sc.ExtendUpload(ctx, "x", 1, u)
		}),
		"FinishUpload": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			a, _, err := sc.FinishUpload(ctx, of.Upload, whole(of))
			return a.ID, err
		}),
		"DropUpload": quiet(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.DropUpload(ctx, of.Arriving)
		}),
	}
}
