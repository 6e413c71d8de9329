package darkroom_test

import (
	"context"
	"encoding/binary"
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
	"herald/db/picture/picturetest"
	"herald/jobs/darkroom"
)

func TestAPictureIsDeveloped(t *testing.T) {
	t.Parallel()
	p, err := room(t).Develop(t.Context(), open(t, photo(t, 1500, 1000)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Published; f.Facts.Width != 1500 || f.Facts.Height != 1000 || f.Facts.Type != picture.JPEG || f.Bytes < 1000 {
		t.Errorf("published: %+v", f)
	}
	if f := p.Thumb; f.Facts.Width != 640 || f.Facts.Height != 427 {
		t.Errorf("thumbnail: %+v", f)
	}
	if picture.Blur(p.Placeholder, 16) == nil {
		t.Errorf("placeholder: %x", p.Placeholder)
	}
	for _, f := range []darkroom.File{p.Published, p.Thumb} {
		b, err := os.Open(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if c, _, err := image.DecodeConfig(b); err != nil || c.Width != f.Facts.Width {
			t.Errorf("%s: %+v, %v", f.Path, c, err)
		}
	}
}

func TestAPictureIsRendered(t *testing.T) {
	t.Parallel()
	recipe := network.Recipe{Type: "image/jpeg", Crop: model.Crop{X: 250, Y: 0, Width: 1000, Height: 1000}, Width: 500, Height: 500, Bytes: 100_000}
	f, err := room(t).Render(t.Context(), open(t, photo(t, 1500, 1000)), recipe, t.TempDir())
	if err != nil || f.Facts.Width != 500 || f.Facts.Height != 500 || f.Bytes > 100_000 || f.Bytes < 1000 {
		t.Errorf("got %+v, %v", f, err)
	}
}

func TestARefusalCrossesTheBorder(t *testing.T) {
	t.Parallel()
	_, err := room(t).Develop(t.Context(), open(t, photo(t, 1500, 1000)[:2000]), t.TempDir())
	if no, ok := model.Refused(err); !ok || no.Kind != model.Unprocessable || !strings.Contains(no.Say, "cut short") {
		t.Errorf("got %v", err)
	}
}

func TestAChildThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errors.New("enough"))
	defer cancel()
	began := time.Now()
	_, err := room(t).Hang(ctx, 20)
	if err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	late, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := room(t).Hang(late, 20); !errors.Is(err, darkroom.ErrStopped) {
		t.Errorf("by the clock: %v", err)
	}
}

func TestAFileThatUsesUpItsProcessorTimeIsRefused(t *testing.T) {
	t.Parallel()
	_, err := room(t).Hang(t.Context(), 2)
	if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, "takes too long") || errors.Is(err, darkroom.ErrStopped) {
		t.Errorf("got %v", err)
	}
}

