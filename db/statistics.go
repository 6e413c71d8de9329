package db

import "context"

// AnalyzeGrown has Postgres look anew at the tables of a shard, and of the control
// plane, that have grown fourfold since it last did, so that plans made while they
// were small are made again. It costs a look at the sizes of the tables when there
// is nothing to do: call it after moving many rows.
func (p *Pipeline) AnalyzeGrown(ctx context.Context, shard string) (err error) {
	defer wrap(&err, "analyze what has grown on shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, `SELECT tenant.analyze_grown()`); err != nil {
		return err
	}
	if shard != MainShard {
		return nil
	}
	_, err = p.control.Exec(ctx, `SELECT control.analyze_grown()`)
	return err
}
