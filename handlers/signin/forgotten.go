package signin

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
	"herald/handlers/web"
	view "herald/views/signin"
)

// The buckets of asking for a link, which fill alike for addresses that nobody
// has. Three mails are enough to find one; they then come one in twenty minutes.
var (
	linksPerClient = db.Bucket{Kind: "password link client", Burst: 20, Drip: time.Minute}
	linksPerPerson = db.Bucket{Kind: "password link person", Burst: 3, Drip: 20 * time.Minute}
)

// answerAfter is how long it takes to say that a mail may be on its way: longer than
// owing one does, so that the time does not tell whether one is.
const answerAfter = 300 * time.Millisecond

// showForgotten answers GET /forgotten.
func (d *door) showForgotten(w http.ResponseWriter, r *http.Request) error {
	return d.drawForgotten(w, r, http.StatusOK, view.ForgottenProps{Email: r.URL.Query().Get("email")})
}

func (d *door) drawForgotten(w http.ResponseWriter, r *http.Request, status int, p view.ForgottenProps) error {
	w.Header().Set("Cache-Control", "no-store")
	p.Action, p.SignIn = "/forgotten", "/signin"
	return web.Render(w, r, status, view.Forgotten(p))
}

// createPasswordLink answers POST /forgotten: the same, whoever has the address.
func (d *door) createPasswordLink(w http.ResponseWriter, r *http.Request) error {
	until := time.Now().Add(answerAfter)
	p := view.ForgottenProps{Email: strings.TrimSpace(r.PostFormValue("email"))}
	if !strings.Contains(p.Email, "@") || len(p.Email) > 254 {
		p.Problem = "Write your e-mail address, as mia@example.com."
		return d.drawForgotten(w, r, http.StatusUnprocessableEntity, p)
	}
	wait, err := d.throttle(r.Context(), []due{{linksPerClient, client(r), false}, {linksPerPerson, strings.ToLower(p.Email), false}})
	if err != nil {
		return err
	}
	if wait > 0 {
		p.Wait = sayWait(wait)
		w.Header().Set("Retry-After", seconds(wait))
		return d.drawForgotten(w, r, http.StatusTooManyRequests, p)
	}
	if err := d.Store.MailPasswordLink(r.Context(), p.Email); err != nil {
		return err
	}
	rest(r.Context(), until)
	p.Sent = true
	return d.drawForgotten(w, r, http.StatusOK, p)
}

// rest waits until a moment, or for as long as somebody waits for the answer.
func rest(ctx context.Context, until time.Time) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(until)):
	}
}

// showPassword answers GET /passwords/{token}. It changes nothing, whoever opens
// the link.
func (d *door) showPassword(w http.ResponseWriter, r *http.Request) error {
	return d.drawPassword(w, r, http.StatusOK, "")
}

func (d *door) drawPassword(w http.ResponseWriter, r *http.Request, status int, problem string) error {
	w.Header().Set("Cache-Control", "no-store")
	token := r.PathValue("token")
	_, email, err := d.Store.PasswordLink(r.Context(), token)
	if no, ok := model.Refused(err); ok {
		return d.drawForgotten(w, r, web.Status(err), view.ForgottenProps{Over: no.Say})
	}
	if err != nil {
		return err
	}
	return web.Render(w, r, status, view.Password(view.PasswordProps{Action: "/passwords/" + url.PathEscape(token), Email: email, Problem: problem}))
}

// createPassword answers POST /passwords/{token}: the password is the new one, every
// browser is signed out, and this one is signed in.
func (d *door) createPassword(w http.ResponseWriter, r *http.Request) error {
	email, user, err := d.choosePassword(r)
	if no, ok := model.Refused(err); ok {
		return d.drawPassword(w, r, web.Status(err), no.Say)
	}
	if err != nil {
		return err
	}
	places, err := d.Store.Places(r.Context(), user)
	if err != nil {
		return err
	}
	if len(places) == 0 {
		return d.refuse(w, r, http.StatusForbidden, view.Props{Problem: sayNobody})
	}
	if err := d.Sessions.SignIn(w, r, user); err != nil {
		return err
	}
	d.remember(w, email)
	if err := d.Sessions.Flash(w, r, "Your password is the new one, and your other browsers are signed out."); err != nil {
		return err
	}
	return web.See(w, r, destination(r, "", places))
}

func (d *door) choosePassword(r *http.Request) (email string, user model.UserID, err error) {
	token, password := r.PathValue("token"), r.PostFormValue("secret")
	if _, email, err = d.Store.PasswordLink(r.Context(), token); err != nil {
		return "", 0, err
	}
	if err := web.CheckNewPassword(password, email); err != nil {
		return "", 0, err
	}
	hash, err := secret.HashPassword(r.Context(), password, d.cost)
	if err != nil {
		return "", 0, err
	}
	user, err = d.Store.UsePasswordLink(r.Context(), token, hash)
	return email, user, err
}
