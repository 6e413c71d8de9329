package sim

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

const (
	skyBlob   = 50 << 20    // of one call to the server
	skyImage  = 2_000_000   // of a picture in a post
	skyThumb  = 1_000_000   // of a card's picture
	skyVideo  = 300_000_000 // of a video
	skyAlt    = 1000        // graphemes; stated for videos
	skyLength = 3 * time.Minute
	skyKeeps  = time.Hour // how long a blob stays that no record holds
)

var skyTypes = []string{"image/jpeg", "image/png", "image/webp", "image/gif"}

// skyFile is a blob of an account. owner.mu guards used.
type skyFile struct {
	ref   skyRef
	owner *account
	data  blob
	born  time.Time
	used  bool
}

// skyRef is how a record holds a blob.
type skyRef struct {
	Type string `json:"$type"`
	Ref  struct {
		Link string `json:"$link"`
	} `json:"ref"`
	Mime string `json:"mimeType"`
	Size int64  `json:"size"`
}

func fileKey(a *account, cid string) string { return "blob " + a.id + " " + cid }

// store keeps a blob under its content's address: the same bytes are one blob.
func (b *bluesky) store(c *call, a *account, data blob) skyRef {
	f := &skyFile{owner: a, data: data, born: c.now, ref: skyRef{Type: "blob", Mime: data.mime, Size: data.size}}
	f.ref.Ref.Link = skyID("bafkrei", data.data)
	c.st.at(a.network).objects.Store(fileKey(a, f.ref.Ref.Link), f)
	return f.ref
}

func (b *bluesky) uploadBlob(c *call) *reply {
	a, no := b.open(c)
	if no != nil {
		return no
	}
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return skyInvalid("Request encoding (Content-Type) required but not provided")
	}
	data, err := c.raw(skyBlob)
	if err != nil {
		return skyInvalid("The body could not be read")
	}
	return c.do(Prepare, a, func() *reply {
		switch {
		case data.size == 0:
			return skyInvalid("A request body was expected but none was provided")
		case data.size > skyBlob:
			return skyError(http.StatusRequestEntityTooLarge, "PayloadTooLarge", "request entity too large")
		case strings.HasPrefix(kind, "image/") && (data.kind != "image" || !data.whole() || data.mime != kind):
			return skyError(http.StatusBadRequest, "InvalidMimeType", "Referenced Mimetype does not match stored blob")
		}
		return answer(http.StatusOK, map[string]any{"blob": b.store(c, a, data)})
	})
}

// held finds the blob that a record refers to. a.mu is held.
func (b *bluesky) held(c *call, a *account, ref skyRef, most int64, types ...string) (*skyFile, *reply) {
	f, ok := thing[*skyFile](c.st.at(a.network), fileKey(a, ref.Ref.Link))
	switch {
	case !ok, !f.used && c.now.Sub(f.born) >= skyKeeps:
		return nil, skyError(http.StatusBadRequest, "BlobNotFound", "Could not find blob: %s", ref.Ref.Link)
	case ref.Type != "blob", ref.Mime != f.ref.Mime, ref.Size != f.ref.Size:
		return nil, skyError(http.StatusBadRequest, "InvalidMimeType", "Referenced Mimetype does not match stored blob")
	case !slices.Contains(types, f.data.mime):
		return nil, skyError(http.StatusBadRequest, "InvalidMimeType", "Wrong type of file: %s", f.data.mime)
	case f.data.size > most:
		return nil, skyError(http.StatusBadRequest, "BlobTooLarge", "This file is too large. It is %d but the maximum size is %d.", f.data.size, most)
	}
	return f, nil
}

// skyJob is a video on its way to a blob. owner.mu guards what changes.
type skyJob struct {
	id     string
	owner  *account
	data   blob
	polls  int
	need   int
	failed string // its failureCode
	ref    *skyRef
}

