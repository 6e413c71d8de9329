package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

// video is an upload of a Page, and later the video, reel or story it became.
// owner.mu guards what changes.
type video struct {
	id    string
	kind  string // video, reel or story
	owner *account

	size   int64  // announced; 0 if not
	got    int64  // bytes received
	data   []byte // the first of them
	media  Media
	whole  bool   // the upload is complete
	post   *entry // nil until it is finished
	looks  int    // times its status was asked for since
	failed string // what went wrong with it
}

const (
	videoBytes = 10_000_000_000
	videoTitle = 255 // characters as people see them
	chunkBytes = 4 << 20
	reelsADay  = 30
)

var videoParams = []string{
	"file_url", "source", "title", "description", "thumb", "published", "scheduled_publish_time",
	"upload_phase", "file_size", "upload_session_id", "start_offset", "video_file_chunk",
}

func (fb *facebook) createVideo(c *call) *reply {
	a, g, no := fb.page(c, "pages_manage_posts", "form", "json", "multipart")
	if no != nil {
		return no
	}
	if no := c.graphOnly(videoParams...); no != nil {
		return no
	}
	switch c.params.get("upload_phase") {
	case "":
		return c.do(Commit, a, func() *reply { return fb.makeVideo(c, a, g) })
	case "start":
		return c.do(Prepare, a, func() *reply { return fb.startVideo(c, a) })
	case "transfer":
		return c.do(Prepare, a, func() *reply { return fb.transferVideo(c, a) })
	case "finish":
		return c.do(Commit, a, func() *reply { return fb.finishVideo(c, a, g) })
	}
	return graphBad("upload_phase is start, transfer or finish.")
}

func (fb *facebook) makeVideo(c *call, a *account, g *grant) *reply {
	b, no := fb.bytes(c, "file_url", "source", videoBytes)
	if no != nil {
		return no
	}
	if no := videoFile(b, "video"); no != nil {
		return no
	}
	v := fb.newVideo(c, a, "video")
	v.complete(c, b)
	return fb.publishVideo(c, a, g, v, map[string]any{"id": v.id})
}

func (fb *facebook) newVideo(c *call, a *account, kind string) *video {
	v := &video{id: strconv.FormatInt(c.sim.next(), 10), kind: kind, owner: a}
	c.st.at(a.network).objects.Store(v.id, v)
	return v
}

// videoFile refuses what is no MP4 or QuickTime film, or, as far as its header
// tells, does not do for its kind.
func videoFile(b blob, kind string) *reply {
	most := map[string]time.Duration{"video": 4 * time.Hour, "reel": 90 * time.Second, "story": time.Minute}[kind]
	least := map[string]time.Duration{"video": time.Second, "reel": 3 * time.Second, "story": time.Second}[kind]
	switch {
	case b.long > 0 && b.long < least:
		return graphError(http.StatusBadRequest, 6000, 1363025, fmt.Sprintf("(#6000) The video is shorter than %s.", least))
	case b.long > most:
		return graphError(http.StatusBadRequest, 6000, 1363026, fmt.Sprintf("(#6000) The video is longer than %s.", most))
	case kind == "reel" && b.mime == "video/quicktime":
		return graphError(http.StatusBadRequest, 352, 1363024, "(#352) A reel is an MP4 file.")
	case kind == "reel" && b.width > 0 && !reelShape(b):
		return graphError(http.StatusBadRequest, 6000, 1363024, "(#6000) A reel is 9:16, and 540 x 960 pixels or more.")
	case b.size == 0:
		return graphError(http.StatusBadRequest, 382, 1363020, "(#382) The video file is empty.")
	case b.mime != "video/mp4" && b.mime != "video/quicktime":
		return graphError(http.StatusBadRequest, 352, 1363024, "(#352) Sorry, the video file you selected is in a format that we don't support.")
	case b.size > videoBytes:
		return graphError(http.StatusBadRequest, 6000, 1363023, "(#6000) The video file is too large.")
	}
	return nil
}

// reelShape allows half a percent, as the nearest whole pixels need.
func reelShape(b blob) bool {
	shape := float64(b.width) / float64(b.height) * 16 / 9
	return b.width >= 540 && b.height >= 960 && shape > 0.995 && shape < 1.005
}

