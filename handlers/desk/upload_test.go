package desk_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/dbtest"
	"herald/db/model"
)

// uploader is a client of the tus protocol.
type uploader struct {
	*studio
	who *http.Client
}

func (s *studio) uploader() uploader { return uploader{s, s.owner} }

// tus sends one request of the protocol.
func (u uploader) tus(t *testing.T, method, path string, body io.Reader, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, u.server.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Tus-Resumable", "1.0.0")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return u.do(t, u.who, r)
}

func (u uploader) create(t *testing.T, client model.ClientID, name string, size int) answer {
	t.Helper()
	word := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	return u.tus(t, "POST", "/w/north/uploads", nil, "Upload-Length", fmt.Sprint(size),
		"Upload-Metadata", "client "+word(fmt.Sprint(int64(client)))+",filename "+word(name))
}

// begin makes an upload and returns its address.
func (u uploader) begin(t *testing.T, name string, size int) string {
	t.Helper()
	a := u.create(t, u.client, name, size)
	if a.status != 201 || !strings.HasPrefix(a.to, "/w/north/uploads/") {
		t.Fatalf("status %d to %q: %s", a.status, a.to, a.body)
	}
	return a.to
}

func (u uploader) patch(t *testing.T, at string, offset int, body io.Reader) answer {
	t.Helper()
	return u.tus(t, "PATCH", at, body, "Upload-Offset", fmt.Sprint(offset), "Content-Type", "application/offset+octet-stream")
}

func (u uploader) offset(t *testing.T, at string) string {
	t.Helper()
	a := u.tus(t, "HEAD", at, nil)
	if a.status != 200 {
		t.Fatalf("HEAD: %d", a.status)
	}
	return a.header.Get("Upload-Offset")
}

// breaks sends the first bytes of a body and loses the connection.
func (u uploader) breaks(t *testing.T, at string, offset int, body []byte, announced int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, out := io.Pipe()
	r, _ := http.NewRequestWithContext(ctx, "PATCH", u.server.URL+at, in)
	r.Header.Set("Tus-Resumable", "1.0.0")
	r.Header.Set("Content-Type", "application/offset+octet-stream")
	r.Header.Set("Upload-Offset", fmt.Sprint(offset))
	r.ContentLength = int64(announced)
	go func() {
		_, _ = out.Write(body)
		_ = out.CloseWithError(errors.New("the phone went into a tunnel"))
	}()
	if a, err := u.who.Do(r); err == nil {
		_ = a.Body.Close()
		t.Errorf("a broken request was answered: %d", a.StatusCode)
	}
}

// waits until a query says so.
func (s *studio) waits(t *testing.T, sql string, args ...any) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !dbtest.Look[bool](t, s.World, s.agency.Shard, sql, args...); {
		if time.Now().After(end) {
			t.Fatalf("still not so: %s", sql)
		}
	}
}

// arrived are the bytes that an asset's original holds.
func (u uploader) arrived(t *testing.T, media string) (row db.Asset, body []byte) {
	t.Helper()
	var id model.MediaID
	_, _ = fmt.Sscan(media, &id)
	list, err := u.agency.Owner.Media(t.Context(), []model.MediaID{id})
	if err != nil {
		t.Fatalf("asset %q: %v", media, err)
	}
	row = list[0]
	o, err := u.blobs.Store.Open(t.Context(), row.OriginalPath)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if body, err = io.ReadAll(o); err != nil {
		t.Fatal(err)
	}
	return row, body
}

