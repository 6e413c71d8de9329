package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
)

// accountRow is an account as the run found or made it.
type accountRow struct {
	id        model.AccountID
	network   network.Name
	publisher network.Publisher
	handle    string
	remoteID  string
	address   string
	scopes    []string
	settings  map[string]string
	state     string
	paused    *time.Time
	expires   *time.Time
	sealed    []byte // token
	refresh   []byte
	ends      *time.Time // of the refresh token
	renewAt   *time.Time
	declared  []byte
	lastError *string
	erredAt   *time.Time
}

const sqlDeclaredAccount = `
	SELECT id, network, publisher, handle, remote_id, address, scopes, settings, state, paused_at, token_expires, token, refresh_token, refresh_expires, renew_at, declared, last_error, last_error_at
	  FROM tenant.accounts WHERE tenant_id = $1 AND client_id = $2 AND slug = $3 FOR NO KEY UPDATE`

// account writes one account with its slots.
func (h *hand) account(ctx context.Context, c DeclaredClient, row clientRow, a DeclaredAccount) error {
	have := accountRow{state: "active", publisher: network.Direct, settings: map[string]string{}}
	var diff difference
	err := h.tx.QueryRow(ctx, sqlDeclaredAccount, h.ID, row.id, a.Slug).Scan(&have.id, &have.network, &have.publisher, &have.handle, &have.remoteID,
		&have.address, &have.scopes, &have.settings, &have.state, &have.paused, &have.expires, &have.sealed, &have.refresh, &have.ends, &have.renewAt, &have.declared, &have.lastError, &have.erredAt)
	if diff.made = noRows(err); err != nil && !diff.made {
		return err
	}
	if !h.accountRules(&a, have, diff.made) {
		return nil
	}
	h.accountFields(&diff, &have, a)
	if diff.made {
		if err := h.insertAccount(ctx, row, a.Slug, &have); err != nil {
			return err
		}
	}
	h.accountTokens(&diff, &have, a)
	if err := h.slots(ctx, &diff, have.id, a.Slots); err != nil || diff.none() {
		return err
	}
	if err := h.updateAccount(ctx, have); err != nil {
		return err
	}
	return h.note(ctx, "account "+h.Slug+"/"+c.Slug+"/"+a.Slug, diff, note{subject: "account", id: int64(have.id), client: row.id})
}

// accountRules refuses what an account cannot be, or cannot become, and writes an
// address that is new as it is kept.
func (h *hand) accountRules(a *DeclaredAccount, have accountRow, made bool) bool {
	before := len(h.problems)
	name := deref(a.Network, have.network)
	if made {
		h.newNeeds(a.At, "account "+a.Slug, map[string]bool{"network": a.Network != nil, "handle": a.Handle != nil})
		if a.Network == nil {
			return false
		}
	} else if name != have.network {
		h.refuse(a.At, "the account %s is one of %s and cannot become one of %s; declare another account", a.Slug, network.Label(have.network), network.Label(name))
	}
	publisher := deref(a.Publisher, have.publisher)
	if !network.Reaches(name, publisher) {
		h.refuse(a.At, "%s cannot be reached by %s", network.Label(name), network.PublisherLabel(publisher))
	}
	if publisher == network.Direct && network.AddressOf(name) != "" && deref(a.Address, have.address) == "" {
		h.refuse(a.At, "the account %s needs the key address: %s", a.Slug, network.AddressOf(name))
	}
	if a.Address != nil && *a.Address != "" && *a.Address != have.address {
		address, say := network.CleanAddress(name, *a.Address)
		if say != "" {
			h.refuse(a.At, "address of the account %s: %s", a.Slug, say)
		}
		a.Address = &address
	}
	return len(h.problems) == before
}

func (h *hand) accountFields(diff *difference, have *accountRow, a DeclaredAccount) {
	set(diff, "network", &have.network, a.Network)
	set(diff, "publisher", &have.publisher, a.Publisher)
	set(diff, "handle", &have.handle, a.Handle)
	set(diff, "remote id", &have.remoteID, a.RemoteID)
	set(diff, "address", &have.address, a.Address)
	if a.State != nil && *a.State == "active" && have.state == "needs_reconnect" {
		a.State = nil // what is lost comes back with a token, not by saying so
	}
	set(diff, "state", &have.state, a.State)
	setSince(diff, "paused", &have.paused, a.Paused, h.now)
	if a.Scopes != nil && !slices.Equal(have.scopes, a.Scopes) {
		have.scopes = a.Scopes
		diff.words = append(diff.words, "scopes")
	}
	merged := merge(have.settings, a.Settings)
	if !maps.Equal(have.settings, merged) {
		have.settings = merged
		diff.words = append(diff.words, "settings")
	}
}

