package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
	"github.com/jackc/pgx/v5"

	"herald/cmd/internal/browser"
	"herald/db"
	"herald/db/picture"
)

// film is a video file of about size bytes: a short one, padded as the format
// allows. Each name makes another.
func film(t *testing.T, name string, size int) string {
	t.Helper()
	short, err := os.ReadFile("../../db/picture/testdata/landscape.mp4")
	if err != nil {
		t.Fatal(err)
	}
	box := make([]byte, max(size-len(short), 64))
	binary.BigEndian.PutUint32(box, uint32(len(box)))
	copy(box[4:], "free"+name)
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, slices.Concat(short, box), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sketch is a picture file in a folder; each seed makes another.
func sketch(t *testing.T, dir, name string, seed uint64) string {
	t.Helper()
	path := filepath.Join(dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, painted(t, picture.Coast, seed, 90, 60), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// drag drops files from the desktop onto what a selector finds.
func (p *tab) drag(selector string, paths ...string) {
	p.t.Helper()
	el, err := p.Timeout(patience).Element(selector)
	if err != nil {
		p.t.Fatal(err)
	}
	at, err := p.aim(el)
	if err != nil {
		p.t.Fatal(err)
	}
	data := &proto.InputDragData{Items: []*proto.InputDragDataItem{}, Files: paths, DragOperationsMask: 1}
	for _, kind := range []proto.InputDispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		if err := (proto.InputDispatchDragEvent{Type: kind, X: at.X, Y: at.Y, Data: data}).Call(p.Page); err != nil {
			p.t.Fatal(err)
		}
	}
}

// line breaks the connection, or mends it.
func (p *tab) line(broken bool) {
	p.t.Helper()
	p.cut = p.cut || broken
	err := proto.NetworkEmulateNetworkConditions{Offline: broken, DownloadThroughput: -1, UploadThroughput: -1}.Call(p.Page)
	if err != nil {
		p.t.Fatal(err)
	}
}

// stored is the asset that a file of the desktop became, if it has become one.
func (a *agency) stored(t *testing.T, path string) (one db.Asset, ok bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	page, err := a.owner.Library(t.Context(), db.LibraryFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, asset := range page.Assets {
		if slices.Equal(asset.Sha256, sum[:]) {
			return asset.Asset, true
		}
	}
	return one, false
}

// uploads asks the database about the agency's uploads.
func (a *agency) uploads(t *testing.T, what string) (n int64) {
	t.Helper()
	url := here.config.DatabaseURL
	if a.owner.Workspace.Shard == secondShard {
		url = here.config.ShardURLs[secondShard]
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), "SELECT "+what+" FROM tenant.uploads WHERE tenant_id = $1", a.owner.Actor.Tenant).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// percent is how far the first upload of the page is.
func (p *tab) percent() int {
	v, err := p.Eval(`() => document.querySelector(".upload-bar")?.value ?? 0`)
	if err != nil {
		return 0
	}
	return v.Value.Int()
}

func TestFilesAreDraggedFromTheDesktopOntoTheLibrary(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.refuses(invalid)
	p.visit(a.path("/media"))
	bad := filepath.Join(t.TempDir(), "page.jpg")
	if err := os.WriteFile(bad, []byte("<!doctype html><title>no picture</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	jpg, mp4 := photo(t, "rye.jpg"), film(t, "oven.mp4", 1<<20)
	p.drag("#main", jpg, mp4, bad)
	p.find("field", "They belong to")
	if p.look("button", "Cancel: rye.jpg") != nil {
		t.Error("it began before anybody said whose files these are")
	}
	p.chooses("They belong to", "Bakery")
	p.sees("2 files in the library, one file not taken", "“page.jpg” is a web page (HTML), whatever its name says.")
	for _, path := range []string{jpg, mp4} {
		one, ok := a.stored(t, path)
		if !ok || one.Name != filepath.Base(path) || one.ClientID != a.client(t, "bakery") {
			t.Errorf("%s became %+v", path, one)
		}
		p.says("#assets", one.Name)
	}
	p.judge(axeSource(t))
	p.press("button", "Clear")
	p.drag("#assets", jpg)
	p.sees("The client’s library had this file already; it is the same one.")
	p.until("two cards, each once", func() bool {
		n, err := p.Elements(".asset")
		return err == nil && len(n) == 2
	})
	p.fits()
}

// chooses picks an entry of a select by its words.
func (p *tab) chooses(field, words string) {
	p.t.Helper()
	if err := p.find("field", field).Select([]string{words}, true, "text"); err != nil {
		p.t.Fatal(err)
	}
}

func TestAnUploadGoesOnAfterTheConnectionWasLost(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum"))))
	long := film(t, "long.mp4", 12<<20)
	gate := here.front.gated(t, a.path("/uploads"), 4<<20)
	p.drag("#main", long)
	p.until("a third of the file", func() bool { return p.percent() >= 33 && gate.room.Load() <= 0 })
	p.line(true)
	p.sees("The connection is lost. It goes on by itself.")
	if _, whole := a.stored(t, long); whole {
		t.Fatal("it had arrived already")
	}
	p.line(false)
	close(gate.open)
	p.sees("One file in the library")
	if one, whole := a.stored(t, long); !whole || one.UploadedBytes != 12<<20 {
		t.Errorf("it became %+v", one)
	}
	if n := a.uploads(t, "count(*)"); n != 1 {
		t.Errorf("%d uploads: it began again instead of going on", n)
	}
}

func TestAnUploadGoesOnAfterTheTabWasClosed(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	address := a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum")))
	p.visit(address)
	long := film(t, "long.mp4", 12<<20)
	gate := here.front.gated(t, a.path("/uploads"), 4<<20)
	p.drag("#main", long)
	p.until("a third of the file", func() bool { return p.percent() >= 33 && gate.room.Load() <= 0 })
	q := p.second()
	if _, err := (proto.TargetCloseTarget{TargetID: p.TargetID}).Call(p.Page.Browser()); err != nil {
		t.Fatal(err)
	}
	q.visit(address)
	q.sees("long.mp4", "Not here whole yet, 12 MB. Choose the file again, and it goes on where it stopped.")
	before := a.uploads(t, "received")
	if before == 0 {
		t.Error("nothing had arrived, so nothing can go on")
	}
	close(gate.open)
	q.drag("#main", long)
	q.sees("One file in the library")
	q.misses("Not here whole yet")
	if _, whole := a.stored(t, long); !whole {
		t.Error("it is not in the library")
	}
	if n := a.uploads(t, "count(*)"); n != 1 {
		t.Errorf("%d uploads: it began again instead of going on", n)
	}
}

// TestAnUploadBelongsToTheTabThatSendsIt: another one neither takes it for left behind
// nor sends the same file meanwhile.
func TestAnUploadBelongsToTheTabThatSendsIt(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	address := a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum")))
	p.visit(address)
	long := film(t, "long.mp4", 12<<20)
	gate := here.front.gated(t, a.path("/uploads"), 4<<20)
	p.drag("#main", long)
	p.until("a third of the file", func() bool { return p.percent() >= 33 && gate.room.Load() <= 0 })
	q := p.second()
	q.visit(address)
	q.drag("#main", long)
	q.sees("One file stopped", "This file is on its way already, here or in another tab.")
	if strings.Contains(q.text(), "Not here whole yet") {
		t.Error("what is under way in one tab counts as left behind in the other")
	}
	close(gate.open)
	p.sees("One file in the library")
	q.press("button", "Try again: long.mp4")
	q.sees("One file in the library", "The client’s library had this file already; it is the same one.")
}

func TestAnUploadIsCancelled(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Phone, a.anna())
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum"))))
	long := film(t, "long.mp4", 12<<20)
	gate := here.front.gated(t, a.path("/uploads"), 4<<20)
	p.press("link", "Upload")
	p.upload("#upload-file", long)
	p.until("some of the file", func() bool { return p.percent() >= 5 && gate.room.Load() <= 0 })
	p.fits()
	p.press("button", "Cancel: long.mp4")
	p.sees("Cancelled")
	p.until("the upload to be given up", func() bool {
		return a.uploads(t, "count(*)") == 0
	})
	if strings.Contains(p.text(), "in the library") {
		t.Error("it says that it arrived")
	}
}

func TestFilesAreDraggedFromTheDesktopOntoThePost(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts/new"))
	p.press("box", "Mastodon @museum@social.example")
	p.says(".client-head", "1 of 4 chosen")
	p.fill("Text", "Half a sentence")
	dir := t.TempDir()
	rye, oats := sketch(t, dir, "rye.jpg", 1), sketch(t, dir, "oats.jpg", 2)
	p.drag("#composer-media", rye, oats)
	p.sees("2 files in the library")
	p.says(".attachments", "rye.jpg")
	p.says(".attachments", "oats.jpg")
	p.until("the pictures, once they were looked at", func() bool {
		n, err := p.Elements(".attachment img.thumb")
		return err == nil && len(n) == 2
	})
	p.says("#composer-check", "Every network would take this.")
	if got := p.value("Text"); got != "Half a sentence" {
		t.Errorf("what was typed became %q", got)
	}
	for _, path := range []string{rye, oats} {
		if one, ok := a.stored(t, path); !ok || one.ClientID != a.client(t, "museum") {
			t.Errorf("%s became %+v", path, one)
		}
	}
	p.fits()
}

// TestAFileIsFetchedIntoTheLibraryInPlace: the page stays, with what is typed in it.
func TestAFileIsFetchedIntoTheLibraryInPlace(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(photo(t, "rye.jpg")))))
	t.Cleanup(files.Close)
	p := a.member(t, browser.Narrow, a.anna())
	p.refuses(invalid)
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "bakery"))))
	p.fill("Search by name, alt text or tag", "not searched for yet")
	p.press("link", "Upload")
	p.fill("Or from an address", files.URL+"/gone.jpg")
	p.press("button", "Fetch")
	p.sees("There is no file at that address any more, or never was.")
	p.fits()
	p.fill("Or from an address", files.URL+"/rye.jpg")
	p.key(input.Enter)
	p.says("#assets", "rye.jpg")
	if got := p.value("Search by name, alt text or tag"); got != "not searched for yet" {
		t.Errorf("the page was drawn again: the search says %q", got)
	}
	p.until("the dialog to close", func() bool {
		open, _, err := p.Has("dialog[open]")
		return err == nil && !open
	})
}

