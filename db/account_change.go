package db

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/network"
	"herald/db/secret"
)

const sqlAccountLock = sqlAccountGet + ` FOR NO KEY UPDATE OF a`

// changeAccount locks an account, checks permission and the revision that the
// caller saw, runs f, and writes the audit line. An f that says it changed
// nothing leaves no line. Whoever holds a connect link may reconnect, and no more.
func (sc *Scope) changeAccount(ctx context.Context, id model.AccountID, seen int, verb string, f func(tx pgx.Tx, a AccountCard) (detail map[string]any, err error)) (a AccountCard, err error) {
	err = sc.write(ctx, func(tx pgx.Tx) error {
		if a, err = sc.account(ctx, tx, id, model.AccountsManage, sqlAccountLock); err != nil {
			return err
		}
		if err := sc.asked(a.Network, a.Publisher); err != nil || sc.held != nil && verb != "reconnected" {
			return noAccount()
		}
		if a.Revision != seen {
			return model.Refuse(model.Conflict, "This account changed while you had it open. Nothing was overwritten; reload to see it.")
		}
		detail, err := f(tx, a)
		if err != nil || detail == nil {
			return err
		}
		if err := sc.audit(ctx, tx, note{verb: verb, subject: "account", id: int64(id), client: a.ClientID, detail: detail}); err != nil {
			return err
		}
		a, err = sc.account(ctx, tx, id, model.AccountsManage, sqlAccountGet)
		return err
	})
	return a, err
}

const sqlAccountPause = `UPDATE tenant.accounts SET paused_at = $3, revision = revision + 1 WHERE tenant_id = $1 AND id = $2`

// PauseAccount holds back what is due on an account, or lets it go again. Asking
// for what is so already changes nothing.
func (sc *Scope) PauseAccount(ctx context.Context, id model.AccountID, seen int, paused bool) (card AccountCard, err error) {
	defer wrap(&err, "pause account %d", id)
	card, err = sc.changeAccount(ctx, id, seen, pauseVerb(paused), func(tx pgx.Tx, a AccountCard) (map[string]any, error) {
		if (a.PausedAt != nil) == paused {
			return nil, nil
		}
		_, err := tx.Exec(ctx, sqlAccountPause, sc.Actor.Tenant, id, sc.since(paused))
		return map[string]any{"handle": a.Handle}, err
	})
	if err != nil || paused {
		return card, err
	}
	return card, sc.release(ctx)
}

// since is now for something that begins, and null for something that ends.
func (sc *Scope) since(holds bool) *time.Time {
	if !holds {
		return nil
	}
	return new(sc.now().UTC())
}

func pauseVerb(paused bool) string {
	if paused {
		return "paused"
	}
	return "resumed"
}

const sqlAccountState = `UPDATE tenant.accounts SET state = $3, revision = revision + 1 WHERE tenant_id = $1 AND id = $2`

// SwitchAccount takes an account out of use, or back into it. One that has no
// token comes back as one that needs reconnecting.
func (sc *Scope) SwitchAccount(ctx context.Context, id model.AccountID, seen int, on bool) (_ AccountCard, err error) {
	defer wrap(&err, "switch account %d", id)
	verb := "disabled"
	if on {
		verb = "enabled"
	}
	return sc.changeAccount(ctx, id, seen, verb, func(tx pgx.Tx, a AccountCard) (map[string]any, error) {
		if (a.State != AccountDisabled) == on {
			return nil, nil
		}
		to := AccountDisabled
		if on {
			to = AccountActive
		}
		if on && !a.HasToken {
			to = AccountReconnect
		}
		_, err := tx.Exec(ctx, sqlAccountState, sc.Actor.Tenant, id, to)
		return map[string]any{"handle": a.Handle}, err
	})
}

// Credentials are what an account publishes with.
type Credentials struct {
	Token   secret.Token // or a webhook's signing secret
	Refresh secret.Token // empty: none
	Expires *time.Time   // nil: does not expire
	Learned Learned

	RefreshExpires *time.Time // as the network said; nil: it did not
}

// Learned is what a network said of the account that a token belongs to; zero if
// it was not asked.
type Learned struct {
	RemoteID string
	Handle   string
	Scopes   []string          // nil: the network did not say
	Settings map[string]string // never replace what is there
}

// Check refuses what cannot be a credential.
func (c Credentials) Check(now time.Time) error {
	for field, t := range map[string]secret.Token{"token": c.Token, "refresh": c.Refresh} {
		plain := t.Reveal()
		if field == "token" && plain == "" {
			return model.RefuseField("token", "Paste the new token.")
		}
		if len(plain) > 16<<10 || !utf8.ValidString(plain) || strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
			return model.RefuseField(field, "A token has no spaces or line breaks. Paste it again, whole.")
		}
	}
	if c.Expires != nil && !c.Expires.After(now) {
		return model.RefuseField("expires", "This token has run out already. Get a new one.")
	}
	return nil
}

const sqlAccountReconnect = `
	UPDATE tenant.accounts
	   SET token = $3, refresh_token = $4, token_expires = $5, refresh_expires = $10, renew_at = $11, renew_failures = 0, refresh_owner = NULL, refresh_until = NULL, closed_until = NULL,
	       state = 'active', last_error = NULL, last_error_at = NULL, disconnected_at = NULL, connected_by = nullif($6, 0), scopes = $7, settings = $8::jsonb || settings,
	       remote_id = CASE WHEN remote_id = '' THEN $9 ELSE remote_id END, revision = revision + 1
	 WHERE tenant_id = $1 AND id = $2`

