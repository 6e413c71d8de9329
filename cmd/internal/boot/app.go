package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"

	"herald/cmd/internal/live"
	"herald/db"
	"herald/db/blob"
	"herald/db/picture"
	"herald/handlers"
	"herald/handlers/desk"
	"herald/handlers/web"
	"herald/jobs"
	"herald/jobs/darkroom"
	"herald/jobs/mail"
)

// Version is set at link time.
var Version = "dev"

// App is one Herald: what serve, work, demo, the browser tests and the bench are
// made of. Open connects, Web and Worker are the two halves, Close lets go.
type App struct {
	Config Config
	Log    *slog.Logger
	Now    func() time.Time
	Store  *db.Store
	Pipe   *db.Pipeline
	Redis  redis.UniversalClient
	Blobs  blob.Store
	Live   *live.Hub
}

// Open checks the configuration and connects to everything.
func Open(ctx context.Context, c Config, log *slog.Logger) (_ *App, err error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	a := &App{Config: c, Log: log, Now: time.Now}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if a.Redis, err = openRedis(c.RedisURL); err != nil {
		return nil, err
	}
	if a.Blobs, err = blob.OpenURL(c.MediaURL, c.MediaKeys); err != nil {
		return nil, noMedia(c.MediaURL, err)
	}
	a.Live = live.New(a.Redis, log)
	databases := c.Database(a.Now)
	databases.Changed = a.Live.Changed
	if a.Store, err = db.Open(ctx, databases); err != nil {
		return nil, err
	}
	a.Pipe, err = db.OpenPipeline(ctx, databases)
	return a, err
}

// complete says what is missing, all of it at once.
func (c Config) complete() error {
	var errs []error
	need := func(value, name, why string) {
		if value == "" {
			errs = append(errs, fmt.Errorf("%s%s is not set: %s", prefix, name, why))
		}
	}
	need(c.DatabaseURL, "DATABASE_URL", needDatabase)
	need(c.RedisURL, "REDIS_URL", "give the address of Redis")
	need(c.MediaURL, "MEDIA_URL", "say where pictures and videos are kept, as file:///var/lib/herald/media or s3://bucket?endpoint=https://s3.example.com&region=eu-central-1")
	return errors.Join(append(errs, c.needRing())...)
}

const needDatabase = "give the address of Postgres, or run herald demo, which brings its own"

func (c Config) needRing() error {
	if c.Ring == nil {
		return fmt.Errorf("%sKEYS is not set: make a key with openssl rand -base64 32", prefix)
	}
	return nil
}

// Databases says what is missing for work on the databases alone.
func (c Config) Databases() error {
	if c.DatabaseURL == "" {
		return errors.Join(fmt.Errorf("%sDATABASE_URL is not set: %s", prefix, needDatabase), c.needRing())
	}
	return c.needRing()
}

func openRedis(address string) (redis.UniversalClient, error) {
	no := say("%sREDIS_URL is no address of a Redis, as redis://:password@host:6379/0 is. Correct it.", prefix)
	if rest, ok := strings.CutPrefix(address, "redis-cluster://"); ok {
		o, err := redis.ParseClusterURL("redis://" + rest)
		if err != nil {
			return nil, no
		}
		return redis.NewClusterClient(o), nil
	}
	o, err := asynq.ParseRedisURI(address)
	if err != nil {
		return nil, no // the cause may hold the password
	}
	client, ok := o.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, fmt.Errorf("%sREDIS_URL: this kind of Redis is not supported", prefix)
	}
	return client, nil
}

// Close lets go of everything. It may be called after a failed Open.
func (a *App) Close() {
	if a.Store != nil {
		a.Store.Close()
	}
	if a.Pipe != nil {
		a.Pipe.Close()
	}
	if a.Live != nil {
		a.Live.Close()
	}
	if a.Redis != nil {
		_ = a.Redis.Close()
	}
}

// Migrate brings every database up to date.
func (c Config) Migrate(ctx context.Context) (int, error) {
	shards := map[string]db.Address{}
	for name, url := range c.ShardURLs {
		shards[name] = db.Address{URL: url, Ring: c.Ring}
	}
	return db.Migrate(ctx, db.Address{URL: c.DatabaseURL, Ring: c.Ring}, shards)
}

// Reseal seals what older keys sealed under the newest.
func (c Config) Reseal(ctx context.Context) (db.Sealed, error) {
	pipe, err := db.OpenPipeline(ctx, c.Database(time.Now))
	if err != nil {
		return db.Sealed{}, err
	}
	defer pipe.Close()
	return pipe.Reseal(ctx)
}

