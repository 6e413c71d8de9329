// Package httpx is the only door to other people's servers. Its two clients
// differ in whom they trust: New reaches hosts that the configuration names,
// NewGuarded reaches addresses that users choose and checks what is dialled.
//
// Both promise that a write is sent at most once: nothing re-sends it behind
// the caller's back, no redirect carries it on, and Do tells a call of which
// no byte left from one that may have taken effect. Neither ever puts an
// address with its query, a token or a body into an error or into evidence.
//
// Start with Client.Do; sort.go has the classes of plain HTTP statuses and
// guard.go the rule for addresses.
package httpx

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"herald/jobs/networks/fault"
)

const (
	maxBody     = 1 << 20  // of an answer, decompressed
	maxHeader   = 64 << 10 // of an answer
	idle        = 30 * time.Second
	uploadSpeed = 512 << 10 // bytes a second that an upload is given at least
)

// Options are what both clients need to know.
type Options struct {
	Timeout   time.Duration    // of a whole call, the answer's body included; 30 s if zero. A large upload gets more, by its size.
	UserAgent string           // sent unless a request brings its own
	Now       func() time.Time // time.Now if nil
}

// Client sends requests and keeps their evidence. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	timeout time.Duration
	agent   string
	now     func() time.Time
	check   func(*http.Request) error // before anything is sent; nil allows all
}

// New makes the client for hosts that the configuration names. It follows no
// redirect and may keep connections open between calls.
func New(o Options) *Client {
	c := newClient(o)
	c.http = &http.Client{
		Transport:     newTransport(&net.Dialer{Timeout: dialTimeout}, c.timeout),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

func newClient(o Options) *Client {
	c := &Client{timeout: cmp.Or(o.Timeout, 30*time.Second), agent: cmp.Or(o.UserAgent, "Herald"), now: o.Now}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// Answer is a response read to its end (at most 1 MB).
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte
	RequestID string
	At        time.Time // when it was read
}

// OK says whether the status is a 2xx.
func (a *Answer) OK() bool { return a.Status/100 == 2 }

// Do sends req once and reads the answer, whatever its status. An error is a
// *fault.Fault: Transient if no byte was sent or step is not Commit, Unknown
// otherwise, Validation with code address_refused if a guarded client refused
// the address. If the answer began but its body could not be read to the end
// (code answer_broken, answer_too_large, or timeout), what there is of it comes
// back beside the error.
func (c *Client) Do(ctx context.Context, trail Trail, step Step, req *http.Request) (*Answer, error) {
	call := Call{Step: step, Method: cmp.Or(req.Method, http.MethodGet), Host: req.URL.Host, Path: req.URL.EscapedPath(), Began: c.now()}
	answer, sent, err := c.send(ctx, req)
	var f *fault.Fault
	if err != nil {
		f = sortError(step, sent, answer, err)
		call.Error = f.Cause.Error()
	}
	if answer != nil {
		call.Status, call.RequestID = answer.Status, answer.RequestID
	}
	call.Took = c.now().Sub(call.Began)
	if trail != nil {
		trail.Add(call)
	}
	if f != nil {
		return answer, f
	}
	return answer, nil
}

// send makes the exchange and says whether a byte of the request left.
func (c *Client) send(ctx context.Context, req *http.Request) (*Answer, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+allowance(req))
	defer cancel()
	if c.check != nil {
		if err := c.check(req); err != nil {
			closeBody(req)
			return nil, false, err
		}
	}
	var w wire
	resp, err := c.http.Do(once(w.watch(ctx), req, c.agent))
	if err != nil {
		return nil, w.sent(), err
	}
	defer resp.Body.Close()
	answer := &Answer{Status: resp.StatusCode, Header: resp.Header, RequestID: requestID(resp.Header)}
	answer.Body, err = readBody(resp.Body)
	answer.At = c.now()
	return answer, true, err
}

// allowance is the time an upload gets on top, so that a film may take longer
// than a sentence.
func allowance(req *http.Request) time.Duration {
	if req.Body == nil || req.ContentLength <= 0 {
		return 0
	}
	return time.Duration(req.ContentLength) * time.Second / uploadSpeed
}

var (
	errTooLarge = errors.New("the answer is larger than 1 MB")
	errBroken   = errors.New("the answer ended early")
)

// readBody reads at most maxBody. What was read before an error is returned too.
func readBody(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if len(body) > maxBody {
		return body[:maxBody], errTooLarge
	}
	if err != nil {
		return body, errors.Join(errBroken, err)
	}
	return body, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// requestIDs are the headers in which networks name a request.
var requestIDs = []string{
	"X-Fb-Trace-Id", "X-Fb-Request-Id", "X-Request-Id", "X-Requestid", "X-Li-Uuid", "X-Transaction-Id", "X-Tt-Logid",
	"X-Slack-Req-Id", "X-Pinterest-Rid", "X-Guploader-Uploadid", "X-Amzn-Requestid", "X-Amz-Request-Id", "Cf-Ray",
}

// requestID is the network's own id of the request: the first header that has
// one. It is shown to people, so it is kept short and printable.
func requestID(h http.Header) string {
	for _, name := range requestIDs {
		if id := h.Get(name); id != "" {
			return printable(id, 100)
		}
	}
	return ""
}
