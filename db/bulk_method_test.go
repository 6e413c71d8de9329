package db_test

import (
	"context"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
)

func bulkMethods() map[string]method {
	bulk := func(post func(dbtest.Holding) model.PostID, f func(context.Context, *db.Scope, []db.PostAct) (db.Acted, error)) method {
		return writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			out, err := f(ctx, sc, []db.PostAct{{Post: post(of), Seen: seen(of, post(of))}})
			return firstOf(out.Done, err)
		})
	}
	planned := func(h dbtest.Holding) model.PostID { return h.Planned }
	return map[string]method{
		"SubmitPosts": bulk(func(h dbtest.Holding) model.PostID { return h.Draft }, func(ctx context.Context, sc *db.Scope, acts []db.PostAct) (db.Acted, error) {
			return sc.SubmitPosts(ctx, "", []db.Submission{{Post: acts[0].Post, Seen: acts[0].Seen}})
		}),
		"SchedulePosts": bulk(planned, func(ctx context.Context, sc *db.Scope, acts []db.PostAct) (db.Acted, error) {
			return sc.SchedulePosts(ctx, "", acts)
		}),
		"MovePosts": bulk(planned, func(ctx context.Context, sc *db.Scope, acts []db.PostAct) (db.Acted, error) {
			return sc.MovePosts(ctx, "", acts, func(model.When) (model.When, error) { return later(), nil })
		}),
		"CancelPosts": bulk(planned, func(ctx context.Context, sc *db.Scope, acts []db.PostAct) (db.Acted, error) {
			return sc.CancelPosts(ctx, "", acts)
		}),
		"RetryPosts": bulk(func(h dbtest.Holding) model.PostID { return h.Failed }, func(ctx context.Context, sc *db.Scope, acts []db.PostAct) (db.Acted, error) {
			return sc.RetryPosts(ctx, "", acts)
		}),
		"AddImport": {calls: map[string]call{"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			id, _, err := sc.AddImport(ctx, of.Client, "new.csv", []byte("Text,Accounts\nA new post,@somebody\n"))
			return id, err
		}}, changes: true, quiet: "a table that is brought along has made nothing yet"},
		"Imports": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.Imports(ctx) }),
		"PreviewImport": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.PreviewImport(ctx, of.Import, nil, true)
		}),
		"StartImport": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.StartImport(ctx, of.Import, []db.ImportColumn{db.ColumnText, db.ColumnAccounts}, true)
		}),
		"ForgetImport": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.ForgetImport(ctx, of.SpareImport)
		}),
		"ImportOutcomes": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			_, list, err := sc.ImportOutcomes(ctx, of.Import)
			return list, err
		}),
		"RunImport": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.RunImport(ctx, of.Import, nil)
		}),
		"UsedClient": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) { return sc.UsedClient(ctx) }),
		"UseClient": {changes: true, quiet: "whose lists somebody looks at is nobody else's business", calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return nil, sc.UseClient(ctx, of.Client)
			},
		}},
		"FindClients": reads(func(ctx context.Context, sc *db.Scope, _, _ dbtest.Holding) (any, error) {
			list, _, err := sc.FindClients(ctx, "")
			return list, err
		}),
	}
}
