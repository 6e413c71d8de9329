package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"herald/db"
	"herald/db/model"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// refresh renews an account's token, one caller at a time over all processes.
// Who finds another at it waits a moment; the next claim sees the new token. A
// token endpoint that is away is a postponement, never a disconnect.
func (p *Publisher) refresh(ctx context.Context, shard string, tenant model.TenantID, id model.AccountID) error {
	l := lease{shard, tenant, uuid.New()}
	a, ok, err := p.Pipe.LeaseRefresh(ctx, shard, tenant, id, l.owner, refreshAhead, p.leaseLife())
	if err != nil {
		return err
	}
	if !ok {
		return sleep(ctx, 200*time.Millisecond)
	}
	f, err := p.renew(ctx, l, a)
	if f == nil {
		return err
	}
	// The next claim is refused with needs_reconnect, or postponed.
	return p.Pipe.DropRefresh(ctx, shard, tenant, id, l.owner, ended(f), p.Now().Add(max(f.Wait, p.Settings.RetryBase)), f.Say)
}

// lanes is how many connections are renewed at a time.
const lanes = 8

// Renew renews the connections of a shard that are due, before anybody needs them:
// a token that nobody uses dies too. Several workers share the work, and with posts that
// meet a token at its end: an account is leased to one of them. What fails for now is
// tried again ever later; only what the network refuses for good ends a connection.
func (p *Publisher) Renew(ctx context.Context, shard string) error {
	var errs []error
	for ctx.Err() == nil {
		owner := uuid.New()
		list, err := p.Pipe.TakeRenewals(ctx, shard, owner, p.leaseLife(), lanes)
		if err != nil || len(list) == 0 {
			return errors.Join(append(errs, err)...)
		}
		failed := make([]error, len(list))
		var all sync.WaitGroup
		for i, r := range list {
			all.Go(func() { failed[i] = p.renewAhead(ctx, lease{shard, r.Tenant, owner}, r) })
		}
		all.Wait()
		errs = append(errs, failed...)
	}
	return errors.Join(errs...)
}

func (p *Publisher) renewAhead(ctx context.Context, l lease, r db.Renewing) error {
	f, err := p.renew(ctx, l, r.Account)
	switch ctx := context.WithoutCancel(ctx); {
	case f == nil:
		return err
	case ended(f):
		return p.Pipe.DropRefresh(ctx, l.shard, l.tenant, r.ID, l.owner, true, time.Time{}, f.Say)
	default:
		wait := p.Settings.RetryBase + backoff(p.Settings.RetryBase, p.Settings.RetryCap, r.Failures)
		return p.Pipe.PutOffRenewal(ctx, l.shard, l.tenant, r.ID, l.owner, p.Now().Add(max(f.Wait, wait)), f.Say)
	}
}

// lease is the right to renew an account's token.
type lease struct {
	shard  string
	tenant model.TenantID
	owner  uuid.UUID
}

// leaseLife outlasts a call and the saving of what it brought.
func (p *Publisher) leaseLife() time.Duration { return 2 * p.Settings.ProviderTimeout }

// ended says that a refusal to renew is for good.
func ended(f *fault.Fault) bool {
	return f.Kind == fault.Auth || f.Kind == fault.Permission || f.Kind == fault.Validation
}

// renew asks for new tokens and keeps them. It does not end with the task: an answer
// that nobody hears can have spent the refresh token. The fault says why there are none.
func (p *Publisher) renew(ctx context.Context, l lease, a db.Account) (*fault.Fault, error) {
	ctx = context.WithoutCancel(ctx)
	if a.RefreshShut != nil {
		p.keyMissing(ctx, db.Key{Shard: l.shard, Tenant: l.tenant}, a.ID, a.RefreshShut)
		return fault.New(fault.Transient, "key_missing", sayShut), nil
	}
	t, err := p.tokens(ctx, a)
	if err != nil {
		return fault.Of(err), nil
	}
	// A rotated refresh token is kept before anything uses it.
	return nil, p.persist(ctx, func(ctx context.Context) error {
		return p.Pipe.SaveTokens(ctx, l.shard, l.tenant, a, l.owner, db.Tokens{Access: t.Access, Refresh: t.Refresh, Expires: t.Expires, RefreshExpires: t.RefreshExpires, Scopes: t.Scopes})
	})
}

func (p *Publisher) tokens(ctx context.Context, a db.Account) (networks.Tokens, error) {
	adapter, _ := p.adapter(a)
	r, ok := adapter.(networks.Refresher)
	if !ok {
		return networks.Tokens{}, fault.New(fault.Auth, "no_refresh", "This network's connections cannot be renewed without you. Reconnect the account.")
	}
	ctx, cancel := context.WithTimeout(ctx, p.Settings.ProviderTimeout)
	defer cancel()
	return r.Refresh(ctx, account(a))
}
