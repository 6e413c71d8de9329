//go:build !race

package darkroom_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"herald/db/picture"
	"herald/jobs/darkroom"
)

// What the race detector adds to a process is not the program's, and more than a
// child may have.

// A phone's picture of 12 megapixels, turned, which takes the most.
func TestOnePictureTakesLittleMemory(t *testing.T) {
	t.Parallel()
	b := photo(t, 4000, 3000)
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00")
	turned := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(exif)+2)), append(exif, b[2:]...)...)
	for what, b := range map[string][]byte{"upright": b, "turned": turned} {
		p, err := room(t).Develop(t.Context(), open(t, b), t.TempDir())
		if err != nil || (what == "turned") != (p.Published.Facts.Height == 4000) {
			t.Errorf("%s: %+v, %v", what, p.Published, err)
		}
		if p.Peak < 10<<20 || p.Peak > 150<<20 {
			t.Errorf("%s: %d MB at most, want less than 150", what, p.Peak>>20)
		}
		t.Logf("%s: %d MB", what, p.Peak>>20)
	}
}

// A child that needs more memory than it has dies alone.
func TestMemoryThatRunsOutCostsTheChild(t *testing.T) {
	t.Parallel()
	limits := picture.Standard()
	limits.Memory = 1 // the picture's own estimate is over it, which is refused before anything is decoded
	r, err := darkroom.New(limits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Develop(t.Context(), open(t, photo(t, 1500, 1000)), t.TempDir()); err == nil || !strings.Contains(err.Error(), "of memory to open") {
		t.Errorf("got %v", err)
	}
	// A process that has room for nothing but itself cannot open anything.
	if _, err := room(t).Greedy(t.Context(), 300<<20); !errors.Is(err, darkroom.ErrDied) {
		t.Errorf("a greedy child: %v, want ErrDied", err)
	}
	if _, err := room(t).Greedy(t.Context(), 10<<20); err != nil {
		t.Errorf("a modest child: %v", err)
	}
}
