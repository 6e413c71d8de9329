package db

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// Target is one post on one account, as screens show it.
type Target struct {
	ID          model.TargetID
	PostID      model.PostID
	VersionID   model.VersionID
	ClientID    model.ClientID
	Client      string
	ClientZone  string
	AccountID   model.AccountID
	Account     string // its handle
	Network     network.Name
	State       model.State
	Reason      string
	Say         string
	Problems    []network.Problem
	Format      network.Format
	DueAt       *time.Time // the instant, UTC
	LocalAt     *time.Time // the intent's wall clock, in no zone
	Zone        *string
	Occurrence  *string
	NextAt      *time.Time // when the next attempt or look-up is due
	AttemptNo   int
	ExternalID  string
	Permalink   string
	PublishedAt *time.Time
	Revision    int
	UpdatedAt   time.Time
	HeldBy      string // who holds what the client gets of the post; empty if nobody does
}

const targetColumns = `
	t.id, t.post_id, t.version_id, t.client_id, c.name AS client, c.zone AS client_zone, t.account_id, a.handle AS account, t.network, t.state,
	t.reason, t.say, t.problems, t.format, t.due_at, t.local_at, t.zone, t.occurrence, t.next_at, t.attempt_no, t.external_id,
	t.permalink, t.published_at, t.revision, t.updated_at,
	coalesce((SELECT h.name FROM tenant.post_holds h WHERE h.tenant_id = t.tenant_id AND h.post_id = t.post_id AND h.client_id = t.client_id AND h.ended_at IS NULL), '') AS held_by`

const targetTables = `
	  FROM tenant.targets t
	  JOIN tenant.clients c ON c.tenant_id = t.tenant_id AND c.id = t.client_id
	  JOIN tenant.accounts a ON a.tenant_id = t.tenant_id AND a.id = t.account_id`

const sqlTargetsOfPost = `SELECT` + targetColumns + targetTables + `
	 WHERE t.tenant_id = $1 AND t.post_id = ANY ($2) ORDER BY c.name, t.client_id, a.network, a.handle, t.id`

func (sc *Scope) targetsOf(ctx context.Context, tx pgx.Tx, posts ...model.PostID) ([]Target, error) {
	rows, err := tx.Query(ctx, sqlTargetsOfPost, sc.Actor.Tenant, posts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Target])
}

const sqlTargetGet = `SELECT` + targetColumns + targetTables + ` WHERE t.tenant_id = $1 AND t.id = $2`

// target reads one target that the actor may see.
func (sc *Scope) target(ctx context.Context, tx pgx.Tx, id model.TargetID) (Target, error) {
	rows, err := tx.Query(ctx, sqlTargetGet, sc.Actor.Tenant, id)
	if err != nil {
		return Target{}, err
	}
	t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Target])
	if noRows(err) {
		return Target{}, model.Refuse(model.NotFound, "There is no such target.")
	}
	if err != nil {
		return Target{}, err
	}
	if err := sc.need(model.PostsView, t.ClientID, "target"); err != nil {
		return Target{}, err
	}
	return t, nil
}

// Held says whether a pause or a person holds the target back: it goes on when that ends,
// and its NextAt is only when that is asked about once more.
func (t Target) Held() bool {
	switch t.Reason {
	case "workspace_suspended", "workspace_paused", "client_paused", "account_paused", "held":
		return t.State == model.RetryScheduled
	}
	return false
}

// move is one legal step of some targets of a post, by a person.
type move struct {
	ids    []model.TargetID
	to     model.State
	reason string
	say    string
}

const sqlTargetsMove = `
	UPDATE tenant.targets
	   SET state = $3, reason = $4, say = $5, next_at = CASE WHEN $3 = 'scheduled' THEN due_at END,
	       attempts_used = CASE WHEN $3 = 'scheduled' THEN 0 ELSE attempts_used END,
	       limited_since = CASE WHEN $3 = 'scheduled' THEN NULL ELSE limited_since END, revision = revision + 1, updated_at = $6
	 WHERE tenant_id = $1 AND id = ANY ($2) AND state = ANY ($7)
	RETURNING id`

// moveTargets moves those of m.ids that may become m.to, and returns which did.
// One that may not has moved on by itself: a lost race, for the caller to see.
func (sc *Scope) moveTargets(ctx context.Context, tx pgx.Tx, m move) ([]model.TargetID, error) {
	rows, err := tx.Query(ctx, sqlTargetsMove, sc.Actor.Tenant, m.ids, m.to, m.reason, m.say, sc.now(), model.From(m.to))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[model.TargetID])
}

const sqlPostRecompute = `SELECT tenant.recompute_posts(ARRAY[$1::bigint], ARRAY[$2::bigint])`

// recompute brings the post's aggregate up to date after its targets moved.
func (sc *Scope) recompute(ctx context.Context, tx pgx.Tx, post model.PostID) error {
	_, err := tx.Exec(ctx, sqlPostRecompute, sc.Actor.Tenant, post)
	return err
}
