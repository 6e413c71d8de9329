package sim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	bundleSmall = 90_000_000 // bytes in one request
	bundleLarge = 5 << 30
)

var bundleMimes = []string{"image/jpeg", "image/png", "image/gif", "video/mp4", "video/quicktime", "application/pdf"}

// bundleFile is an upload of a team, or one on its way.
type bundleFile struct {
	id    string
	owner *account
	mime  string
	size  int64
	blob  blob
	put   bool
}

// upload takes a file in one request.
func (b *bundle) upload(c *call) *reply {
	err := c.read(plainNest, "multipart")
	a, no := b.enter(c, c.params.get("teamId"))
	switch {
	case no != nil:
		return no
	case err != nil:
		return bundleBad(err.Error())
	case c.params.kind != "multipart":
		return bundleBad("multipart/form-data expected")
	}
	if name := c.params.stray("teamId", "file"); name != "" {
		return bundleBad("Unrecognized key: " + name)
	}
	data, err := c.params.file("file")
	if err != nil || data == nil {
		return bundleBad("file is required")
	}
	return c.do(Prepare, a, func() *reply {
		f := sorted(data, int64(len(data)))
		if f.size > bundleSmall {
			return bundleError(http.StatusBadRequest, "File too large")
		}
		return b.keep(c, &bundleFile{owner: a, mime: f.mime, blob: f})
	})
}

// keep stores an upload, if it is of a type that is taken.
func (b *bundle) keep(c *call, f *bundleFile) *reply {
	kind, _, _ := strings.Cut(f.blob.mime, "/")
	if !slices.Contains(bundleMimes, f.blob.mime) || kind == "image" && !f.blob.whole() {
		return bundleError(http.StatusBadRequest, "Unsupported file type")
	}
	f.id = "up_" + strconv.FormatInt(c.sim.next(), 36)
	c.st.at(bundleName).objects.Store(f.id, f)
	return answer(http.StatusOK, map[string]any{"id": f.id, "teamId": f.owner.id, "type": kind, "mime": f.blob.mime, "width": f.blob.width, "height": f.blob.height,
		"fileSize": f.blob.size, "url": c.base() + "/bundle/store/" + f.id})
}

// initUpload says where a large file goes.
func (b *bundle) initUpload(c *call) *reply {
	var v struct {
		Team string `json:"teamId"`
		Name string `json:"fileName"`
		Mime string `json:"mimeType"`
		Size int64  `json:"fileSize"`
	}
	a, no := b.told(c, &v, &v.Team)
	switch {
	case no != nil:
		return no
	case v.Name == "" || v.Mime != "image/jpg" && !slices.Contains(bundleMimes, v.Mime) || v.Size > bundleLarge:
		return bundleBad("fileName and mimeType are required")
	}
	return c.do(Prepare, a, func() *reply {
		f := &bundleFile{owner: a, mime: v.Mime, size: v.Size}
		path := "large/" + strconv.FormatInt(c.sim.next(), 36)
		c.st.at(bundleName).objects.Store(path, f)
		return answer(http.StatusOK, map[string]any{"url": c.base() + "/bundle/store/" + strings.TrimPrefix(path, "large/") + "?X-Signature=s", "path": path})
	})
}

// store takes the bytes of a large file. The address alone is the right to do so.
func (b *bundle) store(c *call) *reply {
	f, ok := thing[*bundleFile](c.st.at(bundleName), "large/"+c.r.PathValue("id"))
	if !ok || c.r.URL.Query().Get("X-Signature") != "s" {
		return &reply{status: http.StatusForbidden, kind: "application/xml", body: []byte("<Error><Code>AccessDenied</Code></Error>")}
	}
	c.account = f.owner
	got, err := c.raw(bundleLarge)
	return c.do(Prepare, f.owner, func() *reply {
		if err != nil || c.r.Header.Get("Content-Type") != f.mime || f.size > 0 && got.size != f.size {
			return &reply{status: http.StatusBadRequest, kind: "application/xml", body: []byte("<Error><Code>BadDigest</Code></Error>")}
		}
		f.blob, f.put = got, true
		return &reply{status: http.StatusOK}
	})
}

// finalize makes an upload of a large file.
func (b *bundle) finalize(c *call) *reply {
	var v struct {
		Team string `json:"teamId"`
		Path string `json:"path"`
	}
	a, no := b.told(c, &v, &v.Team)
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		f, ok := thing[*bundleFile](c.st.at(bundleName), v.Path)
		if !ok || f.owner != a || !f.put {
			return bundleError(http.StatusNotFound, "Upload not found")
		}
		return b.keep(c, f)
	})
}
