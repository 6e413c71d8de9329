package darkroom_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"strings"
	"testing"

	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
	"herald/jobs/darkroom"
)

func heic(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../db/picture/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// corners are the colours in the middle of each quarter: upper left, upper right,
// lower left, lower right, each as the channel that leads, or white.
func corners(t *testing.T, path string) (said string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := jpeg.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	for _, at := range []image.Point{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		c := color.NRGBAModel.Convert(img.At(b.Dx()*at.X/4, b.Dy()*at.Y/4)).(color.NRGBA)
		switch {
		case c.R > 200 && c.G > 200 && c.B > 200:
			said += "w"
		case c.R > 200:
			said += "r"
		case c.G > 150:
			said += "g"
		case c.B > 200:
			said += "b"
		default:
			said += "?"
		}
	}
	return said
}

// A phone turns a HEIC photo by a note in the file, and leaves the same note in the
// camera's data, where it must not count again.
func TestPhotosOfPhonesBecomeJPEG(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		width, height int
		corners       string
	}{"photo.heic": {128, 96, "rgbw"}, "tiles.heic": {64, 48, "rgbw"}, "turned.heic": {96, 128, "brwg"}} {
		p, err := room(t).Develop(t.Context(), open(t, heic(t, name)), t.TempDir())
		if err != nil || p.Published.Facts.Type != picture.JPEG || p.Published.Facts.Width != want.width || p.Published.Facts.Height != want.height || picture.Blur(p.Placeholder, 16) == nil {
			t.Errorf("%s: %+v, %v", name, p, err)
			continue
		}
		if got := corners(t, p.Published.Path); got != want.corners {
			t.Errorf("%s shows %s, want %s", name, got, want.corners)
		}
		if b, err := os.ReadFile(p.Published.Path); err != nil || bytes.Contains(b, []byte("Exif")) {
			t.Errorf("%s: it still tells what the camera wrote: %v", name, err)
		}
	}
	recipe := network.Recipe{Type: "image/jpeg", Crop: model.Crop{X: 0, Y: 0, Width: 96, Height: 64}, Width: 48, Height: 32, Bytes: 100_000}
	f, err := room(t).Render(t.Context(), open(t, heic(t, "turned.heic")), recipe, t.TempDir())
	if err != nil || f.Facts.Width != 48 || f.Facts.Height != 32 {
		t.Errorf("by recipe: %+v, %v", f, err)
	} else if got := corners(t, f.Path); got != "brbr" { // the upper half

		t.Errorf("by recipe it shows %s", got)
	}
}

func TestPhotosThatCannotBeOpenedAreRefusedInWords(t *testing.T) {
	t.Parallel()
	whole := heic(t, "photo.heic")
	noise := bytes.Clone(whole)
	for i := bytes.Index(noise, []byte("mdat")) + 4; i < len(noise); i++ {
		noise[i] = byte(i * 7)
	}
	for what, c := range map[string]struct {
		room *darkroom.Room
		b    []byte
		say  string
	}{
		"without the tool": {room(t).WithoutTools(), whole, "no heif-convert to open it. Export it as JPEG"},
		"cut":              {room(t), whole[:len(whole)-50], "cut short"},
		"noise":            {room(t), noise, "This photo is damaged"},
	} {
		dir := t.TempDir()
		_, err := c.room.Develop(t.Context(), open(t, c.b), dir)
		if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, c.say) {
			t.Errorf("%s: %v", what, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: it leaves %v, %v", what, left, err)
		}
	}
}
