package desk

import (
	"net/http"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/secret"
	"herald/handlers/web"
	"herald/views/settings"
	"herald/views/ui"
)

// showProfile answers GET /settings/profile.
func (d *Desk) showProfile(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawProfile(w, r, scope, http.StatusOK, func(*settings.ProfileProps) {})
}

func (d *Desk) drawProfile(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*settings.ProfileProps)) error {
	own, err := scope.Profile(r.Context())
	if err != nil {
		return err
	}
	browsers, err := d.Sessions.Browsers(r)
	if err != nil {
		return err
	}
	p := settings.ProfileProps{
		Action: at(scope, "/settings/profile"), Password: at(scope, "/settings/password"), Sessions: at(scope, "/settings/sessions"),
		Seen: own.Seen(), Name: own.Name, Email: own.Email, Zone: ownZone(own.Zone, scope.Workspace.Zone),
	}
	for _, b := range browsers {
		p.Browsers = append(p.Browsers, settings.Browser{Words: browserWords(b.Agent), Begun: clientTime(b.Begun, zoneOr(own.Zone, scope)), Seen: clientTime(b.Seen, zoneOr(own.Zone, scope)), Present: b.Present, End: b.Key})
	}
	with(&p)
	return d.showSettings(w, r, scope, status, page{title: "Profile"}, settings.Profile(p))
}

func zoneOr(zone string, scope *db.Scope) string {
	if zone == "" {
		return scope.Workspace.Zone
	}
	return zone
}

// ownZone offers zones to a person, who need not have one.
func ownZone(current string, others ...string) settings.Zone {
	z := zoneField(current, others...)
	none := ui.Option{Value: "", Label: "As the browser says", Chosen: current == ""}
	z.Near = append([]ui.Option{none}, z.Near...)
	return z
}

// browserWords name a browser by what it calls itself, as people know it.
func browserWords(agent string) string {
	name, system := "A browser", ""
	for _, b := range []struct{ mark, name string }{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, b.mark) {
			name = b.name
			break
		}
	}
	for _, s := range []struct{ mark, name string }{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, s.mark) {
			system = " on " + s.name
			break
		}
	}
	return name + system
}

// editProfile answers POST /settings/profile.
func (d *Desk) editProfile(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	name, zone := r.PostFormValue("name"), r.PostFormValue("zone")
	err := scope.EditProfile(r.Context(), name, zone, r.PostFormValue("seen"))
	if no, ok := model.Refused(err); ok {
		return d.drawProfile(w, r, scope, web.Status(err), func(p *settings.ProfileProps) {
			p.Name, p.Zone, p.Problem = name, ownZone(zone, scope.Workspace.Zone), problems(no, "name")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/profile"), "Saved.")
}

// passwordTries bounds how often a present password can be guessed by whoever sits at
// somebody else's browser.
var passwordTries = db.Bucket{Kind: "password change", Burst: 5, Drip: time.Minute}

// createPassword answers POST /settings/password. The other browsers are signed out.
func (d *Desk) createPassword(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	err := d.changePassword(r, scope)
	if no, ok := model.Refused(err); ok {
		return d.drawProfile(w, r, scope, web.Status(err), func(p *settings.ProfileProps) { p.Problem = problems(no, "password") })
	}
	if err != nil {
		return err
	}
	if err := d.Sessions.End(r, ""); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/profile"), "Your password is changed, and your other browsers are signed out.")
}

func (d *Desk) changePassword(r *http.Request, scope *db.Scope) error {
	own, err := scope.Profile(r.Context())
	if err != nil {
		return err
	}
	if err := web.CheckNewPassword(r.PostFormValue("secret"), own.Email); err != nil {
		return err
	}
	wait, err := d.Store.Take(r.Context(), passwordTries, id(scope.Actor.User))
	if err != nil {
		return err
	}
	if wait > 0 {
		return model.Refuse(model.TooMany, "Too many tries. Wait a minute, then try again.")
	}
	user, known, err := d.Store.UserByEmail(r.Context(), own.Email)
	if err != nil {
		return err
	}
	right, _, err := secret.CheckPassword(r.Context(), user.Hash, r.PostFormValue("password"), d.Cost)
	if err != nil {
		return err
	}
	if !known || !right {
		return model.RefuseField("password", "That is not your password.")
	}
	if err := d.Store.Drain(r.Context(), passwordTries, id(scope.Actor.User)); err != nil {
		return err
	}
	hash, err := secret.HashPassword(r.Context(), r.PostFormValue("secret"), d.Cost)
	if err != nil {
		return err
	}
	return scope.ChangePassword(r.Context(), user.Hash, hash)
}

// createSessionEnd answers POST /settings/sessions: one browser is signed out, or all
// others.
func (d *Desk) createSessionEnd(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	key, say := r.PostFormValue("session"), "That browser is signed out."
	switch key {
	case "":
		return d.drawProfile(w, r, scope, http.StatusUnprocessableEntity, func(*settings.ProfileProps) {})
	case "others":
		key, say = "", "All other browsers are signed out."
	}
	if err := d.Sessions.End(r, key); err != nil {
		return err
	}
	return d.say(w, r, at(scope, "/settings/profile#sessions"), say)
}
