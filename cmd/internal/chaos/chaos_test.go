package chaos

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
)

// long is from how many runs on TestChaos counts as the long one.
const long = 100

const (
	lanes   = 4 // runs at once
	workers = 3
)

// tally counts what happened.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what] += n
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out string
	for _, what := range slices.Sorted(maps.Keys(c.n)) {
		out += fmt.Sprintf("  %-38s %d\n", what, c.n[what])
	}
	return out
}

// TestChaos publishes under load while workers are killed at random and at the
// fail-points, Redis is emptied, tasks and events are repeated and, if asked
// for, Postgres is stopped. Every post of every run must be public exactly once
// on each of its accounts, or be left to a person where the network cannot be
// asked for sure.
func TestChaos(t *testing.T) {
	t.Parallel()
	draw := *seed
	if draw == 0 {
		draw = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", draw)
	g := newGround(t)
	counted := &tally{n: map[string]int{"doubles": 0, "lost": 0}}
	m := newMonkey(t, g, counted, draw)
	t.Run("runs", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				dice := rand.New(rand.NewPCG(draw, uint64(lane+1)))
				for i := lane; i < *runs; i += lanes {
					g.chaosRun(t, dice, counted)
				}
			})
		}
	})
	m.stop()
	g.leftovers(t)
	t.Logf("seed %d, %d runs\n%s", draw, *runs, counted)
	if t.Failed() {
		t.Logf("the workers said last:\n%s", g.tail())
	}
}

// chaosRun is one run: a handful of posts in both workspaces, waited for and judged.
func (g *ground) chaosRun(t *testing.T, dice *rand.Rand, counted *tally) {
	t.Helper()
	type written struct {
		s    *space
		text string
		page db.PostPage
	}
	var posts []written
	for range 2 + dice.IntN(4) {
		s := g.spaces[dice.IntN(len(g.spaces))]
		reading.RLock()
		text, page := g.post(t, s, time.Duration(dice.IntN(2500))*time.Millisecond)
		reading.RUnlock()
		posts = append(posts, written{s, text, page})
	}
	for _, p := range posts {
		for _, target := range g.await(t, p.s, p.page.Post.ID) {
			v := g.judge(t, p.s, target, p.text)
			counted.add(map[verdict]string{once: "targets public once", honest: "left to a person (weak look-up)", double: "doubles", lost: "lost"}[v], 1)
			if v == double || v == lost {
				t.Errorf("%s: %q on %s, target %d of workspace %d, is %s (%s: %s)", v, p.text, target.Network, target.ID, p.s.ID, target.State, target.Reason, target.Say)
			}
		}
	}
	counted.add("runs", 1)
}

// leftovers looks for what nobody owns any more.
func (g *ground) leftovers(t *testing.T) {
	t.Helper()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		if n := dbtest.Look[int](t, g.World, shard, `SELECT count(*) FROM tenant.publish_guards g WHERE NOT EXISTS (
			SELECT FROM tenant.targets t WHERE t.tenant_id = g.tenant_id AND t.owner = g.owner)`); n != 0 {
			t.Errorf("%d provider-call guards on %s belong to nobody", n, shard)
		}
		if n := dbtest.Look[int](t, g.World, shard, `SELECT count(*) FROM tenant.targets t WHERE state = 'published' AND NOT EXISTS (
			SELECT FROM tenant.attempts a WHERE a.tenant_id = t.tenant_id AND a.target_id = t.id AND a.state = 'published')`); n != 0 {
			t.Errorf("%d published targets on %s have no attempt to show for it", n, shard)
		}
	}
}

// monkey keeps three workers running and breaks things.
type monkey struct {
	t       *testing.T
	g       *ground
	counted *tally
	dice    *rand.Rand
	procs   []*process
	cancel  context.CancelFunc
	done    chan struct{}
	outages time.Time
}

func newMonkey(t *testing.T, g *ground, counted *tally, draw uint64) *monkey {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m := &monkey{t: t, g: g, counted: counted, dice: rand.New(rand.NewPCG(draw, 0)), cancel: cancel, done: make(chan struct{}), outages: time.Now()}
	for range workers {
		m.procs = append(m.procs, g.start(t, ""))
	}
	go func() {
		defer close(m.done)
		for ctx.Err() == nil {
			time.Sleep(time.Duration(300+m.dice.IntN(900)) * time.Millisecond)
			m.act(ctx)
			m.revive()
		}
	}()
	return m
}

func (m *monkey) stop() {
	m.cancel()
	<-m.done
	for _, p := range m.procs {
		p.kill()
	}
}

// revive starts a worker for each that is dead; some of them are doomed again.
func (m *monkey) revive() {
	for i, p := range m.procs {
		if !p.gone() {
			continue
		}
		kill := ""
		if m.dice.IntN(2) == 0 {
			kill = fmt.Sprintf("%s:%d", points[m.dice.IntN(len(points))], 1+m.dice.IntN(6))
			m.counted.add("workers started with a fail-point", 1)
		}
		m.procs[i] = m.g.start(m.t, kill)
	}
}

func (m *monkey) act(ctx context.Context) {
	g := m.g
	if *outage > 0 && time.Since(m.outages) > 4**outage {
		m.outage()
		return
	}
	switch m.dice.IntN(6) {
	case 0, 1:
		m.procs[m.dice.IntN(len(m.procs))].kill()
		m.counted.add("workers killed at random", 1)
	case 2:
		_ = g.redis.FlushAll(ctx).Err()
		m.counted.add("Redis emptied", 1)
	case 3: // every dispatch of the last while again
		g.Super(m.t, db.MainShard, `UPDATE control.publish_dispatch_index d SET status = 'pending'
			  FROM (SELECT tenant_id, target_id, version_id, task FROM control.publish_dispatch_index
			         WHERE status IN ('done', 'enqueued') AND updated_at > $1 FOR UPDATE SKIP LOCKED) x
			 WHERE d.tenant_id = x.tenant_id AND d.target_id = x.target_id AND d.version_id = x.version_id AND d.task = x.task`, time.Now().Add(-10*time.Second))
		m.counted.add("dispatches repeated", 1)
	case 4: // every other event of the last while again, in whatever order
		for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
			g.Super(m.t, shard, `UPDATE tenant.outbox o SET relayed_at = NULL
				  FROM (SELECT tenant_id, id FROM tenant.outbox WHERE relayed_at > $1 AND random() < 0.5 FOR UPDATE SKIP LOCKED) x
				 WHERE o.tenant_id = x.tenant_id AND o.id = x.id`, time.Now().Add(-10*time.Second))
		}
		m.counted.add("events repeated", 1)
	case 5: // tasks of the living and the dead count as lost, and run again
		_ = g.age(ctx)
		m.counted.add("leases run out", 1)
	}
}

// outage stops Postgres for a while. What the tests themselves ask it waits.
func (m *monkey) outage() {
	reading.Lock()
	defer reading.Unlock()
	theLine.stop()
	time.Sleep(*outage)
	if err := theLine.startServer(); err != nil {
		m.t.Errorf("Postgres does not start again: %v", err)
	}
	m.counted.add("Postgres stopped for "+outage.String(), 1)
	m.outages = time.Now()
}
