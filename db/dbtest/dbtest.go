// Package dbtest gives tests a real Postgres: databases of their own, made from
// templates, with the control plane and two shards, and factories for what a
// test needs to stand on. A missing Postgres is a failure, never a skip. Start
// with New.
package dbtest

import (
	"context"
	"crypto/rand"
	"strings"
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
	names := theTemplates()
	w := &World{Ring: Ring(t), Clock: &Clock{at: Noon}, ShardURL: map[string]string{}, super: map[string]*pgxpool.Pool{}}
	suffix := strings.ToLower(rand.Text()[:12])
	main, second := "t_"+suffix, "s_"+suffix
	var wg sync.WaitGroup
	wg.Go(func() { clone(t, names.main, main) })
	wg.Go(func() { clone(t, names.shard, second) })
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	w.connect(t, main, second)
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
		drop(t, main, second)
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

type templates struct{ main, shard string }

// theTemplates migrates one database of each kind; tests clone them.
var theTemplates = sync.OnceValue(func() templates {
	ctx := context.Background()
	names := templates{"herald_main_" + strings.ToLower(rand.Text()[:8]), "herald_shard_" + strings.ToLower(rand.Text()[:8])}
	server := Cluster()
	admin, err := pgxpool.New(ctx, server.URL(cluster.Superuser, "postgres"))
	must(err)
	defer admin.Close()
	for _, name := range []string{names.main, names.shard} {
		_, err := admin.Exec(ctx, "CREATE DATABASE "+name)
		must(err)
	}
	_, err = db.Migrate(ctx, db.Address{URL: server.URL(cluster.Superuser, names.main)},
		map[string]db.Address{SecondShard: {URL: server.URL(cluster.Superuser, names.shard)}})
	must(err)
	return names
})

func must(err error) {
	if err != nil {
		panic("templates of the test databases: " + err.Error())
	}
}

// cloning is one at a time: Postgres refuses a template that is being copied.
var cloning sync.Map

func clone(t testing.TB, template, name string) {
	lock, _ := cloning.LoadOrStore(template, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if err := run(t, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY"); err != nil {
		t.Errorf("clone %s: %v", template, err)
	}
}

func drop(t testing.TB, names ...string) {
	for _, name := range names {
		if err := run(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Logf("drop %s: %v", name, err)
		}
	}
}

var theAdmin = sync.OnceValue(func() *pgxpool.Pool {
	p, err := pgxpool.New(context.Background(), Cluster().URL(cluster.Superuser, "postgres"))
	must(err)
	return p
})

func run(t testing.TB, sql string) error {
	_, err := theAdmin().Exec(context.WithoutCancel(t.Context()), sql)
	return err
}
