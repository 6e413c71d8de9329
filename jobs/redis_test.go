package jobs_test

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/db/cluster"
)

// theRedis is the one Redis of this test binary, on a socket; it ends with the
// binary. Every test has a database of it to itself.
var theRedis = sync.OnceValues(func() (socket string, err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if path, err = exec.LookPath("valkey-server"); err != nil {
			return "", err
		}
	}
	user, err := cluster.ServiceUser("redis", "nobody")
	if err != nil {
		return "", err
	}
	dir, err := cluster.NewScratch("redis", user)
	if err != nil {
		return "", err
	}
	redisFolder = dir
	socket = filepath.Join(dir.Path, "redis.sock")
	cmd := exec.Command(path, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", dir.Path,
		"--save", "", "--appendonly", "no", "--databases", "512", "--loglevel", "warning")
	cmd.Dir = "/"
	if _, err = cluster.Spawn(cmd, user, syscall.SIGTERM, dir.Path); err != nil {
		return "", err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		// The socket is there a moment before anybody listens on it.
		if conn, err := net.Dial("unix", socket); err == nil {
			return socket, conn.Close()
		}
	}
	return "", errors.New("it does not listen")
})

var (
	redisDB     atomic.Int64
	redisFolder *cluster.Scratch // let go of, it would count as left behind
)

// redisNumber starts Redis if need be and returns a database that no test has had.
func redisNumber(t testing.TB) (socket string, number int) {
	t.Helper()
	socket, err := theRedis()
	if err != nil {
		t.Fatalf("Redis: %v; run `go tool task setup`", err)
	}
	return socket, int(redisDB.Add(1))
}

func redisClient(socket string, number int) *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: socket, DB: number, PoolSize: 24})
}
