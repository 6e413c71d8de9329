package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/secret"
)

// control writes the control plane, and works out which workspaces the run is
// about. What is refused is kept in problems.
func (d *declaring) control(ctx context.Context, tx pgx.Tx) (err error) {
	if d.before, err = d.seats(ctx, tx); err != nil {
		return err
	}
	for _, p := range d.doc.Plans {
		if err := d.plan(ctx, tx, p); err != nil {
			return err
		}
	}
	for _, u := range d.doc.Users {
		if err := d.user(ctx, tx, u); err != nil {
			return err
		}
	}
	for _, w := range d.doc.Workspaces {
		if err := d.workspace(ctx, tx, w); err != nil {
			return err
		}
	}
	if d.after, err = d.seats(ctx, tx); err != nil {
		return err
	}
	d.ownersStay()
	return d.others(ctx, tx)
}

const sqlPlanGet = `SELECT posts_a_month, media_bytes FROM control.plans WHERE name = $1 FOR UPDATE`

const sqlPlanPut = `
	INSERT INTO control.plans (name, posts_a_month, media_bytes) VALUES ($1, $2, $3)
	ON CONFLICT (name) DO UPDATE SET posts_a_month = excluded.posts_a_month, media_bytes = excluded.media_bytes`

func (d *declaring) plan(ctx context.Context, tx pgx.Tx, p DeclaredPlan) error {
	var posts, bytes *int64
	var diff difference
	err := tx.QueryRow(ctx, sqlPlanGet, p.Name).Scan(&posts, &bytes)
	if diff.made = noRows(err); err != nil && !diff.made {
		return err
	}
	setOrNone(&diff, "posts a month", &posts, p.PostsAMonth)
	setOrNone(&diff, "media bytes", &bytes, p.MediaBytes)
	if diff.none() {
		return nil
	}
	d.told("plan "+p.Name, diff)
	_, err = tx.Exec(ctx, sqlPlanPut, p.Name, posts, bytes)
	return err
}

const sqlDeclaredUser = `
	SELECT id, name, zone, password_hash, declared_hash, disabled_at FROM control.users WHERE email = $1 FOR UPDATE`

const sqlUserInsert = `
	INSERT INTO control.users (email, name, zone, password_hash, declared_hash, disabled_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`

const sqlUserUpdate = `
	UPDATE control.users SET name = $2, zone = $3, password_hash = $4, declared_hash = $5, disabled_at = $6 WHERE id = $1`

func (d *declaring) user(ctx context.Context, tx pgx.Tx, u DeclaredUser) error {
	var id model.UserID
	var diff difference
	have := userRow{}
	err := tx.QueryRow(ctx, sqlDeclaredUser, u.Email).Scan(&id, &have.name, &have.zone, &have.hash, &have.declared, &have.disabled)
	if diff.made = noRows(err); err != nil && !diff.made {
		return err
	}
	if diff.made && u.Name == nil {
		d.refuse(u.At, "the user %s is new and needs a name", u.Email)
		return nil
	}
	set(&diff, "name", &have.name, u.Name)
	setOrNone(&diff, "zone", &have.zone, u.Zone)
	setSince(&diff, "disabled", &have.disabled, u.Disabled, d.now)
	fresh, err := d.password(ctx, u, &diff, &have)
	if err != nil || diff.none() {
		return err
	}
	d.told("user "+u.Email, diff)
	if diff.made {
		return tx.QueryRow(ctx, sqlUserInsert, u.Email, have.name, have.zone, have.hash, have.declared, have.disabled).Scan(&id)
	}
	if _, err := tx.Exec(ctx, sqlUserUpdate, id, have.name, have.zone, have.hash, have.declared, have.disabled); err != nil {
		return err
	}
	if fresh || have.disabled != nil {
		_, err = tx.Exec(ctx, `DELETE FROM control.sessions WHERE user_id = $1`, id)
	}
	return err
}

type userRow struct {
	name           string
	zone           *string
	hash, declared *string
	disabled       *time.Time
}

// password sets the password unless the same one was declared before; fresh says
// that it did, which ends the person's sessions.
func (d *declaring) password(ctx context.Context, u DeclaredUser, diff *difference, have *userRow) (fresh bool, err error) {
	want := u.PasswordHash
	switch {
	case want == "" && u.Password.Empty():
		return false, nil
	case want != "" && have.declared != nil && *have.declared == want:
		return false, nil
	case want == "" && have.declared != nil:
		same, _, err := secret.CheckPassword(ctx, *have.declared, u.Password.Reveal(), d.doc.Cost)
		if err != nil || same {
			return false, err
		}
	}
	if want == "" {
		if want, err = secret.HashPassword(ctx, u.Password.Reveal(), d.doc.Cost); err != nil {
			return false, err
		}
	}
	have.hash, have.declared = &want, &want
	diff.words = append(diff.words, "password")
	return true, nil
}

