package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"herald/db"
	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/staging"
)

// Deps are what a worker process works with.
type Deps struct {
	Pipe        *db.Pipeline
	Redis       redis.UniversalClient
	Networks    map[network.Name]networks.Adapter
	Aggregators map[network.Publisher]networks.Adapter
	Media       MediaSource
	Blobs       Shelves
	Mail        Mailer
	Hosts       db.HostLooker // nil: this worker leaves host names alone
	Base        string        // the address of this Herald
	Library     *Librarian    // nil: this worker leaves files alone
	Imports     *Importer     // nil: it leaves imports alone
	Settings    Settings
	Log         *slog.Logger
	Now         func() time.Time
	Fail        func(point string)
}

// Mailer sends the mails that are due on a shard.
type Mailer interface {
	Deliver(ctx context.Context, shard string) error
}

// Server is one worker process: tasks, their scheduler, and the listeners that
// wake the relay. Any number may run.
type Server struct {
	deps      Deps
	publisher *Publisher
	ticker    *Ticker
	sweeper   *Sweeper
	committer *Committer
	librarian *Librarian
	metrics   *Metrics

	servers   []*asynq.Server
	scheduler *asynq.Scheduler
	stop      context.CancelFunc
	wg        sync.WaitGroup
	nudge     chan struct{}
	held      sync.Map // db.Key of publishes that wait for their instant
	draining  chan struct{}
}

// NewServer puts a worker together. Start it with Start.
func NewServer(d Deps) *Server {
	s := &Server{deps: d, nudge: make(chan struct{}, 1), draining: make(chan struct{})}
	s.committer = NewCommitter(d.Pipe, guards(d))
	s.metrics = newMetrics(d.Pipe, d.Redis)
	s.publisher = &Publisher{Metrics: s.metrics, Pipe: d.Pipe, Committer: s.committer, Networks: d.Networks, Aggregators: d.Aggregators, Stager: staging.New(d.Pipe, d.Now), Media: d.Media,
		Quotas:   &Quotas{Redis: d.Redis, Pipe: d.Pipe, Now: d.Now, Log: d.Log, Apps: d.Settings.AppQuotas},
		Settings: d.Settings, Log: d.Log, Now: d.Now, Fail: d.Fail}
	notifier := &Notifier{Pipe: d.Pipe}
	s.ticker = &Ticker{Pipe: d.Pipe, Enqueuer: NewEnqueuer(d.Redis), Notify: notifier.Notify, Settings: d.Settings, Log: d.Log, Now: d.Now, Fail: d.Fail}
	d.Pipe.FailAt(d.Fail)
	s.sweeper = &Sweeper{Pipe: d.Pipe, Redis: d.Redis, Blobs: d.Blobs, Hosts: d.Hosts, Base: d.Base, Settings: d.Settings, Log: d.Log, Now: d.Now}
	s.librarian = d.Library
	return s
}

// Metrics are what this worker can tell about itself and what waits for it.
func (s *Server) Metrics() *Metrics { return s.metrics }

// Verbs gives tests and the bench the parts that do the work.
func (s *Server) Verbs() (*Publisher, *Ticker, *Sweeper) { return s.publisher, s.ticker, s.sweeper }

func guards(d Deps) db.Guards {
	return db.Guards{
		Straight: straight(d.Networks), GuardStale: d.Settings.GuardStale, RefreshAhead: refreshAhead, LateCutoff: d.Settings.LateCutoff,
		Grace: d.Settings.SuspensionGrace, Hold: d.Settings.RetryBase, AccountCap: d.Settings.AccountCap, AccountWindow: d.Settings.AccountWindow,
	}
}

// straight lists "network/format" where the adapter has nothing to prepare: the
// claim itself can put the attempt in flight, and a commit is saved.
func straight(all map[network.Name]networks.Adapter) []string {
	list := []string{}
	for name, a := range all {
		direct, ok := a.(networks.Straight)
		n, known := network.Get(name)
		if !ok || !known {
			continue
		}
		for _, f := range n.Formats {
			if direct.Straight(f.Format) {
				list = append(list, string(name)+"/"+string(f.Format))
			}
		}
	}
	return list
}

// holding is how many publishes may wait for their instant beside those that run.
const holding = 1024

