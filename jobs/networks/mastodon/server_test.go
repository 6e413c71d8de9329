package mastodon

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db/network"
	"herald/db/secret"
	"herald/jobs/networks"
	"herald/jobs/networks/httpx"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// post is a post that the test server keeps.
type post struct {
	id, text, spoiler, visibility, replyTo, key string
	media                                       []string
	made                                        time.Time
}

// shown is a text as the server's pages show it: escaped, its links cut short.
func shown(text string) string {
	words := strings.Split(strings.ReplaceAll(html.EscapeString(text), "\n", "<br />"), " ")
	for i, w := range words {
		if at, ok := strings.CutPrefix(w, "https://"); ok {
			words[i] = `<a href="` + w + `"><span class="invisible">https://</span><span class="ellipsis">` + at[:min(20, len(at))] + `</span></a>`
		}
	}
	return "<p>" + strings.Join(words, " ") + "</p>"
}

// file is a medium that the test server keeps.
type file struct {
	description, content, name string
	busy                       int // polls until it is ready
	failed, attached           bool
}

// server is a small Mastodon, written from the facts.
type server struct {
	t      *testing.T
	mu     sync.Mutex
	now    time.Time
	posts  []post
	files  map[string]*file
	keys   map[string]string // Idempotency-Key -> post
	last   http.Header       // of the last POST /statuses
	calls  []string
	busy   int // polls that a new file takes
	noKeys bool
	hook   func(w http.ResponseWriter, r *http.Request) bool // answers instead, if it returns true
	after  func(w http.ResponseWriter, r *http.Request) bool // answers a POST /statuses after it was stored
}

func newServer(t *testing.T) (*server, *Adapter, networks.Job) {
	t.Helper()
	s := &server{t: t, now: noon, files: map[string]*file{}, keys: map[string]string{}}
	srv := httptest.NewServer(http.StripPrefix("/x", s))
	t.Cleanup(srv.Close)
	clock := func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }
	a := New(networks.Env{
		Guarded: httpx.NewGuarded(httpx.Options{Timeout: 5 * time.Second, Now: clock}, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}),
		Now:     clock,
	})
	job := networks.Job{Key: "job-1", Attempt: 1,
		Account: networks.Account{Network: network.Mastodon, Address: srv.URL + "/x/", RemoteID: "7", Token: secret.NewToken("hush")},
		Post:    networks.Post{Format: network.FormatText, Text: "Hello, world"}}
	return s, a, job
}

func (s *server) pass(d time.Duration) { s.mu.Lock(); s.now = s.now.Add(d); s.mu.Unlock() }

func (s *server) add(p post) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.id = strconv.Itoa(100 + len(s.posts))
	if p.made.IsZero() {
		p.made = s.now
	}
	if p.visibility == "" {
		p.visibility = "public"
	}
	s.posts = append(s.posts, p)
	return p.id
}

func (s *server) count(prefix string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if strings.HasPrefix(c, prefix) {
			n++
		}
	}
	return n
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	hook := s.hook
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer hush" {
		fail(w, 401, "The access token is invalid")
		return
	}
	if hook != nil && hook(w, r) {
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v2/media", s.upload)
	mux.HandleFunc("GET /api/v1/media/{id}", s.poll)
	mux.HandleFunc("POST /api/v1/statuses", s.create)
	mux.HandleFunc("GET /api/v1/statuses/{id}", s.show)
	mux.HandleFunc("GET /api/v1/statuses/{id}/source", s.source)
	mux.HandleFunc("GET /api/v1/accounts/7/statuses", s.list)
	mux.HandleFunc("GET /api/v1/accounts/verify_credentials", s.document("verify_credentials.json"))
	mux.HandleFunc("GET /api/v2/instance", s.document("instance_v2.json"))
	mux.ServeHTTP(w, r)
}

func fail(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
}

func (s *server) document(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(document(s.t, name)) }
}

func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(1 << 20); err != nil || len(r.MultipartForm.File["file"]) != 1 || r.ContentLength < 0 {
		fail(w, 422, "Validation failed: File can't be blank")
		return
	}
	part := r.MultipartForm.File["file"][0]
	f, _ := part.Open()
	content, _ := io.ReadAll(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strconv.Itoa(11 + len(s.files))
	s.files[id] = &file{description: r.FormValue("description"), content: string(content), name: part.Filename, busy: s.busy}
	url := `"https://m.example/media"`
	if s.busy > 0 {
		w.WriteHeader(http.StatusAccepted)
		url = "null"
	}
	fmt.Fprintf(w, `{"id":%q,"type":"image","url":%s}`, id, url)
}

