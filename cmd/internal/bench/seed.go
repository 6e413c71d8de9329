package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db"
	"herald/db/model"
)

// accounts is how many accounts a seeded workspace has.
const accounts = 50

// batchSeed is targets of one workspace to seed, all scheduled.
type batchSeed struct {
	shard  string
	tenant model.TenantID
	first  int64 // ids of posts, versions and targets begin here
	count  int
	due    func(i int) time.Time
}

// workspace seeds an empty workspace with its client and accounts.
func (w *world) workspace(ctx context.Context, shard string, id model.TenantID) error {
	slug := fmt.Sprintf("w%d", id)
	if err := w.exec(ctx, db.MainShard, `INSERT INTO control.plans (name) VALUES ('bench') ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	if err := w.exec(ctx, db.MainShard, `INSERT INTO control.workspaces (id, slug, name, zone, plan, shard) OVERRIDING SYSTEM VALUE
		VALUES ($1, $2, $2, 'UTC', 'bench', $3)`, id, slug, shard); err != nil {
		return err
	}
	if err := w.exec(ctx, shard, `INSERT INTO tenant.tenants (tenant_id, slug, name, zone, state) VALUES ($1, $2, $2, 'UTC', 'active')`, id, slug); err != nil {
		return err
	}
	if err := w.exec(ctx, shard, `INSERT INTO tenant.clients (tenant_id, id, slug, name, zone) OVERRIDING SYSTEM VALUE VALUES ($1, 1, 'c', 'C', 'UTC')`, id); err != nil {
		return err
	}
	return w.seedAccounts(ctx, shard, id)
}

func (w *world) seedAccounts(ctx context.Context, shard string, id model.TenantID) error {
	b := &pgx.Batch{}
	for i := range accounts {
		account := model.AccountID(i + 1)
		b.Queue(`INSERT INTO tenant.accounts (tenant_id, id, client_id, slug, network, handle, remote_id, scopes, token) OVERRIDING SYSTEM VALUE
			VALUES ($1, $2, 1, $3, 'facebook', $3, $4, NULL, $5)`, id, account, fmt.Sprintf("page%d", i), fmt.Sprintf("%d%04d", id, i),
			w.ring.Seal("token", db.TokenAAD(id, account, "token")))
	}
	return w.super[shard].SendBatch(ctx, b).Close()
}

const sqlSeed = `
	WITH n AS (SELECT i, $2::bigint + i AS id, 1 + i %% %[1]d AS account, d.due FROM unnest($3::timestamptz[]) WITH ORDINALITY AS d(due, o), LATERAL (SELECT (o - 1)::bigint AS i) x),
	posts AS (INSERT INTO tenant.posts (tenant_id, id, state, review, current_version_id, approved_version_id, created_by, created_at, updated_at) OVERRIDING SYSTEM VALUE
		SELECT $1, id, 'scheduled', 'approved', id, id, 1, now(), now() FROM n),
	versions AS (INSERT INTO tenant.post_versions (tenant_id, id, post_id, number, content, created_by, created_at) OVERRIDING SYSTEM VALUE
		SELECT $1, id, id, 1, convert_to('{"text":"post ' || id || ' due ' || (extract(epoch FROM due) * 1000000)::bigint || '","accounts":[' || account || ']}', 'UTF8'), 1, now() FROM n),
	targets AS (INSERT INTO tenant.targets (tenant_id, id, post_id, version_id, client_id, account_id, network, state, format, due_at, local_at, zone, occurrence, seq, next_at, created_at, updated_at) OVERRIDING SYSTEM VALUE
		SELECT $1, id, id, id, 1, account, 'facebook', 'scheduled', 'text', due, due AT TIME ZONE 'UTC', 'UTC', '', 1, due, now(), now() FROM n)
	INSERT INTO tenant.outbox (tenant_id, key, kind, target_id, version_id, seq, due_at, made_at)
	SELECT $1, 'publish:' || id || ':1', 'target.publish', id, id, 1, due, now() FROM n`

// targets seeds scheduled targets with their outbox events. Triggers and foreign
// keys rest meanwhile: the rows are what Scope would have written.
func (w *world) targets(ctx context.Context, s batchSeed) error {
	var dues []time.Time
	for i := range s.count {
		dues = append(dues, s.due(i))
	}
	return pgx.BeginFunc(ctx, w.super[s.shard], func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf(sqlSeed, accounts), s.tenant, s.first, dues)
		return err
	})
}

// settle lets Postgres do after a seed what it would have done long ago.
func (w *world) settle(ctx context.Context) error {
	for shard := range w.super {
		if err := w.exec(ctx, shard, "VACUUM ANALYZE"); err != nil {
			return err
		}
		if err := w.exec(ctx, shard, "CHECKPOINT"); err != nil {
			return err
		}
	}
	return nil
}
