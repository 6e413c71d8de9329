package db

import (
	"context"
	"time"
)

// Backlog is what waits for its turn, over all workspaces.
type Backlog struct {
	Due    int                      // dispatches whose time has come and that no worker was told of, up to mostCounted
	Events map[string]time.Duration // by shard, for how long the oldest event has waited for its relay
}

// mostCounted bounds what it costs to ask how far behind Herald is.
const mostCounted = 100_000

const sqlDispatchBehind = `
	SELECT count(*) FROM (SELECT FROM control.publish_dispatch_index WHERE status = 'pending' AND due_at <= $1 LIMIT $2) behind`

// Backlog says how far behind Herald is. It reads what is behind and nothing else.
func (p *Pipeline) Backlog(ctx context.Context) (b Backlog, err error) {
	defer wrap(&err, "measure the backlog")
	if err := p.control.QueryRow(ctx, sqlDispatchBehind, p.now(), mostCounted).Scan(&b.Due); err != nil {
		return b, err
	}
	b.Events = map[string]time.Duration{}
	for _, name := range p.Shards() {
		var oldest *time.Time
		if err := p.shards[name].QueryRow(ctx, `SELECT tenant.oldest_event()`).Scan(&oldest); err != nil {
			return b, err
		}
		b.Events[name] = 0
		if oldest != nil {
			b.Events[name] = max(p.now().Sub(*oldest), 0)
		}
	}
	return b, nil
}
