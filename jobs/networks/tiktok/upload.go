package tiktok

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

const (
	piece    = 5 << 20          // the least that TikTok takes as a piece, so that the last one is small
	lasts    = 50 * time.Minute // an upload's address is good for an hour
	spreads  = 2 * time.Minute  // TikTok may not know a new publish by its id at once
	spare    = 75 * time.Second
	pullable = 2 // times that files are offered which TikTok could not fetch
)

// upload is one way of a post to TikTok.
type upload struct {
	*Adapter
	job networks.Job
	h   networks.Handles
}

func (u *upload) prepare(ctx context.Context) (map[string]string, error) {
	var arrived int64
	if u.h.Get(publish) != "" {
		at, bytes, err := u.earlier(ctx)
		if err != nil || at == accepting {
			return map[string]string{publish: u.h.Get(publish), live: "true"}, err
		}
		arrived = bytes
	}
	if err := u.allowed(ctx); err != nil || pulled(u.job) {
		return nil, err
	}
	if u.h.Get(publish) == "" {
		if err := u.announce(ctx); err != nil {
			return nil, err
		}
	}
	return u.send(ctx, arrived)
}

// where is what an earlier publish leaves to do.
type where string

const (
	accepting where = "accepted" // TikTok has it all, and works on it or has published it
	sending   where = "sending"  // bytes are missing
	nothing   where = "nothing"  // there is none any more
)

// earlier looks at the publish of a former run, and says how many bytes have
// arrived. One that failed is forgotten, and the reason is the fault.
func (u *upload) earlier(ctx context.Context) (where, int64, error) {
	s, err := u.status(ctx, u.job, httpx.Prepare, u.h.Get(publish))
	switch {
	case lost(err) && u.age() < spreads: // all of it may be there
		return nothing, 0, fault.Wait(10*time.Second, "not_visible", "TikTok does not know the upload yet; Herald asks again.")
	case lost(err):
		return nothing, 0, u.forget(nil)
	case err != nil:
		return nothing, 0, err
	case s.Status == failed:
		return nothing, 0, u.forget(reason(s.Fail, u.job.Attempt))
	case s.Status != sendingState:
		return accepting, 0, nil
	case u.old():
		return nothing, 0, u.forget(nil)
	}
	return sending, s.Arrived, nil
}

// forget drops the publish, so that the next run begins a new one.
func (u *upload) forget(f *fault.Fault) error {
	networks.Forget(u.h, publish, begun, target)
	if f == nil {
		return nil
	}
	return f
}

// old says that the address of the upload is about to end.
func (u *upload) old() bool {
	return u.age() > lasts || u.h.Get(target) == ""
}

// age is how long ago the publish was announced; very long if nobody knows.
func (u *upload) age() time.Duration {
	at, err := time.Parse(time.RFC3339, u.h.Get(begun))
	if err != nil {
		return math.MaxInt64
	}
	return u.now().Sub(at)
}

// allowed asks what the creator's account allows now.
func (u *upload) allowed(ctx context.Context) error {
	may, err := u.creator(ctx, u.job, httpx.Prepare)
	if err != nil {
		return err
	}
	post, longest := u.job.Post, time.Duration(may.Longest)*time.Second
	switch {
	case len(may.Privacy) > 0 && !slices.Contains(may.Privacy, post.Options[network.OptPrivacy]):
		return fault.New(fault.Validation, "privacy_level", "This account does not let posts be seen by those that were chosen. Choose others.")
	case post.Format == network.FormatVideo && longest > 0 && post.Media[0].Duration > longest:
		return fault.New(fault.Validation, "video_too_long", fmt.Sprintf("This account takes videos of up to %d seconds. Cut it shorter.", may.Longest))
	}
	return nil
}

