// Package staging hands a version's files to a publisher once, however many of the
// version's targets the publisher serves and however many processes work on them.
// Aggregators want a file uploaded to them before a post can name it, and lock it
// meanwhile: five targets that upload the same file at once would refuse each other.
//
// One caller stages, the siblings wait for its handle. Inside a process they share
// the call; between processes a lease in Postgres says whose turn it is, and a
// lease that its owner does not renew is the next one's. Staging a file is not
// publishing it, so a file that was staged twice, by an owner that slept through its
// lease, harms nobody; the second handle is dropped.
//
// Start with Stager.Stage.
package staging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"herald/db"
)

// Handle is what a publisher calls a file that it was given.
type Handle struct {
	Value string     // an id or an address
	Good  *time.Time // until when; nil is as long as the version
}

// Turns are the leases. *db.Pipeline has them.
type Turns interface {
	TakeStaging(ctx context.Context, s db.Staged, owner string, until time.Time) (db.StagingTurn, string, error)
	KeepStaging(ctx context.Context, s db.Staged, owner string, until time.Time) (bool, error)
	FinishStaging(ctx context.Context, s db.Staged, owner, handle string, good *time.Time) (bool, error)
}

// The times of a lease. Every one can be shrunk by a test.
const (
	lease = time.Minute            // of an owner that does not speak up
	renew = lease / 4              // between two words of an owner
	again = 250 * time.Millisecond // between two questions of a sibling in another process
)

// Stager stages files. One serves a whole process.
type Stager struct {
	turns Turns
	now   func() time.Time
	group singleflight.Group
	lease time.Duration
	renew time.Duration
	again time.Duration
}

// New makes a process's stager.
func New(turns Turns, now func() time.Time) *Stager {
	return &Stager{turns: turns, now: now, lease: lease, renew: renew, again: again}
}

// ErrGone: there is no such version to stage a file of.
var ErrGone = errors.New("there is no such version")

// Stage returns what the publisher calls the file: what was noted, or what put
// answers, which is called by one caller at a time in all processes. A put that
// fails is that caller's error; siblings of the same process share it, and one in
// another process tries itself. put's context ends when the lease is lost. Waiting
// lasts as long as ctx.
func (s *Stager) Stage(ctx context.Context, file db.Staged, put func(context.Context) (Handle, error)) (string, error) {
	key := fmt.Sprintf("%s\x00%d\x00%d\x00%s\x00%s", file.Shard, file.Tenant, file.Version, file.Publisher, file.Path)
	for {
		got := s.group.DoChan(key, func() (any, error) { return s.turn(ctx, file, put) })
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case r := <-got:
			if r.Err != nil && r.Shared && ctx.Err() == nil && (errors.Is(r.Err, context.Canceled) || errors.Is(r.Err, context.DeadlineExceeded)) {
				continue // the one who worked was called off; nobody called us off
			}
			handle, _ := r.Val.(string)
			return handle, r.Err
		}
	}
}

// turn waits for a handle or for the turn to make one.
func (s *Stager) turn(ctx context.Context, file db.Staged, put func(context.Context) (Handle, error)) (string, error) {
	owner := uuid.NewString()
	for {
		turn, handle, err := s.turns.TakeStaging(ctx, file, owner, s.now().Add(s.lease))
		switch {
		case err != nil:
			return "", err
		case turn == db.StagingDone:
			return handle, nil
		case turn == db.StagingGone:
			return "", ErrGone
		case turn == db.StagingMine:
			handle, mine, err := s.put(ctx, file, owner, put)
			if err != nil || mine {
				return handle, err
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(s.again):
		}
	}
}

// put stages the file under the owner's lease. mine is false if the lease was lost:
// then whoever has it decides what the handle is.
func (s *Stager) put(ctx context.Context, file db.Staged, owner string, put func(context.Context) (Handle, error)) (handle string, mine bool, err error) {
	work, stop := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		s.keep(work, file, owner, stop)
	}()
	h, err := put(work)
	stop(nil)
	<-kept
	lost := errors.Is(context.Cause(work), errLost)
	if err == nil && h.Value == "" {
		err = errors.New("a publisher that staged a file has to name it")
	}
	if err != nil {
		h = Handle{}
	}
	done, noted := s.turns.FinishStaging(context.WithoutCancel(ctx), file, owner, h.Value, h.Good)
	switch {
	case lost && err != nil:
		return "", false, nil
	case err != nil:
		return "", true, err
	case noted != nil:
		return "", true, noted
	}
	return h.Value, done, nil
}

var errLost = errors.New("the lease was lost")

// keep renews the lease until work is over, and calls it off once the lease is
// another's. A database that does not answer for a moment loses nothing yet.
func (s *Stager) keep(work context.Context, file db.Staged, owner string, stop context.CancelCauseFunc) {
	tick := time.NewTicker(s.renew)
	defer tick.Stop()
	for {
		select {
		case <-work.Done():
			return
		case <-tick.C:
		}
		if kept, err := s.turns.KeepStaging(work, file, owner, s.now().Add(s.lease)); err == nil && !kept {
			stop(errLost)
			return
		}
	}
}
