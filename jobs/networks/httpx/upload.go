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

// File is the file part of an upload. It is streamed, never held whole.
type File struct {
	Field string // name of the form field
	Name  string // file name that the network sees
	Type  string // MIME type
	Size  int64
	Open  func(ctx context.Context) (io.ReadCloser, error)
}

// NewUpload makes a POST of a multipart form, the fields in alphabetical order
// and the file last, with its exact Content-Length. If the file turns out to be
// shorter or longer than it said, the request fails. An error is one of
// opening the file.
func NewUpload(ctx context.Context, address string, fields map[string]string, file File) (*http.Request, error) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := form.WriteField(name, fields[name]); err != nil {
			return nil, err
		}
	}
	if _, err := form.CreatePart(file.header()); err != nil {
		return nil, err
	}
	tail := "\r\n--" + form.Boundary() + "--\r\n"
	content, err := file.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open file: %w", err)
	}
	length := int64(head.Len()) + file.Size + int64(len(tail))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		content.Close()
		return nil, err
	}
	req.Body = stream{io.MultiReader(&head, content, strings.NewReader(tail)), content}
	req.ContentLength = length
	req.Header.Set("Content-Type", form.FormDataContentType())
	return req, nil
}

type stream struct {
	io.Reader
	io.Closer
}

func (f File) header() textproto.MIMEHeader {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition(f.Field, f.Name))
	h.Set("Content-Type", f.Type)
	return h
}