// ReconnectAccount gives an account new credentials and puts it back to work.
// Its settings stay, and what the network said is added to them; it refuses a token
// of another account. What a lost connection held up waits for RetryStuck: whether
// it should still go out is a person's to say.
func (sc *Scope) ReconnectAccount(ctx context.Context, id model.AccountID, seen int, c Credentials) (_ AccountCard, err error) {
	defer wrap(&err, "reconnect account %d", id)
	if err := c.Check(sc.now()); err != nil {
		return AccountCard{}, err
	}
	return sc.changeAccount(ctx, id, seen, "reconnected", func(tx pgx.Tx, a AccountCard) (map[string]any, error) {
		if other := c.Learned; other.RemoteID != "" && a.RemoteID != "" && other.RemoteID != a.RemoteID && !(isName(a.RemoteID) && strings.EqualFold(a.RemoteID, other.Handle)) {
			return nil, model.RefuseField("token", "This token belongs to "+cmp.Or(other.Handle, "another account")+", not to "+a.Handle+". Paste one of "+a.Handle+", or add the other account beside it.")
		}
		if err := sc.saveCredentials(ctx, tx, a, c); err != nil {
			return nil, err
		}
		return map[string]any{"handle": a.Handle, "was": a.State}, sc.tellConnected(ctx, tx, connected(a, true))
	})
}

func (sc *Scope) saveCredentials(ctx context.Context, tx pgx.Tx, a AccountCard, c Credentials) error {
	kept := keeping{network: a.Network, publisher: a.Publisher, said: timeOf(c.RefreshExpires), fresh: true}
	var refresh []byte
	if !c.Refresh.Empty() {
		refresh, kept.renewable = sc.ring.Seal(c.Refresh.Reveal(), TokenAAD(sc.Actor.Tenant, a.ID, "refresh")), true
	}
	ends, at := kept.plan(sc.now(), timeOf(c.Expires))
	_, err := tx.Exec(ctx, sqlAccountReconnect, sc.Actor.Tenant, a.ID, sc.ring.Seal(c.Token.Reveal(), TokenAAD(sc.Actor.Tenant, a.ID, "token")), refresh, c.Expires, sc.Actor.User,
		c.Learned.Scopes, merge(nil, c.Learned.Settings), c.Learned.RemoteID, ends, at)
	return err
}

// AccountForm is what a person says about an account by hand.
type AccountForm struct {
	Handle    string
	RemoteID  string
	Address   string
	Publisher network.Publisher // of a new account; empty is direct
	Settings  map[string]string // laid over those that are there; an empty value takes its key away
}

const maxSettings = 50

// tidy checks the form for a network, trims what people leave around words, and
// writes an address that is new as it is kept.
func (f *AccountForm) tidy(name network.Name, by network.Publisher, was string) error {
	f.Handle, f.RemoteID, f.Address = strings.TrimSpace(f.Handle), strings.TrimSpace(f.RemoteID), strings.TrimSpace(f.Address)
	for _, c := range []struct {
		field, value string
		max          int
	}{{"handle", f.Handle, 200}, {"remote_id", f.RemoteID, 200}, {"address", f.Address, 2048}} {
		if !plainLine(c.value) || utf8.RuneCountInString(c.value) > c.max {
			return model.RefuseField(c.field, "This is too long, or holds characters that cannot be in it.")
		}
	}
	if network.Blank(f.Handle) {
		return model.RefuseField("handle", "Say what people know this account by.")
	}
	if wants := network.AddressOf(name); wants != "" && by == network.Direct && f.Address == "" {
		return model.RefuseField("address", "Give the address: "+wants+".")
	}
	if f.Address != "" && f.Address != was {
		address, say := network.CleanAddress(name, f.Address)
		if say != "" {
			return model.RefuseField("address", say)
		}
		f.Address = address
	}
	if len(f.Settings) > maxSettings {
		return model.RefuseField("settings", "An account has at most 50 settings.")
	}
	for key, value := range f.Settings {
		if !plainLine(key) || !plainLine(value) || len(key) > 100 || len(value) > 4000 {
			return model.RefuseField("settings", "A setting is one line, with a short name.")
		}
	}
	return nil
}

func plainLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

const sqlAccountEdit = `
	UPDATE tenant.accounts SET handle = $3, remote_id = $4, address = $5, settings = $6, revision = revision + 1 WHERE tenant_id = $1 AND id = $2`

// EditAccount changes what was entered by hand. Settings that the form does not
// name stay, whoever put them there.
func (sc *Scope) EditAccount(ctx context.Context, id model.AccountID, seen int, f AccountForm) (_ AccountCard, err error) {
	defer wrap(&err, "edit account %d", id)
	return sc.changeAccount(ctx, id, seen, "edited", func(tx pgx.Tx, a AccountCard) (map[string]any, error) {
		if err := f.tidy(a.Network, a.Publisher, a.Address); err != nil {
			return nil, err
		}
		settings := merge(a.Settings, f.Settings)
		if len(settings) > maxSettings {
			return nil, model.RefuseField("settings", "An account has at most 50 settings.")
		}
		if f.Handle == a.Handle && f.RemoteID == a.RemoteID && f.Address == a.Address && maps.Equal(settings, a.Settings) {
			return nil, nil
		}
		_, err := tx.Exec(ctx, sqlAccountEdit, sc.Actor.Tenant, id, f.Handle, f.RemoteID, f.Address, settings)
		return map[string]any{"handle": f.Handle}, err
	})
}
