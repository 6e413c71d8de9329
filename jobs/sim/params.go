package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// bodyLimit is more than any test sends and less than hurts.
const bodyLimit = 512 << 20

// params is what a request says, whichever way it says it.
type params struct {
	values url.Values
	files  map[string]*multipart.FileHeader
	form   *multipart.Form
	kind   string // form, json, multipart, or "" without a body
}

// nesting is how a network writes arrays and objects in a form.
type nesting func(into url.Values, name string, v any)

// read takes query and body in. kinds names the content types that the call
// takes; the error is a sentence.
func (c *call) read(nest nesting, kinds ...string) error {
	c.params.values = c.r.URL.Query()
	kind, err := bodyKind(c.r)
	if err != nil {
		return err
	}
	if kind == "" {
		return nil
	}
	if !slices.Contains(kinds, kind) {
		return fmt.Errorf("this call does not take a body of type %s", c.r.Header.Get("Content-Type"))
	}
	c.params.kind = kind
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, bodyLimit)
	switch kind {
	case "json":
		return c.params.readJSON(c.r.Body, nest)
	case "multipart":
		return c.params.readMultipart(c.r)
	}
	return c.params.readForm(c.r.Body)
}

// bodyKind sorts the request's body.
func bodyKind(r *http.Request) (string, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return "", nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return "", errors.New("the content type cannot be read")
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		return "form", nil
	case "application/json":
		return "json", nil
	case "multipart/form-data":
		return "multipart", nil
	}
	return kind, nil
}

func (p *params) readForm(body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return errors.New("the body could not be read")
	}
	sent, err := url.ParseQuery(string(raw))
	if err != nil {
		return errors.New("the form cannot be parsed")
	}
	return p.merge(sent)
}

func (p *params) readMultipart(r *http.Request) error {
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		return errors.New("the multipart body cannot be parsed")
	}
	p.form = r.MultipartForm
	p.files = map[string]*multipart.FileHeader{}
	for name, files := range r.MultipartForm.File {
		if len(files) > 1 {
			return fmt.Errorf("%s was sent twice", name)
		}
		p.files[name] = files[0]
	}
	return p.merge(r.MultipartForm.Value)
}

func (p *params) readJSON(body io.Reader, nest nesting) error {
	dec := json.NewDecoder(body)
	dec.UseNumber()
	var sent map[string]any
	if err := dec.Decode(&sent); err != nil {
		return errors.New("the JSON body cannot be parsed")
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is something behind the JSON body")
	}
	flat := url.Values{}
	for name, v := range sent {
		nest(flat, name, v)
	}
	return p.merge(flat)
}

// merge adds what the body says. A name in both places is refused: nobody could
// say which one counts.
func (p *params) merge(sent map[string][]string) error {
	for name, values := range sent {
		if _, twice := p.values[name]; twice {
			return fmt.Errorf("%s was sent twice", name)
		}
		p.values[name] = values
	}
	return nil
}

func (p *params) close() {
	if p.form != nil {
		_ = p.form.RemoveAll()
	}
}

func (p *params) get(name string) string { return p.values.Get(name) }

func (p *params) has(name string) bool {
	_, ok := p.values[name]
	return ok || p.files[name] != nil
}

// file reads an uploaded file, or nil if there is none of that name.
func (p *params) file(name string) ([]byte, error) {
	h := p.files[name]
	if h == nil {
		return nil, nil
	}
	f, err := h.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// stray returns a parameter that is not in allowed, or "". An allowed name may
// stand for an array: "media_ids[]", or "attached_media[*]" for numbered ones.
func (p *params) stray(allowed ...string) string {
	names := slices.Sorted(maps.Keys(p.values))
	names = append(names, slices.Sorted(maps.Keys(p.files))...)
	for _, name := range names {
		numbered := name
		if i := strings.IndexByte(name, '['); i > 0 && strings.Trim(name[i:], "[]0123456789") == "" && name[i:] != "[]" {
			numbered = name[:i] + "[*]"
		}
		if !slices.Contains(allowed, name) && !slices.Contains(allowed, numbered) {
			return name
		}
	}
	return ""
}

// scalar writes a JSON scalar as a form would.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	case nil:
		return "", true
	}
	return "", false
}
