package embedded

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"

	"herald/db/cluster"
)

// Server is a running Redis. Its fields are those of asynq.RedisClientOpt and
// redis.Options.
type Server struct {
	Network  string // "unix" or "tcp"
	Addr     string
	Password string // empty on a unix socket
	Program  string // "redis-server", "valkey-server" or "miniredis"

	stop func()
}

// Stop ends the server. What it held is gone, as Redis may always be emptied. It
// may be called twice.
func (s *Server) Stop() { s.stop() }

// Redis starts an empty server: redis-server or valkey-server where installed,
// else one inside this process. ctx bounds the start.
func Redis(ctx context.Context) (*Server, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return program(ctx, path)
		}
	}
	return inProcess()
}

// program runs a real Redis on a socket that other users cannot reach.
func program(ctx context.Context, path string) (*Server, error) {
	user, err := cluster.ServiceUser("redis", "nobody")
	if err != nil {
		return nil, err
	}
	dir, err := cluster.NewScratch("redis", user)
	if err != nil {
		return nil, err
	}
	s := &Server{Network: "unix", Addr: filepath.Join(dir.Path, "redis.sock"), Program: filepath.Base(path)}
	if s.stop, err = s.run(ctx, path, user, dir); err != nil {
		dir.Remove()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return s, nil
}

func (s *Server) run(ctx context.Context, path string, user *cluster.User, dir *cluster.Scratch) (stop func(), err error) {
	log, err := os.Create(filepath.Join(dir.Path, "redis.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(path, "--port", "0", "--unixsocket", s.Addr, "--unixsocketperm", "700", "--dir", dir.Path,
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--daemonize", "no", "--loglevel", "warning")
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	p, err := cluster.Spawn(cmd, user, syscall.SIGTERM, dir.Path)
	if err != nil {
		return nil, err
	}
	if err := s.ready(ctx, p); err != nil {
		p.Stop(syscall.SIGKILL, 0)
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return func() { p.Stop(syscall.SIGTERM, 5*time.Second); dir.Remove() }, nil
}

func (s *Server) ready(ctx context.Context, p *cluster.Process) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !s.answers(ctx) {
		select {
		case <-p.Done():
			return fmt.Errorf("it stopped at its start")
		case <-ctx.Done():
			return fmt.Errorf("it was not ready in time: %w", ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}

func (s *Server) answers(ctx context.Context) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, s.Network, s.Addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "+PONG")
}

// inProcess is miniredis. Its clock for expiring keys is moved by hand, or locks
// would never run out; its port is open to the whole machine, hence a password.
func inProcess() (*Server, error) {
	mini := miniredis.NewMiniRedis()
	password := rand.Text()
	mini.RequireAuth(password)
	if err := mini.Start(); err != nil {
		return nil, fmt.Errorf("start miniredis: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go moveClock(ctx, mini)
	stop := func() { cancel(); mini.Close() }
	return &Server{Network: "tcp", Addr: mini.Addr(), Password: password, Program: "miniredis", stop: stop}, nil
}

func moveClock(ctx context.Context, mini *miniredis.Miniredis) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := time.Now()
			mini.FastForward(now.Sub(last))
			last = now
		}
	}
}
