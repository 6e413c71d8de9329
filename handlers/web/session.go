package web

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/sessions"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
)

// cookie is the session's name in the browser.
const cookie = "herald_session"

// sessionLife is how long a session lasts without being used.
const sessionLife = 14 * 24 * time.Hour

// Sessions keeps gorilla sessions in Postgres. The cookie carries a random token
// and nothing else, so a session can be revoked, and a stolen database opens none.
type Sessions struct {
	Store  *db.Store
	Secure bool // cookies over https only; off on localhost
	Now    func() time.Time
}

var _ sessions.Store = (*Sessions)(nil)

// Get returns the request's session, the same one for the whole request.
func (s *Sessions) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(s, name)
}

// New reads the session that the cookie names, or starts an empty one. An
// unknown or expired cookie is an empty session, not an error.
func (s *Sessions) New(r *http.Request, name string) (*sessions.Session, error) {
	one := sessions.NewSession(s, name)
	one.IsNew = true
	one.Options = &sessions.Options{Path: "/", MaxAge: int(sessionLife.Seconds()), HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteLaxMode}
	c, err := r.Cookie(name)
	if err != nil || c.Value == "" {
		return one, nil
	}
	stored, ok, err := s.Store.Session(r.Context(), secret.HashToken(c.Value))
	if err != nil || !ok {
		return one, err
	}
	if err := gob.NewDecoder(bytes.NewReader(stored.Data)).Decode(&one.Values); err != nil {
		return one, nil
	}
	one.ID, one.IsNew = c.Value, false
	if s.Now().Sub(stored.Seen) > time.Hour {
		stored.Expires = s.Now().Add(sessionLife)
		_, err = s.Store.KeepSession(r.Context(), stored)
	}
	return one, err
}

// Save writes the session and sets the cookie; a MaxAge below zero revokes it.
func (s *Sessions) Save(r *http.Request, w http.ResponseWriter, one *sessions.Session) error {
	if one.Options.MaxAge < 0 {
		http.SetCookie(w, sessions.NewCookie(one.Name(), "", one.Options))
		if one.ID == "" {
			return nil
		}
		return s.Store.EndSession(r.Context(), secret.HashToken(one.ID))
	}
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(one.Values); err != nil {
		return err
	}
	user, _ := one.Values[keyUser].(int64)
	kept, err := s.write(r, one, db.Session{User: model.UserID(user), Data: data.Bytes(), Expires: s.Now().Add(sessionLife)})
	if err == nil && kept {
		http.SetCookie(w, sessions.NewCookie(one.Name(), one.ID, one.Options))
	}
	return err
}

// write makes a session that has no name yet, and keeps one that has; kept is
// false if that was revoked meanwhile.
func (s *Sessions) write(r *http.Request, one *sessions.Session, stored db.Session) (kept bool, err error) {
	if one.ID != "" {
		stored.Hash = secret.HashToken(one.ID)
		return s.Store.KeepSession(r.Context(), stored)
	}
	one.ID, stored.Hash = secret.NewLinkToken()
	return true, s.Store.AddSession(r.Context(), stored)
}

// What a session holds: who it is of, and which browser began it.
const (
	keyUser  = "user"
	keyAgent = "agent"
)

// agentBytes is as much of a browser's own name as is kept.
const agentBytes = 300

// User returns who is signed in, or zero. That a session could not be read is an
// error, and says nothing of who somebody is.
func (s *Sessions) User(r *http.Request) (model.UserID, error) {
	one, err := s.Get(r, cookie)
	if err != nil {
		return 0, err
	}
	id, _ := one.Values[keyUser].(int64)
	return model.UserID(id), nil
}

// SignIn starts a session of its own for the user: what was there before is
// ended, so that a token somebody planted is worth nothing.
func (s *Sessions) SignIn(w http.ResponseWriter, r *http.Request, user model.UserID) error {
	one, err := s.Get(r, cookie)
	if err != nil {
		return err
	}
	if one.ID != "" {
		if err := s.Store.EndSession(r.Context(), secret.HashToken(one.ID)); err != nil {
			return err
		}
	}
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	one.ID, one.Values = "", map[any]any{keyUser: int64(user), keyAgent: agent[:min(len(agent), agentBytes)]}
	return s.Save(r, w, one)
}

// Browser is one browser in which a person is signed in.
type Browser struct {
	Key     string // names it in forms; opens nothing
	Agent   string // as it called itself; empty if it did not
	Begun   time.Time
	Seen    time.Time
	Present bool // it asks now
}

// Browsers lists where the person of this request is signed in, the latest first.
func (s *Sessions) Browsers(r *http.Request) (list []Browser, err error) {
	one, err := s.Get(r, cookie)
	if err != nil {
		return nil, err
	}
	user, _ := one.Values[keyUser].(int64)
	stored, err := s.Store.SessionsOf(r.Context(), model.UserID(user))
	here := secret.HashToken(one.ID)
	for _, each := range stored {
		b := Browser{Key: hex.EncodeToString(each.Hash[:]), Begun: each.Begun, Seen: each.Seen, Present: each.Hash == here}
		values := map[any]any{}
		if gob.NewDecoder(bytes.NewReader(each.Data)).Decode(&values) == nil {
			b.Agent, _ = values[keyAgent].(string)
		}
		list = append(list, b)
	}
	return list, err
}

// End signs the person of this request out of one browser, by its key, or with an
// empty one out of all but this.
func (s *Sessions) End(r *http.Request, key string) error {
	one, err := s.Get(r, cookie)
	if err != nil {
		return err
	}
	user, _ := one.Values[keyUser].(int64)
	if key == "" {
		return s.Store.EndSessions(r.Context(), model.UserID(user), secret.HashToken(one.ID))
	}
	var hash [32]byte
	if n, err := hex.Decode(hash[:], []byte(key[:min(len(key), 64)])); err != nil || n != len(hash) {
		return nil
	}
	return s.Store.EndSessionOf(r.Context(), model.UserID(user), hash)
}

// SignOut revokes the session.
func (s *Sessions) SignOut(w http.ResponseWriter, r *http.Request) error {
	one, err := s.Get(r, cookie)
	if err != nil {
		return err
	}
	one.Options.MaxAge = -1
	return s.Save(r, w, one)
}

// Flash keeps a sentence for the next page the person sees.
func (s *Sessions) Flash(w http.ResponseWriter, r *http.Request, say string) error {
	one, err := s.Get(r, cookie)
	if err != nil {
		return err
	}
	one.AddFlash(say)
	return s.Save(r, w, one)
}

// Flashes returns the sentences kept and forgets them.
func (s *Sessions) Flashes(w http.ResponseWriter, r *http.Request) []string {
	one, err := s.Get(r, cookie)
	if err != nil || len(one.Values) == 0 {
		return nil
	}
	kept := one.Flashes()
	if len(kept) == 0 {
		return nil
	}
	var say []string
	for _, k := range kept {
		if s, ok := k.(string); ok {
			say = append(say, s)
		}
	}
	if err := s.Save(r, w, one); err != nil {
		return nil
	}
	return say
}