func TestAnUploadArrivesInPiecesOverBrokenConnections(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := append(photo(t, 300, 200, 90), bytes.Repeat([]byte("trailing bytes "), 20_000)...)
	at := u.begin(t, "Ünser \"Brot\".jpg", len(jpg))
	u.breaks(t, at, 0, jpg[:50_000], len(jpg))
	s.waits(t, `SELECT received > 0 AND holder IS NULL FROM tenant.uploads`)
	if got := u.offset(t, at); got != "50000" {
		t.Fatalf("after the tunnel the upload has %s bytes, want what had come", got)
	}
	if a := u.patch(t, at, 40_000, bytes.NewReader(jpg[40_000:])); a.status != 409 {
		t.Errorf("from where it is not: %d, want 409", a.status)
	}
	if a := u.patch(t, at, 50_000, bytes.NewReader(jpg[50_000:60_000])); a.status != 204 || a.header.Get("Herald-Media") != "" {
		t.Fatalf("%d: %s", a.status, a.body)
	}
	last := u.patch(t, at, 60_000, bytes.NewReader(jpg[60_000:]))
	media := last.header.Get("Herald-Media")
	if last.status != 204 || media == "" || last.header.Get("Herald-Again") != "" || last.header.Get("Upload-Offset") != fmt.Sprint(len(jpg)) {
		t.Fatalf("%d, %v: %s", last.status, last.header, last.body)
	}
	row, body := u.arrived(t, media)
	sum := sha256.Sum256(jpg)
	if !bytes.Equal(body, jpg) || !bytes.Equal(row.Sha256, sum[:]) || row.UploadedBytes != int64(len(jpg)) || row.State != db.MediaScanning ||
		row.Kind != "image" || row.Type != "image/jpeg" || row.Name != "Ünser \"Brot\".jpg" || !strings.HasSuffix(row.OriginalPath, ".jpg") {
		t.Errorf("%d bytes, %+v", len(body), row)
	}
	if owed := s.count(t, "media_tasks"); owed != 1 {
		t.Errorf("%d tasks are owed, want one", owed)
	}
	if again := u.tus(t, "HEAD", at, nil); again.header.Get("Herald-Media") != media || again.header.Get("Upload-Offset") != fmt.Sprint(len(jpg)) {
		t.Errorf("asked afterwards: %v", again.header)
	}
}

func TestTheSameBytesUploadedTwiceAreOneAsset(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := photo(t, 300, 200, 90)
	var media [2]answer
	for i := range media {
		media[i] = u.patch(t, u.begin(t, fmt.Sprintf("%d.jpg", i), len(jpg)), 0, bytes.NewReader(jpg))
	}
	if id := media[0].header.Get("Herald-Media"); id == "" || media[1].header.Get("Herald-Media") != id || media[1].header.Get("Herald-Again") != "1" || s.count(t, "media") != 1 {
		t.Errorf("%v, %v, %d assets", media[0].header, media[1].header, s.count(t, "media"))
	}
	if n := s.bytesKept(t); n != 1 {
		t.Errorf("%d files in the store, want one", n)
	}
}

// TestAnUploadReplayedTwiceAtOnceIsOneAsset sends the whole of one upload four
// times, and four uploads of the same bytes, all at once.
func TestAnUploadReplayedTwiceAtOnceIsOneAsset(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := append(photo(t, 300, 200, 90), make([]byte, 1<<20)...)
	var addresses []string
	for range 4 {
		addresses = append(addresses, u.begin(t, "a.jpg", len(jpg)))
	}
	var wg sync.WaitGroup
	var lock sync.Mutex
	seen := map[string]bool{}
	for i := range 16 {
		wg.Go(func() {
			a := u.patch(t, addresses[i%4], 0, bytes.NewReader(jpg))
			if a.status == 409 { // another replay is ahead: the client asks, and goes on from there
				a = u.tus(t, "HEAD", addresses[i%4], nil)
			}
			lock.Lock()
			defer lock.Unlock()
			if a.status/100 != 2 || a.header.Get("Upload-Offset") != fmt.Sprint(len(jpg)) {
				t.Errorf("%d, %v: %s", a.status, a.header, a.body)
			}
			seen[a.header.Get("Herald-Media")] = true
		})
	}
	wg.Wait()
	if len(seen) != 1 || seen[""] || s.count(t, "media") != 1 || s.bytesKept(t) != 1 {
		t.Errorf("named %v, %d assets, %d files in the store", seen, s.count(t, "media"), s.bytesKept(t))
	}
	row, body := u.arrived(t, dbtest.Look[string](t, s.World, s.agency.Shard, `SELECT id::text FROM tenant.media`))
	if sum := sha256.Sum256(jpg); !bytes.Equal(body, jpg) || !bytes.Equal(row.Sha256, sum[:]) {
		t.Error("the bytes are not those that were sent")
	}
}