// announce tells TikTok what bytes will come. Nothing is public before the last
// of them, and before that one its name is written with the move to in flight. One
// that a crash forgets becomes nothing.
func (u *upload) announce(ctx context.Context) error {
	size := u.job.Post.Media[0].Bytes
	source := source{Source: "FILE_UPLOAD", Size: size, Piece: min(size, piece), Pieces: max(size/piece, 1)}
	var made struct {
		Data announced `json:"data"`
	}
	answer, err := u.door.Do(ctx, u.post(u.job, httpx.Prepare, "post/publish/video/init/", videoInit{u.info(), source}), &made)
	if err != nil {
		return err
	}
	if made.Data.ID == "" || networks.WebOnly(made.Data.Upload) == "" {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	networks.NoteAll(u.h, begun, u.now().UTC().Format(time.RFC3339), target, made.Data.Upload, publish, made.Data.ID)
	return nil
}

// send sends the pieces but for the last, from where TikTok says that it is.
func (u *upload) send(ctx context.Context, arrived int64) (map[string]string, error) {
	size := u.job.Post.Media[0].Bytes
	last := max(size/piece-1, 0) * piece
	at := min(max(arrived, 0), last) / piece * piece
	file := httpx.Pieces{Open: u.job.Post.Media[0].Open}
	defer file.Close()
	for ; at < last; at += piece {
		if end, limited := ctx.Deadline(); limited && time.Until(end) < spare {
			return nil, fault.Wait(time.Second, "uploading", "The video is on its way to TikTok.")
		}
		if _, err := u.put(ctx, httpx.Prepare, u.h.Get(target), &file, at, at+piece); err != nil {
			return nil, err
		}
		if at == 0 && at+piece < last { // so much is not sent twice
			if err := u.h.Checkpoint(ctx, publish, u.h.Get(publish)); err != nil {
				return nil, err
			}
		}
	}
	return map[string]string{publish: u.h.Get(publish), target: u.h.Get(target), from: strconv.FormatInt(at, 10)}, nil
}

// finish sends the last piece.
func (u *upload) finish(ctx context.Context, handles map[string]string) error {
	at, err := strconv.ParseInt(handles[from], 10, 64)
	size := u.job.Post.Media[0].Bytes
	if err != nil || at < 0 || at >= size {
		return fault.New(fault.Transient, "upload_span", "Herald lost count of the upload; it asks TikTok how far it is.")
	}
	file := httpx.Pieces{Open: u.job.Post.Media[0].Open}
	defer file.Close()
	whole, err := u.put(ctx, httpx.Commit, handles[target], &file, at, size)
	switch {
	case err != nil:
		return err
	case !whole:
		return fault.New(fault.Transient, "upload_incomplete", "TikTok does not have the whole video yet; Herald sends the rest.")
	}
	return accepted()
}

// put sends a piece and says whether TikTok has the whole file now.
func (u *upload) put(ctx context.Context, step httpx.Step, to string, file *httpx.Pieces, at, end int64) (whole bool, err error) {
	m := u.job.Post.Media[0]
	body, err := file.Piece(ctx, at, end)
	if err != nil {
		return false, &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read the video; it tries again.", Cause: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to, body)
	if err != nil {
		return false, fault.New(fault.Transient, "upload_address", "Herald lost the address of the upload.")
	}
	req.ContentLength = end - at
	req.Header.Set("Content-Type", m.Type)
	req.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, end-1, m.Bytes))
	answer, err := u.client(to).Do(ctx, u.job.Trail, step, req)
	if err != nil {
		return false, err
	}
	return u.taken(step, answer)
}

// client is the plain one for where the configuration says that TikTok is, and the
// guarded one for any other address that TikTok hands out.
func (u *upload) client(to string) *httpx.Client {
	there, err := url.Parse(to)
	home, bad := url.Parse(u.home)
	if err == nil && bad == nil && there.Scheme == home.Scheme && there.Host == home.Host {
		return u.door.HTTP
	}
	return u.guarded
}

// taken reads the answer of the upload host, which has no body of its own.
func (u *upload) taken(step httpx.Step, answer *httpx.Answer) (whole bool, err error) {
	if _, told := read(answer); told {
		if f := u.door.Table.Sort(step, u.job.Attempt, answer); f != nil {
			return false, f
		}
	}
	again := func(say string) error {
		f := fault.New(fault.Transient, "upload_"+strconv.Itoa(answer.Status), say)
		f.Status, f.RequestID = answer.Status, answer.RequestID
		return f
	}
	switch answer.Status {
	case http.StatusCreated:
		return true, nil
	case http.StatusPartialContent:
		return false, nil
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return false, again("The upload to TikTok has ended; Herald begins it anew.")
	case http.StatusRequestedRangeNotSatisfiable:
		return false, again("TikTok lost count of the upload; Herald asks how far it is.")
	}
	if answer.OK() {
		return false, httpx.Unparsable(step, answer)
	}
	f := httpx.Sort(step, answer)
	if step == httpx.Commit && f.Kind != fault.RateLimited && f.Kind != fault.Transient {
		f.Kind, f.Say = fault.Unknown, "The answer did not come from TikTok itself, so the post may be on its way or not."
	}
	return false, f
}

// announcePull tells TikTok what to fetch, which makes the post.
func (u *upload) announcePull(ctx context.Context) error {
	path, body := u.pull()
	var made struct {
		Data announced `json:"data"`
	}
	answer, err := u.door.Do(ctx, u.post(u.job, httpx.Commit, path, body), &made)
	if err != nil {
		return err
	}
	if made.Data.ID == "" {
		return httpx.Unparsable(httpx.Commit, answer)
	}
	networks.NoteAll(u.h, begun, u.now().UTC().Format(time.RFC3339), publish, made.Data.ID) // the result follows, and is written with them
	return accepted()
}
