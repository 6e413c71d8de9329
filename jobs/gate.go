package jobs

import (
	"context"
	"sync"

	"herald/db/model"
)

// gate lets a bounded number of publishes run at once, and takes those that wait
// in turns by workspace: one with thousands due does not hold up another's one.
type gate struct {
	mu      sync.Mutex
	free    int
	waiting map[model.TenantID][]chan struct{}
	turns   []model.TenantID // workspaces with someone waiting, next first
}

func newGate(size int) *gate {
	return &gate{free: size, waiting: map[model.TenantID][]chan struct{}{}}
}

// enter waits for a place. The caller calls leave once if there was no error.
func (g *gate) enter(ctx context.Context, tenant model.TenantID) error {
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if len(g.waiting[tenant]) == 0 {
		g.turns = append(g.turns, tenant)
	}
	g.waiting[tenant] = append(g.waiting[tenant], turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		g.abandon(tenant, turn)
		return ctx.Err()
	}
}

// abandon takes a turn back, or passes it on if it came meanwhile.
func (g *gate) abandon(tenant model.TenantID, turn chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-turn:
		g.next()
		return
	default:
	}
	for i, t := range g.waiting[tenant] {
		if t == turn {
			g.waiting[tenant] = append(g.waiting[tenant][:i], g.waiting[tenant][i+1:]...)
			return
		}
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next()
}

// next gives the free place to the first waiter of the workspace whose turn it is.
func (g *gate) next() {
	for len(g.turns) > 0 {
		tenant := g.turns[0]
		g.turns = g.turns[1:]
		line := g.waiting[tenant]
		if len(line) == 0 {
			delete(g.waiting, tenant)
			continue
		}
		if g.waiting[tenant] = line[1:]; len(line) > 1 {
			g.turns = append(g.turns, tenant)
		} else {
			delete(g.waiting, tenant)
		}
		close(line[0])
		return
	}
	g.free++
}
