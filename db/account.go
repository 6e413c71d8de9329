package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// TokenAAD binds a sealed token to its row, so that a value copied to another
// account or workspace does not open. Which is token or refresh.
func TokenAAD(tenant model.TenantID, account model.AccountID, which string) string {
	return fmt.Sprintf("accounts/%d/%d/%s", tenant, account, which)
}

// AccountState is whether an account can publish.
type AccountState string

// The states of an account.
const (
	AccountActive    AccountState = "active"
	AccountReconnect AccountState = "needs_reconnect"
	AccountDisabled  AccountState = "disabled"
)

// AccountCard is an account as its screens show it. No token is in it.
type AccountCard struct {
	ID           model.AccountID
	ClientID     model.ClientID
	Client       string
	Zone         string // the client's
	Network      network.Name
	Publisher    network.Publisher
	Slug         string
	Handle       string
	RemoteID     string
	Address      string
	Settings     map[string]string
	Scopes       []string
	State        AccountState
	HasToken     bool
	HasRefresh   bool
	Expires      *time.Time // of the token
	Ends         *time.Time // of the connection, unless a renewal or a person prolongs it; nil: never, or not known
	PausedAt     *time.Time
	ClosedUntil  *time.Time // the network asked to wait until then
	LastError    *string
	LastErrorAt  *time.Time
	Revision     int
	CreatedAt    time.Time
	Disconnected *time.Time // when a person disconnected it
	Planned      int        // posts that are scheduled for it from now on
	NextAt       *time.Time // the first of them
	Waiting      int        // posts whose time has come and that are held back or tried again
	WaitingFrom  *time.Time // when the first of them was due
	Stuck        int        // posts that a lost connection holds up
}

// ClientAccounts are one client's accounts.
type ClientAccounts struct {
	ID       model.ClientID
	Slug     string
	Name     string
	Zone     string
	PausedAt *time.Time
	Accounts []AccountCard
}

// AccountsPage is what the accounts screen shows.
type AccountsPage struct {
	PausedAt *time.Time // the whole workspace
	Clients  []ClientAccounts
}

const sqlAccountCards = `
	SELECT a.id, a.client_id, c.name AS client, c.zone, a.network, a.publisher, a.slug, a.handle, a.remote_id, a.address, a.settings, a.scopes, a.state,
	       a.token IS NOT NULL AS has_token, a.refresh_token IS NOT NULL AS has_refresh, a.token_expires AS expires, a.ends_at AS ends, a.paused_at, greatest(a.closed_until, nl.closed_until) AS closed_until,
	       a.last_error, a.last_error_at, a.revision, a.created_at, a.disconnected_at AS disconnected, p.planned, p.next_at, w.waiting, w.waiting_from,
	       (SELECT count(*) FROM tenant.targets t WHERE t.tenant_id = a.tenant_id AND t.account_id = a.id AND t.state = 'needs_reconnect') AS stuck
	  FROM tenant.accounts a
	  JOIN tenant.clients c ON c.tenant_id = a.tenant_id AND c.id = a.client_id
	  LEFT JOIN tenant.network_limits nl ON nl.network = a.network AND nl.publisher = a.publisher
	  LEFT JOIN LATERAL (
		SELECT count(*) AS planned, min(t.due_at) AS next_at FROM tenant.targets t
		 WHERE t.tenant_id = a.tenant_id AND t.account_id = a.id AND t.due_at > $2 AND t.state IN ('scheduled', 'retry_scheduled')) p ON true
	  LEFT JOIN LATERAL (
		SELECT count(*) AS waiting, min(t.due_at) AS waiting_from FROM tenant.targets t
		 WHERE t.tenant_id = a.tenant_id AND t.account_id = a.id AND t.due_at <= $2 AND t.state = 'retry_scheduled') w ON true
	 WHERE a.tenant_id = $1 `

const sqlAccountList = sqlAccountCards + ` AND ($3 OR a.client_id = ANY ($4)) ORDER BY a.client_id, a.network, a.handle, a.id`

const sqlAccountClients = `
	SELECT id, slug, name, zone, paused_at FROM tenant.clients WHERE tenant_id = $1 AND ($2 OR id = ANY ($3)) AND archived_at IS NULL ORDER BY name, id`

// Accounts lists the accounts of those clients whose accounts the actor may see.
func (sc *Scope) Accounts(ctx context.Context) (page AccountsPage, err error) {
	defer wrap(&err, "list accounts")
	clients, all := sc.Actor.ClientsWith(model.AccountsView)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT paused_at FROM tenant.tenants WHERE tenant_id = $1`, sc.Actor.Tenant).Scan(&page.PausedAt); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sqlAccountClients, sc.Actor.Tenant, all, clients)
		if err != nil {
			return err
		}
		page.Clients, err = pgx.CollectRows(rows, pgx.RowToStructByNameLax[ClientAccounts])
		if err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, sqlAccountList, sc.Actor.Tenant, sc.now(), all, clients); err != nil {
			return err
		}
		cards, err := pgx.CollectRows(rows, pgx.RowToStructByName[AccountCard])
		page.deal(cards)
		return err
	})
	return page, err
}

// deal gives each client its cards.
func (p *AccountsPage) deal(cards []AccountCard) {
	byClient := map[model.ClientID][]AccountCard{}
	for _, c := range cards {
		byClient[c.ClientID] = append(byClient[c.ClientID], c)
	}
	for i := range p.Clients {
		p.Clients[i].Accounts = byClient[p.Clients[i].ID]
	}
}

const sqlAccountGet = sqlAccountCards + ` AND a.id = $3`

// Account reads one account.
func (sc *Scope) Account(ctx context.Context, id model.AccountID) (a AccountCard, err error) {
	defer wrap(&err, "read account %d", id)
	err = sc.read(ctx, func(tx pgx.Tx) error {
		a, err = sc.account(ctx, tx, id, model.AccountsView, sqlAccountGet)
		return err
	})
	return a, err
}

func (sc *Scope) account(ctx context.Context, tx pgx.Tx, id model.AccountID, p model.Permission, sql string) (a AccountCard, err error) {
	rows, err := tx.Query(ctx, sql, sc.Actor.Tenant, sc.now(), id)
	if err != nil {
		return a, err
	}
	a, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[AccountCard])
	if noRows(err) {
		return a, noAccount()
	}
	if err != nil {
		return a, err
	}
	if !sc.Actor.May(model.AccountsView, a.ClientID) {
		return AccountCard{}, noAccount()
	}
	return a, sc.need(p, a.ClientID, "account")
}

func noAccount() error { return model.Refuse(model.NotFound, "There is no such account.") }
