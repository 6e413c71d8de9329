package db_test

import (
	"context"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/network"
)

func connectMethods() map[string]method {
	return map[string]method{
		"Disconnect": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			a, _, err := sc.Disconnect(ctx, of.Account, accountSeen(of))
			return a, err
		}),
		"StartConsent": {changes: true, quiet: "a sign-in that is begun has done nothing yet", calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				c, _, err := sc.StartConsent(ctx, db.Consent{Client: of.Client, Network: network.Facebook}, [32]byte{2})
				return c, err
			},
			"account": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				c, _, err := sc.StartConsent(ctx, db.Consent{Client: own.Client, Account: of.Account, Network: network.Webhook}, [32]byte{2})
				return c, err
			},
		}},
		"Choices": one(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			c, choices, err := sc.Choices(ctx, of.Consent)
			return []any{c, choices}, err
		}),
		"KeepChoices": {changes: true, quiet: "what can be connected is not connected yet", calls: map[string]call{
			"id": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return nil, sc.KeepChoices(ctx, db.Consent{ID: of.Consent, Client: of.Client}, nil)
			},
		}},
		"Connect": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.Connect(ctx, of.Consent, []string{of.Mark})
		}),
		"ConnectLinks": {calls: map[string]call{
			"client": func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
				return sc.ConnectLinks(ctx, of.Client, 0)
			},
			"again": func(ctx context.Context, sc *db.Scope, own, of dbtest.Holding) (any, error) {
				return sc.ConnectLinks(ctx, own.Client, of.Door)
			},
		}},
		"SendConnectLink": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return nil, sc.SendConnectLink(ctx, of.Client, db.ConnectLinkForm{Name: "Jo", Email: "jo@example.com", Networks: []network.Name{network.X}})
		}),
		"RevokeConnectLink": writes(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			return sc.RevokeConnectLink(ctx, of.Door)
		}),
		"ServerApp": reads(func(ctx context.Context, sc *db.Scope, _, of dbtest.Holding) (any, error) {
			app, ok, err := sc.ServerApp(ctx, network.Mastodon, "https://"+of.Mark)
			return []any{app, ok}, err
		}),
		"KeepServerApp": {changes: true, free: true, quiet: "what a server knows Herald by is nobody's doing", calls: map[string]call{
			"": func(ctx context.Context, sc *db.Scope, own, _ dbtest.Holding) (any, error) {
				return nil, sc.KeepServerApp(ctx, network.Mastodon, "https://"+own.Mark+".example", db.App{ID: "a"})
			},
		}},
	}
}
