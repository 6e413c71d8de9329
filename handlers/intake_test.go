package handlers_test

import (
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/handlers"
)

// endless is a form that never ends, and counts how much of it was read.
type endless struct {
	head io.Reader
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.head.Read(p)
	if err == io.EOF {
		for i := range p {
			p[i] = 'a'
		}
		n = len(p)
	}
	e.read += int64(n)
	return n, nil
}

// What a page of another site sends is refused on a page of Herald's, which holds
// nothing that came along.
func TestAForeignPagesFormIsRefusedInWords(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	for _, path := range []string{"/signin", "/w/north/posts/1/archive", "/review/x/decisions", "/nowhere"} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader("body=Buy+this"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		w := httptest.NewRecorder()
		g.web.ServeHTTP(w, r)
		if page := w.Body.String(); w.Code != 403 || !strings.Contains(page, "sent by a page of another site") || !strings.Contains(page, "<h1") || strings.Contains(page, "Buy this") {
			t.Errorf("%s: %d %s", path, w.Code, page)
		}
	}
}

func TestNoFormIsReadBeyondItsLimit(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	const most = 9<<20 + 64<<10 // 1 MB, what is passed over, and what readers read ahead
	for _, pattern := range handlers.Patterns(handlers.Deps{}) {
		method, path, _ := strings.Cut(pattern, " ")
		if method != http.MethodPost {
			continue
		}
		path = regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "1")
		for kind, head := range map[string]string{
			"application/x-www-form-urlencoded": "body=",
			"multipart/form-data; boundary=x":   "--x\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\n",
		} {
			body := &endless{head: strings.NewReader(head)}
			r := httptest.NewRequestWithContext(t.Context(), method, path, body)
			r.Header.Set("Content-Type", kind)
			w := httptest.NewRecorder()
			g.web.ServeHTTP(w, r)
			if body.read > most {
				t.Errorf("%s as %s: %d bytes were read", pattern, kind, body.read)
			}
			if body.read > 1<<10 && (w.Code != 413 || !strings.Contains(w.Body.String(), "more than this form may hold")) {
				t.Errorf("%s as %s: %d: %s", pattern, kind, w.Code, words(w))
			}
		}
	}
}

// TestNoTextBreaksAnAddress puts a NUL and broken UTF-8 into everything that a
// person at work sends, by form and by query; what is left is what they meant.
func TestNoTextBreaksAnAddress(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	own := g.north.Main
	sent := map[string]bool{}
	g.each(own, own, func(pattern string, try try) {
		if sent[pattern] {
			return
		}
		sent[pattern] = true
		try.form = maps.Clone(try.form)
		for name, list := range try.form {
			try.form[name] = slices.Clone(list)
			for i := range list {
				try.form[name][i] = "\x00" + list[i] + "\x00"
			}
		}
		mark := "?"
		if strings.Contains(try.path, "?") {
			mark = "&"
		}
		try.path += mark + "q=%00a%ff&client=%00&state=%ff&person=u%00&tag=%00&folder=%ff&;&%zz"
		if w := g.send(own.Owner, pattern, try); w.Code >= 500 {
			t.Errorf("%s: %d: %s", pattern, w.Code, words(w))
		}
	})
	for _, path := range []string{"/w/%00/calendar", "/w/north/posts/%ff", "/w/north%00/posts", "/review/%00", "/m/%00", "/%00"} {
		if w := g.send(own.Owner, "GET x", try{path: path}); w.Code != 404 {
			t.Errorf("GET %s: %d: %s", path, w.Code, words(w))
		}
	}
}

// TestANullCharacterLosesNoWords: what is written stays as it was meant.
func TestANullCharacterLosesNoWords(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	own := g.north.Main
	w := g.send(own.Owner, "POST x", try{path: at(own, "/approvals/"+id(own.Request)+"/comments"), form: fields("key", "key-of-a-form-0123456789", "visibility", "internal", "body", "Two\x00 words\xff")})
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d: %s", w.Code, words(w))
	}
	if got := dbtest.Look[string](t, g.World, db.MainShard, `SELECT body FROM tenant.comments WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1`, g.north.ID); got != "Two words\uFFFD" {
		t.Errorf("what is kept: %q", got)
	}
}

// TestAPersonSendsOnlySoManyFiles: by form or by upload, and after a while again.
func TestAPersonSendsOnlySoManyFiles(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	own := g.north.Main
	byForm := func() *httptest.ResponseRecorder {
		return g.send(own.Owner, "POST x", try{path: at(own, "/media/files"), form: fields("client", id(own.Client)), file: g.picture})
	}
	byUpload := func() *httptest.ResponseRecorder { return g.send(own.Owner, "POST x", newUploads(g, own, own)[0]) }
	if w := byForm(); w.Code != http.StatusSeeOther {
		t.Fatalf("%d: %s", w.Code, words(w))
	}
	g.Super(t, db.MainShard, `UPDATE control.throttles SET level = 500 WHERE kind = 'upload person'`)
	const say = "You have sent very many files in a short time. Wait 2 seconds"
	if w := byForm(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), say) {
		t.Errorf("a form: %d: %s", w.Code, words(w))
	}
	if w := byUpload(); w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), say) {
		t.Errorf("an upload: %d: %s", w.Code, w.Body)
	}
	g.Clock.Advance(4 * time.Second)
	if w := byForm(); w.Code != http.StatusSeeOther {
		t.Errorf("a form, later: %d: %s", w.Code, words(w))
	}
	if w := byUpload(); w.Code != http.StatusCreated {
		t.Errorf("an upload, later: %d: %s", w.Code, w.Body)
	}
}

// TestNoNumberBreaksAnAddress puts the largest number into every place of every
// address and form that holds one.
func TestNoNumberBreaksAnAddress(t *testing.T) {
	t.Parallel()
	g := newGrounds(t, db.MainShard)
	own := g.north.Main
	digits, huge, sent := regexp.MustCompile(`\d+`), fmt.Sprint(int64(math.MaxInt64)), map[string]bool{}
	g.each(own, own, func(pattern string, try try) {
		send := func(place, path string, form url.Values) {
			if sent[pattern+place] {
				return // cases of one address differ in whose ids they name
			}
			sent[pattern+place] = true
			changed := try
			changed.path, changed.form = path, form
			if w := g.send(own.Owner, pattern, changed); w.Code >= 500 {
				t.Errorf("%s at %s with %v: %d: %s", pattern, path, form, w.Code, words(w))
			}
		}
		path, query, _ := strings.Cut(try.path, "?")
		if !strings.HasPrefix(path, "/m/") && !strings.HasPrefix(path, "/review/") {
			for _, at := range digits.FindAllStringIndex(path, -1) {
				send(fmt.Sprint(at), path[:at[0]]+huge+path[at[1]:]+"?"+query, try.form)
			}
		}
		for name, list := range try.form {
			if len(list) > 0 && digits.MatchString(list[0]) && !strings.Contains(name, "hash") {
				form := maps.Clone(try.form)
				form[name] = []string{digits.ReplaceAllString(list[0], huge)}
				send(name, try.path, form)
			}
		}
		if strings.HasPrefix(pattern, "GET") {
			for _, name := range []string{"client", "account", "folder", "page", "person", "before", "after", "media", "from", "tag"} {
				send("?"+name, path+"?"+name+"="+map[bool]string{name == "person": "u"}[true]+huge, nil)
			}
		}
	})
}