func TestFilesWaitUntilThePostSaysWhoseTheyAre(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	for name, says := range map[string]func(*tab){
		"rye.jpg":  func(p *tab) { p.chooses("New files belong to", "Bakery") },
		"oats.jpg": func(p *tab) { p.press("box", "Mastodon @bakery@social.example") },
	} {
		q := p.second()
		q.visit(a.path("/posts/new"))
		path := sketch(t, t.TempDir(), name, uint64(len(name)))
		q.drag("#composer-media", path)
		q.one("#owner[aria-invalid=true]")
		q.sees("One file waits for the client to be chosen")
		says(q)
		q.says(".attachments", name)
		if one, ok := a.stored(t, path); !ok || one.ClientID != a.client(t, "bakery") {
			t.Errorf("%s became %+v", name, one)
		}
	}
}

func TestAFolderIsDroppedAndAPictureIsPasted(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum"))))
	dir := t.TempDir()
	for i, name := range []string{"one.jpg", "deep/two.jpg", ".hidden.jpg"} {
		sketch(t, dir, name, uint64(i))
	}
	p.drag("#main", dir)
	p.sees("2 files in the library")
	p.says("#assets", "one.jpg")
	p.says("#assets", "two.jpg")
	if strings.Contains(p.text(), ".hidden.jpg") {
		t.Error("a hidden file went along")
	}
	_, err := p.Eval(`async () => {
		const canvas = Object.assign(document.createElement("canvas"), { width: 80, height: 60 })
		canvas.getContext("2d").fillRect(10, 10, 40, 30)
		const file = new File([await new Promise((done) => canvas.toBlob(done, "image/png"))], "image.png", { type: "image/png" })
		const data = new DataTransfer()
		data.items.add(file)
		document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
	}`)
	if err != nil {
		t.Fatal(err)
	}
	p.sees("3 files in the library")
	p.says("#assets", "image.png")
}

