package signin

import (
	"net/http"
	"net/url"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
	"herald/handlers/web"
	view "herald/views/signin"
)

// showInvitation answers GET /invitations/{token}. It changes nothing, whoever opens
// the link.
func (d *door) showInvitation(w http.ResponseWriter, r *http.Request) error {
	return d.drawInvitation(w, r, http.StatusOK, func(*view.InvitationProps) {})
}

func (d *door) drawInvitation(w http.ResponseWriter, r *http.Request, status int, with func(*view.InvitationProps)) error {
	w.Header().Set("Cache-Control", "no-store")
	j, err := d.Store.Joining(r.Context(), r.PathValue("token"))
	if err != nil {
		return err
	}
	user, err := d.Sessions.User(r)
	if err != nil {
		return err
	}
	path := "/invitations/" + url.PathEscape(r.PathValue("token"))
	p := view.InvitationProps{Action: path, Agency: j.Workspace.Name, Inviter: j.Inviter, Email: j.Email, Role: string(j.Role), SignIn: "/signin?next=" + url.QueryEscape(path), SignOut: "/signout"}
	switch {
	case !j.Known:
		p.Who = view.Newcomer
	case user == 0:
		p.Who = view.SignedOut
	case user != j.User:
		p.Who = view.SomebodyElse
	}
	with(&p)
	return web.Render(w, r, status, view.Invitation(p))
}

// createMembership answers POST /invitations/{token}: the person joins, signed in.
func (d *door) createMembership(w http.ResponseWriter, r *http.Request) error {
	j, user, err := d.join(r)
	if no, ok := model.Refused(err); ok && no.Field != "" {
		return d.drawInvitation(w, r, web.Status(err), func(p *view.InvitationProps) {
			p.Name, p.Problem = r.PostFormValue("name"), map[string]string{no.Field: no.Say}
		})
	}
	if err != nil {
		return err
	}
	if err := d.Sessions.SignIn(w, r, user); err != nil {
		return err
	}
	d.remember(w, j.Email)
	if err := d.Sessions.Flash(w, r, "Welcome to "+j.Workspace.Name+"."); err != nil {
		return err
	}
	return web.See(w, r, "/w/"+j.Workspace.Slug+"/calendar")
}

var errOther = model.Refuse(model.Forbidden, "Sign in as the person who was invited, then open the link again.")

func (d *door) join(r *http.Request) (j db.Joining, user model.UserID, err error) {
	if j, err = d.Store.Joining(r.Context(), r.PathValue("token")); err != nil {
		return j, 0, err
	}
	if j.Known {
		if user, err = d.Sessions.User(r); err == nil && user != j.User {
			err = errOther
		}
		if err != nil {
			return j, 0, err
		}
		user, err = j.Join(r.Context(), "", "")
		return j, user, err
	}
	password := r.PostFormValue("secret")
	if err := web.CheckNewPassword(password, j.Email); err != nil {
		return j, 0, err
	}
	hash, err := secret.HashPassword(r.Context(), password, d.cost)
	if err != nil {
		return j, 0, err
	}
	user, err = j.Join(r.Context(), r.PostFormValue("name"), hash)
	return j, user, err
}
