package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"herald/db"
)

// Ticker moves outbox events into the dispatch index and due rows of the index
// into the queue. Any number may run, at once and early: rows are shared by
// SKIP LOCKED, and doing it twice is harmless.
type Ticker struct {
	Pipe     *db.Pipeline
	Enqueuer *Enqueuer
	Notify   func(ctx context.Context, shard string, e db.Event) error
	Settings Settings
	Log      *slog.Logger
	Now      func() time.Time
	Fail     func(point string) // fail-points of crash tests; nil in production
}

// batch is how many rows one statement of relay or dispatch takes.
const batch = 500

// Tick relays, then dispatches. A shard that is away does not hold up the others.
func (t *Ticker) Tick(ctx context.Context) error {
	var errs []error
	for _, shard := range t.Pipe.Shards() {
		if _, err := t.Relay(ctx, shard); err != nil {
			errs = append(errs, err)
		}
	}
	if _, err := t.Dispatch(ctx); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Relay moves every event of a shard that is there now, and says how many.
func (t *Ticker) Relay(ctx context.Context, shard string) (moved int, err error) {
	for {
		n, err := t.Pipe.Relay(ctx, shard, batch, func(ctx context.Context, e db.Event) error { return t.Notify(ctx, shard, e) })
		moved += n
		t.freshen(ctx, n)
		if err != nil || n < batch {
			return moved, err
		}
	}
}

// many is from how many rows on a tick asks whether plans need new statistics.
const many = 100

// freshen follows a tick that moved many rows. What it asks for is only speed, so
// that it fails is no failure of the tick.
func (t *Ticker) freshen(ctx context.Context, moved int) {
	if moved < many {
		return
	}
	for _, shard := range t.Pipe.Shards() {
		if err := t.Pipe.AnalyzeGrown(ctx, shard); err != nil {
			t.Log.WarnContext(ctx, "no new statistics", "shard", shard, "err", err)
		}
	}
}

// Dispatch enqueues what is due by the end of the look-ahead, oldest first, and
// says how many. The worker holds each task until its instant.
func (t *Ticker) Dispatch(ctx context.Context) (sent int, err error) {
	round := t.Enqueuer.Round()
	for {
		n, err := t.Pipe.TakeDue(ctx, t.Now().Add(t.Settings.Lookahead), batch, func(due []db.Dispatch) error {
			err := round.Enqueue(ctx, due)
			if t.Fail != nil {
				t.Fail("dispatch_enqueued")
			}
			return err
		})
		sent += n
		t.freshen(ctx, n)
		if err != nil || n < batch {
			return sent, err
		}
	}
}
