package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// Parting is what an account published with, for the network to be told that it is
// over. Shared: another account of the workspace uses the same, and would lose it too.
type Parting struct {
	Network  network.Name
	RemoteID string
	Address  string
	Settings map[string]string
	Token    secret.Token
	Refresh  secret.Token
	Shared   bool
	App      App // at the server, of a network that is many
}

const sqlAccountTokens = `SELECT id, token, refresh_token FROM tenant.accounts WHERE tenant_id = $1 AND network = $2 AND publisher = $3 AND (token IS NOT NULL OR refresh_token IS NOT NULL)`

const sqlAccountDisconnect = `
	UPDATE tenant.accounts SET token = NULL, refresh_token = NULL, token_expires = NULL, refresh_expires = NULL, renew_at = NULL, renew_failures = 0, refresh_owner = NULL, refresh_until = NULL, scopes = NULL, last_error = NULL, last_error_at = NULL,
	       disconnected_at = $3, state = CASE state WHEN 'disabled' THEN state ELSE 'needs_reconnect' END, revision = revision + 1
	 WHERE tenant_id = $1 AND id = $2`

// Disconnect takes an account's credentials away. Its settings, history and planned
// posts stay; one that comes due before it is connected again waits for a person. What
// it published with is returned, so that the network can be told.
func (sc *Scope) Disconnect(ctx context.Context, id model.AccountID, seen int) (a AccountCard, p Parting, err error) {
	defer wrap(&err, "disconnect account %d", id)
	a, err = sc.changeAccount(ctx, id, seen, "disconnected", func(tx pgx.Tx, a AccountCard) (map[string]any, error) {
		if !a.HasToken && !a.HasRefresh && a.Disconnected != nil {
			return nil, nil
		}
		if p, err = sc.parting(ctx, tx, a); err != nil {
			return nil, err
		}
		_, err := tx.Exec(ctx, sqlAccountDisconnect, sc.Actor.Tenant, id, sc.now())
		return map[string]any{"handle": a.Handle, "planned": a.Planned}, err
	})
	if err == nil && p.Network != "" && p.Address != "" {
		p.App, _, err = sc.ServerApp(ctx, p.Network, p.Address)
	}
	return a, p, err
}

// parting opens the account's credentials, and looks for others with the same.
func (sc *Scope) parting(ctx context.Context, tx pgx.Tx, a AccountCard) (Parting, error) {
	p := Parting{Network: a.Network, RemoteID: a.RemoteID, Address: a.Address, Settings: a.Settings}
	if a.Publisher != network.Direct {
		p.Shared = true // the key is the agency's own
	}
	rows, err := tx.Query(ctx, sqlAccountTokens, sc.Actor.Tenant, a.Network, a.Publisher)
	if err != nil {
		return p, err
	}
	var id model.AccountID
	var token, refresh []byte
	var others []string
	_, err = pgx.ForEachRow(rows, []any{&id, &token, &refresh}, func() error {
		access, _ := sc.open(token, TokenAAD(sc.Actor.Tenant, id, "token")) // what no key opens cannot be given back
		renewal, _ := sc.open(refresh, TokenAAD(sc.Actor.Tenant, id, "refresh"))
		if id == a.ID {
			p.Token, p.Refresh = secret.NewToken(access), secret.NewToken(renewal)
		} else {
			others = append(others, access, renewal)
		}
		return nil
	})
	for _, plain := range others {
		p.Shared = p.Shared || plain != "" && (plain == p.Token.Reveal() || plain == p.Refresh.Reveal())
	}
	return p, err
}

func (sc *Scope) open(sealed []byte, aad string) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	return sc.ring.Open(sealed, aad)
}
