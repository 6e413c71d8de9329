package db_test

import (
	"context"
	"errors"

	"herald/db"
	"herald/db/dbtest"
)

// ownCopy is why working copies are quiet.
const ownCopy = "what is not saved is nobody's business but its writer's"

func copyMethods() map[string]method {
	return map[string]method{
		"KeepCopy": {changes: true, quiet: ownCopy, calls: map[string]call{"post": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.KeepCopy(ctx, db.WorkingCopy{Key: "key-of-a-form-0123456789", Post: of.Draft, Fields: "text=x"})
		}}},
		"Copies": {empty: true, calls: map[string]call{"post": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Copies(ctx, of.Draft)
		}}},
		"DropCopies": {changes: true, empty: true, quiet: ownCopy, calls: map[string]call{"post": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			list, err := sc.Copies(ctx, of.Draft)
			for _, c := range list {
				err = errors.Join(err, sc.DropCopies(ctx, c.Key))
			}
			return nil, err
		}}},
	}
}
