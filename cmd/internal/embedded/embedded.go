// Package embedded starts the Postgres and the Redis that Herald brings along
// when none is configured: for the demo and for tests, never for serve or work.
// Both end with this program, however it ends. Start with Postgres and Redis.
package embedded

import (
	"context"

	"herald/db/cluster"
)

// Superuser is the role that owns an embedded Postgres.
const Superuser = cluster.Superuser

// Postgres starts a server whose data stays in dir between runs and survives a
// power cut. ctx bounds the start.
func Postgres(ctx context.Context, dir string) (*cluster.Cluster, error) {
	return cluster.Start(ctx, cluster.Options{Dir: dir, Durable: true})
}
