package desk

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/composer"
)

// pickerPage is how many files of the library the composer shows at once.
const pickerPage = 30

// showPicker answers GET /media/picker?find=words&owner=client for the composer
// with files that can be attached; after names where the page before ended.
func (d *Desk) showPicker(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	v := r.URL.Query()
	owner, err := optionalID(v.Get("owner"))
	if err != nil {
		return err
	}
	p, err := d.pickerProps(r.Context(), scope, model.ClientID(owner), typed(v.Get("find")), v.Get("after"), nil)
	if err != nil {
		return err
	}
	if v.Get("after") != "" {
		return web.Render(w, r, http.StatusOK, composer.MorePicks(p))
	}
	return web.Render(w, r, http.StatusOK, composer.Picks(p))
}

// pickerProps are files that can be attached: of one client, or of all. Those in
// mine the post has already.
func (d *Desk) pickerProps(ctx context.Context, scope *db.Scope, client model.ClientID, find, after string, mine []model.ContentMedia) (composer.Picker, error) {
	p := composer.Picker{Path: at(scope, "/media/picker"), Words: find, Empty: "The library has no file yet. Add one above."}
	found, err := scope.Library(ctx, db.LibraryFilter{Client: client, Words: find, After: after, Standing: db.Attachable, Limit: pickerPage})
	if err != nil {
		return p, err
	}
	for _, a := range found.Assets {
		pick := composer.Pick{Card: d.card(scope, a), Mine: slices.ContainsFunc(mine, func(m model.ContentMedia) bool { return m.ID == a.ID })}
		p.Found = append(p.Found, pick)
	}
	if found.Next != "" {
		p.More = p.Path + "?" + url.Values{"find": {find}, "owner": {strconv.FormatInt(int64(client), 10)}, "after": {found.Next}}.Encode()
	}
	if find != "" {
		p.Empty = fmt.Sprintf("No file is called “%s”, says so in its alt text or has such a tag.", find)
	}
	return p, nil
}

// openPicker shows the library in the form, for who has no script.
func (e *editing) openPicker(ctx context.Context) error {
	client, _ := e.owner()
	p, err := e.desk.pickerProps(ctx, e.scope, client, e.form.find, "", e.form.content.Media)
	p.Open = true
	e.picker = &p
	return err
}

// pick attaches files of the library. One that was refused or is in quarantine is
// said and left out.
func (e *editing) pick(ctx context.Context) error {
	assets, err := e.scope.Media(ctx, e.form.picks)
	if err != nil {
		return err
	}
	for _, a := range assets {
		if a.State.Lost() {
			e.taken.refused = append(e.taken.refused, named(a.Name, a.Reason))
		}
	}
	e.attach(slices.DeleteFunc(assets, func(a db.Asset) bool { return a.State.Lost() }))
	return nil
}

// showAttachments answers GET /media/attachments?media=1 for a composer that shows
// some of them on their way. Once one is there, the page asks its networks again.
func (d *Desk) showAttachments(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	list, err := ids[model.MediaID](r.URL.Query()["media"])
	if err != nil {
		return err
	}
	assets, err := scope.Media(r.Context(), list)
	if err != nil {
		return err
	}
	var files []composer.File
	var media []model.ContentMedia
	byID := map[model.MediaID]db.Asset{}
	for _, a := range assets {
		files, media = append(files, d.file(scope, a, a.Alt)), append(media, model.ContentMedia{ID: a.ID})
		byID[a.ID] = a
		if !a.State.OnItsWay() {
			w.Header().Set("HX-Trigger", `{"media-ready":{"target":"#composer"}}`)
		}
	}
	return web.Render(w, r, http.StatusOK, composer.AttachmentStandings(files, attachmentWatch(scope, media, byID)))
}
