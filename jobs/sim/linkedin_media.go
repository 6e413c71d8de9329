package sim

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// liAsset is a file on its way. owner.mu guards what changes.
type liAsset struct {
	urn    string
	owner  *account
	kind   string // images, videos or documents
	size   int64
	token  string
	born   time.Time
	used   map[int]bool // addresses that took a part
	parts  map[int][]byte
	tags   map[int]string
	data   blob
	sealed bool
	polls  int
	need   int
	failed string
}

const (
	liPart   = 4_194_304
	liImage  = 5_000_000
	liPDF    = 100_000_000
	liPages  = 300
	liFilm   = 500_000_000
	liPixels = 36_152_320
	liURLs   = time.Hour // for which an address takes a part
)

// begin hands out addresses, or, by the action finalizeUpload, puts the parts
// together.
func (l *linkedin) begin(c *call, kind string) *reply {
	if c.r.URL.Query().Get("action") == "finalizeUpload" && kind == "videos" {
		return l.finalize(c)
	}
	var b struct {
		Request struct {
			Owner     string `json:"owner"`
			Size      int64  `json:"fileSizeBytes"`
			Captions  *bool  `json:"uploadCaptions"`
			Thumbnail *bool  `json:"uploadThumbnail"`
		} `json:"initializeUploadRequest"`
	}
	if err := c.object(&b); err != nil || c.r.URL.Query().Get("action") != "initializeUpload" {
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", fmt.Sprint("no such action, or: ", err))
	}
	a, no := l.open(c, b.Request.Owner, "w_organization_social", "w_member_social")
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		film, id := kind == "videos", strconv.FormatInt(c.sim.next(), 10)
		if film && (b.Request.Size < 1 || b.Request.Size > liFilm) {
			return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "fileSizeBytes is not within 75 KB and 500 MB")
		}
		m := &liAsset{urn: "urn:li:image:C" + id, owner: a, kind: kind, size: b.Request.Size, born: c.now, used: map[int]bool{}, parts: map[int][]byte{}, tags: map[int]string{}, need: c.sim.Knobs().ImagePolls}
		at := func(n int) string { return c.base() + "/linkedin/dms-uploads/" + id + "/" + strconv.Itoa(n) }
		out := map[string]any{"image": m.urn, "uploadUrl": at(0), "uploadUrlExpiresAt": c.now.Add(liURLs).UnixMilli()}
		if kind == "documents" {
			m.urn, m.need = "urn:li:document:F"+id, c.sim.Knobs().VideoPolls
			delete(out, "image")
			out["document"] = m.urn
		}
		if film {
			m.urn, m.token, m.need = "urn:li:video:D"+id, "T"+id, c.sim.Knobs().VideoPolls
			list := []any{}
			for first := int64(0); first < m.size; first += liPart {
				list = append(list, map[string]any{"uploadUrl": at(len(list)), "firstByte": first, "lastByte": min(first+liPart, m.size) - 1})
			}
			out = map[string]any{"video": m.urn, "uploadToken": m.token, "uploadInstructions": list, "uploadUrlsExpireAt": c.now.Add(liURLs).UnixMilli()}
		}
		sh := c.st.at(a.network)
		sh.objects.Store(m.urn, m)
		sh.objects.Store("upload:"+id, m)
		return answer(http.StatusOK, map[string]any{"value": out})
	})
}

// put takes the bytes of a part, once at each address.
func (l *linkedin) put(c *call) *reply {
	m, ok := thing[*liAsset](c.st.at(c.place.name), "upload:"+c.r.PathValue("id"))
	n, err := strconv.Atoi(c.r.PathValue("part"))
	if !ok || err != nil {
		return &reply{status: http.StatusNotFound}
	}
	if _, _, v := c.admit(m.owner.id, c.bearer()); v != good {
		return liVerdict(v)
	}
	b, broken := c.raw(liFilm)
	return c.do(Prepare, m.owner, func() *reply {
		m.owner.mu.Lock()
		defer m.owner.mu.Unlock()
		switch {
		case broken != nil:
			return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "The body ended early")
		case c.now.Sub(m.born) >= liURLs:
			return liError(http.StatusBadRequest, "EXPIRED_UPLOAD_URL", "The upload URL has expired")
		case m.used[n]:
			return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "The upload URL was used already")
		}
		m.used[n] = true
		if m.kind != "videos" {
			m.take(b)
			return &reply{status: http.StatusCreated}
		}
		if b.size != min(liPart, m.size-int64(n)*liPart) {
			return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "The part does not have the announced length")
		}
		m.parts[n], m.tags[n] = b.data, fmt.Sprintf("/ambry-video/signedId/%d-%d", m.born.Unix(), n)
		return (&reply{status: http.StatusOK}).with("ETag", `"`+m.tags[n]+`"`)
	})
}