// A browser makes a file of a picture that is dragged, which the page has already.
func TestAPictureThatIsDraggedOverItsOwnPageIsNoNewFile(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum"))))
	p.refuses(invalid)
	drops := func(types ...string) bool {
		v, err := p.Eval(`(types) => {
			const data = new DataTransfer()
			data.items.add(new File([new Uint8Array(1000)], "image.png", { type: "image/png" }))
			return types.map((type) => !document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))).at(-1)
		}`, types)
		if err != nil {
			t.Fatal(err)
		}
		return v.Value.Bool()
	}
	if drops("dragstart", "dragenter", "dragover", "drop") || p.look("button", "Clear") != nil {
		t.Error("it was taken for a new file")
	}
	if !drops("dragend", "dragenter", "dragover", "drop") {
		t.Error("a file of the desktop is not taken after it")
	}
	p.sees("One file not taken")
}

// Office programs put a picture of what is copied beside its words.
func TestWordsThatArePastedIntoThePostStayWords(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path("/posts/new"))
	p.press("box", "Mastodon @museum@social.example")
	p.says(".client-head", "1 of 4 chosen")
	paste := func(selector string, words bool) (taken bool) {
		v, err := p.Eval(`(selector, words) => {
			const data = new DataTransfer()
			data.items.add(new File([new Uint8Array(1000)], "image.png", { type: "image/png" }))
			if (words) data.setData("text/plain", "Fresh bread")
			const e = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
			document.querySelector(selector).dispatchEvent(e)
			return e.defaultPrevented
		}`, selector, words)
		if err != nil {
			t.Fatal(err)
		}
		return v.Value.Bool()
	}
	if paste("textarea[name=text]", true) {
		t.Error("a picture of the words was taken in their stead")
	}
	p.refuses(invalid)
	if !paste("textarea[name=text]", false) || !paste("body", true) {
		t.Error("a picture is not taken any more")
	}
	p.sees("2 files not taken")
}

func TestAnUploadIsTriedAgainAfterSomebodySignedInAgain(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.refuses(http.StatusUnauthorized)
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum"))))
	if err := p.SetCookies(nil); err != nil { // nil takes all away
		t.Fatal(err)
	}
	rye := sketch(t, t.TempDir(), "rye.jpg", 1)
	p.drag("#main", rye)
	p.sees("One file stopped", "You are signed out.")
	p.signs(a, a.anna())
	p.press("button", "Try again: rye.jpg")
	p.sees("One file in the library")
	if _, whole := a.stored(t, rye); !whole {
		t.Error("it is not in the library")
	}
}

func TestAFilmIsWatchedInTheLibrary(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	p := a.member(t, browser.Desktop, a.anna())
	p.visit(a.path(fmt.Sprintf("/media?client=%d", a.client(t, "museum"))))
	p.drag("#main", film(t, "oven.mp4", 1<<20))
	p.one(".asset-play")
	p.press("link", "0:02 oven.mp4")
	p.until("the film to play", func() bool {
		at, err := p.Eval(`() => { const v = document.querySelector("dialog video"); v.muted = true; v.play().catch(() => {}); return v.currentTime }`)
		return err == nil && at.Value.Num() > 0
	})
}
