// Package signin lets people in and out: an address and a password, a session
// that is new with each sign-in, and buckets that make guessing hopeless. It
// never tells whether an address is known. Start with Register.
package signin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herald/db/model"
	"herald/db/secret"
	"herald/handlers/web"
	view "herald/views/signin"
	"herald/views/ui"
)

// FormBytes bounds the form, at which anybody may knock: a password has at most 1,024
// bytes, and what was written while nobody was signed in travels along.
const FormBytes web.Body = 1 << 20

// door is what the handlers work with.
type door struct {
	*web.Edge
	ring *secret.Ring
	cost secret.Cost
}

// Register adds the addresses of sign-in to mux. Cost is what a new hash of a
// password costs; older ones are made again when their person signs in.
func Register(mux web.Mux, edge *web.Edge, ring *secret.Ring, cost secret.Cost) {
	d := &door{Edge: edge, ring: ring, cost: cost}
	mux.Handle("GET /signin", edge.Open(d.showForm))
	mux.Handle("POST /signin", edge.Open(d.createSession))
	mux.Handle("POST /signout", edge.Open(d.deleteSession))
	mux.Handle("GET /forgotten", edge.Open(d.showForgotten))
	mux.Handle("POST /forgotten", edge.Open(d.createPasswordLink))
	mux.Handle("GET /passwords/{token}", edge.Open(d.showPassword))
	mux.Handle("POST /passwords/{token}", edge.Open(d.createPassword))
	mux.Handle("GET /invitations/{token}", edge.Open(d.showInvitation))
	mux.Handle("POST /invitations/{token}", edge.Open(d.createMembership))
}

const (
	sayWrong  = "That address and password do not belong together."
	sayNobody = "You are not in any workspace. Ask the person who runs yours to add you."
)

// showForm answers GET /signin. Who is signed in already is sent on.
func (d *door) showForm(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	next := r.URL.Query().Get("next")
	user, err := d.Sessions.User(r)
	if err != nil {
		return err
	}
	if user == 0 {
		props := view.Props{Action: "/signin", Forgot: "/forgotten", Next: web.LocalPath(next, "")}
		for _, say := range d.Sessions.Flashes(w, r) {
			props.Notices = append(props.Notices, ui.NoticeProps{Tone: ui.Good, Say: say})
		}
		return web.Render(w, r, http.StatusOK, view.Page(props))
	}
	places, err := d.Store.Places(r.Context(), user)
	if err != nil {
		return err
	}
	if len(places) == 0 && !invited(next) {
		return d.refuse(w, r, http.StatusForbidden, view.Props{Problem: sayNobody})
	}
	return web.See(w, r, destination(r, next, places))
}

// createSession answers POST /signin.
func (d *door) createSession(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	email, next := strings.ToLower(strings.TrimSpace(r.PostFormValue("email"))), r.PostFormValue("next")
	again := view.Props{Next: web.LocalPath(next, ""), Email: email}
	if form, ok := web.Carried(r.PostForm.Get("kept")); ok {
		again.Kept, again.Carried = form.Props(""), r.PostForm.Get("kept")
	}
	dues := d.dues(r, email)
	wait, err := d.throttle(r.Context(), dues)
	if err != nil {
		return err
	}
	if wait > 0 {
		again.Wait = sayWait(wait)
		w.Header().Set("Retry-After", seconds(wait))
		return d.refuse(w, r, http.StatusTooManyRequests, again)
	}
	user, ok, err := d.check(r.Context(), email, r.PostFormValue("password"))
	if err != nil {
		return err
	}
	if !ok {
		again.Problem = sayWrong
		return d.refuse(w, r, http.StatusUnprocessableEntity, again)
	}
	if err := d.forgive(r.Context(), dues); err != nil {
		return err
	}
	return d.enter(w, r, user, again)
}

// check says whether address and password belong together. It takes as long for
// an address that nobody has.
func (d *door) check(ctx context.Context, email, password string) (model.UserID, bool, error) {
	user, known, err := d.Store.UserByEmail(ctx, email)
	if err != nil {
		return 0, false, err
	}
	if !known {
		return 0, false, secret.CheckNobody(ctx, password, d.cost)
	}
	ok, rehash, err := secret.CheckPassword(ctx, user.Hash, password, d.cost)
	if err != nil || !ok {
		return 0, false, err
	}
	if rehash {
		fresh, err := secret.HashPassword(ctx, password, d.cost)
		if err != nil {
			return 0, false, err
		}
		if err := d.Store.Rehash(ctx, user.ID, user.Hash, fresh); err != nil {
			return 0, false, err
		}
	}
	return user.ID, true, nil
}

// enter starts the session of a person whose password was right.
func (d *door) enter(w http.ResponseWriter, r *http.Request, user model.UserID, again view.Props) error {
	places, err := d.Store.Places(r.Context(), user)
	if err != nil {
		return err
	}
	if len(places) == 0 && !invited(again.Next) {
		again.Problem = sayNobody
		return d.refuse(w, r, http.StatusForbidden, again)
	}
	if err := d.Sessions.SignIn(w, r, user); err != nil {
		return err
	}
	d.remember(w, again.Email)
	home := destination(r, again.Next, places)
	if form, ok := web.Carried(again.Carried); ok {
		return web.Render(w, r, http.StatusOK, view.SendAgain(view.Again{Kept: form.Props("Send it"), Home: home}))
	}
	return web.See(w, r, home)
}

func (d *door) refuse(w http.ResponseWriter, r *http.Request, status int, p view.Props) error {
	p.Action, p.Forgot = "/signin", "/forgotten"
	return web.Render(w, r, status, view.Page(p))
}

// invited says whether somebody who is in no workspace is about to join one.
func invited(next string) bool { return strings.HasPrefix(next, "/invitations/") }

// place is the cookie that remembers where a person last signed out.
const place = "herald_place"

// destination is where a sign-in leads: to next if that is a page of ours, else
// to the calendar of the workspace that the browser was last in, else of the first.
func destination(r *http.Request, next string, places []string) string {
	if path := web.LocalPath(next, ""); path != "" && path != "/" && !strings.HasPrefix(path, "/signin") && !strings.HasPrefix(path, "/signout") {
		return path
	}
	slug := places[0]
	if c, err := r.Cookie(place); err == nil && slices.Contains(places, c.Value) {
		slug = c.Value
	}
	return "/w/" + slug + "/calendar"
}

// deleteSession answers POST /signout. Signing out twice is fine.
func (d *door) deleteSession(w http.ResponseWriter, r *http.Request) error {
	if err := d.Sessions.SignOut(w, r); err != nil {
		return err
	}
	if slug := cameFrom(r); slug != "" {
		http.SetCookie(w, &http.Cookie{Name: place, Value: slug, Path: "/signin", MaxAge: 365 * 24 * 3600, HttpOnly: true, Secure: d.Sessions.Secure, SameSite: http.SameSiteLaxMode})
	}
	return web.See(w, r, "/signin")
}

// cameFrom is the workspace whose page sent the form.
func cameFrom(r *http.Request) string {
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host != r.Host {
		return ""
	}
	rest, ok := strings.CutPrefix(from.Path, "/w/")
	slug, _, _ := strings.Cut(rest, "/")
	if !ok || strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return ""
	}
	return slug
}
