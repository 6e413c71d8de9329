// Package dbtest gives tests a real Postgres: databases of their own, made from
// templates, with the control plane and two shards, and factories for what a
// test needs to stand on. A missing Postgres is a failure, never a skip. Start
// with New.
package dbtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db"
	"herald/db/cluster"
	"herald/db/secret"
)

// Noon is the instant at which tests begin: a Tuesday, in no zone's change.
var Noon = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

// SecondShard is the shard that has a database of its own.
const SecondShard = "second"

// World is one test's databases.
type World struct {
	Store *db.Store
	Ring  *secret.Ring
	Clock *Clock

	// ControlURL and ShardURL are addresses for further connections.
	ControlURL string
	ShardURL   map[string]string

	super    map[string]*pgxpool.Pool // by shard, past all walls: for factories and for looking
	imprints sync.Map                 // by shard, the statement that takes one
}

// Clock is a time that only the test moves.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock on by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Set moves the clock to at.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// New makes a test's databases and closes them at its end.
func New(t testing.TB) *World {
	t.Helper()
	return world(t, (*template).asNew)
}

// Untouched makes databases that no test wrote to before, for those that count what
// Postgres reads.
func Untouched(t testing.TB) *World {
	t.Helper()
	return world(t, (*template).copied)
}

func world(t testing.TB, database func(*template, testing.TB) string) *World {
	t.Helper()
	main, shard := theTemplates()
	w := &World{Ring: Ring(t), Clock: &Clock{at: Noon}, ShardURL: map[string]string{}, super: map[string]*pgxpool.Pool{}}
	var names [2]string
	var wg sync.WaitGroup
	wg.Go(func() { names[0] = database(main, t) })
	wg.Go(func() { names[1] = database(shard, t) })
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		wg.Go(func() { main.giveBack(t, names[0]) })
		wg.Go(func() { shard.giveBack(t, names[1]) })
		wg.Wait()
	})
	w.connect(t, names[0], names[1])
	return w
}

func (w *World) connect(t testing.TB, main, second string) {
	t.Helper()
	server := Cluster()
	w.ControlURL = server.URL(cluster.Superuser, main)
	w.ShardURL[db.MainShard] = w.ControlURL
	w.ShardURL[SecondShard] = server.URL(cluster.Superuser, second)
	for name, url := range w.ShardURL {
		w.super[name] = pool(t, url)
	}
	store, err := db.Open(t.Context(), w.Options())
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	w.Store = store
	t.Cleanup(func() {
		store.Close()
		for _, p := range w.super {
			p.Close()
		}
	})
}

// Options are what another Store or a Pipeline of this world opens with.
func (w *World) Options() db.Options {
	return db.Options{Control: w.ControlURL, Shards: map[string]string{SecondShard: w.ShardURL[SecondShard]}, Ring: w.Ring, Now: w.Clock.Now, Conns: 8}
}

// Ring is the key ring of all tests.
func Ring(t testing.TB) *secret.Ring {
	t.Helper()
	ring, err := secret.ParseRing("a passphrase for tests that is long enough to be one")
	if err != nil {
		t.Fatalf("key ring: %v", err)
	}
	return ring
}

// Super runs a statement past all walls on a shard, for factories and for
// breaking things on purpose.
func (w *World) Super(t testing.TB, shard, sql string, args ...any) {
	t.Helper()
	if _, err := w.super[shard].Exec(context.WithoutCancel(t.Context()), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Look reads one value past all walls on a shard.
func Look[T any](t testing.TB, w *World, shard, sql string, args ...any) (v T) {
	t.Helper()
	if err := w.super[shard].QueryRow(context.WithoutCancel(t.Context()), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 4
	p, err := pgxpool.NewWithConfig(context.WithoutCancel(t.Context()), config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var theAdmin = sync.OnceValue(func() *pgxpool.Pool {
	p, err := pgxpool.New(context.Background(), Cluster().URL(cluster.Superuser, "postgres"))
	must(err)
	return p
})

func run(sql string) error {
	_, err := theAdmin().Exec(context.Background(), sql)
	return err
}
