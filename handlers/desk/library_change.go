package desk

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/library"
)

// chosenMedia reads the ticked files of a form.
func chosenMedia(r *http.Request) ([]model.MediaID, error) {
	if err := r.ParseForm(); err != nil {
		return nil, errForm
	}
	list, err := ids[model.MediaID](r.PostForm["media"])
	if err == nil && len(list) == 0 {
		err = model.Refuse(model.Unprocessable, "Choose at least one file.")
	}
	return slices.Compact(slices.Sorted(slices.Values(list))), err
}

// tagMedia answers POST /media/tags: tags are added to the chosen files or, with
// do=remove, taken away.
func (d *Desk) tagMedia(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := chosenMedia(r)
	if err != nil {
		return err
	}
	tags, say := strings.Split(r.PostFormValue("tags"), ","), "Tagged "
	if strings.TrimSpace(strings.Join(tags, "")) == "" {
		return model.RefuseField("tags", "Write at least one tag.")
	}
	add, remove := tags, []string(nil)
	if r.PostFormValue("do") == "remove" {
		add, remove, say = nil, tags, "Took the tags away from "
	}
	if err := scope.TagMedia(r.Context(), list, add, remove); err != nil {
		return err
	}
	return d.say(w, r, backToShelf(scope, r), say+countFiles(len(list))+".")
}

// moveMedia answers POST /media/moves: the chosen files lie in another folder of
// their client, or in none.
func (d *Desk) moveMedia(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := chosenMedia(r)
	if err != nil {
		return err
	}
	to, err := optionalID(r.PostFormValue("folder"))
	if err != nil {
		return err
	}
	var folder *model.FolderID
	if to != 0 {
		folder = ref(model.FolderID(to))
	}
	if err := scope.MoveMedia(r.Context(), list, folder); err != nil {
		return err
	}
	return d.say(w, r, backToShelf(scope, r), "Moved "+countFiles(len(list))+".")
}

func countFiles(n int) string {
	if n == 1 {
		return "one file"
	}
	return fmt.Sprintf("%d files", n)
}

// deleteMedia answers POST /media/deletions. It asks first, naming the posts that
// use one of the files; the answer says which posts it knew of. A post that took
// one since is asked about again.
func (d *Desk) deleteMedia(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := chosenMedia(r)
	if err != nil {
		return err
	}
	sure := r.PostFormValue("sure")
	if sure == "" {
		used, err := scope.MediaUses(r.Context(), list)
		if err != nil {
			return err
		}
		return d.askDeletion(w, r, scope, list, used, http.StatusOK)
	}
	err = scope.DeleteMedia(r.Context(), list, sure == "used")
	if used, ok := asInUse(err); ok {
		return d.askDeletion(w, r, scope, list, *used, http.StatusConflict)
	}
	if err != nil {
		return err
	}
	return d.say(w, r, backToShelf(scope, r), "Deleted "+countFiles(len(list))+".")
}

// askDeletion asks whether files shall be deleted, in a dialog or on a page.
func (d *Desk) askDeletion(w http.ResponseWriter, r *http.Request, scope *db.Scope, list []model.MediaID, used db.InUse, status int) error {
	p := library.Deletion{Action: at(scope, "/media/deletions"), Back: backToShelf(scope, r), Title: "Delete " + countFiles(len(list)) + "?", Media: list, More: used.More, Used: len(used.Uses) > 0}
	if p.Used {
		p.Say = used.Error()
	}
	for _, u := range used.Uses {
		p.Uses = append(p.Uses, useProps(scope, u))
	}
	if web.FromHTMX(r) {
		return web.Render(w, r, status, library.DeletionDialog(p))
	}
	return d.show(w, r, scope, status, libraryScreen(p.Title), library.DeletionPage(p))
}
