package db

import (
	"context"
	"encoding/hex"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
	"herald/db/secret"
)

// passwordLinkLife is how long the link of a forgotten password works.
const passwordLinkLife = time.Hour

const sqlPasswordLinksOver = `DELETE FROM control.password_links WHERE user_id = $1 AND expires_at <= $2`

const sqlPasswordLinkAdd = `INSERT INTO control.password_links (token_hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)`

const sqlPasswordPlace = `
	SELECT u.name, w.id, w.slug, w.name, w.zone, w.shard, w.state, coalesce(u.zone, w.zone)
	  FROM control.users u JOIN control.memberships m ON m.user_id = u.id JOIN control.workspaces w ON w.id = m.workspace_id
	 WHERE u.id = $1 ORDER BY w.name, w.slug LIMIT 1`

// MailPasswordLink mails the person of an address a link by which to choose another
// password: it works once, and for an hour. It does nothing for an address that
// nobody signs in with, or whose person is in no workspace; the caller must not
// tell which.
func (s *Store) MailPasswordLink(ctx context.Context, email string) (err error) {
	defer wrap(&err, "mail password link")
	user, known, err := s.UserByEmail(ctx, email)
	if err != nil || !known {
		return err
	}
	var w Workspace
	var name, zone string
	err = s.control.QueryRow(ctx, sqlPasswordPlace, user.ID).Scan(&name, &w.ID, &w.Slug, &w.Name, &w.Zone, &w.Shard, &w.State, &zone)
	if noRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	token, hash := secret.NewLinkToken()
	until := s.now().Add(passwordLinkLife)
	if err := s.keepPasswordLink(ctx, user.ID, hash, until); err != nil {
		return err
	}
	to := mailRow{key: model.MailPasswordLink + ":" + hex.EncodeToString(hash[:8]), kind: model.MailPasswordLink, email: strings.ToLower(strings.TrimSpace(email)), name: name}
	return s.owePasswordLink(ctx, w, to, token, model.PasswordMail{Until: until, Zone: zone})
}

func (s *Store) keepPasswordLink(ctx context.Context, user model.UserID, hash [32]byte, until time.Time) error {
	return pgx.BeginFunc(ctx, s.control, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlPasswordLinksOver, user, s.now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlPasswordLinkAdd, hash[:], user, s.now(), until)
		return err
	})
}

// owePasswordLink leaves the mail with a workspace of the person, as all mail is.
func (s *Store) owePasswordLink(ctx context.Context, w Workspace, to mailRow, token string, content model.PasswordMail) error {
	pool, err := s.shard(w.Shard)
	if err != nil {
		return err
	}
	sc := &Scope{Workspace: w, Actor: model.Actor{Tenant: w.ID}, pool: pool, now: s.now}
	return sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqlMailInsert, w.ID, to.key, to.kind, to.email, to.name, content, s.ring.Seal(token, MailAAD(w.ID, to.key)), s.now(), s.now())
		return err
	})
}

const sqlPasswordLinkGet = `
	SELECT u.id, u.email FROM control.password_links l JOIN control.users u ON u.id = l.user_id AND u.disabled_at IS NULL AND u.password_hash IS NOT NULL
	 WHERE l.token_hash = $1 AND l.expires_at > $2`

var errNoPasswordLink = model.Refuse(model.Gone, "This link does not work any more: it was used, or is older than an hour. Ask for another.")

// PasswordLink is whose link a token makes. It refuses with Gone one that was used
// or ran out, and what is none.
func (s *Store) PasswordLink(ctx context.Context, token string) (user model.UserID, email string, err error) {
	defer wrap(&err, "open password link")
	hash := secret.HashToken(token)
	err = s.control.QueryRow(ctx, sqlPasswordLinkGet, hash[:], s.now()).Scan(&user, &email)
	if noRows(err) {
		err = errNoPasswordLink
	}
	return user, email, err
}

const sqlPasswordLinkUse = `DELETE FROM control.password_links WHERE token_hash = $1 AND expires_at > $2 RETURNING user_id`

const sqlPasswordLinksEnd = `DELETE FROM control.password_links WHERE user_id = $1`

const sqlPasswordSet = `UPDATE control.users SET password_hash = $2 WHERE id = $1 AND disabled_at IS NULL AND password_hash IS NOT NULL`

// UsePasswordLink keeps the hash of a person's new password and ends their sessions
// and every link of theirs, all in one transaction; the audit log of their first
// workspace says so. It refuses as PasswordLink does.
// Of several who use a link at once, one gets through.
func (s *Store) UsePasswordLink(ctx context.Context, token, hash string) (user model.UserID, err error) {
	defer wrap(&err, "use password link")
	key := secret.HashToken(token)
	err = pgx.BeginFunc(ctx, s.control, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, sqlPasswordLinkUse, key[:], s.now()).Scan(&user)
		if noRows(err) {
			return errNoPasswordLink
		}
		if err != nil {
			return err
		}
		did, err := tx.Exec(ctx, sqlPasswordSet, user, hash)
		if err == nil && did.RowsAffected() == 0 {
			err = errNoPasswordLink
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlPasswordLinksEnd, user); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM control.sessions WHERE user_id = $1`, user)
		return err
	})
	if err != nil {
		return 0, err
	}
	return user, s.tellReset(ctx, user)
}

func (s *Store) tellReset(ctx context.Context, user model.UserID) error {
	places, err := s.Places(ctx, user)
	if err != nil || len(places) == 0 {
		return err
	}
	sc, err := s.Enter(ctx, user, places[0])
	if err != nil {
		return err
	}
	return sc.ownDeed(ctx, "password_reset")
}