// What the clock or the system ends is done again; nothing is said against the file.
func TestABusyMachineIsNotTheFilesFault(t *testing.T) {
	t.Parallel()
	r := room(t).Hurried()
	recipe := network.Recipe{Type: "image/jpeg", Width: 300, Height: 200}
	heic, err := os.ReadFile("../../db/picture/testdata/photo.heic")
	if err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func() error{
		"inspect": func() error { return second(r.Inspect(t.Context(), open(t, photo(t, 300, 200)))) },
		"develop": func() error { return second(r.Develop(t.Context(), open(t, photo(t, 300, 200)), t.TempDir())) },
		"render":  func() error { return second(r.Render(t.Context(), open(t, photo(t, 300, 200)), recipe, t.TempDir())) },
		"photo":   func() error { return second(r.Develop(t.Context(), open(t, heic), t.TempDir())) },
		"document": func() error {
			return second(r.Document(t.Context(), open(t, picturetest.Leaflet(2, 300, 400)), t.TempDir()))
		},
		"strip": func() error { return second(r.Strip(t.Context(), film(t, "plain"), t.TempDir(), nil)) },
		"probe": func() error { return second(r.Probe(t.Context(), film(t, "plain"))) },
		"poster": func() error {
			_, _, err := r.Poster(t.Context(), film(t, "plain"), time.Second, t.TempDir())
			return err
		},
		"transcode": func() error {
			return second(r.Transcode(t.Context(), film(t, "plain"), network.Recipe{Type: "video/mp4", Codec: "h264", Width: 90, Height: 160}, time.Second, t.TempDir(), nil))
		},
		"killed": func() error { return second(room(t).Kill(t.Context())) },
	} {
		err := try()
		if _, no := model.Refused(err); no || !errors.Is(err, darkroom.ErrStopped) || errors.Is(err, darkroom.ErrUnreadable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A full disk is not the file's fault. /dev/full answers every write as one does.
func TestAFullDiskIsNotTheFilesFault(t *testing.T) {
	t.Parallel()
	full := func(names ...string) (dir string) {
		dir = t.TempDir()
		for _, name := range names {
			if err := os.Symlink("/dev/full", filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	r := room(t)
	for what, try := range map[string]func() error{
		"a picture":   func() error { return second(r.Develop(t.Context(), open(t, photo(t, 1500, 1000)), full("published"))) },
		"a thumbnail": func() error { return second(r.Develop(t.Context(), open(t, photo(t, 1500, 1000)), full("thumb"))) },
		"a rendition": func() error {
			return second(r.Render(t.Context(), open(t, photo(t, 1500, 1000)), network.Recipe{Type: "image/jpeg", Width: 1500, Height: 1000}, full("rendition")))
		},
		"a video": func() error { return second(r.Strip(t.Context(), film(t, "plain"), full("published"), nil)) },
		"one without ffmpeg": func() error {
			return second(r.WithoutTools().Strip(t.Context(), film(t, "plain"), full("published"), nil))
		},
		"a complaint": func() error { return r.Grumble(t.Context(), "Output file write error --- out of disk space?") },
	} {
		if err := try(); !errors.Is(err, darkroom.ErrFull) {
			t.Errorf("%s: %v, want ErrFull", what, err)
		} else if _, ok := model.Refused(err); ok {
			t.Errorf("%s: refused: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestAChildSeesNothingOfOurs(t *testing.T) {
	t.Setenv("HERALD_KEYS", "a-secret-key-that-no-upload-needs")
	env, err := room(t).Environment(t.Context())
	if err != nil || strings.Contains(env, "HERALD") || !strings.Contains(env, "GOMAXPROCS=1") {
		t.Errorf("the child's environment: %q, %v", env, err)
	}
}

func TestVideosAreLookedInto(t *testing.T) {
	t.Parallel()
	r := room(t)
	for name, want := range map[string]darkroom.Look{
		"plain":     {Container: "mov", VideoCodec: "h264", AudioCodec: "aac", HasAudio: true, FPS: 30, Frames: 60, Width: 320, Height: 180, Duration: 2 * time.Second},
		"silent":    {Container: "mov", VideoCodec: "h264", FPS: 30, Frames: 60, Width: 320, Height: 180, Duration: 2 * time.Second},
		"rotated":   {Container: "mov", VideoCodec: "h264", AudioCodec: "aac", HasAudio: true, FPS: 30, Frames: 60, Rotation: 270, Width: 180, Height: 320, Duration: 2 * time.Second},
		"uneven":    {Container: "mov", VideoCodec: "h264", AudioCodec: "aac", HasAudio: true, FPS: 20.5, FPSVaries: true, Frames: 40, Width: 320, Height: 180, Duration: 2 * time.Second},
		"colourful": {Container: "mov", VideoCodec: "h264 yuv422p", FPS: 30, Frames: 60, Width: 320, Height: 180, Duration: 2 * time.Second},
		"old":       {Container: "mov", VideoCodec: "mpeg4", FPS: 15, Frames: 15, Width: 320, Height: 180, Duration: time.Second},
	} {
		got, err := r.Probe(t.Context(), film(t, name))
		got.Duration = got.Duration.Round(100 * time.Millisecond) // sound ends where a frame of it does
		if err != nil || got.VideoCodec != want.VideoCodec || got.AudioCodec != want.AudioCodec || got.HasAudio != want.HasAudio || got.Rotation != want.Rotation ||
			got.Width != want.Width || got.Height != want.Height || got.Duration != want.Duration || got.FPSVaries != want.FPSVaries || got.Frames != want.Frames ||
			got.FPS < want.FPS-0.5 || got.FPS > want.FPS+0.5 {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	if _, err := r.WithoutTools().Probe(t.Context(), film(t, "plain")); !errors.Is(err, darkroom.ErrNoTool) {
		t.Errorf("without ffprobe: %v", err)
	}
}

// What a tool is given is read as MP4 whatever it says: a playlist cannot send it
// anywhere.
func TestAPlaylistIsNoVideo(t *testing.T) {
	t.Parallel()
	all, err := films()
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n" + all["plain"] + "\n#EXT-X-ENDLIST\n", "ffconcat version 1.0\nfile /etc/passwd\n"} {
		if l, err := room(t).Probe(t.Context(), open(t, []byte(body))); !errors.Is(err, darkroom.ErrUnreadable) {
			t.Errorf("%.10q: %+v, %v", body, l, err)
		}
	}
}

func TestVideosArePublishedWithoutMetadata(t *testing.T) {
	t.Parallel()
	for what, r := range map[string]*darkroom.Room{"with ffmpeg": room(t), "without": room(t).WithoutTools()} {
		for _, name := range []string{"plain", "rotated", "index-first"} {
			f, err := r.Strip(t.Context(), film(t, name), t.TempDir(), nil)
			if err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
				continue
			}
			b, err := os.ReadFile(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"secret", "+52.5200", "Lavf", "VideoHandler"} {
				if strings.Contains(string(b), word) && !(word == "VideoHandler" && what == "with ffmpeg") {
					t.Errorf("%s, %s: it still says %s", name, what, word)
				}
			}
			look, err := room(t).Probe(t.Context(), reopen(t, f.Path))
			if err != nil || look.Frames != 60 || !look.HasAudio || look.Rotation != map[string]int{"rotated": 270}[name] {
				t.Errorf("%s, %s: %+v, %v", name, what, look, err)
			}
			index := strings.Index(string(b), "moov") < strings.Index(string(b), "mdat")
			if what == "with ffmpeg" && !index {
				t.Errorf("%s: the index does not come first", name)
			}
		}
	}
}

// A QuickTime movie is published as MP4: what browsers and networks know of it is
// copied, frame by frame, and the rest made anew.
func TestMoviesBecomeMP4(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]darkroom.Look{
		"phone":           {Width: 180, Height: 320, Rotation: 270},
		"camera":          {Width: 320, Height: 180},
		"colourful-movie": {Width: 320, Height: 180},
		"master":          {Width: 318, Height: 178}, // H.264 halves the colours both ways
	} {
		var told []int
		f, err := room(t).Strip(t.Context(), film(t, name), t.TempDir(), func(percent int) { told = append(told, percent) })
		if err != nil || f.Facts.Type != picture.MP4 || f.Facts.Width != want.Width || f.Facts.Height != want.Height {
			t.Errorf("%s: %+v, %v", name, f, err)
			continue
		}
		look, err := room(t).Probe(t.Context(), reopen(t, f.Path))
		if err != nil || look.VideoCodec != "h264" || look.HasAudio != (name != "colourful-movie") || look.HasAudio && look.AudioCodec != "aac" || look.Frames != 60 || look.Rotation != want.Rotation || look.Width != want.Width {
			t.Errorf("%s: %+v, %v", name, look, err)
		}
		b, err := os.ReadFile(f.Path)
		if err != nil || strings.Contains(string(b), "secret") || strings.Contains(string(b), "+52.5200") || strings.Contains(string(b), "ftypqt") {
			t.Errorf("%s: it still tells, or is no MP4: %v", name, err)
		}
		if len(told) == 0 {
			t.Errorf("%s: nothing is told of how far it is", name)
		}
	}
	_, err := room(t).WithoutTools().Strip(t.Context(), film(t, "phone"), t.TempDir(), nil)
	if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, "no ffmpeg to make an MP4 of it. Export it as MP4") {
		t.Errorf("without ffmpeg: %v", err)
	}
}

func TestVideosGetAPoster(t *testing.T) {
	t.Parallel()
	thumb, placeholder, err := room(t).Poster(t.Context(), film(t, "rotated"), 2*time.Second, t.TempDir())
	if err != nil || thumb.Facts.Width*16 != thumb.Facts.Height*9 || thumb.Facts.Type != picture.JPEG || picture.Blur(placeholder, 16) == nil {
		t.Errorf("got %+v, %x, %v", thumb, placeholder, err)
	}
	if _, _, err := room(t).WithoutTools().Poster(t.Context(), film(t, "plain"), time.Second, t.TempDir()); !errors.Is(err, darkroom.ErrNoTool) {
		t.Errorf("without ffmpeg: %v", err)
	}
}

func TestVideosAreMadeByRecipe(t *testing.T) {
	t.Parallel()
	recipe, err := network.ParseRecipe("video/mp4 90x160 crop=45,0,90,160 bytes=2000000 codec=h264 fps=24")
	if err != nil {
		t.Fatal(err)
	}
	var told []int
	f, err := room(t).Transcode(t.Context(), film(t, "rotated"), recipe, 2*time.Second, t.TempDir(), func(percent int) { told = append(told, percent) })
	if err != nil || f.Facts.Width != 90 || f.Facts.Height != 160 || f.Facts.Rotation != 0 {
		t.Fatalf("got %+v, %v", f, err)
	}
	if len(told) == 0 || told[len(told)-1] < 90 {
		t.Errorf("told %v", told)
	}
	look, err := room(t).Probe(t.Context(), reopen(t, f.Path))
	if err != nil || look.VideoCodec != "h264" || look.AudioCodec != "aac" || look.FPS != 24 {
		t.Errorf("made: %+v, %v", look, err)
	}
	_, err = room(t).WithoutTools().Transcode(t.Context(), film(t, "plain"), recipe, time.Second, t.TempDir(), nil)
	if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, "H.264 and AAC, 90 × 160, 24 frames") {
		t.Errorf("without ffmpeg: %v", err)
	}
}

func TestATranscodeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	recipe, _ := network.ParseRecipe("video/mp4 320x180 codec=h264")
	_, err := room(t).Transcode(ctx, film(t, "plain"), recipe, 2*time.Second, t.TempDir(), func(int) { cancel() })
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestABrokenVideoIsRefused(t *testing.T) {
	t.Parallel()
	all, err := films()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(all["plain"])
	if err != nil {
		t.Fatal(err)
	}
	_, err = room(t).Strip(t.Context(), open(t, b[:len(b)/2]), t.TempDir(), nil)
	if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, "cut short") {
		t.Errorf("half of one: %v", err)
	}
	wild := append([]byte{}, b...)
	binary.BigEndian.PutUint32(wild, 1<<31)
	if _, err := room(t).Strip(t.Context(), open(t, wild), t.TempDir(), nil); err == nil {
		t.Error("one with a wild length was taken")
	}
}