// uploadVideo takes a video and begins to work on it. One that was processed
// before is not worked on again: the answer is a conflict that carries its blob.
func (b *bluesky) uploadVideo(c *call) *reply {
	a, no := b.service(c, "com.atproto.repo.uploadBlob")
	if no != nil {
		return no
	}
	c.account = a
	if c.r.Header.Get("Content-Type") != "video/mp4" {
		return skyInvalid("Wrong request encoding (Content-Type): video/mp4 expected")
	}
	data, err := c.raw(skyVideo)
	switch q := c.r.URL.Query(); {
	case err != nil:
		return skyInvalid("The body could not be read")
	case q.Get("did") != a.id || q.Get("name") == "":
		return skyInvalid("did and name are required")
	}
	return c.do(Prepare, a, func() *reply { return b.work(c, a, data) })
}

func (b *bluesky) work(c *call, a *account, data blob) *reply {
	cid := skyID("bafkrei", data.data)
	if f, ok := thing[*skyFile](c.st.at(a.network), fileKey(a, cid)); ok {
		out := map[string]any{"jobId": "old-" + cid, "did": a.id, "state": "JOB_STATE_COMPLETED", "error": "already_exists", "message": "Video already processed", "blob": f.ref}
		return answer(http.StatusConflict, out)
	}
	j := &skyJob{id: strconv.FormatInt(c.sim.next(), 36), owner: a, data: data, need: c.sim.Knobs().VideoPolls}
	switch {
	case data.mime != "video/mp4", data.size > skyVideo, data.long > skyLength:
		j.failed = "validation_failure"
	}
	c.st.at(a.network).objects.Store("job "+j.id, j)
	a.mu.Lock()
	defer a.mu.Unlock()
	return answer(http.StatusOK, j.status(c, "JOB_STATE_CREATED"))
}

// status is a job as the service shows it. owner.mu is held.
func (j *skyJob) status(_ *call, state string) map[string]any {
	out := map[string]any{"jobId": j.id, "did": j.owner.id, "state": state}
	switch {
	case j.ref != nil:
		out["state"], out["blob"], out["progress"] = "JOB_STATE_COMPLETED", *j.ref, 100
	case state == "JOB_STATE_FAILED":
		out["failureCode"], out["error"], out["message"] = j.failed, j.failed, "The video could not be processed."
	}
	return out
}

func (b *bluesky) getJobStatus(c *call) *reply {
	if no := b.query(c, "jobId"); no != nil {
		return no
	}
	if no := b.mayAsk(c); no != nil {
		return no
	}
	j, ok := thing[*skyJob](c.st.at(c.place.name), "job "+c.params.get("jobId"))
	if !ok {
		return c.do(Prepare, nil, func() *reply { return skyInvalid("Unknown job") })
	}
	return c.do(Prepare, j.owner, func() *reply {
		return answer(http.StatusOK, map[string]any{"jobStatus": b.poke(c, j)})
	})
}

// poke is one poll of a job, which hands the account its blob when it is through.
func (b *bluesky) poke(c *call, j *skyJob) map[string]any {
	f := c.sim.faults.take(c, asyncKinds)
	j.owner.mu.Lock()
	defer j.owner.mu.Unlock()
	if f != nil {
		c.outcome = string(f.Kind)
		if f.Kind == AsyncError && j.ref == nil {
			j.failed = "encoding_failure"
		}
	}
	switch {
	case j.ref != nil:
		return j.status(c, "")
	case f != nil && f.Kind == AsyncPending, j.polls < j.need:
		j.polls++
		return j.status(c, "JOB_STATE_ENCODING")
	case j.failed != "":
		return j.status(c, "JOB_STATE_FAILED")
	}
	ref := b.store(c, j.owner, j.data)
	j.ref = &ref
	return j.status(c, "")
}

func (b *bluesky) getUploadLimits(c *call) *reply {
	a, no := b.service(c, "app.bsky.video.getUploadLimits")
	if no != nil {
		return no
	}
	return c.do(Check, a, func() *reply {
		return answer(http.StatusOK, map[string]any{"canUpload": true, "remainingDailyVideos": 25, "remainingDailyBytes": 10_000_000_000})
	})
}

// skyEmbed is what a post shows beside its text. Its kind is in $type.
type skyEmbed struct {
	Type   string `json:"$type"`
	Images []struct {
		Image  skyRef    `json:"image"`
		Alt    *string   `json:"alt"`
		Aspect *skyShape `json:"aspectRatio"`
	} `json:"images"`
	External *struct {
		URI         string  `json:"uri"`
		Title       *string `json:"title"`
		Description *string `json:"description"`
		Thumb       *skyRef `json:"thumb"`
	} `json:"external"`
	Video        *skyRef   `json:"video"`
	Alt          *string   `json:"alt"`
	Aspect       *skyShape `json:"aspectRatio"`
	Presentation string    `json:"presentation"`
}