// Web is the web half.
func (a *App) Web() http.Handler {
	return handlers.New(handlers.Deps{
		Store: a.Store, Ring: a.Config.Ring, Blobs: a.Blobs, Log: a.Log, Now: a.Now, BaseURL: a.Config.BaseURL,
		URLLife: a.Config.SignedURLTTL, UploadBytes: a.Config.UploadBytes, Cost: a.Config.Cost, Proxies: a.Config.TrustedProxies,
		Ready: a.Ready, CheckAddress: a.Config.CheckAddress, Fetch: a.Config.Fetcher(a.Now), CheckToken: tokenChecker(a.Config.Adapters(a.Now), a.Config.Aggregators(a.Now)), Networks: a.Config.SignIns(a.Now), Versions: a.Config.Versions(), Reviews: a.Config.Reviews(), Hosts: a.Config.HostLooker(a.Now), Changes: a.Live, Presence: a.Live,
	})
}

// Ready says what keeps this Herald from working, if anything does.
func (a *App) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := a.Store.Ping(ctx); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if err := a.PingRedis(ctx); err != nil {
		return err
	}
	return Migrated(ctx, a.Store)
}

// Migrated refuses databases that lack migrations.
func Migrated(ctx context.Context, s *db.Store) error {
	behind, err := s.Behind(ctx)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if behind > 0 {
		return sayBehind(behind)
	}
	return nil
}

// OpenBlob opens a stored file for reading.
func (a *App) OpenBlob(ctx context.Context, path string) (io.ReadCloser, error) {
	return a.Blobs.Open(ctx, path)
}

// Worker is the working half.
func (a *App) Worker() (*jobs.Server, error) {
	deliverer, err := mail.New(mail.Options{SMTPURL: a.Config.SMTPURL, From: a.Config.MailFrom, BaseURL: a.Config.BaseURL, Pipe: a.Pipe, Open: a.OpenBlob, Log: a.Log, Now: a.Now})
	if err != nil {
		return nil, err
	}
	library, err := a.library()
	if err != nil {
		return nil, err
	}
	return jobs.NewServer(jobs.Deps{
		Library: library, Imports: &jobs.Importer{Store: a.Store, Fetch: a.fetchFile()}, Hosts: a.Config.HostLooker(a.Now), Base: a.Config.BaseURL,
		Pipe: a.Pipe, Redis: a.Redis, Networks: a.Config.Adapters(a.Now), Aggregators: a.Config.Aggregators(a.Now), Mail: deliverer, Blobs: a.Blobs, Settings: a.Config.Pipeline, Log: a.Log, Now: a.Now,
		Media: media{blobs: a.Blobs, ring: a.Config.Ring, baseURL: a.Config.BaseURL, now: a.Now}, Fail: failPoint(),
	}), nil
}

// fetchFile copies files for imports, by the rules of the library's own form.
func (a *App) fetchFile() db.FetchFile {
	d := &desk.Desk{Edge: &web.Edge{Store: a.Store, Log: a.Log, Now: a.Now}, Blobs: a.Blobs, Limits: desk.Limits{UploadBytes: a.Config.UploadBytes}, CheckAddress: a.Config.CheckAddress, Fetch: a.Config.Fetcher(a.Now)}
	return d.FetchFile
}

// library is who scans and develops uploads.
func (a *App) library() (*jobs.Librarian, error) {
	room, err := darkroom.New(picture.Standard())
	if err != nil {
		return nil, err
	}
	return &jobs.Librarian{Pipe: a.Pipe, Blobs: a.Blobs, Scanner: a.Config.MediaScanner(), Room: room, Log: a.Log, Now: a.Now}, nil
}

// Listen serves h at addr until the returned stop; at is where it listens.
func (a *App) Listen(ctx context.Context, name, addr string, h http.Handler) (stop func(), at string, err error) {
	end, at, err := listen(ctx, name, addr, prefix+"ADDR", h)
	if err != nil {
		return nil, "", err
	}
	return func() { a.Live.Hush(); end() }, at, nil
}

// Metrics serves /metrics if an address is set for it: of the process itself, and
// what own tells.
func (a *App) Metrics(ctx context.Context, own ...prometheus.Collector) (stop func(), err error) {
	if a.Config.MetricsAddr == "" {
		return func() {}, nil
	}
	registry := prometheus.NewRegistry()
	for _, c := range append(own, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})) {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	// What cannot be asked just now does not keep the rest back.
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, Registry: registry}))
	stop, _, err = listen(ctx, "/metrics", a.Config.MetricsAddr, prefix+"METRICS_ADDR", mux)
	return stop, err
}

func listenTCP(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", addr)
}

// Host is an address as a person types it into a browser.
func Host(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Host
}
