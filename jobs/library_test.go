package jobs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	pic "herald/db/picture"
	"herald/jobs"
	"herald/jobs/darkroom"
	"herald/jobs/scan"
)

// archive is the media queue of one test, its tasks done by hand.
type archive struct {
	*dbtest.World
	*dbtest.Agency
	client model.ClientID
	pipe   *db.Pipeline
	store  blob.Store
	lib    *jobs.Librarian
}

func newArchive(t *testing.T, accounts ...network.Name) *archive {
	t.Helper()
	w := dbtest.New(t)
	a := &archive{World: w, Agency: w.Agency(t, "north", dbtest.SecondShard)}
	a.client = a.Client(t, "acme")
	for _, n := range accounts {
		a.Account(t, a.client, n)
	}
	var err error
	if a.pipe, err = db.OpenPipeline(t.Context(), w.Options()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.pipe.Close)
	if a.store, err = blob.OpenFolder(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	room, err := darkroom.New(pic.Standard())
	if err != nil {
		t.Fatal(err)
	}
	a.lib = &jobs.Librarian{Pipe: a.pipe, Blobs: a.store, Scanner: scan.Signature{}, Room: room, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: w.Clock.Now}
	return a
}

// upload stores bytes and records them as an upload does.
func (a *archive) upload(t *testing.T, kind network.MediaKind, mime, name string, b []byte) model.MediaID {
	t.Helper()
	sum := sha256.Sum256(b)
	ext := pic.Type(mime).Ext()
	key := blob.Key(int64(a.ID), a.Clock.Now(), ext)
	if _, err := a.store.Put(t.Context(), key, bytes.NewReader(b), blob.Options{Size: int64(len(b))}); err != nil {
		t.Fatal(err)
	}
	got, again, err := a.Owner.AddMedia(t.Context(), db.Asset{ClientID: a.client, State: db.MediaScanning, Kind: kind, Type: mime, Name: name, OriginalPath: key,
		Sha256: sum[:], UploadedBytes: int64(len(b))})
	if err != nil || again {
		t.Fatalf("add %s: again %v, %v", name, again, err)
	}
	return got.ID
}

// due takes what is due now.
func (a *archive) due(t *testing.T) (list []db.MediaTask) {
	t.Helper()
	if _, err := a.pipe.TakeMedia(t.Context(), a.Shard, 10*time.Minute, 500, func(due []db.MediaTask) error { list = due; return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// work does all that is due, and what comes of it, and returns what the log would say.
func (a *archive) work(t *testing.T) (faults []error) {
	t.Helper()
	for due := a.due(t); len(due) > 0; due = a.due(t) {
		for _, task := range due {
			if err := a.lib.Work(t.Context(), task.MediaKey); err != nil {
				faults = append(faults, err)
			}
		}
	}
	return faults
}

func (a *archive) asset(t *testing.T, id model.MediaID) db.AssetPage {
	t.Helper()
	page, err := a.Owner.Asset(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// bytes reads a stored file.
func (a *archive) bytes(t *testing.T, key string) []byte {
	t.Helper()
	o, err := a.store.Open(t.Context(), key)
	if err != nil {
		t.Fatalf("open %q: %v", key, err)
	}
	defer o.Close()
	b, err := io.ReadAll(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (a *archive) config(t *testing.T, key string) (image.Config, string) {
	t.Helper()
	c, kind, err := image.DecodeConfig(bytes.NewReader(a.bytes(t, key)))
	if err != nil {
		t.Fatalf("%q: %v", key, err)
	}
	return c, kind
}

func painted(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{byte(x), byte(y), 90, 255})
		}
	}
	return img
}

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, painted(w, h)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, painted(w, h), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func eicarText() []byte {
	return []byte(`X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`)
}

func TestAnUploadBecomesReadyWithItsRenditions(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram, network.Facebook)
	id := a.upload(t, network.Image, "image/png", "tall.png", pngOf(t, 400, 900))
	if got := a.asset(t, id); got.State != db.MediaScanning || got.Path != "" {
		t.Errorf("before: %+v", got.Asset)
	}
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	got := a.asset(t, id)
	if got.State != db.MediaReady || got.Type != "image/png" || got.Width != 400 || got.Height != 900 || got.Probe.Tool != "herald" || len(got.Placeholder) == 0 || got.Reason != "" {
		t.Errorf("after: %+v", got.Asset)
	}
	if c, kind := a.config(t, got.ThumbPath); c.Height != 640 || kind != "jpeg" {
		t.Errorf("thumbnail: %+v %s", c, kind)
	}
	// Instagram takes JPEG of at most 4:5 in posts, and of any shape in stories;
	// Facebook takes the PNG as it is.
	want := map[string][2]int{"image/jpeg 400x500 crop=0,200,400,500 bytes=8388608": {400, 500}, "image/jpeg 400x900 bytes=8000000": {400, 900}}
	for _, r := range got.Renditions {
		size, ok := want[r.Recipe]
		c, kind := a.config(t, r.Path)
		if !ok || r.State != "ready" || r.Width != size[0] || r.Height != size[1] || c.Width != size[0] || c.Height != size[1] || kind != "jpeg" || r.Progress != 100 {
			t.Errorf("rendition %+v is %+v %s", r, c, kind)
		}
	}
	if len(got.Renditions) != len(want) {
		t.Errorf("%d renditions, want %d", len(got.Renditions), len(want))
	}
}

func TestWhatHarmsIsLockedAway(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	id := a.upload(t, network.Image, "image/jpeg", "nice.jpg", append(jpegOf(t, 10, 10), eicarText()...))
	before := a.asset(t, id).OriginalPath
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	got := a.asset(t, id)
	if got.State != db.MediaQuarantined || !strings.Contains(got.Reason, "harmful (Eicar") || got.Path != "" || got.ThumbPath != "" || got.OriginalPath != blob.Quarantined(before) {
		t.Errorf("got %+v", got.Asset)
	}
	if _, err := a.store.Stat(t.Context(), before); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("its bytes lie where they lay: %v", err)
	}
	if _, err := a.store.Stat(t.Context(), got.OriginalPath); err != nil {
		t.Errorf("its bytes are gone: %v", err)
	}
	// No link reaches it, no post takes it, and no second upload.
	for _, err := range []error{
		second(a.Store.LinkedMedia(t.Context(), a.ID, id)),
		second(a.Store.MemberMedia(t.Context(), a.Owner.Actor.User, a.ID, id)),
		a.Owner.RetryMedia(t.Context(), id),
	} {
		if _, ok := model.Refused(err); !ok {
			t.Errorf("got %v, want a refusal", err)
		}
	}
	account := a.Account(t, a.client, network.Mastodon)
	page, err := a.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "x", Accounts: []model.AccountID{account}, Media: []model.ContentMedia{{ID: id}}}})
	if err == nil {
		_, err = a.Owner.SubmitPost(t.Context(), db.Submission{Post: page.Post.ID, Seen: page.Post.Revision})
	}
	if _, ok := model.Refused(err); !ok {
		t.Errorf("a post with it: %v, want a refusal", err)
	}
	if _, known, err := a.Owner.KnownMedia(t.Context(), a.client, [32]byte(got.Sha256)); !known || err == nil {
		t.Errorf("the same bytes again: known %v, %v", known, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestFilesWaitForAScannerThatIsAway(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	a.lib.Scanner = scan.NewClamd("/nowhere/clamd.sock")
	id := a.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 20, 10))
	for range 20 { // longer than any file may fail by itself
		if faults := a.work(t); len(faults) != 1 || !errors.Is(faults[0], scan.ErrAway) {
			t.Fatalf("got %v", faults)
		}
		a.Clock.Advance(time.Minute)
	}
	got := a.asset(t, id)
	if got.State != db.MediaScanning || !strings.Contains(got.Reason, "Not yet scanned") {
		t.Errorf("while it is away: %s, %q", got.State, got.Reason)
	}
	a.lib.Scanner = scan.Signature{}
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := a.asset(t, id); got.State != db.MediaReady || got.Reason != "" {
		t.Errorf("once it is back: %s, %q", got.State, got.Reason)
	}
}

// fixed is a scanner that always says the same.
type fixed struct{ v scan.Verdict }

func (f fixed) Scan(_ context.Context, r io.Reader) (scan.Verdict, error) {
	_, err := io.Copy(io.Discard, r)
	return f.v, err
}
func (fixed) Ping(context.Context) error { return nil }

func TestTooLargeToScanIsNeverClean(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	a.lib.Scanner = fixed{scan.Verdict{TooLarge: true}}
	id := a.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 20, 10))
	a.work(t)
	if got := a.asset(t, id); got.State != db.MediaRefused || !strings.Contains(got.Reason, "too large to scan") {
		t.Fatalf("got %s, %q", got.State, got.Reason)
	}
	a.lib.Scanner = scan.Signature{} // the operator raised the limit
	if err := a.Owner.RetryMedia(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	a.work(t)
	if got := a.asset(t, id); got.State != db.MediaReady {
		t.Errorf("after another look: %s, %q", got.State, got.Reason)
	}
}

