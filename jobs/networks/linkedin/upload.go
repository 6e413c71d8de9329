package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
	"herald/jobs/networks/rest"
)

func media(i int) string { return "media." + strconv.Itoa(i) }

// The handles of a file, behind its name.
const (
	plan  = ".plan"  // of a video: where its parts go
	parts = ".parts" // of a video: the tags of those that are there
	sent  = ".sent"  // the whole file is there, and when that was
	ready = ".ready"
)

const (
	part     = 4 << 20 // of a video; the network says so, too, with each part
	atOnce   = 12      // parts of one run, so that others come through
	pause    = 5 * time.Second
	patience = time.Hour // with a file that LinkedIn works on
)

// upload is one way of a post's files to LinkedIn.
type upload struct {
	*Adapter
	job networks.Job
	h   networks.Handles
}

func (u upload) all(ctx context.Context) (map[string]string, error) {
	handles := map[string]string{}
	for i := range u.job.Post.Media {
		if u.h.Get(media(i)+ready) == "" {
			if err := u.send(ctx, i); err != nil {
				return nil, err
			}
		}
	}
	for i := range u.job.Post.Media {
		if u.h.Get(media(i)+ready) == "" {
			if err := u.look(ctx, i); err != nil {
				return nil, err
			}
		}
		handles[media(i)] = u.h.Get(media(i))
	}
	return handles, nil
}

func (u upload) film(i int) bool { return u.job.Post.Media[i].Kind == network.Video }

// kind is what LinkedIn calls the files of that sort.
func (u upload) kind(i int) string {
	switch u.job.Post.Media[i].Kind {
	case network.Video:
		return "videos"
	case network.Document:
		return "documents"
	}
	return "images"
}

func (u upload) send(ctx context.Context, i int) error {
	switch {
	case u.h.Get(media(i)+sent) != "":
		return nil
	case u.film(i):
		return u.sendFilm(ctx, i)
	}
	begun, err := u.begin(ctx, i, map[string]any{"owner": u.job.Account.RemoteID})
	if err != nil {
		return err
	}
	body, err := u.job.Post.Media[i].Open(ctx)
	if err != nil {
		return unreadable(err)
	}
	if _, err := u.put(ctx, i, begun.URL, &rest.Body{ReadCloser: body, Length: u.job.Post.Media[i].Bytes, Type: u.job.Post.Media[i].Type}); err != nil {
		return err
	}
	networks.NoteAll(u.h, media(i), begun.whole(), media(i)+sent, u.stamp()) // a file that no post shows may be there twice
	return nil
}

// begun is where a file goes and what it is called.
type begun struct {
	URL      string `json:"uploadUrl"`
	Image    string `json:"image"`
	Document string `json:"document"`
	Video    string `json:"video"`
	Token    string `json:"uploadToken"`
	Parts    []struct {
		URL   string `json:"uploadUrl"`
		First int64  `json:"firstByte"`
		Last  int64  `json:"lastByte"`
	} `json:"uploadInstructions"`
}

// whole is what a file is called that goes in one piece.
func (b begun) whole() string { return cmp.Or(b.Image, b.Document) }

