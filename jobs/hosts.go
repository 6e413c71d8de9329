package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"herald/db"
)

// hostsAtOnce is how many names one sweep looks at, all of them at the same time: each
// may let it wait.
const hostsAtOnce = 16

// LookAtHosts looks at the names whose turn it is, and writes the log lines that somebody
// owed who is gone.
func (s *Sweeper) LookAtHosts(ctx context.Context) error {
	errs := []error{s.Pipe.LogHostDeeds(ctx, s.Now().Add(-time.Minute))}
	if s.Hosts == nil {
		return errors.Join(errs...)
	}
	due, err := s.Pipe.TakeHosts(ctx, hostsAtOnce)
	errs = append(errs, err)
	looked := make([]error, len(due))
	var wg sync.WaitGroup
	for i, h := range due {
		wg.Go(func() {
			_, looked[i] = h.Look(ctx, s.Hosts, s.Base, func(f db.HostFinding) error { return s.Pipe.HostFound(ctx, h, f) })
		})
	}
	wg.Wait()
	return errors.Join(append(errs, looked...)...)
}
