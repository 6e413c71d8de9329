package db

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"herald/db/model"
)

// hand is one workspace being written in a transaction of its shard.
type hand struct {
	*declaring
	place
	tx      pgx.Tx
	clients map[string]clientRow // by slug
	scope   *Scope               // of whoever changes it, who decides nothing
	had     []workflow           // who could decide before
}

// tenant writes one workspace and ends the transaction: it commits only if
// nothing of the workspace was refused.
func (d *declaring) tenant(ctx context.Context, pool *pgxpool.Pool, p place, end func(pgx.Tx, context.Context) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, sqlScopeSet, strconv.FormatInt(int64(p.ID), 10), userSetting(d.by.User)); err != nil {
		return err
	}
	problems, changes := len(d.problems), len(d.changes)
	scope := d.scope(p, pool)
	h := &hand{declaring: d, place: p, tx: tx, scope: scope}
	if err := h.write(ctx); err != nil {
		return refused(err)
	}
	if len(d.problems) > problems {
		d.changes = d.changes[:changes]
		return nil
	}
	if err := end(tx, ctx); err != nil {
		d.changes = d.changes[:changes]
		return err
	}
	return nil
}

func (h *hand) write(ctx context.Context) error {
	for _, step := range []func(context.Context) error{h.begin, h.mirror, h.wereThere, h.allClients, h.allAccess, h.tellMembers, h.eachClient, h.keeps, h.stagesStay, h.waitFor} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin lets whoever runs this look at the workspace before anything of it changes.
func (h *hand) begin(ctx context.Context) error {
	if h.also == nil {
		return nil
	}
	return h.also(ctx, h)
}

// tellMembers writes what became of members into the workspace's audit log.
func (h *hand) tellMembers(ctx context.Context) error {
	for _, n := range h.notes {
		if err := h.scope.audit(ctx, h.tx, n); err != nil {
			return err
		}
	}
	return nil
}

// operator is who changed something, where herald apply did.
const operator = "herald apply"

// note writes the audit line of a change and remembers the line for the operator,
// who was told already of a workspace that the control plane had to change.
func (h *hand) note(ctx context.Context, what string, diff difference, n note) error {
	if n.subject != "workspace" || !h.place.told {
		h.declaring.told(what, diff)
	}
	n.verb, n.detail = "declared", map[string]any{"made": diff.made, "what": slices.Compact(slices.Clone(diff.words))}
	if diff.words == nil {
		n.detail["what"] = []string{}
	}
	return h.scope.audit(ctx, h.tx, n)
}

const sqlTenantGet = `
	SELECT slug, name, zone, state, suspended_at, paused_at, posts_a_month, media_bytes FROM tenant.tenants WHERE tenant_id = $1 FOR NO KEY UPDATE`

const sqlTenantPut = `
	INSERT INTO tenant.tenants (tenant_id, slug, name, zone, state, suspended_at, paused_at, posts_a_month, media_bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
	ON CONFLICT (tenant_id) DO UPDATE SET slug = excluded.slug, name = excluded.name, zone = excluded.zone, state = excluded.state,
	       suspended_at = excluded.suspended_at, paused_at = excluded.paused_at, posts_a_month = excluded.posts_a_month, media_bytes = excluded.media_bytes`

// mirror brings what the shard knows of the workspace to what the control plane
// says.
func (h *hand) mirror(ctx context.Context) error {
	var was place
	var diff difference
	err := h.tx.QueryRow(ctx, sqlTenantGet, h.ID).
		Scan(&was.Slug, &was.Name, &was.Zone, &was.State, &was.suspended, &was.paused, &was.posts, &was.bytes)
	if diff.made = noRows(err); err != nil && !diff.made {
		return err
	}
	set(&diff, "name", &was.Name, &h.Name)
	set(&diff, "zone", &was.Zone, &h.Zone)
	set(&diff, "state", &was.State, &h.State)
	setSince(&diff, "state", &was.suspended, new(h.suspended != nil), h.now)
	setSince(&diff, "paused", &was.paused, new(h.paused != nil), h.now)
	setOrNone(&diff, "posts a month", &was.posts, new(deref(h.posts, 0)))
	setOrNone(&diff, "media bytes", &was.bytes, new(deref(h.bytes, 0)))
	if diff.none() {
		return nil
	}
	_, err = h.tx.Exec(ctx, sqlTenantPut, h.ID, h.Slug, was.Name, was.Zone, was.State, was.suspended, was.paused, was.posts, was.bytes)
	if err != nil {
		return err
	}
	return h.note(ctx, "workspace "+h.Slug+" on its shard", diff, note{subject: "workspace", id: int64(h.ID)})
}

const sqlDeclaredAccess = `SELECT permissions FROM tenant.client_access WHERE tenant_id = $1 AND user_id = $2 AND client_id = $3`

const sqlAccessPut = `
	INSERT INTO tenant.client_access (tenant_id, user_id, client_id, permissions) VALUES ($1, $2, $3, $4)
	ON CONFLICT (tenant_id, user_id, client_id) DO UPDATE SET permissions = excluded.permissions`

// allAccess writes what members may do at single clients, and takes it from
// those who left.
func (h *hand) allAccess(ctx context.Context) error {
	if _, err := h.tx.Exec(ctx, `DELETE FROM tenant.client_access WHERE tenant_id = $1 AND user_id = ANY ($2)`, h.ID, h.gone); err != nil {
		return err
	}
	for _, m := range h.said.Members {
		user, ok := h.members[m.User]
		for _, a := range m.Access {
			if !ok {
				break // refused before, or taken out
			}
			if err := h.access(ctx, m.User, user, a); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *hand) access(ctx context.Context, email string, user model.UserID, a DeclaredAccess) error {
	client, ok := h.clients[a.Client]
	role := h.roles[user]
	if !ok {
		h.refuse(a.At, "the workspace %s has no client %q", h.Slug, a.Client)
		return nil
	}
	want := slices.Sorted(slices.Values(a.Permissions))
	if a.All {
		want = slices.Sorted(slices.Values(role.Grants()))
	}
	for _, p := range want {
		if !slices.Contains(role.Grants(), p) {
			h.refuse(a.At, "the role %s of %s does not grant %s; give a wider role, or leave the permission out", role, email, p)
			return nil
		}
	}
	var have []model.Permission
	if err := h.tx.QueryRow(ctx, sqlDeclaredAccess, h.ID, user, client.id).Scan(&have); err != nil && !noRows(err) {
		return err
	}
	slices.Sort(have)
	if slices.Equal(have, want) {
		return nil
	}
	var err error
	if len(want) == 0 {
		_, err = h.tx.Exec(ctx, `DELETE FROM tenant.client_access WHERE tenant_id = $1 AND user_id = $2 AND client_id = $3`, h.ID, user, client.id)
	} else {
		_, err = h.tx.Exec(ctx, sqlAccessPut, h.ID, user, client.id, want)
	}
	if err != nil {
		return err
	}
	return h.note(ctx, "access of "+email+" to "+h.Slug+"/"+a.Client, difference{words: []string{"permissions"}},
		note{subject: "user", id: int64(user), client: client.id})
}
