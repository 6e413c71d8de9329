package jobs

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"herald/db"
	"herald/db/model"
)

// Committer writes what many workers want at one moment in one transaction.
// Workers hand in claims, steps and results and wait; whatever is queued goes
// out together, without lingering, on a few connections per shard. A worker goes
// on only when its own row is durable. A group that fails is written row by row,
// so that a bad row hurts only itself.
type Committer struct {
	pipe   *db.Pipeline
	guards db.Guards
	lanes  map[string]*lane
	wg     sync.WaitGroup
}

// lane is the queue of one shard.
type lane struct {
	shard string
	mu    sync.Mutex
	queue []*ask
	wake  chan struct{}
}

// ask is one worker's wish; exactly one of its parts is set.
type ask struct {
	claim  *db.Claim
	save   *db.Step
	begin  *db.Step
	result *db.Result
	done   *db.Key

	work  db.Work
	held  bool
	err   error
	ready chan struct{}
}

const (
	writers      = 2 // over all shards, at least one each: more of them make smaller groups
	groupSize    = 256
	writeTimeout = 20 * time.Second
)

// NewCommitter starts the writers of every shard; Close ends them.
func NewCommitter(pipe *db.Pipeline, guards db.Guards) *Committer {
	c := &Committer{pipe: pipe, guards: guards, lanes: map[string]*lane{}}
	for _, shard := range pipe.Shards() {
		l := &lane{shard: shard, wake: make(chan struct{}, writers)}
		c.lanes[shard] = l
		for range max(1, writers/len(pipe.Shards())) {
			c.wg.Go(func() { c.run(l) })
		}
	}
	return c
}

// Close ends the writers once what is queued is written. Nothing may be handed
// in afterwards.
func (c *Committer) Close() {
	for _, l := range c.lanes {
		close(l.wake)
	}
	c.wg.Wait()
}

// Claim asks to publish a target. The Work says how it was judged.
func (c *Committer) Claim(ctx context.Context, key db.Key) (db.Work, uuid.UUID, error) {
	owner := uuid.New()
	a := &ask{claim: &db.Claim{Key: key, Owner: owner}}
	err := c.wait(ctx, key.Shard, a)
	return a.work, owner, err
}

// Save keeps handles. It fails with db.ErrLostClaim if another holds the claim.
func (c *Committer) Save(ctx context.Context, s db.Step) error {
	return c.held(ctx, s.Shard, &ask{save: &s})
}

// Begin moves an attempt to in flight; after that the commit call may be made.
func (c *Committer) Begin(ctx context.Context, s db.Step) error {
	return c.held(ctx, s.Shard, &ask{begin: &s})
}

// Finish writes a result.
func (c *Committer) Finish(ctx context.Context, r db.Result) error {
	return c.held(ctx, r.Shard, &ask{result: &r})
}

// Done marks a publish dispatch as worked off.
func (c *Committer) Done(ctx context.Context, key db.Key) error {
	return c.wait(ctx, key.Shard, &ask{done: &key})
}

func (c *Committer) held(ctx context.Context, shard string, a *ask) error {
	if err := c.wait(ctx, shard, a); err != nil {
		return err
	}
	if !a.held {
		return db.ErrLostClaim
	}
	return nil
}

// wait hands in an ask and waits until it is durable. If ctx ends first the ask
// may still be written: the caller must treat it as a lost claim.
func (c *Committer) wait(ctx context.Context, shard string, a *ask) error {
	l, ok := c.lanes[shard]
	if !ok {
		return model.Refuse(model.NotFound, "There is no shard "+shard+".")
	}
	a.ready = make(chan struct{})
	l.put(a)
	select {
	case <-a.ready:
		return a.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lane) put(a *ask) {
	l.mu.Lock()
	l.queue = append(l.queue, a)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take returns what is queued, at most one group of it and no target twice: one
// statement may not touch a row two times.
func (l *lane) take() []*ask {
	l.mu.Lock()
	defer l.mu.Unlock()
	var group, left []*ask
	seen := map[[2]int64]bool{}
	for _, a := range l.queue {
		if len(group) == groupSize || seen[a.target()] {
			left = append(left, a)
			continue
		}
		seen[a.target()] = true
		group = append(group, a)
	}
	l.queue = left
	if len(left) > 0 {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	return group
}

func (a *ask) target() [2]int64 {
	k := a.key()
	return [2]int64{int64(k.Tenant), int64(k.Target)}
}

func (a *ask) key() db.Key {
	switch {
	case a.claim != nil:
		return a.claim.Key
	case a.save != nil:
		return a.save.Key
	case a.begin != nil:
		return a.begin.Key
	case a.result != nil:
		return a.result.Key
	}
	return *a.done
}

func (c *Committer) run(l *lane) {
	for range l.wake {
		for group := l.take(); len(group) > 0; group = l.take() {
			c.write(l.shard, group)
		}
	}
	if rest := l.take(); len(rest) > 0 {
		c.write(l.shard, rest)
	}
}

// write writes a group, or, if that fails, each ask by itself.
func (c *Committer) write(shard string, asks []*ask) {
	err := c.once(shard, asks)
	if db.BadRow(err) && len(asks) > 1 {
		for _, a := range asks {
			c.write(shard, []*ask{a})
		}
		return
	}
	for _, a := range asks {
		a.err = err
		close(a.ready)
	}
}

// once writes a group in one transaction. It does not end with any worker's
// context: the others of the group wait for it too.
func (c *Committer) once(shard string, asks []*ask) error {
	group := &db.Group{}
	for _, a := range asks {
		switch {
		case a.claim != nil:
			group.Claims = append(group.Claims, *a.claim)
		case a.save != nil:
			group.Saves = append(group.Saves, *a.save)
		case a.begin != nil:
			group.Begins = append(group.Begins, *a.begin)
		case a.result != nil:
			group.Results = append(group.Results, *a.result)
		default:
			group.Dones = append(group.Dones, *a.done)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	if err := c.pipe.Write(ctx, shard, c.guards, group); err != nil {
		return err
	}
	deliver(asks, group)
	return nil
}

func deliver(asks []*ask, g *db.Group) {
	var claims, saves, begins, results int
	for _, a := range asks {
		switch {
		case a.claim != nil:
			a.work = g.Works[claims]
			claims++
		case a.save != nil:
			a.held = g.SavesHeld[saves]
			saves++
		case a.begin != nil:
			a.held = g.BeginsHeld[begins]
			begins++
		case a.result != nil:
			a.held = g.ResultsHeld[results]
			results++
		}
	}
}
