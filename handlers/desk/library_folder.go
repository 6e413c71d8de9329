package desk

import (
	"net/http"
	"net/url"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/library"
	"herald/views/ui"
)

// folderProps are the folders beside the files. Those of all clients stand under
// their client's name.
func (l shelf) folderProps(scope *db.Scope, a around) library.Folders {
	f := library.Folders{List: []library.Folder{
		{Label: "All files", Href: l.with("folder", ""), Icon: "images", Current: l.wants.Folder == 0 && !l.wants.Loose},
		{Label: "In no folder", Href: l.with("folder", "none"), Icon: "image", Current: l.wants.Loose},
	}}
	for _, c := range a.clients {
		heading := c.Name
		for _, b := range treeOf(a.folders, c.ID) {
			one := library.Folder{Label: b.Name, Href: l.with("folder", id(b.ID)), Depth: b.depth, Count: b.Assets, Icon: "folder", Current: b.ID == l.wants.Folder}
			if one.Current {
				one.Icon = "folder-open"
			}
			if len(a.clients) > 1 {
				one.Client, heading = heading, ""
			}
			f.List = append(f.List, one)
		}
	}
	l.folderForms(scope, a, &f)
	return f
}

// folderForms are a new folder, inside of the open one, and the open one's name.
func (l shelf) folderForms(scope *db.Scope, a around, f *library.Folders) {
	var write []db.LibraryClient
	for _, c := range a.clients {
		if c.MayWrite {
			write = append(write, c)
		}
	}
	if len(write) == 0 {
		return
	}
	f.Add = &library.FolderForm{Action: at(scope, "/folders"), Back: l.with()}
	open, found := folderIn(a.folders, l.wants.Folder)
	switch {
	case found:
		f.Add.Client, f.Add.Parent = id(open.ClientID), id(open.ID)
		path := at(scope, "/folders/"+id(open.ID))
		if scope.Actor.May(model.MediaWrite, open.ClientID) {
			f.Open, f.Drop = &library.FolderForm{Action: path, Back: l.with(), Name: open.Name}, path+"/removal"
		} else {
			f.Add = nil
		}
	case l.wants.Client != 0:
		f.Add.Client = id(l.wants.Client)
	case len(write) == 1:
		f.Add.Client = id(write[0].ID)
	default:
		f.Add.Clients = clientOptions(write, 0, "Choose a client")
	}
}

func folderIn(all []db.Folder, id model.FolderID) (db.Folder, bool) {
	for _, f := range all {
		if f.ID == id {
			return f, true
		}
	}
	return db.Folder{}, false
}

// place is the open folder's name and the way to it.
func (l shelf) place(a around) (title string, crumbs []ui.Crumb) {
	open, found := folderIn(a.folders, l.wants.Folder)
	if !found {
		return "Media", nil
	}
	for f := open; f.ParentID != nil; {
		if f, found = folderIn(a.folders, *f.ParentID); !found {
			break
		}
		crumbs = append([]ui.Crumb{{Label: f.Name, Href: l.with("folder", id(f.ID))}}, crumbs...)
	}
	return open.Name, append([]ui.Crumb{{Label: "Media", Href: l.with("folder", "")}}, crumbs...)
}

// backToShelf is the library's address that a form came from.
func backToShelf(scope *db.Scope, r *http.Request) string {
	return shelfBack(scope, r.PostFormValue("back"))
}

// shelfBack is an address of the library; of anything else, its beginning.
func shelfBack(scope *db.Scope, back string) string {
	home := at(scope, "/media")
	path := web.LocalPath(back, home)
	if !strings.HasPrefix(path, home+"?") && !strings.HasPrefix(path, home+"/") {
		return home
	}
	return path
}

func queryOf(address string) url.Values {
	_, query, _ := strings.Cut(address, "?")
	values, _ := url.ParseQuery(query)
	return values
}

// createFolder answers POST /folders, and opens the new folder.
func (d *Desk) createFolder(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	client, err := ids[model.ClientID]([]string{r.PostFormValue("client")})
	if err != nil {
		return model.RefuseField("client", "Choose the client whose folder this is.")
	}
	parent, err := optionalID(r.PostFormValue("parent"))
	if err != nil {
		return err
	}
	var in *model.FolderID
	if parent != 0 {
		in = ref(model.FolderID(parent))
	}
	f, err := scope.AddFolder(r.Context(), client[0], in, r.PostFormValue("name"))
	if err != nil {
		return d.folderClash(w, r, scope, err)
	}
	return d.say(w, r, at(scope, "/media?folder="+id(f.ID)), "The folder “"+f.Name+"” is there.")
}

// folderClash shows the library again with why a folder was not changed.
func (d *Desk) folderClash(w http.ResponseWriter, r *http.Request, scope *db.Scope, err error) error {
	no, ok := model.Refused(err)
	if !ok || no.Kind == model.NotFound || web.FromHTMX(r) {
		return err
	}
	l, bad := readShelf(scope, queryOf(backToShelf(scope, r)))
	if bad != nil {
		return err
	}
	return d.drawLibrary(w, r, scope, l, web.Status(err), no.Say)
}

func pathFolder(r *http.Request) model.FolderID { return model.FolderID(web.ID(r.PathValue("folder"))) }

// renameFolder answers POST /folders/{folder}.
func (d *Desk) renameFolder(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.RenameFolder(r.Context(), pathFolder(r), r.PostFormValue("name")); err != nil {
		return d.folderClash(w, r, scope, err)
	}
	return d.say(w, r, backToShelf(scope, r), "The folder has its new name.")
}

// removeFolder answers POST /folders/{folder}/removal. What lay in it lies
// one up then.
func (d *Desk) removeFolder(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	if err := scope.RemoveFolder(r.Context(), pathFolder(r)); err != nil {
		return d.folderClash(w, r, scope, err)
	}
	return d.say(w, r, at(scope, "/media"), "The folder is gone; what lay in it is one up from there.")
}