// bytesKept counts what the store holds, unfinished or whole.
func (s *studio) bytesKept(t *testing.T) int {
	t.Helper()
	return len(storedIn(t, s.folder))
}

func TestAnUploadIsRefusedByRuleBeforeItHasCome(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	const size = 1 << 20
	for name, c := range map[string]struct {
		head []byte
		say  string
	}{
		"photo.jpg":  {[]byte("<!doctype html><script>alert(1)</script>"), "“photo.jpg” is a web page (HTML), whatever its name says."},
		"cat.png":    {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">`), "“cat.png” is an SVG drawing, whatever its name says."},
		"page.png":   {[]byte("\xef\xbb\xbf\n<HTML><body>"), "“page.png” is a web page (HTML), whatever its name says."},
		"plan.docx":  {[]byte("PK\x03\x04..."), "“plan.docx” is a ZIP archive or an office document."},
		"pics.jpg":   {[]byte("PK\x03\x04"), "“pics.jpg” is a ZIP archive or an office document, whatever its name says."},
		"burst.heic": {[]byte("\x00\x00\x00\x18ftyphevc\x00\x00\x00\x00mif1hevc"), "“burst.heic” is a series of HEIC photos"},
	} {
		at := u.begin(t, name, size)
		a := u.patch(t, at, 0, bytes.NewReader(append(c.head, make([]byte, 5000)...)))
		if a.status != 422 || !strings.HasPrefix(a.body, c.say) || a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %q", name, a.status, a.body)
		}
		if gone := u.tus(t, "HEAD", at, nil); gone.status != 404 {
			t.Errorf("%s can be gone on with: %d", name, gone.status)
		}
	}
	if s.count(t, "uploads") != 0 || s.count(t, "media") != 0 || s.bytesKept(t) != 0 {
		t.Errorf("left %d uploads, %d assets, %d files", s.count(t, "uploads"), s.count(t, "media"), s.bytesKept(t))
	}
}

// What a file is called does not count, neither for what it is nor for where it is
// kept.
func TestAnUploadIsWhatItsBytesAre(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	i := 0
	for name, c := range map[string]struct {
		b                []byte
		kind, mime, want string
	}{
		"photo.jpg":                        {pngFile(t, 30), "image", "image/png", "photo.jpg"},
		"photo.png":                        {photo(t, 31, 20, 90), "image", "image/jpeg", "photo.png"},
		"page.html":                        {photo(t, 32, 20, 90), "image", "image/jpeg", "page.html"},
		"clip.jpg":                         {picked(t, "landscape.mp4"), "video", "video/mp4", "clip.jpg"},
		"IMG_0001.jpg":                     {picked(t, "photo.heic"), "image", "image/heic", "IMG_0001.jpg"},
		"IMG_0002.mp4":                     {picked(t, "movie.mov"), "video", "video/quicktime", "IMG_0002.mp4"},
		"../../../etc/passwd/C:\\x\\a.jpg": {photo(t, 33, 20, 90), "image", "image/jpeg", "a.jpg"},
		"invoice\u202e\u2067gpj.exe\u200f": {photo(t, 34, 20, 90), "image", "image/jpeg", "invoicegpj.exe"},
		strings.Repeat("é", 300) + ".jpg":  {photo(t, 35, 20, 90), "image", "image/jpeg", strings.Repeat("é", 119) + "…"},
		"<img src=x onerror=alert(1)>\x00\r\nSet-Cookie: x": {photo(t, 36, 20, 90), "image", "image/jpeg", "<img src=x onerror=alert(1)>Set-Cookie: x"},
		"\u202e\u200f\x00": {photo(t, 37, 20, 90), "image", "image/jpeg", "file"},
	} {
		i++
		last := u.patch(t, u.begin(t, name, len(c.b)), 0, bytes.NewReader(c.b))
		media := last.header.Get("Herald-Media")
		if last.status != 204 || media == "" {
			t.Errorf("%q: %d %s", name, last.status, last.body)
			continue
		}
		row, _ := u.arrived(t, media)
		if string(row.Kind) != c.kind || row.Type != c.mime || row.Name != c.want || blob.ValidKey(row.OriginalPath) != nil || blob.TypeOf(row.OriginalPath) != c.mime {
			t.Errorf("%q: %s %s %q at %s", name, row.Kind, row.Type, row.Name, row.OriginalPath)
		}
	}
	if page := s.get(t, s.owner, "/w/north/media").want(t, 200, "invoicegpj.exe"); strings.Contains(page.body, "<img src=x") || strings.ContainsAny(page.body, "\u202e\u2067\u200f") {
		t.Error("a name is more than words on the page")
	}
	if n := s.bytesKept(t); n != i {
		t.Errorf("%d files in the store, want %d", n, i)
	}
}

