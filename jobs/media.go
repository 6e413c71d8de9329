package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"

	"herald/db"
)

// Media hands out what is owed to files: due tasks, leased, into the queue. It says
// how many. Redis may forget them: the lease runs out, and they are due again.
func (t *Ticker) Media(ctx context.Context) (sent int, err error) {
	var errs []error
	for _, shard := range t.Pipe.Shards() {
		for n := batch; n == batch; {
			n, err = t.Pipe.TakeMedia(ctx, shard, queueLease, batch, func(due []db.MediaTask) error { return t.Enqueuer.Media(ctx, due) })
			sent += n
			errs = append(errs, err)
		}
	}
	return sent, errors.Join(errs...)
}

// queueLease is how long a task may wait in the queue before it is handed out
// again. One that is still there then is dropped by its name.
const queueLease = 5 * mediaLease

// Media makes due again what an emptied Redis had in its queue.
func (s *Sweeper) Media(ctx context.Context) error {
	var errs []error
	for _, shard := range s.Pipe.Shards() {
		_, err := s.Pipe.ReleaseMedia(ctx, shard)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Media puts tasks of the media queue into Redis in one pipeline.
func (e *Enqueuer) Media(ctx context.Context, due []db.MediaTask) error {
	pipe := e.redis.Pipeline()
	client := asynq.NewClientFromRedisClient(&pipelined{UniversalClient: e.redis, pipe: pipe, sent: map[string]bool{}})
	for _, d := range due {
		body, err := json.Marshal(d.MediaKey)
		if err != nil {
			return err
		}
		k, queue := kinds[taskMedia], queueMedia
		if d.Video {
			queue = queueFilm
		}
		name := fmt.Sprintf("media:%s:%d:%d", d.Shard, d.Tenant, d.ID)
		if _, err := client.EnqueueContext(ctx, asynq.NewTask(taskMedia, body, asynq.Queue(queue), asynq.MaxRetry(k.retries), asynq.Timeout(k.timeout), asynq.TaskID(name))); err != nil {
			return err
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	_, err := pipe.Exec(ctx)
	return err
}

// startMedia starts the workers of the media queue, if this process has them.
func (s *Server) startMedia() error {
	if s.librarian == nil {
		return nil
	}
	for queue, workers := range map[string]int{queueMedia: s.deps.Settings.MediaWorkers, queueFilm: (s.deps.Settings.MediaWorkers + 1) / 2} {
		mux := asynq.NewServeMux()
		mux.HandleFunc(taskMedia, s.mediaTask)
		srv := s.server(workers, map[string]int{queue: 1})
		if err := srv.Start(mux); err != nil {
			return err
		}
		s.servers = append(s.servers, srv)
	}
	return nil
}

func (s *Server) mediaTask(ctx context.Context, t *asynq.Task) error {
	var key db.MediaKey
	if err := json.Unmarshal(t.Payload(), &key); err != nil {
		return fmt.Errorf("%s: %w: %w", t.Type(), err, asynq.SkipRetry)
	}
	waiting, done := s.untilDrained(ctx) // Stop gives the file back; another worker begins it anew
	defer done()
	if err := s.librarian.Work(waiting, key); err != nil {
		s.deps.Log.WarnContext(ctx, "media task put off", "task", key.ID, "tenant", key.Tenant, "err", err)
	}
	s.Nudge()  // the workspace may have its next in the queue
	return nil // the task's row says when it is due again; asynq need not
}
