package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"herald/cmd/internal/boot"
	"herald/cmd/internal/embedded"
	"herald/db/network"
	"herald/jobs/sim"
)

// listen takes the three ports. Until all is ready, each asks for patience.
func (d *Demo) listen(ctx context.Context, o Options) error {
	web, err := listenWeb(ctx, cmp.Or(o.Addr, d.config.Addr))
	if err != nil {
		return err
	}
	d.onStop(serve(web, &d.doors.web))
	d.URL = address(web)
	if !slices.ContainsFunc(o.Environ, func(e string) bool { return strings.HasPrefix(e, "HERALD_BASE_URL=") }) {
		d.config.BaseURL = d.URL
	}
	networks, err := listenBeside(ctx, web, 1)
	if err != nil {
		return err
	}
	d.onStop(serve(networks, &d.doors.networks))
	d.Networks = address(networks)
	mailbox, err := listenBeside(ctx, web, 2)
	if err != nil {
		return err
	}
	d.onStop(serve(mailbox, &d.doors.mailbox))
	d.Mailbox = address(mailbox)
	d.simulate()
	return nil
}

// simulate makes the simulated networks and points the configuration at them,
// but for what the environment says.
func (d *Demo) simulate() {
	fetch := &http.Client{Transport: here{d.config.BaseURL, d.URL}, Timeout: 20 * time.Second}
	d.sim = sim.New(sim.Options{Now: d.clock.Now, Base: d.Networks, Fetch: fetch})
	d.config.Networks = d.simulated()
	for name, set := range d.set.Networks {
		n := d.config.Networks[name]
		if set.API != "" { // hosts that belong together stay together
			n = boot.NetworkConfig{}
		}
		d.config.Networks[name] = boot.NetworkConfig{
			API: cmp.Or(set.API, n.API), Upload: cmp.Or(set.Upload, n.Upload), Auth: cmp.Or(set.Auth, n.Auth),
			ClientID: cmp.Or(set.ClientID, n.ClientID), ClientSecret: cmp.Or(set.ClientSecret, n.ClientSecret), Version: cmp.Or(set.Version, n.Version),
		}
	}
	d.config.PrivateTargets = append(slices.Clone(d.set.PrivateTargets), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
}

func (d *Demo) simulated() map[network.Name]boot.NetworkConfig {
	all := map[network.Name]boot.NetworkConfig{}
	for _, n := range network.All() {
		at := d.Networks + "/" + string(n.Name)
		all[n.Name] = boot.NetworkConfig{API: at, Auth: at, ClientID: "herald-demo", ClientSecret: "a-secret-of-the-demo"}
	}
	for _, p := range network.Aggregators() {
		all[network.Name(p)] = boot.NetworkConfig{API: d.Networks + "/" + string(p)}
	}
	return all
}

// database is a server with the demo's database, which is the demo's own unless
// HERALD_DATABASE_URL names one.
type database struct {
	server interface {
		URL(user, database string) string
		Stop()
	} // nil for somebody else's
	url string
}

const (
	superuser    = embedded.Superuser
	databaseName = "herald"
	complete     = "the demo's data is complete" // the comment of a database that is
)

// servers starts Postgres and Redis, side by side.
func (d *Demo) servers(ctx context.Context) (base database, err error) {
	base.url = d.config.DatabaseURL
	var g errgroup.Group
	if base.url == "" {
		g.Go(func() error {
			pg, err := embedded.Postgres(ctx, d.folder.file(databaseDir))
			if err == nil {
				base.server, base.url = pg, pg.URL(superuser, databaseName)
			}
			return err
		})
	}
	var rd *embedded.Server
	if d.config.RedisURL == "" {
		g.Go(func() (err error) {
			rd, err = embedded.Redis(ctx)
			return err
		})
	}
	err = g.Wait()
	if rd != nil {
		d.onStop(rd.Stop)
		d.config.RedisURL = redisURL(rd)
	}
	if base.server != nil {
		d.onStop(base.server.Stop)
	}
	d.config.DatabaseURL = base.url
	return base, err
}

func redisURL(s *embedded.Server) string {
	if s.Network == "unix" {
		return (&url.URL{Scheme: "redis-socket", Path: s.Addr}).String()
	}
	return (&url.URL{Scheme: "redis", User: url.UserPassword("", s.Password), Host: s.Addr}).String()
}

const sqlComment = `SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = $1`

// full says whether the database holds a whole demo. One of our own that does
// not, because a kill came while it was filled, is made anew, empty.
func (b database) full(ctx context.Context) (bool, error) {
	if b.server == nil {
		return b.says(ctx, b.url)
	}
	conn, err := pgx.Connect(ctx, b.server.URL(superuser, "postgres"))
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	said := ""
	err = conn.QueryRow(ctx, sqlComment, databaseName).Scan(&said)
	if said == complete || err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return said == complete, err
	}
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + databaseName + " WITH (FORCE)", "CREATE DATABASE " + databaseName} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (b database) says(ctx context.Context, address string) (bool, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return false, fmt.Errorf("HERALD_DATABASE_URL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	said := ""
	err = conn.QueryRow(ctx, sqlComment, conn.Config().Database).Scan(&said)
	return said == complete, err
}

// settle says in the database that it is whole. The commit of that reaches the
// disk, and so does all before it.
func (b database) settle(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, fmt.Sprintf(`COMMENT ON DATABASE %s IS '%s'`, pgx.Identifier{conn.Config().Database}.Sanitize(), strings.ReplaceAll(complete, "'", "''")))
	return err
}

// hurried is the database's address for making the data: commits need not wait
// for the disk, since what a power cut leaves half done is thrown away.
func (b database) hurried() string {
	if b.server == nil {
		return b.url
	}
	return b.url + "&options=-c%20synchronous_commit%3Doff"
}

// logger writes into the folder: the terminal keeps the addresses in sight.
func (d *Demo) logger() (*slog.Logger, error) {
	file, err := os.OpenFile(d.folder.file(logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the demo's log cannot be written: %w", err)
	}
	d.onStop(func() { _ = file.Close() })
	if d.config.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(file, nil)), nil
	}
	return slog.New(slog.NewTextHandler(file, nil)), nil
}
