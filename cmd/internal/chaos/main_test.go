// Package chaos kills real worker processes at every step of the pipeline and at
// random, empties Redis, stops Postgres and repeats tasks, and then counts what
// the public sees. TestACrash… walks the fail-points; TestChaos is the long one:
// `go tool task chaos`, of which the ordinary tests run a short piece.
package chaos

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"herald/cmd/internal/boot"
	"herald/jobs/darkroom"
)

var (
	runs   = flag.Int("runs", 12, "how many runs TestChaos makes")
	seed   = flag.Uint64("seed", 0, "what TestChaos draws from; 0 takes the clock")
	outage = flag.Duration("outage", 0, "how long TestChaos stops Postgres, once in a while; 0 for never")
)

// TestMain is the tests, or, started by one of them, a worker process.
func TestMain(m *testing.M) {
	darkroom.Serve()
	if os.Getenv("HERALD_TEST_WORKER") != "" {
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if *outage > 0 {
		theLine.open()
	}
	// These tests wait for most of their time.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("10")
	}
	code := m.Run()
	theLine.close()
	os.Exit(code)
}

// work is what `herald work` is.
func work() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := boot.Read(os.Environ())
	if err != nil {
		return err
	}
	app, err := boot.Open(ctx, config, config.Logger())
	if err != nil {
		return err
	}
	defer app.Close()
	for err = app.Ready(ctx); err != nil && ctx.Err() == nil; err = app.Ready(ctx) {
		time.Sleep(100 * time.Millisecond) // the database may be away just now
	}
	worker, err := app.Worker()
	if err != nil {
		return err
	}
	if err := worker.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	worker.Stop()
	return nil
}
