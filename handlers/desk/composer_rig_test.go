package desk_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"io/fs"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"herald/db"
	"herald/db/blob"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
	"herald/handlers/connect"
	"herald/handlers/desk"
	"herald/handlers/hooks"
	"herald/handlers/review"
	"herald/handlers/web"
	"herald/jobs"
	"herald/jobs/darkroom"
	"herald/jobs/networks/httpx"
	"herald/jobs/scan"
	"herald/static"
)

// studio is an agency's desk behind HTTP, with an owner who is signed in.
type studio struct {
	*dbtest.World
	agency  *dbtest.Agency
	server  *httptest.Server
	edge    *web.Edge
	blobs   *flaky
	folder  string // where they lie
	client  model.ClientID
	account model.AccountID // on Mastodon
	owner   *http.Client
	library *jobs.Librarian
	desk    *desk.Desk
	zone    *zone // the DNS that the desk asks
	hosts   *web.Hosts
}

const uploadLimit = 2 << 20

func newStudio(t *testing.T) *studio {
	t.Helper()
	s := &studio{World: dbtest.New(t)}
	s.agency = s.Agency(t, "north", dbtest.SecondShard)
	s.client = s.agency.Client(t, "bakery")
	s.account = s.agency.Account(t, s.client, network.Mastodon)
	s.folder = t.TempDir()
	blobs, err := blob.OpenFolder(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	s.blobs = &flaky{Store: blobs}
	s.edge = &web.Edge{Store: s.Store, Log: slog.New(slog.NewTextHandler(testLog{t}, nil)), Now: s.Clock.Now, Sessions: &web.Sessions{Store: s.Store, Now: s.Clock.Now}}
	s.zone = &zone{records: map[string][]string{}, sites: map[string]string{}}
	s.hosts = &web.Hosts{Held: s.Store.HeldHosts, Own: "https://herald.example", Log: s.edge.Log}
	mux := http.NewServeMux()
	d := &desk.Desk{Edge: s.edge, Ring: s.Ring, Blobs: s.blobs, URLLife: 15 * time.Minute, Limits: desk.Limits{UploadBytes: uploadLimit, Patience: 3 * time.Minute},
		CheckAddress: func(address string) error { return httpx.CheckAddress(address, near) }, Fetch: fetcher(), Hosts: s.zone}
	s.desk = d
	d.Register(mux)
	hooks.Register(mux, hooks.Deps{Edge: s.edge, Ring: s.Ring, Blobs: s.blobs})
	connect.Register(mux, connect.Deps{Edge: s.edge, Ring: s.Ring, URLLife: 15 * time.Minute, BaseURL: "https://herald.example"})
	review.Register(mux, review.Deps{Edge: s.edge, Ring: s.Ring, URLLife: 15 * time.Minute, BaseURL: "https://herald.example", Hosts: s.hosts, Read: d.ReadComment})
	mux.Handle("GET /static/", static.Handler())
	s.server = httptest.NewServer(web.Headers(false, mux))
	t.Cleanup(s.server.Close)
	s.owner = s.signIn(t, s.agency.Owner)
	s.library = s.newLibrary(t)
	return s
}

func TestMain(m *testing.M) {
	darkroom.Serve()
	os.Exit(m.Run())
}

// newLibrary is who scans and develops what is uploaded.
func (s *studio) newLibrary(t *testing.T) *jobs.Librarian {
	t.Helper()
	pipe, err := db.OpenPipeline(t.Context(), s.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pipe.Close)
	room, err := darkroom.New(picture.Standard())
	if err != nil {
		t.Fatal(err)
	}
	return &jobs.Librarian{Pipe: pipe, Blobs: s.blobs, Scanner: scan.Signature{}, Room: room, Log: s.edge.Log, Now: s.Clock.Now}
}

// develop does what the media queue would, until done is called.
func (s *studio) develop(t *testing.T) (done func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var ends sync.WaitGroup
	ends.Go(func() {
		for ctx.Err() == nil {
			_, _ = s.library.Pipe.TakeMedia(ctx, s.agency.Shard, time.Minute, 100, func(due []db.MediaTask) error {
				for _, task := range due {
					ends.Go(func() { _ = s.library.Work(ctx, task.MediaKey) })
				}
				return nil
			})
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() { cancel(); ends.Wait() }
}

// near is where a test's own servers are: addresses may lead there.
var near = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// fetcher is the real one.
func fetcher() desk.Fetcher {
	client := httpx.NewGuarded(httpx.Options{}, near)
	return func(ctx context.Context, address string) (desk.Fetched, error) {
		d, err := client.Fetch(ctx, address)
		if err != nil {
			return desk.Fetched{}, err
		}
		return desk.Fetched{Body: d, Size: d.Size, Name: d.Name}, nil
	}
}

// flaky is a store that can be told to fail, in everything or in one thing.
type flaky struct {
	blob.Store
	faults sync.Map // by what is done; "" is everything
}

func (f *flaky) fail(err error)               { f.faults.Store("", err) }
func (f *flaky) failing(do string, err error) { f.faults.Store(do, err) }
func (f *flaky) heal()                        { f.faults.Clear() }

func (f *flaky) trouble(do string) error {
	for _, key := range []string{"", do} {
		if err, ok := f.faults.Load(key); ok {
			return err.(error)
		}
	}
	return nil
}

func (f *flaky) Put(ctx context.Context, key string, r io.Reader, o blob.Options) (blob.Info, error) {
	if err := f.trouble("put"); err != nil {
		return blob.Info{}, err
	}
	return f.Store.Put(ctx, key, r, o)
}

func (f *flaky) Open(ctx context.Context, key string) (blob.Object, error) {
	if err := f.trouble("open"); err != nil {
		return nil, err
	}
	return f.Store.Open(ctx, key)
}

func (f *flaky) Extend(ctx context.Context, d blob.Draft, r io.Reader) (blob.Draft, error) {
	if err := f.trouble("extend"); err != nil {
		return d, err
	}
	return f.Store.Extend(ctx, d, r)
}

func (f *flaky) Finish(ctx context.Context, d blob.Draft) (blob.Info, error) {
	if err := f.trouble("finish"); err != nil {
		return blob.Info{}, err
	}
	return f.Store.Finish(ctx, d)
}

// storedIn lists the files of a store's folder, unfinished ones too.
func storedIn(t *testing.T, folder string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// testLog keeps what the edge logs with the test that caused it.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", bytes.TrimSpace(p))
	return len(p), nil
}

// signIn is a browser of a member.
func (s *studio) signIn(t *testing.T, scope *db.Scope) *http.Client {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	if err := s.edge.Sessions.SignIn(w, r, scope.Actor.User); err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	at, _ := url.Parse(s.server.URL)
	jar.SetCookies(at, w.Result().Cookies())
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is what came back, with the form in it if there is one.
type answer struct {
	status int
	to     string // where a redirect leads
	header http.Header
	body   string
}

func (s *studio) do(t *testing.T, who *http.Client, r *http.Request) answer {
	t.Helper()
	resp, err := who.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header.Get("Location"), resp.Header, string(body)}
}

func (s *studio) get(t *testing.T, who *http.Client, path string) answer {
	t.Helper()
	r, _ := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+path, nil)
	return s.do(t, who, r)
}

// file is one file of a form.
type file struct {
	name  string
	bytes []byte
}

// post sends a form as a browser without script does.
func (s *studio) post(t *testing.T, who *http.Client, path string, form url.Values, files ...file) answer {
	t.Helper()
	if len(files) > 0 || len(form["address"]) > 0 {
		defer s.develop(t)()
	}
	return s.do(t, who, s.request(t, path, form, files...))
}

func (s *studio) request(t *testing.T, path string, form url.Values, files ...file) *http.Request {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range form {
		for _, v := range values {
			_ = w.WriteField(name, v)
		}
	}
	for _, f := range files {
		part, err := w.CreateFormFile("file", f.name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write(f.bytes)
	}
	_ = w.Close()
	r, _ := http.NewRequestWithContext(t.Context(), "POST", s.server.URL+path, &body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return r
}

// form reads the composer's form out of a page, as a browser would send it.
func (a answer) form(t *testing.T) url.Values {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	values := url.Values{}
	var walk func(n *html.Node, inside bool)
	walk = func(n *html.Node, inside bool) {
		inside = inside || attrOf(n, "id") == "composer"
		if n.Type == html.ElementNode && inside {
			field(n, values)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, inside)
		}
	}
	walk(doc, false)
	if len(values) == 0 {
		t.Fatalf("no form in the page (%d): %.2000s", a.status, a.body)
	}
	return values
}

func field(n *html.Node, values url.Values) {
	name := attrOf(n, "name")
	switch {
	case name == "":
	case n.Data == "textarea":
		text := ""
		if n.FirstChild != nil {
			text = n.FirstChild.Data
		}
		values.Add(name, text)
	case n.Data == "select":
		for _, o := range below(n, "option") {
			if hasAttrOf(o, "selected") {
				values.Add(name, attrOf(o, "value"))
			}
		}
	case n.Data == "input" && (attrOf(n, "type") == "checkbox" || attrOf(n, "type") == "radio"):
		if hasAttrOf(n, "checked") {
			values.Add(name, attrOf(n, "value"))
		}
	case n.Data == "input" && attrOf(n, "type") != "file":
		values.Add(name, attrOf(n, "value"))
	}
}

func below(n *html.Node, tag string) (list []*html.Node) {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Data == tag {
			list = append(list, c)
		}
	}
	return list
}

func attrOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttrOf(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

// says tells whether a page shows a sentence, whatever markup is in between.
func (a answer) says(want string) bool {
	text := tags.ReplaceAllString(a.body, " ")
	return strings.Contains(strings.Join(strings.Fields(html.UnescapeString(text)), " "), want)
}

var tags = regexp.MustCompile(`(?s)<[^>]*>`)

func (a answer) want(t *testing.T, status int, says ...string) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d to %q, want %d: %.3000s", a.status, a.to, status, a.body)
	}
	for _, s := range says {
		if !a.says(s) {
			t.Errorf("the page does not say %q: %.6000s", s, tags.ReplaceAllString(a.body, " "))
		}
	}
	return a
}

// fresh is the form of a new post for the studio's account.
func (s *studio) fresh(t *testing.T) url.Values {
	t.Helper()
	form := s.get(t, s.owner, "/w/north/posts/new").want(t, 200).form(t)
	form.Set("text", "Fresh bread from seven")
	form.Set("account", fmt.Sprint(int64(s.account)))
	return form
}

// send posts the form to the new posts, with an intent.
func (s *studio) send(t *testing.T, form url.Values, do string, files ...file) answer {
	t.Helper()
	form.Set("do", do)
	path := "/w/north/posts"
	if id := form.Get("post"); id != "" {
		path += "/" + id
	}
	return s.post(t, s.owner, path, form, files...)
}

// saved follows the redirect of a form that was carried out.
func (s *studio) saved(t *testing.T, a answer, says ...string) (model.PostID, answer) {
	t.Helper()
	if a.status != http.StatusSeeOther {
		t.Fatalf("status %d, want a redirect: %s", a.status, tags.ReplaceAllString(a.body, " "))
	}
	var id model.PostID
	if _, err := fmt.Sscanf(a.to, "/w/north/posts/%d", &id); err != nil {
		t.Fatalf("redirect to %q", a.to)
	}
	return id, s.get(t, s.owner, a.to).want(t, 200, says...)
}

func (s *studio) stored(t *testing.T, id model.PostID) db.PostPage {
	t.Helper()
	page, err := s.agency.Owner.Post(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func (s *studio) count(t *testing.T, table string) int {
	t.Helper()
	return dbtest.Look[int](t, s.World, dbtest.SecondShard, "SELECT count(*) FROM tenant."+table)
}

// photo is a JPEG that differs with its shade.
func photo(t *testing.T, w, h int, shade byte) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.Set(w/2, h/2, color.White)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
