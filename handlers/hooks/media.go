package hooks

import (
	"errors"
	"mime"
	"net/http"
	"path"
	"strings"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/secret"
)

// media serves stored files.
type media struct{ Deps }

// Bytes that strangers uploaded are shown, and nothing more: no script, no
// frames, no forms, whatever a browser takes them for.
const fileSecurity = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'none'; sandbox"

// The address changes with the file and with time, so a browser need not ask
// again while the address is good.
const fileCache = "private, max-age=900, immutable"

// show answers GET /m/{signed} with a file, or a range of it.
func (m media) show(w http.ResponseWriter, r *http.Request) error {
	to, link, err := m.verify(r.PathValue("signed"))
	if err != nil {
		return err
	}
	asset, err := m.asset(r, to, link)
	if err != nil {
		return err
	}
	key, err := m.fileOf(r, asset, link)
	if err != nil {
		return err
	}
	object, err := m.Blobs.Open(r.Context(), key)
	if errors.Is(err, blob.ErrNotFound) {
		return model.Refuse(model.NotFound, "This file is not in the store any more.")
	}
	if err != nil {
		return m.Edge.Stored(r.Context(), err)
	}
	defer object.Close()
	describe(w.Header(), asset, object.Info())
	http.ServeContent(w, r, "", object.Info().Modified, object)
	return nil
}

var errNoFile = model.Refuse(model.NotFound, "There is no such file.")

// verify finds out for whom the link was made.
func (m media) verify(signed string) (secret.Audience, secret.MediaLink, error) {
	for _, to := range []secret.Audience{secret.ForMember, secret.ForNetwork, secret.ForApprover} {
		link, err := m.Ring.VerifyMedia(to, signed, m.Edge.Now())
		if errors.Is(err, secret.ErrExpired) {
			return "", link, model.Refuse(model.Gone, "This link has run out. Open the page that it stood on again.")
		}
		if err == nil {
			return to, link, nil
		}
	}
	return "", secret.MediaLink{}, errNoFile
}

func (m media) asset(r *http.Request, to secret.Audience, link secret.MediaLink) (db.Asset, error) {
	if to != secret.ForMember {
		return m.Edge.Store.LinkedMedia(r.Context(), model.TenantID(link.Tenant), model.MediaID(link.Media))
	}
	user, err := m.Edge.Sessions.User(r)
	if err != nil {
		return db.Asset{}, err
	}
	if user == 0 {
		return db.Asset{}, model.Refuse(model.Forbidden, "Sign in to Herald to see this file.")
	}
	return m.Edge.Store.MemberMedia(r.Context(), user, model.TenantID(link.Tenant), model.MediaID(link.Media))
}

// fileOf returns the key of one of an asset's files. "original" is what is
// published of it; what was uploaded has no name.
func (m media) fileOf(r *http.Request, a db.Asset, link secret.MediaLink) (key string, err error) {
	switch id, made := model.ParseRenditionFile(link.File); {
	case made:
		return m.Edge.Store.RenditionPath(r.Context(), model.TenantID(link.Tenant), a.ID, id)
	case link.File == "original":
		key = a.Path
	case link.File == "thumbnail":
		key = a.ThumbPath
	}
	if key == "" {
		err = errNoFile
	}
	return key, err
}

func describe(h http.Header, a db.Asset, info blob.Info) {
	h.Set("Content-Type", info.Type)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", fileSecurity)
	h.Set("Cache-Control", fileCache)
	h.Set("ETag", `"`+info.ETag+`"`)
	how := "inline"
	if info.Type == "application/octet-stream" || info.Type == "application/pdf" { // whose scripts no policy of ours reaches
		how = "attachment"
	}
	if d := mime.FormatMediaType(how, map[string]string{"filename": fileName(a.Name, path.Ext(info.Key))}); d != "" {
		how = d
	}
	h.Set("Content-Disposition", how)
}

// fileName is the uploaded name with the extension of what is served.
func fileName(name, ext string) string {
	name = strings.TrimSuffix(name, path.Ext(name))
	if name == "" {
		name = "file"
	}
	return name + ext
}
