package desk

import (
	"net/http"
	"strconv"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/settings"
	"herald/views/ui"
)

// logoTypes are what a logo's file dialog offers. Drawings (SVG) are never taken: they
// can hold script.
const logoTypes = "image/png,image/jpeg,image/webp,image/gif,.png,.jpg,.jpeg,.webp,.gif"

// lookPath is where the look of a client is set, or with zero that of the workspace.
func lookPath(scope *db.Scope, client model.ClientID) string {
	if client == 0 {
		return at(scope, "/settings/look")
	}
	return clientPath(scope, client) + "/look"
}

// showLook answers GET /settings/look and GET /settings/clients/{client}/look.
func (d *Desk) showLook(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.drawLook(w, r, scope, http.StatusOK, func(*settings.LookProps) {})
}

func (d *Desk) drawLook(w http.ResponseWriter, r *http.Request, scope *db.Scope, status int, with func(*settings.LookProps)) error {
	client := pathID[model.ClientID](r, "client")
	l, err := scope.Look(r.Context(), client)
	if err != nil {
		return err
	}
	p := settings.LookProps{Action: lookPath(scope, client), Seen: strconv.Itoa(l.Revision), Name: l.Name, Accent: string(l.Accent), Accepts: logoTypes, Otherwise: scope.Workspace.Name, Shown: l.Accent}
	title := "Review pages"
	if client != 0 {
		title = "Clients"
		p.Client, p.Crumbs = l.Client, []ui.Crumb{{Label: "Clients", Href: at(scope, "/settings/clients")}, {Label: l.Client, Href: clientPath(scope, client)}}
		p.Inherit(l.House.Name, l.House.Accent, l.House.Logo != nil)
	} else if p.Shelves, err = d.shelves(r, scope); err != nil {
		return err
	}
	if l.Logo != nil {
		p.Logo = &settings.Logo{Say: l.LogoSay}
		if l.LogoReady {
			p.Logo.Source = d.mediaURL(scope, *l.Logo, "thumbnail")
		}
	}
	h, err := scope.ReviewHost(r.Context(), client)
	if err != nil {
		return err
	}
	p.Host = d.hostProps(scope, client, h, scope.Workspace.Zone)
	with(&p)
	return d.showSettings(w, r, scope, status, page{title: title}, settings.Look(p))
}

// shelves are the clients in whose library the workspace's logo can be kept.
func (d *Desk) shelves(r *http.Request, scope *db.Scope) (list []ui.Option, err error) {
	all, err := scope.LibraryClients(r.Context())
	for _, c := range all {
		if c.MayWrite {
			list = append(list, ui.Option{Value: id(c.ID), Label: c.Name})
		}
	}
	return list, err
}

// editLook answers POST /settings/look and POST /settings/clients/{client}/look.
func (d *Desk) editLook(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	parts, err := d.readParts(w, r)
	if err != nil {
		return err
	}
	defer parts.close()
	client := pathID[model.ClientID](r, "client")
	f, err := d.readLook(r, scope, client, parts)
	if err == nil {
		err = scope.KeepLook(r.Context(), client, f)
	}
	if no, ok := model.Refused(err); ok && (no.Kind == model.Unprocessable || no.Kind == model.Conflict) {
		return d.drawLook(w, r, scope, web.Status(err), func(p *settings.LookProps) {
			p.Name, p.Accent, p.Problem = parts.Get("name"), parts.Get("accent"), problems(no, "name")
		})
	}
	if err != nil {
		return err
	}
	return d.say(w, r, lookPath(scope, client), "Saved. "+d.lookSaid(f))
}

func (d *Desk) lookSaid(f db.LookForm) string {
	accent, _ := model.ParseAccent(f.Accent)
	return settings.Adjusted(accent)
}

// readLook reads the form, and takes a logo into the library as any other file is taken:
// sniffed, scanned and opened where it can do no harm.
func (d *Desk) readLook(r *http.Request, scope *db.Scope, client model.ClientID, p *parts) (f db.LookForm, err error) {
	l, err := scope.Look(r.Context(), client)
	if err != nil {
		return f, err
	}
	f = db.LookForm{Name: strings.TrimSpace(p.Get("name")), Accent: p.Get("accent"), Logo: l.Logo}
	f.Seen, _ = web.Count(p.Get("seen"))
	if p.Get("logo") == "none" {
		f.Logo = nil
	}
	if _, err := model.ParseAccent(f.Accent); err != nil || len(p.files) == 0 {
		return f, err
	}
	if client == 0 {
		client = model.ClientID(web.ID(p.Get("shelf")))
	}
	if err := scope.RoomForMedia(r.Context(), client, 0); err != nil {
		return f, err
	}
	asset, err := d.takeLogo(r, scope, client, p.files[:1])
	if err == nil {
		f.Logo = &asset.ID
	}
	return f, err
}

func (d *Desk) takeLogo(r *http.Request, scope *db.Scope, client model.ClientID, files []*upload) (db.Asset, error) {
	t, err := d.takeFiles(r.Context(), scope, client, files)
	if err == nil {
		err = d.await(r.Context(), scope, &t)
	}
	switch {
	case err != nil:
		return db.Asset{}, err
	case len(t.refused) > 0:
		return db.Asset{}, model.RefuseField("file", strings.Join(t.refused, " "))
	case len(t.assets) == 0:
		return db.Asset{}, model.RefuseField("file", "The picture did not arrive. Choose it again.")
	}
	return t.assets[0], nil
}
