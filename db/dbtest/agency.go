package dbtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// Agency is a workspace with its owner.
type Agency struct {
	w     *World
	ID    model.TenantID
	Slug  string
	Shard string
	Owner *db.Scope
}

// Agency makes a workspace on a shard with one owner.
func (w *World) Agency(t testing.TB, slug, shard string) *Agency {
	t.Helper()
	w.Super(t, db.MainShard, `INSERT INTO control.plans (name) VALUES ('free') ON CONFLICT DO NOTHING`)
	id := Look[model.TenantID](t, w, db.MainShard, `
		INSERT INTO control.workspaces (slug, name, zone, plan, shard) VALUES ($1, $2, 'Europe/Berlin', 'free', $3) RETURNING id`, slug, "Agency "+slug, shard)
	w.Super(t, shard, `INSERT INTO tenant.tenants (tenant_id, slug, name, zone, state) VALUES ($1, $2, $3, 'Europe/Berlin', 'active')`, id, slug, "Agency "+slug)
	a := &Agency{w: w, ID: id, Slug: slug, Shard: shard}
	a.Owner = a.Member(t, model.Owner, nil)
	return a
}

// Member adds a person with a role, and with permissions at single clients for
// roles that need them, and returns the person's Scope.
func (a *Agency) Member(t testing.TB, role model.Role, access map[model.ClientID][]model.Permission) *db.Scope {
	t.Helper()
	n := Look[int](t, a.w, db.MainShard, `SELECT count(*) FROM control.users`)
	email := fmt.Sprintf("%s%d@%s.example", role, n, a.Slug)
	user := Look[model.UserID](t, a.w, db.MainShard, `INSERT INTO control.users (email, name, password_hash) VALUES ($1, $2, $3) RETURNING id`, email, fmt.Sprintf("%s %d", role, n), PasswordHash)
	a.w.Super(t, db.MainShard, `INSERT INTO control.memberships (workspace_id, user_id, role) VALUES ($1, $2, $3)`, a.ID, user, role)
	for client, granted := range access {
		a.w.Super(t, a.Shard, `INSERT INTO tenant.client_access (tenant_id, user_id, client_id, permissions) VALUES ($1, $2, $3, $4)`, a.ID, user, client, granted)
	}
	return a.Enter(t, user)
}

// Enter opens the workspace for a user.
func (a *Agency) Enter(t testing.TB, user model.UserID) *db.Scope {
	t.Helper()
	scope, err := a.w.Store.Enter(t.Context(), user, a.Slug)
	if err != nil {
		t.Fatalf("enter %s: %v", a.Slug, err)
	}
	return scope
}

// Client makes a client in Europe/Berlin.
func (a *Agency) Client(t testing.TB, slug string) model.ClientID {
	t.Helper()
	return Look[model.ClientID](t, a.w, a.Shard, `
		INSERT INTO tenant.clients (tenant_id, slug, name, zone) VALUES ($1, $2, $3, 'Europe/Berlin') RETURNING id`, a.ID, slug, "Client "+slug)
}

// Account makes an active account with a sealed token.
func (a *Agency) Account(t testing.TB, client model.ClientID, net network.Name) model.AccountID {
	t.Helper()
	n := Look[int](t, a.w, a.Shard, `SELECT count(*) FROM tenant.accounts WHERE tenant_id = $1`, a.ID)
	slug := fmt.Sprintf("%s-%d", net, n)
	id := Look[model.AccountID](t, a.w, a.Shard, `
		INSERT INTO tenant.accounts (tenant_id, client_id, slug, network, handle, remote_id, address) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
		a.ID, client, slug, net, "@"+slug, fmt.Sprintf("%d", 1000+n), address(net, slug))
	a.w.Super(t, a.Shard, `UPDATE tenant.accounts SET token = $3 WHERE tenant_id = $1 AND id = $2`, a.ID, id,
		a.w.Ring.Seal("token-"+slug, db.TokenAAD(a.ID, id, "token")))
	return id
}

func address(net network.Name, slug string) string {
	switch net {
	case network.Mastodon:
		return "https://social.example"
	case network.Webhook:
		return "https://hooks.example/" + slug
	}
	return ""
}

// Post writes a text post for the accounts.
func (a *Agency) Post(t testing.TB, text string, accounts ...model.AccountID) db.PostPage {
	t.Helper()
	var named []model.ClientID
	for _, id := range accounts {
		named = append(named, Look[model.ClientID](t, a.w, a.Shard, `SELECT client_id FROM tenant.accounts WHERE tenant_id = $1 AND id = $2`, a.ID, id))
	}
	slices.Sort(named)
	page, err := a.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: text, Accounts: accounts}, Named: slices.Compact(named)})
	if err != nil {
		t.Fatalf("save post: %v", err)
	}
	return page
}

// Approved writes a post and approves it past the workflow.
func (a *Agency) Approved(t testing.TB, text string, accounts ...model.AccountID) db.PostPage {
	t.Helper()
	id := a.Post(t, text, accounts...).Post.ID
	a.w.Super(t, a.Shard, `UPDATE tenant.posts SET approved_version_id = current_version_id, review = 'approved' WHERE tenant_id = $1 AND id = $2`, a.ID, id)
	a.w.Super(t, a.Shard, `UPDATE tenant.targets SET state = 'ready' WHERE tenant_id = $1 AND post_id = $2 AND state = 'draft'`, a.ID, id)
	a.w.Super(t, a.Shard, `SELECT tenant.recompute_posts(ARRAY[$1::bigint], ARRAY[$2::bigint])`, a.ID, id)
	page, err := a.Owner.Post(t.Context(), id)
	if err != nil {
		t.Fatalf("read post: %v", err)
	}
	return page
}

// Due writes, approves and schedules a post for after from now.
func (a *Agency) Due(t testing.TB, text string, after time.Duration, accounts ...model.AccountID) db.PostPage {
	t.Helper()
	page := a.Approved(t, text, accounts...)
	when, err := model.At(a.w.Clock.Now().Add(after), "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	page, err = a.Owner.SchedulePost(t.Context(), page.Post.ID, page.Post.Revision, when)
	if err != nil {
		t.Fatalf("schedule: %v", err)
	}
	return page
}

// Password is every member's; its hash is a cheap one.
const Password = "correct horse battery"

// PasswordHash is what is kept of it.
const PasswordHash = "$argon2id$v=19$m=64,t=1,p=1$Trp8lFzOuS0PfCswwLXJ9w$47owQbVMazSP8CxfTQtIgHSlGsijsWOxbbhTzTXX4M8"
