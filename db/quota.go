package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Sent is a target that went out, and when.
type Sent struct {
	Shard  string `db:"-"`
	Tenant model.TenantID
	Target model.TargetID
	At     time.Time
}

// SentByAccount lists what an account published since a time.
func (p *Pipeline) SentByAccount(ctx context.Context, shard string, tenant model.TenantID, account model.AccountID, since time.Time) (list []Sent, err error) {
	defer wrap(&err, "read what account %d published", account)
	return p.sent(ctx, shard, `SELECT tenant_id, target_id, published_at FROM tenant.sent_by_account($1, $2, $3)`, tenant, account, since)
}

// SentByApp lists what all accounts on all shards published on a network, by its own
// API, since a time: of each shard no more than the latest. A shard that is away
// keeps nothing from the rest, and comes back as an error beside it.
func (p *Pipeline) SentByApp(ctx context.Context, name network.Name, since time.Time, latest int) (list []Sent, err error) {
	defer wrap(&err, "read what was published on %s", name)
	var errs []error
	for _, shard := range p.Shards() {
		some, err := p.sent(ctx, shard, `SELECT tenant_id, target_id, published_at FROM tenant.sent_by_app($1, $2, $3)`, name, since, latest)
		list, errs = append(list, some...), append(errs, err)
	}
	return list, errors.Join(errs...)
}

func (p *Pipeline) sent(ctx context.Context, shard, sql string, args ...any) ([]Sent, error) {
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Sent])
	for i := range list {
		list[i].Shard = shard
	}
	return list, err
}
