package desk_test

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"herald/db"
	"herald/db/blob"
	"herald/db/dbtest"
)

// elsewhere is a web server with files.
func elsewhere(t *testing.T, files map[string][]byte) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.(http.Flusher).Flush() // so that nothing announces the length
		_, _ = w.Write(body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// fetch sends the form of a new post with an address.
func (s *studio) fetch(t *testing.T, form url.Values, address string) answer {
	t.Helper()
	form.Set("do", "fetch")
	form.Set("address", address)
	return s.post(t, s.owner, "/w/north/media", form)
}

func TestAFileAtAnAddressIsCopiedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	jpg := append(photo(t, 300, 200, 90), make([]byte, 300_000)...)
	at := elsewhere(t, map[string][]byte{"/albums/Summer%202026/loaf.jpg": jpg, "/albums/Summer 2026/loaf.jpg": jpg}) + "/albums/Summer%202026/loaf.jpg?key=hush"
	form := s.fetch(t, s.fresh(t), at).want(t, 200, "loaf.jpg").form(t)
	row, body := s.uploader().arrived(t, form.Get("media"))
	sum := sha256.Sum256(jpg)
	if !bytes.Equal(body, jpg) || !bytes.Equal(row.Sha256, sum[:]) || row.Name != "loaf.jpg" || row.State != db.MediaReady || row.Type != "image/jpeg" {
		t.Errorf("%d bytes, %+v", len(body), row)
	}
	if form.Get("address") != "" || form.Get("text") != "Fresh bread from seven" {
		t.Errorf("form %v", form)
	}
	if kept := dbtest.Look[int](t, s.World, s.agency.Shard, `SELECT count(*) FROM tenant.media m, tenant.audit a WHERE m::text || a::text LIKE '%127.0.0.1%' OR m::text || a::text LIKE '%hush%'`); kept != 0 {
		t.Error("the address is kept")
	}
	again := s.fetch(t, form, at).want(t, 200, "“loaf.jpg” was in the client's library already, so that file is used.").form(t)
	if len(again["media"]) != 1 || s.count(t, "media") != 1 || s.bytesKept(t) != 3 { // as it came, what is published, and the thumbnail
		t.Errorf("%v attached, %d assets, %d files", again["media"], s.count(t, "media"), s.bytesKept(t))
	}
}

func TestWhatAnAddressHoldsIsRefusedByRule(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	at := elsewhere(t, map[string][]byte{
		"/photo.jpg": []byte("<!doctype html><script>alert(1)</script>"), "/none.jpg": {},
		"/huge.mp4": append([]byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2"), make([]byte, uploadLimit)...),
	})
	for address, say := range map[string]string{
		at + "/photo.jpg":            "“photo.jpg” is a web page (HTML), whatever its name says.",
		at + "/none.jpg":             "“none.jpg” is empty.",
		at + "/huge.mp4":             "This video has 2.0 MB; the limit is 2.0 MB.",
		at + "/gone.jpg":             "There is no file at that address any more, or never was.",
		"https://10.0.0.1/photo.jpg": "lies inside a private network",
		"photo.jpg":                  "Only https addresses can be used.",
	} {
		page := s.fetch(t, s.fresh(t), address).want(t, 422, "One file was not taken", say)
		if form := page.form(t); form.Get("address") != address || form.Get("text") != "Fresh bread from seven" || len(form["media"]) != 0 {
			t.Errorf("%s: lost %v", address, form)
		}
	}
	s.fetch(t, s.fresh(t), "").want(t, 422, "Enter the address of a file first.")
	s.blobs.fail(blob.ErrFull)
	s.fetch(t, s.fresh(t), elsewhere(t, map[string][]byte{"/a.jpg": photo(t, 30, 20, 90)})+"/a.jpg").want(t, 422, "There is no room left where files are kept.")
	if s.count(t, "media") != 0 || s.bytesKept(t) != 0 {
		t.Errorf("%d assets, %d files", s.count(t, "media"), s.bytesKept(t))
	}
	form := s.fresh(t)
	form.Set("address", strings.Repeat("https://a.example/x.jpg ", 11))
	form.Set("do", "fetch")
	s.post(t, s.owner, "/w/north/media", form).want(t, 413, "At most 10 addresses are fetched at once.")
}

// TestAnAddressIsFetchedOnlyWhenAsked: a form goes to the server for many reasons.
func TestAnAddressIsFetchedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	at := elsewhere(t, map[string][]byte{"/a.jpg": photo(t, 30, 20, 90)}) + "/a.jpg"
	form := s.fresh(t)
	form.Set("address", at)
	form.Set("do", "refresh")
	page := s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200)
	if got := page.form(t); got.Get("address") != at || s.count(t, "media") != 0 {
		t.Errorf("form %v, %d assets", got, s.count(t, "media"))
	}
	id, _ := s.saved(t, s.send(t, page.form(t), "save"))
	if m := s.stored(t, id).Version.Content.Media; len(m) != 1 {
		t.Errorf("saved with %v", m)
	}
}
