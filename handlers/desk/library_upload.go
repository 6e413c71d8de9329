package desk

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/library"
)

// accepted is what file dialogs offer.
const accepted = "image/jpeg,image/png,image/webp,image/gif,image/heic,image/heif,video/mp4,video/quicktime,application/pdf,.jpg,.jpeg,.png,.webp,.gif,.heic,.heif,.mp4,.mov,.pdf"

// uploadProps are the form for new files, for those who may use it for a client.
func (d *Desk) uploadProps(scope *db.Scope, l shelf, a around) *library.Upload {
	var write []db.LibraryClient
	for _, c := range a.clients {
		if c.MayWrite {
			write = append(write, c)
		}
	}
	if len(write) == 0 {
		return nil
	}
	u := &library.Upload{Href: l.under("/new"), Action: at(scope, "/media/files"), Endpoint: at(scope, "/uploads"), Arrived: at(scope, "/media/arrivals"), Back: l.with(), Accept: accepted,
		Say: d.whatIsTaken(d.uploadBytes()), Fetch: library.Fetch{Action: at(scope, "/media/files")}}
	if open, found := folderIn(a.folders, l.wants.Folder); found {
		u.Client, u.Folder, u.Place = id(open.ClientID), id(open.ID), open.Name
		if len(a.clients) > 1 {
			u.Place = clientName(a.clients, open.ClientID) + " / " + open.Name
		}
	} else if len(write) == 1 {
		u.Client = id(write[0].ID)
	} else {
		u.Clients = clientOptions(write, l.wants.Client, "Choose a client")
	}
	return u
}

// whatIsTaken says what is taken where a file has at most so many bytes, which is
// less for a picture.
func (d *Desk) whatIsTaken(most int64) string {
	pictures := d.limits().PictureBytes
	if most <= pictures {
		return "JPEG, PNG, WebP, GIF, HEIC, MP4, MOV or PDF, up to " + megabytes(most) + " each"
	}
	return "JPEG, PNG, WebP, GIF or HEIC up to " + megabytes(pictures) + ", PDF up to " + megabytes(min(most, d.limits().DocBytes)) + ", MP4 or MOV up to " + megabytes(most)
}