func (u upload) begin(ctx context.Context, i int, ask map[string]any) (begun, error) {
	var made struct {
		Value begun `json:"value"`
	}
	c := u.call(u.job, httpx.Prepare, http.MethodPost, "rest/"+u.kind(i), map[string]any{"initializeUploadRequest": ask})
	c.Query = url.Values{"action": {"initializeUpload"}}
	answer, err := u.door.Do(ctx, c, &made)
	v := made.Value
	if err == nil && (v.whole() == "" || v.URL == "") && (v.Video == "" || len(v.Parts) == 0) {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	return v, about(i, u.job, err)
}

func (u upload) put(ctx context.Context, i int, to string, body *rest.Body) (*httpx.Answer, error) {
	c := rest.From(u.job, httpx.Prepare, http.MethodPut, "")
	c.Address, c.Body = to, body
	answer, err := u.door.Do(ctx, c, nil)
	return answer, about(i, u.job, err)
}

// sendFilm sends a video part by part. An address takes one part once: what broke
// off begins anew. So each part's tag is saved, which costs little beside its bytes.
func (u upload) sendFilm(ctx context.Context, i int) error {
	size := u.job.Post.Media[i].Bytes
	if u.h.Get(media(i)) == "" {
		if err := u.planFilm(ctx, i, size); err != nil {
			return err
		}
	}
	var to begun
	if err := json.Unmarshal([]byte(u.h.Get(media(i)+plan)), &to); err != nil {
		return u.again(i, fault.New(fault.Transient, "upload_lost", "Herald lost track of the upload; it begins anew."))
	}
	tags := strings.Fields(u.h.Get(media(i) + parts))
	if err := u.sendParts(ctx, i, to, &tags); err != nil {
		return err
	}
	return u.seal(ctx, i, to, tags)
}

// broken forgets the parts of a video, and makes a refusal of one something that
// may be tried again: its address was used up, or has run out.
func (u upload) broken(i int, err error) error {
	f := *fault.Of(err)
	if f.Kind == fault.Validation {
		f.Kind, f.Say = fault.Transient, "The upload of the video broke off; Herald begins it anew."
	}
	return u.again(i, &f)
}

func (u upload) planFilm(ctx context.Context, i int, size int64) error {
	to, err := u.begin(ctx, i, map[string]any{"owner": u.job.Account.RemoteID, "fileSizeBytes": size, "uploadCaptions": false, "uploadThumbnail": false})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(to)
	if err != nil {
		return err
	}
	networks.NoteAll(u.h, media(i)+parts, "", media(i)+plan, string(raw), media(i), to.Video)
	return nil
}

func (u upload) sendParts(ctx context.Context, i int, to begun, tags *[]string) error {
	m := u.job.Post.Media[i]
	pieces := httpx.Pieces{Open: m.Open}
	defer pieces.Close()
	for n := range to.Parts[min(len(*tags), len(to.Parts)):] {
		if n == atOnce {
			return fault.Wait(time.Second, "uploading", "The video is on its way to LinkedIn.")
		}
		p := to.Parts[len(*tags)]
		body, err := pieces.Piece(ctx, p.First, p.Last+1)
		if err != nil {
			return unreadable(err)
		}
		answer, err := u.put(ctx, i, p.URL, &rest.Body{ReadCloser: body, Length: p.Last + 1 - p.First, Type: "application/octet-stream"})
		if err != nil {
			return u.broken(i, err)
		}
		tag := strings.Trim(answer.Header.Get("ETag"), `"`)
		if tag == "" || strings.ContainsAny(tag, " \t") {
			return u.again(i, httpx.Unparsable(httpx.Prepare, answer))
		}
		*tags = append(*tags, tag)
		if err := u.h.Checkpoint(ctx, media(i)+parts, strings.Join(*tags, " ")); err != nil {
			return err
		}
	}
	return nil
}

// seal tells LinkedIn that all parts are there. An earlier run may have told it,
// so that is asked first.
func (u upload) seal(ctx context.Context, i int, to begun, tags []string) error {
	state, err := u.state(ctx, i)
	if f := fault.Of(err); f != nil && f.Kind != fault.Permission {
		return f
	}
	if err != nil || state == waitingUpload {
		c := u.call(u.job, httpx.Prepare, http.MethodPost, "rest/videos", map[string]any{"finalizeUploadRequest": map[string]any{
			"video": u.h.Get(media(i)), "uploadToken": to.Token, "uploadedPartIds": tags}})
		c.Query = url.Values{"action": {"finalizeUpload"}}
		answer, err := u.door.Do(ctx, c, nil)
		if err == nil && strings.HasPrefix(strings.TrimSpace(string(answer.Body)), "<") {
			err = httpx.Unparsable(httpx.Prepare, answer)
		}
		if err != nil {
			return about(i, u.job, err)
		}
	}
	u.h.Note(media(i)+sent, u.stamp())
	return nil
}

// The states of a file.
const (
	waitingUpload = "WAITING_UPLOAD"
	available     = "AVAILABLE"
	unusable      = "PROCESSING_FAILED"
)

func (u upload) state(ctx context.Context, i int) (string, error) {
	var now struct {
		Status string `json:"status"`
	}
	c := u.call(u.job, httpx.Prepare, http.MethodGet, "rest/"+u.kind(i)+"/"+url.PathEscape(u.h.Get(media(i))), nil)
	answer, err := u.door.Do(ctx, c, &now)
	if err == nil && now.Status == "" {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	return now.Status, err
}

// look asks how a file is. An app that may only write may not ask: then the post
// is tried, and LinkedIn says if the file is not ready.
func (u upload) look(ctx context.Context, i int) error {
	state, err := u.state(ctx, i)
	switch f := fault.Of(err); {
	case f != nil && f.Kind == fault.Permission && u.age(i) < pause:
		return u.wait(i)
	case f != nil && f.Kind == fault.Permission:
		u.h.Note(media(i)+ready, "unasked")
		return nil
	case f != nil && f.Kind == fault.Validation:
		return u.again(i, fault.New(fault.Transient, "media_gone", "LinkedIn no longer has the upload; Herald sends it again."))
	case f != nil:
		return f
	case state == available:
		u.h.Note(media(i)+ready, "true")
		return nil
	case state == unusable:
		return u.again(i, about(i, u.job, fault.New(fault.Validation, "media_failed", "LinkedIn could not work on the file.")))
	case u.age(i) > patience:
		return u.again(i, fault.New(fault.Transient, "media_stuck", "LinkedIn did not finish with the file; Herald sends it again."))
	}
	return u.wait(i)
}

func (u upload) wait(i int) error {
	d := pause
	if u.age(i) > time.Minute {
		d = 6 * pause
	}
	return fault.Wait(d, "media_processing", "LinkedIn is still working on the media.")
}

func (u upload) stamp() string { return u.now().UTC().Format(time.RFC3339) }

func (u upload) age(i int) time.Duration {
	at, err := time.Parse(time.RFC3339, u.h.Get(media(i)+sent))
	if err != nil {
		return patience + time.Second
	}
	return u.now().Sub(at)
}

// again forgets a file, so that the next run sends it anew, and returns why.
func (u upload) again(i int, why error) error {
	networks.Forget(u.h, media(i)+parts, media(i)+plan, media(i)+sent, media(i)+ready, media(i))
	return why
}

func unreadable(err error) error {
	return &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read a file; it tries again.", Cause: err}
}

// about names the file that a refusal is about.
func about(i int, job networks.Job, err error) error {
	if err == nil {
		return nil
	}
	f := *fault.Of(err)
	if f.Kind == fault.Validation && len(job.Post.Media) > 1 {
		f.Say = "File " + strconv.Itoa(i+1) + ": " + f.Say
	}
	return &f
}
