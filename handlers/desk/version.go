package desk

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/composer"
)

var errNoVersion = model.Refuse(model.NotFound, "This post has no such version.")

// chooseVersions answers GET /posts/{id}/versions?number=3&against=1, which is what
// the history's form asks, with the address of that comparison.
func (d *Desk) chooseVersions(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	page, err := d.postOf(r.Context(), scope, r.PathValue("id"))
	if err != nil {
		return err
	}
	number, err := versionNumber(r.FormValue("number"))
	if err != nil {
		return err
	}
	path := fmt.Sprintf("%s/versions/%d", postPath(scope, page.Post.ID), number)
	if against := r.FormValue("against"); against != "" {
		path += "?against=" + url.QueryEscape(against)
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

// showVersion answers GET /posts/{id}/versions/{number} with what that version
// says; against=N adds what it says differently than version N.
func (d *Desk) showVersion(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	page, err := d.postOf(r.Context(), scope, r.PathValue("id"))
	if err != nil {
		return err
	}
	version, err := d.versionOf(r.Context(), scope, page, r.PathValue("number"))
	if err != nil {
		return err
	}
	p := composer.VersionProps{Title: fmt.Sprintf("Version %d", version.Number), Back: postPath(scope, page.Post.ID),
		Say: "Written " + timeIn(version.CreatedAt, scope.Workspace.Zone).Words + " (" + web.City(scope.Workspace.Zone) + ")."}
	if p.Versus.Versions, err = d.versions(r.Context(), scope, page.Post.ID); err != nil {
		return err
	}
	p.Versus.Path, p.Versus.Number = p.Back+"/versions", version.Number
	if against := r.FormValue("against"); against != "" {
		if p.Differences, err = d.differences(r.Context(), scope, page, version, against); err != nil {
			return err
		}
		p.Versus.Against, p.Title = p.Differences.Against, fmt.Sprintf("Version %d against version %d", version.Number, p.Differences.Against)
	}
	page.Hidden += version.Hidden
	parts, err := d.saidBy(r.Context(), scope, page, version)
	if err != nil {
		return err
	}
	p.Parts = parts.Parts
	return d.show(w, r, scope, http.StatusOK, d.postScreen(p.Title), composer.VersionPage(p))
}

// differences reads the other version, and says what is different.
func (d *Desk) differences(ctx context.Context, scope *db.Scope, page db.PostPage, now db.Version, against string) (*composer.Differences, error) {
	was, err := d.versionOf(ctx, scope, page, against)
	if err != nil {
		return nil, err
	}
	c := comparison{was: was, now: now, names: map[model.MediaID]string{}}
	list, err := scope.VisibleMedia(ctx, append(was.Content.AllMedia(), now.Content.AllMedia()...))
	for _, a := range list {
		c.names[a.ID] = a.Name
	}
	return &composer.Differences{Number: now.Number, Against: was.Number, Hidden: was.Hidden+now.Hidden > 0, Parts: c.parts()}, err
}

func (d *Desk) versionOf(ctx context.Context, scope *db.Scope, page db.PostPage, number string) (db.Version, error) {
	n, err := versionNumber(number)
	if err != nil {
		return db.Version{}, err
	}
	return scope.PostVersion(ctx, page.Post.ID, n)
}

func versionNumber(s string) (int, error) {
	n, err := web.Count(s)
	if err != nil {
		return 0, errNoVersion
	}
	return n, nil
}

// versions are those of a post, newest first.
func (d *Desk) versions(ctx context.Context, scope *db.Scope, id model.PostID) (rows []composer.VersionRow, err error) {
	list, err := scope.Versions(ctx, id)
	for _, v := range list {
		rows = append(rows, composer.VersionRow{Number: v.Number, Href: fmt.Sprintf("%s/versions/%d", postPath(scope, id), v.Number), By: v.By,
			When: *timeIn(v.At, scope.Workspace.Zone), Excerpt: v.Excerpt, Current: v.Current, Approved: v.Approved})
	}
	return rows, err
}
