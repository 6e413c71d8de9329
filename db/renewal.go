package db

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// keeping is what is known of credentials when they are kept.
type keeping struct {
	network   network.Name
	publisher network.Publisher
	renewable bool      // there is a refresh token
	said      time.Time // when it ends, as the network said
	was       time.Time // when the one before it ended, as far as is known
	fresh     bool      // it is another than that
}

// plan says when the refresh token ends, and when a connection is to be renewed whose
// token was made now and runs out at expires; nil: not known, and never.
func (k keeping) plan(now, expires time.Time) (ends, renewAt *time.Time) {
	n, ok := network.Get(k.network)
	if ok {
		n, ok = n.Via(k.publisher)
	}
	if !ok || !k.renewable || n.Renews == nil {
		return nil, nil
	}
	end := n.Renews.RefreshEnds(now, expires, k.said, k.was, k.fresh)
	return orNever(end), orNever(n.Renews.RenewAt(now, expires, end))
}

// orNever is a time that may be none.
func orNever(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Renewing is an account whose renewal is due, leased to whoever took it.
type Renewing struct {
	Tenant model.TenantID
	Account
	Failures int // since the last renewal that succeeded
}

// TakeRenewals takes up to limit accounts of a shard whose renewal is due, whoever's
// they are: nobody else renews them for life, or until their tokens are saved.
func (p *Pipeline) TakeRenewals(ctx context.Context, shard string, owner uuid.UUID, life time.Duration, limit int) (list []Renewing, err error) {
	defer wrap(&err, "take renewals of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return nil, err
	}
	rows, err := pool.Query(ctx, `SELECT * FROM tenant.take_renewals($1, $2, $3, $4)`, owner, p.now(), p.now().Add(life), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Renewing, err error) {
		var settings, token, refresh []byte
		if err := row.Scan(&r.Tenant, &r.ID, &r.Network, &r.Publisher, &r.Handle, &r.RemoteID, &r.Address, &settings, &r.Scopes,
			&token, &refresh, &r.Expires, &r.RefreshExpires, &r.Failures); err != nil {
			return r, err
		}
		return r, p.openAccount(&r.Account, r.Tenant, settings, token, refresh)
	})
}

// EndsSoon is how long before its end people hear of a connection that nothing
// prolongs.
const EndsSoon = 14 * 24 * time.Hour

// PutOffRenewal gives the lease back after a failure that says nothing about the
// connection; the next try is at a time. A post that needs the token before tries
// itself. What was said stands on the account's card once its end is near.
func (p *Pipeline) PutOffRenewal(ctx context.Context, shard string, tenant model.TenantID, id model.AccountID, owner uuid.UUID, at time.Time, say string) (err error) {
	defer wrap(&err, "put off renewal of account %d", id)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `SELECT tenant.put_off_renewal($1, $2, $3, $4, $5, $6, $7)`, tenant, id, owner, at, say, p.now(), EndsSoon)
	return err
}

// SweepConsents deletes up to limit sign-ins of a shard that have run out and led
// nowhere, with the secrets that they kept, and says how many.
func (p *Pipeline) SweepConsents(ctx context.Context, shard string, limit int) (n int, err error) {
	defer wrap(&err, "sweep sign-ins of shard %s", shard)
	pool, err := p.shard(shard)
	if err != nil {
		return 0, err
	}
	err = pool.QueryRow(ctx, `SELECT tenant.sweep_consents($1, $2)`, p.now(), limit).Scan(&n)
	return n, err
}
