package jobs

import (
	"context"
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
	return enqueue(ctx, e, due, func(d db.ImportKey) (*asynq.Task, error) {
		return leasedTask(taskImport, queueImport, fmt.Sprintf("import:%d:%d:%d", d.Tenant, d.ID, d.At), d)
	})
}

// importWorkers is how many imports run at once in a process.
const importWorkers = 2

// startImports starts the workers of the queue of imports, if this process has them.
func (s *Server) startImports() error {
	if s.deps.Imports == nil {
		return nil
	}
	return s.startQueue(queueImport, taskImport, importWorkers, leased(s, func(ctx context.Context, key db.ImportKey) {
		if err := s.deps.Imports.Run(ctx, key); err != nil {
			s.deps.Log.WarnContext(ctx, "import broke off", "import", key.ID, "tenant", key.Tenant, "err", err)
		}
	}))
}