// publishVideo makes the post of an ordinary video.
func (fb *facebook) publishVideo(c *call, a *account, g *grant, v *video, out map[string]any) *reply {
	when, no := fb.timing(c, 180*24*time.Hour)
	if no != nil {
		return no
	}
	if no := fb.described(c); no != nil {
		return no
	}
	e := fb.post(c, a, g, "video", c.params.get("description"), when)
	e.Title, e.Media = c.params.get("title"), []Media{v.media}
	e.private["targets"] = v.id
	if no := fb.store(c, a, e); no != nil {
		return no
	}
	e.read(func() { v.post = e })
	return fb.answered(c, e, out)
}

// described checks the words beside a video or a reel.
func (fb *facebook) described(c *call) *reply {
	if n := uniseg.GraphemeClusterCount(c.params.get("title")); n > videoTitle {
		return graphBad("title has %d characters; %d are allowed.", n, videoTitle)
	}
	return fb.text("description", c.params.get("description"))
}

func (fb *facebook) startVideo(c *call, a *account) *reply {
	size, err := strconv.ParseInt(c.params.get("file_size"), 10, 64)
	if err != nil || size < 1 || size > videoBytes {
		return graphBad("file_size is the number of bytes of the file.")
	}
	v := fb.newVideo(c, a, "video")
	v.size = size
	return answer(http.StatusOK, map[string]any{
		"upload_session_id": "s" + v.id, "video_id": v.id,
		"start_offset": "0", "end_offset": strconv.FormatInt(min(size, chunkBytes), 10),
	})
}

// session finds the upload that upload_session_id names.
func (fb *facebook) session(c *call, a *account) (*video, *reply) {
	id := strings.TrimPrefix(c.params.get("upload_session_id"), "s")
	v, ok := thing[*video](c.st.at(a.network), id)
	if !ok || v.owner != a || v.kind != "video" || v.size == 0 {
		return nil, graphError(http.StatusBadRequest, 6001, 1363041, "(#6001) This upload session has expired.")
	}
	return v, nil
}

