// Package graph is what Facebook Pages and Instagram truly share: Meta's Graph
// API. A Door makes one call, puts the token where no log shows it, decodes the
// error body and sorts it by a Table; beside it stand the usage headers, the
// paging and the shapes of values. It knows no adapter and keeps no state.
// Start with Door.Do, then table.go.
package graph

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"herald/db/network"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// DefaultVersion is the Graph version that is asked for unless the operator
// sets another. A call without one is served by the oldest that still works.
const DefaultVersion = network.GraphVersion

// Door is one Graph host.
type Door struct {
	HTTP  *httpx.Client
	Base  string // with the version, without a trailing slash
	Table Table
}

// Token is a credential. Do reveals it into the Authorization header: in an
// address it would reach other people's logs.
type Token interface{ Reveal() string }

// Call is one request.
type Call struct {
	Step    httpx.Step
	Trail   httpx.Trail
	Attempt int // of the publish; from the second on, "already posted" is evidence of success
	Token   Token
	Method  string
	Path    string // below the base
	Query   url.Values
	Form    url.Values  // sent as a form, or as the fields beside File
	File    *httpx.File // makes the form a multipart one
	Raw     *Raw        // instead of a form: a call of the upload host
}

// Raw is a call of the host that takes the bytes of videos. What it is told
// stands in headers, and its body is the file or nothing.
type Raw struct {
	Header map[string]string
	Body   io.ReadCloser
	Length int64
}

// Do makes the call and decodes a success into "into", which may be nil. An
// error is always a *fault.Fault: of the transport, of the table, or, if a
// success cannot be read, Unknown on the commit call and Transient elsewhere.
func (d *Door) Do(ctx context.Context, c Call, into any) (*httpx.Answer, error) {
	req, err := d.request(ctx, c)
	if err != nil {
		return nil, &fault.Fault{Kind: fault.Transient, Code: "not_sent", Say: "The request could not be made: the file could not be opened.", Cause: err}
	}
	answer, err := d.HTTP.Do(ctx, c.Trail, c.Step, req)
	if err != nil {
		return answer, err
	}
	if f := d.Table.Sort(c.Step, c.Attempt, answer); f != nil {
		return answer, f
	}
	if into != nil && json.Unmarshal(answer.Body, into) != nil {
		return answer, httpx.Unparsable(c.Step, answer)
	}
	return answer, nil
}

func (d *Door) request(ctx context.Context, c Call) (req *http.Request, err error) {
	address := d.Base + "/" + c.Path
	if len(c.Query) > 0 {
		address += "?" + c.Query.Encode()
	}
	switch {
	case c.Raw != nil:
		req, err = c.Raw.request(ctx, address)
	case c.File != nil:
		req, err = httpx.NewUpload(ctx, address, flat(c.Form), *c.File)
	case c.Form != nil:
		req, err = http.NewRequestWithContext(ctx, c.Method, address, strings.NewReader(c.Form.Encode()))
	default:
		req, err = http.NewRequestWithContext(ctx, c.Method, address, nil)
	}
	if err != nil {
		return nil, err
	}
	if c.File == nil && c.Form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Accept", "application/json")
	if c.Token != nil {
		req.Header.Set("Authorization", c.scheme()+" "+c.Token.Reveal())
	}
	return req, nil
}

// scheme is Bearer, but for the upload host, which knows its older name only.
func (c Call) scheme() string {
	if c.Raw != nil {
		return "OAuth"
	}
	return "Bearer"
}

func (r *Raw) request(ctx context.Context, address string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return nil, err
	}
	if r.Body != nil {
		req.Body, req.ContentLength = r.Body, r.Length
	}
	for name, value := range r.Header {
		req.Header[name] = []string{value} // as documented, not as Go would write it
	}
	return req, nil
}

func flat(form url.Values) map[string]string {
	fields := make(map[string]string, len(form))
	for name := range form {
		fields[name] = form.Get(name)
	}
	return fields
}
