package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// planFacts are what the rules of planning ask about targets: read at once, however
// many they are, so that one post and fifty are judged by the same rules.
type planFacts struct {
	now    time.Time
	quiet  []quietTime
	closed []closedAccount
	files  map[model.TargetID]wrongFile
}

// quietTime is a blackout, the one that ends last first.
type quietTime struct {
	ClientID model.ClientID
	Client   string
	Zone     string
	Reason   string
	FromAt   time.Time
	ToAt     time.Time
}

// closedAccount is one that cannot publish now, in order of handles.
type closedAccount struct {
	ID     model.AccountID
	Handle string
	State  string
}

// wrongFile is the first file of a target that cannot be used, or not yet.
type wrongFile struct {
	Target model.TargetID
	Name   string
	State  MediaState
	Reason string
}

const sqlFactsQuiet = `
	SELECT b.client_id, c.name AS client, c.zone, b.reason, b.from_at, b.to_at FROM tenant.blackouts b
	  JOIN tenant.clients c ON c.tenant_id = b.tenant_id AND c.id = b.client_id
	 WHERE b.tenant_id = $1 AND b.client_id = ANY ($2) AND b.to_at > $3 ORDER BY b.to_at DESC`

const sqlFactsAccounts = `
	SELECT id, handle, state FROM tenant.accounts WHERE tenant_id = $1 AND id = ANY ($2) AND state <> 'active' ORDER BY handle`

const sqlFactsFiles = `
	SELECT DISTINCT ON (t.id) t.id AS target, m.name, m.state, coalesce(r.reason, '') AS reason
	  FROM tenant.targets t
	 CROSS JOIN LATERAL unnest(t.media_ids, t.media_recipes) AS w(id, recipe)
	  JOIN tenant.media m ON m.tenant_id = t.tenant_id AND m.id = w.id
	  LEFT JOIN tenant.media_renditions r ON r.tenant_id = m.tenant_id AND r.media_id = m.id AND r.recipe = w.recipe AND r.state = 'failed'
	 WHERE t.tenant_id = $1 AND t.id = ANY ($2) AND (m.state <> 'ready' OR r.id IS NOT NULL)
	 ORDER BY t.id, m.id`

// planFacts reads what planning targets depends on.
func (sc *Scope) planFacts(ctx context.Context, tx pgx.Tx, targets []Target) (f planFacts, err error) {
	if f, err = sc.timeFacts(ctx, tx, targets); err != nil {
		return f, err
	}
	rows, err := tx.Query(ctx, sqlFactsFiles, sc.Actor.Tenant, idsOf(targets))
	if err != nil {
		return f, err
	}
	files, err := pgx.CollectRows(rows, pgx.RowToStructByName[wrongFile])
	f.files = map[model.TargetID]wrongFile{}
	for _, one := range files {
		f.files[one.Target] = one
	}
	return f, err
}

// timeFacts reads blackouts and accounts. Targets need their client; one without
// an account asks about none.
func (sc *Scope) timeFacts(ctx context.Context, tx pgx.Tx, targets []Target) (f planFacts, err error) {
	f.now = sc.now()
	rows, err := tx.Query(ctx, sqlFactsQuiet, sc.Actor.Tenant, clientsOf(targets), f.now.Add(-pastSlack))
	if err != nil {
		return f, err
	}
	if f.quiet, err = pgx.CollectRows(rows, pgx.RowToStructByName[quietTime]); err != nil {
		return f, err
	}
	var accounts []model.AccountID
	for _, t := range targets {
		accounts = append(accounts, t.AccountID)
	}
	if rows, err = tx.Query(ctx, sqlFactsAccounts, sc.Actor.Tenant, accounts); err != nil {
		return f, err
	}
	f.closed, err = pgx.CollectRows(rows, pgx.RowToStructByName[closedAccount])
	return f, err
}

func idsOf(targets []Target) []model.TargetID {
	ids := make([]model.TargetID, len(targets))
	for i, t := range targets {
		ids[i] = t.ID
	}
	return ids
}

// mayGo refuses targets that may not be published at a time (zero: now), or not as
// they are.
func (f planFacts) mayGo(chosen []Target, when model.When) error {
	if err := f.mayPublishAt(chosen, when); err != nil {
		return err
	}
	return f.filesReady(chosen)
}

// mayPublishAt refuses a time in a blackout and accounts that cannot publish.
func (f planFacts) mayPublishAt(chosen []Target, when model.When) error {
	at := when.At
	if at.IsZero() {
		at = f.now
	}
	if err := f.outsideBlackouts(clientsOf(chosen), at); err != nil {
		return err
	}
	for _, a := range f.closed {
		switch {
		case !slices.ContainsFunc(chosen, func(t Target) bool { return t.AccountID == a.ID }):
		case a.State == "needs_reconnect":
			return model.RefuseField("accounts", a.Handle+" has lost its connection. Reconnect the account, or take it out of the post.")
		default:
			return model.RefuseField("accounts", a.Handle+" is switched off. Take it out of the post.")
		}
	}
	return nil
}

func (f planFacts) outsideBlackouts(clients []model.ClientID, at time.Time) error {
	for _, q := range f.quiet {
		if slices.Contains(clients, q.ClientID) && !q.FromAt.After(at) && q.ToAt.After(at) {
			return model.RefuseField("when", fmt.Sprintf("%s has a blackout then (%s). It ends %s.", q.Client, q.Reason, inZone(q.ToAt, q.Zone)))
		}
	}
	return nil
}

// filesReady refuses targets with a file that is gone, is not ready, or could not be
// made into what the network takes. One that is still being made is waited for when
// the time comes.
func (f planFacts) filesReady(chosen []Target) error {
	for _, t := range chosen {
		one, wrong := f.files[t.ID]
		switch {
		case !wrong:
		case one.State.OnItsWay():
			return model.Refuse(model.Conflict, "“"+one.Name+"” is still being "+stateOfFile(one.State)+". Try again in a moment.")
		case one.State == MediaDeleted:
			return model.Refuse(model.Conflict, "“"+one.Name+"” was deleted from the library. Replace it in the post and have it approved again.")
		case one.Reason != "":
			return model.Refuse(model.Conflict, "“"+one.Name+"” could not be made ready: "+one.Reason)
		default:
			return model.Refuse(model.Conflict, "“"+one.Name+"” was refused when it was checked. Replace it in the post and have it approved again.")
		}
	}
	return nil
}