func (s *server) poll(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[r.PathValue("id")]
	switch {
	case f == nil || f.attached:
		fail(w, 404, "Record not found")
		return
	case f.failed:
		fail(w, 422, "Error processing media")
		return
	case f.busy > 0:
		f.busy--
		w.WriteHeader(http.StatusPartialContent)
	}
	fmt.Fprintf(w, `{"id":%q,"type":"image"}`, r.PathValue("id"))
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {
	id, status, text := s.store(r)
	s.mu.Lock()
	after := s.after
	s.last = r.Header.Clone()
	s.mu.Unlock()
	if after != nil && after(w, r) {
		return
	}
	if status != 200 {
		fail(w, status, text)
		return
	}
	w.Header().Set("X-Request-Id", "req-"+id)
	_, _ = w.Write(s.statusJSON(id))
}

func (s *server) store(r *http.Request) (id string, status int, text string) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if old := s.keys[key]; key != "" && old != "" && !s.noKeys {
		return old, 200, ""
	}
	p := post{id: strconv.Itoa(100 + len(s.posts)), text: r.Form.Get("status"), spoiler: r.Form.Get("spoiler_text"), visibility: r.Form.Get("visibility"),
		replyTo: r.Form.Get("in_reply_to_id"), media: r.Form["media_ids[]"], made: s.now, key: key}
	if p.text == "" && len(p.media) == 0 {
		return "", 422, "Validation failed: Text can't be blank"
	}
	for _, m := range p.media {
		switch f := s.files[m]; {
		case f == nil || f.attached:
			return "", 422, "Media " + m + " not found or already attached to another post"
		case f.busy > 0:
			return "", 422, "Cannot attach files that have not finished processing. Try again in a moment!"
		}
	}
	for _, m := range p.media {
		s.files[m].attached = true
	}
	s.posts = append(s.posts, p)
	s.keys[key] = p.id
	return p.id, 200, ""
}

func (s *server) find(id string) *post {
	i := slices.IndexFunc(s.posts, func(p post) bool { return p.id == id })
	if i < 0 {
		return nil
	}
	return &s.posts[i]
}

func (s *server) statusJSON(id string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.render(*s.find(id))
}

func (s *server) render(p post) []byte {
	media := []map[string]any{}
	for _, m := range p.media {
		media = append(media, map[string]any{"id": m, "type": "image"})
	}
	var reply any
	if p.replyTo != "" {
		reply = p.replyTo
	}
	b, _ := json.Marshal(map[string]any{"id": p.id, "created_at": p.made.Format("2006-01-02T15:04:05.000Z"), "in_reply_to_id": reply, "spoiler_text": p.spoiler,
		"visibility": p.visibility, "uri": "https://m.example/u/" + p.id, "url": "https://m.example/@a/" + p.id, "content": shown(p.text), "reblog": nil, "media_attachments": media})
	return b
}

func (s *server) show(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	p := s.find(r.PathValue("id"))
	s.mu.Unlock()
	if p == nil {
		fail(w, 404, "Record not found")
		return
	}
	_, _ = w.Write(s.statusJSON(p.id))
}

func (s *server) source(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.find(r.PathValue("id"))
	if p == nil {
		fail(w, 404, "Record not found")
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"id": p.id, "text": p.text, "spoiler_text": p.spoiler})
}

// list gives the newest first, before max_id, at most limit.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	before, _ := strconv.Atoi(r.FormValue("max_id"))
	page := []json.RawMessage{}
	for _, p := range slices.Backward(s.posts) {
		id, _ := strconv.Atoi(p.id)
		if (before == 0 || id < before) && len(page) < min(limit, 40) {
			page = append(page, s.render(p))
		}
	}
	_ = json.NewEncoder(w).Encode(page)
}

// handles keeps handles for a test, and counts what a post waits for.
type handles struct {
	kept  map[string]string
	saves int
}

func newHandles() *handles { return &handles{kept: map[string]string{}} }

func (h *handles) Get(name string) string { return h.kept[name] }

func (h *handles) Save(_ context.Context, name, value string) error {
	h.saves++
	h.kept[name] = value
	return nil
}

func (h *handles) Note(name, value string) { h.kept[name] = value }

func (h *handles) Checkpoint(_ context.Context, name, value string) error {
	h.Note(name, value)
	return nil
}

func picture(alt string) networks.Media {
	return networks.Media{Media: network.Media{Kind: network.Image, Type: "image/png", Bytes: 6, Alt: alt}, Name: "cake.png",
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("pixels")), nil }}
}

func withPictures(job networks.Job, n int) networks.Job {
	job.Post.Format = network.FormatImage
	for i := range n {
		job.Post.Media = append(job.Post.Media, picture(fmt.Sprintf("picture %d", i+1)))
	}
	return job
}
