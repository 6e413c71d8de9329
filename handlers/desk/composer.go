package desk

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
)

// showNewPost answers GET /posts/new with an empty form. from=ID fills it with
// what another post says to the clients that the reader sees, template=ID with a template, day=2026-03-20 with a day, clock=09:00 with a time of it, client=ID unfolds a client, account=ID chooses an account.
func (d *Desk) showNewPost(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	form := composition{variants: map[network.Name]variantForm{}}
	if from := r.FormValue("from"); from != "" {
		page, err := d.postOf(r.Context(), scope, from)
		if err != nil {
			return err
		}
		form = composed(page.Visible())
		if page.Hidden == 0 { // they are the team's of all the post's clients
			form.notes, form.labels = page.Post.Notes, page.Post.Labels
		}
	}
	if asked := r.FormValue("template"); asked != "" {
		if err := d.fillFrom(r.Context(), scope, asked, &form); err != nil {
			return err
		}
	}
	form.key = web.FormKey()
	if day, err := model.ParseDate(r.FormValue("day")); err == nil {
		form.when.date = day.String()
		if local, err := model.ParseLocal(form.when.date + "T" + r.FormValue("clock")); err == nil {
			form.when.clock = local.Clock()
		}
	}
	client, err := optionalID(r.FormValue("client"))
	if err != nil {
		return err
	}
	form.owner, form.copy = cmp.Or(model.ClientID(client), form.owner), web.FormKey()
	account, err := optionalID(r.FormValue("account"))
	if err != nil {
		return err
	}
	if account != 0 && len(form.content.Accounts) == 0 {
		form.content.Accounts = []model.AccountID{model.AccountID(account)}
	}
	left, err := scope.Copies(r.Context(), 0)
	if err != nil {
		return err
	}
	if c, ok := leftOf(left, r.FormValue("copy"), 0); ok {
		left = nil
		if form, err = uncopied(c); err != nil {
			return err
		}
	}
	e, err := d.edit(r.Context(), scope, form)
	if err != nil {
		return err
	}
	for _, c := range left {
		e.left = append(e.left, d.left(scope, c, 0))
	}
	if !e.knowsOwner() {
		return errNoClient
	}
	if account != 0 && e.lost != nil {
		return e.lost
	}
	return e.draw(w, r, http.StatusOK)
}

// showPost answers GET /posts/{id}: the composer, or what the post says to who
// may not write it.
func (d *Desk) showPost(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	page, err := d.postOf(r.Context(), scope, r.PathValue("id"))
	if err != nil {
		return err
	}
	return d.showStored(w, r, scope, page)
}

// showStored draws a post as it is stored.
func (d *Desk) showStored(w http.ResponseWriter, r *http.Request, scope *db.Scope, page db.PostPage) error {
	if err := scope.Editable(page); err != nil {
		no, ok := model.Refused(err)
		if !ok {
			return err
		}
		return d.showReadOnly(w, r, scope, page, no.Say)
	}
	e, err := d.editLeft(r.Context(), scope, page, r.FormValue("copy"))
	if err != nil {
		return err
	}
	return e.draw(w, r, http.StatusOK)
}

// editLeft opens the form on what its writer typed and did not save, or else on the
// post as it is stored. Copies that began from an older post are offered.
func (d *Desk) editLeft(ctx context.Context, scope *db.Scope, page db.PostPage, asked string) (e *editing, err error) {
	list, err := scope.Copies(ctx, page.Post.ID)
	if err != nil {
		return nil, err
	}
	if c, ok := leftOf(list, asked, page.Post.Revision); ok {
		form, err := uncopied(c)
		if err != nil {
			return nil, err
		}
		if e, err = d.edit(ctx, scope, form); err != nil || !e.same() || e.form.when.changed() {
			return e, err
		}
		list = nil // it says what is stored
	}
	if e, err = d.editStored(ctx, scope, page); err != nil {
		return nil, err
	}
	for _, c := range list {
		e.left = append(e.left, d.left(scope, c, page.Post.Revision))
	}
	return e, nil
}

// editStored opens the form on a post as it is stored.
func (d *Desk) editStored(ctx context.Context, scope *db.Scope, page db.PostPage) (*editing, error) {
	form := composed(page.Version.Content)
	form.id, form.seen, form.copy = page.Post.ID, page.Post.Revision, web.FormKey()
	form.began, form.baseNotes, form.baseStanding = page.Version.Number, page.Post.Notes, progress(page)
	form.notes, form.labels = page.Post.Notes, page.Post.Labels
	form.named = clientsOf(page.Targets)
	when, differs := whenOf(page.Targets)
	form.when = when
	e, err := d.edit(ctx, scope, form)
	if err != nil {
		return nil, err
	}
	e.differs = differs
	e.form.baseLabels = e.labelNames(page.Post.Labels)
	return e, nil
}

func (d *Desk) showReadOnly(w http.ResponseWriter, r *http.Request, scope *db.Scope, page db.PostPage, why string) error {
	parts, err := d.carried(r.Context(), scope, page)
	if err != nil {
		return err
	}
	if scope.Actor.MayAnywhere(model.PostsWrite) {
		parts.WhyNot = why
	}
	if err := d.fillPost(r.Context(), scope, page, &parts.Props); err != nil {
		return err
	}
	return d.show(w, r, scope, http.StatusOK, d.postScreen(parts.Title), composer.Page(parts.Props))
}

