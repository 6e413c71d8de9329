package db

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// User is a person as sign-in needs one.
type User struct {
	ID   model.UserID
	Hash string // of the password, argon2id in PHC form
}

const sqlUserByEmail = `SELECT id, password_hash FROM control.users WHERE email = $1 AND password_hash IS NOT NULL AND disabled_at IS NULL`

// UserByEmail finds a person who may sign in; ok is false for anybody else.
func (s *Store) UserByEmail(ctx context.Context, email string) (u User, ok bool, err error) {
	defer wrap(&err, "find user")
	email = strings.ToLower(strings.TrimSpace(email))
	if len(email) > 254 || !utf8.ValidString(email) || strings.ContainsRune(email, 0) {
		return u, false, nil
	}
	err = s.control.QueryRow(ctx, sqlUserByEmail, email).Scan(&u.ID, &u.Hash)
	if noRows(err) {
		return u, false, nil
	}
	return u, err == nil, err
}

const sqlUserRehash = `UPDATE control.users SET password_hash = $3 WHERE id = $1 AND password_hash = $2`

// Rehash keeps a new hash of the same password. It does nothing if the password
// was changed since old was read.
func (s *Store) Rehash(ctx context.Context, id model.UserID, old, hash string) (err error) {
	defer wrap(&err, "rehash password of user %d", id)
	_, err = s.control.Exec(ctx, sqlUserRehash, id, old, hash)
	return err
}

const sqlUserPlaces = `
	SELECT w.slug FROM control.memberships m JOIN control.workspaces w ON w.id = m.workspace_id
	 WHERE m.user_id = $1 ORDER BY w.name, w.slug`

// Places lists the short names of the workspaces that a person belongs to.
func (s *Store) Places(ctx context.Context, id model.UserID) (slugs []string, err error) {
	defer wrap(&err, "list workspaces of user %d", id)
	rows, err := s.control.Query(ctx, sqlUserPlaces, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
