package httpx

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// File is a file part of an upload. It is streamed, never held whole.
type File struct {
	Field string // name of the form field
	Name  string // file name that the network sees
	Type  string // MIME type
	Size  int64
	Open  func(ctx context.Context) (io.ReadCloser, error)
}

// NewUpload makes a POST of a multipart form, the fields in alphabetical order
// and the files last, with its exact Content-Length. If a file turns out to be
// shorter or longer than it said, the request fails. All files are opened before
// it returns: an error is one of opening them.
func NewUpload(ctx context.Context, address string, fields map[string]string, files ...File) (*http.Request, error) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := form.WriteField(name, fields[name]); err != nil {
			return nil, err
		}
	}
	var body stream
	for _, file := range files {
		if _, err := form.CreatePart(file.header()); err != nil {
			return nil, body.undone(err)
		}
		body.text(&head)
		if err := body.file(ctx, file); err != nil {
			return nil, body.undone(err)
		}
	}
	head.WriteString("\r\n--" + form.Boundary() + "--\r\n")
	body.text(&head)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return nil, body.undone(err)
	}
	req.Body, req.ContentLength = body.reader(), body.length
	req.Header.Set("Content-Type", form.FormDataContentType())
	return req, nil
}

// stream is a body that is put together while it is sent.
type stream struct {
	parts  []io.Reader
	open   []io.Closer
	length int64
}

// text takes what was written to head since.
func (s *stream) text(head *bytes.Buffer) {
	s.parts = append(s.parts, strings.NewReader(head.String()))
	s.length += int64(head.Len())
	head.Reset()
}

func (s *stream) file(ctx context.Context, f File) error {
	content, err := f.Open(ctx)
	if err != nil {
		return fmt.Errorf("open file: %w", err)
	}
	s.open = append(s.open, content)
	s.parts = append(s.parts, &exact{content, f.Size})
	s.length += f.Size
	return nil
}

// exact is a file that has to have the length it said: beside other parts, one
// that has not would only shift them.
type exact struct {
	io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.left -= int64(n)
	if e.left < 0 || err == io.EOF && e.left > 0 {
		return 0, fmt.Errorf("the file does not have the length it said")
	}
	return n, err
}

func (s *stream) reader() io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(s.parts...), closers(s.open)}
}

// undone closes what was opened, and returns err.
func (s *stream) undone(err error) error {
	_ = closers(s.open).Close()
	return err
}

type closers []io.Closer

// Close closes all.
func (list closers) Close() error {
	for _, c := range list {
		c.Close()
	}
	return nil
}

func (f File) header() textproto.MIMEHeader {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition(f.Field, f.Name))
	h.Set("Content-Type", f.Type)
	return h
}
