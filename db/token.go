package db

import (
	"context"
	"time"

	"github.com/google/uuid"

	"herald/db/model"
	"herald/db/secret"
)

// Tokens are credentials to keep. An empty Refresh keeps the old one.
type Tokens struct {
	Access         secret.Token
	Refresh        secret.Token
	Expires        time.Time // zero: does not expire
	RefreshExpires time.Time // as the network said; zero: it did not
	Scopes         []string  // nil: as before
}

// LeaseRefresh gives the caller, and nobody else for life, the right to renew the
// account's token; ok is false if another has it or there is nothing to renew.
func (p *Pipeline) LeaseRefresh(ctx context.Context, shard string, tenant model.TenantID, id model.AccountID, owner uuid.UUID, ahead, life time.Duration) (a Account, ok bool, err error) {
	defer wrap(&err, "lease refresh of account %d", id)
	pool, err := p.shard(shard)
	if err != nil {
		return a, false, err
	}
	var settings, token, refresh []byte
	a.ID = id
	err = pool.QueryRow(ctx, `SELECT * FROM tenant.lease_refresh($1, $2, $3, $4, $5, $6)`, tenant, id, owner, ahead, p.now(), p.now().Add(life)).
		Scan(&a.Network, &a.Publisher, &a.Handle, &a.RemoteID, &a.Address, &settings, &a.Scopes, &token, &refresh, &a.Expires, &a.RefreshExpires)
	if noRows(err) {
		return a, false, nil
	}
	if err != nil {
		return a, false, err
	}
	return a, true, p.openAccount(&a, tenant, settings, token, refresh)
}

// SaveTokens keeps the renewed tokens of an account as its lease gave it, sealed, and
// plans the next renewal. It does nothing if the lease was lost.
func (p *Pipeline) SaveTokens(ctx context.Context, shard string, tenant model.TenantID, a Account, owner uuid.UUID, t Tokens) (err error) {
	defer wrap(&err, "save tokens of account %d", a.ID)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	kept := keeping{network: a.Network, publisher: a.Publisher, said: t.RefreshExpires, was: timeOf(a.RefreshExpires), renewable: true}
	var refresh []byte
	if !t.Refresh.Empty() {
		refresh = p.ring.Seal(t.Refresh.Reveal(), TokenAAD(tenant, a.ID, "refresh"))
		kept.fresh = t.Refresh.Reveal() != a.Refresh.Reveal()
	}
	ends, at := kept.plan(p.now(), t.Expires)
	_, err = pool.Exec(ctx, `SELECT tenant.save_tokens($1, $2, $3, $4, $5, $6, $7, $8, $9)`, tenant, a.ID, owner,
		p.ring.Seal(t.Access.Reveal(), TokenAAD(tenant, a.ID, "token")), refresh, orNever(t.Expires), t.Scopes, ends, at)
	return err
}

// DropRefresh gives the lease back after a failure. dead marks the account as
// needing a person, and asks for the one notice about it; else nobody tries
// again before again, and what needs the token is postponed.
func (p *Pipeline) DropRefresh(ctx context.Context, shard string, tenant model.TenantID, id model.AccountID, owner uuid.UUID, dead bool, again time.Time, say string) (err error) {
	defer wrap(&err, "drop refresh of account %d", id)
	pool, err := p.shard(shard)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `SELECT tenant.drop_refresh($1, $2, $3, $4, $5, $6, $7)`, tenant, id, owner, dead, again, say, p.now())
	return err
}

// Loaded is a target as a look-up or a follow-up needs it. Nothing is claimed.
type Loaded struct {
	Work
	State      model.State
	Seq        int64
	NextAt     *time.Time
	Looks      int
	ExternalID string
	Permalink  string
	Alive      bool       // the account works
	FirstFlown *time.Time // when the first commit call of this version was about to begin
	LastEnded  *time.Time
	Taken      []string // external ids of the account's other published targets
}

