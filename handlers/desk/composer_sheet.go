package desk

import (
	"net/http"
	"net/url"

	"herald/db"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
)

// inSheet says whether a request is of a composer that stands as a dialog over another
// page, and wants all that is in it.
func inSheet(r *http.Request) bool { return web.FromHTMX(r) && web.Part(r) == composer.BodyPart }

// drawSheet answers with the composer as a dialog, or with what is in it.
func (e *editing) drawSheet(w http.ResponseWriter, r *http.Request, status int, p composer.Props) error {
	p.Sheet = true
	look := e.desk.postScreen(p.Title)
	s := composer.SheetProps{Props: p, Page: r.URL.RequestURI(), KeptAt: at(e.scope, "/posts/new?copy="+url.QueryEscape(e.form.copy)), Styles: look.styles, Modules: look.modules}
	if inSheet(r) {
		return web.Render(w, r, status, composer.SheetBody(s))
	}
	return web.Render(w, r, status, composer.Sheet(s))
}

// done says what became of the form: on the post's page, or over the page that the
// composer stands on.
func (e *editing) done(w http.ResponseWriter, r *http.Request, say string) error {
	path := postPath(e.scope, e.page.Post.ID)
	if inSheet(r) {
		return web.Render(w, r, http.StatusOK, composer.Done(say, path))
	}
	return e.desk.say(w, r, path, say)
}

// beginAnew shows an empty form in place of one whose copy was dropped.
func (d *Desk) beginAnew(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if !inSheet(r) {
		return web.See(w, r, at(scope, "/posts/new"))
	}
	e, err := d.edit(r.Context(), scope, composition{variants: map[network.Name]variantForm{}, key: web.FormKey(), copy: web.FormKey()})
	if err != nil {
		return err
	}
	left, err := scope.Copies(r.Context(), 0)
	if err != nil {
		return err
	}
	for _, c := range left {
		e.left = append(e.left, d.left(scope, c, 0))
	}
	return e.draw(w, r, http.StatusOK)
}
