package youtube

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/db/network"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// The handles.
const (
	address = "upload"      // of the resumable upload
	from    = "upload.from" // only in a Ready: how much of the file has arrived
	live    = "upload.live" // only in a Ready: an earlier attempt made the video
	covered = "cover"       // the thumbnail is set
	began   = "comment.began"
	comment = "comment"
)

const (
	grain = 256 << 10  // pieces of an upload are multiples of it, but for the last
	piece = 32 * grain // 8 MiB
	spare = 75 * time.Second
)

// session is a resumable upload.
type session struct {
	*Adapter
	job  networks.Job
	h    networks.Handles
	size int64
}

// all but the last piece goes up before the commit.
func (s *session) before() int64 { return (s.size - 1) / grain * grain }

// fill opens the upload unless it is, and sends what has not arrived. An upload
// that YouTube no longer knows is begun anew, once.
func (s *session) fill(ctx context.Context) (map[string]string, error) {
	if s.h.Get(address) != "" {
		at, err := s.probe(ctx, httpx.Prepare, s.h.Get(address))
		switch {
		case at.made != nil:
			return map[string]string{address: s.h.Get(address), live: at.made.ID}, nil
		case err == nil:
			return s.send(ctx, at.arrived)
		case !unknown(err):
			return nil, err
		}
		networks.Forget(s.h, address)
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s.send(ctx, 0)
}

// open tells YouTube what will come. What is wrong with title, tags and the like
// is refused here.
func (s *session) open(ctx context.Context) error {
	m := film(s.job.Post)
	c := s.call(s.job, httpx.Prepare, http.MethodPost, "videos")
	c.Query = url.Values{"uploadType": {"resumable"}, "part": {"snippet,status"}, "notifySubscribers": {value(s.job.Post, network.OptNotify)}}
	c.Header = map[string]string{"X-Upload-Content-Length": strconv.FormatInt(s.size, 10), "X-Upload-Content-Type": m.Type}
	c.JSON = describe(s.job.Post)
	answer, err := s.upload.Do(ctx, c, nil)
	if err != nil {
		return err
	}
	to := answer.Header.Get("Location")
	if !s.ours(to) {
		return httpx.Unparsable(httpx.Prepare, answer)
	}
	s.h.Note(address, to) // written with the move to in flight, or with the first piece of several
	return nil
}

// ours says whether an address that YouTube handed out may be sent the token:
// where uploads go, or another of Google's hosts.
func (a *Adapter) ours(raw string) bool {
	to, err := url.Parse(raw)
	home, bad := url.Parse(a.upload.Base)
	if err != nil || bad != nil || to.Host == "" || to.User != nil {
		return false
	}
	return to.Scheme == home.Scheme && to.Host == home.Host || to.Scheme == "https" && strings.HasSuffix(to.Host, ".googleapis.com")
}

// send brings the upload to where only the last piece is missing. It answers
// Waiting rather than run into the end of its time.
func (s *session) send(ctx context.Context, at int64) (map[string]string, error) {
	file := httpx.Pieces{Open: film(s.job.Post).Open}
	defer file.Close()
	for at < s.before() {
		if end, limited := ctx.Deadline(); limited && time.Until(end) < spare {
			return nil, fault.Wait(time.Second, "uploading", "The video is on its way to YouTube.")
		}
		got, err := s.put(ctx, &file, at, min(at+piece, s.before()))
		switch {
		case err != nil:
			return nil, err
		case got.made != nil:
			return nil, fault.New(fault.Transient, "upload_early", "YouTube ended the upload before the whole video was there; Herald looks again.")
		case got.arrived <= at:
			return nil, fault.New(fault.Transient, "upload_stuck", "YouTube did not take the video's next part; Herald sends it again.")
		}
		if at == 0 && got.arrived < s.before() { // so much is not sent twice
			if err := s.h.Checkpoint(ctx, address, s.h.Get(address)); err != nil {
				return nil, err
			}
		}
		at = got.arrived
	}
	return map[string]string{address: s.h.Get(address), from: strconv.FormatInt(at, 10)}, nil
}

// state is how far an upload is.
type state struct {
	arrived int64
	made    *video // the upload is complete
}

// put sends a piece of the file before the commit.
func (s *session) put(ctx context.Context, file *httpx.Pieces, at, to int64) (state, error) {
	body, err := file.Piece(ctx, at, to)
	if err != nil {
		return state{}, unread(err)
	}
	state, _, err := s.exchange(ctx, httpx.Prepare, s.h.Get(address), body, at, to)
	return state, err
}

func unread(err error) error {
	return &fault.Fault{Kind: fault.Transient, Code: "media_unreadable", Say: "Herald could not read the video; it tries again.", Cause: err}
}

// finish sends what is missing, which makes the video.
func (s *session) finish(ctx context.Context, handles map[string]string) (networks.Receipt, error) {
	at, err := strconv.ParseInt(handles[from], 10, 64)
	if err != nil || at < 0 || at > s.size {
		return networks.Receipt{}, fault.New(fault.Transient, "upload_span", "Herald lost count of the upload; it asks YouTube how far it is.")
	}
	file := httpx.Pieces{Open: film(s.job.Post).Open}
	defer file.Close()
	body, err := file.Piece(ctx, at, s.size)
	if err != nil {
		return networks.Receipt{}, unread(err)
	}
	got, answer, err := s.exchange(ctx, httpx.Commit, handles[address], body, at, s.size)
	switch {
	case err != nil:
		return networks.Receipt{}, again(err)
	case got.made == nil:
		return networks.Receipt{}, fault.New(fault.Transient, "upload_incomplete", "YouTube does not have the whole video yet; Herald sends the rest.")
	}
	return networks.Receipt{ExternalID: got.made.ID, RequestID: answer.RequestID}, nil
}

// again: a last piece for an upload that is not there any more made nothing.
func again(err error) error {
	if !unknown(err) {
		return err
	}
	f := *fault.Of(err)
	f.Kind, f.Say = fault.Transient, "YouTube no longer knows this upload; Herald begins it anew."
	return &f
}

// probe asks how far an upload is.
func (s *session) probe(ctx context.Context, step httpx.Step, to string) (state, error) {
	got, _, err := s.exchange(ctx, step, to, nil, s.size, s.size)
	return got, err
}

// exchange sends bytes of the file, or none to ask how far the upload is, and
// reads the state from the answer: 308 and a range, or the video.
func (s *session) exchange(ctx context.Context, step httpx.Step, to string, body io.ReadCloser, at, end int64) (state, *httpx.Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to, body)
	if err != nil {
		return state{}, nil, fault.New(fault.Transient, "upload_address", "Herald lost the address of the upload.")
	}
	span := fmt.Sprintf("bytes */%d", s.size)
	if at < end {
		span = fmt.Sprintf("bytes %d-%d/%d", at, end-1, s.size)
		req.ContentLength = end - at
		req.Header.Set("Content-Type", film(s.job.Post).Type)
	} else {
		req.Body = http.NoBody
	}
	req.Header.Set("Content-Range", span)
	req.Header.Set("Authorization", "Bearer "+s.job.Account.Token.Reveal())
	answer, err := s.upload.HTTP.Do(ctx, s.job.Trail, step, req)
	if err != nil {
		return state{}, answer, err
	}
	got, err := s.read(step, answer)
	return got, answer, err
}

