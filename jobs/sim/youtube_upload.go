package sim

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	ytGrain       = 256 << 10
	ytLargest     = 256_000_000_000
	ytLongest     = 12 * time.Hour
	ytDaily       = 100 // videos.insert per day
	ytTitle       = 100
	ytDescription = 5000 // bytes
	ytTags        = 500
	ytThumbnail   = 2 << 20
	ytSession     = 7 * 24 * time.Hour
	ytWork        = time.Minute // until a video that is turned down says so
)

// ytUpload is a resumable upload. owner.mu guards it.
type ytUpload struct {
	owner   *account
	size    int64
	arrived int64
	data    bytes.Buffer // its first part
	entry   *entry       // made from the details, public once all has arrived
	until   time.Time
	parts   int // pieces that were stored in part only
	done    bool
}

var ytDetails = []string{
	"snippet.title", "snippet.description", "snippet.tags", "snippet.categoryId", "snippet.defaultLanguage", "snippet.defaultAudioLanguage",
	"status.privacyStatus", "status.publishAt", "status.selfDeclaredMadeForKids", "status.containsSyntheticMedia", "status.embeddable", "status.license", "status.publicStatsViewable",
}

// open begins a resumable upload.
func (y *youtube) open(c *call) *reply {
	a, no := y.enter(c, ytUploads, "json")
	if no != nil {
		return no
	}
	if no := y.only(c, append(slices.Clone(ytDetails), "uploadType", "part", "notifySubscribers")...); no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		size, no := y.announced(c)
		if no != nil {
			return no
		}
		if no := y.metadata(c); no != nil {
			return no
		}
		return y.begin(c, a, size)
	})
}

// announced checks what the headers say of the file.
func (y *youtube) announced(c *call) (int64, *reply) {
	h := c.r.Header
	size, err := strconv.ParseInt(h.Get("X-Upload-Content-Length"), 10, 64)
	kind := h.Get("X-Upload-Content-Type")
	switch {
	case c.params.get("uploadType") != "resumable":
		return 0, ytBad("badRequest", "uploadType is resumable here.")
	case err != nil || size <= 0:
		return 0, ytBad("mediaBodyRequired", "The request does not include the video content.")
	case size > ytLargest:
		return 0, ytError(http.StatusRequestEntityTooLarge, "badRequest", "The file is too large.")
	case !strings.HasPrefix(kind, "video/") && kind != "application/octet-stream":
		return 0, ytBad("badRequest", "Media type '"+kind+"' is not supported. Valid media types: [video/*, application/octet-stream]")
	case c.params.kind != "json":
		return 0, ytBad("invalidVideoMetadata", "The request metadata is invalid.")
	}
	_, no := y.parts(c, "snippet", "status")
	return size, no
}

// metadata checks title, description and the like.
func (y *youtube) metadata(c *call) *reply {
	p := &c.params
	title, text, category := p.get("snippet.title"), p.get("snippet.description"), p.get("snippet.categoryId")
	switch {
	case strings.TrimSpace(title) == "", units(title) > ytTitle, strings.ContainsAny(title, "<>"):
		return ytBad("invalidTitle", "The request metadata specifies an invalid or empty video title.")
	case len(text) > ytDescription, strings.ContainsAny(text, "<>"):
		return ytBad("invalidDescription", "The request metadata specifies an invalid video description.")
	case ytTagLength(p.values["snippet.tags"]) > ytTags:
		return ytBad("invalidTags", "The request metadata specifies invalid video keywords.")
	case category != "" && !slices.Contains([]string{"1", "2", "10", "15", "17", "19", "20", "22", "23", "24", "25", "26", "27", "28", "29"}, category):
		return ytBad("invalidCategoryId", "The request metadata specifies an invalid category ID.")
	case !slices.Contains([]string{"public", "unlisted", "private"}, p.get("status.privacyStatus")):
		return ytBad("invalidVideoMetadata", "The privacy status is public, unlisted or private.")
	case p.has("status.publishAt") && p.get("status.privacyStatus") != "private":
		return ytBad("invalidPublishAt", "A scheduled video is private.")
	}
	for _, name := range []string{"status.selfDeclaredMadeForKids", "status.containsSyntheticMedia", "status.embeddable"} {
		if v := p.get(name); v != "" && v != "true" && v != "false" {
			return ytBad("invalidVideoMetadata", name+" is true or false.")
		}
	}
	return nil
}

