package desk

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/composer"
	"herald/views/preview"
	"herald/views/ui"
)

// editing is one composer at work: the form as it was sent or stored, and what
// the page around it is drawn with.
type editing struct {
	desk    *Desk
	scope   *db.Scope
	form    composition
	page    db.PostPage // as it is stored; zero for a new post
	clients []db.ComposerClient
	labels  []db.Label
	assets  map[model.MediaID]db.Asset
	checked db.Checked
	cards   map[string]*preview.Card // by address
	paths   composer.Paths

	base        *model.Content                 // what the form began from; nil if that is not known
	merged      []string                       // what was taken over from others, in words
	left        []composer.Left                // posts that were begun and not saved
	next        map[model.AccountID]model.When // the slots that the queue would give
	differs     bool                           // the targets have times of their own
	taken       taken                          // the files that came with the form
	moved       string                         // where a file or a post of a thread went, in words
	undo        *composer.Undo                 // of what was done to a thread just now
	focus       string                         // the id of what is gone on with, after a thread changed
	picker      *composer.Picker
	wordings    composer.Wordings
	keeping     composer.KeepTemplate
	lost        error          // an account or a file of the form is not there
	checkNo     *model.Refusal // why the networks could not be asked
	timeRefused *model.Refusal
	fields      map[string]string
	problem     *composer.Problem
	conflict    *composer.Conflict
	naming      *composer.Naming
}

// edit opens a form: it reads what the form points at. It refuses a post that is
// not there; of accounts and files that are not there it keeps the refusal in
// lost and goes on without them, so that nothing typed is lost.
func (d *Desk) edit(ctx context.Context, scope *db.Scope, form composition) (e *editing, err error) {
	e = &editing{desk: d, scope: scope, form: form, fields: map[string]string{}}
	if form.id != 0 {
		if e.page, err = scope.Post(ctx, form.id); err != nil {
			return nil, err
		}
	}
	e.paths = d.paths(scope, form.id)
	if e.clients, err = scope.ComposerClients(ctx, e.page.Version.Content.Accounts); err != nil {
		return nil, err
	}
	e.keepAccounts()
	if !e.knowsOwner() {
		e.lost = errNoClient
	}
	if err := e.keepLabels(ctx); err != nil {
		return nil, err
	}
	if err := e.takeTemplate(ctx); err != nil {
		return nil, err
	}
	if err := e.loadAssets(ctx); err != nil {
		return nil, err
	}
	return e, e.check(ctx)
}

// paths are where the composer's forms and links go.
func (d *Desk) paths(scope *db.Scope, id model.PostID) composer.Paths {
	p := composer.Paths{Save: at(scope, "/posts"), Form: at(scope, "/posts/form"), Check: at(scope, "/posts/check"), Cards: at(scope, "/cards"),
		Upload: at(scope, "/media"), Uploads: at(scope, "/uploads"), Accounts: at(scope, "/accounts"), Approvals: at(scope, "/approvals")}
	if id != 0 {
		p.Back = postPath(scope, id)
		p.Save, p.Archive, p.Retry, p.Presence = p.Back, p.Back+"/archive", p.Back+"/retries", p.Back+"/presence"
		p.Duplicate = at(scope, fmt.Sprintf("/posts/new?from=%d", id))
	}
	return p
}

// account finds an account of the picker, with its client.
func (e *editing) account(id model.AccountID) (db.ComposerAccount, db.ComposerClient, bool) {
	for _, c := range e.clients {
		for _, a := range c.Accounts {
			if a.ID == id {
				return a, c, true
			}
		}
	}
	return db.ComposerAccount{}, db.ComposerClient{}, false
}

func (e *editing) keepAccounts() {
	e.form.content.Accounts = slices.DeleteFunc(slices.Clone(e.form.content.Accounts), func(id model.AccountID) bool {
		_, _, ok := e.account(id)
		if !ok {
			e.lost = model.Refuse(model.NotFound, "One of the accounts is not there any more. Choose the accounts again.")
		}
		return !ok
	})
}

// networks says which network each chosen account is on.
func (e *editing) networks() map[model.AccountID]network.Name {
	names := map[model.AccountID]network.Name{}
	for _, id := range e.form.content.Accounts {
		a, _, _ := e.account(id)
		names[id] = a.Network
	}
	return names
}

// chosenClients are the clients that the chosen accounts belong to.
func (e *editing) chosenClients() (list []model.ClientID) {
	for _, id := range e.form.content.Accounts {
		if _, c, ok := e.account(id); ok && !slices.Contains(list, c.ID) {
			list = append(list, c.ID)
		}
	}
	slices.Sort(list)
	return list
}

// loadAssets reads the form's files and drops those that are not there.
func (e *editing) loadAssets(ctx context.Context) error {
	e.assets = map[model.MediaID]db.Asset{}
	all := e.form.allMedia()
	list, err := e.scope.VisibleMedia(ctx, all)
	for _, a := range list {
		e.assets[a.ID] = a
	}
	for _, m := range all {
		if _, there := e.assets[m]; !there && err == nil {
			e.lost = errNoFile
			e.form.drop(m)
		}
	}
	return err
}

var errNoFile = model.Refuse(model.NotFound, "There is no such file, or not any more.")

// allMedia lists every file the form names, once each.
func (c *composition) allMedia() (list []model.MediaID) {
	add := func(media []model.ContentMedia) {
		for _, m := range media {
			if !slices.Contains(list, m.ID) {
				list = append(list, m.ID)
			}
		}
	}
	add(c.content.Media)
	for _, v := range c.variants {
		add(v.extra)
	}
	return list
}

