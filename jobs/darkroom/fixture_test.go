package darkroom_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"herald/db/picture"
	"herald/jobs/darkroom"
)

var filmDir string

func TestMain(m *testing.M) {
	darkroom.Serve()
	var err error
	if filmDir, err = os.MkdirTemp("", "herald-films"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(filmDir)
	os.Exit(code)
}

func room(t *testing.T) *darkroom.Room {
	t.Helper()
	r, err := darkroom.New(picture.Standard())
	if err != nil {
		t.Fatal(err)
	}
	if r.Tools() != (darkroom.Tools{Probe: true, Make: true, Photo: true, Page: true}) {
		t.Fatal("ffmpeg, ffprobe, heif-convert and pdftoppm are needed; .tools/setup.sh installs them")
	}
	return r
}

// open puts bytes into a file.
func open(t *testing.T, b []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "upload")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return reopen(t, path)
}

func reopen(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func photo(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{byte(x * 255 / w), byte(y * 255 / h), byte(x ^ y), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// films are videos that ffmpeg makes once: two seconds of 320 by 180 with sound,
// a place and a title, and others from it.
var films = sync.OnceValues(func() (map[string]string, error) {
	at := func(name string) string { return filepath.Join(filmDir, name+".mp4") }
	plain := []string{"-f", "lavfi", "-i", "testsrc2=s=320x180:r=30:d=2", "-f", "lavfi", "-i", "sine=d=2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-shortest",
		"-metadata", "title=Our secret", "-metadata", "location=+52.5200+013.4050/", at("plain")}
	for _, args := range [][]string{
		plain,
		{"-i", at("plain"), "-c", "copy", "-an", at("silent")},
		{"-i", at("plain"), "-c", "copy", "-metadata:s:v:0", "rotate=90", at("rotated")},
		// every third frame of the second second is left out
		{"-i", at("plain"), "-vf", "select='lt(t,1)+not(mod(n,3))'", "-fps_mode", "vfr", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "copy", at("uneven")},
		{"-f", "lavfi", "-i", "testsrc2=s=320x180:r=15:d=1", "-c:v", "mpeg4", at("old")},
		{"-i", at("plain"), "-c", "copy", "-movflags", "+faststart", at("index-first")},
		{"-i", at("plain"), "-an", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv422p", at("colourful")},
		{"-i", at("colourful"), "-c", "copy", "-f", "mov", at("colourful-movie")},
		// QuickTime, as phones, cameras and cutting programs write it
		{"-i", at("rotated"), "-c", "copy", "-f", "mov", at("phone")},
		{"-i", at("plain"), "-c:v", "copy", "-c:a", "pcm_s16le", "-f", "mov", at("camera")},
		{"-i", at("plain"), "-vf", "crop=319:179", "-c:v", "prores_ks", "-profile:v", "0", "-c:a", "pcm_s24le", "-f", "mov", at("master")},
	} {
		if out, err := exec.Command("ffmpeg", append([]string{"-v", "error", "-nostdin", "-y"}, args...)...).CombinedOutput(); err != nil {
			return nil, &exec.ExitError{Stderr: out}
		}
	}
	out := map[string]string{}
	for _, name := range []string{"plain", "silent", "rotated", "uneven", "old", "index-first", "colourful", "colourful-movie", "phone", "camera", "master"} {
		out[name] = at(name)
	}
	return out, nil
})

func film(t *testing.T, name string) *os.File {
	t.Helper()
	all, err := films()
	if err != nil {
		t.Fatalf("make the films: %v", err)
	}
	return reopen(t, all[name])
}
