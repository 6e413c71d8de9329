package embedded

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
)

func TestPostgresKeepsItsDataBetweenRuns(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "herald-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	run(t, filepath.Join(dir, "pg"), "CREATE TABLE kept (n int)")
	run(t, filepath.Join(dir, "pg"), "INSERT INTO kept VALUES (1)")
}

func run(t *testing.T, dir, sql string) {
	t.Helper()
	c, err := Postgres(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	conn, err := pgx.Connect(t.Context(), c.URL("postgres", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func TestARealRedisCarriesTasksAndLeavesNothing(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is missing: run `go tool task setup`")
	}
	s, err := program(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	carries(t, s)
	s.Stop()
	s.Stop()
	if _, err := os.Stat(filepath.Dir(s.Addr)); !os.IsNotExist(err) {
		t.Errorf("its folder is still there: %v", err)
	}
}

func TestTheRedisInsideTheProcessCarriesTasksToo(t *testing.T) {
	t.Parallel()
	s, err := inProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	carries(t, s)
	s.Stop()
}

func TestAProgramThatIsNoRedisIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	if s, err := program(t.Context(), "/bin/false"); err == nil {
		s.Stop()
		t.Fatal("taken for a Redis")
	}
}

// carries sends one task through asynq and sees a unique lock refuse a second
// one and then run out.
func carries(t *testing.T, s *Server) {
	t.Helper()
	opt := asynq.RedisClientOpt{Network: s.Network, Addr: s.Addr, Password: s.Password}
	client := asynq.NewClient(opt)
	defer client.Close()
	lock := asynq.Unique(time.Second)
	if _, err := client.EnqueueContext(t.Context(), asynq.NewTask("once", nil), lock); err != nil {
		t.Fatal(err)
	}
	if _, err := client.EnqueueContext(t.Context(), asynq.NewTask("once", nil), lock); !errors.Is(err, asynq.ErrDuplicateTask) {
		t.Errorf("a second of a unique task: %v", err)
	}
	eventually(t, "the lock runs out", func() bool {
		_, err := client.EnqueueContext(t.Context(), asynq.NewTask("once", nil), lock)
		return err == nil
	})
	work(t, opt)
}

func work(t *testing.T, opt asynq.RedisClientOpt) {
	t.Helper()
	done := make(chan struct{}, 2)
	server := asynq.NewServer(opt, asynq.Config{Concurrency: 1, TaskCheckInterval: 20 * time.Millisecond, LogLevel: asynq.FatalLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { done <- struct{}{}; return nil })); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	for range 2 {
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("the tasks did not arrive")
		}
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Errorf("waited in vain: %s", what)
}