const sqlDeclaredWorkspace = `
	SELECT id, name, zone, plan, shard, state, suspended_at, paused_at FROM control.workspaces WHERE slug = $1 FOR UPDATE`

const sqlWorkspaceInsert = `
	INSERT INTO control.workspaces (slug, name, zone, plan, shard, state, suspended_at, paused_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`

const sqlWorkspaceUpdate = `
	UPDATE control.workspaces SET name = $2, zone = $3, plan = $4, state = $5, suspended_at = $6, paused_at = $7 WHERE id = $1`

func (d *declaring) workspace(ctx context.Context, tx pgx.Tx, w DeclaredWorkspace) error {
	p := place{said: w, Workspace: Workspace{Slug: w.Slug, State: "active", Shard: MainShard}}
	var plan string
	var diff difference
	err := tx.QueryRow(ctx, sqlDeclaredWorkspace, w.Slug).Scan(&p.ID, &p.Name, &p.Zone, &plan, &p.Shard, &p.State, &p.suspended, &p.paused)
	if diff.made = noRows(err); err != nil && !diff.made {
		return err
	}
	if ok, err := d.workspaceRules(ctx, tx, w, p, diff.made); err != nil || !ok {
		return err
	}
	if w.Shard != nil {
		p.Shard = *w.Shard
	}
	set(&diff, "name", &p.Name, w.Name)
	set(&diff, "zone", &p.Zone, w.Zone)
	set(&diff, "plan", &plan, w.Plan)
	set(&diff, "state", &p.State, w.State)
	setSince(&diff, "state", &p.suspended, new(p.State == "suspended"), d.now)
	setSince(&diff, "paused", &p.paused, w.Paused, d.now)
	if !diff.none() {
		d.told("workspace "+w.Slug, diff)
	}
	switch {
	case diff.made:
		err = tx.QueryRow(ctx, sqlWorkspaceInsert, w.Slug, p.Name, p.Zone, plan, p.Shard, p.State, p.suspended, p.paused).Scan(&p.ID)
	case !diff.none():
		_, err = tx.Exec(ctx, sqlWorkspaceUpdate, p.ID, p.Name, p.Zone, plan, p.State, p.suspended, p.paused)
	default:
		err = nil
	}
	if err != nil {
		return err
	}
	if err := tx.QueryRow(ctx, sqlPlanGet, plan).Scan(&p.posts, &p.bytes); err != nil {
		return err
	}
	p.told = !diff.none()
	return d.memberships(ctx, tx, p)
}

const sqlWorkspaceRules = `
	SELECT $1::text IS NULL OR EXISTS (SELECT FROM control.plans WHERE name = $1), $2::text IS NULL OR EXISTS (SELECT FROM control.shards WHERE name = $2)`

// workspaceRules refuses what the control plane cannot hold.
func (d *declaring) workspaceRules(ctx context.Context, tx pgx.Tx, w DeclaredWorkspace, was place, made bool) (ok bool, err error) {
	var planned, sharded bool
	if err := tx.QueryRow(ctx, sqlWorkspaceRules, w.Plan, w.Shard).Scan(&planned, &sharded); err != nil {
		return false, err
	}
	before := len(d.problems)
	if !planned {
		d.refuse(w.At, "there is no plan %q; declare it under plans", *w.Plan)
	}
	switch _, reached := d.store.shards[deref(w.Shard, MainShard)]; {
	case !sharded:
		d.refuse(w.At, "there is no shard %q; set HERALD_SHARD_<NAME>_URL and run herald migrate", *w.Shard)
	case !reached:
		d.refuse(w.At, "the shard %q has no address here; set HERALD_SHARD_<NAME>_URL", *w.Shard)
	case !made && w.Shard != nil && *w.Shard != was.Shard:
		d.refuse(w.At, "the workspace %s lives on the shard %s and cannot move to %s by this", w.Slug, was.Shard, *w.Shard)
	}
	if made {
		d.newNeeds(w.At, "workspace "+w.Slug, map[string]bool{"name": w.Name != nil, "zone": w.Zone != nil, "plan": w.Plan != nil})
	}
	return len(d.problems) == before, nil
}

// newNeeds refuses something new that lacks a field.
func (d *declaring) newNeeds(at, what string, has map[string]bool) {
	for _, field := range []string{"name", "zone", "plan", "role", "network", "handle", "address"} {
		if given, asked := has[field]; asked && !given {
			d.refuse(at, "the %s is new and needs the key %s", what, field)
		}
	}
}

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

