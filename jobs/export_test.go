package jobs

import (
	"context"

	"herald/db"
)

// Settle writes down what became of a task, as after err.
func (l *Librarian) Settle(ctx context.Context, w db.MediaWork, err error) error {
	return l.settle(ctx, w, err)
}
