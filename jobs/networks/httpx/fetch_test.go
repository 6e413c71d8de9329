package httpx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"herald/db/model"
)

func TestFetchHandsTheBodyOutAsItComes(t *testing.T) {
	t.Parallel()
	film := bytes.Repeat([]byte("a frame of the film "), 200_000) // 4 MB: more than any answer of a network may have
	on := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/films/A%20film.mp4?token=hush", http.StatusFound)
			return
		}
		w.Header().Set("Content-Length", itoa(len(film)))
		_, _ = w.Write(film[:1000])
		w.(http.Flusher).Flush()
		<-on
		_, _ = w.Write(film[1000:])
	}))
	defer srv.Close()
	d, err := loopback(t).Fetch(t.Context(), srv.URL+"/moved")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Size != int64(len(film)) || d.Name != "A film.mp4" {
		t.Errorf("%d bytes of %q", d.Size, d.Name)
	}
	head := make([]byte, 1000)
	if _, err := io.ReadFull(d, head); err != nil { // while the rest has not been sent
		t.Fatal(err)
	}
	close(on)
	rest, err := io.ReadAll(d)
	if err != nil || !bytes.Equal(append(head, rest...), film) {
		t.Errorf("%d bytes, %v", len(head)+len(rest), err)
	}
}

func TestFetchNamesAFileByItsHeadersFirst(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := r.URL.Query().Get("name"); name != "" {
			w.Header().Set("Content-Disposition", name)
		}
	}))
	defer srv.Close()
	for address, want := range map[string]string{
		"/a/photo.jpg?x=y":   "photo.jpg",
		"/a/":                "a",
		"":                   "",
		"/x?name=attachment": "x",
		"/x?name=inline%3B+filename%3D%22b.png%22":                        "b.png",
		"/x?name=attachment%3B+filename*%3Dutf-8%27%27%25C3%259Cnser.jpg": "Ünser.jpg",
		"/%2e%2e/%2Fetc%2Fpasswd":                                         "/etc/passwd", // whoever keeps it takes its last part
	} {
		d, err := loopback(t).Fetch(t.Context(), srv.URL+address)
		if err != nil {
			t.Fatal(err)
		}
		if d.Close(); d.Name != want {
			t.Errorf("%s is called %q, want %q", address, d.Name, want)
		}
	}
}

func TestFetchSaysWhyThereIsNoFile(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for path, status := range map[string]int{"/404": 404, "/410": 410, "/401": 401, "/403": 403, "/500": 500, "/204": 204, "/206": 206} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusFound))
	mux.Handle("/inside", http.RedirectHandler("http://10.0.0.1/", http.StatusFound))
	mux.Handle("/deep", http.RedirectHandler("https://10.0.0.1/", http.StatusFound))
	closed := httptest.NewServer(nil)
	closed.Close()
	for address, say := range map[string]string{
		srv.URL + "/404": "There is no file at that address", srv.URL + "/410": "There is no file at that address",
		srv.URL + "/401": "does not hand the file to Herald", srv.URL + "/403": "does not hand the file to Herald",
		srv.URL + "/500": "answered with an error (500)", srv.URL + "/204": "answered with an error (204)", srv.URL + "/206": "answered with an error (206)",
		srv.URL + "/round": "leads on to too many others", srv.URL + "/inside": "Only https addresses", srv.URL + "/deep": "lies inside a private network",
		"https://10.0.0.1/": "lies inside a private network", "https://169.254.169.254/latest/meta-data": "lies inside a private network",
		"file:///etc/passwd": "Only https addresses", "gopher://127.0.0.1/": "Only https addresses", "http://u:p@127.0.0.1/": "Leave user name and password",
		"::": "not a web address", closed.URL: "the connection was refused",
	} {
		d, err := loopback(t).Fetch(t.Context(), address)
		if no, ok := model.Refused(err); d != nil || !ok || !strings.Contains(no.Say, say) || strings.Contains(no.Say, "127.0.0.1") {
			t.Errorf("%s: %v, want a refusal that says %q", address, err, say)
		}
	}
	if _, err := NewGuarded(Options{}, nil).Fetch(t.Context(), srv.URL); err == nil {
		t.Error("a private address is fetched from where none is allowed")
	}
}

func TestFetchNoticesAFileThatBreaksOff(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(make([]byte, 500))
	}))
	defer srv.Close()
	d, err := loopback(t).Fetch(t.Context(), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, err := io.ReadAll(d)
	if no, ok := model.Refused(err); len(b) != 500 || !ok || !strings.Contains(no.Say, "ended early") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// still is a body from which nothing comes until ctx ends.
type still struct{ ctx context.Context }

func (s still) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }
func (s still) Close() error             { return nil }

func TestFetchGivesUpOnceNothingComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		_, err := newPatient(still{ctx}, cancel).Read(make([]byte, 10))
		if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, "no answer in time") || time.Since(began) != stall {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestFetchEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := loopback(t).Fetch(ctx, srv.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