// ytTagLength counts commas and the quotes that a tag with a space gets.
func ytTagLength(tags []string) (n int) {
	for _, tag := range tags {
		n += units(tag) + 1
		if strings.Contains(tag, " ") {
			n += 2
		}
	}
	return max(0, n-1)
}

func (y *youtube) begin(c *call, a *account, size int64) *reply {
	p := &c.params
	privacy := p.get("status.privacyStatus")
	if c.sim.Knobs().Unaudited {
		privacy = "private"
	}
	e := &entry{
		Post:   Post{ID: ytID(c.sim.next()), Kind: "video", Title: p.get("snippet.title"), Text: p.get("snippet.description")},
		hidden: privacy != "public",
		private: map[string]string{"privacy": privacy, "kids": p.get("status.selfDeclaredMadeForKids"), "tags": strings.Join(p.values["snippet.tags"], ","),
			"category": p.get("snippet.categoryId"), "status": "processed"},
	}
	e.path = "/youtube/p/" + e.ID
	a.mu.Lock()
	defer a.mu.Unlock()
	if limit := c.sim.Knobs().Uploads; limit > 0 && a.since(c.now.Add(-24*time.Hour)) >= limit {
		return ytBad("uploadLimitExceeded", "The user has exceeded the number of videos they may upload.")
	}
	a.sent = recent(a.sent, c.now.Add(-24*time.Hour))
	if len(a.sent) >= ytDaily {
		return ytError(http.StatusForbidden, "quotaExceeded", "The request cannot be completed because you have exceeded your quota.")
	}
	a.sent = append(a.sent, c.now)
	id := "up-" + strconv.FormatInt(c.sim.next(), 36)
	c.st.at(a.network).objects.Store(id, &ytUpload{owner: a, size: size, entry: e, until: c.now.Add(ytSession)})
	to := c.base() + "/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet%2Cstatus&upload_id=" + id
	return (&reply{status: http.StatusOK}).with("Location", to).with("X-Guploader-Uploadid", id)
}

// put takes bytes, or tells how far an upload is.
func (y *youtube) put(c *call) *reply {
	q := c.r.URL.Query()
	c.params.values = q
	first, last, total, err := contentRange(c.r.Header.Get("Content-Range"))
	switch {
	case first < 0:
		c.step = Find
	case last+1 == total:
		c.step = Commit
	}
	a, _, v := c.admitByToken(c.bearer(), ytUploads...)
	if v != good {
		return ytVerdict(v)
	}
	if name := c.params.stray("uploadType", "part", "upload_id"); name != "" {
		return ytBad("badRequest", "Unknown name "+name)
	}
	u, ok := thing[*ytUpload](c.st.at(c.place.name), q.Get("upload_id"))
	switch {
	case !ok || u.owner != a || c.now.After(u.until):
		return &reply{status: http.StatusNotFound, kind: "text/plain", body: []byte("Not Found")}
	case err != nil || total != u.size:
		return ytBad("badRequest", "Failed to parse Content-Range header.")
	case first < 0:
		return c.do(c.step, a, func() *reply { return u.tell(c, y) })
	case c.r.ContentLength != last-first+1:
		return ytBad("badRequest", "Failed to parse Content-Range header.")
	}
	return c.do(c.step, a, func() *reply { return y.take(c, u, first, last) })
}

// contentRange reads "bytes 0-9/100", or "bytes */100", whose first is -1.
func contentRange(s string) (first, last, total int64, err error) {
	if n, ok := strings.CutPrefix(s, "bytes */"); ok {
		total, err = strconv.ParseInt(n, 10, 64)
		return -1, -1, total, err
	}
	if _, err = fmt.Sscanf(s, "bytes %d-%d/%d", &first, &last, &total); err == nil && (first > last || last >= total || s != fmt.Sprintf("bytes %d-%d/%d", first, last, total)) {
		err = fmt.Errorf("the range does not exist")
	}
	return first, last, total, err
}

