package db

import (
	"context"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// Profile is what a person says of themselves, in every workspace they are in.
type Profile struct {
	Name  string
	Email string
	Zone  string // the person's own; empty if not said
}

// Seen is the state that a form of the profile sends back.
func (p Profile) Seen() string { return seenAs(p.Name, p.Zone) }

const sqlProfileGet = `SELECT name, email, coalesce(zone, '') AS zone FROM control.users WHERE id = $1`

// Profile reads the actor's own.
func (sc *Scope) Profile(ctx context.Context) (p Profile, err error) {
	defer wrap(&err, "read profile")
	rows, err := sc.control.Query(ctx, sqlProfileGet, sc.Actor.User)
	if err != nil {
		return p, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Profile])
}

const sqlProfileEdit = `UPDATE control.users SET name = $2, zone = nullif($3, '') WHERE id = $1 AND name = $4 AND coalesce(zone, '') = $5`

// EditProfile changes the actor's own name and zone. It refuses with Conflict if they
// changed since the form was drawn.
func (sc *Scope) EditProfile(ctx context.Context, name, zone, seen string) (err error) {
	defer wrap(&err, "edit profile")
	if name, err = calledBy(name); err != nil {
		return err
	}
	if _, err := model.LoadZone(zone); zone != "" && err != nil {
		return err
	}
	was, err := sc.Profile(ctx)
	if err != nil {
		return err
	}
	if was.Seen() != seen {
		return errStale
	}
	if did, err := sc.control.Exec(ctx, sqlProfileEdit, sc.Actor.User, name, zone, was.Name, was.Zone); err != nil {
		return err
	} else if did.RowsAffected() == 0 {
		return errStale
	}
	return sc.ownDeed(ctx, "profile_edited")
}

const sqlPasswordChange = `UPDATE control.users SET password_hash = $3 WHERE id = $1 AND coalesce(password_hash, '') = $2`

// ChangePassword keeps the hash of the actor's new password, unless the old one was
// changed since it was read. The caller has checked it, and ends the other sessions.
func (sc *Scope) ChangePassword(ctx context.Context, old, hash string) (err error) {
	defer wrap(&err, "change password")
	did, err := sc.control.Exec(ctx, sqlPasswordChange, sc.Actor.User, old, hash)
	if err != nil {
		return err
	}
	if did.RowsAffected() == 0 {
		return model.Refuse(model.Conflict, "Your password was changed elsewhere meanwhile. Sign in with it, then change it again.")
	}
	return sc.ownDeed(ctx, "password_changed")
}

// ownDeed writes what the actor did about themselves.
func (sc *Scope) ownDeed(ctx context.Context, verb string) error {
	return sc.write(ctx, func(tx pgx.Tx) error {
		return sc.audit(ctx, tx, note{verb: verb, subject: "user", id: int64(sc.Actor.User), detail: map[string]any{"who": sc.Actor.Name}})
	})
}

const sqlSessionsOf = `
	SELECT token_hash, data, created_at, seen_at, expires_at FROM control.sessions WHERE user_id = $1 AND expires_at > $2 ORDER BY seen_at DESC, token_hash LIMIT 50`

// SessionsOf lists the browsers in which a user is signed in, the latest first.
func (s *Store) SessionsOf(ctx context.Context, user model.UserID) (list []Session, err error) {
	defer wrap(&err, "list sessions of user %d", user)
	rows, err := s.control.Query(ctx, sqlSessionsOf, user, s.now())
	if err != nil {
		return nil, err
	}
	one := Session{User: user}
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&hash, &one.Data, &one.Begun, &one.Seen, &one.Expires}, func() error {
		copy(one.Hash[:], hash)
		list, one.Data = append(list, one), nil
		return nil
	})
	return list, err
}

const sqlSessionEndOf = `DELETE FROM control.sessions WHERE user_id = $1 AND token_hash = $2`

// EndSessionOf signs a user out of one browser; of another user's, and of one that
// is not there, it is nothing to end.
func (s *Store) EndSessionOf(ctx context.Context, user model.UserID, hash [32]byte) (err error) {
	defer wrap(&err, "end session of user %d", user)
	_, err = s.control.Exec(ctx, sqlSessionEndOf, user, hash[:])
	return err
}
