package web

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herald/views/ui"
)

// carriedBytes is what a page carries of a form, escaped; sending it escapes it once
// more.
const carriedBytes = 512 << 10

// Kept is a form that was not taken, with all its fields but the secret ones.
type Kept struct {
	Action string // the path it was sent to
	Fields url.Values
	Files  bool // files were chosen in it
	Over   bool // it was more than is read of a form that is not taken
}

// KeepForm reads what a form holds that is about to be refused; ok says that a
// person wrote something in it. It works before a handler has read the body and after.
func KeepForm(w http.ResponseWriter, r *http.Request) (k Kept, ok bool) {
	if r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/w/") && !strings.HasPrefix(r.URL.Path, "/review/") {
		return k, false
	}
	k = Kept{Action: r.URL.EscapedPath(), Fields: url.Values{}}
	k.read(w, r)
	Clean(k.Fields)
	for name := range secretFields {
		k.Fields.Del(name)
	}
	return k, len(k.Words()) > 0
}

// secretFields never travel through a page that is shown to somebody else: who
// signs in next need not be who wrote them.
var secretFields = map[string]bool{"password": true, "token": true, "refresh": true, "secret": true}

// read takes what the handler read, else the body. A body that does not come
// whole still holds what came.
func (k *Kept) read(w http.ResponseWriter, r *http.Request) {
	if r.PostForm == nil {
		rest := r.Body
		if b, ok := rest.(*body); ok {
			b.files = false // of which none is taken: it has a form's time
		}
		r.Body = http.MaxBytesReader(w, rest, int64(formBytes)+excess)
		if body, err := r.MultipartReader(); err == nil {
			r.PostForm = url.Values{}
			k.Over = large(k.readBody(body, r.PostForm))
		} else {
			r.Body = http.MaxBytesReader(w, rest, int64(formBytes))
			k.Over = large(r.ParseForm())
		}
	}
	for name, values := range r.PostForm {
		k.Fields[name] = slices.Clone(values)
	}
	k.Files = k.Files || r.MultipartForm != nil && len(r.MultipartForm.File) > 0
}

func large(err error) bool {
	_, yes := errors.AsType[*http.MaxBytesError](err)
	return yes
}

// readBody reads the fields between the files, as much of them as a form may hold.
func (k *Kept) readBody(body *multipart.Reader, into url.Values) error {
	for room := int64(formBytes); ; {
		part, err := body.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if part.FileName() != "" {
			k.Files = true
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, room))
		room -= int64(len(value))
		if part.Header.Get("Content-Type") == "" { // else an empty file input
			into.Add(part.FormName(), string(value))
		}
		if err != nil {
			return err
		}
	}
}

// written are the fields in which people write, in the order in which they are
// shown. A name with a dot after it is one for each network, account or file.
var written = []struct{ name, label string }{
	{"words", "Your words"}, {"body", "Comment"}, {"reason", "Reason"}, {"text", "Text"}, {"link", "Link"}, {"first_comment", "First comment"},
	{"alt", "Alt text"}, {"name", "Name"}, {"tags", "Tags"}, {"notes", "Notes"}, {"address", "Address"}, {"handle", "What people call it"},
	{"option", "Option"}, {"setting", "Setting"}, {"new_key", "New setting"}, {"new_value", "Its value"},
}

// Words are what a person wrote, once each. An option of one word is a choice as a
// rule.
func (k Kept) Words() (list []ui.Words) {
	for _, f := range written {
		for _, name := range k.named(f.name) {
			text := strings.TrimSpace(k.Fields.Get(name))
			if text == "" || f.name == "option" && !strings.Contains(text, " ") || slices.ContainsFunc(list, func(w ui.Words) bool { return w.Text == text }) {
				continue
			}
			list = append(list, ui.Words{Label: labelOf(f.label, f.name, name), Text: text})
		}
	}
	return list
}

// named are the fields of a name: itself, and those that are one of several.
func (k Kept) named(name string) (list []string) {
	for n := range k.Fields {
		if n == name || strings.HasPrefix(n, name+".") {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

func labelOf(label, base, name string) string {
	rest := strings.TrimPrefix(name, base)
	if rest == "" || base == "alt" {
		return label
	}
	return label + " (" + rest[strings.LastIndex(rest, ".")+1:] + ")"
}

// Props shows the form; with send, the words of a button, it can be sent again.
func (k Kept) Props(send string) ui.KeptProps {
	p := ui.KeptProps{Words: k.Words(), Files: k.Files, Action: k.Action}
	if len(k.Fields.Encode()) > carriedBytes {
		return p
	}
	p.Send = send
	for _, name := range slices.Sorted(maps.Keys(k.Fields)) {
		for _, value := range k.Fields[name] {
			p.Fields = append(p.Fields, [2]string{name, value})
		}
	}
	return p
}

// Carry writes the form into one field, for a page that stands between it and
// being sent again; empty if it is too long for that.
func (k Kept) Carry() string {
	fields := url.Values{"": {k.Action}}
	for name, values := range k.Fields {
		fields[cmp.Or(name, "-")] = values
	}
	if s := fields.Encode(); len(s) <= carriedBytes {
		return s
	}
	return ""
}

// Carried reads what Carry wrote. ok is false for anything else.
func Carried(s string) (k Kept, ok bool) {
	fields, err := url.ParseQuery(s)
	if err != nil || s == "" {
		return k, false
	}
	k = Kept{Action: LocalPath(fields.Get(""), ""), Fields: fields}
	delete(fields, "")
	return k, strings.HasPrefix(k.Action, "/w/")
}
