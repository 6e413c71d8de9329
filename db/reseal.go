package db

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
)

// Sealed says how the sealed values stand with the key ring.
type Sealed struct {
	Values int // that there are
	Stale  int // that an older key of the ring opens, and not the newest
	Shut   int // that no key of the ring opens
}

// resealPage is how many rows are read, and sealed again, at a time.
const resealPage = 200

// CountSealed looks at every sealed value, of every shard, and changes none.
func (p *Pipeline) CountSealed(ctx context.Context) (n Sealed, err error) {
	defer wrap(&err, "count sealed values")
	return n, p.eachSealed(ctx, &n, func(*pgxpool.Pool, []sealedValue) error { return nil })
}

// Reseal seals everything that an older key of the ring opens under the newest,
// page by page. Afterwards an older key may leave the ring. It may run twice, at
// once, and beside workers: what changed meanwhile is left as it is.
func (p *Pipeline) Reseal(ctx context.Context) (n Sealed, err error) {
	defer wrap(&err, "seal again")
	return n, p.eachSealed(ctx, &n, func(pool *pgxpool.Pool, stale []sealedValue) error {
		var tenants []model.TenantID
		var ids []int64
		var fields []string
		var olds, news [][]byte
		for _, v := range stale {
			tenants, ids, fields = append(tenants, v.tenant), append(ids, v.id), append(fields, v.field)
			olds, news = append(olds, v.value), append(news, p.ring.Seal(v.plain, v.aad))
		}
		_, err := pool.Exec(ctx, `SELECT tenant.reseal_values($1, $2, $3, $4, $5)`, tenants, ids, fields, olds, news)
		return err
	})
}

// sealedValue is one sealed value and the row and field it is bound to.
type sealedValue struct {
	tenant model.TenantID
	id     int64
	field  string // token, refresh, declared, mail
	aad    string
	value  []byte
	plain  string
}

// eachSealed walks over all pages, counts, and hands each page's stale values to f.
func (p *Pipeline) eachSealed(ctx context.Context, n *Sealed, f func(*pgxpool.Pool, []sealedValue) error) error {
	for _, shard := range p.Shards() {
		for _, read := range []func(context.Context, *pgxpool.Pool, sealedPlace) ([]sealedValue, sealedPlace, error){sealedAccounts, sealedMails} {
			for at, more := (sealedPlace{}), true; more; {
				values, next, err := read(ctx, p.shards[shard], at)
				if err != nil {
					return err
				}
				if stale := p.stale(values, n); len(stale) > 0 {
					if err := f(p.shards[shard], stale); err != nil {
						return err
					}
				}
				more, at = next != at, next
			}
		}
	}
	return nil
}

// stale opens values and keeps those that the newest key did not seal.
func (p *Pipeline) stale(values []sealedValue, n *Sealed) (stale []sealedValue) {
	for _, v := range values {
		n.Values++
		plain, err := p.ring.Open(v.value, v.aad)
		switch {
		case err != nil:
			n.Shut++
		case !p.ring.Fresh(v.value):
			n.Stale++
			v.plain = plain
			stale = append(stale, v)
		}
	}
	return stale
}

// sealedPlace is the row that a page ends with; the page after the last is where it was.
type sealedPlace struct {
	tenant model.TenantID
	id     int64
}

func sealedAccounts(ctx context.Context, pool *pgxpool.Pool, at sealedPlace) (list []sealedValue, next sealedPlace, err error) {
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.sealed_accounts($1, $2, $3)`, at.tenant, at.id, resealPage)
	if err != nil {
		return nil, at, err
	}
	next = at
	var token, refresh, declared []byte
	_, err = pgx.ForEachRow(rows, []any{&next.tenant, &next.id, &token, &refresh, &declared}, func() error {
		for field, value := range map[string][]byte{"token": token, "refresh": refresh, "declared": declared} {
			if len(value) > 0 {
				list = append(list, sealedValue{tenant: next.tenant, id: next.id, field: field, aad: TokenAAD(next.tenant, model.AccountID(next.id), field), value: value})
			}
		}
		return nil
	})
	return list, next, err
}

func sealedMails(ctx context.Context, pool *pgxpool.Pool, at sealedPlace) (list []sealedValue, next sealedPlace, err error) {
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.sealed_mails($1, $2, $3)`, at.tenant, at.id, resealPage)
	if err != nil {
		return nil, at, err
	}
	next = at
	var key string
	var sealed []byte
	_, err = pgx.ForEachRow(rows, []any{&next.tenant, &next.id, &key, &sealed}, func() error {
		list = append(list, sealedValue{tenant: next.tenant, id: next.id, field: "mail", aad: MailAAD(next.tenant, key), value: sealed})
		return nil
	})
	return list, next, err
}
