package db

import (
	"context"
	"time"

	"herald/db/model"
)

// Session is one signed-in browser, or one about to sign in. The cookie holds a
// random token; only its hash is stored.
type Session struct {
	Hash    [32]byte
	User    model.UserID // zero before sign-in
	Data    []byte
	Begun   time.Time // read by SessionsOf alone
	Seen    time.Time
	Expires time.Time
}

const sqlSessionGet = `
	SELECT coalesce(s.user_id, 0), s.data, s.seen_at, s.expires_at FROM control.sessions s
	  LEFT JOIN control.users u ON u.id = s.user_id
	 WHERE s.token_hash = $1 AND s.expires_at > $2 AND u.disabled_at IS NULL`

// Session reads a session that has not run out and whose user is not disabled;
// ok is false if there is none.
func (s *Store) Session(ctx context.Context, hash [32]byte) (one Session, ok bool, err error) {
	defer wrap(&err, "read session")
	one.Hash = hash
	err = s.control.QueryRow(ctx, sqlSessionGet, hash[:], s.now()).Scan(&one.User, &one.Data, &one.Seen, &one.Expires)
	if noRows(err) {
		return one, false, nil
	}
	return one, err == nil, err
}

const sqlSessionAdd = `
	INSERT INTO control.sessions (token_hash, user_id, data, created_at, seen_at, expires_at) VALUES ($1, nullif($2, 0), $3, $4, $4, $5)`

// AddSession writes a session that was not there before.
func (s *Store) AddSession(ctx context.Context, one Session) (err error) {
	defer wrap(&err, "add session")
	_, err = s.control.Exec(ctx, sqlSessionAdd, one.Hash[:], one.User, one.Data, s.now(), one.Expires)
	return err
}

const sqlSessionKeep = `UPDATE control.sessions SET user_id = nullif($2, 0), data = $3, seen_at = $4, expires_at = $5 WHERE token_hash = $1`

// KeepSession writes a session that is there; ok is false if it was revoked
// meanwhile, and stays so: a request under way brings no session back to life.
func (s *Store) KeepSession(ctx context.Context, one Session) (ok bool, err error) {
	defer wrap(&err, "keep session")
	did, err := s.control.Exec(ctx, sqlSessionKeep, one.Hash[:], one.User, one.Data, s.now(), one.Expires)
	return did.RowsAffected() == 1, err
}

// EndSession revokes a session. Ending one that is not there is fine.
func (s *Store) EndSession(ctx context.Context, hash [32]byte) (err error) {
	defer wrap(&err, "end session")
	_, err = s.control.Exec(ctx, `DELETE FROM control.sessions WHERE token_hash = $1`, hash[:])
	return err
}

// EndSessions revokes every session of a user but one.
func (s *Store) EndSessions(ctx context.Context, user model.UserID, but [32]byte) (err error) {
	defer wrap(&err, "end sessions of user %d", user)
	_, err = s.control.Exec(ctx, `DELETE FROM control.sessions WHERE user_id = $1 AND token_hash <> $2`, user, but[:])
	return err
}
