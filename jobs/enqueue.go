package jobs

import (
	"context"
	"encoding/json"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/model"
)

// fastShare is how many of one workspace's targets a dispatch round puts into
// the fast queue; the rest goes to bulk.
const fastShare = 16

// Enqueuer puts dispatches into asynq, many in one round trip.
type Enqueuer struct {
	redis redis.UniversalClient
}

// NewEnqueuer makes an Enqueuer on a Redis connection.
func NewEnqueuer(r redis.UniversalClient) *Enqueuer { return &Enqueuer{redis: r} }

// Round shares the fast queue out among the workspaces of one dispatch round.
type Round struct {
	e     *Enqueuer
	given map[model.TenantID]int
}

// Round starts a dispatch round.
func (e *Enqueuer) Round() *Round { return &Round{e: e, given: map[model.TenantID]int{}} }

func (r *Round) queue(d db.Dispatch) string {
	if d.Task != "publish" {
		return ""
	}
	r.given[d.Tenant]++
	if r.given[d.Tenant] > fastShare {
		return queueBulk
	}
	return queuePublish
}

// Enqueue puts all of due into Redis in one pipeline. One that is there already
// is fine. An error means that some may be there and some not.
func (r *Round) Enqueue(ctx context.Context, due []db.Dispatch) error {
	return enqueue(ctx, r.e, due, func(d db.Dispatch) (*asynq.Task, error) { return newTask(d, r.queue(d)) })
}

// enqueue puts tasks into Redis in one pipeline, and passes over one that is there
// already by its name.
func enqueue[T any](ctx context.Context, e *Enqueuer, due []T, task func(T) (*asynq.Task, error)) error {
	pipe := e.redis.Pipeline()
	client := asynq.NewClientFromRedisClient(&pipelined{UniversalClient: e.redis, pipe: pipe, sent: map[string]bool{}})
	for _, d := range due {
		t, err := task(d)
		if err != nil {
			return err
		}
		if _, err := client.EnqueueContext(ctx, t); err != nil {
			return err
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	_, err := pipe.Exec(ctx)
	return err
}

// leasedTask is a task of what stands in Postgres with a lease: key finds it there, and
// name is the same while it is the same handing out.
func leasedTask(kind, queue, name string, key any) (*asynq.Task, error) {
	body, err := json.Marshal(key)
	k := kinds[kind]
	return asynq.NewTask(kind, body, asynq.Queue(queue), asynq.MaxRetry(k.retries), asynq.Timeout(k.timeout), asynq.TaskID(name)), err
}

// pipelined is a Redis connection on which asynq's enqueue only queues its
// script: the answers come when the pipeline is sent. asynq asks the connection
// for nothing else while it enqueues.
type pipelined struct {
	redis.UniversalClient
	pipe redis.Pipeliner
	sent map[string]bool // by queue key: whether the script's source goes before
}

// EvalSha queues the script by its name. The first time for a queue it says that
// Redis does not know the script, so that asynq sends the source: a Redis that
// restarted has forgotten it, and in a cluster each node learns it by itself.
func (p *pipelined) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	if !p.sent[keys[1]] {
		return redis.NewCmdResult(nil, redis.ErrNoScript)
	}
	p.pipe.EvalSha(ctx, sha, keys, args...)
	return queued()
}

// Eval queues the script's source.
func (p *pipelined) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	p.sent[keys[1]] = true
	p.pipe.Eval(ctx, script, keys, args...)
	return queued()
}

// queued is the answer of a script that enqueued something. Whether Redis
// dropped it as there already makes no difference to anyone.
func queued() *redis.Cmd { return redis.NewCmdResult(int64(1), nil) }
