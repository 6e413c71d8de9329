package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
	"herald/db/secret"
)

// The roles Herald works with. Neither owns a table nor passes row-level security.
const (
	appRole    = "herald_app"
	workerRole = "herald_worker"
)

// Options are what a Store or a Pipeline connects with.
type Options struct {
	Control string            // URL of the control database
	Shards  map[string]string // URL by shard name; the main shard is the control database
	Ring    *secret.Ring
	Now     func() time.Time
	Conns   int32 // most connections per database; 0 takes 16

	// RolePasswords says whether the roles sign in with their derived passwords.
	// A private server on a unix socket trusts its own user and needs none.
	RolePasswords bool
	Tracer        pgx.QueryTracer // may be nil

	// Changed is told of each workspace after a commit that changed something in
	// it. It must return at once. May be nil.
	Changed func(model.TenantID)
}

// Store is the databases as the web reaches them.
type Store struct {
	control *pgxpool.Pool
	shards  map[string]*pgxpool.Pool
	ring    *secret.Ring
	now     func() time.Time
	changed func(model.TenantID)
}

// Open connects as the app's role. The caller closes the Store.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	defer wrap(&err, "open store")
	control, shards, err := o.connect(ctx, appRole)
	if err != nil {
		return nil, err
	}
	return &Store{control: control, shards: shards, ring: o.Ring, now: o.Now, changed: o.Changed}, nil
}

// Close gives all connections back.
func (s *Store) Close() {
	closeAll(s.control, s.shards)
}

func closeAll(control *pgxpool.Pool, shards map[string]*pgxpool.Pool) {
	control.Close()
	for _, pool := range shards {
		if pool != control {
			pool.Close()
		}
	}
}

// Ping says whether every database answers.
func (s *Store) Ping(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(s.shards)) {
		if err := s.shards[name].Ping(ctx); err != nil {
			return fmt.Errorf("shard %s: %w", name, err)
		}
	}
	return s.control.Ping(ctx)
}

func (o Options) connect(ctx context.Context, role string) (*pgxpool.Pool, map[string]*pgxpool.Pool, error) {
	control, err := o.pool(ctx, o.Control, role)
	if err != nil {
		return nil, nil, err
	}
	shards := map[string]*pgxpool.Pool{MainShard: control}
	for name, url := range o.Shards {
		if name == MainShard {
			continue
		}
		if shards[name], err = o.pool(ctx, url, role); err != nil {
			closeAll(control, shards)
			return nil, nil, fmt.Errorf("shard %s: %w", name, err)
		}
	}
	return control, shards, nil
}

func (o Options) pool(ctx context.Context, url, role string) (*pgxpool.Pool, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.User = role
	if o.RolePasswords {
		config.ConnConfig.Password = o.Ring.Derive("database role " + role)
	}
	config.ConnConfig.RuntimeParams["application_name"] = role
	config.ConnConfig.RuntimeParams["timezone"] = "UTC"
	config.ConnConfig.Tracer = o.Tracer
	config.MaxConns = o.Conns
	if config.MaxConns == 0 {
		config.MaxConns = 16
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// connectPatience is how long a database may take to let somebody in, where its
// address says nothing else by connect_timeout. The driver waits for two minutes.
const connectPatience = 20 * time.Second

func parseURL(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err == nil && config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectPatience
	}
	return config, err
}

// shard returns the pool of the workspace's shard.
func (s *Store) shard(name string) (*pgxpool.Pool, error) {
	pool, ok := s.shards[name]
	if !ok {
		return nil, fmt.Errorf("shard %q has no address: set HERALD_SHARD_%s_URL", name, name)
	}
	return pool, nil
}

// Workspace is a tenant as the control plane knows it.
type Workspace struct {
	ID     model.TenantID
	Slug   string
	Name   string
	Zone   string
	Shard  string
	State  string
	Paused bool
}

// Clock is the control database's clock.
func (s *Store) Clock(ctx context.Context) (at time.Time, err error) {
	defer wrap(&err, "read the database's clock")
	err = s.control.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
	return at, err
}
