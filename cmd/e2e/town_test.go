package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/cmd/internal/boot"
	"herald/cmd/internal/browser"
	"herald/cmd/internal/embedded"
	"herald/cmd/internal/mailbox"
	"herald/db/dbtest"
	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/darkroom"
	"herald/jobs/sim"
	"herald/static"
)

// town is everything that runs, once for all tests.
type town struct {
	app     *boot.App
	config  boot.Config
	sim     *sim.Sim
	box     *mailbox.Mailbox
	browser *browser.Browser
	web     *httptest.Server
	front   *door // of the web
	nets    *httptest.Server
	stops   []func()
}

// here is the town of this run.
var here *town

func TestMain(m *testing.M) {
	darkroom.Serve()
	os.Exit(live(m))
}

func live(m *testing.M) int {
	old, _ := filepath.Glob(filepath.Join(shots, "failed-*.png"))
	for _, name := range old {
		_ = os.Remove(name)
	}
	t, err := found()
	defer t.close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "the browser tests cannot begin:", err)
		return 1
	}
	here = t
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // most of the time a test waits for the pipeline
	return m.Run()
}

func (t *town) close() {
	for i := len(t.stops) - 1; i >= 0; i-- {
		t.stops[i]()
	}
}

// found starts everything. What it started is in the town, also after an error.
func found() (t *town, err error) {
	t = &town{}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := static.Check(); err != nil {
		return t, err
	}
	if t.config, err = boot.Read(hurry); err != nil {
		return t, err
	}
	t.config.Cost = secret.Cost{Time: 1, Memory: 64, Threads: 1}
	for _, step := range []func(context.Context) error{t.databases, t.redis, t.places, t.herald, t.chromium} {
		if err := step(ctx); err != nil {
			return t, err
		}
	}
	return t, nil
}

// hurry shrinks the times of the pipeline to what a test can wait for.
var hurry = []string{
	"HERALD_KEYS=a passphrase for tests that is long enough to be one",
	"HERALD_TICK=100ms", "HERALD_LOOKAHEAD=1s", "HERALD_RETRY_BASE=200ms", "HERALD_RETRY_CAP=500ms", "HERALD_MAX_ATTEMPTS=3",
	"HERALD_RECONCILE_AFTER=300ms", "HERALD_SETTLE=500ms", "HERALD_SWEEP_EVERY=1s", "HERALD_PROVIDER_TIMEOUT=5s", "HERALD_WORKERS=8",
	"HERALD_MAIL_FROM=Herald <herald@herald.example>",
}

// secondShard is the shard with a database of its own.
const secondShard = "second"

func (t *town) databases(ctx context.Context) error {
	server := dbtest.Cluster()
	conn, err := pgx.Connect(ctx, server.URL(embedded.Superuser, "postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	names := [2]string{fmt.Sprintf("e2e_main_%d", os.Getpid()), fmt.Sprintf("e2e_second_%d", os.Getpid())}
	for _, name := range names {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
			return err
		}
		t.stops = append(t.stops, func() { drop(name) })
	}
	t.config.DatabaseURL = server.URL(embedded.Superuser, names[0])
	t.config.ShardURLs = map[string]string{secondShard: server.URL(embedded.Superuser, names[1])}
	_, err = t.config.Migrate(ctx)
	return err
}

// drop matters only on a server that outlives the tests.
func drop(name string) {
	conn, err := pgx.Connect(context.Background(), dbtest.Cluster().URL(embedded.Superuser, "postgres"))
	if err != nil {
		return
	}
	defer conn.Close(context.Background())
	_, _ = conn.Exec(context.Background(), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func (t *town) redis(ctx context.Context) error {
	server, err := embedded.Redis(ctx)
	if err != nil {
		return err
	}
	t.stops = append(t.stops, server.Stop)
	if server.Network != "unix" {
		return errors.New("redis-server is missing: run `go tool task setup`")
	}
	t.config.RedisURL = (&url.URL{Scheme: "redis-socket", Path: server.Addr}).String()
	return nil
}

// door answers with what is behind it as soon as there is something.
type door struct {
	inner atomic.Pointer[http.Handler]
	gates sync.Map // of *gate by the beginning of the paths that lead through it
}

// ServeHTTP lets the request through.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.gates.Range(func(prefix, g any) bool {
		if strings.HasPrefix(r.URL.Path, prefix.(string)) {
			r.Body = &slowBody{ReadCloser: r.Body, gate: g.(*gate), over: r.Context().Done()}
		}
		return true
	})
	if h := d.inner.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	http.Error(w, "not yet", http.StatusServiceUnavailable)
}

