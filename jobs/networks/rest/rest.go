// Package rest is what networks share that answer in JSON and have no family of
// their own: a Door makes one call, puts the token where no log shows it, and
// sorts a refusal by the network's Table. It knows no adapter and keeps no state.
// Start with Door.Do, then table.go.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/httpx"
)

// Door is one host of a network.
type Door struct {
	HTTP  *httpx.Client
	Base  string // without a trailing slash
	Table Table
	// Away is for addresses on other hosts that the network hands out; HTTP if nil.
	Away *httpx.Client
	Sign func(req *http.Request, token secret.Token) // how a credential is shown; a bearer token if nil
}

// Call is one request. Of JSON, Form, Files and Body at most one is set.
type Call struct {
	Step    httpx.Step
	Trail   httpx.Trail
	Attempt int          // of the publish; from the second on, "already there" is evidence of success
	Token   secret.Token // empty: the call shows none
	Method  string
	Path    string // below the base
	Address string // instead of base and path: an address that the network handed out
	Query   url.Values
	Header  map[string]string
	JSON    any
	Form    url.Values
	Files   []httpx.File // a multipart form, with Form as the fields before them
	Body    *Body
}

// From is a call of a job, with its trail, attempt and token.
func From(job networks.Job, step httpx.Step, method, path string) Call {
	return Call{Step: step, Trail: job.Trail, Attempt: job.Attempt, Token: job.Account.Token, Method: method, Path: path}
}

// Body is the bytes of a file as they are.
type Body struct {
	io.ReadCloser
	Length int64
	Type   string
}

// Do makes the call and decodes a success into "into", which may be nil. An
// error is always a *fault.Fault: of the transport, of the table, or, if a
// success cannot be read, Unknown on the commit call and Transient elsewhere.
func (d *Door) Do(ctx context.Context, c Call, into any) (*httpx.Answer, error) {
	req, err := d.request(ctx, c)
	if err != nil {
		return nil, &fault.Fault{Kind: fault.Transient, Code: "not_sent", Say: "The request could not be made: the file could not be opened.", Cause: err}
	}
	answer, err := d.client(req).Do(ctx, c.Trail, c.Step, req)
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

func (d *Door) client(req *http.Request) *httpx.Client {
	home, err := url.Parse(d.Base)
	if d.Away == nil || err == nil && home.Host == req.URL.Host && home.Scheme == req.URL.Scheme {
		return d.HTTP
	}
	return d.Away
}

func (d *Door) request(ctx context.Context, c Call) (*http.Request, error) {
	req, err := c.body(ctx, d.address(c))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range c.Header {
		req.Header.Set(name, value)
	}
	switch {
	case c.Token.Empty():
	case d.Sign != nil:
		d.Sign(req, c.Token)
	default:
		req.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	}
	return req, nil
}

func (d *Door) address(c Call) string {
	address := c.Address
	if address == "" {
		address = d.Base + "/" + strings.TrimPrefix(c.Path, "/")
	}
	if len(c.Query) == 0 {
		return address
	}
	if strings.Contains(address, "?") {
		return address + "&" + c.Query.Encode()
	}
	return address + "?" + c.Query.Encode()
}

// body makes the request with whichever body the call has.
func (c Call) body(ctx context.Context, address string) (*http.Request, error) {
	switch {
	case c.JSON != nil:
		raw, err := marshal(c.JSON)
		if err != nil {
			return nil, err
		}
		return typed(ctx, c.Method, address, "application/json; charset=UTF-8", bytes.NewReader(raw))
	case len(c.Files) > 0:
		return httpx.NewUpload(ctx, address, flat(c.Form), c.Files...)
	case c.Form != nil:
		return typed(ctx, c.Method, address, "application/x-www-form-urlencoded", strings.NewReader(c.Form.Encode()))
	case c.Body != nil:
		return c.raw(ctx, address)
	}
	return http.NewRequestWithContext(ctx, c.Method, address, nil)
}

func (c Call) raw(ctx context.Context, address string) (*http.Request, error) {
	req, err := typed(ctx, c.Method, address, c.Body.Type, c.Body.ReadCloser)
	if err != nil {
		c.Body.Close()
		return nil, err
	}
	req.ContentLength = c.Body.Length
	return req, nil
}

func typed(ctx context.Context, method, address, kind string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err == nil && kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return req, err
}

// marshal leaves < and > as they are: not every network undoes their escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func flat(form url.Values) map[string]string {
	fields := make(map[string]string, len(form))
	for name := range form {
		fields[name] = form.Get(name)
	}
	return fields
}
