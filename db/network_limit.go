package db

import (
	"context"
	"errors"
	"time"

	"herald/db/model"
)

// LimitNetwork holds back every account that is reached as this one is, by the
// same network and publisher, in every workspace on every shard, until a time. A
// claim reads it with its other guards. One that is closed for longer stays so.
func (p *Pipeline) LimitNetwork(ctx context.Context, shard string, tenant model.TenantID, account model.AccountID, until time.Time) (err error) {
	defer wrap(&err, "close the network of account %d", account)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	var network, publisher string
	err = pool.QueryRow(ctx, `SELECT * FROM tenant.limit_network_of($1, $2, $3)`, tenant, account, until).Scan(&network, &publisher)
	if noRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, other := range p.Shards() { // one that is away does not keep it from the rest
		if other != shard {
			_, err := p.shards[other].Exec(ctx, `SELECT tenant.limit_network($1, $2, $3)`, network, publisher, until)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
