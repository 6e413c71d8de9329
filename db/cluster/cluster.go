// Package cluster runs a Postgres of Herald's own: a private server on a unix
// socket, for the demo and for tests. It promises that the server ends with the
// program that started it, however that program ends, that a folder left by a
// killed run starts again, and that root and ordinary users can both start one.
// It refuses a folder that another Herald has open. It is not for production:
// anyone who reaches the socket is let in, and only the socket's folder, closed
// to other users, keeps them out. Start with Start.
package cluster

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Superuser is the role that owns the server.
const Superuser = "postgres"

// Options say where a cluster lives and how safe its data must be.
type Options struct {
	Dir     string // kept between runs; empty: a temporary folder, gone at Stop
	Durable bool   // commits survive a power cut; tests do without
}

// Cluster is a running server.
type Cluster struct {
	Version string // as the server names it, "15.18"

	home    *home
	process *Process
	once    sync.Once
}

// Start starts a server and returns once it takes connections. ctx bounds the
// start only. The error is one plain sentence when a person can mend it: no
// Postgres installed, the folder in use, the folder of another version or user.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	h, err := openHome(o.Dir)
	if err != nil {
		return nil, err
	}
	bin, err := findBinaries(h.version(), h.user)
	if err == nil {
		err = h.fill(ctx, bin, o)
	}
	if err == nil {
		err = h.clearStale(ctx)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	c := &Cluster{Version: bin.version, home: h}
	if err := c.run(ctx, bin, o); err != nil {
		h.close()
		return nil, err
	}
	return c, nil
}

// URL is the address of a database for a role. No password is asked for.
func (c *Cluster) URL(user, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database}
	u.RawQuery = url.Values{"host": {c.home.socket}, "port": {socketPort}}.Encode()
	return u.String()
}

// Stop ends the server and, if its folder was temporary, removes it. Open
// connections are cut. It may be called twice.
func (c *Cluster) Stop() {
	c.once.Do(func() {
		c.process.Stop(c.home.signal(), 20*time.Second)
		c.home.close()
	})
}

func (c *Cluster) run(ctx context.Context, bin binaries, o Options) error {
	log, err := os.Create(c.home.log())
	if err != nil {
		return fmt.Errorf("open the log of Postgres: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(bin.path("postgres"), append([]string{"-D", c.home.data, "-k", c.home.socket}, settings(o)...)...)
	cmd.Env, cmd.Dir = environment(), "/"
	cmd.Stdout, cmd.Stderr = log, log
	if c.process, err = Spawn(cmd, c.home.user, c.home.signal(), c.home.scratch); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	if err := c.ready(ctx); err != nil {
		c.process.Stop(syscall.SIGQUIT, 5*time.Second)
		return err
	}
	return nil
}

// ready waits for the line that Postgres writes into its pid file, as pg_ctl
// does.
func (c *Cluster) ready(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		p := readPidFile(c.home.data)
		if p.pid == c.process.Pid() && p.status == "ready" {
			return nil
		}
		select {
		case <-c.process.Done():
			return fmt.Errorf("Postgres stopped at its start: %s", lastLines(c.home.log()))
		case <-ctx.Done():
			return fmt.Errorf("Postgres was not ready in time: %w: %s", ctx.Err(), lastLines(c.home.log()))
		case <-tick.C:
		}
	}
}

// settings are the same for every cluster but for the cost of safety. Statement
// texts and row values stay out of the log.
func settings(o Options) []string {
	list := []string{
		"listen_addresses=", "port=" + socketPort, "unix_socket_permissions=0700", "max_connections=200",
		"max_locks_per_transaction=256", "shared_buffers=128MB", "jit=off", "timezone=UTC", "log_timezone=UTC",
		"log_min_error_statement=panic", "log_error_verbosity=terse", "logging_collector=off",
	}
	if !o.Durable {
		list = append(list, "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"wal_level=minimal", "max_wal_senders=0", "checkpoint_timeout=30min")
	}
	var args []string
	for _, s := range list {
		args = append(args, "-c", s)
	}
	return args
}

// environment leaves out PGDATA, PGPORT and the like, which would override us,
// and names a locale, without which the server on a Mac refuses to start.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
}

const socketPort = "5432" // part of the socket's file name only

// pidFile is what matters of postmaster.pid.
type pidFile struct {
	pid    int
	status string
}

func readPidFile(data string) pidFile {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return pidFile{}
	}
	lines := strings.Split(string(text), "\n")
	p := pidFile{}
	p.pid, _ = strconv.Atoi(strings.TrimSpace(lines[0]))
	if len(lines) > 7 {
		p.status = strings.TrimSpace(lines[7])
	}
	return p
}

func lastLines(log string) string {
	text, _ := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
