package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Write is what Scope's methods write with, for tests that break it on purpose.
func (sc *Scope) Write(ctx context.Context, f func(pgx.Tx) error) error { return sc.write(ctx, f) }

// Pool is the connections that the Scope shares with everybody else.
func (sc *Scope) Pool() *pgxpool.Pool { return sc.pool }
