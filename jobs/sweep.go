package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
)

// Sweeper brings back what was lost on the way. It goes by Postgres alone, so
// that an emptied Redis or a killed worker costs time and nothing else.
type Sweeper struct {
	Pipe     *db.Pipeline
	Redis    redis.UniversalClient
	Blobs    Shelves
	Hosts    db.HostLooker // nil: names of agencies' own are left alone
	Base     string        // the address of this Herald, to which those names lead
	Settings Settings
	Log      *slog.Logger
	Now      func() time.Time
}

// Shelves is where the bytes of uploads lie.
type Shelves interface {
	Abandon(ctx context.Context, d blob.Draft) error
	Delete(ctx context.Context, key string) error
}

// kept is how long relayed events and finished dispatches stay for evidence.
const kept = 30 * 24 * time.Hour

// Sweep runs all of it once. Several sweepers at once share or repeat the work.
func (s *Sweeper) Sweep(ctx context.Context) error {
	var errs []error
	for _, shard := range s.Pipe.Shards() {
		errs = append(errs, s.claims(ctx, shard), s.owed(ctx, shard), s.Uploads(ctx, shard), s.staged(ctx, shard), s.consents(ctx, shard),
			(&Notifier{Pipe: s.Pipe}).Unscheduled(ctx, shard, s.Now()), (&Notifier{Pipe: s.Pipe}).Warn(ctx, shard, s.Now()), (&Nudger{Pipe: s.Pipe, Log: s.Log, Now: s.Now}).Nudge(ctx, shard))
	}
	errs = append(errs, s.Requeue(ctx, s.Now().Add(-s.Settings.StaleEnqueued), true), s.Requeue(ctx, s.Now().Add(-s.fresh()), false),
		s.Pipe.Forget(ctx, s.Now().Add(-kept), 10*batch), s.LookAtHosts(ctx))
	return errors.Join(errs...)
}

