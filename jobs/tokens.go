package jobs

import (
	"context"
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
	owner := uuid.New()
	a, ok, err := p.Pipe.LeaseRefresh(ctx, shard, tenant, id, owner, refreshAhead, 2*p.Settings.ProviderTimeout)
	if err != nil {
		return err
	}
	if !ok {
		return sleep(ctx, 200*time.Millisecond)
	}
	if a.RefreshShut != nil {
		p.keyMissing(ctx, db.Key{Shard: shard, Tenant: tenant}, id, a.RefreshShut)
		return p.Pipe.DropRefresh(ctx, shard, tenant, id, owner, false, p.Now().Add(p.Settings.RetryBase), sayShut)
	}
	tokens, err := p.renew(ctx, a)
	if err != nil {
		f := fault.Of(err)
		dead := f.Kind == fault.Auth || f.Kind == fault.Permission || f.Kind == fault.Validation
		again := p.Now().Add(max(f.Wait, p.Settings.RetryBase))
		// The next claim is refused with needs_reconnect, or postponed.
		return p.Pipe.DropRefresh(ctx, shard, tenant, id, owner, dead, again, f.Say)
	}
	// A rotated refresh token is kept before anything uses it.
	return p.persist(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return p.Pipe.SaveTokens(ctx, shard, tenant, id, owner, db.Tokens{Access: tokens.Access, Refresh: tokens.Refresh, Expires: tokens.Expires, Scopes: tokens.Scopes})
	})
}

func (p *Publisher) renew(ctx context.Context, a db.Account) (networks.Tokens, error) {
	adapter, _ := p.adapter(a)
	r, ok := adapter.(networks.Refresher)
	if !ok {
		return networks.Tokens{}, fault.New(fault.Auth, "no_refresh", "This network's connections cannot be renewed without you. Reconnect the account.")
	}
	ctx, cancel := context.WithTimeout(ctx, p.Settings.ProviderTimeout)
	defer cancel()
	return r.Refresh(ctx, account(a))
}
