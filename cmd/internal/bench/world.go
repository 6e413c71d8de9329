// Package bench measures the pipeline beside a floor, in one run on one machine:
// what holds is the ratio. Everything is real (Postgres with fsync, Redis, HTTP,
// guards, evidence, row-level security, two shards) but the network, which is
// the simulator without latency. Start with Run.
package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"herald/cmd/internal/boot"
	"herald/cmd/internal/embedded"
	"herald/db"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs"
	"herald/jobs/sim"
)

// ringKey is the key that the bench and its processes share.
const ringKey = "a passphrase for the bench that is long enough to be one"

// secondShard has a database of its own; the main one shares control's.
const secondShard = "second"

// world is the servers of one run.
type world struct {
	pgURL   func(user, database string) string
	pgStop  func()
	rd      *embedded.Server
	redis   redis.UniversalClient
	sim     *sim.Sim
	simURL  string
	simStop func()
	ring    *secret.Ring
	config  boot.Config
	super   map[string]*pgxpool.Pool
	counted counters
	seen    atomic.Int64 // publishes that reached the network
	dir     string
}

// counters are what the pipeline asked of its servers.
type counters struct {
	statements atomic.Int64
	commits    atomic.Int64
	redisCmds  atomic.Int64
	redisTrips atomic.Int64
}

func (c *counters) reset() {
	c.statements.Store(0)
	c.commits.Store(0)
	c.redisCmds.Store(0)
	c.redisTrips.Store(0)
}

func openWorld(ctx context.Context, dir string) (w *world, err error) {
	w = &world{super: map[string]*pgxpool.Pool{}, dir: dir}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	pg, err := embedded.Postgres(ctx, dir)
	if err != nil {
		return w, err
	}
	w.pgURL, w.pgStop = pg.URL, pg.Stop
	if w.rd, err = embedded.Redis(ctx); err != nil {
		return w, err
	}
	if w.ring, err = secret.ParseRing(ringKey); err != nil {
		return w, err
	}
	w.redis = redis.NewClient(&redis.Options{Network: w.rd.Network, Addr: w.rd.Addr, Password: w.rd.Password, PoolSize: 64})
	w.redis.AddHook(redisCounter{&w.counted})
	if err := w.databases(ctx); err != nil {
		return w, err
	}
	return w, w.simulate(ctx)
}

func (w *world) databases(ctx context.Context) error {
	admin, err := pgx.Connect(ctx, w.pgURL(embedded.Superuser, "postgres"))
	if err != nil {
		return err
	}
	defer admin.Close(ctx)
	for _, name := range []string{"bench_main", "bench_second"} {
		if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
			return err
		}
	}
	main, second := w.pgURL(embedded.Superuser, "bench_main"), w.pgURL(embedded.Superuser, "bench_second")
	if _, err := db.Migrate(ctx, db.Address{URL: main, Ring: w.ring}, map[string]db.Address{secondShard: {URL: second, Ring: w.ring}}); err != nil {
		return err
	}
	for shard, url := range map[string]string{db.MainShard: main, secondShard: second} {
		if w.super[shard], err = pgxpool.New(ctx, url); err != nil {
			return err
		}
	}
	w.config, err = boot.Read(nil)
	w.config.DatabaseURL, w.config.ShardURLs, w.config.Ring = main, map[string]string{secondShard: second}, w.ring
	w.config.Pipeline.AccountCap = 1_000_000
	return err
}

func (w *world) simulate(ctx context.Context) error {
	w.sim = sim.New(sim.Options{Quiet: true})
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	handler := w.sim.Handler()
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(rw, r)
		w.seen.Add(1)
	})}
	go func() { _ = srv.Serve(l) }()
	w.simURL = "http://" + l.Addr().String()
	w.simStop = func() { _ = srv.Close() }
	for _, name := range append(slices.Clone(fanned), network.Name(network.Bundle)) {
		n := w.config.Networks[name]
		n.API = w.simURL + "/" + string(name)
		w.config.Networks[name] = n
	}
	w.config.PrivateTargets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	return nil
}

func (w *world) close() {
	for _, p := range w.super {
		p.Close()
	}
	if w.simStop != nil {
		w.simStop()
	}
	if w.redis != nil {
		_ = w.redis.Close()
	}
	if w.rd != nil {
		w.rd.Stop()
	}
	if w.pgStop != nil {
		w.pgStop()
	}
}

// pipeline opens the worker's side, counted.
func (w *world) pipeline(ctx context.Context) (*db.Pipeline, error) {
	o := w.config.Database(time.Now)
	o.Tracer, o.Conns = sqlCounter{&w.counted}, 16
	return db.OpenPipeline(ctx, o)
}

// worker makes a worker process's inside, with a number of publishes at once.
func (w *world) worker(ctx context.Context, concurrency int) (*jobs.Server, *db.Pipeline, error) {
	pipe, err := w.pipeline(ctx)
	if err != nil {
		return nil, nil, err
	}
	return jobs.NewServer(w.deps(pipe, concurrency)), pipe, nil
}

func (w *world) deps(pipe *db.Pipeline, concurrency int) jobs.Deps {
	s := w.config.Pipeline
	s.Workers = concurrency
	return jobs.Deps{Pipe: pipe, Redis: w.redis, Networks: w.config.Adapters(time.Now), Mail: noMail{}, Settings: s,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now}
}

type noMail struct{}

func (noMail) Deliver(context.Context, string) error { return nil }

// sqlCounter counts statements and the commits they make.
type sqlCounter struct{ c *counters }

func (s sqlCounter) TraceQueryStart(ctx context.Context, conn *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	s.c.statements.Add(1)
	switch {
	case d.SQL == "begin" || d.SQL == "rollback":
	case d.SQL == "commit", conn.PgConn().TxStatus() == 'I':
		s.c.commits.Add(1)
	}
	return ctx
}

func (sqlCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s sqlCounter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	s.c.statements.Add(int64(d.Batch.Len()))
	s.c.commits.Add(1)
	return ctx
}

func (sqlCounter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (sqlCounter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// redisCounter counts commands and round trips, asynq's own included.
type redisCounter struct{ c *counters }

func (redisCounter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r redisCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		r.c.redisCmds.Add(1)
		r.c.redisTrips.Add(1)
		return next(ctx, cmd)
	}
}

func (r redisCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		r.c.redisCmds.Add(int64(len(cmds)))
		r.c.redisTrips.Add(1)
		return next(ctx, cmds)
	}
}

func (w *world) exec(ctx context.Context, shard, sql string, args ...any) error {
	if _, err := w.super[shard].Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("%s: %w", shard, err)
	}
	return nil
}
