package web

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"herald/db/model"
)

// Body is how many bytes may come with a request to an address.
type Body int64

// The bodies of most addresses. The largest form without files, a review's comment,
// is far below formBytes.
const (
	Own       Body = -1 // the handler reads it itself, by limits of its own
	formBytes Body = 1 << 20
)

// excess is how much more than a form may hold is passed over, so that the browser
// has sent it all and reads why it was refused.
const excess = 8 << 20

// Intake is a Mux whose handlers get requests that are read, small and clean:
//   - a form is read before the handler runs, so that none is taken for empty
//     because it was too large or broke off,
//   - query and form hold valid UTF-8 without NUL, which Postgres takes none of; a
//     path that does not leads nowhere.
//
// What comes to an address whose body is Own is not read here. It is taken for files,
// which come for as long as they need.
type Intake struct {
	Mux
	Edge   *Edge
	Bodies map[string]Body // by pattern, where not formBytes
}

// Handle registers the handler behind the intake.
func (in Intake) Handle(pattern string, next http.Handler) {
	limit := in.Bodies[pattern]
	if limit == 0 {
		limit = formBytes
	}
	in.Mux.Handle(pattern, in.Edge.Open(func(w http.ResponseWriter, r *http.Request) error {
		if !storable(r.URL.Path) {
			return model.Refuse(model.NotFound, "There is nothing at this address.")
		}
		cleanQuery(r.URL)
		if err := limit.read(w, r); err != nil {
			return err
		}
		next.ServeHTTP(w, r)
		return nil
	}))
}

// read bounds what comes, and reads it if it is a form.
func (most Body) read(w http.ResponseWriter, r *http.Request) error {
	from, come := r.Body.(*body)
	switch {
	case r.Body == nil || r.Body == http.NoBody:
		return nil
	case most == Own:
		if come {
			from.files = true
		}
		return nil
	}
	rest := r.Body
	r.Body = http.MaxBytesReader(w, rest, int64(most))
	err := parse(r)
	if err != nil {
		return most.unread(err, rest)
	}
	Clean(r.PostForm)
	Clean(r.Form)
	return nil
}

// parse reads a form of either kind. Other bodies are left to the handler.
func parse(r *http.Request) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "multipart/form-data":
		return r.ParseMultipartForm(int64(formBytes))
	case "application/x-www-form-urlencoded":
		return r.ParseForm()
	}
	return nil
}

// unread sorts why a form was not read.
func (most Body) unread(err error, rest io.Reader) error {
	if !large(err) {
		return model.Refuse(model.Unprocessable, "The form did not arrive whole, or is not one of Herald's. Go back and send it again.")
	}
	_, _ = io.CopyN(io.Discard, rest, excess)
	return model.Refuse(model.TooLarge, "That is more than this form may hold, which is "+most.words()+". Go back and make it shorter.")
}

func (most Body) words() string {
	if most < 1<<20 {
		return fmt.Sprintf("%d KB", most>>10)
	}
	return fmt.Sprintf("%d MB", most>>20)
}

// Clean takes out of the values what Postgres stores in no text: NUL goes, and bytes
// that are no UTF-8 become the sign for that. A field whose name holds such is no
// field of ours.
func Clean(values url.Values) {
	for name, list := range values {
		if !storable(name) {
			delete(values, name)
		}
		for i, v := range list {
			if !storable(v) {
				list[i] = strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\x00", "")
			}
		}
	}
}

func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// cleanQuery writes the query anew if something in it is not clean.
func cleanQuery(u *url.URL) {
	q, err := url.ParseQuery(u.RawQuery)
	text, _ := url.QueryUnescape(u.RawQuery)
	if err == nil && storable(text) {
		return
	}
	Clean(q)
	u.RawQuery = q.Encode()
}