func TestBrokenFilesAreRefusedWithTheirRule(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	wide := bytes.Clone(pngOf(t, 10, 10)) // and its header's checksum put right, or the walk would stop there
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing": {nil, "is empty"},
		"page":    {[]byte("<!doctype html><script>alert(1)</script>"), "is a web page (HTML)"},
		"bomb":    {bombPNG(t), "30,000 × 30,000 pixels; the limit is 50 megapixels"},
		"frames":  {gifOf(t, 2000, 40, 20), "This GIF has 2,000 frames; the limit is 1,000."},
		"cut":     {jpegOf(t, 200, 100)[:900], "cut short"},
		"noise":   {append(jpegOf(t, 200, 100)[:700], append(bytes.Repeat([]byte{0x55}, 400), 0xff, 0xd9)...), "damaged"},
		"nobody":  {wide[:40], "cut short"},
	} {
		id := a.upload(t, network.Image, "image/jpeg", name, c.b)
		a.work(t)
		if got := a.asset(t, id); got.State != db.MediaRefused || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: %s, %q, want %q", name, got.State, got.Reason, c.want)
		}
	}
}

// A worker that is killed leaves its task to the next; two at once do it once.
func TestAFileIsWorkedOnByOne(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	id := a.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 20, 10))
	task := a.due(t)[0]
	if _, err := a.pipe.BeginMedia(t.Context(), task.MediaKey, 2*time.Minute); err != nil { // and dies
		t.Fatal(err)
	}
	if err := a.lib.Work(t.Context(), task.MediaKey); err != nil || a.asset(t, id).State != db.MediaScanning {
		t.Errorf("another worked on it meanwhile: %v", err)
	}
	if len(a.due(t)) != 0 {
		t.Error("it is handed out while its lease lasts")
	}
	a.Clock.Advance(3 * time.Minute)
	task = a.due(t)[0]
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if err := a.lib.Work(t.Context(), task.MediaKey); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	got := a.asset(t, id)
	if got.State != db.MediaReady {
		t.Fatalf("after the lease: %s, %q", got.State, got.Reason)
	}
	if n := a.stored(t); n != 3 { // what was uploaded, what is published, the thumbnail
		t.Errorf("%d files are stored, want 3", n)
	}
}