// merge lays given settings over those that are there; an empty value takes its
// key away. What an API or a person put there otherwise stays.
func merge(have, given map[string]string) map[string]string {
	merged := maps.Clone(have)
	if merged == nil {
		merged = map[string]string{}
	}
	for key, value := range given {
		merged[key] = value
		if value == "" {
			delete(merged, key)
		}
	}
	return merged
}

// accountTokens seals tokens unless the same were declared before: they may have
// been renewed since, and the old ones would be worthless.
func (h *hand) accountTokens(diff *difference, have *accountRow, a DeclaredAccount) {
	if a.Token.Empty() && a.RefreshToken.Empty() && a.TokenExpires == nil {
		return
	}
	ring, print := h.store.ring, tokensPrint(a)
	if len(have.declared) > 0 {
		if was, err := ring.Open(have.declared, TokenAAD(h.ID, have.id, "declared")); err == nil && was == print {
			return
		}
	}
	have.declared = ring.Seal(print, TokenAAD(h.ID, have.id, "declared"))
	diff.words = append(diff.words, "token")
	if a.TokenExpires != nil {
		have.expires = a.TokenExpires
		if a.TokenExpires.IsZero() {
			have.expires = nil
		}
	}
	if !a.RefreshToken.Empty() {
		have.refresh = ring.Seal(a.RefreshToken.Reveal(), TokenAAD(h.ID, have.id, "refresh"))
	}
	kept := keeping{network: have.network, publisher: have.publisher, renewable: len(have.refresh) > 0, was: timeOf(have.ends), fresh: !a.RefreshToken.Empty()}
	have.ends, have.renewAt = kept.plan(h.now, timeOf(have.expires))
	if a.Token.Empty() {
		return
	}
	have.sealed = ring.Seal(a.Token.Reveal(), TokenAAD(h.ID, have.id, "token"))
	have.lastError, have.erredAt = nil, nil
	if have.state == "needs_reconnect" {
		have.state = "active"
	}
}

// tokensPrint is a fingerprint of what was declared. It is sealed, since a
// webhook's secret may be one that can be guessed.
func tokensPrint(a DeclaredAccount) string {
	expires := ""
	if a.TokenExpires != nil {
		expires = a.TokenExpires.UTC().Format(time.RFC3339)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", a.Token.Reveal(), a.RefreshToken.Reveal(), expires))
	return hex.EncodeToString(sum[:])
}

const sqlAccountInsert = `
	INSERT INTO tenant.accounts (tenant_id, client_id, slug, network, publisher, handle) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`

func (h *hand) insertAccount(ctx context.Context, row clientRow, slug string, a *accountRow) error {
	return h.tx.QueryRow(ctx, sqlAccountInsert, h.ID, row.id, slug, a.network, a.publisher, a.handle).Scan(&a.id)
}

const sqlAccountUpdate = `
	UPDATE tenant.accounts
	   SET publisher = $3, handle = $4, remote_id = $5, address = $6, scopes = $7, settings = $8, state = $9, paused_at = $10, token_expires = $11,
	       refresh_owner = CASE WHEN token IS DISTINCT FROM $12 THEN NULL ELSE refresh_owner END,
	       token = $12, refresh_token = $13, declared = $14, last_error = $15, last_error_at = $16, refresh_expires = $17, renew_at = $18, revision = revision + 1
	 WHERE tenant_id = $1 AND id = $2`

func (h *hand) updateAccount(ctx context.Context, a accountRow) error {
	_, err := h.tx.Exec(ctx, sqlAccountUpdate, h.ID, a.id, a.publisher, a.handle, a.remoteID, a.address, a.scopes, a.settings, a.state, a.paused, a.expires,
		a.sealed, a.refresh, a.declared, a.lastError, a.erredAt, a.ends, a.renewAt)
	return err
}

const sqlDeclaredSlots = `SELECT weekday::int * 1440 + minute FROM tenant.slots WHERE tenant_id = $1 AND account_id = $2 ORDER BY 1`

const sqlSlotInsert = `INSERT INTO tenant.slots (tenant_id, account_id, weekday, minute) SELECT $1, $2, m / 1440, m % 1440 FROM unnest($3::int[]) AS m`

// slots replaces the account's slots as a whole, if they were given and differ.
func (h *hand) slots(ctx context.Context, diff *difference, id model.AccountID, slots []DeclaredSlot) error {
	if slots == nil {
		return nil
	}
	var want []int
	for _, s := range slots {
		want = append(want, int(s.Weekday)*1440+s.Minute)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	rows, err := h.tx.Query(ctx, sqlDeclaredSlots, h.ID, id)
	if err != nil {
		return err
	}
	have, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil || slices.Equal(have, want) {
		return err
	}
	diff.words = append(diff.words, "slots")
	if _, err := h.tx.Exec(ctx, `DELETE FROM tenant.slots WHERE tenant_id = $1 AND account_id = $2`, h.ID, id); err != nil {
		return err
	}
	_, err = h.tx.Exec(ctx, sqlSlotInsert, h.ID, id, want)
	return err
}