func (s *session) read(step httpx.Step, answer *httpx.Answer) (state, error) {
	if answer.Status == http.StatusPermanentRedirect && answer.Header.Get("Location") == "" {
		return state{arrived: arrived(answer.Header.Get("Range"), s.size)}, nil
	}
	if f := s.upload.Table.Sort(step, s.job.Attempt, answer); f != nil {
		return state{}, f
	}
	var v video
	if json.Unmarshal(answer.Body, &v) != nil || !idLike(v.ID) || s.foreign(v) {
		return state{}, httpx.Unparsable(step, answer)
	}
	return state{arrived: s.size, made: &v}, nil
}

// foreign says that a video is another channel's.
func (s *session) foreign(v video) bool {
	own, its := s.job.Account.RemoteID, v.Snippet.ChannelID
	return own != "" && its != "" && own != its
}

// arrived reads "bytes=0-524287", the last byte that arrived; nothing has where
// the answer has no range, and more than there is cannot have.
func arrived(span string, size int64) int64 {
	last, err := strconv.ParseInt(strings.TrimPrefix(span, "bytes=0-"), 10, 64)
	if err != nil || last < 0 || last >= size {
		return 0
	}
	return last + 1
}

// unknown says that YouTube no longer knows the upload.
func unknown(err error) bool {
	f := fault.Of(err)
	return f != nil && (f.Status == http.StatusNotFound || f.Status == http.StatusGone)
}
