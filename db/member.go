package db

import (
	"context"
	"maps"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Member is a person of the workspace, with what they may do at single clients if
// their role does not reach all.
type Member struct {
	ID       model.UserID
	Name     string
	Email    string
	Role     model.Role
	Disabled bool // by the operator: cannot sign in anywhere
	Since    time.Time
	Access   map[model.ClientID][]model.Permission
}

// Seen is the state that a form of the member sends back.
func (m Member) Seen() string { return accessSeen(m.Role, m.Access) }

func accessSeen(role model.Role, access map[model.ClientID][]model.Permission) string {
	parts := []any{role}
	for _, id := range slices.Sorted(maps.Keys(access)) {
		parts = append(parts, id, slices.Sorted(slices.Values(access[id])))
	}
	return seenAs(parts...)
}

// MemberClient is a client as the screens of members name it.
type MemberClient struct {
	ID       model.ClientID
	Slug     string
	Name     string
	Archived bool
}

// MembersPage is who belongs to the workspace and who was asked to.
type MembersPage struct {
	Members     []Member
	Clients     []MemberClient
	Invitations []Invitation
}

const sqlMemberList = `
	SELECT u.id, u.name, u.email, m.role, u.disabled_at IS NOT NULL AS disabled, m.created_at AS since
	  FROM control.memberships m JOIN control.users u ON u.id = m.user_id
	 WHERE m.workspace_id = $1 ORDER BY array_position(ARRAY['owner', 'admin', 'manager', 'editor', 'viewer'], m.role), lower(u.name), u.id`

const sqlMemberAccess = `SELECT user_id, client_id, permissions FROM tenant.client_access WHERE tenant_id = $1`

const sqlMemberClients = `SELECT id, slug, name, archived_at IS NOT NULL AS archived FROM tenant.clients WHERE tenant_id = $1 ORDER BY archived_at IS NOT NULL, name, id`

// Members lists the people of the workspace, its clients, and the invitations that
// are open.
func (sc *Scope) Members(ctx context.Context) (p MembersPage, err error) {
	defer wrap(&err, "list members")
	if err := sc.manages(); err != nil {
		return p, err
	}
	rows, err := sc.control.Query(ctx, sqlMemberList, sc.Actor.Tenant)
	if err != nil {
		return p, err
	}
	if p.Members, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[Member]); err != nil {
		return p, err
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if p.Clients, err = sc.memberClients(ctx, tx); err != nil {
			return err
		}
		access, err := sc.memberAccess(ctx, tx)
		if err != nil {
			return err
		}
		for i, m := range p.Members {
			p.Members[i].Access = access[m.ID]
		}
		p.Invitations, err = sc.openInvitations(ctx, tx)
		return err
	})
	return p, err
}

func (sc *Scope) memberClients(ctx context.Context, tx pgx.Tx) ([]MemberClient, error) {
	rows, err := tx.Query(ctx, sqlMemberClients, sc.Actor.Tenant)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[MemberClient])
}

func (sc *Scope) memberAccess(ctx context.Context, tx pgx.Tx) (map[model.UserID]map[model.ClientID][]model.Permission, error) {
	rows, err := tx.Query(ctx, sqlMemberAccess, sc.Actor.Tenant)
	if err != nil {
		return nil, err
	}
	all := map[model.UserID]map[model.ClientID][]model.Permission{}
	var user model.UserID
	var client model.ClientID
	var granted []model.Permission
	_, err = pgx.ForEachRow(rows, []any{&user, &client, &granted}, func() error {
		if all[user] == nil {
			all[user] = map[model.ClientID][]model.Permission{}
		}
		all[user][client], granted = granted, nil
		return nil
	})
	return all, err
}

// Member reads one person of the workspace with its clients. It refuses with
// NotFound who does not belong to it.
func (sc *Scope) Member(ctx context.Context, id model.UserID) (m Member, clients []MemberClient, err error) {
	p, err := sc.Members(ctx)
	if err != nil {
		return m, nil, err
	}
	i := slices.IndexFunc(p.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return m, nil, errNoMember
	}
	return p.Members[i], p.Clients, nil
}

var errNoMember = model.Refuse(model.NotFound, "There is no such member.")

