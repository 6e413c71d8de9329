package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Ending is a connection that ends, and whose people are to be told.
type Ending struct {
	Tenant      model.TenantID
	Account     model.AccountID
	Workspace   string
	Slug        string
	Client      string
	Zone        string // the client's
	Handle      string
	Network     string
	EndsAt      time.Time
	WarnAt      time.Time
	ConnectedBy *model.UserID
	Say         string // why it could not be renewed; empty if nobody tried
	Quiet       bool   // nobody is told: it is over, or its client was put away
}

// Ending lists the connections of a shard whose people are to be told at now, by
// workspace. It looks at limit of them at most, and adds what the same workspaces would
// be told of within a day.
func (p *Pipeline) Ending(ctx context.Context, shard string, now time.Time, limit int) (list []Ending, err error) {
	defer wrap(&err, "list ending connections of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.ending_connections($1, $2)`, now, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Ending])
}

// ToldEnding says that the people of those connections were told at now. The caller
// owes the mails first, each once by its key, so that who dies in between owes none twice.
func (p *Pipeline) ToldEnding(ctx context.Context, shard string, now time.Time, list []Ending) (err error) {
	defer wrap(&err, "tell of ending connections of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	var tenants []model.TenantID
	var accounts []model.AccountID
	var warned []time.Time
	for _, e := range list {
		tenants, accounts, warned = append(tenants, e.Tenant), append(accounts, e.Account), append(warned, e.WarnAt)
	}
	_, err = pool.Exec(ctx, `SELECT tenant.told_ending($1, $2, $3, $4)`, tenants, accounts, warned, now)
	return err
}

// CountConnections says how many connections of all shards end by a time, and how many
// are lost.
func (p *Pipeline) CountConnections(ctx context.Context, by time.Time) (ending, lost int, err error) {
	defer wrap(&err, "count connections")
	for _, shard := range p.Shards() {
		var e, l int
		if err := p.shards[shard].QueryRow(ctx, `SELECT * FROM tenant.count_connections($1, $2)`, p.now(), by).Scan(&e, &l); err != nil {
			return 0, 0, err
		}
		ending, lost = ending+e, lost+l
	}
	return ending, lost, nil
}