// stored counts what the tables know of, and fails for what is not there.
func (a *archive) stored(t *testing.T) int {
	t.Helper()
	keys := dbtest.Look[[]string](t, a.World, a.Shard, `SELECT array_agg(p) FROM (SELECT unnest(ARRAY[path, thumb_path, original_path]) AS p FROM tenant.media UNION ALL SELECT path FROM tenant.media_renditions) x WHERE p <> ''`)
	for _, k := range keys {
		if _, err := a.store.Stat(t.Context(), k); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	return len(keys)
}

// A file that takes its worker down each time is given up, and no other is held up.
func TestAFileThatKillsItsWorkersIsGivenUp(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	id := a.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 20, 10))
	for range 6 {
		task := a.due(t)[0]
		if _, err := a.pipe.BeginMedia(t.Context(), task.MediaKey, 2*time.Minute); err != nil {
			t.Fatal(err)
		}
		a.Clock.Advance(11 * time.Minute)
	}
	a.work(t)
	if got := a.asset(t, id); got.State != db.MediaRefused || !strings.Contains(got.Reason, "stopped several times") {
		t.Errorf("got %s, %q", got.State, got.Reason)
	}
}

// flaky is a store that answers 503 for a while.
type flaky struct {
	blob.Store
	left int
}

func (b *flaky) Put(ctx context.Context, key string, r io.Reader, o blob.Options) (blob.Info, error) {
	if b.left--; b.left >= 0 {
		return blob.Info{}, fmt.Errorf("503: %w", blob.ErrAway)
	}
	return b.Store.Put(ctx, key, r, o)
}

func TestFilesWaitForAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	a.lib.Blobs = &flaky{a.store, 9}
	id := a.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 20, 10))
	a.work(t)
	if got := a.asset(t, id); got.State != db.MediaProcessing || !strings.Contains(got.Reason, "does not answer") {
		t.Errorf("meanwhile: %s, %q", got.State, got.Reason)
	}
	for range 9 {
		a.Clock.Advance(time.Minute)
		a.work(t)
	}
	if got := a.asset(t, id); got.State != db.MediaReady {
		t.Errorf("in the end: %s, %q", got.State, got.Reason)
	}
}

// A worker without room to work in puts files off for as long as it takes.
func TestFilesWaitForRoomToWorkIn(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	id := a.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 20, 10))
	for n := range 10 { // longer than any file may fail by itself
		full := fmt.Errorf("develop: %w", darkroom.ErrFull)
		if n%2 == 1 {
			full = &fs.PathError{Op: "write", Path: "herald-scan", Err: syscall.ENOSPC} // beside the darkroom
		}
		w, err := a.pipe.BeginMedia(t.Context(), a.due(t)[0].MediaKey, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.lib.Settle(t.Context(), w, full); !errors.Is(err, full) {
			t.Errorf("the log would say %v", err)
		}
		a.Clock.Advance(3 * time.Minute)
	}
	if got := a.asset(t, id); got.State != db.MediaScanning || !strings.Contains(got.Reason, "no room left to work on files") {
		t.Errorf("meanwhile: %s, %q", got.State, got.Reason)
	}
	a.work(t)
	if got := a.asset(t, id); got.State != db.MediaReady {
		t.Errorf("in the end: %s, %q", got.State, got.Reason)
	}
}

// On a busy machine the clock ends work on a good file; it waits, and says so.
func TestABusyMachineTriesAFileAgain(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	calm, limits := a.lib.Room, pic.Standard()
	limits.Time = time.Nanosecond // over before any process has begun
	var err error
	if a.lib.Room, err = darkroom.New(limits); err != nil {
		t.Fatal(err)
	}
	id := a.upload(t, network.Image, "image/jpeg", "a.jpg", jpegOf(t, 20, 10))
	if faults := a.work(t); len(faults) != 1 || !errors.Is(faults[0], darkroom.ErrStopped) {
		t.Errorf("the log would say %v", faults)
	}
	if got := a.asset(t, id); got.State != db.MediaProcessing || !strings.Contains(got.Reason, "too busy") {
		t.Errorf("meanwhile: %s, %q", got.State, got.Reason)
	}
	a.lib.Room = calm
	a.Clock.Advance(time.Minute)
	a.work(t)
	if got := a.asset(t, id); got.State != db.MediaReady {
		t.Errorf("in the end: %s, %q", got.State, got.Reason)
	}
}

// TestDeletedFilesLeaveTheStoreAtOnce: until they are gone, an address that the
// object store signed before leads to them.
func TestDeletedFilesLeaveTheStoreAtOnce(t *testing.T) {
	t.Parallel()
	a := newArchive(t, network.Instagram)
	id := a.upload(t, network.Image, "image/png", "a.png", pngOf(t, 400, 400))
	a.work(t)
	page := a.asset(t, id)
	keys := []string{page.Path, page.ThumbPath, page.OriginalPath, page.Renditions[0].Path}
	if err := a.Owner.DeleteMedia(t.Context(), []model.MediaID{id}, false); err != nil {
		t.Fatal(err)
	}
	if faults := a.work(t); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, k := range keys {
		if _, err := a.store.Stat(t.Context(), k); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s is still there: %v", k, err)
		}
	}
	if n := dbtest.Look[int](t, a.World, a.Shard, `SELECT count(*) FROM tenant.media_tasks`); n != 0 {
		t.Errorf("%d tasks are left", n)
	}
}
