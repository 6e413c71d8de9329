package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Write is what Scope's methods write with, for tests that break it on purpose.
// It is no method, since those are walked by the tests of the walls.
func Write(ctx context.Context, sc *Scope, f func(pgx.Tx) error) error { return sc.write(ctx, f) }

// Pool is the connections that the Scope shares with everybody else.
func Pool(sc *Scope) *pgxpool.Pool { return sc.pool }