func clientName(clients []db.LibraryClient, id model.ClientID) string {
	for _, c := range clients {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

// under is the address of a page below the library that keeps its filters.
func (l shelf) under(path string) string {
	below := l.lookup
	below.path += path
	return below.with()
}

// showNewFiles answers GET /media/new with the form for new files.
func (d *Desk) showNewFiles(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	l, err := readShelf(scope, r.URL.Query())
	if err != nil {
		return err
	}
	return d.drawNewFiles(w, r, scope, l, http.StatusOK, func(*library.Upload) {})
}

func (d *Desk) drawNewFiles(w http.ResponseWriter, r *http.Request, scope *db.Scope, l shelf, status int, with func(*library.Upload)) error {
	a, err := d.around(r, scope, l)
	if err != nil {
		return err
	}
	u := d.uploadProps(scope, l, a)
	if _, found := folderIn(a.folders, l.wants.Folder); u == nil || l.wants.Folder != 0 && !found {
		return model.Refuse(model.NotFound, "There is no such folder.")
	}
	u.Say = d.whatIsTaken(d.formBytes())
	with(u)
	screen := libraryScreen("Add files")
	screen.wide = false
	return d.show(w, r, scope, status, screen, library.UploadPage(*u))
}

// createFiles answers POST /media/files: files of a plain form, and those at the
// addresses in it.
func (d *Desk) createFiles(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	p, err := d.readParts(w, r)
	if err != nil {
		return err
	}
	defer p.close()
	t, err := d.takeIntoPlace(r.Context(), scope, p)
	if web.FromHTMX(r) {
		return tellFetched(w, r, t, p, err)
	}
	if err != nil {
		return err
	}
	return d.tellTaken(w, r, scope, t, shelfBack(scope, p.Get("back")))
}

// takeIntoPlace takes what a form holds, into the client's library and the folder
// that it names.
func (d *Desk) takeIntoPlace(ctx context.Context, scope *db.Scope, p *parts) (t taken, err error) {
	client, folder, err := readPlace(ctx, scope, p.Values)
	if err != nil {
		return t, err
	}
	if t, err = d.takeForm(ctx, scope, client, p); err != nil {
		return t, err
	}
	if err := d.await(ctx, scope, &t); err != nil {
		return t, err
	}
	return t, d.fileAway(ctx, scope, t.assets, folder)
}

// takeForm takes a form's files and copies those at its addresses.
func (d *Desk) takeForm(ctx context.Context, scope *db.Scope, client model.ClientID, p *parts) (taken, error) {
	addresses := typedAddresses(p.Values["address"])
	switch {
	case len(addresses) == 0 && p.Get("do") == "fetch":
		return taken{}, model.RefuseField("address", "Enter the address of a file first.")
	case len(addresses)+len(p.files) == 0:
		return taken{}, model.RefuseField("file", "Choose a file first.")
	}
	t, err := d.takeFiles(ctx, scope, client, p.files)
	if err != nil {
		return t, err
	}
	fetched, err := d.takeAddresses(ctx, scope, client, addresses)
	t.add(fetched)
	return t, err
}

// readPlace reads where new files go: a client and, if not zero, a folder of it.
func readPlace(ctx context.Context, scope *db.Scope, form url.Values) (model.ClientID, model.FolderID, error) {
	client, err := ids[model.ClientID]([]string{form.Get("client")})
	if err != nil {
		return 0, 0, model.RefuseField("client", "Choose the client whose files these are.")
	}
	folder, err := optionalID(form.Get("folder"))
	if err != nil {
		return 0, 0, err
	}
	return client[0], model.FolderID(folder), knowFolder(ctx, scope, client[0], model.FolderID(folder))
}

// knowFolder refuses a client, if not zero, and a folder, if not zero, that is not
// there.
func knowFolder(ctx context.Context, scope *db.Scope, client model.ClientID, folder model.FolderID) error {
	all, err := scope.Folders(ctx, client)
	if err != nil {
		return err
	}
	if _, found := folderIn(all, folder); folder != 0 && !found {
		return model.Refuse(model.NotFound, "There is no such folder.")
	}
	return nil
}

// fileAway puts new files into a folder. One that lay in another one already stays
// there.
func (d *Desk) fileAway(ctx context.Context, scope *db.Scope, assets []db.Asset, folder model.FolderID) error {
	var loose []model.MediaID
	for _, a := range assets {
		if a.FolderID == nil {
			loose = append(loose, a.ID)
		}
	}
	if folder == 0 || len(loose) == 0 {
		return nil
	}
	return scope.MoveMedia(ctx, loose, &folder)
}

// tellTaken says what became of files: on the library's page if all were taken.
func (d *Desk) tellTaken(w http.ResponseWriter, r *http.Request, scope *db.Scope, t taken, back string) error {
	say := strings.Join(t.said, " ")
	if fresh := len(t.assets) - len(t.said); fresh > 0 {
		say = strings.TrimSpace(strings.ToUpper(countFiles(fresh)[:1]) + countFiles(fresh)[1:] + " in the library now. " + say)
	}
	if len(t.refused) == 0 {
		return d.say(w, r, back, say)
	}
	l, err := readShelf(scope, queryOf(back))
	if err != nil {
		return err
	}
	return d.drawNewFiles(w, r, scope, l, http.StatusUnprocessableEntity, func(u *library.Upload) {
		u.Refused, u.Taken, u.Fetch.Address = t.refused, say, strings.Join(t.kept, " ")
	})
}

// tellFetched says in place what became of addresses: the files come to the top of
// the list, and what was not taken can be tried again.
func tellFetched(w http.ResponseWriter, r *http.Request, t taken, p *parts, err error) error {
	f := library.Fetch{Said: t.said, Problem: strings.Join(t.refused, " "), Address: strings.Join(t.kept, " ")}
	if no, ok := model.Refused(err); ok && no.Kind != model.NotFound {
		f.Problem, f.Address = no.Say, p.Get("address")
	} else if err != nil {
		return err
	}
	for _, a := range t.assets {
		f.Came = append(f.Came, a.ID)
	}
	status := http.StatusOK
	if f.Problem != "" {
		status = http.StatusUnprocessableEntity
	}
	return web.Render(w, r, status, library.FetchPart(f))
}

// createArrivals answers POST /media/arrivals: files that came piece by piece are
// put into the folder that was open, and their cards come back.
func (d *Desk) createArrivals(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := r.ParseForm(); err != nil {
		return errForm
	}
	list, err := ids[model.MediaID](r.PostForm["arrived"])
	if err != nil {
		return err
	}
	folder, err := optionalID(r.PostForm.Get("folder"))
	if err != nil {
		return err
	}
	assets, err := scope.Media(r.Context(), list)
	if err != nil {
		return err
	}
	if err := knowFolder(r.Context(), scope, 0, model.FolderID(folder)); err != nil {
		return err
	}
	if err := d.fileAway(r.Context(), scope, assets, model.FolderID(folder)); err != nil {
		return err
	}
	if !web.FromHTMX(r) || len(list) == 0 {
		return web.See(w, r, at(scope, "/media"))
	}
	return d.drawArrivals(w, r, scope, list)
}

func (d *Desk) drawArrivals(w http.ResponseWriter, r *http.Request, scope *db.Scope, list []model.MediaID) error {
	found, err := scope.Library(r.Context(), db.LibraryFilter{IDs: list})
	if err != nil {
		return err
	}
	storage, err := scope.Storage(r.Context())
	if err != nil {
		return err
	}
	return web.Render(w, r, http.StatusOK, library.Arrived(d.libraryList(scope, shelf{}, found), storageProps(storage)))
}
