package db_test

import (
	"context"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

func labelMethods() map[string]method {
	return map[string]method{
		"Labels":  reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Labels(ctx) }),
		"MayKeep": {exempt: "it answers from what the actor may do, and reads nothing"},
		"DayNotes": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			notes, clients, err := sc.DayNotes(ctx, model.Date{Year: 2026, Month: 3, Day: 1})
			return []any{notes, clients}, err
		}),
		"AddDayNote": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.AddDayNote(ctx, db.DayNote{ClientID: of.Client, Date: model.Date{Year: 2026, Month: 3, Day: 12}, Words: "One more"})
		}),
		"RemoveDayNote": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RemoveDayNote(ctx, of.Note)
		}),
		"SetHolidays": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.SetHolidays(ctx, of.Client, "DE")
		}),
		"SetApart": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.SetApart(ctx, of.Client, 20)
		}),
		"Collisions": {calls: map[string]call{"account": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Collisions(ctx, 0, dbtest.Noon.Add(24*time.Hour), map[model.AccountID]string{of.Account: "any words"})
		}}},
		"AddLabel": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.AddLabel(ctx, db.Label{ClientID: of.Client, Kind: db.PlainLabel, Name: "One more"})
		}),
		"ChangeLabel": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.ChangeLabel(ctx, of.Label, "Another name", 2)
		}),
		"RemoveLabel": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RemoveLabel(ctx, of.Spare)
		}),
		"LabelPosts": {changes: true, calls: map[string]call{
			"post": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return firstOf(sc.LabelPosts(ctx, db.Labelling{Posts: []model.PostID{of.Planned}, Add: []model.LabelID{own.Label}}))
			},
			"label": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return firstOf(sc.LabelPosts(ctx, db.Labelling{Posts: []model.PostID{own.Planned}, Add: []model.LabelID{of.Label}}))
			},
			"label to remove": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return firstOf(sc.LabelPosts(ctx, db.Labelling{Posts: []model.PostID{own.Draft}, Remove: []model.LabelID{of.Label}}))
			},
		}},
	}
}

// firstOf is what became of the one post of a batch.
func firstOf(done []db.Done, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return done, done[0].No
}
