package sim_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db/network"
	"herald/jobs/sim"
)

// noon is when every test begins.
var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// world is a simulator behind a real server, a clock, and a server with media.
type world struct {
	t     *testing.T
	sim   *sim.Sim
	base  string
	media string

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T, change ...func(*sim.Options)) *world {
	t.Helper()
	w := &world{t: t, now: noon}
	opts := sim.Options{Now: w.clock}
	for _, f := range change {
		f(&opts)
	}
	w.sim = sim.New(opts)
	srv := httptest.NewServer(w.sim.Handler())
	t.Cleanup(srv.Close)
	t.Cleanup(w.sim.Reset) // ends what stalls
	files := httptest.NewServer(mediaFiles())
	t.Cleanup(files.Close)
	w.base, w.media = srv.URL, files.URL
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) fault(f sim.Fault) {
	w.t.Helper()
	if err := w.sim.Fault(f); err != nil {
		w.t.Fatal(err)
	}
}

// got is an answer.
type got struct {
	status int
	header http.Header
	raw    string
	json   map[string]any
	err    error
}

// str returns a field of the answer, by a dotted path.
func (g got) str(path string) string {
	var v any = g.json
	for part := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[part]
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		b, _ := json.Marshal(v)
		return string(b)
	case bool:
		b, _ := json.Marshal(v)
		return string(b)
	}
	return ""
}

func (g got) want(t *testing.T, status int) got {
	t.Helper()
	if g.err != nil {
		t.Fatalf("no answer: %v", g.err)
	}
	if g.status != status {
		t.Fatalf("got %d %s, want %d", g.status, g.raw, status)
	}
	return g
}

// graphFail checks a Graph error.
func (g got) graphFail(t *testing.T, status int, code, sub string) {
	t.Helper()
	g.want(t, status)
	if g.str("error.code") != code || g.str("error.error_subcode") != sub {
		t.Fatalf("got %s, want code %s/%s", g.raw, code, sub)
	}
}

func (w *world) send(req *http.Request) got {
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	g := got{status: resp.StatusCode, header: resp.Header, raw: string(raw), err: err}
	_ = json.Unmarshal(raw, &g.json)
	return g
}

func (w *world) request(method, path, kind, body string, headers ...string) *http.Request {
	w.t.Helper()
	address := path
	if strings.HasPrefix(path, "/") {
		address = w.base + path
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

func (w *world) get(path string, headers ...string) got {
	w.t.Helper()
	return w.send(w.request("GET", path, "", "", headers...))
}

// form POSTs name, value, name, value, ...
func (w *world) form(path string, pairs ...string) got {
	w.t.Helper()
	return w.send(w.request("POST", path, "application/x-www-form-urlencoded", values(pairs...)))
}

func values(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

func (w *world) json(path, body string, headers ...string) got {
	w.t.Helper()
	return w.send(w.request("POST", path, "application/json", body, headers...))
}

// upload POSTs a file with fields as multipart.
func (w *world) upload(path, field string, data []byte, headers []string, pairs ...string) got {
	w.t.Helper()
	var body bytes.Buffer
	mw := multipart.NewWriter(&body)
	for i := 0; i+1 < len(pairs); i += 2 {
		_ = mw.WriteField(pairs[i], pairs[i+1])
	}
	part, _ := mw.CreateFormFile(field, "file")
	_, _ = part.Write(data)
	_ = mw.Close()
	return w.send(w.request("POST", path, mw.FormDataContentType(), body.String(), headers...))
}

func picture(wide, high int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, wide, high))
	for y := range high {
		for x := range wide {
			m.Set(x, y, color.RGBA{uint8(x), uint8(y), 120, 255})
		}
	}
	return m
}

func jpegOf(wide, high int) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, picture(wide, high), nil)
	return b.Bytes()
}

func pngOf(wide, high int) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, picture(wide, high))
	return b.Bytes()
}

// film is enough of an MP4 to be taken for one.
func film() []byte {
	return append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte{7}, 5000)...)
}

// mediaFiles is made once: pictures take long to encode under the race detector.
var mediaFiles = sync.OnceValue(func() http.Handler {
	mux := http.NewServeMux()
	for name, data := range map[string][]byte{
		"square.jpg": jpegOf(400, 400), "tall.jpg": jpegOf(300, 400), "wide.jpg": jpegOf(400, 200),
		"portrait.jpg": jpegOf(400, 500), "picture.png": pngOf(400, 400), "film.mp4": film(),
		"cut.jpg": jpegOf(400, 400)[:2000], "text.jpg": []byte("hello"),
		"huge.jpg": append(append(jpegOf(400, 400)[:600], make([]byte, 9<<20)...), 0xff, 0xd9),
	} {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(data) })
	}
	return mux
})

// texts returns the texts of what the public sees.
func (w *world) texts(name network.Name, account string) []string {
	out := []string{}
	for _, p := range w.sim.Posts(name, account) {
		out = append(out, p.Text)
	}
	return out
}

// wantPosts checks how many posts the public sees.
func (w *world) wantPosts(name network.Name, account string, n int) {
	w.t.Helper()
	if texts := w.texts(name, account); len(texts) != n {
		w.t.Fatalf("the public sees %q on %s, want %d posts", texts, name, n)
	}
}
