package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// planned is the plan of one target that lies ahead.
type planned struct {
	Tenant     model.TenantID
	Target     model.TargetID
	DueAt      time.Time
	LocalAt    time.Time
	Zone       string
	Occurrence model.Occurrence
}

// Retime works the instants of all plans ahead out again from their intent, and
// moves those that a changed rule of their zone shifted. It says how many. Run it
// when the program starts, since zone rules come with it, and now and then.
func (p *Pipeline) Retime(ctx context.Context, shard string, resolve func(model.LocalTime, string, model.Occurrence) (model.When, error)) (moved int, err error) {
	defer wrap(&err, "retime shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	var last planned
	const page = 1000
	for {
		rows, err := pool.Query(ctx, `SELECT * FROM tenant.planned_times($1, $2, $3, $4)`, p.now(), last.Tenant, last.Target, page)
		if err != nil {
			return moved, err
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[planned])
		if err != nil || len(list) == 0 {
			return moved, err
		}
		n, err := p.retime(ctx, shard, list, resolve)
		moved += n
		if err != nil || len(list) < page {
			return moved, err
		}
		last = list[len(list)-1]
	}
}

func (p *Pipeline) retime(ctx context.Context, shard string, list []planned, resolve func(model.LocalTime, string, model.Occurrence) (model.When, error)) (moved int, err error) {
	var k keyColumns
	var from, to []time.Time
	for _, one := range list {
		at, ok := instant(one, resolve)
		if !ok || at.Equal(one.DueAt) {
			continue
		}
		k.tenants, k.targets = append(k.tenants, one.Tenant), append(k.targets, one.Target)
		from, to = append(from, one.DueAt), append(to, at)
	}
	if len(to) == 0 {
		return 0, nil
	}
	err = p.shards[shard].QueryRow(ctx, `SELECT tenant.retime_targets($1, $2, $3, $4, $5)`, k.tenants, k.targets, from, to, p.now()).Scan(&moved)
	return moved, err
}

// instant is when the intent falls now. A wall clock that a new rule skips falls
// where the clock stands after the jump; a zone that is gone keeps its instant.
func instant(one planned, resolve func(model.LocalTime, string, model.Occurrence) (model.When, error)) (time.Time, bool) {
	// A plan for this very second keeps its fraction: the intent has none.
	when, err := resolve(model.LocalOf(one.LocalAt), one.Zone, one.Occurrence)
	var gap *model.Gap
	if errors.As(err, &gap) {
		return gap.After.At, true
	}
	if err != nil || when.At.Equal(one.DueAt.Truncate(time.Second)) {
		return time.Time{}, false
	}
	return when.At, true
}