const sqlDeclaredMember = `
	SELECT u.id, u.name, coalesce(m.role, '') FROM control.users u LEFT JOIN control.memberships m ON m.user_id = u.id AND m.workspace_id = $1 WHERE u.email = $2`

const sqlMembershipPut = `
	INSERT INTO control.memberships (workspace_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role`

const sqlMembershipDelete = `DELETE FROM control.memberships WHERE workspace_id = $1 AND user_id = $2`

const sqlMembershipList = `
	SELECT u.email, u.id, m.role FROM control.memberships m JOIN control.users u ON u.id = m.user_id WHERE m.workspace_id = $1`

// memberships writes who belongs to the workspace, and remembers the place with all
// of them.
func (d *declaring) memberships(ctx context.Context, tx pgx.Tx, p place) error {
	for _, m := range p.said.Members {
		if err := d.member(ctx, tx, &p, m); err != nil {
			return err
		}
	}
	rows, err := tx.Query(ctx, sqlMembershipList, p.ID)
	if err != nil {
		return err
	}
	p.members, p.roles = map[string]model.UserID{}, map[model.UserID]model.Role{}
	var email string
	var id model.UserID
	var role model.Role
	_, err = pgx.ForEachRow(rows, []any{&email, &id, &role}, func() error {
		p.members[email], p.roles[id] = id, role
		return nil
	})
	d.places = append(d.places, p)
	return err
}

func (d *declaring) member(ctx context.Context, tx pgx.Tx, p *place, m DeclaredMember) error {
	var id model.UserID
	var name string
	var role model.Role
	err := tx.QueryRow(ctx, sqlDeclaredMember, p.ID, m.User).Scan(&id, &name, &role)
	if noRows(err) {
		d.refuse(m.At, "there is no user %s; declare it under users", m.User)
		return nil
	}
	if err != nil {
		return err
	}
	what := fmt.Sprintf("member %s of %s", m.User, p.Slug)
	diff := difference{made: role == ""}
	if m.Remove {
		p.gone = append(p.gone, id)
	}
	switch {
	case m.Remove && role == "":
		return nil
	case m.Remove:
		d.changes = append(d.changes, what+": removed")
		p.notes = append(p.notes, memberNote("removed", id, name, ""))
		_, err = tx.Exec(ctx, sqlMembershipDelete, p.ID, id)
		return err
	case diff.made && m.Role == nil:
		d.newNeeds(m.At, what, map[string]bool{"role": false})
		return nil
	}
	set(&diff, "role", &role, m.Role)
	if diff.none() {
		return nil
	}
	d.told(what, diff)
	switch {
	case !diff.made:
		p.notes = append(p.notes, memberNote("role_given", id, name, role))
	case id == d.by.User:
		p.notes = append(p.notes, memberNote("joined", id, name, role))
	default:
		p.notes = append(p.notes, memberNote("added", id, name, role))
	}
	_, err = tx.Exec(ctx, sqlMembershipPut, p.ID, id, role)
	return err
}

// memberNote is what became of a member. The name is kept, since a workspace's shard
// knows nobody's.
func memberNote(verb string, id model.UserID, name string, role model.Role) note {
	n := note{verb: verb, subject: "user", id: int64(id), detail: map[string]any{"who": name}}
	if role != "" {
		n.detail["role"] = role
	}
	return n
}

const sqlWorkspacesOthers = `
	SELECT w.id, w.slug, w.name, w.zone, w.shard, w.state, w.suspended_at, w.paused_at, p.posts_a_month, p.media_bytes
	  FROM control.workspaces w JOIN control.plans p ON p.name = w.plan
	 WHERE (w.plan = ANY ($1) OR w.id = ANY ($3)) AND NOT w.id = ANY ($2) ORDER BY w.id`

// others adds the workspaces that are not named and are touched all the same: those
// whose plan was declared, since their shards hold a copy of its limits, and those
// that somebody can no longer sign in to, or can again.
func (d *declaring) others(ctx context.Context, tx pgx.Tx) error {
	plans, known := []string{}, []model.TenantID{}
	for _, p := range d.doc.Plans {
		plans = append(plans, p.Name)
	}
	for _, p := range d.places {
		known = append(known, p.ID)
	}
	rows, err := tx.Query(ctx, sqlWorkspacesOthers, plans, known, d.felt())
	if err != nil {
		return err
	}
	var p place
	_, err = pgx.ForEachRow(rows, []any{&p.ID, &p.Slug, &p.Name, &p.Zone, &p.Shard, &p.State, &p.suspended, &p.paused, &p.posts, &p.bytes}, func() error {
		d.places = append(d.places, p)
		p = place{}
		return nil
	})
	return err
}