func pngFile(t *testing.T, w int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, w, 20))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAnUploadIsRefusedWhereItCannotStay(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	forest := s.agency.Client(t, "forest")
	viewer := uploader{s, s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants()}))}
	editor := uploader{s, s.signIn(t, s.agency.Member(t, model.Editor, map[model.ClientID][]model.Permission{s.client: model.Editor.Grants()}))}
	outsider := uploader{s, s.signIn(t, s.Agency(t, "south", dbtest.SecondShard).Owner)}
	for name, c := range map[string]struct {
		a      answer
		status int
		say    string
	}{
		"empty":              {u.create(t, s.client, "none.jpg", 0), 422, "“none.jpg” is empty."},
		"too large":          {u.create(t, s.client, "huge.mp4", uploadLimit+1), 413, "This file has 2.0 MB; the limit is 2.0 MB."},
		"a negative length":  {u.create(t, s.client, "a.jpg", -1), 400, "ERR_INVALID_UPLOAD_LENGTH"},
		"no client":          {u.create(t, 0, "a.jpg", 10), 404, ""},
		"a viewer":           {viewer.create(t, s.client, "a.jpg", 10), 403, "Your role does not allow that in this workspace."},
		"another client":     {editor.create(t, forest, "a.jpg", 10), 404, ""},
		"another workspace":  {outsider.create(t, s.client, "a.jpg", 10), 404, "There is no such workspace."},
		"nobody":             {uploader{s, &http.Client{}}.create(t, s.client, "a.jpg", 10), 401, "You are signed out."},
		"an unknown upload":  {u.tus(t, "HEAD", "/w/north/uploads/999", nil), 404, ""},
		"no number":          {u.patch(t, "/w/north/uploads/abc", 0, strings.NewReader("x")), 404, "There is no such upload."},
		"another's protocol": {u.tus(t, "POST", "/w/north/uploads", nil, "Tus-Resumable", "9.9", "Upload-Length", "10"), 412, "ERR_UNSUPPORTED_VERSION"},
	} {
		if c.a.status != c.status || !strings.HasPrefix(c.a.body, c.say) || strings.Contains(c.a.body, "<") {
			t.Errorf("%s: %d %q, want %d %q", name, c.a.status, c.a.body, c.status, c.say)
		}
	}
	if n := s.count(t, "uploads"); n != 0 {
		t.Errorf("%d uploads were begun", n)
	}
}

func TestAnUploadIsItsSendersAlone(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	colleague := uploader{s, s.signIn(t, s.agency.Member(t, model.Admin, nil))}
	jpg := photo(t, 300, 200, 90)
	at := u.begin(t, "a.jpg", len(jpg))
	for method, a := range map[string]answer{
		"HEAD": colleague.tus(t, "HEAD", at, nil), "PATCH": colleague.patch(t, at, 0, bytes.NewReader(jpg)), "DELETE": colleague.tus(t, "DELETE", at, nil),
	} {
		if a.status != 404 {
			t.Errorf("%s by a colleague: %d", method, a.status)
		}
	}
	if a := u.tus(t, "DELETE", at, nil); a.status != 204 || s.count(t, "uploads") != 0 || s.bytesKept(t) != 0 {
		t.Errorf("given up by its sender: %d, %d uploads", a.status, s.count(t, "uploads"))
	}
	at = u.begin(t, "a.jpg", len(jpg))
	u.patch(t, at, 0, bytes.NewReader(jpg))
	if a := u.tus(t, "DELETE", at, nil); a.status != 409 || !strings.HasPrefix(a.body, "This file is in the library already.") || s.count(t, "media") != 1 {
		t.Errorf("given up once it is an asset: %d %s", a.status, a.body)
	}
}