// Retime moves plans whose zone's rule has changed. The rules come with the
// program, so it runs when a worker starts.
func (s *Sweeper) Retime(ctx context.Context) error {
	var errs []error
	for _, shard := range s.Pipe.Shards() {
		n, err := s.Pipe.Retime(ctx, shard, model.Resolve)
		if n > 0 {
			s.Log.InfoContext(ctx, "plans moved with their zone's rule", "shard", shard, "count", n)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// fresh is how old an enqueued row must be before Redis is asked for its task:
// younger ones may not have been seen there yet.
func (s *Sweeper) fresh() time.Duration { return min(time.Minute, s.Settings.StaleEnqueued) }

// claims moves targets whose worker is gone.
func (s *Sweeper) claims(ctx context.Context, shard string) error {
	for {
		list, err := s.Pipe.SweepClaims(ctx, shard, s.Settings.StaleInFlight, s.Now().Add(s.Settings.ReconcileAfter),
			s.Now().Add(backoff(s.Settings.RetryBase, s.Settings.RetryCap, 0)), batch)
		for _, one := range list {
			s.Log.WarnContext(ctx, "claim swept", "tenant", one.Tenant, "target", one.Target, "to", one.State)
		}
		if err != nil || len(list) == 0 {
			return err
		}
	}
}

// owed puts targets back into the dispatch index that it would not bring back.
func (s *Sweeper) owed(ctx context.Context, shard string) error {
	n, err := s.Pipe.RestoreOwed(ctx, shard, s.Now().Add(-s.Settings.StaleEnqueued), 10*batch)
	if n > 0 {
		s.Log.WarnContext(ctx, "owed targets restored", "shard", shard, "count", n)
	}
	return err
}

// Uploads takes away what arrived of files that nobody goes on with: the bytes
// first, so that a sweeper that dies in between is followed by another.
func (s *Sweeper) Uploads(ctx context.Context, shard string) error {
	for {
		list, err := s.Pipe.ExpireUploads(ctx, shard, batch)
		if err != nil || len(list) == 0 {
			return err
		}
		var errs []error
		done := list[:0]
		for _, u := range list {
			if err := s.takeAway(ctx, u); err != nil {
				errs = append(errs, err)
				continue
			}
			done = append(done, u)
		}
		errs = append(errs, s.Pipe.DropUploads(ctx, shard, done))
		if err := errors.Join(errs...); err != nil {
			return err
		}
		s.Log.InfoContext(ctx, "old uploads forgotten", "shard", shard, "count", len(done))
	}
}

// staged forgets what was handed to publishers for targets that have ended.
func (s *Sweeper) staged(ctx context.Context, shard string) error {
	_, err := s.Pipe.SweepStaging(ctx, shard, s.Now().Add(-kept), 10*batch)
	return err
}

// consents deletes sign-ins that led nowhere, with the tokens that they kept.
func (s *Sweeper) consents(ctx context.Context, shard string) error {
	_, err := s.Pipe.SweepConsents(ctx, shard, 10*batch)
	return err
}

func (s *Sweeper) takeAway(ctx context.Context, u db.OldUpload) error {
	if u.Draft.Key == "" { // not a byte came
		return nil
	}
	err := s.Blobs.Abandon(ctx, u.Draft)
	if err == nil && !u.Kept {
		err = s.Blobs.Delete(ctx, u.Draft.Key)
	}
	return err
}

// Requeue gives dispatches back that were enqueued before a time: all of them,
// or only those whose task Redis no longer knows or has put away.
func (s *Sweeper) Requeue(ctx context.Context, before time.Time, all bool) error {
	list, err := s.Pipe.Enqueued(ctx, before, 20*batch)
	if err != nil || len(list) == 0 {
		return err
	}
	lost, err := s.lost(ctx, list, all)
	if err != nil {
		return err
	}
	for task, keys := range lost {
		s.Log.WarnContext(ctx, "dispatches given back", "task", task, "count", len(keys))
		if err := s.Pipe.Release(ctx, task, keys); err != nil {
			return err
		}
	}
	return nil
}

// lost sorts out, by task, the dispatches whose reminder is gone from Redis. A
// reminder that asynq archived is deleted, so that its name is free again.
func (s *Sweeper) lost(ctx context.Context, list []db.Dispatch, all bool) (map[string][]db.Key, error) {
	pipe := s.Redis.Pipeline()
	var states []*redis.StringCmd
	for _, d := range list {
		for _, queue := range queuesOf(d.Task) {
			states = append(states, pipe.HGet(ctx, "asynq:{"+queue+"}:t:"+taskID(d), "state"))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	lost := map[string][]db.Key{}
	i := 0
	for _, d := range list {
		known := false
		for _, queue := range queuesOf(d.Task) {
			state, err := states[i].Result()
			i++
			if err == nil && (state == "archived" || all && state != "active") {
				s.drop(d, queue)
			} else if err == nil {
				known = true
			}
		}
		if !known {
			lost[d.Task] = append(lost[d.Task], d.Key)
		}
	}
	return lost, nil
}

func (s *Sweeper) drop(d db.Dispatch, queue string) {
	inspector := asynq.NewInspectorFromRedisClient(s.Redis)
	if err := inspector.DeleteTask(queue, taskID(d)); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) && !errors.Is(err, asynq.ErrQueueNotFound) {
		s.Log.Warn("task not deleted", "task", taskID(d), "err", err)
	}
}

func queuesOf(task string) []string {
	if task == "publish" {
		return []string{queuePublish, queueBulk}
	}
	return []string{queueLookUp}
}

const aliveKey = "herald:alive"

// Forgot says, once, whether Redis has been emptied since the last time: then
// every enqueued row has to be looked at.
func (s *Sweeper) Forgot(ctx context.Context) (bool, error) {
	return s.Redis.SetNX(ctx, aliveKey, "1", 0).Result()
}
