package desk

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/composer"
)

func (d *Desk) copyRoutes() []route {
	return []route{
		{"POST /w/{slug}/posts/copies", model.PostsWrite, d.keepCopy},
		{"POST /w/{slug}/posts/copies/removals", model.PostsWrite, d.dropCopy},
	}
}

// notKept are fields of the form that say what to do, and not what was written.
var notKept = []string{"do", "way", "file", "find", "pick", "arrived", "local", "drop", "from", "named", "into", "undo_text", "undo_was", "template_name", "template_client"}

// keepCopy answers POST /posts/copies: the composer's form as it stands, kept for its
// writer.
func (d *Desk) keepCopy(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p, err := d.readParts(w, r)
	if err != nil {
		return err
	}
	defer p.close()
	c, err := copyOf(p)
	if err != nil {
		return err
	}
	if err := scope.KeepCopy(r.Context(), c); err != nil {
		return err
	}
	return web.Render(w, r, http.StatusOK, composer.Kept())
}

func copyOf(p *parts) (c db.WorkingCopy, err error) {
	if c.Key = p.Get("copy"); !web.IsFormKey(c.Key) {
		return c, errForm
	}
	post, err := optionalID(p.Get("post"))
	if err != nil {
		return c, err
	}
	c.Post, c.Words = model.PostID(post), typed(p.Get("text"))
	if c.Seen, err = web.Count(p.Get("seen")); err != nil {
		return c, errForm
	}
	fields := url.Values{}
	for name, values := range p.Values {
		if !slices.Contains(notKept, name) {
			fields[name] = values
		}
	}
	c.Fields = typed(fields.Encode())
	return c, nil
}

// dropCopy answers POST /posts/copies/removals: what was not saved is not wanted.
func (d *Desk) dropCopy(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p, err := d.readParts(w, r)
	if err != nil {
		return err
	}
	defer p.close()
	if err := scope.DropCopies(r.Context(), p.Get("drop"), p.Get("copy")); err != nil {
		return err
	}
	post, err := optionalID(p.Get("post"))
	if err != nil {
		return err
	}
	if web.FromHTMX(r) && !inSheet(r) {
		return web.Render(w, r, http.StatusOK, templ.NopComponent) // its line goes
	}
	if post == 0 {
		return d.beginAnew(w, r, scope)
	}
	return web.See(w, r, postPath(scope, model.PostID(post)))
}

// uncopied is the form that a working copy was kept of. It writes a copy of its own
// from here on, so that it takes nothing from a tab that is still open.
func uncopied(c db.WorkingCopy) (form composition, err error) {
	values, err := url.ParseQuery(c.Fields)
	if err != nil {
		return form, err
	}
	if form, err = readComposition(&parts{Values: values}); err != nil {
		return form, err
	}
	form.id, form.seen, form.copy, form.from = c.Post, c.Seen, web.FormKey(), &c
	return form, nil
}

// leftOf finds the working copy to go on with: the one that is asked for, or of a
// stored post the latest, if the post is still what it began from.
func leftOf(list []db.WorkingCopy, asked string, seen int) (db.WorkingCopy, bool) {
	i := slices.IndexFunc(list, func(c db.WorkingCopy) bool { return c.Key == asked })
	if i >= 0 {
		return list[i], true
	}
	if len(list) > 0 && asked == "" && list[0].Post != 0 && list[0].Seen == seen {
		return list[0], true
	}
	return db.WorkingCopy{}, false
}

// forget drops the working copies of a form that was saved.
func (e *editing) forget(ctx context.Context) error {
	keys := []string{e.form.copy}
	if e.form.from != nil {
		keys = append(keys, e.form.from.Key)
	}
	return e.scope.DropCopies(ctx, keys...)
}

func (e *editing) keep() composer.Keep {
	k := composer.Keep{Path: at(e.scope, "/posts/copies"), Drop: at(e.scope, "/posts/copies/removals"), Copy: e.form.copy, Since: "0",
		Store: fmt.Sprintf("herald copy %d %s %d", e.scope.Actor.User, e.scope.Workspace.Slug, e.form.id)}
	if from := e.form.from; from != nil && !from.KeptAt.IsZero() {
		k.Since = strconv.FormatInt(from.KeptAt.UnixMilli(), 10)
		left := e.desk.left(e.scope, *from, e.page.Post.Revision)
		k.From = &left
	}
	return k
}

func (d *Desk) left(scope *db.Scope, c db.WorkingCopy, revision int) composer.Left {
	l := composer.Left{Copy: c.Key, Words: excerptOr(c.Words), When: *timeIn(c.KeptAt, scope.Workspace.Zone), Href: at(scope, "/posts/new?copy="+c.Key), Older: c.Post != 0 && c.Seen != revision}
	if c.Post != 0 {
		l.Href = postPath(scope, c.Post) + "?copy=" + c.Key
	}
	return l
}

// restored puts a form that a browser kept in place of the one that was sent.
func (p *parts) restored() error {
	if p.Get("do") != "restore" {
		return nil
	}
	values, err := url.ParseQuery(p.Get("local"))
	if err != nil || values.Get("post") != p.Get("post") {
		return errForm
	}
	for _, name := range notKept {
		values.Del(name)
	}
	values.Set("do", "refresh")
	web.Clean(values)
	p.Values = values
	return nil
}
