package db

import (
	"context"
	"time"

	"herald/db/model"
)

// Staged names a file of a version at a publisher: the version's targets that go
// there share it.
type Staged struct {
	Shard     string
	Tenant    model.TenantID
	Version   model.VersionID
	Publisher string // the route: direct, or an aggregator
	Path      string // the file in our store
}

// StagingTurn is what a caller that needs a file staged is to do.
type StagingTurn string

// The turns.
const (
	StagingDone StagingTurn = "staged" // nothing: its handle is here
	StagingMine StagingTurn = "mine"   // stage it, and say so before the lease ends
	StagingWait StagingTurn = "wait"   // ask again: a sibling is at it
	StagingGone StagingTurn = "gone"   // give up: there is no such version
)

// unflushed lets a statement's commit return before it is on the disk. Others see it
// at once all the same; what a crash of the database loses of a staging is made again,
// which harms nobody. So no publish waits for the disk because of a file.
const unflushed = `, set_config('synchronous_commit', 'off', true)`

// TakeStaging asks for a file's handle at a publisher, or for the turn to make one.
// The lease is the owner's until the time given.
func (p *Pipeline) TakeStaging(ctx context.Context, s Staged, owner string, until time.Time) (turn StagingTurn, handle string, err error) {
	defer wrap(&err, "take staging of version %d", s.Version)
	pool, err := p.shard(s.Shard)
	if err != nil {
		return "", "", err
	}
	err = pool.QueryRow(ctx, `SELECT verdict, handle FROM tenant.stage_media($1, $2, $3, $4, $5, $6, $7)`+unflushed,
		s.Tenant, s.Version, s.Publisher, s.Path, owner, p.now(), until).Scan(&turn, &handle)
	if noRows(err) { // two came at once, and the other was first
		return StagingWait, "", nil
	}
	return turn, handle, err
}

// KeepStaging goes on with a lease. It says no once the lease is another's.
func (p *Pipeline) KeepStaging(ctx context.Context, s Staged, owner string, until time.Time) (kept bool, err error) {
	defer wrap(&err, "keep staging of version %d", s.Version)
	pool, err := p.shard(s.Shard)
	if err != nil {
		return false, err
	}
	err = pool.QueryRow(ctx, `SELECT kept FROM tenant.keep_staging($1, $2, $3, $4, $5, $6) kept`+unflushed, s.Tenant, s.Version, s.Publisher, s.Path, owner, until).Scan(&kept)
	return kept, err
}

// FinishStaging writes down what the publisher calls the file, and until when it
// is good (nil: as long as the version). An empty handle says that staging failed,
// and gives the turn to the next one. It says no once the lease is another's: then
// theirs counts.
func (p *Pipeline) FinishStaging(ctx context.Context, s Staged, owner, handle string, good *time.Time) (done bool, err error) {
	defer wrap(&err, "finish staging of version %d", s.Version)
	pool, err := p.shard(s.Shard)
	if err != nil {
		return false, err
	}
	err = pool.QueryRow(ctx, `SELECT done FROM tenant.finish_staging($1, $2, $3, $4, $5, $6, $7, $8) done`+unflushed, s.Tenant, s.Version, s.Publisher, s.Path, owner, handle, good, p.now()).Scan(&done)
	return done, err
}

// SweepStaging forgets what was staged before a time, at most limit of it.
func (p *Pipeline) SweepStaging(ctx context.Context, shard string, before time.Time, limit int) (n int, err error) {
	defer wrap(&err, "sweep staging of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	err = pool.QueryRow(ctx, `SELECT tenant.sweep_staging($1, $2)`, before, limit).Scan(&n)
	return n, err
}
