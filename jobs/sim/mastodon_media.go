package sim

import (
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"
)

// attachment is an uploaded file. owner.mu guards what changes.
type attachment struct {
	id    string
	owner *account
	media Media
	alt   string

	slow   bool // was answered 202
	polls  int
	need   int
	failed bool
	used   bool
}

const (
	tootImage  = 16 << 20
	tootVideo  = 103809024
	tootPixels = 33177600
	tootFilm   = 8294400 // pixels of a video
	tootAlt    = 1500
)

var tootTypes = []string{
	"image/jpeg", "image/png", "image/gif", "image/heic", "image/heif", "image/webp", "image/avif",
	"video/webm", "video/mp4", "video/quicktime", "video/ogg", "audio/wave", "audio/mpeg", "audio/ogg", "audio/flac", "audio/aac", "audio/mp4",
}

func (m *mastodon) createMedia(c *call) *reply {
	a, no := m.open(c, []string{"write:media"}, "multipart")
	if no != nil {
		return no
	}
	if no := m.only(c, "file", "description", "focus", "thumbnail"); no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply { return m.makeMedia(c, a) })
}

func (m *mastodon) makeMedia(c *call, a *account) *reply {
	data, err := c.params.file("file")
	if err != nil || len(data) == 0 {
		return tootInvalid("File can't be blank")
	}
	b, alt := sorted(data, int64(len(data))), c.params.get("description")
	switch {
	case !slices.Contains(tootTypes, b.mime):
		return tootInvalid("File content type is invalid")
	case b.kind == "image" && b.size > tootImage, b.size > tootVideo:
		return tootInvalid("File size is too large")
	case b.kind == "image" && b.width*b.height > tootPixels:
		return tootInvalid("%dx%d images are not supported", b.width, b.height)
	case b.kind == "image" && !b.whole() && b.mime != "image/heic" && b.mime != "image/heif" && b.mime != "image/avif":
		return tootInvalid("File could not be read")
	case b.kind == "video" && b.width*b.height > tootFilm:
		return tootInvalid("%dx%d videos are not supported", b.width, b.height)
	case utf8.RuneCountInString(alt) > tootAlt:
		return tootInvalid("Description is too long (maximum is %d characters)", tootAlt)
	}
	f := &attachment{id: strconv.FormatInt(c.sim.next(), 10), owner: a, media: c.keepMedia(b, alt), alt: alt}
	if b.kind != "image" {
		f.need = c.sim.Knobs().VideoPolls
	}
	f.slow = f.need > 0 || c.sim.faults.expects(c, asyncKinds)
	c.st.at(a.network).objects.Store(f.id, f)
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.slow {
		return answer(http.StatusAccepted, m.file(c, f, false))
	}
	return answer(http.StatusOK, m.file(c, f, true))
}

// ready says whether the file is processed. owner.mu is held.
func (f *attachment) ready(c *call) bool {
	return f.polls >= f.need && !(f.slow && c.sim.faults.expects(c, kindSet{AsyncPending: ""}))
}

// file is an attachment as Mastodon shows it. owner.mu is held.
func (m *mastodon) file(c *call, f *attachment, ready bool) map[string]any {
	out := map[string]any{
		"id": f.id, "type": f.media.Kind, "url": nil, "preview_url": c.base() + f.media.path, "description": orNull(f.alt),
	}
	if ready {
		out["url"] = c.base() + f.media.path
	}
	return out
}

// mine finds an attachment of the caller that is not attached yet.
func (m *mastodon) mine(c *call, a *account) (*attachment, *reply) {
	f, ok := thing[*attachment](c.st.at(c.place.name), c.r.PathValue("id"))
	if !ok || f.owner != a {
		return nil, tootError(http.StatusNotFound, tootMissing)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.used {
		return nil, tootError(http.StatusNotFound, tootMissing)
	}
	return f, nil
}

func (m *mastodon) showMedia(c *call) *reply {
	a, no := m.open(c, []string{"write:media"})
	if no != nil {
		return no
	}
	if no := m.only(c); no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		f, no := m.mine(c, a)
		if no != nil {
			return no
		}
		return m.poke(c, f)
	})
}

// poke is one poll of an attachment.
func (m *mastodon) poke(c *call, f *attachment) *reply {
	fault := c.sim.faults.take(c, asyncKinds)
	f.owner.mu.Lock()
	defer f.owner.mu.Unlock()
	if fault != nil {
		c.outcome = string(fault.Kind)
		f.failed = f.failed || fault.Kind == AsyncError
	}
	switch {
	case f.failed:
		return tootError(http.StatusUnprocessableEntity, "The file could not be processed")
	case fault != nil || f.polls < f.need:
		f.polls++
		return answer(http.StatusPartialContent, m.file(c, f, false))
	}
	return answer(http.StatusOK, m.file(c, f, true))
}

func (m *mastodon) describeMedia(c *call) *reply {
	a, no := m.open(c, []string{"write:media"}, "form", "json", "multipart")
	if no != nil {
		return no
	}
	if no := m.only(c, "description", "focus", "thumbnail"); no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		f, no := m.mine(c, a)
		if no != nil {
			return no
		}
		alt := c.params.get("description")
		if utf8.RuneCountInString(alt) > tootAlt {
			return tootInvalid("Description is too long (maximum is %d characters)", tootAlt)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		f.alt = alt
		return answer(http.StatusOK, m.file(c, f, f.ready(c)))
	})
}
