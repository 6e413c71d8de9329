package x

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

func media(i int) string       { return "media." + strconv.Itoa(i) }
func mediaAt(i int) string     { return media(i) + ".at" }
func mediaSent(i int) string   { return media(i) + ".sent" }
func mediaSealed(i int) string { return media(i) + ".sealed" }
func mediaAsked(i int) string  { return media(i) + ".asked" }
func mediaReady(i int) string  { return media(i) + ".ready" }

const (
	segment  = 1 << 20          // bytes; larger ones were cut off on their way
	atOnce   = 64               // segments sent in one run, so that a long film lets others through
	lives    = 23 * time.Hour   // an upload that no post holds runs out after a day
	patience = 30 * time.Minute // with one upload that is being worked on
	usually  = 5 * time.Second  // between two looks where X does not say
)

// upload brings the files of a job to X. Its handles are noted: what no post holds
// runs out unseen, and a segment that is sent again replaces itself. A long film
// ends its run in Waiting every atOnce segments, so no more than those are lost.
type upload struct {
	*Adapter
	job networks.Job
	h   networks.Handles
	new map[int]bool // files whose upload this run began
}

// all returns the ids of the files once all can be attached.
func (u upload) all(ctx context.Context) (ids []string, err error) {
	for i := range u.job.Post.Media {
		if err := u.ensure(ctx, i); err != nil {
			return nil, err
		}
		ids = append(ids, u.h.Get(media(i)))
	}
	return ids, nil
}

