package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// timed is a target with its new time; a zero time takes it away, where it is only
// in mind, and is this instant, where the target goes out.
type timed struct {
	target Target
	when   model.When
}

// times are the columns that new times become.
type times struct {
	ids         []model.TargetID
	due         []*time.Time
	local       []*string
	zones       []*string
	occurrences []*string
}

func (t *times) add(id model.TargetID, when model.When) {
	t.ids = append(t.ids, id)
	if when.At.IsZero() {
		t.due, t.local, t.zones, t.occurrences = append(t.due, nil), append(t.local, nil), append(t.zones, nil), append(t.occurrences, nil)
		return
	}
	t.due, t.local = append(t.due, &when.At), append(t.local, new(when.Local.String()))
	t.zones, t.occurrences = append(t.zones, &when.Zone), append(t.occurrences, new(string(when.Occurrence)))
}

const sqlTargetsPlan = `
	UPDATE tenant.targets t
	   SET due_at = coalesce(w.due, $7), local_at = coalesce(w.local::timestamp, coalesce(w.due, $7) AT TIME ZONE c.zone), zone = coalesce(nullif(w.zone, ''), c.zone), occurrence = coalesce(w.occurrence, ''),
	       next_at = CASE WHEN t.state = 'ready' THEN t.next_at ELSE coalesce(w.due, $7) END, reason = '', say = '', attempts_used = 0, limited_since = NULL,
	       revision = t.revision + 1, updated_at = $7
	  FROM unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[]) AS w(id, due, local, zone, occurrence), tenant.clients c
	 WHERE t.tenant_id = $1 AND t.id = w.id AND t.state IN ('ready', 'scheduled', 'retry_scheduled') AND c.tenant_id = t.tenant_id AND c.id = t.client_id
	RETURNING t.id`

// setTimes writes instants and intents, moves ready targets to scheduled, and asks
// the pipeline. It returns which targets that were: one that a worker claimed
// meanwhile is passed over.
func (sc *Scope) setTimes(ctx context.Context, tx pgx.Tx, list []timed) (planned []model.TargetID, err error) {
	var w times
	var ready []model.TargetID
	for _, one := range list {
		w.add(one.target.ID, one.when)
		if one.target.State == model.Ready {
			ready = append(ready, one.target.ID)
		}
	}
	rows, err := tx.Query(ctx, sqlTargetsPlan, sc.Actor.Tenant, w.ids, w.due, w.local, w.zones, w.occurrences, sc.now())
	if err != nil {
		return nil, err
	}
	if planned, err = pgx.CollectRows(rows, pgx.RowTo[model.TargetID]); err != nil || len(planned) == 0 {
		return nil, err
	}
	if len(ready) > 0 {
		if _, err := sc.moveTargets(ctx, tx, move{ids: ready, to: model.Scheduled}); err != nil {
			return nil, err
		}
	}
	return planned, sc.askPublish(ctx, tx, planned)
}

const sqlTargetsWish = `
	UPDATE tenant.targets t SET due_at = w.due, local_at = w.local::timestamp, zone = w.zone, occurrence = w.occurrence, planned_by = nullif($8, 0), revision = t.revision + 1, updated_at = $7
	  FROM unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[]) AS w(id, due, local, zone, occurrence)
	 WHERE t.tenant_id = $1 AND t.id = w.id AND t.state IN ('draft', 'invalid', 'ready')`

// wishTimes keeps times in mind with targets.
func (sc *Scope) wishTimes(ctx context.Context, tx pgx.Tx, list []timed) error {
	var w times
	for _, one := range list {
		w.add(one.target.ID, one.when)
	}
	_, err := tx.Exec(ctx, sqlTargetsWish, sc.Actor.Tenant, w.ids, w.due, w.local, w.zones, w.occurrences, sc.now(), sc.Actor.User)
	return err
}

const sqlPostsTouch = `
	UPDATE tenant.posts SET revision = revision + 1, updated_at = $3 WHERE tenant_id = $1 AND id = ANY ($2)`

// settleAll ends a change of posts: revisions and aggregates are brought up to date.
func (sc *Scope) settleAll(ctx context.Context, tx pgx.Tx, ids []model.PostID) error {
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, sqlPostsTouch, sc.Actor.Tenant, ids, sc.now()); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, sqlPostsRecompute, sc.Actor.Tenant, ids)
	return err
}

const sqlAuditMany = `
	INSERT INTO tenant.audit (tenant_id, at, user_id, name, verb, subject, subject_id, client_id, detail)
	SELECT $1, $2, nullif($3, 0), $4, n.verb, n.subject, n.id, nullif(n.client, 0), n.detail::jsonb
	  FROM unnest($5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::text[]) AS n(verb, subject, id, client, detail)`

// auditMany writes what the actor did, line by line, as audit does.
func (sc *Scope) auditMany(ctx context.Context, tx pgx.Tx, notes []note) error {
	if len(notes) == 0 {
		return nil
	}
	var verbs, subjects, details []string
	var ids []int64
	var clients []model.ClientID
	for _, n := range notes {
		if n.detail == nil {
			n.detail = map[string]any{}
		}
		detail, err := json.Marshal(n.detail)
		if err != nil {
			return err
		}
		verbs, subjects, details = append(verbs, n.verb), append(subjects, n.subject), append(details, string(detail))
		ids, clients = append(ids, n.id), append(clients, n.client)
	}
	_, err := tx.Exec(ctx, sqlAuditMany, sc.Actor.Tenant, sc.now(), sc.Actor.User, sc.Actor.Name, verbs, subjects, ids, clients, details)
	return err
}
