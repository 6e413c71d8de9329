package desk

import (
	"net/http"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/library"
	"herald/views/ui"
)

// around is what stands around the library's files.
type around struct {
	clients []db.LibraryClient
	folders []db.Folder
	tags    []db.Tag
	storage db.Storage
}

// libraryScreen describes the library for the shell.
func libraryScreen(title string) page {
	return page{title: title, nav: "media", wide: true, clients: title == "Media", styles: []string{"css/library.css"},
		modules: []string{"js/library-shelf.js", "js/media-uploads.js"}}
}

// showLibrary answers GET /media: the files that the address asks for or, where
// a page of htmx wants those behind the last, just these.
func (d *Desk) showLibrary(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	l, err := readShelf(scope, r.URL.Query())
	if err != nil {
		return err
	}
	return d.drawLibrary(w, r, scope, l, http.StatusOK, "")
}

// drawLibrary shows the library. clash is why a change of its folders was refused.
func (d *Desk) drawLibrary(w http.ResponseWriter, r *http.Request, scope *db.Scope, l shelf, status int, clash string) error {
	found, err := scope.Library(r.Context(), l.wants)
	if err != nil {
		return err
	}
	list := d.libraryList(scope, l, found)
	if web.FromHTMX(r) && l.wants.After != "" {
		return web.Render(w, r, status, library.More(list))
	}
	a, err := d.around(r, scope, l)
	if err != nil {
		return err
	}
	p := library.Props{Title: "Media", List: list, Filter: l.filterProps(a), Folders: l.folderProps(scope, a), Storage: storageProps(a.storage)}
	p.Folders.Clash = clash
	p.Empty = l.empty(scope)
	if l.wants.Folder != 0 {
		p.Title, p.Crumbs = l.place(a)
	}
	if scope.Actor.MayAnywhere(model.MediaWrite) {
		p.Bulk, p.Upload = l.bulk(scope, a), d.uploadProps(scope, l, a)
	}
	return d.show(w, r, scope, status, libraryScreen(p.Title), library.Page(p))
}

func (d *Desk) around(r *http.Request, scope *db.Scope, l shelf) (a around, err error) {
	ctx := r.Context()
	if a.clients, err = scope.LibraryClients(ctx); err != nil {
		return a, err
	}
	if a.folders, err = scope.Folders(ctx, l.wants.Client); err != nil {
		return a, err
	}
	if a.tags, err = scope.Tags(ctx, l.wants.Client); err != nil {
		return a, err
	}
	a.storage, err = scope.Storage(ctx)
	return a, err
}

// libraryList are cards for files that were found.
func (d *Desk) libraryList(scope *db.Scope, l shelf, found db.LibraryPage) library.List {
	list := library.List{View: l.view(), OfOne: l.wants.Client != 0 || l.wants.Folder != 0}
	for _, a := range found.Assets {
		list.Cards = append(list.Cards, d.card(scope, a))
	}
	if found.Next != "" {
		list.More = l.with("after", found.Next)
	}
	list.Watch = watchAddress(scope, list.Cards)
	return list
}

// watchAddress asks again for those cards that may change by themselves.
func watchAddress(scope *db.Scope, cards []library.Card) string {
	l := lookup{path: at(scope, "/media/standings"), values: map[string][]string{}}
	for _, c := range cards {
		if c.Standing.Moves {
			l.values["media"] = append(l.values["media"], id(c.ID))
		}
	}
	if len(l.values) == 0 {
		return ""
	}
	return l.address(l.values)
}

// showStandings answers GET /media/standings?media=1&media=2 with these cards as
// they are now, for a page that shows some of them on their way.
func (d *Desk) showStandings(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := ids[model.MediaID](r.URL.Query()["media"])
	if err != nil {
		return err
	}
	if list == nil {
		list = []model.MediaID{}
	}
	found, err := scope.Library(r.Context(), db.LibraryFilter{IDs: list})
	if err != nil {
		return err
	}
	return web.Render(w, r, http.StatusOK, library.Standings(d.libraryList(scope, shelf{}, found)))
}

// storageProps say how full the library is.
func storageProps(s db.Storage) library.Storage {
	if s.Limit == nil {
		return library.Storage{Words: library.Bytes(s.Used) + " stored", Percent: -1}
	}
	p := library.Storage{Words: library.Bytes(s.Used) + " of " + library.Bytes(*s.Limit) + " used"}
	if *s.Limit > 0 {
		p.Percent = int(min(100, s.Used*100/(*s.Limit)))
	}
	switch {
	case s.Used >= *s.Limit:
		p.State, p.Percent, p.Words = "failed", 100, p.Words+". It is full: delete files, or ask for more room"
	case p.Percent >= 90:
		p.State = "awaiting"
	}
	return p
}

// empty is what the library says while it shows nothing.
func (l shelf) empty(scope *db.Scope) ui.EmptyProps {
	switch {
	case l.clear() != "":
		return ui.EmptyProps{Icon: "search-x", Title: "No file matches these filters"}
	case l.wants.Folder != 0 || l.wants.Loose:
		return ui.EmptyProps{Icon: "folder-open", Title: "Nothing lies here", Say: "Files are put into a folder when they are uploaded in it, or moved there later."}
	case !scope.Actor.MayAnywhere(model.MediaWrite):
		return ui.EmptyProps{Icon: "images", Title: "There are no pictures or videos yet"}
	}
	return ui.EmptyProps{Icon: "images", Title: "There are no pictures or videos yet", Say: "Drop files anywhere on this page, paste them, or press Upload."}
}

func (l shelf) bulk(scope *db.Scope, a around) *library.Bulk {
	b := &library.Bulk{Move: at(scope, "/media/moves"), Tag: at(scope, "/media/tags"), Delete: at(scope, "/media/deletions"), Back: l.with()}
	b.Folders = ui.SelectProps{FieldProps: ui.FieldProps{Name: "folder", ID: "bulk-folder", Label: "Folder"}, Options: []ui.Option{{Value: "0", Label: "No folder"}}}
	for _, c := range a.clients {
		g := ui.OptionGroup{Label: c.Name}
		for _, f := range treeOf(a.folders, c.ID) {
			g.Options = append(g.Options, ui.Option{Value: id(f.ID), Label: f.path})
		}
		if len(g.Options) > 0 && c.MayWrite {
			b.Folders.Groups = append(b.Folders.Groups, g)
		}
	}
	for _, t := range a.tags {
		b.Tags = append(b.Tags, t.Name)
	}
	return b
}

// branch is a folder with its place in the tree.
type branch struct {
	db.Folder
	depth int
	path  string // its name after those of the folders around it
}

// treeOf puts a client's folders in the order of a tree, children under parents.
func treeOf(all []db.Folder, client model.ClientID) (list []branch) {
	under := map[model.FolderID][]db.Folder{}
	for _, f := range all {
		if f.ClientID != client {
			continue
		}
		var parent model.FolderID
		if f.ParentID != nil {
			parent = *f.ParentID
		}
		under[parent] = append(under[parent], f)
	}
	var add func(parent model.FolderID, depth int, path string)
	add = func(parent model.FolderID, depth int, path string) {
		for _, f := range under[parent] {
			list = append(list, branch{f, depth, path + f.Name})
			add(f.ID, depth+1, path+f.Name+" / ")
		}
	}
	add(0, 0, "")
	return list
}
