package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"time"

	"herald/db/model"
)

const (
	stall   = 30 * time.Second // without a byte, and a download is given up
	longest = 15 * time.Minute // a download takes in all
)

// Download is a file that is being read from an address a person chose. Its body
// ends with an error if the other side stalls or leaves before the announced end.
type Download struct {
	io.ReadCloser
	Size int64  // as announced; -1 if it was not
	Name string // by the answer's headers, else by the address; may be empty
}

// Fetch asks for a file and hands out its body as it comes: how much of it is
// wanted is the caller's to decide. It is for guarded clients. What the person can
// do something about it refuses, in a sentence that shows no address.
func (c *Client) Fetch(ctx context.Context, address string) (*Download, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, model.Refuse(model.Unprocessable, "That is not a web address. It should look like https://example.com/path.")
	}
	req.Header.Set("Accept-Encoding", "identity") // the bytes are wanted as they lie there
	if c.check != nil {
		if err := c.check(req); err != nil {
			return nil, fetchRefusal(err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	resp, err := c.http.Do(once(ctx, req, c.agent))
	if err != nil {
		cancel()
		return nil, fetchRefusal(err)
	}
	if no := answerRefusal(resp.StatusCode); no != nil {
		cancel()
		_ = resp.Body.Close()
		return nil, no
	}
	return &Download{ReadCloser: newPatient(resp.Body, cancel), Size: resp.ContentLength, Name: downloadName(resp)}, nil
}

// answerRefusal says why an answer is not the file.
func answerRefusal(status int) error {
	say := ""
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusNotFound, status == http.StatusGone:
		say = "There is no file at that address any more, or never was."
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		say = "That address does not hand the file to Herald. Download it yourself and upload it."
	case status/100 == 3:
		say = "That address leads on to too many others. Use the address of the file itself."
	default:
		say = fmt.Sprintf("The server at that address answered with an error (%d). Try again later, or download the file yourself and upload it.", status)
	}
	return model.Refuse(model.Unprocessable, say)
}

// fetchRefusal says why there was no answer.
func fetchRefusal(err error) error {
	if no, ok := errors.AsType[*refusal](err); ok {
		return model.Refuse(model.Unprocessable, no.say)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	_, what := reason(err)
	return model.Refuse(model.Unprocessable, "The file could not be fetched: "+what+". Try again, or download it yourself and upload it.")
}

func downloadName(resp *http.Response) string {
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return params["filename"]
	}
	u := resp.Request.URL
	if name, err := url.PathUnescape(path.Base(u.EscapedPath())); err == nil && name != "/" && name != "." {
		return name
	}
	return ""
}

// patient reads a body until no byte comes for a while.
type patient struct {
	body   io.ReadCloser
	cancel context.CancelFunc
	timer  *time.Timer
}

func newPatient(body io.ReadCloser, cancel context.CancelFunc) *patient {
	return &patient{body: body, cancel: cancel, timer: time.AfterFunc(stall, cancel)}
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.body.Read(b)
	p.timer.Reset(stall)
	if err != nil && err != io.EOF {
		err = fetchRefusal(brokenOff(err))
	}
	return n, err
}

// brokenOff takes our own giving up for what it is: no answer in time.
func brokenOff(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.DeadlineExceeded
	}
	return errors.Join(errBroken, err)
}

func (p *patient) Close() error {
	p.timer.Stop()
	p.cancel()
	return p.body.Close()
}
