package db_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"herald/db/dbtest"
)

// superuser is no role to change to: it is who connects.
const superuser = ""

// as connects to a shard as a role, past every Scope.
func as(t *testing.T, w *dbtest.World, shard, role string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.ShardURL[shard])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if role == superuser {
		return conn
	}
	if _, err := conn.Exec(t.Context(), "SET SESSION AUTHORIZATION "+pgx.Identifier{role}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	return conn
}