// Load reads a target; ok is false if it is not there with that version.
func (p *Pipeline) Load(ctx context.Context, k Key) (l Loaded, ok bool, err error) {
	defer wrap(&err, "load target %d", k.Target)
	pool, err := p.shard(k.Shard)
	if err != nil {
		return l, false, err
	}
	var r claimRow
	var due *time.Time
	var alive string
	r.account, r.network, r.handle = new(model.AccountID), &l.Account.Network, &l.Account.Handle
	err = pool.QueryRow(ctx, `SELECT l.*, tenant.publisher_of($1, l.account_id) FROM tenant.load_target($1, $2, $3) AS l`, k.Tenant, k.Target, k.Version).Scan(
		&l.State, &l.Post, &l.Client, r.account, r.network, &l.Format, &l.Seq, &l.NextAt, &l.Attempt, &l.Used, &l.Looks, &due, &l.ExternalID, &l.Permalink,
		r.handle, &l.Account.RemoteID, &l.Account.Address, &r.settings, &l.Account.Scopes, &r.token, &r.refresh, &l.Account.Expires, &alive,
		&r.content, &r.media, &r.handles, &l.FirstFlown, &l.LastEnded, &l.Taken, &l.Account.Publisher)
	if noRows(err) {
		return l, false, nil
	}
	if err != nil {
		return l, false, err
	}
	return l, true, p.fillLoaded(&l, k, r, due, alive)
}

func (p *Pipeline) fillLoaded(l *Loaded, k Key, r claimRow, due *time.Time, alive string) error {
	l.Account.ID, l.Alive = *r.account, alive == "active"
	if due != nil {
		l.DueAt = *due
	}
	if err := p.openAccount(&l.Account, k.Tenant, r.settings, r.token, r.refresh); err != nil {
		return err
	}
	var err error
	if l.Part, l.Media, err = readPart(r.content, r.media, l.Account); err != nil {
		return err
	}
	return readHandles(r.handles, &l.Handles)
}

// Looked is what a look-up proved and where the target goes on it.
type Looked struct {
	Key
	Attempt    int
	Verdict    string
	Say        string
	ExternalID string
	Permalink  string
	Calls      any
	State      model.State // published, retry_scheduled, failed, or unknown_outcome for another look
	Reason     string
	Next       *time.Time
	Follow     bool
}

const sqlRecordFinding = `
	WITH recorded AS MATERIALIZED (
		SELECT tenant.record_finding($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS moved
	), mended AS MATERIALIZED (
		SELECT tenant.mend_accounts(array_agg($1::bigint), array_agg($2::bigint)) FROM recorded WHERE moved)
	SELECT moved FROM recorded, mended`

// RecordFinding writes a finding and moves its target. It does nothing, and says
// so, if the target moved on meanwhile.
func (p *Pipeline) RecordFinding(ctx context.Context, l Looked) (moved bool, err error) {
	defer wrap(&err, "record finding on target %d", l.Target)
	pool, err := p.shard(l.Shard)
	if err != nil {
		return false, err
	}
	err = pool.QueryRow(ctx, sqlRecordFinding, l.Tenant, l.Target, l.Version, l.Seq, l.Attempt, l.Verdict, l.Say, l.ExternalID, l.Permalink,
		l.Calls, l.State, l.Reason, l.Next, l.Follow, p.now()).Scan(&moved)
	if moved {
		p.tell(l.Tenant)
	}
	return moved, err
}

// SaveReceipt keeps what a follow-up learned of a published target.
func (p *Pipeline) SaveReceipt(ctx context.Context, k Key, permalink, external string, calls any, say string) (err error) {
	defer wrap(&err, "save receipt of target %d", k.Target)
	pool, err := p.shard(k.Shard)
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `SELECT tenant.save_receipt($1, $2, $3, $4, $5, $6, $7)`, k.Tenant, k.Target, permalink, external, calls, say, p.now())
	return err
}

const sqlDispatchLater = `
	UPDATE control.publish_dispatch_index SET status = 'pending', due_at = $6, updated_at = $7
	 WHERE tenant_id = $1 AND target_id = $2 AND version_id = $3 AND task = $4 AND seq = $5 AND status = 'enqueued'`

// Later gives a dispatch back to be taken again at a later time.
func (p *Pipeline) Later(ctx context.Context, task string, k Key, at time.Time) (err error) {
	defer wrap(&err, "put off dispatch of target %d", k.Target)
	_, err = p.control.Exec(ctx, sqlDispatchLater, k.Tenant, k.Target, k.Version, task, k.Seq, at, p.now())
	return err
}
