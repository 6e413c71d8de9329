package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"herald/jobs/networks/fault"
)

// Error is the body of a refusal.
type Error struct {
	Message   string `json:"message"`
	Type      string `json:"type"`
	Code      Int    `json:"code"`
	Subcode   Int    `json:"error_subcode"`
	Transient bool   `json:"is_transient"`
	Title     string `json:"error_user_title"`
	UserMsg   string `json:"error_user_msg"`
	Trace     string `json:"fbtrace_id"`
}

// Name is the normalised code: "190/463", "190" where there is no subcode, the
// type where there is no code.
func (e Error) Name() string {
	switch {
	case e.Code == 0 && e.Type != "":
		return e.Type
	case e.Subcode == 0:
		return strconv.Itoa(int(e.Code))
	case e.Code == Any:
		return strconv.Itoa(int(e.Subcode))
	}
	return strconv.Itoa(int(e.Code)) + "/" + strconv.Itoa(int(e.Subcode))
}

// Decode reads a refusal out of a body. It says false for anything that is not
// Graph's error object: a page of HTML, an empty body, another server's JSON.
func Decode(body []byte) (Error, bool) {
	var wire struct {
		Error *Error `json:"error"`
		Debug *struct {
			Type      string `json:"type"`
			Message   string `json:"message"`
			Retriable bool   `json:"retriable"`
		} `json:"debug_info"` // the upload host's own shape
	}
	if json.Unmarshal(body, &wire) != nil {
		return Error{}, false
	}
	switch {
	case wire.Error != nil && (wire.Error.Code != 0 || wire.Error.Message != ""):
		return *wire.Error, true
	case wire.Debug != nil && wire.Debug.Type != "":
		return Error{Message: wire.Debug.Message, Type: wire.Debug.Type, Transient: wire.Debug.Retriable}, true
	}
	return Error{}, false
}

// ID is an id, which Graph writes as a string and, in places, as a number.
type ID string

// UnmarshalJSON takes both.
func (id *ID) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(id))
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*id = ID(n.String())
	return nil
}

// Int is a number, which Graph writes as a number and, in places, as a string.
type Int int64

// UnmarshalJSON takes both; a fraction is cut off.
func (i *Int) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	if text == "null" || text == "" {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return errors.New("graph: not a number")
	}
	*i = Int(f)
	return nil
}

// Time is an instant as Graph writes it: "2026-05-01T10:00:00+0000", RFC 3339,
// or Unix seconds.
type Time struct{ time.Time }

// UnmarshalJSON takes all three.
func (t *Time) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	if text == "null" || text == "" {
		return nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05-0700", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			t.Time = at.UTC()
			return nil
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errors.New("graph: not a time")
	}
	t.Time = time.Unix(seconds, 0).UTC()
	return nil
}

// Missing says whether err is Graph's "no such object": it is gone, was never
// there, is not visible yet, or belongs to somebody else.
func Missing(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return ok && f.Code == "100/33"
}