// liLeaf is a page in a PDF whose objects stand as they are.
var liLeaf = regexp.MustCompile(`/Type\s*/Page[^s]`)

// take looks at a picture or a document. owner.mu is held.
func (m *liAsset) take(b blob) {
	m.data, m.sealed = b, true
	if m.kind == "documents" {
		switch {
		case b.size > liPDF, len(liLeaf.FindAll(b.data, liPages+1)) > liPages:
			m.failed = "The document is too large, or has too many pages"
		case b.mime != "application/pdf", !bytes.Contains(b.data, []byte("%%EOF")):
			m.failed = "The document cannot be read"
		}
		return
	}
	switch {
	case b.size > liImage, b.width*b.height >= liPixels:
		m.failed = "The image is too large"
	case !slices.Contains([]string{"image/jpeg", "image/png", "image/gif"}, b.mime), !b.whole():
		m.failed = "The image cannot be read"
	}
}

func (l *linkedin) finalize(c *call) *reply {
	var b struct {
		Request struct {
			Video string   `json:"video"`
			Token string   `json:"uploadToken"`
			Tags  []string `json:"uploadedPartIds"`
		} `json:"finalizeUploadRequest"`
	}
	if err := c.object(&b); err != nil {
		return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", err.Error())
	}
	m, ok := thing[*liAsset](c.st.at(c.place.name), b.Request.Video)
	if !ok {
		return liError(http.StatusBadRequest, "INVALID_URN_ID", "The video does not exist")
	}
	if no := liHeaders(c); no != nil {
		return no
	}
	if _, _, v := c.admit(m.owner.id, c.bearer(), "w_organization_social", "w_member_social"); v != good {
		return liVerdict(v)
	}
	return c.do(Prepare, m.owner, func() *reply {
		m.owner.mu.Lock()
		defer m.owner.mu.Unlock()
		var all []byte
		for i, tag := range b.Request.Tags {
			if m.tags[i] != tag {
				return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "uploadedPartIds are not those of the parts")
			}
			all = append(all, m.parts[i]...)
		}
		if m.sealed || b.Request.Token != m.token || int64(len(all)) != m.size {
			return liError(http.StatusBadRequest, "INVALID_VALUE_FOR_FIELD", "The upload is not whole, or finished already")
		}
		m.data, m.sealed = sorted(all, m.size), true
		switch d := m.data; {
		case d.mime != "video/mp4":
			m.failed = "The video is no MP4"
		case d.long > 0 && (d.long < 3*time.Second || d.long > 30*time.Minute), d.width > 0 && !d.shaped(1/2.4, 2.4):
			m.failed = "The video is too short, too long, or has an odd shape"
		}
		return &reply{status: http.StatusOK}
	})
}

// status is how far the file is. owner.mu is held.
func (m *liAsset) status() string {
	switch {
	case !m.sealed:
		return "WAITING_UPLOAD"
	case m.polls < m.need:
		return "PROCESSING"
	case m.failed != "":
		return "PROCESSING_FAILED"
	}
	return "AVAILABLE"
}

func (l *linkedin) showAsset(c *call) *reply {
	urn, _ := url.PathUnescape(c.r.PathValue("urn"))
	m, ok := thing[*liAsset](c.st.at(c.place.name), urn)
	if no := liHeaders(c); no != nil {
		return no
	}
	if !ok {
		return liError(http.StatusNotFound, "NOT_FOUND", "Could not find entity")
	}
	if _, _, v := c.admit(m.owner.id, c.bearer(), "w_organization_social", "w_member_social"); v != good {
		return liVerdict(v)
	}
	return c.do(Prepare, m.owner, func() *reply {
		m.owner.mu.Lock()
		defer m.owner.mu.Unlock()
		var f *Fault
		if m.sealed { // before, nothing is worked on
			f = c.sim.faults.take(c, asyncKinds)
		}
		state := m.status()
		switch {
		case f == nil:
		case f.Kind == AsyncPending:
			c.outcome, state = string(f.Kind), "PROCESSING"
		default:
			c.outcome, state = string(f.Kind), "PROCESSING_FAILED"
			m.failed = "told to"
		}
		if m.sealed {
			m.polls++
		}
		out := map[string]any{"id": m.urn, "owner": "urn:li:organization:" + m.owner.id, "status": state}
		if state == "PROCESSING_FAILED" {
			out["processingFailureReason"] = m.failed
		}
		return answer(http.StatusOK, out)
	})
}
