package db

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

const sqlAccountClient = `SELECT name FROM tenant.clients WHERE tenant_id = $1 AND id = $2 AND archived_at IS NULL FOR NO KEY UPDATE`

// Some accounts are known by their address alone ($6); two of one server by the
// server's own id, or by what they are called there.
const sqlAccountTwin = `
	SELECT EXISTS (SELECT FROM tenant.accounts WHERE tenant_id = $1 AND client_id = $2 AND network = $3 AND address = $4
	       AND publisher = $8 AND ($6 OR lower(handle) = lower($5) OR remote_id = $7 AND $7 <> ''))`

const sqlAccountSlugs = `SELECT slug FROM tenant.accounts WHERE tenant_id = $1 AND client_id = $2`

const sqlAccountAdd = `
	INSERT INTO tenant.accounts (tenant_id, client_id, slug, network, publisher, handle, remote_id, address, settings) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`

// AddAccount connects an account by what a person typed, at its network or at a
// publisher that reaches it. It refuses a second account of the same, so that a form
// sent twice adds one.
func (sc *Scope) AddAccount(ctx context.Context, client model.ClientID, name network.Name, f AccountForm, c Credentials) (a AccountCard, err error) {
	defer wrap(&err, "add account to client %d", client)
	f.Publisher = cmp.Or(f.Publisher, network.Direct)
	n, ok := network.Get(name)
	if !ok || !network.Reaches(name, f.Publisher) {
		return a, model.RefuseField("network", "Choose a network that can be reached that way.")
	}
	if f.Publisher == network.Direct && len(n.Entries) == 0 {
		return a, model.RefuseField("network", n.Label+" is connected by signing in there.")
	}
	if err := sc.need(model.AccountsManage, client, "client"); err != nil {
		return a, err
	}
	if err := sc.asked(name, f.Publisher); err != nil {
		return a, err
	}
	if err := f.tidy(name, f.Publisher, ""); err != nil {
		return a, err
	}
	if err := c.Check(sc.now()); err != nil {
		return a, err
	}
	if isName(f.RemoteID) {
		f.RemoteID = cmp.Or(c.Learned.RemoteID, f.RemoteID)
	}
	err = sc.write(ctx, func(tx pgx.Tx) error {
		a, err = sc.addAccount(ctx, tx, client, n, f, c)
		return err
	})
	return a, err
}

func (sc *Scope) addAccount(ctx context.Context, tx pgx.Tx, client model.ClientID, n *network.Network, f AccountForm, c Credentials) (a AccountCard, err error) {
	var owner string
	if err := tx.QueryRow(ctx, sqlAccountClient, sc.Actor.Tenant, client).Scan(&owner); noRows(err) {
		return a, model.Refuse(model.NotFound, "There is no such client.")
	} else if err != nil {
		return a, err
	}
	var twin bool
	if err := tx.QueryRow(ctx, sqlAccountTwin, sc.Actor.Tenant, client, n.Name, f.Address, f.Handle, n.Signs, cmp.Or(f.RemoteID, c.Learned.RemoteID), f.Publisher).Scan(&twin); err != nil {
		return a, err
	}
	if twin {
		return a, twinRefusal(owner, f)
	}
	id, err := sc.insertAccount(ctx, tx, client, n.Name, f.Publisher, f)
	if err != nil {
		return a, err
	}
	if err := sc.saveCredentials(ctx, tx, AccountCard{ID: id, Network: n.Name, Publisher: f.Publisher}, c); err != nil {
		return a, err
	}
	if err := sc.audit(ctx, tx, note{verb: "connected", subject: "account", id: int64(id), client: client, detail: map[string]any{"handle": f.Handle, "network": n.Name}}); err != nil {
		return a, err
	}
	if a, err = sc.account(ctx, tx, id, model.AccountsManage, sqlAccountGet); err != nil {
		return a, err
	}
	return a, sc.tellConnected(ctx, tx, connected(a, false))
}

// isName says that what was typed for an id is a name, which may change: @bakery.
func isName(id string) bool { return strings.HasPrefix(id, "@") }

func twinRefusal(owner string, f AccountForm) error {
	no := &model.Refusal{Kind: model.Conflict, Field: "address", Say: owner + " already has an account for this address. Open that one to change it."}
	if f.Address == "" {
		no.Field, no.Say = "handle", owner+" already has this account. Open that one to change it."
	}
	return no
}

// insertAccount writes a new account, which has no credentials yet.
func (sc *Scope) insertAccount(ctx context.Context, tx pgx.Tx, client model.ClientID, name network.Name, by network.Publisher, f AccountForm) (id model.AccountID, err error) {
	slug, err := sc.freeSlug(ctx, tx, client, string(name)+"-"+f.Handle)
	if err != nil {
		return 0, err
	}
	return id, tx.QueryRow(ctx, sqlAccountAdd, sc.Actor.Tenant, client, slug, name, by, f.Handle, f.RemoteID, f.Address, merge(nil, f.Settings)).Scan(&id)
}

// freeSlug makes a short name from words that no account of the client has.
func (sc *Scope) freeSlug(ctx context.Context, tx pgx.Tx, client model.ClientID, words string) (string, error) {
	rows, err := tx.Query(ctx, sqlAccountSlugs, sc.Actor.Tenant, client)
	if err != nil {
		return "", err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, s := range list {
		taken[s] = true
	}
	slug := slugOf(words)
	for n := 2; taken[slug]; n++ {
		slug = fmt.Sprintf("%s-%d", slugOf(words), n)
	}
	return slug, nil
}

// slugOf keeps the letters and digits of ASCII; everything between is one dash.
func slugOf(words string) string {
	parts := strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	slug := strings.Join(parts, "-")
	return strings.Trim(slug[:min(len(slug), 50)], "-")
}
