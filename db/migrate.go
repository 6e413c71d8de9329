package db

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"

	"herald/db/secret"
)

//go:embed migrations/control/*.sql migrations/tenant/*.sql
var migrations embed.FS

// MainShard is the shard that lives in the control database.
const MainShard = "main"

// Address says where one database is and how its roles sign in.
type Address struct {
	URL  string       // of a user who may create schemas and roles
	Ring *secret.Ring // the roles' passwords derive from it; nil leaves them without one
}

// Migrate brings the control schema of control and the tenant schema of every
// shard up to date, registers the shards, and returns how many steps ran. It may
// run twice and at once: one lock per database makes the others wait.
func Migrate(ctx context.Context, control Address, shards map[string]Address) (steps int, err error) {
	defer wrap(&err, "migrate")
	n, err := migrateOne(ctx, control, "control")
	if err != nil {
		return n, err
	}
	steps += n
	all := map[string]Address{MainShard: control}
	for name, a := range shards {
		all[name] = a
	}
	for name, a := range all {
		n, err := migrateOne(ctx, a, "tenant")
		if err != nil {
			return steps, fmt.Errorf("shard %s: %w", name, err)
		}
		steps += n
		if err := registerShard(ctx, control, name); err != nil {
			return steps, err
		}
	}
	return steps, nil
}

func migrateOne(ctx context.Context, a Address, schema string) (int, error) {
	config, err := parseURL(a.URL)
	if err != nil {
		return 0, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil && !isUnique(err) {
		return 0, err
	}
	conn := stdlib.OpenDBFromPool(pool)
	defer conn.Close()
	n, err := migrateUp(ctx, conn, schema)
	if err != nil {
		return n, err
	}
	return n, openRoles(ctx, pool, a.Ring, schema)
}

func migrateUp(ctx context.Context, conn *sql.DB, schema string) (int, error) {
	files, err := fs.Sub(migrations, "migrations/"+schema)
	if err != nil {
		return 0, err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return 0, err
	}
	versions, err := database.NewStore(database.DialectPostgres, schema+".schema_versions")
	if err != nil {
		return 0, err
	}
	p, err := goose.NewProvider("", conn, files, goose.WithStore(versions), goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return 0, err
	}
	done, err := p.Up(ctx)
	return len(done), err
}

// openRoles lets the two working roles sign in, and see which migrations the
// schema has. Roles belong to the server, so two databases on one server share
// them, and with them the key ring.
func openRoles(ctx context.Context, pool *pgxpool.Pool, ring *secret.Ring, schema string) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// Concurrent ALTER ROLE statements on one role collide.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('herald roles'))"); err != nil {
			return err
		}
		for _, role := range []string{appRole, workerRole} {
			if _, err := tx.Exec(ctx, "ALTER ROLE "+role+" LOGIN"+rolePassword(ring, role)); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "GRANT SELECT ON "+schema+".schema_versions TO "+appRole+", "+workerRole)
		return err
	})
}

func rolePassword(ring *secret.Ring, role string) string {
	if ring == nil {
		return ""
	}
	return " PASSWORD '" + ring.Derive("database role "+role) + "'"
}

func registerShard(ctx context.Context, control Address, name string) error {
	conn, err := pgx.Connect(ctx, control.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "INSERT INTO control.shards (name) VALUES ($1) ON CONFLICT DO NOTHING", name)
	return err
}

// Behind says how many migrations the connected databases still lack.
func (s *Store) Behind(ctx context.Context) (int, error) {
	lacking, err := behind(ctx, s.control, "control")
	if err != nil {
		return 0, err
	}
	for _, pool := range s.shards {
		n, err := behind(ctx, pool, "tenant")
		if err != nil {
			return 0, err
		}
		lacking += n
	}
	return lacking, nil
}

func behind(ctx context.Context, pool *pgxpool.Pool, schema string) (int, error) {
	files, err := fs.Glob(migrations, "migrations/"+schema+"/*.sql")
	if err != nil {
		return 0, err
	}
	var has int
	err = pool.QueryRow(ctx, "SELECT count(*) FROM "+schema+".schema_versions WHERE version_id > 0 AND is_applied").Scan(&has)
	return len(files) - has, err
}