func (fb *facebook) transferVideo(c *call, a *account) *reply {
	v, no := fb.session(c, a)
	if no != nil {
		return no
	}
	chunk, err := c.params.file("video_file_chunk")
	if err != nil || len(chunk) == 0 {
		return graphBad("The parameter video_file_chunk is required.")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.params.get("start_offset") != strconv.FormatInt(v.got, 10) || v.got+int64(len(chunk)) > v.size {
		return graphError(http.StatusBadRequest, 6001, 1363037, "(#6001) The start offset is not the one expected.")
	}
	v.take(chunk)
	return answer(http.StatusOK, map[string]any{
		"start_offset": strconv.FormatInt(v.got, 10), "end_offset": strconv.FormatInt(min(v.size, v.got+chunkBytes), 10),
	})
}

// take adds bytes to an upload. owner.mu is held.
func (v *video) take(chunk []byte) {
	v.got += int64(len(chunk))
	if room := keptPart - len(v.data); room > 0 {
		v.data = append(v.data, chunk[:min(room, len(chunk))]...)
	}
}

// complete ends the upload.
func (v *video) complete(c *call, b blob) {
	media := c.keepMedia(b, "")
	v.owner.mu.Lock()
	defer v.owner.mu.Unlock()
	v.media, v.whole, v.got, v.size = media, true, b.size, b.size
}

func (fb *facebook) finishVideo(c *call, a *account, g *grant) *reply {
	v, no := fb.session(c, a)
	if no != nil {
		return no
	}
	a.mu.Lock()
	b, complete, done := sorted(v.data, v.got), v.got == v.size, v.post != nil
	a.mu.Unlock()
	switch {
	case done:
		return graphBad("This video was published already.")
	case !complete:
		return graphError(http.StatusBadRequest, 6001, 1363045, "(#6001) The bytes received differ from file_size.")
	}
	if no := videoFile(b, "video"); no != nil {
		return no
	}
	v.complete(c, b)
	return fb.publishVideo(c, a, g, v, map[string]any{"success": true})
}

// status is what a Page hears of a video. Each look brings its processing on.
func (fb *facebook) status(c *call, v *video) map[string]any {
	f := c.sim.faults.take(c, asyncKinds)
	v.owner.mu.Lock()
	defer v.owner.mu.Unlock()
	phase := map[string]any{"status": "in_progress"}
	publishing := map[string]any{"status": "not_started"}
	state := "processing"
	if v.post != nil {
		v.looks++
	}
	switch {
	case v.failed != "" || f != nil && f.Kind == AsyncError:
		v.fail(c, f)
		state = "error"
		phase = map[string]any{"status": "error", "error": map[string]any{"message": v.failed}}
	case !v.whole:
		state, phase = "uploading", map[string]any{"status": "not_started"}
	case v.post == nil:
		state, phase = "upload_complete", map[string]any{"status": "not_started"}
	case f == nil && v.looks > c.sim.Knobs().VideoPolls:
		state, phase = "ready", map[string]any{"status": "complete"}
		publishing = map[string]any{
			"status": "complete", "publish_status": "published", "publish_time": v.post.Time.Format(graphTime),
		}
	}
	uploading := map[string]any{"status": "complete", "bytes_transfered": v.got, "source_file_size": max(v.size, v.got)}
	if !v.whole {
		uploading["status"] = "in_progress"
	}
	return map[string]any{
		"video_status": state, "uploading_phase": uploading, "processing_phase": phase, "publishing_phase": publishing,
	}
}

// fail ends a video, and the post it was to be. owner.mu is held.
func (v *video) fail(c *call, f *Fault) {
	if f != nil {
		c.outcome = string(f.Kind)
		v.failed = "The video could not be processed."
		if f.Body != "" {
			v.failed = f.Body
		}
	}
	if v.post != nil && v.post.gone.IsZero() {
		v.post.gone = c.now
	}
}

// upload is the upload host: bytes with an offset, or an address.
func (fb *facebook) upload(c *call) *reply {
	v, ok := thing[*video](c.st.at(c.place.name), c.r.PathValue("video"))
	token, oauth := strings.CutPrefix(c.r.Header.Get("Authorization"), "OAuth ")
	if !ok || !oauth {
		return uploadError("NotAuthorizedError", "The upload or its token is not known.", false)
	}
	a, _, no := fb.admit(c, v.owner.id, token, "pages_manage_posts")
	if no != nil {
		return no
	}
	return c.do(Prepare, a, func() *reply {
		b, no := uploaded(c)
		if no != nil {
			return no
		}
		if no := videoFile(b, v.kind); no != nil {
			return uploadError("ProcessingFailedError", "The file is no video that can be used here.", false)
		}
		v.complete(c, b)
		return answer(http.StatusOK, map[string]any{"success": true})
	})
}

// uploaded reads what the upload host was sent.
func uploaded(c *call) (blob, *reply) {
	h := c.r.Header
	if address := h.Get("file_url"); address != "" {
		b, err := c.pull(address, videoBytes)
		if err != nil {
			return b, uploadError("ProcessingFailedError", err.Error(), true)
		}
		return b, nil
	}
	size, err := strconv.ParseInt(h.Get("file_size"), 10, 64)
	if err != nil || size < 1 || size > videoBytes {
		return blob{}, uploadError("PartialRequestError", "file_size is the number of bytes of the file.", false)
	}
	if h.Get("offset") != "0" {
		return blob{}, uploadError("OffsetInvalidError", "The offset is not the one expected: 0.", true)
	}
	b, err := readBlob(c.r.Body, 0, videoBytes)
	if err != nil || b.size != size {
		return blob{}, uploadError("PartialRequestError", "The bytes received differ from file_size.", true)
	}
	return b, nil
}

func uploadError(kind, message string, again bool) *reply {
	return answer(http.StatusBadRequest, map[string]any{
		"debug_info": map[string]any{"type": kind, "message": message, "retriable": again},
	})
}

// spentReels counts a Page's reels of the last day. mu is held.
func (a *account) spentReels(now time.Time) int {
	a.sent = recent(a.sent, now.Add(-24*time.Hour))
	return len(a.sent)
}