// ensure goes on with file i where an earlier run stopped.
func (u upload) ensure(ctx context.Context, i int) error {
	if u.h.Get(media(i)) != "" && u.age(i) > lives {
		u.forget(i)
	}
	for _, step := range []struct {
		done string
		do   func(context.Context, int) error
	}{{media(i), u.begin}, {mediaSealed(i), u.send}, {mediaReady(i), u.finish}} {
		if u.h.Get(step.done) != "" {
			continue
		}
		if err := step.do(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// age is how long ago the upload of file i was begun.
func (u upload) age(i int) time.Duration {
	at, err := time.Parse(time.RFC3339, u.h.Get(mediaAt(i)))
	if err != nil {
		return 2 * lives
	}
	return u.now().Sub(at)
}

func (u upload) forget(i int) {
	networks.Forget(u.h, mediaReady(i), mediaSealed(i), mediaAsked(i), mediaSent(i), media(i))
}

// again gives an upload up, so that the next run makes a new one.
func (u upload) again(i int, why error) error {
	u.forget(i)
	return why
}

// uploaded is what X says of an upload.
type uploaded struct {
	Data struct {
		ID         string      `json:"id"`
		Processing *processing `json:"processing_info"`
	} `json:"data"`
}

type processing struct {
	State string  `json:"state"`
	Wait  float64 `json:"check_after_secs"`
	Error struct {
		Message string `json:"message"`
		Name    string `json:"name"`
	} `json:"error"`
}

// begin announces file i.
func (u upload) begin(ctx context.Context, i int) error {
	m := u.job.Post.Media[i]
	if m.Open == nil {
		return fault.New(fault.Validation, "media_missing", "The file of "+u.what(i)+" is missing. Attach it again.")
	}
	body := map[string]any{"media_type": m.Type, "total_bytes": m.Bytes, "media_category": category(m)}
	var made uploaded
	answer, err := u.door.Do(ctx, call(u.job, httpx.Prepare, http.MethodPost, "2/media/upload/initialize", body), &made)
	if err != nil {
		return err
	}
	if !isID(made.Data.ID) {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	u.new[i] = true
	networks.NoteAll(u.h, mediaAt(i), u.now().UTC().Format(time.RFC3339), media(i), made.Data.ID)
	return nil
}

func category(m networks.Media) string {
	switch {
	case m.Kind == network.Video:
		return "tweet_video"
	case m.Type == "image/gif":
		return "tweet_gif"
	}
	return "tweet_image"
}

// send brings the segments that are not there yet, then seals the upload.
func (u upload) send(ctx context.Context, i int) error {
	m := u.job.Post.Media[i]
	file := httpx.Pieces{Open: m.Open}
	defer file.Close()
	sent, _ := strconv.ParseInt(u.h.Get(mediaSent(i)), 10, 64)
	for n := 0; sent*segment < m.Bytes; n++ {
		if n == atOnce {
			return fault.Wait(time.Second, "uploading", "The upload of "+u.what(i)+" to X goes on.")
		}
		if err := u.append(ctx, i, &file, sent); err != nil {
			return err
		}
		sent++
		u.h.Note(mediaSent(i), strconv.FormatInt(sent, 10))
	}
	return u.seal(ctx, i)
}

// append sends one segment. Sending it again replaces it.
func (u upload) append(ctx context.Context, i int, file *httpx.Pieces, n int64) error {
	from := n * segment
	to := min(from+segment, u.job.Post.Media[i].Bytes)
	c := call(u.job, httpx.Prepare, http.MethodPost, "2/media/upload/"+u.h.Get(media(i))+"/append", nil)
	c.Form = url.Values{"segment_index": {strconv.FormatInt(n, 10)}}
	c.Files = []httpx.File{{Field: "media", Name: "segment", Type: "application/octet-stream", Size: to - from,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return file.Piece(ctx, from, to) }}}
	answer, err := u.door.Do(ctx, c, nil)
	switch f := fault.Of(err); {
	case f != nil && f.Kind == fault.Validation:
		return u.again(i, u.about(i, f))
	case f != nil:
		return f
	case !hasData(answer):
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	return nil
}

// seal tells X that all segments are there. An earlier run may have told it, and
// X takes that once, so that is asked first.
func (u upload) seal(ctx context.Context, i int) error {
	if u.h.Get(mediaAsked(i)) != "" {
		now, err := u.status(ctx, i)
		if err == nil {
			return u.sealed(i, now.Data.Processing)
		}
		if f := fault.Of(err); f.Kind != fault.Validation {
			return f
		}
	}
	if err := u.mark(ctx, i); err != nil {
		return err
	}
	return u.finalize(ctx, i)
}

// mark keeps that X is about to be told; if that is lost, the upload is made anew. Of
// one that this run began it is noted, since the upload would be lost with it.
func (u upload) mark(ctx context.Context, i int) error {
	if u.new[i] {
		u.h.Note(mediaAsked(i), "true")
		return nil
	}
	return u.h.Checkpoint(ctx, mediaAsked(i), "true")
}

// finalize makes the call that X takes once. X wants an object, if an empty one.
func (u upload) finalize(ctx context.Context, i int) error {
	var made uploaded
	c := call(u.job, httpx.Prepare, http.MethodPost, "2/media/upload/"+u.h.Get(media(i))+"/finalize", struct{}{})
	answer, err := u.door.Do(ctx, c, &made)
	switch f := fault.Of(err); {
	case f != nil && f.Kind == fault.Validation:
		return u.again(i, u.about(i, f))
	case f != nil:
		return f
	case made.Data.ID != u.h.Get(media(i)):
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	return u.sealed(i, made.Data.Processing)
}

func (u upload) sealed(i int, p *processing) error {
	if p == nil {
		u.h.Note(mediaSealed(i), "ready")
		return nil
	}
	u.h.Note(mediaSealed(i), "pending")
	return wait(p)
}

// status asks how an upload is.
func (u upload) status(ctx context.Context, i int) (now uploaded, err error) {
	c := call(u.job, httpx.Prepare, http.MethodGet, "2/media/upload", nil)
	c.Query = url.Values{"command": {"STATUS"}, "media_id": {u.h.Get(media(i))}}
	answer, err := u.door.Do(ctx, c, &now)
	if err == nil && now.Data.ID == "" {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	return now, err
}

// finish waits until X has worked on file i, and describes it.
func (u upload) finish(ctx context.Context, i int) error {
	if u.h.Get(mediaSealed(i)) == "pending" {
		if err := u.look(ctx, i); err != nil {
			return err
		}
	}
	if err := u.describe(ctx, i); err != nil {
		return err
	}
	u.h.Note(mediaReady(i), "true")
	return nil
}

func (u upload) look(ctx context.Context, i int) error {
	now, err := u.status(ctx, i)
	switch f := fault.Of(err); {
	case f != nil && f.Kind == fault.Validation:
		return u.again(i, u.about(i, f))
	case f != nil:
		return f
	}
	p := now.Data.Processing
	switch {
	case p == nil, p.State == "succeeded":
		u.h.Note(mediaSealed(i), "ready")
		return nil
	case p.State == "failed":
		return u.failed(i, p)
	case u.age(i) > patience:
		return u.again(i, fault.New(fault.Transient, "media_stuck", "X did not finish with "+u.what(i)+"; Herald sends it again."))
	}
	return wait(p)
}

func wait(p *processing) error {
	d := httpx.CapWait(time.Duration(min(p.Wait, 3600) * float64(time.Second)))
	return fault.Wait(cmp.Or(d, usually), "media_processing", "X is still working on the media.")
}

func (u upload) failed(i int, p *processing) error {
	u.forget(i)
	say := "X could not use " + u.what(i) + "."
	if theirs := httpx.SafeText(p.Error.Message); theirs != "" {
		say += " X says: " + theirs + "."
	}
	return fault.New(fault.Validation, "media_failed", say)
}

// describe adds the description of a picture.
func (u upload) describe(ctx context.Context, i int) error {
	m := u.job.Post.Media[i]
	if m.Alt == "" || m.Kind == network.Video {
		return nil
	}
	body := map[string]any{"id": u.h.Get(media(i)), "metadata": map[string]any{"alt_text": map[string]string{"text": m.Alt}}}
	answer, err := u.door.Do(ctx, call(u.job, httpx.Prepare, http.MethodPost, "2/media/metadata", body), nil)
	if err == nil && !hasData(answer) {
		err = httpx.Unparsable(httpx.Prepare, answer)
	}
	if err != nil {
		return u.about(i, err)
	}
	return nil
}

// about names the file that a refusal is about.
func (u upload) about(i int, err error) error {
	f := *fault.Of(err)
	if f.Kind == fault.Validation {
		f.Say = "X could not use " + u.what(i) + ". " + f.Say
	}
	return &f
}

// what names file i to a person.
func (u upload) what(i int) string {
	kind := string(u.job.Post.Media[i].Kind)
	if len(u.job.Post.Media) == 1 {
		return "the " + kind
	}
	return kind + " " + strconv.Itoa(i+1)
}