// Start runs the worker until Stop.
func (s *Server) Start(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	publish := s.server(s.deps.Settings.Workers+holding, map[string]int{queuePublish: 1, queueBulk: 4})
	others := s.server(8, map[string]int{queueClock: 2, queueLookUp: 1})
	mux := asynq.NewServeMux()
	mux.HandleFunc(taskPublish, s.publishTask)
	if err := publish.Start(mux); err != nil {
		return err
	}
	rest := asynq.NewServeMux()
	rest.HandleFunc(taskReconcile, s.reconcileTask)
	rest.HandleFunc(taskFollowUp, s.followUpTask)
	rest.HandleFunc(taskTick, func(ctx context.Context, _ *asynq.Task) error { return s.tick(ctx) })
	rest.HandleFunc(taskSweep, func(ctx context.Context, _ *asynq.Task) error { return s.sweeper.Sweep(ctx) })
	rest.HandleFunc(taskRenew, func(ctx context.Context, _ *asynq.Task) error { return s.renew(ctx) })
	rest.HandleFunc(taskMail, func(ctx context.Context, _ *asynq.Task) error { return s.deliver(ctx) })
	if err := others.Start(rest); err != nil {
		publish.Shutdown()
		return err
	}
	s.servers = []*asynq.Server{publish, others}
	if err := errors.Join(s.startMedia(), s.startImports()); err != nil {
		return err
	}
	s.wg.Go(func() {
		if err := s.sweeper.Retime(ctx); err != nil && ctx.Err() == nil {
			s.deps.Log.WarnContext(ctx, "plans not checked against their zones", "err", err)
		}
	})
	s.listen(ctx)
	return s.schedule()
}

func (s *Server) server(concurrency int, queues map[string]int) *asynq.Server {
	return asynq.NewServerFromRedisClient(s.deps.Redis, asynq.Config{
		Concurrency: concurrency, Queues: queues, TaskCheckInterval: checkEvery, DelayedTaskCheckInterval: time.Second,
		RetryDelayFunc: retryDelay, ShutdownTimeout: s.deps.Settings.Drain, Logger: quiet{s.deps.Log}, LogLevel: asynq.WarnLevel,
		ErrorHandler: asynq.ErrorHandlerFunc(s.failed),
	})
}

const checkEvery = 50 * time.Millisecond

// schedule registers the clockwork with asynq. A tick shorter than asynq's
// second is beaten by the process itself.
func (s *Server) schedule() error {
	s.scheduler = asynq.NewScheduler(lent{s.deps.Redis}, &asynq.SchedulerOpts{Logger: quiet{s.deps.Log}, LogLevel: asynq.WarnLevel})
	sweep := max(s.deps.Settings.SweepEvery, time.Second)
	every := map[string]time.Duration{taskTick: max(s.deps.Settings.Tick, time.Second), taskSweep: sweep, taskRenew: sweep, taskMail: time.Second}
	for typ, d := range every {
		k := kinds[typ]
		task := asynq.NewTask(typ, nil, asynq.Queue(k.queue), asynq.MaxRetry(k.retries), asynq.Timeout(k.timeout))
		if _, err := s.scheduler.Register("@every "+d.String(), task); err != nil {
			return fmt.Errorf("schedule %s: %w", typ, err)
		}
	}
	return s.scheduler.Start()
}

// lent is a Redis connection that asynq may use but not close: the whole process
// uses it.
type lent struct{ redis.UniversalClient }

// MakeRedisClient gives the connection itself.
func (l lent) MakeRedisClient() any { return l }

// Close leaves it open.
func (lent) Close() error { return nil }

// listen wakes the relay as soon as a schedule is committed on any shard.
func (s *Server) listen(ctx context.Context) {
	for _, shard := range s.deps.Pipe.Shards() {
		s.wg.Go(func() {
			for ctx.Err() == nil {
				if err := s.deps.Pipe.Wake(ctx, shard, s.Nudge); err != nil && ctx.Err() == nil {
					_ = sleep(ctx, time.Second)
				}
			}
		})
	}
	s.wg.Go(func() {
		var beat <-chan time.Time
		if s.deps.Settings.Tick < time.Second {
			t := time.NewTicker(s.deps.Settings.Tick)
			defer t.Stop()
			beat = t.C
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.nudge:
			case <-beat:
			}
			if err := s.tick(ctx); err != nil && ctx.Err() == nil {
				s.deps.Log.WarnContext(ctx, "tick failed", "err", err)
			}
		}
	})
}

// Nudge asks for a tick now. Many at once are one.
func (s *Server) Nudge() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

