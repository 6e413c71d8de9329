package jobs

import (
	"context"

	"herald/db"
	"herald/jobs/networks"
)

// Shift begins to work on a task: the work ends with its context, and says how far
// it is with tell.
func (l *Librarian) Shift(ctx context.Context, w db.MediaWork) (work context.Context, tell func(percent int), end func()) {
	s := l.begin(ctx, w)
	return s.ctx, s.tell, s.end
}

// Settle writes down what became of a task, as after err.
func (l *Librarian) Settle(ctx context.Context, w db.MediaWork, err error) error {
	return l.settle(ctx, w, err)
}

// NewHandles are empty handles of a run that has nothing to stop it; save makes
// changes durable.
func NewHandles(save func(change map[string]string) error) networks.Handles {
	return newHandles(nil, func(_ context.Context, change map[string]string) error { return save(change) })
}