func (d *Desk) postScreen(title string) page {
	return page{title: title, nav: "posts", styles: []string{"css/library.css", "css/preview.css", "css/writing.css"},
		modules: []string{"js/media-uploads.js", "js/media-picker.js", "js/unsaved-form.js", "js/kept-form.js", "js/post-presence.js", "js/tab-set.js", "js/order-list.js", "js/split-here.js", "js/written-meanwhile.js", "js/writing-tools.js", "js/emoji-panel.js"}}
}

// retryFailures answers POST /posts/{id}/retries: what failed and is safe to send
// again goes on its way.
func (d *Desk) retryFailures(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	id, seen, err := postSeen(r)
	if err != nil {
		return err
	}
	n, err := scope.RetryFailed(r.Context(), id, seen)
	if err != nil {
		return err
	}
	say := "One account is tried again now."
	if n != 1 {
		say = fmt.Sprintf("%d accounts are tried again now.", n)
	}
	return d.say(w, r, postPath(scope, id), say)
}

// archivePost answers POST /posts/{id}/archive.
func (d *Desk) archivePost(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	id, seen, err := postSeen(r)
	if err != nil {
		return err
	}
	if err := scope.ArchivePost(r.Context(), id, seen); err != nil {
		return err
	}
	return d.say(w, r, postPath(scope, id), "The post was put away. What was planned is cancelled.")
}

func postSeen(r *http.Request) (id model.PostID, seen int, err error) {
	list, err := ids[model.PostID]([]string{r.PathValue("id")})
	if err != nil {
		return 0, 0, err
	}
	seen, err = web.Count(r.PostFormValue("seen"))
	if err != nil {
		return 0, 0, errForm
	}
	return list[0], seen, nil
}

func (d *Desk) postOf(ctx context.Context, scope *db.Scope, id string) (db.PostPage, error) {
	list, err := ids[model.PostID]([]string{id})
	if err != nil {
		return db.PostPage{}, model.Refuse(model.NotFound, "There is no such post.")
	}
	return scope.Post(ctx, list[0])
}

func postPath(scope *db.Scope, id model.PostID) string {
	return at(scope, fmt.Sprintf("/posts/%d", id))
}

// createPost answers POST /posts: the form of a new post, with its intent.
func (d *Desk) createPost(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.act(w, r, scope, 0)
}

// savePost answers POST /posts/{id}: the form of a post that exists.
func (d *Desk) savePost(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := ids[model.PostID]([]string{r.PathValue("id")})
	if err != nil {
		return err
	}
	return d.act(w, r, scope, list[0])
}

// act reads the form, takes in the files that came along, and carries out its
// intent.
func (d *Desk) act(w http.ResponseWriter, r *http.Request, scope *db.Scope, id model.PostID) error {
	e, done, err := d.readEditing(w, r, scope)
	if err != nil {
		return err
	}
	defer done()
	if e.form.id != id {
		return model.Refuse(model.NotFound, "There is no such post.")
	}
	if id == 0 && !web.IsFormKey(e.form.key) {
		return errForm
	}
	return e.act(w, r)
}

// readEditing reads a form and puts its files into the library. The caller calls
// done.
func (d *Desk) readEditing(w http.ResponseWriter, r *http.Request, scope *db.Scope) (e *editing, done func(), err error) {
	p, err := d.readParts(w, r)
	if err != nil {
		return nil, nil, err
	}
	if err := p.restored(); err != nil {
		p.close()
		return nil, nil, err
	}
	form, err := readComposition(p)
	if err == nil {
		if e, err = d.edit(r.Context(), scope, form); err == nil {
			err = e.takeFiles(r.Context())
		}
	}
	if err != nil {
		p.close()
		return nil, nil, err
	}
	return e, p.close, nil
}

// changeForm answers POST /posts/form: one change of the form, nothing saved.
func (d *Desk) changeForm(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	e, done, err := d.readEditing(w, r, scope)
	if err != nil {
		return err
	}
	defer done()
	if err := e.change(r.Context()); err != nil {
		return err
	}
	if !web.FromHTMX(r) || inSheet(r) {
		return e.draw(w, r, e.status())
	}
	if e.lost != nil {
		return e.lost
	}
	return e.drawParts(w, r)
}

// checkForm answers POST /posts/check with counters and problems.
func (d *Desk) checkForm(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p, err := d.readParts(w, r)
	if err != nil {
		return err
	}
	defer p.close()
	form, err := readComposition(p)
	if err != nil {
		return err
	}
	e, err := d.edit(r.Context(), scope, form)
	if err != nil {
		return err
	}
	if e.lost != nil {
		return e.lost
	}
	return e.drawCheck(w, r)
}

// uploadMedia answers POST /media: the composer's form with files in it.
func (d *Desk) uploadMedia(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	e, done, err := d.readEditing(w, r, scope)
	if err != nil {
		return err
	}
	defer done()
	switch {
	case e.form.do == "fetch" && len(e.form.addresses) == 0:
		e.taken.refused = append(e.taken.refused, "Enter the address of a file first.")
	case e.form.do != "fetch" && len(e.form.files) == 0:
		e.taken.refused = append(e.taken.refused, "Choose a file first.")
	}
	if !web.FromHTMX(r) || inSheet(r) {
		return e.draw(w, r, e.status())
	}
	if e.lost != nil {
		return e.lost
	}
	return e.drawMedia(w, r)
}
