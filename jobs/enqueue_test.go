package jobs_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/model"
	"herald/jobs"
)

// trips counts how often a connection to Redis waits for an answer.
type trips struct{ n atomic.Int64 }

func (t *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { t.n.Add(1); return next(ctx, cmd) }
}

func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, list []redis.Cmder) error { t.n.Add(1); return next(ctx, list) }
}

// TestManyImportsAreHandedOutInFewRoundTrips: as many as one, all of them there, and a
// second time none twice.
func TestManyImportsAreHandedOutInFewRoundTrips(t *testing.T) {
	t.Parallel()
	socket, number := redisNumber(t)
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, DB: number})
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Ping(t.Context()).Err(); err != nil { // the connection's own greetings are not counted
		t.Fatal(err)
	}
	count := &trips{}
	client.AddHook(count)
	e := jobs.NewEnqueuer(client)
	var due []db.ImportKey
	for n := range 300 {
		due = append(due, db.ImportKey{Tenant: 1, ID: model.ImportID(n + 1), At: 7})
	}
	for range 2 {
		count.n.Store(0)
		if err := e.Imports(t.Context(), due); err != nil {
			t.Fatal(err)
		}
		if n := count.n.Load(); n > 8 {
			t.Errorf("%d round trips for %d imports", n, len(due))
		}
	}
	look := asynq.NewInspectorFromRedisClient(client)
	if q, err := look.GetQueueInfo("imports"); err != nil || q.Pending != len(due) {
		t.Errorf("the queue holds %+v, %v", q, err)
	}
}
