package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"strings"
	"testing"
	"time"

	"herald/db/model"
)

func inspected(t *testing.T, b []byte) Facts {
	t.Helper()
	f, err := Inspect(t.Context(), bytes.NewReader(b), Standard())
	if err != nil {
		t.Errorf("inspect: %v", err)
	}
	return f
}

func TestPicturesAreMeasured(t *testing.T) {
	t.Parallel()
	img := quarters(48, 32)
	for name, c := range map[string]struct {
		bytes []byte
		want  Type
	}{
		"jpeg": {asJPEG(t, img), JPEG}, "progressive jpeg": {file(t, "progressive.jpg"), JPEG},
		"cmyk jpeg": {file(t, "cmyk.jpg"), JPEG}, "gray jpeg": {file(t, "gray.jpg"), JPEG},
		"jpeg with bytes behind its end": {append(asJPEG(t, img), "MotionPhoto"...), JPEG},
		"png":                            {asPNG(t, img), PNG}, "interlaced png": {file(t, "interlaced.png"), PNG},
		"16-bit png": {asPNG(t, image.NewNRGBA64(img.Rect)), PNG},
		"lossy webp": {file(t, "lossy.webp"), WebP}, "lossless webp": {file(t, "lossless.webp"), WebP}, "transparent webp": {file(t, "alpha.webp"), WebP},
	} {
		want := Facts{Type: c.want, Width: 48, Height: 32, Orientation: 1}
		if got := inspected(t, c.bytes); got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestGIFsAreMeasuredWithTheirFrames(t *testing.T) {
	t.Parallel()
	for frames, part := range map[int]image.Rectangle{1: image.Rect(0, 0, 48, 32), 2: image.Rect(8, 8, 40, 24), 1000: image.Rect(0, 0, 48, 32)} {
		if got, want := inspected(t, asGIF(t, frames, part)), (Facts{Type: GIF, Width: 48, Height: 32, Orientation: 1, Frames: frames}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	_, err := Inspect(t.Context(), bytes.NewReader(asGIF(t, 2000, image.Rect(0, 0, 48, 32))), Standard())
	wantRefusal(t, err, "This GIF has 2,000 frames; the limit is 1,000. Make it shorter, or upload it as an MP4 video.")
}

func TestPhotosOfPhonesAreMeasuredAsTheyAreShown(t *testing.T) {
	t.Parallel()
	b := file(t, "photo.heic")
	if got, want := inspected(t, b), (Facts{Type: HEIC, Width: 128, Height: 96, Orientation: 1}); got != want {
		t.Errorf("%+v", got)
	}
	if got, want := inspected(t, file(t, "tiles.heic")), (Facts{Type: HEIC, Width: 64, Height: 48, Orientation: 1}); got != want { // put together of squares
		t.Errorf("of tiles: %+v", got)
	}
	if got, want := inspected(t, turnedHEIC(t, b)), (Facts{Type: HEIC, Width: 96, Height: 128, Orientation: 1}); got != want {
		t.Errorf("turned: %+v", got)
	}
	huge := bytes.Clone(b)
	size := huge[bytes.Index(huge, []byte("ispe"))+8:]
	binary.BigEndian.PutUint32(size, 30_000)
	binary.BigEndian.PutUint32(size[4:], 30_000)
	_, err := Inspect(t.Context(), bytes.NewReader(huge), Standard())
	wantRefusal(t, err, "30,000 × 30,000 pixels; the limit is 50 megapixels")
	for name, word := range map[string]string{"no size": "ispe", "no properties": "ipco", "no picture": "ipma", "nothing": "meta"} {
		_, err := Inspect(t.Context(), bytes.NewReader(bytes.Replace(b, []byte(word), []byte("free"), 1)), Standard())
		wantRefusal(t, err, "This picture is damaged")
		if err == nil {
			t.Error(name)
		}
	}
}

func TestVideosAreMeasured(t *testing.T) {
	t.Parallel()
	const length = 1500 * time.Millisecond
	second := file(t, "movie.mov")
	if got := inspected(t, second); got.Type != MOV || got.Width != 64 || got.Height != 48 || got.Duration != time.Second {
		t.Errorf("movie.mov: %+v", got)
	}
	for name, want := range map[string]Facts{
		"landscape.mp4":  {Type: MP4, Width: 64, Height: 48, Orientation: 1, Duration: length},
		"rotated.mp4":    {Type: MP4, Width: 48, Height: 64, Orientation: 1, Rotation: 270, Duration: length},
		"fragmented.mp4": {Type: MP4, Width: 64, Height: 48, Orientation: 1},
	} {
		if got := inspected(t, file(t, name)); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestOrientationIsFoundWhereverItIsWritten(t *testing.T) {
	t.Parallel()
	img := quarters(48, 32)
	webp := file(t, "lossy.webp")
	for o := 1; o <= 8; o++ {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			e := exif(order, o)
			for name, b := range map[string][]byte{
				"jpeg": withEXIF(asJPEG(t, img), e),
				"png":  withChunk(asPNG(t, img), "eXIf", e),
				"webp": riff("VP8X", vp8x(8, 48, 32), "VP8 ", string(webp[20:]), "EXIF", string(e)),
			} {
				w, h := 48, 32
				if o >= 5 {
					w, h = h, w
				}
				if got := inspected(t, b); got.Orientation != o || got.Width != w || got.Height != h {
					t.Errorf("%s, %v, orientation %d: %+v", name, order, o, got)
				}
			}
		}
	}
}

func TestBrokenEXIFSaysNothing(t *testing.T) {
	t.Parallel()
	good := exif(binary.LittleEndian, 6)
	far := append([]byte{}, good...)
	binary.LittleEndian.PutUint32(far[4:], 1<<32-1)
	for name, e := range map[string][]byte{
		"nothing": nil, "short": good[:30], "other order": append([]byte("XX*\x00"), good[4:]...),
		"nine": exif(binary.LittleEndian, 9), "zero": exif(binary.LittleEndian, 0), "far": far,
	} {
		if got := inspected(t, withEXIF(asJPEG(t, quarters(48, 32)), e)); got.Orientation != 1 || got.Width != 48 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestBombsAreRefusedBeforeDecoding(t *testing.T) {
	t.Parallel()
	jpg := asJPEG(t, quarters(48, 32))
	lossy := file(t, "lossy.webp")
	huge := append([]byte{}, lossy[20:]...)
	copy(huge[6:], "\xff\x3f\xff\x3f") // 16,383 by 16,383 in the frame itself
	for name, c := range map[string]struct {
		bytes []byte
		words string
	}{
		"30,000 squared png":  {pngHeader(30_000, 30_000), "30,000 × 30,000 pixels; the limit is 50 megapixels"},
		"one very long line":  {pngHeader(20_000, 1), "16,384 pixels a side"},
		"many pixels":         {pngHeader(8_000, 7_000), "8,000 × 7,000"},
		"2^31 png":            {pngHeader(1<<31-1, 1<<31-1), "rare way"},
		"65,535 squared jpeg": {jpegSize(jpg, 65_535, 65_535), "65,535 × 65,535"},
		"no height":           {jpegSize(jpg, 48, 0), "damaged"},
		"lossy webp":          {riff("VP8 ", string(huge)), "16,383 × 16,383"},
		"extended webp":       {riff("VP8X", vp8x(0, 1<<14+1, 1), "VP8 ", string(lossy[20:])), "16,385 × 1"},
		"progressive jpeg":    {manyScans(t), "10,000 passes; the limit is 64"},
	} {
		_, err := Inspect(t.Context(), bytes.NewReader(c.bytes), Standard())
		if wantRefusal(t, err, c.words); err == nil {
			t.Error(name)
		}
	}
}

func manyScans(t *testing.T) []byte {
	jpg := asJPEG(t, quarters(48, 32))
	scan := jpg[bytes.Index(jpg, []byte{0xff, 0xda}) : len(jpg)-2]
	out := append([]byte{}, jpg[:len(jpg)-2]...)
	for range 10_000 - 1 {
		out = append(out, scan[:14]...)
	}
	return append(out, 0xff, 0xd9)
}

func TestTooManyBytesAreRefused(t *testing.T) {
	t.Parallel()
	limits := Standard()
	limits.PictureBytes, limits.VideoBytes = 100, 3<<20
	_, err := Inspect(t.Context(), bytes.NewReader(asJPEG(t, quarters(48, 32))), limits)
	if no, ok := model.Refused(err); !ok || no.Kind != model.TooLarge || !strings.Contains(no.Say, "0.1 KB") {
		t.Errorf("picture: %v", err)
	}
	if _, err := Inspect(t.Context(), bytes.NewReader(file(t, "landscape.mp4")), limits); err != nil {
		t.Errorf("a video has another limit: %v", err)
	}
}

// However a file is cut, it is refused, and never as anything but cut or
// damaged.
func TestCutFilesAreRefused(t *testing.T) {
	t.Parallel()
	img := quarters(48, 32)
	for name, b := range map[string][]byte{
		"jpeg": withEXIF(asJPEG(t, img), exif(binary.LittleEndian, 6)), "progressive": file(t, "progressive.jpg"), "png": asPNG(t, img),
		"gif": asGIF(t, 3, img.Rect), "heic": file(t, "photo.heic"), "tiles": file(t, "tiles.heic"), "mov": file(t, "movie.mov"),
		"lossy": file(t, "lossy.webp"), "lossless": file(t, "lossless.webp"), "alpha": file(t, "alpha.webp"),
		"mp4": file(t, "landscape.mp4"), "rotated": file(t, "rotated.mp4"), "fragmented": file(t, "fragmented.mp4"),
	} {
		for n := 1; n < len(b); n += 1 + n/100 {
			_, err := Inspect(t.Context(), bytes.NewReader(b[:n]), Standard())
			no, ok := model.Refused(err)
			if !ok {
				t.Fatalf("%s cut to %d of %d bytes: %v", name, n, len(b), err)
			}
			if n > 64 && name != "fragmented" && !strings.Contains(no.Say, "cut short") && !strings.Contains(no.Say, "damaged") {
				t.Fatalf("%s cut to %d of %d bytes: %v", name, n, len(b), err)
			}
		}
	}
	_, err := Inspect(t.Context(), bytes.NewReader(asJPEG(t, img)[:500]), Standard())
	wantRefusal(t, err, "This picture is cut short: the file ends in the middle. Upload it again.")
	_, err = Inspect(t.Context(), bytes.NewReader(file(t, "landscape.mp4")[:5000]), Standard())
	wantRefusal(t, err, "This video is cut short")
	_, err = Inspect(t.Context(), bytes.NewReader(nil), Standard())
	wantRefusal(t, err, "This file is empty")
}

func TestMovingAndSilentFilesAreRefused(t *testing.T) {
	t.Parallel()
	apng := withChunk(asPNG(t, quarters(48, 32)), "acTL", make([]byte, 8))
	for words, b := range map[string][]byte{
		"This picture is animated":                       file(t, "animated.webp"),
		"is animated, and networks would show one frame": apng,
		"holds no picture, only sound or text":           file(t, "sound.mp4"),
		"saved in a rare way":                            file(t, "arithmetic.jpg"),
		"This file is a web page":                        []byte("<html>"),
	} {
		_, err := Inspect(t.Context(), bytes.NewReader(b), Standard())
		wantRefusal(t, err, words)
	}
}

func TestOurFaultsAreNotTheirs(t *testing.T) {
	t.Parallel()
	disk := errors.New("disk on fire")
	for name, b := range map[string][]byte{"jpeg": asJPEG(t, quarters(480, 320)), "mp4": file(t, "landscape.mp4"), "png": asPNG(t, quarters(48, 32))} {
		for after := range 3 {
			src := &burning{bytes.NewReader(b), after, disk}
			if _, err := Inspect(t.Context(), src, Standard()); !errors.Is(err, disk) && src.after < 0 {
				t.Errorf("%s, read %d: %v", name, after, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Inspect(ctx, bytes.NewReader(b), Standard()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
}

// burning fails after some reads.
type burning struct {
	*bytes.Reader
	after int
	err   error
}

func (b *burning) ReadAt(p []byte, at int64) (int, error) {
	if b.after--; b.after < 0 {
		return 0, b.err
	}
	return b.Reader.ReadAt(p, at)
}

func TestHostileVideosAreRefused(t *testing.T) {
	t.Parallel()
	ftyp := "\x00\x00\x00\x14ftypisom\x00\x00\x02\x00isom"
	nest := func(name string, n int) string {
		s := ""
		for range n {
			s = mp4box(name, s)
		}
		return s
	}
	good := string(file(t, "landscape.mp4"))
	for name, s := range map[string]string{
		"box of size 4":        ftyp + "\x00\x00\x00\x04moov",
		"64-bit size of 2^64":  ftyp + "\x00\x00\x00\x01moov\xff\xff\xff\xff\xff\xff\xff\xff",
		"64-bit size of 0":     ftyp + "\x00\x00\x00\x01moov\x00\x00\x00\x00\x00\x00\x00\x00",
		"a million boxes":      ftyp + strings.Repeat(mp4box("free", ""), 1_000_000),
		"deep boxes":           ftyp + mp4box("moov", mp4box("trak", mp4box("mdia", nest("minf", 1000)))) + mp4box("mdat", ""),
		"many tracks":          ftyp + mp4box("moov", strings.Repeat(mp4box("trak", ""), 65)) + mp4box("mdat", ""),
		"inner box too long":   ftyp + mp4box("moov", "\x00\x00\xff\xfftrak") + mp4box("mdat", ""),
		"short movie header":   ftyp + mp4box("moov", mp4box("mvhd", "1234")) + mp4box("mdat", ""),
		"timescale 0":          ftyp + mp4box("moov", mp4box("mvhd", strings.Repeat("\x00", 100))) + mp4box("mdat", ""),
		"no movie":             ftyp + mp4box("mdat", "data"),
		"no data":              strings.Replace(good, "mdat", "free", 1),
		"no movie, only space": ftyp + mp4box("free", "data"),
		"wide":                 strings.ReplaceAll(good, "\x00\x40\x00\x00\x00\x30\x00\x00", "\x40\x01\x00\x00\x00\x30\x00\x00"),
	} {
		start := time.Now()
		_, err := Inspect(t.Context(), strings.NewReader(s), Standard())
		no, ok := model.Refused(err)
		if !ok || time.Since(start) > 20*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(start))
		}
		if damaged := name == "a million boxes" || name == "deep boxes" || name == "many tracks"; ok && damaged && !strings.Contains(no.Say, "damaged") {
			t.Errorf("%s: %v, want it to stop there", name, err)
		}
	}
}

func mp4box(name, body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))) + name + body
}

func TestDurationsBeyondReasonAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scale   uint32
		units   uint64
		version byte
		want    time.Duration
	}{
		{1000, 1500, 0, 1500 * time.Millisecond}, {90_000, 90_000 * 7200, 0, 2 * time.Hour},
		{1, 1<<32 - 1, 0, 0}, {1, 1<<64 - 1, 1, 0}, {1, 1 << 63, 1, 0}, {1 << 31, 1 << 63, 1, 0}, {3, 1, 1, 333_333_333},
	} {
		m := movie{timescale: c.scale}
		if m.setDuration(c.units, c.version); m.duration != c.want {
			t.Errorf("%d/%d: %v", c.units, c.scale, m.duration)
		}
	}
}

// FuzzInspect: whatever the bytes, an answer comes, and it keeps the limits.
func FuzzInspect(f *testing.F) {
	img := quarters(48, 32)
	for _, b := range [][]byte{
		withEXIF(asJPEG(f, img), exif(binary.BigEndian, 6)), asPNG(f, img), file(f, "lossy.webp"), file(f, "alpha.webp"),
		file(f, "progressive.jpg"), file(f, "rotated.mp4"), file(f, "fragmented.mp4"), pngHeader(30_000, 30_000),
		withChunk(asPNG(f, img), "eXIf", exif(binary.BigEndian, 8)),
		asGIF(f, 3, image.Rect(8, 8, 40, 24)), file(f, "photo.heic"), file(f, "tiles.heic"), turnedHEIC(f, file(f, "photo.heic")), file(f, "movie.mov"),
	} {
		f.Add(b)
	}
	limits := Standard()
	limits.Pixels = 1_000_000 // a fuzzer should not spend its time on large pictures
	room := NewDarkroom(limits)
	f.Fuzz(func(t *testing.T, b []byte) {
		facts, err := Inspect(context.Background(), bytes.NewReader(b), limits)
		if err != nil {
			if _, ok := model.Refused(err); !ok || strings.Contains(err.Error(), "panicked") {
				t.Errorf("not a refusal: %v", err)
			}
			return
		}
		if facts.Width < 1 || facts.Height < 1 || facts.Width > limits.Side || facts.Height > limits.Side {
			t.Errorf("%+v", facts)
		}
		if facts.Type.Video() {
			return
		}
		made, err := room.Thumbnail(context.Background(), bytes.NewReader(b), io.Discard, 16)
		if err == nil && (made.Width > 16 || made.Height > 16) {
			t.Errorf("thumbnail of %+v is %+v", facts, made)
		}
		if err != nil && strings.Contains(err.Error(), "panicked") {
			t.Logf("contained: %v", err)
		}
	})
}
