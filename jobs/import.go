package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"

	"herald/db"
	"herald/db/model"
)

// Importer makes posts of the tables that people bring along, each in the name of
// the person who started it.
type Importer struct {
	Store *db.Store
	Fetch db.FetchFile
}

// Run works on one import. It may break off anywhere: the lease runs out, and whoever
// takes it then goes on behind the rows that are done.
func (i *Importer) Run(ctx context.Context, key db.ImportKey) error {
	scope, err := i.Store.Enter(ctx, key.User, key.Slug)
	if _, no := model.Refused(err); no {
		return nil // they left meanwhile; it is given up after some tries
	}
	if err != nil {
		return err
	}
	return scope.RunImport(ctx, key.ID, i.Fetch)
}

// Imports hands out the imports that are due.
func (t *Ticker) Imports(ctx context.Context) (sent int, err error) {
	var errs []error
	for _, shard := range t.Pipe.Shards() {
		n, err := t.Pipe.TakeImports(ctx, shard, batch, func(due []db.ImportKey) error { return t.Enqueuer.Imports(ctx, due) })
		sent += n
		errs = append(errs, err)
	}
	return sent, errors.Join(errs...)
}

// Imports puts imports into their queue.
func (e *Enqueuer) Imports(ctx context.Context, due []db.ImportKey) error {
	client := asynq.NewClientFromRedisClient(e.redis)
	for _, d := range due {
		body, err := json.Marshal(d)
		if err != nil {
			return err
		}
		k := kinds[taskImport]
		name := fmt.Sprintf("import:%d:%d:%d", d.Tenant, d.ID, d.At)
		if _, err := client.EnqueueContext(ctx, asynq.NewTask(taskImport, body, asynq.Queue(k.queue), asynq.MaxRetry(k.retries), asynq.Timeout(k.timeout), asynq.TaskID(name))); err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
	}
	return nil
}

// importWorkers is how many imports run at once in a process.
const importWorkers = 2

// startImports starts the workers of the queue of imports, if this process has them.
func (s *Server) startImports() error {
	if s.deps.Imports == nil {
		return nil
	}
	mux := asynq.NewServeMux()
	mux.HandleFunc(taskImport, s.importTask)
	srv := s.server(importWorkers, map[string]int{queueImport: 1})
	if err := srv.Start(mux); err != nil {
		return err
	}
	s.servers = append(s.servers, srv)
	return nil
}

func (s *Server) importTask(ctx context.Context, t *asynq.Task) error {
	var key db.ImportKey
	if err := json.Unmarshal(t.Payload(), &key); err != nil {
		return fmt.Errorf("%s: %w: %w", t.Type(), err, asynq.SkipRetry)
	}
	waiting, done := s.untilDrained(ctx) // Stop breaks it off; another worker goes on
	defer done()
	if err := s.deps.Imports.Run(waiting, key); err != nil {
		s.deps.Log.WarnContext(ctx, "import broke off", "import", key.ID, "tenant", key.Tenant, "err", err)
	}
	return nil // the import's row says when it is due again; asynq need not
}
