package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"herald/cmd/internal/embedded"
	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs/darkroom"
	"herald/jobs/sim"
)

// TestMain is the tests, or, started by one of them, Herald itself or a child of it
// that opens files.
func TestMain(m *testing.M) {
	darkroom.Serve()
	if os.Getenv("HERALD_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// worker is a real `herald work` process, with the databases it works on and a
// webhook's receiver.
type worker struct {
	*dbtest.World
	agency  *dbtest.Agency
	account model.AccountID
	sim     *sim.Sim
	redis   *redis.Client
	cmd     *exec.Cmd
	said    heard
}

// heard is what a process said so far.
type heard struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps it.
func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

// String is all of it.
func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

func newWorker(t *testing.T, environ ...string) *worker {
	t.Helper()
	w := &worker{World: dbtest.New(t), sim: sim.New(sim.Options{})}
	w.Clock.Set(time.Now())
	queue, err := embedded.Redis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(queue.Stop)
	w.redis = redis.NewClient(&redis.Options{Network: queue.Network, Addr: queue.Addr})
	t.Cleanup(func() { w.redis.Close() })
	nets := httptest.NewServer(w.sim.Handler())
	t.Cleanup(func() { w.sim.ClearFaults(); nets.Close() })
	w.agency = w.Agency(t, "north", dbtest.SecondShard)
	w.account = w.agency.Account(t, w.agency.Client(t, "bakery"), network.Webhook)
	w.Super(t, dbtest.SecondShard, `UPDATE tenant.accounts SET token = $1, address = $2`,
		w.Ring.Seal("a secret that is long enough", db.TokenAAD(w.agency.ID, w.account, "token")), nets.URL+"/webhook/bakery")
	w.sim.AddAccount(network.Webhook, sim.Account{ID: "bakery", Token: "a secret that is long enough"})
	w.cmd = exec.CommandContext(t.Context(), os.Args[0], "work")
	w.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "HERALD_") }),
		append(environ, "HERALD_TEST_MAIN=1", "HERALD_DATABASE_URL="+w.ControlURL, "HERALD_SHARD_SECOND_URL="+w.ShardURL[dbtest.SecondShard],
			"HERALD_REDIS_URL=redis-socket://"+queue.Addr, "HERALD_KEYS=a passphrase for tests that is long enough to be one", "HERALD_MEDIA_URL=file://"+t.TempDir(),
			"HERALD_ALLOW_PRIVATE_TARGETS=127.0.0.0/8", "HERALD_WEBHOOK_API_URL="+nets.URL+"/webhook")...)
	w.cmd.Stdout, w.cmd.Stderr = &w.said, &w.said
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

// await waits until ok.
func (w *worker) await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s\n%s", what, w.said.String())
		}
	}
}

// target reads a target as it stands.
func (w *worker) target(t *testing.T, page db.PostPage) db.Target {
	t.Helper()
	target, err := w.agency.Owner.Target(t.Context(), page.Targets[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// terminated sends SIGTERM while a call is running, and says where its post and
// one that is due a moment later then stand.
func (w *worker) terminated(t *testing.T) (running, later db.Target) {
	t.Helper()
	first := w.agency.Due(t, "Fresh bread", 0, w.account)
	next := w.agency.Due(t, "Fresh rolls", time.Minute, w.account)
	w.await(t, "the call is running", func() bool { return len(w.sim.Posts(network.Webhook, "")) == 1 })
	w.await(t, "the next one is held", func() bool {
		return w.redis.LLen(t.Context(), "asynq:{publish}:pending").Val() == 0 && dbtest.Look[bool](t, w.World, db.MainShard, `SELECT EXISTS (SELECT FROM control.publish_dispatch_index WHERE target_id = $1 AND status = 'enqueued')`, next.Targets[0].ID)
	})
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	asked, ended := time.Now(), make(chan error, 1)
	go func() { ended <- w.cmd.Wait() }()
	select {
	case err := <-ended:
		t.Logf("it ended %v after SIGTERM", time.Since(asked).Round(time.Millisecond))
		if err != nil {
			t.Errorf("it ended with %v\n%s", err, w.said.String())
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("it is still there 30 s after SIGTERM\n%s", w.said.String())
	}
	if said := w.said.String(); strings.Contains(said, "ERROR") {
		t.Errorf("it complained:\n%s", said)
	}
	return w.target(t, first), w.target(t, next)
}

// givenBack says whether the dispatch of a target waits for the next worker.
func (w *worker) givenBack(t *testing.T, target db.Target) bool {
	t.Helper()
	return dbtest.Look[string](t, w.World, db.MainShard, `SELECT status FROM control.publish_dispatch_index WHERE target_id = $1 AND task = 'publish'`, target.ID) == "pending"
}

func TestSIGTERMLetsTheRunningCallEndAndGivesTheRestBack(t *testing.T) {
	t.Parallel()
	w := newWorker(t, "HERALD_TICK=100ms", "HERALD_LOOKAHEAD=2m")
	if err := w.sim.Fault(sim.Fault{Network: network.Webhook, Kind: sim.Stall, Delay: 3 * time.Second, Times: 1}); err != nil {
		t.Fatal(err)
	}
	running, later := w.terminated(t)
	if running.State != model.Published {
		t.Errorf("the post whose call was running is %s (%s)", running.State, running.Reason)
	}
	if later.State != model.Scheduled || !w.givenBack(t, later) || len(w.sim.Posts(network.Webhook, "")) != 1 {
		t.Errorf("the next post is %s, given back: %v, and %d are public", later.State, w.givenBack(t, later), len(w.sim.Posts(network.Webhook, "")))
	}
}

func TestSIGTERMDuringACallWithoutAnswerLeavesAnHonestState(t *testing.T) {
	t.Parallel()
	w := newWorker(t, "HERALD_TICK=100ms", "HERALD_LOOKAHEAD=2m", "HERALD_PROVIDER_TIMEOUT=2s")
	if err := w.sim.Fault(sim.Fault{Network: network.Webhook, Kind: sim.Stall, Delay: time.Minute, Times: 1}); err != nil {
		t.Fatal(err)
	}
	running, later := w.terminated(t)
	if running.State != model.UnknownOutcome || running.NextAt == nil {
		t.Errorf("the post whose call got no answer is %s (%s)", running.State, running.Reason)
	}
	if n := dbtest.Look[int](t, w.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.outbox WHERE kind = 'target.reconcile' AND target_id = $1`, running.ID); n != 1 {
		t.Errorf("%d events ask the network later", n)
	}
	if later.State != model.Scheduled || !w.givenBack(t, later) {
		t.Errorf("the next post is %s, given back: %v", later.State, w.givenBack(t, later))
	}
}
