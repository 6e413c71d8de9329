package blob_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"herald/db/blob"
	"herald/db/blob/blobtest"
)

func folder(t *testing.T) (*blob.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "media")
	f, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

// files lists all that lies below dir, with the mode of each.
func files(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		all[strings.TrimPrefix(path, dir)] = info.Mode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFolderPassesTheStoreSuite(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store {
		f, dir := folder(t)
		t.Cleanup(func() {
			for _, name := range []string{".incoming", ".drafts"} {
				if left := files(t, filepath.Join(dir, name)); len(left) != 1 {
					t.Errorf("left behind in %s: %v", name, left)
				}
			}
		})
		return f
	})
}

func TestFolderLetsReadersReadOnWhileItIsReplaced(t *testing.T) {
	t.Parallel()
	f, _ := folder(t)
	key := blob.Key(7, time.Now(), "jpg")
	write := func(body string) {
		if _, err := f.Put(t.Context(), key, strings.NewReader(body), blob.Options{Size: blob.Unknown}); err != nil {
			t.Fatal(err)
		}
	}
	write("the first picture")
	o, err := f.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	write("the second")
	if got, err := io.ReadAll(o); err != nil || string(got) != "the first picture" {
		t.Errorf("the reader got %q, %v", got, err)
	}
}

func TestFolderIsClosedToOtherUsers(t *testing.T) {
	t.Parallel()
	f, dir := folder(t)
	key := blob.Key(7, time.Now(), "jpg")
	if _, err := f.Put(t.Context(), key, strings.NewReader("x"), blob.Options{Size: 1}); err != nil {
		t.Fatal(err)
	}
	for name, mode := range files(t, dir) {
		if mode.Perm()&0o077 != 0 {
			t.Errorf("%q has mode %v", name, mode)
		}
	}
}

func TestFolderDoesNotFollowALinkOutside(t *testing.T) {
	t.Parallel()
	f, dir := folder(t)
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "tenants/7"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "tenants/7/media")); err != nil {
		t.Fatal(err)
	}
	_, err := f.Put(t.Context(), blob.Key(7, time.Now(), "jpg"), strings.NewReader("x"), blob.Options{Size: 1})
	if err == nil || len(files(t, outside)) != 1 {
		t.Errorf("put through a link: %v, outside now holds %v", err, files(t, outside))
	}
}

func TestFolderClearsWhatDeadWritersLeft(t *testing.T) {
	t.Parallel()
	_, dir := folder(t)
	for name, age := range map[string]time.Duration{
		".incoming/old": 25 * time.Hour, ".incoming/young": 23 * time.Hour, ".drafts/old": 31 * 24 * time.Hour, ".drafts/young": 29 * 24 * time.Hour,
	} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Now(), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	again, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, name := range []string{".incoming", ".drafts"} {
		if left := files(t, filepath.Join(dir, name)); len(left) != 2 || left["/young"] == 0 {
			t.Errorf("left in %s: %v, want only the one that may still be written", name, left)
		}
	}
}

func TestFolderMemoryDoesNotGrowWithTheObject(t *testing.T) {
	f, _ := folder(t)
	key := blob.Key(7, time.Now(), "mp4")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body := io.LimitReader(zeros{}, 64<<20)
	if _, err := f.Put(t.Context(), key, body, blob.Options{Size: 64 << 20}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 1<<20 {
		t.Errorf("64 MiB took %d bytes of memory", grew)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestOpenURLTakesAFolderAndMakesIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "with space", "media")
	s, err := blob.OpenURL("file://"+strings.ReplaceAll(dir, " ", "%20"), blob.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	if err := blob.Check(t.Context(), s); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

func TestCheckSaysWhenTheFolderIsGone(t *testing.T) {
	t.Parallel()
	f, dir := folder(t)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := blob.Check(t.Context(), f); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestTypesFollowTheExtension(t *testing.T) {
	t.Parallel()
	for ext, want := range map[string]string{
		"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif", "heic": "image/heic", "mp4": "video/mp4", "mov": "video/quicktime", "pdf": "application/pdf",
		"html": "application/octet-stream", "svg": "application/octet-stream",
	} {
		if got := blob.TypeOf(blob.Key(7, time.Now(), ext)); got != want {
			t.Errorf("%s: %s", ext, got)
		}
	}
}