func TestOpenUploadsCountInTheStorage(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	s.Super(t, s.agency.Shard, `UPDATE tenant.tenants SET media_bytes = 3000000`)
	at := u.begin(t, "a.jpg", uploadLimit)
	a := u.create(t, s.client, "b.jpg", uploadLimit)
	if a.status != 413 || a.body != "The workspace's storage has no room for this: 0 of 2 MB are used, and uploads under way take another 2 MB. Wait for them, or cancel one." {
		t.Errorf("%d %q", a.status, a.body)
	}
	u.tus(t, "DELETE", at, nil)
	at = u.begin(t, "b.jpg", uploadLimit)
	if a := u.patch(t, at, 0, bytes.NewReader(append(photo(t, 30, 20, 90), make([]byte, uploadLimit)...)[:uploadLimit])); a.status != 204 || s.count(t, "media") != 1 {
		t.Errorf("an upload stands in its own way: %d %s", a.status, a.body)
	}
}

func TestAFullDiskStopsAnUploadAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := append(photo(t, 300, 200, 90), make([]byte, 100_000)...)
	at := u.begin(t, "a.jpg", len(jpg))
	u.patch(t, at, 0, bytes.NewReader(jpg[:50_000]))
	s.blobs.fail(fmt.Errorf("extend media: %w", blob.ErrFull))
	for range 2 { // as a client does that tries again
		if a := u.patch(t, at, 50_000, bytes.NewReader(jpg[50_000:])); a.status != 503 || !strings.HasPrefix(a.body, "There is no room left where files are kept.") {
			t.Errorf("%d %q", a.status, a.body)
		}
	}
	s.blobs.heal()
	if got := u.offset(t, at); got != "50000" {
		t.Errorf("%s bytes are left", got)
	}
	s.blobs.failing("finish", blob.ErrAway)
	if a := u.patch(t, at, 50_000, bytes.NewReader(jpg[50_000:])); a.status != 503 || s.count(t, "media") != 0 {
		t.Errorf("a store that is away at the end: %d %q", a.status, a.body)
	}
	if a := u.tus(t, "HEAD", at, nil); a.status != 503 {
		t.Errorf("while it is away nobody may think the upload is done: %d", a.status)
	}
	s.blobs.heal()
	a := u.tus(t, "HEAD", at, nil)
	if _, body := u.arrived(t, a.header.Get("Herald-Media")); !bytes.Equal(body, jpg) {
		t.Errorf("%d, %d bytes", a.status, len(body))
	}
}

func TestAnUploadWhoseBytesAreLostSaysSo(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := append(photo(t, 300, 200, 90), make([]byte, 100_000)...)
	for _, received := range []int{50_000, len(jpg)} {
		at := u.begin(t, "a.jpg", len(jpg))
		if received == len(jpg) {
			s.blobs.failing("finish", blob.ErrAway)
		}
		u.patch(t, at, 0, bytes.NewReader(jpg[:received]))
		s.blobs.heal()
		draft := dbtest.Look[blob.Draft](t, s.World, s.agency.Shard, `SELECT draft FROM tenant.uploads`)
		if err := s.blobs.Abandon(t.Context(), draft); err != nil {
			t.Fatal(err)
		}
		if a := u.patch(t, at, received, bytes.NewReader(jpg[received:])); a.status != 410 || !strings.HasPrefix(a.body, "What had arrived of this file is not there any more.") || s.count(t, "uploads") != 0 {
			t.Errorf("of %d: %d %q", received, a.status, a.body)
		}
	}
}