type skyShape struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// embed checks what a record shows, and gives it to the entry. a.mu is held.
func (b *bluesky) embed(c *call, a *account, raw json.RawMessage, e *entry) *reply {
	if len(raw) == 0 {
		return nil
	}
	var m skyEmbed
	if err := strict(raw, &m); err != nil {
		return skyInvalid("Invalid %s record: Record/embed: %s", skyPost, err)
	}
	kinds := 0
	for _, has := range []bool{len(m.Images) > 0, m.External != nil, m.Video != nil} {
		if has {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return skyInvalid("Invalid %s record: Record/embed holds %d things", skyPost, kinds)
	case m.Type == "app.bsky.embed.images" && len(m.Images) > 0:
		return b.pictures(c, a, m, e)
	case m.Type == "app.bsky.embed.external" && m.External != nil:
		return b.card(c, a, m, e)
	case m.Type == "app.bsky.embed.video" && m.Video != nil:
		return b.movie(c, a, m, e)
	}
	return skyInvalid("Invalid %s record: Record/embed is no %s", skyPost, m.Type)
}

func (s *skyShape) wrong() bool { return s != nil && (s.Width < 1 || s.Height < 1) }

func (b *bluesky) pictures(c *call, a *account, m skyEmbed, e *entry) *reply {
	if len(m.Images) > 4 {
		return skyInvalid("Invalid %s record: Record/embed/images must not have more than 4 elements", skyPost)
	}
	for i, one := range m.Images {
		if one.Alt == nil || one.Aspect.wrong() {
			return skyInvalid("Invalid %s record: Record/embed/images/%d must have the property \"alt\"", skyPost, i)
		}
		if no := b.described(*one.Alt); no != nil {
			return no
		}
		f, no := b.held(c, a, one.Image, skyImage, skyTypes...)
		if no != nil {
			return no
		}
		e.Media = append(e.Media, c.keepMedia(f.data, *one.Alt))
		e.private["files"] += f.ref.Ref.Link + " "
	}
	return nil
}

func (b *bluesky) described(alt string) *reply {
	if uniseg.GraphemeClusterCount(alt) > skyAlt {
		return skyInvalid("Invalid %s record: Record/embed/alt must not be longer than %d graphemes", skyPost, skyAlt)
	}
	return nil
}

func (b *bluesky) card(c *call, a *account, m skyEmbed, e *entry) *reply {
	x := m.External
	if u, err := url.Parse(x.URI); err != nil || u.Scheme == "" || x.Title == nil || x.Description == nil {
		return skyInvalid("Invalid %s record: Record/embed/external must have uri, title and description", skyPost)
	}
	if x.Thumb != nil {
		if _, no := b.held(c, a, *x.Thumb, skyThumb, skyTypes...); no != nil {
			return no
		}
	}
	e.Link, e.Title = x.URI, *x.Title
	return nil
}

func (b *bluesky) movie(c *call, a *account, m skyEmbed, e *entry) *reply {
	f, no := b.held(c, a, *m.Video, skyVideo, "video/mp4")
	if no != nil {
		return no
	}
	if m.Aspect.wrong() {
		return skyInvalid("Invalid %s record: Record/embed/aspectRatio", skyPost)
	}
	alt := *orEmpty(m.Alt)
	if no := b.described(alt); no != nil {
		return no
	}
	e.Kind = "video"
	e.Media = append(e.Media, c.keepMedia(f.data, alt))
	e.private["files"] = f.ref.Ref.Link
	return nil
}

// keepFiles marks the blobs of a record as used, so that they stay. a.mu is held.
func (b *bluesky) keepFiles(c *call, a *account, e *entry) {
	for cid := range strings.FieldsSeq(e.private["files"]) {
		if f, ok := thing[*skyFile](c.st.at(a.network), fileKey(a, cid)); ok {
			f.used = true
		}
	}
}
