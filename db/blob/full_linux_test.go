package blob

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// /dev/full answers every write as a full disk does.
func TestFullDiskIsSaidAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	create := f.create
	f.create = func(name string) (*os.File, error) {
		file, err := create(name)
		if err != nil {
			return nil, err
		}
		_ = file.Close() // the name stays, the writes go elsewhere
		return os.OpenFile("/dev/full", os.O_WRONLY, 0)
	}
	key := Key(7, time.Now(), "jpg")
	_, err = f.Put(t.Context(), key, strings.NewReader("too much"), Options{Size: Unknown})
	if !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	if _, err := f.Stat(t.Context(), key); !errors.Is(err, ErrNotFound) {
		t.Errorf("the object is there: %v", err)
	}
	if left, err := os.ReadDir(dir + "/.incoming"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