// TestAHolderThatDiedGivesWay: a process that was killed in the middle holds an
// upload no longer than its lease.
func TestAHolderThatDiedGivesWay(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := photo(t, 300, 200, 90)
	at := u.begin(t, "a.jpg", len(jpg))
	s.Super(t, s.agency.Shard, `UPDATE tenant.uploads SET holder = 'a process that was killed', held_until = $1`, s.Clock.Now().Add(db.UploadLease))
	answers := make(chan answer, 1)
	go func() { answers <- u.patch(t, at, 0, bytes.NewReader(jpg)) }()
	s.waits(t, `SELECT wanted FROM tenant.uploads`)
	s.Clock.Advance(db.UploadLease)
	if a := <-answers; a.status != 204 || s.count(t, "media") != 1 {
		t.Errorf("%d: %s", a.status, a.body)
	}
}

// TestTheNextRequestTakesAnUploadFromOneThatHangs: the browser is back before the
// server has noticed that its last connection is dead.
func TestTheNextRequestTakesAnUploadFromOneThatHangs(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := append(photo(t, 300, 200, 90), make([]byte, 100_000)...)
	at := u.begin(t, "a.jpg", len(jpg))
	in, out := io.Pipe()
	defer out.Close()
	r, _ := http.NewRequestWithContext(t.Context(), "PATCH", u.server.URL+at, in)
	for name, value := range map[string]string{"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"} {
		r.Header.Set(name, value)
	}
	r.ContentLength = int64(len(jpg))
	var hung sync.WaitGroup
	defer hung.Wait()
	hung.Go(func() {
		if a, err := u.who.Do(r); err == nil {
			_ = a.Body.Close()
		}
	})
	if _, err := out.Write(jpg[:60_000]); err != nil {
		t.Fatal(err)
	}
	s.waits(t, `SELECT holder IS NOT NULL FROM tenant.uploads`)
	got := u.offset(t, at)
	var n int
	if _, err := fmt.Sscan(got, &n); err != nil || n == 0 || n > 60_000 {
		t.Fatalf("%s bytes are safe, of 60,000 that were sent", got)
	}
	if a := u.patch(t, at, n, bytes.NewReader(jpg[n:])); a.status != 204 {
		t.Errorf("%d: %s", a.status, a.body)
	}
	if _, body := u.arrived(t, dbtest.Look[string](t, s.World, s.agency.Shard, `SELECT id::text FROM tenant.media`)); !bytes.Equal(body, jpg) {
		t.Error("the bytes are not those that were sent")
	}
}

func TestAFileRefusedBeforeIsRefusedAgain(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := photo(t, 300, 200, 90)
	u.patch(t, u.begin(t, "a.jpg", len(jpg)), 0, bytes.NewReader(jpg))
	s.Super(t, s.agency.Shard, `UPDATE tenant.media SET state = 'quarantined', reason = 'It holds a virus.'`)
	a := u.patch(t, u.begin(t, "b.jpg", len(jpg)), 0, bytes.NewReader(jpg))
	if a.status != 422 || a.body != "This file was refused before: It holds a virus." || a.header.Get("Herald-Media") != "" {
		t.Errorf("%d %q %v", a.status, a.body, a.header)
	}
	if s.count(t, "uploads") != 1 || s.bytesKept(t) != 1 {
		t.Errorf("%d uploads, %d files", s.count(t, "uploads"), s.bytesKept(t))
	}
}

func TestTooFewFirstBytesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	u := s.uploader()
	jpg := photo(t, 300, 200, 90)
	at := u.begin(t, "a.jpg", len(jpg))
	u.breaks(t, at, 0, jpg[:10], len(jpg))
	if got := u.offset(t, at); got != "0" {
		t.Errorf("%s bytes", got)
	}
	if a := u.patch(t, at, 0, bytes.NewReader(jpg)); a.status != 204 || a.header.Get("Herald-Media") == "" {
		t.Errorf("%d: %s", a.status, a.body)
	}
}
