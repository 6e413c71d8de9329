package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// clientRow is a client as the run found or made it.
type clientRow struct {
	id       model.ClientID
	name     string
	zone     string
	cutoff   *time.Duration
	material bool
	auto     bool
	remind   *time.Duration
	every    *time.Duration
	escalate *time.Duration
	paused   *time.Time
	archived *time.Time
}

const sqlDeclaredClients = `
	SELECT slug, id, name, zone, late_cutoff, time_is_material, auto_schedule, remind_after, remind_every, escalate_after, paused_at, archived_at FROM tenant.clients WHERE tenant_id = $1 ORDER BY id FOR NO KEY UPDATE`

// allClients reads the clients and writes the declared ones.
func (h *hand) allClients(ctx context.Context) error {
	h.clients = map[string]clientRow{}
	rows, err := h.tx.Query(ctx, sqlDeclaredClients, h.ID)
	if err != nil {
		return err
	}
	var slug string
	var c clientRow
	_, err = pgx.ForEachRow(rows, []any{&slug, &c.id, &c.name, &c.zone, &c.cutoff, &c.material, &c.auto, &c.remind, &c.every, &c.escalate, &c.paused, &c.archived}, func() error {
		h.clients[slug] = c
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range h.said.Clients {
		if err := h.client(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

const sqlClientInsert = `
	INSERT INTO tenant.clients (tenant_id, slug, name, zone, late_cutoff, time_is_material, paused_at, auto_schedule, remind_after, remind_every, escalate_after, archived_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id`

const sqlClientUpdate = `
	UPDATE tenant.clients SET name = $3, zone = $4, late_cutoff = $5, time_is_material = $6, paused_at = $7, auto_schedule = $8, remind_after = $9, remind_every = $10, escalate_after = $11, archived_at = $12
	 WHERE tenant_id = $1 AND id = $2`

func (h *hand) client(ctx context.Context, c DeclaredClient) (err error) {
	have, there := h.clients[c.Slug]
	diff := difference{made: !there}
	if !there && (c.Name == nil || c.Zone == nil) {
		h.newNeeds(c.At, "client "+c.Slug, map[string]bool{"name": c.Name != nil, "zone": c.Zone != nil})
		return nil
	}
	set(&diff, "name", &have.name, c.Name)
	set(&diff, "zone", &have.zone, c.Zone)
	setOrNone(&diff, "late cut-off", &have.cutoff, c.LateCutoff)
	set(&diff, "time is material", &have.material, c.TimeIsMaterial)
	set(&diff, "auto-schedule", &have.auto, c.AutoSchedule)
	setOrNone(&diff, "reminders", &have.remind, c.RemindAfter)
	setOrNone(&diff, "reminders", &have.every, c.RemindEvery)
	setOrNone(&diff, "escalation", &have.escalate, c.EscalateAfter)
	if err := h.archive(ctx, &diff, &have, c); err != nil {
		return err
	}
	setSince(&diff, "paused", &have.paused, c.Paused, h.now)
	if have.every != nil && have.remind == nil {
		h.refuse(c.At, "remind_every of the client %s needs remind_after", c.Slug)
		return nil
	}
	defer func() { h.clients[c.Slug] = have }()
	switch {
	case diff.none():
		return nil
	case diff.made:
		err = h.tx.QueryRow(ctx, sqlClientInsert, h.ID, c.Slug, have.name, have.zone, have.cutoff, have.material, have.paused, have.auto, have.remind, have.every, have.escalate, have.archived).Scan(&have.id)
	default:
		_, err = h.tx.Exec(ctx, sqlClientUpdate, h.ID, have.id, have.name, have.zone, have.cutoff, have.material, have.paused, have.auto, have.remind, have.every, have.escalate, have.archived)
		if err == nil {
			err = h.scope.replanReminders(ctx, h.tx, have.id)
		}
	}
	if err != nil {
		return err
	}
	return h.note(ctx, "client "+h.Slug+"/"+c.Slug, diff, note{subject: "client", id: int64(have.id), client: have.id})
}

const sqlClientPlanned = `
	SELECT count(*) FROM tenant.targets WHERE tenant_id = $1 AND client_id = $2 AND state IN ('scheduled', 'queued', 'publishing', 'retry_scheduled', 'unknown_outcome')`

// Connections of a client that was put away are not renewed. Once it is back, long
// tokens are twenty days before they end, and what has ended meanwhile is at once.
const sqlClientRenews = `
	UPDATE tenant.accounts SET renew_at = token_expires - interval '20 days' WHERE tenant_id = $1 AND client_id = $2 AND refresh_expires IS NOT NULL AND renew_at IS NULL`

// archive puts a client away, or takes it out again. It refuses while something of
// the client is still on its way. A client that is put away is paused too, so that
// what is planned at the same moment waits and is not sent.
func (h *hand) archive(ctx context.Context, diff *difference, have *clientRow, c DeclaredClient) error {
	if c.Archived == nil || *c.Archived == (have.archived != nil) {
		return nil
	}
	if *c.Archived {
		var planned int
		if err := h.tx.QueryRow(ctx, sqlClientPlanned, h.ID, have.id).Scan(&planned); err != nil {
			return err
		}
		if planned > 0 {
			h.refuse(c.At, "%d posts of %s are planned or on their way; cancel them first, or wait until they are out", planned, have.name)
			return nil
		}
		setSince(diff, "paused", &have.paused, new(true), h.now)
	}
	setSince(diff, "archived", &have.archived, c.Archived, h.now)
	if *c.Archived {
		return nil
	}
	_, err := h.tx.Exec(ctx, sqlClientRenews, h.ID, have.id)
	return err
}

// eachClient writes what belongs to the declared clients.
func (h *hand) eachClient(ctx context.Context) error {
	for _, c := range h.said.Clients {
		row, ok := h.clients[c.Slug]
		if !ok {
			continue
		}
		for _, a := range c.Approvers {
			if err := h.approver(ctx, c, row, a); err != nil {
				return err
			}
		}
		if err := h.stages(ctx, c, row); err != nil {
			return err
		}
		if err := h.escalation(ctx, c, row); err != nil {
			return err
		}
		if err := h.blackouts(ctx, c, row); err != nil {
			return err
		}
		for _, a := range c.Accounts {
			if err := h.account(ctx, c, row, a); err != nil {
				return err
			}
		}
	}
	return nil
}

const sqlDeclaredApprover = `
	SELECT id, name, revoked_at FROM tenant.approvers WHERE tenant_id = $1 AND client_id = $2 AND email = $3 FOR NO KEY UPDATE`

const sqlApproverInsert = `INSERT INTO tenant.approvers (tenant_id, client_id, email, name) VALUES ($1, $2, $3, $4) RETURNING id`

const sqlApproverUpdate = `UPDATE tenant.approvers SET name = $3, revoked_at = $4 WHERE tenant_id = $1 AND id = $2`

const sqlApproverLinks = `UPDATE tenant.review_links SET revoked_at = $3 WHERE tenant_id = $1 AND approver_id = $2 AND revoked_at IS NULL`

// approver writes one approver. Removing one revokes the links that were mailed.
func (h *hand) approver(ctx context.Context, c DeclaredClient, row clientRow, a DeclaredApprover) error {
	var id model.ApproverID
	var name string
	var revoked *time.Time
	var diff difference
	err := h.tx.QueryRow(ctx, sqlDeclaredApprover, h.ID, row.id, a.Email).Scan(&id, &name, &revoked)
	if diff.made = noRows(err); err != nil && !diff.made {
		return err
	}
	what := "approver " + a.Email + " of " + h.Slug + "/" + c.Slug
	if diff.made && a.Remove {
		return nil
	}
	if diff.made && a.Name == nil {
		h.newNeeds(a.At, what, map[string]bool{"name": false})
		return nil
	}
	set(&diff, "name", &name, a.Name)
	setSince(&diff, "removed", &revoked, &a.Remove, h.now)
	switch {
	case diff.none():
		return nil
	case diff.made:
		err = h.tx.QueryRow(ctx, sqlApproverInsert, h.ID, row.id, a.Email, name).Scan(&id)
	default:
		_, err = h.tx.Exec(ctx, sqlApproverUpdate, h.ID, id, name, revoked)
	}
	if err == nil && revoked != nil {
		_, err = h.tx.Exec(ctx, sqlApproverLinks, h.ID, id, h.now)
	}
	if err != nil {
		return err
	}
	return h.note(ctx, what, diff, note{subject: "approver", id: int64(id), client: row.id})
}

// stageRow is a stage as it is compared: its people are ids, signed by kind.
type stageRow struct {
	name, rule string
	people     []int64 // users, and approvers below zero; sorted
}

func (a stageRow) equal(b stageRow) bool {
	return a.name == b.name && a.rule == b.rule && slices.Equal(a.people, b.people)
}

const sqlDeclaredStages = `
	SELECT s.name, s.rule, array_remove(array_agg(coalesce(p.user_id, -p.approver_id) ORDER BY coalesce(p.user_id, -p.approver_id)), NULL)
	  FROM tenant.stages s LEFT JOIN tenant.stage_people p ON p.tenant_id = s.tenant_id AND p.stage_id = s.id
	 WHERE s.tenant_id = $1 AND s.client_id = $2 GROUP BY s.tenant_id, s.id ORDER BY s.position`

// stages replaces the client's workflow as a whole, if it was given and differs.
// Requests that are open keep the workflow they were asked under.
func (h *hand) stages(ctx context.Context, c DeclaredClient, row clientRow) error {
	if c.Stages == nil {
		return nil
	}
	want := make([]stageRow, 0, len(c.Stages))
	for _, s := range c.Stages {
		people, err := h.people(ctx, c, row, s)
		if err != nil {
			return err
		}
		want = append(want, stageRow{s.Name, s.Rule, people})
	}
	rows, err := h.tx.Query(ctx, sqlDeclaredStages, h.ID, row.id)
	if err != nil {
		return err
	}
	have, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (s stageRow, err error) {
		return s, r.Scan(&s.name, &s.rule, &s.people)
	})
	if err != nil || slices.EqualFunc(have, want, stageRow.equal) {
		return err
	}
	if err := h.scope.replaceStages(ctx, h.tx, row.id, want); err != nil {
		return err
	}
	return h.note(ctx, "stages of "+h.Slug+"/"+c.Slug, difference{words: []string{"stages"}}, note{subject: "client", id: int64(row.id), client: row.id})
}

const sqlDeclaredEscalation = `SELECT user_id FROM tenant.escalation_people WHERE tenant_id = $1 AND client_id = $2 ORDER BY user_id`

// escalation replaces whom a client's waiting posts are told of, if it was given and
// differs.
func (h *hand) escalation(ctx context.Context, c DeclaredClient, row clientRow) error {
	if c.EscalateTo == nil {
		return nil
	}
	want := []model.UserID{}
	for _, email := range c.EscalateTo {
		user, member := h.members[email]
		if !member {
			h.refuse(c.At, "escalate_to of the client %s: %s is no member of the workspace", c.Slug, email)
			continue
		}
		want = append(want, user)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	rows, err := h.tx.Query(ctx, sqlDeclaredEscalation, h.ID, row.id)
	if err != nil {
		return err
	}
	have, err := pgx.CollectRows(rows, pgx.RowTo[model.UserID])
	if err != nil || slices.Equal(have, want) {
		return err
	}
	if err := h.scope.escalateTo(ctx, h.tx, row.id, want); err != nil {
		return err
	}
	if err := h.scope.replanReminders(ctx, h.tx, row.id); err != nil {
		return err
	}
	return h.note(ctx, "escalation of "+h.Slug+"/"+c.Slug, difference{words: []string{"people"}}, note{subject: "client", id: int64(row.id), client: row.id})
}

const sqlStageApprover = `SELECT id FROM tenant.approvers WHERE tenant_id = $1 AND client_id = $2 AND email = $3 AND revoked_at IS NULL`

const sqlStageMember = `
	SELECT EXISTS (SELECT FROM tenant.client_access WHERE tenant_id = $1 AND user_id = $2 AND client_id = $3 AND 'posts.approve' = ANY (permissions))`

// people finds the persons of a stage: approvers of the client first, then
// members who may approve for it.
func (h *hand) people(ctx context.Context, c DeclaredClient, row clientRow, s DeclaredStage) ([]int64, error) {
	ids := []int64{}
	for _, email := range s.People {
		var id int64
		err := h.tx.QueryRow(ctx, sqlStageApprover, h.ID, row.id, email).Scan(&id)
		if err == nil {
			ids = append(ids, -id)
			continue
		}
		if !noRows(err) {
			return nil, err
		}
		user, member := h.members[email]
		may := member && h.roles[user].EveryClient()
		if member && !may {
			if err := h.tx.QueryRow(ctx, sqlStageMember, h.ID, user, row.id).Scan(&may); err != nil {
				return nil, err
			}
		}
		switch {
		case !member:
			h.refuse(s.At, "%s is neither an approver of the client %s nor a member of the workspace", email, c.Slug)
		case !may:
			h.refuse(s.At, "%s may not approve for the client %s; give posts.approve there", email, c.Slug)
		default:
			ids = append(ids, int64(user))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// blackoutRow is a blackout as it is compared.
type blackoutRow struct {
	From, To time.Time
	Reason   string
}

const sqlDeclaredBlackouts = `SELECT from_at, to_at, reason FROM tenant.blackouts WHERE tenant_id = $1 AND client_id = $2 ORDER BY from_at, to_at, reason`

const sqlBlackoutInsert = `INSERT INTO tenant.blackouts (tenant_id, client_id, from_at, to_at, reason) VALUES ($1, $2, $3, $4, $5)`

// blackouts replaces the client's blackouts as a whole, if they were given and
// differ. Of a repeated hour they take the larger part.
func (h *hand) blackouts(ctx context.Context, c DeclaredClient, row clientRow) error {
	if c.Blackouts == nil {
		return nil
	}
	var want []blackoutRow
	for _, b := range c.Blackouts {
		if one, ok := h.blackout(b, row.zone); ok {
			want = append(want, one)
		}
	}
	slices.SortFunc(want, blackoutRow.compare)
	rows, err := h.tx.Query(ctx, sqlDeclaredBlackouts, h.ID, row.id)
	if err != nil {
		return err
	}
	have, err := pgx.CollectRows(rows, pgx.RowToStructByPos[blackoutRow])
	if err != nil || slices.EqualFunc(have, want, func(a, b blackoutRow) bool { return a.compare(b) == 0 }) {
		return err
	}
	if _, err := h.tx.Exec(ctx, `DELETE FROM tenant.blackouts WHERE tenant_id = $1 AND client_id = $2`, h.ID, row.id); err != nil {
		return err
	}
	for _, b := range want {
		if _, err := h.tx.Exec(ctx, sqlBlackoutInsert, h.ID, row.id, b.From, b.To, b.Reason); err != nil {
			return err
		}
	}
	if err := h.silenced(ctx, c, row); err != nil {
		return err
	}
	return h.note(ctx, "blackouts of "+h.Slug+"/"+c.Slug, difference{words: []string{"blackouts"}}, note{subject: "client", id: int64(row.id), client: row.id})
}

const sqlSilenced = `
	SELECT count(*), min(t.due_at) FROM tenant.targets t
	 WHERE t.tenant_id = $1 AND t.client_id = $2 AND t.state IN ('scheduled', 'retry_scheduled')
	   AND EXISTS (SELECT FROM tenant.blackouts b WHERE b.tenant_id = t.tenant_id AND b.client_id = t.client_id
	                AND b.from_at <= coalesce(t.next_at, t.due_at) AND b.to_at > coalesce(t.next_at, t.due_at))`

// silenced tells how much was already planned inside the blackouts: it waits for
// their end.
func (h *hand) silenced(ctx context.Context, c DeclaredClient, row clientRow) error {
	var n int
	var first *time.Time
	if err := h.tx.QueryRow(ctx, sqlSilenced, h.ID, row.id).Scan(&n, &first); err != nil || n == 0 {
		return err
	}
	h.changes = append(h.changes, fmt.Sprintf("blackouts of %s/%s: %d already planned inside wait for the end, the first of them due %s",
		h.Slug, c.Slug, n, inZone(*first, row.zone)))
	return nil
}

func (a blackoutRow) compare(b blackoutRow) int {
	if n := a.From.Compare(b.From); n != 0 {
		return n
	}
	if n := a.To.Compare(b.To); n != 0 {
		return n
	}
	return strings.Compare(a.Reason, b.Reason)
}

func (h *hand) blackout(b DeclaredBlackout, zone string) (row blackoutRow, ok bool) {
	from, err := model.Resolve(b.From, zone, model.Earlier)
	if err != nil {
		h.refuse(b.At, "from: %s", err)
		return row, false
	}
	to, err := model.Resolve(b.To, zone, model.Later)
	if err != nil {
		h.refuse(b.At, "to: %s", err)
		return row, false
	}
	if !to.At.After(from.At) {
		h.refuse(b.At, "a blackout ends after it begins; from is %s, to is %s", b.From, b.To)
		return row, false
	}
	return blackoutRow{from.At, to.At, b.Reason}, true
}