// take stores what is new in a piece. One that leaves a gap stores nothing, and
// the answer says from where to go on.
func (y *youtube) take(c *call, u *ytUpload, first, last int64) *reply {
	if (last+1-first)%ytGrain != 0 && last+1 != u.size {
		return ytBad("badRequest", "The size of a chunk is a multiple of 262144.")
	}
	data, err := io.ReadAll(io.LimitReader(c.r.Body, last-first+1))
	if err != nil { // the connection broke: what has arrived is kept
		last = first + int64(len(data)) - 1
	}
	u.owner.mu.Lock()
	defer u.owner.mu.Unlock()
	if u.parts < c.sim.Knobs().Partial {
		u.parts++
		data = data[:len(data)/2/ytGrain*ytGrain]
		last = first + int64(len(data)) - 1
	}
	if u.done || first > u.arrived || last < u.arrived {
		return u.state(c, y)
	}
	data = data[u.arrived-first:]
	u.arrived = last + 1
	if room := keptPart - int64(u.data.Len()); room > 0 {
		u.data.Write(data[:min(int64(len(data)), room)])
	}
	if u.arrived == u.size {
		y.publish(c, u)
	}
	return u.state(c, y)
}

// publish makes the video. What YouTube finds while it works on the file it says
// only when it is asked.
func (y *youtube) publish(c *call, u *ytUpload) {
	b := sorted(u.data.Bytes(), u.size)
	e := u.entry
	u.done = true
	e.Time = c.now
	media := c.keepMedia(b, "")
	e.Media = []Media{media}
	e.private["file"] = fmt.Sprintf("%x %d", sha256.Sum256(b.data), b.size)
	switch {
	case b.kind != "video":
		e.private["status"], e.private["why"], e.gone = "failed", "invalidFile", c.now
	case b.long > ytLongest:
		e.private["status"], e.private["why"], e.gone = "rejected", "length", c.now
	case c.sim.Knobs().Duplicates && u.owner.hasFile(e.private["file"], c.now):
		e.hidden, e.private["status"], e.private["why"], e.gone = true, "uploaded", "duplicate", c.now.Add(ytWork)
	}
	c.publish(u.owner, e)
}

// hasFile says whether one of the account's videos is the same file. mu is held.
func (a *account) hasFile(file string, now time.Time) bool {
	return slices.ContainsFunc(a.posts, func(e *entry) bool { return e.private["file"] == file && !e.removed(now) })
}

// since counts the posts that were stored after a moment. mu is held.
func (a *account) since(then time.Time) (n int) {
	for _, e := range a.posts {
		if e.born.After(then) {
			n++
		}
	}
	return n
}

func (u *ytUpload) tell(c *call, y *youtube) *reply {
	u.owner.mu.Lock()
	defer u.owner.mu.Unlock()
	return u.state(c, y)
}

// state is 308 and how much has arrived, or the video. owner.mu is held.
func (u *ytUpload) state(c *call, y *youtube) *reply {
	if u.done {
		return answer(http.StatusCreated, y.resource(c, u.entry, []string{"snippet", "status"}))
	}
	rep := &reply{status: http.StatusPermanentRedirect}
	if u.arrived > 0 {
		rep.with("Range", fmt.Sprintf("bytes=0-%d", u.arrived-1))
	}
	return rep
}

// setThumbnail gives a video a picture of its own.
func (y *youtube) setThumbnail(c *call) *reply {
	a, _, v := c.admitByToken(c.bearer(), ytUploads...)
	if v != good {
		return ytVerdict(v)
	}
	c.params.values = c.r.URL.Query()
	if no := y.only(c, "videoId"); no != nil {
		return no
	}
	return c.do(FollowUp, a, func() *reply {
		e := y.mine(c, a, c.params.get("videoId"))
		data, err := io.ReadAll(io.LimitReader(c.r.Body, ytThumbnail+1))
		b := sorted(data, int64(len(data)))
		switch kind := c.r.Header.Get("Content-Type"); {
		case e == nil:
			return ytError(http.StatusNotFound, "videoNotFound", "The video that you are trying to insert a thumbnail image for cannot be found.")
		case err != nil || len(data) == 0:
			return ytBad("mediaBodyRequired", "The request does not include the image content.")
		case len(data) > ytThumbnail:
			return ytError(http.StatusRequestEntityTooLarge, "badRequest", "The image is too large.")
		case kind != b.mime || b.mime != "image/jpeg" && b.mime != "image/png":
			return ytBad("imageFormatUnsupported", "The image format is unsupported.")
		case !b.whole():
			return ytBad("invalidImage", "The provided image content is invalid.")
		}
		media := c.keepMedia(b, "")
		e.read(func() { e.private["cover"] = media.path })
		return answer(http.StatusOK, map[string]any{"kind": "youtube#thumbnailSetResponse", "items": []any{map[string]any{"default": map[string]any{"url": c.base() + media.path}}}})
	})
}
