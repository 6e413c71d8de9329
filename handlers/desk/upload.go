package desk

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/url"

	tusd "github.com/tus/tusd/v2/pkg/handler"
	"golang.org/x/exp/slog"

	"herald/db"
	"herald/db/model"
)

// Uploads that resume speak the tus protocol (tus.io, version 1, with creation and
// termination). Upload-Metadata names the client's id and the filename. Once the
// last byte is safe the upload is an asset, and every answer about it says which:
const (
	headerMedia = "Herald-Media" // the asset's id
	headerAgain = "Herald-Again" // 1: the client had these bytes already
)

func (d *Desk) uploadRoutes() []route {
	return []route{
		{"POST /w/{slug}/uploads", model.MediaWrite, d.createUpload},
		{"HEAD /w/{slug}/uploads/{upload}", model.MediaWrite, d.showUpload},
		{"PATCH /w/{slug}/uploads/{upload}", model.MediaWrite, d.extendUpload},
		{"DELETE /w/{slug}/uploads/{upload}", model.MediaWrite, d.deleteUpload},
	}
}

func (d *Desk) createUpload(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.tus(w, r, scope, (*tusd.UnroutedHandler).PostFile)
}

func (d *Desk) showUpload(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.tus(w, r, scope, (*tusd.UnroutedHandler).HeadFile)
}

func (d *Desk) extendUpload(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.tus(w, r, scope, (*tusd.UnroutedHandler).PatchFile)
}

func (d *Desk) deleteUpload(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	return d.tus(w, r, scope, (*tusd.UnroutedHandler).DelFile)
}

// tus has the protocol answer one request, on a store that is this person's.
func (d *Desk) tus(w http.ResponseWriter, r *http.Request, scope *db.Scope, answer func(*tusd.UnroutedHandler, http.ResponseWriter, *http.Request)) error {
	w = localLocation{w}
	in := &intake{d: d, scope: scope, w: w, holder: rand.Text()}
	composer := tusd.NewStoreComposer()
	composer.UseCore(in)
	composer.UseTerminater(in)
	composer.UseLocker(in)
	h, err := tusd.NewUnroutedHandler(tusd.Config{
		StoreComposer: composer, BasePath: at(scope, "/uploads/"), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Cors: &tusd.CorsConfig{Disable: true}, DisableDownload: true, DisableConcatenation: true,
	})
	if err != nil {
		return err
	}
	r.URL.Path = r.PathValue("upload")
	h.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(h, w, r) })).ServeHTTP(w, r)
	return nil
}

// localLocation sends a browser to a path of this host. The library writes whole
// addresses, of what it takes the host to be; behind a proxy it is wrong.
type localLocation struct{ http.ResponseWriter }

func (w localLocation) WriteHeader(status int) {
	if u, err := url.Parse(w.Header().Get("Location")); err == nil && u.Path != "" {
		w.Header().Set("Location", u.Path)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the library set deadlines on the connection.
func (w localLocation) Unwrap() http.ResponseWriter { return w.ResponseWriter }
