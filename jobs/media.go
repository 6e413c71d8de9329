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

// Media puts tasks of the media queue into Redis.
func (e *Enqueuer) Media(ctx context.Context, due []db.MediaTask) error {
	return enqueue(ctx, e, due, func(d db.MediaTask) (*asynq.Task, error) {
		queue := queueMedia
		if d.Video {
			queue = queueFilm
		}
		return leasedTask(taskMedia, queue, fmt.Sprintf("media:%s:%d:%d", d.Shard, d.Tenant, d.ID), d.MediaKey)
	})
}

// startMedia starts the workers of the media queue, if this process has them.
func (s *Server) startMedia() error {
	if s.librarian == nil {
		return nil
	}
	work := leased(s, func(ctx context.Context, key db.MediaKey) {
		if err := s.librarian.Work(ctx, key); err != nil {
			s.deps.Log.WarnContext(ctx, "media task put off", "task", key.ID, "tenant", key.Tenant, "err", err)
		}
		s.Nudge() // the workspace may have its next in the queue
	})
	pictures := s.deps.Settings.MediaWorkers
	return errors.Join(s.startQueue(queueMedia, taskMedia, pictures, work), s.startQueue(queueFilm, taskMedia, (pictures+1)/2, work))
}

// startQueue starts the workers of one queue that has a kind of task of its own.
func (s *Server) startQueue(queue, kind string, workers int, work asynq.HandlerFunc) error {
	mux := asynq.NewServeMux()
	mux.HandleFunc(kind, work)
	srv := s.server(workers, map[string]int{queue: 1})
	if err := srv.Start(mux); err != nil {
		return err
	}
	s.servers = append(s.servers, srv)
	return nil
}

// leased works on what a task's key finds in Postgres. Stop ends its context, and another
// worker begins it anew or goes on; its row says when it is due again, so asynq need not.
func leased[K any](s *Server, work func(context.Context, K)) asynq.HandlerFunc {
	return func(ctx context.Context, t *asynq.Task) error {
		var key K
		if err := json.Unmarshal(t.Payload(), &key); err != nil {
			return fmt.Errorf("%s: %w: %w", t.Type(), err, asynq.SkipRetry)
		}
		waiting, done := s.untilDrained(ctx)
		defer done()
		work(waiting, key)
		return nil
	}
}
