package jobs

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"herald/db"
)

// The tasks. Publish has two queues of its own: a workspace with much due at
// once goes to bulk beyond its first few, so that others' single posts pass it.
const (
	taskPublish   = "target:publish"
	taskReconcile = "target:reconcile"
	taskFollowUp  = "target:follow_up"
	taskTick      = "dispatch:tick" // relay, then dispatch
	taskSweep     = "sweep:run"
	taskRenew     = "account:renew" // connections ahead of their end
	taskMail      = "mail:deliver"
	taskMedia     = "media:work"
	taskImport    = "import:run"
)

const (
	queuePublish = "publish"
	queueBulk    = "publish_bulk"
	queueLookUp  = "look_up"
	queueClock   = "clock"
	queueMedia   = "media" // pictures: a second each
	queueImport  = "imports"
	queueFilm    = "media_video" // videos: up to hours each, so they have workers of their own
)

// queueNames is all of them.
var queueNames = []string{queuePublish, queueBulk, queueLookUp, queueClock, queueMedia, queueFilm, queueImport}

// kind says how a task runs. asynq's own retry is for the transport only (a
// worker that died, a database that did not answer before the claim); what the
// network said never comes back this way.
type kind struct {
	queue   string
	retries int
	timeout time.Duration
}

// kinds is every task's queue, retries and timeout.
var kinds = map[string]kind{
	taskPublish:   {queuePublish, 50, 20 * time.Minute},
	taskReconcile: {queueLookUp, 50, 5 * time.Minute},
	taskFollowUp:  {queueLookUp, 50, 5 * time.Minute},
	taskTick:      {queueClock, 0, time.Minute},
	taskSweep:     {queueClock, 0, 5 * time.Minute},
	taskRenew:     {queueClock, 0, 5 * time.Minute},
	taskMail:      {queueClock, 0, 2 * time.Minute},
	taskMedia:     {queueMedia, 50, 8 * time.Hour},
	taskImport:    {queueImport, 0, 2 * time.Hour},
}

// retryDelay is how long asynq waits before it hands a task out again.
func retryDelay(n int, _ error, _ *asynq.Task) time.Duration {
	return min(time.Duration(n+1)*2*time.Second, 30*time.Second)
}

// payload is all a dispatch's task carries.
type payload struct {
	db.Key
	Due time.Time `json:"d"`
}

// taskID names a dispatch in Redis, where a second one of the same name is
// dropped. That only saves work; the claim is what keeps a post single.
func taskID(d db.Dispatch) string {
	return fmt.Sprintf("%s:%d:%d:%d:%d", d.Task, d.Tenant, d.Target, d.Version, d.Seq)
}

var taskTypes = map[string]string{"publish": taskPublish, "reconcile": taskReconcile, "follow_up": taskFollowUp}

func newTask(d db.Dispatch, queue string) (*asynq.Task, error) {
	typ, ok := taskTypes[d.Task]
	if !ok {
		return nil, fmt.Errorf("no task for dispatch %q", d.Task)
	}
	body, err := json.Marshal(payload{d.Key, d.DueAt})
	if err != nil {
		return nil, err
	}
	k := kinds[typ]
	if queue == "" {
		queue = k.queue
	}
	return asynq.NewTask(typ, body, asynq.Queue(queue), asynq.MaxRetry(k.retries), asynq.Timeout(k.timeout), asynq.TaskID(taskID(d))), nil
}

func readPayload(t *asynq.Task) (p payload, err error) {
	if err := json.Unmarshal(t.Payload(), &p); err != nil {
		return p, fmt.Errorf("%s: %w: %w", strings.TrimSpace(t.Type()), err, asynq.SkipRetry)
	}
	return p, nil
}
