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
	h.Door = Look[model.ConnectLinkID](t, h.w, h.Shard, `
		INSERT INTO tenant.connect_links (tenant_id, client_id, name, email, token_hash, made_by, created_at, expires_at)
		VALUES ($1, $2, $3::text, $3::text || '@example.com', sha256($3::text::bytea), $4, $5::timestamptz, $5::timestamptz + interval '7 days') RETURNING id`, h.ID, h.Client, h.Mark, h.Owner.Actor.User, h.w.Clock.Now())
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
		INSERT INTO tenant.consents (tenant_id, client_id, account_id, link_id, network, state_hash, browser_hash, verifier, created_at, expires_at)
		VALUES ($1, $2, $3, $4, 'webhook', sha256(('link' || $5::text)::bytea), sha256('b'), 'x', $6::timestamptz, $6::timestamptz + interval '1 hour')`, h.ID, h.Client, h.Account, h.Door, h.Mark, h.w.Clock.Now())
}
