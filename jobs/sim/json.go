package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// jsonLimit is the largest JSON body that is read.
const jsonLimit = 4 << 20

// object reads a JSON body into v, which has to name every field that it may
// hold. What was sent stays in the log of calls; the error is a sentence.
func (c *call) object(v any) error {
	c.params.values = c.r.URL.Query()
	kind, err := bodyKind(c.r)
	if err != nil {
		return err
	}
	if kind != "json" {
		return errors.New("the body has to be application/json")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, jsonLimit))
	if err != nil {
		return errors.New("the body could not be read")
	}
	c.params.kind = kind
	c.params.note(raw)
	return strict(raw, v)
}

// strict reads JSON into v and refuses fields that v does not have.
func strict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is something behind the JSON body")
	}
	return nil
}

// note puts the fields of a JSON object among the parameters.
func (p *params) note(raw []byte) {
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	if p.values == nil {
		p.values = url.Values{}
	}
	for name, v := range all {
		graphNest(p.values, name, v)
	}
}

// bearer is the token of the Authorization header.
func (c *call) bearer() string {
	token, _ := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	return token
}

// raw reads a body as the bytes of a file. More than limit is counted no further.
func (c *call) raw(limit int64) (blob, error) {
	c.params.values = c.r.URL.Query()
	return readBlob(c.r.Body, c.r.ContentLength, limit)
}
