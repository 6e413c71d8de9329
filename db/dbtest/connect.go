package dbtest

import (
	"testing"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

// signIn brings the owner back from a network, with one thing to connect, and makes a
// link by which the client can go there too.
func (h *Holding) signIn(t testing.TB) {
	t.Helper()
	h.w.Super(t, h.Shard, `INSERT INTO tenant.server_apps (tenant_id, network, address, app_id, app_secret, created_at) VALUES ($1, 'mastodon', 'https://' || $2::text, $2::text, $3, '2026-03-01')`, h.ID, h.Mark, []byte(h.Mark))
	email := h.Mark + "@connects.example"
	form := db.ConnectLinkForm{Key: "key-of-the-form-" + h.Mark, Name: h.Mark, Email: email, Networks: []network.Name{network.Facebook, network.Webhook}, Note: "A word of " + h.Mark}
	if err := h.Owner.SendConnectLink(t.Context(), h.Client, form); err != nil {
		t.Fatal(err)
	}
	h.Door = Look[model.ConnectLinkID](t, h.w, h.Shard, `SELECT id FROM tenant.connect_links WHERE tenant_id = $1 AND email = $2`, h.ID, email)
	h.DoorToken = h.Mailed(t, email)
	browser := [32]byte{1}
	_, state, err := h.Owner.StartConsent(t.Context(), db.Consent{Client: h.Client, Network: network.Facebook}, browser)
	if err != nil {
		t.Fatal(err)
	}
	scope, c, err := h.w.Store.ReturnConsent(t.Context(), state, browser, h.Owner.Actor.User, network.Facebook)
	if err != nil {
		t.Fatal(err)
	}
	if err := scope.KeepChoices(t.Context(), c, []db.Choice{{Kind: "Page", RemoteID: h.Mark, Handle: h.Mark, Token: secret.NewToken(h.Mark)}}); err != nil {
		t.Fatal(err)
	}
	h.Consent = c.ID
	h.w.Super(t, h.Shard, `
		INSERT INTO tenant.consents (tenant_id, client_id, account_id, link_id, network, state_hash, browser_hash, verifier, door, created_at, expires_at)
		VALUES ($1, $2, $3, $4, 'webhook', sha256(('link' || $5::text)::bytea), sha256('b'), 'x', 'y', $6::timestamptz, $6::timestamptz + interval '1 hour')`, h.ID, h.Client, h.Account, h.Door, h.Mark, h.w.Clock.Now())
}