func (s *Server) tick(ctx context.Context) error {
	forgot, err := s.sweeper.Forgot(ctx)
	if err != nil {
		return err
	}
	if forgot {
		if err := errors.Join(s.sweeper.Requeue(ctx, s.deps.Now(), false), s.sweeper.Media(ctx)); err != nil {
			return err
		}
	}
	err = s.ticker.Tick(ctx)
	if s.librarian != nil {
		_, of := s.ticker.Media(ctx)
		err = errors.Join(err, of)
	}
	if s.deps.Imports != nil {
		_, of := s.ticker.Imports(ctx)
		err = errors.Join(err, of)
	}
	return err
}

// renew renews what is due on every shard. One that is away does not hold up the others.
func (s *Server) renew(ctx context.Context) error {
	ctx, done := s.untilDrained(ctx)
	defer done()
	var errs []error
	for _, shard := range s.deps.Pipe.Shards() {
		errs = append(errs, s.publisher.Renew(ctx, shard))
	}
	return errors.Join(errs...)
}

func (s *Server) deliver(ctx context.Context) error {
	var errs []error
	for _, shard := range s.deps.Pipe.Shards() {
		errs = append(errs, s.deps.Mail.Deliver(ctx, shard))
	}
	return errors.Join(errs...)
}

// Stop drains: nothing new is taken, what waits for its instant is given back,
// and what runs is finished or left to the sweeper.
func (s *Server) Stop() {
	s.scheduler.Shutdown()
	s.stop()
	close(s.draining)
	for _, srv := range s.servers {
		srv.Stop()
	}
	var ends sync.WaitGroup
	for _, srv := range s.servers {
		ends.Go(srv.Shutdown)
	}
	ends.Wait()
	s.release()
	s.wg.Wait()
	s.committer.Close()
}

// release gives back the publishes that were waiting when Stop came.
func (s *Server) release() {
	var keys []db.Key
	s.held.Range(func(k, _ any) bool {
		keys = append(keys, k.(db.Key))
		return true
	})
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.deps.Pipe.Release(ctx, "publish", keys); err != nil {
		s.deps.Log.WarnContext(ctx, "waiting publishes not given back; the sweeper will", "err", err)
	}
}

func (s *Server) publishTask(ctx context.Context, t *asynq.Task) error {
	p, err := readPayload(t)
	if err != nil {
		return err
	}
	s.held.Store(p.Key, true)
	waiting, done := s.untilDrained(ctx)
	defer done()
	err = s.publisher.Publish(waiting, p.Key, p.Due)
	if errors.Is(err, context.Canceled) && waiting.Err() != nil {
		return nil // Stop gives it back; asynq need not keep it
	}
	s.held.Delete(p.Key)
	return err
}

// untilDrained is a task's context that ends as soon as Stop is called.
func (s *Server) untilDrained(ctx context.Context) (waiting context.Context, done func()) {
	waiting, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.draining:
			cancel()
		case <-waiting.Done():
		}
	}()
	return waiting, cancel
}

func (s *Server) reconcileTask(ctx context.Context, t *asynq.Task) error {
	p, err := readPayload(t)
	if err != nil {
		return err
	}
	if err := sleep(ctx, p.Due.Sub(s.deps.Now())); err != nil {
		return err
	}
	return s.publisher.Reconcile(ctx, p.Key)
}

func (s *Server) followUpTask(ctx context.Context, t *asynq.Task) error {
	p, err := readPayload(t)
	if err != nil {
		return err
	}
	return s.publisher.FollowUp(ctx, p.Key)
}

// failed logs a task's error, once, at the edge.
func (s *Server) failed(ctx context.Context, t *asynq.Task, err error) {
	s.deps.Log.WarnContext(ctx, "task failed", "task", t.Type(), "err", err)
}

// quiet is asynq's logger on slog. asynq logs its own transport, never payloads.
type quiet struct{ log *slog.Logger }

func (q quiet) Debug(args ...any) {}
func (q quiet) Info(args ...any)  {}
func (q quiet) Warn(args ...any)  { q.log.Warn("asynq", "msg", fmt.Sprint(args...)) }
func (q quiet) Error(args ...any) { q.log.Error("asynq", "msg", fmt.Sprint(args...)) }
func (q quiet) Fatal(args ...any) { q.log.Error("asynq", "msg", fmt.Sprint(args...)) }
