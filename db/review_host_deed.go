package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
)

// hostDeed is what became of a name, for the log of its workspace. The name stands in
// the control plane and the log in the workspace's shard, and no connection of one is
// held while one of the other is waited for: the line is owed by the transaction of the
// change, and is written after it.
type hostDeed struct {
	ID        int64
	Workspace model.TenantID
	Client    model.ClientID // zero: of the workspace's own name
	Verb      string
	User      model.UserID // zero: nobody
	Name      string
	At        time.Time
}

const sqlHostDeedAdd = `
	INSERT INTO control.review_host_deeds (workspace_id, client_id, verb, user_id, name, at) VALUES ($1, $2, $3, nullif($4, 0), $5, $6) RETURNING id`

const sqlHostDeedDone = `DELETE FROM control.review_host_deeds WHERE id = $1`

// changeHost makes a change, and owes its line: zero if there is none to write.
func changeHost(ctx context.Context, control *pgxpool.Pool, d hostDeed, change string, args []any) (owed int64, err error) {
	err = pgx.BeginFunc(ctx, control, func(tx pgx.Tx) error {
		did, err := tx.Exec(ctx, change, args...)
		if err != nil || did.RowsAffected() == 0 || d.Verb == "" {
			return err
		}
		return tx.QueryRow(ctx, sqlHostDeedAdd, d.Workspace, d.Client, d.Verb, d.User, d.Name, d.At).Scan(&owed)
	})
	return owed, err
}

// hostDeed changes a name and writes its line. A change that did nothing writes none.
func (sc *Scope) hostDeed(ctx context.Context, client model.ClientID, verb, change string, args ...any) error {
	d := hostDeed{Workspace: sc.Actor.Tenant, Client: client, Verb: verb, User: sc.Actor.User, Name: sc.Actor.Name, At: sc.now()}
	owed, err := changeHost(ctx, sc.control, d, change, args)
	if err != nil || owed == 0 {
		return err
	}
	// The name is changed by now: whoever goes away does not take its line along.
	ctx = context.WithoutCancel(ctx)
	line := sc.lookNote(client, verb)
	line.detail = map[string]any{"deed": owed} // so that it is known to be written
	if err := sc.write(ctx, func(tx pgx.Tx) error { return sc.audit(ctx, tx, line) }); err != nil {
		return err
	}
	_, err = sc.control.Exec(ctx, sqlHostDeedDone, owed)
	return err
}

// hostDeed does the same for a worker.
func (p *Pipeline) hostDeed(ctx context.Context, d hostDeed, change string, args []any) (err error) {
	if d.ID, err = changeHost(ctx, p.control, d, change, args); err != nil || d.ID == 0 {
		return err
	}
	return p.logDeed(ctx, d)
}

const sqlHostDeedLog = `SELECT tenant.log_host_deed($1, $2, $3, $4, nullif($5, 0), $6, $7)`

const sqlHostDeedShard = `SELECT shard FROM control.workspaces WHERE id = $1`

// logDeed writes a line that is owed, once however often it is tried.
func (p *Pipeline) logDeed(ctx context.Context, d hostDeed) error {
	var name string
	if err := p.control.QueryRow(ctx, sqlHostDeedShard, d.Workspace).Scan(&name); err != nil {
		return err
	}
	shard, err := p.shard(name)
	if err != nil {
		return err
	}
	if _, err := shard.Exec(ctx, sqlHostDeedLog, d.Workspace, d.Client, d.ID, d.Verb, d.User, d.Name, d.At); err != nil {
		return err
	}
	_, err = p.control.Exec(ctx, sqlHostDeedDone, d.ID)
	return err
}

const sqlHostDeedsOwed = `
	SELECT id, workspace_id AS workspace, client_id AS client, verb, coalesce(user_id, 0) AS "user", name, at FROM control.review_host_deeds WHERE at <= $1 ORDER BY id LIMIT 100`

// LogHostDeeds writes the lines that were still owed a while ago: whoever owed them is gone.
func (p *Pipeline) LogHostDeeds(ctx context.Context, before time.Time) (err error) {
	defer wrap(&err, "log what became of review hosts")
	rows, err := p.control.Query(ctx, sqlHostDeedsOwed, before)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[hostDeed])
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := p.logDeed(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