// drop takes a file out of the post and out of every variant.
func (c *composition) drop(id model.MediaID) {
	is := func(m model.ContentMedia) bool { return m.ID == id }
	c.content.Media = slices.DeleteFunc(slices.Clone(c.content.Media), is)
	for name, v := range c.variants {
		v.extra = slices.DeleteFunc(slices.Clone(v.extra), is)
		c.variants[name] = v
	}
}

// check asks the networks about the form as it stands. What it refuses is shown,
// not returned.
func (e *editing) check(ctx context.Context) error {
	e.checkNo = nil
	checked, err := e.scope.CheckPost(ctx, e.form.id, e.toSave(), model.When{})
	e.checked = checked
	if err := e.readCards(ctx); err != nil {
		return err
	}
	if no, ok := model.Refused(err); ok {
		if no.Kind == model.NotFound || no.Kind == model.Forbidden {
			e.lost = err
		}
		e.checkNo = no
		return nil
	}
	if err != nil {
		return err
	}
	return e.warnOfCollisions(ctx)
}

// readCards reads what is known of the pages that the post links to.
func (e *editing) readCards(ctx context.Context) (err error) {
	var looks []preview.Props
	for _, t := range e.checked.Targets {
		if t.Network != nil && len(t.Media) == 0 {
			looks = append(looks, preview.Of(t.Network, t.Draft))
		}
	}
	e.cards, err = e.desk.linkCards(ctx, e.scope, looks)
	return err
}

// toSave is the form as SavePost takes it.
func (e *editing) toSave() db.PostForm {
	return db.PostForm{Seen: e.form.seen, Content: e.form.whole(e.networks()), Notes: e.form.notes, Labels: e.form.labels, Named: e.form.named}
}

// takeFiles puts the form's files, and those at its addresses, into a client's
// library and attaches them.
func (e *editing) takeFiles(ctx context.Context) (err error) {
	addresses := e.form.addresses
	if e.form.do != "fetch" && !slices.Contains(intents, e.form.do) {
		e.taken.kept, addresses = addresses, nil
	}
	if len(e.form.files)+len(addresses) == 0 {
		return nil
	}
	client, no := e.owner()
	if no != "" {
		e.taken.refused, e.taken.kept = append(e.taken.refused, no), e.form.addresses
		return nil
	}
	files, err := e.desk.takeFiles(ctx, e.scope, client, e.form.files)
	if err != nil {
		return err
	}
	fetched, err := e.desk.takeAddresses(ctx, e.scope, client, addresses)
	if err != nil {
		return err
	}
	e.taken.add(files)
	e.taken.add(fetched)
	if err := e.desk.await(ctx, e.scope, &e.taken); err != nil {
		return err
	}
	e.attach(e.taken.assets)
	return e.check(ctx)
}

// attach puts files of the library into the post, with their own alt text.
func (e *editing) attach(assets []db.Asset) {
	for _, a := range assets {
		e.assets[a.ID] = a
		if !e.form.has(a.ID) {
			e.form.content.Media = append(e.form.content.Media, model.ContentMedia{ID: a.ID, Alt: a.Alt})
		}
	}
}

// owners are the clients that an upload can belong to: those the post goes to,
// or any that the writer may upload for while it goes nowhere.
func (e *editing) owners() (list []db.ComposerClient) {
	chosen := e.chosenClients()
	for _, c := range e.clients {
		if (len(chosen) == 0 || slices.Contains(chosen, c.ID)) && e.scope.Actor.May(model.MediaWrite, c.ID) {
			list = append(list, c)
		}
	}
	return list
}

var errNoClient = model.Refuse(model.NotFound, "There is no such client.")

// knowsOwner says whether the client that the form names for new files is one
// that the writer may write for. A form need not name one.
func (e *editing) knowsOwner() bool {
	return e.form.owner == 0 || slices.ContainsFunc(e.clients, func(c db.ComposerClient) bool { return c.ID == e.form.owner })
}

// owner is the client that new files go to: the one named in the form if it may
// be, else the first of the post's. no says why there is none.
func (e *editing) owner() (client model.ClientID, no string) {
	list := e.owners()
	if !e.knowsOwner() {
		return 0, "The client that the files were for is not there any more. Choose the accounts again, then the files."
	}
	if len(list) == 0 {
		return 0, "You may not upload files for the clients of this post. Ask an owner or admin of the workspace."
	}
	for _, c := range list {
		if c.ID == e.form.owner {
			return c.ID, ""
		}
	}
	if len(list) > 1 && len(e.chosenClients()) == 0 {
		return 0, "Choose an account first, so that the files go to the right client."
	}
	return list[0].ID, ""
}

// status is that of a page that shows the form again.
func (e *editing) status() int {
	switch {
	case e.lost != nil:
		return http.StatusNotFound
	case e.conflict != nil:
		return http.StatusConflict
	case e.problem != nil || e.naming != nil || len(e.taken.refused) > 0 || e.timeRefused != nil:
		return http.StatusUnprocessableEntity
	}
	return http.StatusOK
}

// explain puts a refusal where the writer finds it.
func (e *editing) explain(no *model.Refusal, title string) {
	p := &composer.Problem{Tone: ui.Bad, Title: title, Says: []string{no.Say}}
	switch {
	case isAboutTime(no):
		e.timeRefused = no
		p.Href = "#composer-when"
	case no.Field == "media":
		e.fields["media"] = no.Say
		p.Href = "#composer-media"
	case slices.Contains([]string{"accounts", "text", "link", "first_comment", "notes", "label"}, no.Field):
		e.fields[no.Field] = no.Say
		p.Href = map[string]string{"accounts": "#composer-accounts", "label": "#labels"}[no.Field]
		if p.Href == "" {
			p.Href = "#" + no.Field
		}
	}
	e.problem = p
}
