package db_test

import (
	"context"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

func wordingMethods() map[string]method {
	return map[string]method{
		"Wordings": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Wordings(ctx) }),
		"LinkTags": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.LinkTags(ctx, of.Client)
		}),
		"SetLinkTags": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.SetLinkTags(ctx, db.LinkTags{ClientID: of.Client, Source: "elsewhere", Everywhere: true, Revision: 1})
		}),
		"Wording": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Wording(ctx, of.Wording)
		}),
		"AddWording": {changes: true, calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return sc.AddWording(ctx, db.Wording{ClientID: of.Client, Kind: db.Snippet, Name: "One more", Content: db.WordingContent{Text: "x"}})
			},
			"label": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.AddWording(ctx, db.Wording{ClientID: own.Client, Kind: db.Template, Name: "Another", Content: db.WordingContent{Text: "x", Labels: []model.LabelID{of.Label}}})
			},
		}},
		"ChangeWording": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.ChangeWording(ctx, of.Wording, 1, "Another name", db.WordingContent{Text: "y"})
		}),
		"RemoveWording": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.RemoveWording(ctx, of.SpareWording)
		}),
	}
}
