package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

const sqlConnectLinkByID = `
	SELECT l.client_id, l.name FROM tenant.connect_links l JOIN tenant.clients c ON c.tenant_id = l.tenant_id AND c.id = l.client_id
	 WHERE l.tenant_id = $1 AND l.id = $2 AND l.revoked_at IS NULL AND l.expires_at > $3 AND c.archived_at IS NULL`

// linkScope is that of whoever holds a link that works: of its client's accounts, and
// of nothing else.
func (s *Store) linkScope(ctx context.Context, w Workspace, id model.ConnectLinkID) (*Scope, error) {
	sc, err := s.door(w)
	if err != nil {
		return nil, err
	}
	var client model.ClientID
	err = sc.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sqlConnectLinkByID, w.ID, id, sc.now()).Scan(&client, &sc.Actor.Name)
	})
	if noRows(err) {
		return nil, errNoConsent
	}
	if err != nil {
		return nil, err
	}
	sc.link, sc.changed = id, s.changed
	sc.Actor.Clients = map[model.ClientID][]model.Permission{client: {model.AccountsView, model.AccountsManage}}
	return sc, nil
}