// gate lets the first bytes of what is sent through, and the rest once it opens.
type gate struct {
	room atomic.Int64
	open chan struct{}
}

// gated puts a gate before the paths that begin with prefix.
func (d *door) gated(t *testing.T, prefix string, room int64) *gate {
	g := &gate{open: make(chan struct{})}
	g.room.Store(room)
	d.gates.Store(prefix, g)
	t.Cleanup(func() { d.gates.Delete(prefix) })
	return g
}

// slowBody is a request's body behind a gate.
type slowBody struct {
	io.ReadCloser
	gate *gate
	over <-chan struct{}
	rest io.Reader // what came while the gate was closed
}

// Read waits at a closed gate until it opens or the connection is gone, which only
// who reads on can notice.
func (b *slowBody) Read(p []byte) (int, error) {
	if b.rest != nil {
		return b.rest.Read(p)
	}
	if b.gate.room.Load() > 0 {
		n, err := b.ReadCloser.Read(p[:min(len(p), 64<<10)])
		b.gate.room.Add(-int64(n))
		return n, err
	}
	rest, err := io.ReadAll(b.ReadCloser)
	if err != nil {
		return 0, err
	}
	select {
	case <-b.gate.open:
		b.rest = bytes.NewReader(rest)
		return b.rest.Read(p)
	case <-b.over:
		return 0, io.ErrUnexpectedEOF
	}
}

func (d *door) open(h http.Handler) { d.inner.Store(&h) }

// places are the addresses around Herald: its own, the networks', the mailbox's.
func (t *town) places(context.Context) (err error) {
	front, nets := &door{}, &door{}
	t.front = front
	t.web, t.nets = httptest.NewServer(front), httptest.NewServer(nets)
	t.stops = append(t.stops, t.web.Close, t.nets.Close)
	t.config.BaseURL = t.web.URL
	t.sim = sim.New(sim.Options{Base: t.nets.URL})
	nets.open(t.sim.Handler())
	for _, n := range network.All() {
		at := t.nets.URL + "/" + string(n.Name)
		t.config.Networks[n.Name] = boot.NetworkConfig{API: at, Auth: at, ClientID: "herald", ClientSecret: "app-secret"}
	}
	for _, p := range network.Aggregators() {
		t.config.Networks[network.Name(p)] = boot.NetworkConfig{API: t.nets.URL + "/" + string(p)}
	}
	t.config.PrivateTargets = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	ctx, stop := context.WithCancel(context.Background())
	t.stops = append(t.stops, stop)
	if t.box, err = mailbox.Start(ctx, "127.0.0.1:0"); err != nil {
		return err
	}
	t.config.SMTPURL = t.box.SMTPURL()
	return nil
}

// herald opens the app and starts both of its halves.
func (t *town) herald(ctx context.Context) error {
	media, err := os.MkdirTemp("", "herald-e2e")
	if err != nil {
		return err
	}
	t.stops = append(t.stops, func() { _ = os.RemoveAll(media) })
	t.config.MediaURL = "file://" + media
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	if t.app, err = boot.Open(ctx, t.config, log); err != nil {
		return err
	}
	t.stops = append(t.stops, t.app.Close)
	worker, err := t.app.Worker()
	if err != nil {
		return err
	}
	if err := worker.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	t.stops = append(t.stops, worker.Stop)
	t.front.open(t.app.Web())
	return nil
}

func (t *town) chromium(context.Context) (err error) {
	if t.browser, err = browser.Launch(); err == nil {
		t.stops = append(t.stops, t.browser.Close)
	}
	return err
}