// MemberForm is what a member may do from now on. Access counts for roles that do
// not reach every client; what the role does not grant is left out of it.
type MemberForm struct {
	Role   model.Role
	Access map[model.ClientID][]model.Permission
	Seen   string
}

// EditMember changes what a member may do. Only an owner makes owners or changes
// them, and the last owner stays one. It refuses with Conflict if the member changed
// since the form was drawn, and what would leave a stage of a workflow with nobody.
func (sc *Scope) EditMember(ctx context.Context, id model.UserID, f MemberForm) (m Member, err error) {
	defer wrap(&err, "edit member %d", id)
	m, clients, err := sc.Member(ctx, id)
	if err != nil {
		return m, err
	}
	if err := sc.mayGive(m.Role, f.Role); err != nil {
		return m, err
	}
	slugs, err := f.bySlug(clients)
	if err != nil {
		return m, err
	}
	said := DeclaredMember{User: m.Email, Role: &f.Role}
	for _, c := range clients {
		said.Access = append(said.Access, DeclaredAccess{Client: c.Slug, Permissions: slugs[c.Slug]})
	}
	return m, sc.arrange(ctx, DeclaredWorkspace{Members: []DeclaredMember{said}}, sc.unlessChanged(id, f.Seen))
}

// RemoveMember takes a person out of the workspace. What waits for their approval
// goes on with those who are left.
func (sc *Scope) RemoveMember(ctx context.Context, id model.UserID, seen string) (m Member, err error) {
	defer wrap(&err, "remove member %d", id)
	if m, _, err = sc.Member(ctx, id); err != nil {
		return m, err
	}
	if err := sc.mayGive(m.Role, ""); err != nil {
		return m, err
	}
	return m, sc.arrange(ctx, DeclaredWorkspace{Members: []DeclaredMember{{User: m.Email, Remove: true}}}, sc.unlessChanged(id, seen))
}

// unlessChanged refuses if a member is not what a form was drawn from. The role is
// that of before this run; who is disabled has none there.
func (sc *Scope) unlessChanged(id model.UserID, seen string) func(context.Context, *hand) error {
	return func(ctx context.Context, h *hand) error {
		all, err := sc.memberAccess(ctx, h.tx)
		if err != nil {
			return err
		}
		was, enabled := h.before[h.ID][id]
		if enabled && accessSeen(was.Role, all[id]) != seen {
			return errStale
		}
		return nil
	}
}

// mayGive refuses to move somebody between two roles, either of which may be none.
func (sc *Scope) mayGive(from, to model.Role) error {
	if to != "" && to.Grants() == nil {
		return model.RefuseField("role", "Choose a role.")
	}
	if sc.Actor.Role != model.Owner && (from == model.Owner || to == model.Owner) {
		return model.Refuse(model.Forbidden, "Only an owner can make owners, and change or remove them.")
	}
	return nil
}

// bySlug is the access that the form asks for, by the short names of clients. It
// refuses clients that are not there, and a role that would see nothing.
func (f MemberForm) bySlug(clients []MemberClient) (map[string][]model.Permission, error) {
	slugs := map[string][]model.Permission{}
	if f.Role.EveryClient() {
		return slugs, nil
	}
	for id, asked := range f.Access {
		i := slices.IndexFunc(clients, func(c MemberClient) bool { return c.ID == id })
		if i < 0 {
			return nil, model.Refuse(model.NotFound, "There is no such client.")
		}
		granted := slices.DeleteFunc(slices.Clone(asked), func(p model.Permission) bool { return !slices.Contains(f.Role.Grants(), p) })
		if len(granted) > 0 && !slices.Contains(granted, model.PostsView) {
			granted = append(granted, model.PostsView) // whatever else is done is done to posts one sees
		}
		if len(granted) > 0 {
			slugs[clients[i].Slug] = granted
		}
	}
	if len(slugs) == 0 {
		return nil, model.RefuseField("access", "Choose at least one client: this role sees only those it is given.")
	}
	return slugs, nil
}

// cleanEmail is an address as it is kept.
func cleanEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 {
		return "", model.RefuseField("email", "Write an e-mail address, as mia@example.com.")
	}
	return s, nil
}
