package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"herald/db/model"
)

func upright(t *testing.T, b []byte) (Facts, image.Image, []byte) {
	t.Helper()
	var out bytes.Buffer
	f, err := NewDarkroom(Standard()).Upright(t.Context(), bytes.NewReader(b), &out)
	if err != nil {
		t.Fatalf("upright: %v", err)
	}
	return f, reopened(t, f, out.Bytes()), out.Bytes()
}

func thumbnail(t *testing.T, b []byte, side int) (Facts, image.Image) {
	t.Helper()
	var out bytes.Buffer
	f, err := NewDarkroom(Standard()).Thumbnail(t.Context(), bytes.NewReader(b), &out, side)
	if err != nil {
		t.Fatalf("thumbnail: %v", err)
	}
	return f, reopened(t, f, out.Bytes())
}

// reopened decodes what was written and checks it against what was said of it.
func reopened(t *testing.T, f Facts, b []byte) image.Image {
	t.Helper()
	if got, err := Inspect(t.Context(), bytes.NewReader(b), Standard()); err != nil || got != f {
		t.Errorf("said %+v, wrote %+v, %v", f, got, err)
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// oriented is the picture that a viewer who honours orientation o shows as
// want: the reverse of what Upright does, written out by the EXIF table.
func oriented(o int) *image.NRGBA {
	shown := quarters(48, 32)
	w, h := 48, 32
	if o >= 5 {
		w, h = h, w
	}
	stored := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			// Row 0 and column 0 of the stored picture are, as the table says:
			at := map[int]image.Point{
				1: {x, y}, 2: {47 - x, y}, 3: {47 - x, 31 - y}, 4: {x, 31 - y}, // top left, top right, bottom right, bottom left
				5: {y, x}, 6: {47 - y, x}, 7: {47 - y, 31 - x}, 8: {y, 31 - x}, // left top, right top, right bottom, left bottom
			}[o]
			stored.Set(x, y, shown.At(at.X, at.Y))
		}
	}
	return stored
}

func TestPicturesAreTurnedUpright(t *testing.T) {
	t.Parallel()
	for o := 1; o <= 8; o++ {
		for name, b := range map[string][]byte{
			"jpeg": withEXIF(asJPEG(t, oriented(o)), exif(binary.BigEndian, o)),
			"png":  withChunk(asPNG(t, oriented(o)), "eXIf", exif(binary.LittleEndian, o)),
		} {
			f, img, _ := upright(t, b)
			if f.Width != 48 || f.Height != 32 {
				t.Errorf("%s, orientation %d: %+v", name, o, f)
			}
			wantQuarters(t, img, [4]color.NRGBA{red, green, blue, white}, 20)
			small, img := thumbnail(t, b, 24)
			if small.Width != 24 || small.Height != 16 {
				t.Errorf("thumbnail of %s, orientation %d: %+v", name, o, small)
			}
			wantQuarters(t, img, [4]color.NRGBA{red, green, blue, white}, 20)
		}
	}
}

func TestMetadataIsLeftBehind(t *testing.T) {
	t.Parallel()
	e := exif(binary.LittleEndian, 1)
	jpg := withEXIF(asJPEG(t, quarters(48, 32)), e)
	jpg = withSegment(jpg, 0xfe, []byte("a comment: Cam"))
	jpg = withSegment(jpg, 0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00GPS"))
	jpg = append(jpg, "GPS behind the end"...)
	pic := withChunk(withChunk(asPNG(t, quarters(48, 32)), "eXIf", e), "tEXt", []byte("Comment\x00GPS"))
	webp := riff("VP8X", vp8x(8, 48, 32), "VP8 ", string(file(t, "lossy.webp")[20:]), "EXIF", string(e), "XMP ", "GPS")
	moving := asGIF(t, 3, image.Rect(0, 0, 48, 32))
	said := "\x21\xfe\x09GPS, Cam!\x00\x21\xff\x0bXMP DataXMP\x0aadobe: GPS\x00"
	moving = append(append(bytes.Clone(moving[:25]), said...), moving[25:]...) // behind the colours
	moving = append(moving, "GPS behind the end"...)
	for name, b := range map[string][]byte{"jpeg": jpg, "png": pic, "webp": webp, "gif": moving} {
		_, _, out := upright(t, b)
		for _, word := range []string{"GPS", "Cam", "Exif", "eXIf", "tEXt", "adobe", "XMP"} {
			if bytes.Contains(out, []byte(word)) {
				t.Errorf("%s still says %s", name, word)
			}
		}
	}
}

func TestFormatsThatArePublished(t *testing.T) {
	t.Parallel()
	img := quarters(48, 32)
	all := [4]color.NRGBA{red, green, blue, white}
	half := all
	for i := range half {
		half[i].A = 128
	}
	gray := [4]color.NRGBA{}
	for i, c := range all {
		y := color.GrayModel.Convert(c).(color.Gray).Y
		gray[i] = color.NRGBA{y, y, y, 255}
	}
	for name, c := range map[string]struct {
		bytes []byte
		want  Type
		look  [4]color.NRGBA
	}{
		"jpeg": {asJPEG(t, img), JPEG, all}, "progressive jpeg": {file(t, "progressive.jpg"), JPEG, all},
		"cmyk jpeg": {file(t, "cmyk.jpg"), JPEG, all}, "gray jpeg": {file(t, "gray.jpg"), JPEG, gray},
		"png": {asPNG(t, img), PNG, all}, "interlaced png": {file(t, "interlaced.png"), PNG, all},
		"16-bit png": {asPNG(t, drawn(image.NewNRGBA64(img.Rect), img)), PNG, all}, "16-bit opaque png": {asPNG(t, drawn(image.NewRGBA64(img.Rect), img)), PNG, all},
		"palette png": {asPNG(t, drawn(image.NewPaletted(img.Rect, append(color.Palette{red, green, blue, white}, palette.WebSafe...)), img)), PNG, all},
		"gray png":    {asPNG(t, drawn(image.NewGray(img.Rect), img)), PNG, gray}, "16-bit gray png": {asPNG(t, drawn(image.NewGray16(img.Rect), img)), PNG, gray},
		"transparent png": {asPNG(t, faded(img)), PNG, half},
		"still gif":       {asGIF(t, 1, img.Rect), PNG, all},
		"animated gif":    {asGIF(t, 9, img.Rect), GIF, all},
		"lossy webp":      {file(t, "lossy.webp"), JPEG, all}, "lossless webp": {file(t, "lossless.webp"), JPEG, all}, "transparent webp": {file(t, "alpha.webp"), PNG, half},
	} {
		f, out, raw := upright(t, c.bytes)
		if f.Type != c.want {
			t.Errorf("%s becomes %s", name, f.Type)
		}
		off := 20
		if strings.Contains(name, "gray") {
			off = 25 // two programs, two weights of the channels
		}
		if strings.Contains(name, "cmyk") {
			off = 40 // without a profile CMYK is a guess
		}
		wantQuarters(t, out, c.look, off)
		if f.Type == PNG && raw[24] > 8 {
			t.Errorf("%s has %d bits a channel", name, raw[24])
		}
		_, small := thumbnail(t, c.bytes, 24)
		wantQuarters(t, small, c.look, off)
		if t.Failed() {
			t.Fatalf("at %s", name)
		}
	}
}

func drawn(dst draw.Image, src image.Image) image.Image {
	draw.Draw(dst, dst.Bounds(), src, image.Point{}, draw.Src)
	return dst
}

func faded(src *image.NRGBA) image.Image {
	out := image.NewNRGBA(src.Rect)
	copy(out.Pix, src.Pix)
	for i := 3; i < len(out.Pix); i += 4 {
		out.Pix[i] = 128
	}
	return out
}

// A GIF is published as it is: each frame, how long it stands, how often it loops.
func TestGIFsKeepTheirFrames(t *testing.T) {
	t.Parallel()
	b := asGIF(t, 5, image.Rect(8, 8, 40, 24))
	f, img, out := upright(t, b)
	if f.Frames != 5 || !bytes.Equal(out, b) {
		t.Errorf("%+v, %d of %d bytes", f, len(out), len(b))
	}
	if img.Bounds() != image.Rect(8, 8, 40, 24) {
		t.Errorf("%v", img.Bounds())
	}
	thumb, still := thumbnail(t, b, 24) // of the whole canvas, empty where the first frame is not
	if thumb.Type != PNG || thumb.Width != 24 || thumb.Height != 16 || still.Bounds().Dx() != 24 {
		t.Errorf("%+v", thumb)
	}
	if _, _, _, a := still.At(0, 0).RGBA(); a != 0 {
		t.Errorf("its corner has colour: %v", still.At(0, 0))
	}
	if got := color.NRGBAModel.Convert(still.At(5, 5)).(color.NRGBA); got != red {
		t.Errorf("its first quarter is %v", got)
	}
}

func TestWhatIsTurnedAlreadyIsNotTurnedAgain(t *testing.T) {
	t.Parallel()
	b := withEXIF(asJPEG(t, quarters(48, 32)), exif(binary.BigEndian, 6))
	var out bytes.Buffer
	f, err := NewDarkroom(Standard()).Turned().Upright(t.Context(), bytes.NewReader(b), &out)
	if err != nil || f.Width != 48 || f.Height != 32 {
		t.Fatalf("%+v, %v", f, err)
	}
	wantQuarters(t, reopened(t, f, out.Bytes()), [4]color.NRGBA{red, green, blue, white}, 20)
}

func TestUprightPNGLosesNothing(t *testing.T) {
	t.Parallel()
	want := Paint(Coast, 3, 61, 47)
	_, got, _ := upright(t, asPNG(t, want))
	for y := range 47 {
		for x := range 61 {
			if color.NRGBAModel.Convert(got.At(x, y)) != color.NRGBAModel.Convert(want.At(x, y)) {
				t.Fatalf("pixel %d,%d changed", x, y)
			}
		}
	}
}

// A profile is 128 bytes of header with its own length, colour space and name,
// and then tags.
func fakeProfile(space string, size int) []byte {
	p := bytes.Repeat([]byte{7}, size)
	binary.BigEndian.PutUint32(p, uint32(size))
	copy(p[16:], space)
	copy(p[36:], "acsp")
	return p
}

func TestColourProfilesAreKeptIfTheyFit(t *testing.T) {
	t.Parallel()
	img := quarters(48, 32)
	seg := func(p []byte) []byte {
		return withSegment(asJPEG(t, img), 0xe2, append([]byte("ICC_PROFILE\x00\x01\x01"), p...))
	}
	rgb, cmyk := fakeProfile("RGB ", 560), fakeProfile("CMYK", 560)
	broken := append([]byte{}, rgb...)
	broken[3]++
	pngChunk := profileChunk(rgb)
	for name, c := range map[string]struct {
		bytes []byte
		keep  bool
	}{
		"jpeg": {seg(rgb), true}, "broken": {seg(broken), false}, "cmyk": {seg(cmyk), false}, "short": {seg(rgb[:100]), false},
		"turned": {withEXIF(seg(rgb), exif(binary.BigEndian, 6)), true},
		"png":    {withChunk(asPNG(t, img), "iCCP", pngChunk[8:len(pngChunk)-4]), true},
		"webp":   {riff("VP8X", vp8x(32, 48, 32), "ICCP", string(rgb), "VP8 ", string(file(t, "lossy.webp")[20:])), true},
	} {
		f, _, out := upright(t, c.bytes)
		_, o, err := inspect(t.Context(), bytes.NewReader(out), Standard())
		if err != nil || bytes.Equal(o.icc, rgb) != c.keep || !c.keep && o.icc != nil {
			t.Errorf("%s (%s): kept %d bytes, %v", name, f.Type, len(o.icc), err)
		}
	}
}

func TestAProfileThatInflatesForEverIsDropped(t *testing.T) {
	t.Parallel()
	b := profileChunk(fakeProfile("RGB ", 2<<20))
	pic := withChunk(asPNG(t, quarters(48, 32)), "iCCP", b[8:len(b)-4])
	if _, _, out := upright(t, pic); bytes.Contains(out, []byte("iCCP")) {
		t.Error("kept")
	}
}

func TestDamagedPixelsAreRefused(t *testing.T) {
	t.Parallel()
	jpg, pic := asJPEG(t, quarters(480, 320)), asPNG(t, quarters(480, 320))
	jpg = append(jpg[:700:700], 0xff, 0xd9) // an end marker in the middle of the data
	pic[60] ^= 0xff
	room := NewDarkroom(Standard())
	for name, b := range map[string][]byte{"jpeg": jpg, "png": pic, "png without pixels": pngHeader(100, 100)} {
		if _, err := Inspect(t.Context(), bytes.NewReader(b), Standard()); err != nil {
			t.Errorf("%s: Inspect looked at pixels: %v", name, err)
		}
		_, err := room.Upright(t.Context(), bytes.NewReader(b), io.Discard)
		if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, "damaged") && !strings.Contains(no.Say, "cut short") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := room.Upright(t.Context(), bytes.NewReader(file(t, "landscape.mp4")), io.Discard)
	wantRefusal(t, err, "This is a video")
	_, err = room.Thumbnail(t.Context(), bytes.NewReader(pngHeader(30_000, 30_000)), io.Discard, 640)
	wantRefusal(t, err, "30,000 × 30,000")
}

func TestPanicsCostOneCall(t *testing.T) {
	t.Parallel()
	room := NewDarkroom(Standard())
	_, err := room.develop(t.Context(), bytes.NewReader(asJPEG(t, quarters(48, 32))), whole, func(negative) (Facts, error) {
		var none []int
		return Facts{}, fmt.Errorf("%d", none[3])
	})
	wantRefusal(t, err, "damaged")
	if err == nil || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("the cause is lost: %v", err)
	}
	if !room.memory.TryAcquire(Standard().Memory) {
		t.Error("its memory was not given back")
	}
}

func TestWorkStopsWithTheRequest(t *testing.T) {
	t.Parallel()
	b := asJPEG(t, Paint(Coast, 1, 640, 480))
	room := NewDarkroom(Standard())
	for after := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		src := &cancelling{bytes.NewReader(b), after, cancel}
		if _, err := room.Upright(ctx, src, io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at read %d: %v", after, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := room.Upright(ctx, bytes.NewReader(b), writer(cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while writing: %v", err)
	}
}

// writer calls itself at every write.
type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

type cancelling struct {
	*bytes.Reader
	after  int
	cancel func()
}

func (c *cancelling) ReadAt(p []byte, at int64) (int, error) {
	if c.after--; c.after < 0 {
		c.cancel()
	}
	return c.Reader.ReadAt(p, at)
}

func TestWriterFaultsAreOurs(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	for _, b := range [][]byte{asJPEG(t, quarters(48, 32)), asPNG(t, quarters(48, 32))} {
		_, err := NewDarkroom(Standard()).Upright(t.Context(), bytes.NewReader(b), failing{full})
		if _, no := model.Refused(err); no || !errors.Is(err, full) {
			t.Errorf("got %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestMemoryIsSharedOut(t *testing.T) {
	t.Parallel()
	limits := Standard()
	limits.Memory = 48 * 32 * 7 // one of these pictures at a time
	room, b := NewDarkroom(limits), asJPEG(t, quarters(48, 32))
	var mu sync.Mutex
	inside, most := 0, 0
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			_, err := room.develop(context.Background(), bytes.NewReader(b), whole, func(negative) (Facts, error) {
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
				inside--
				mu.Unlock()
				return Facts{}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d at once", most)
	}
	_, err := room.Thumbnail(t.Context(), bytes.NewReader(asJPEG(t, quarters(49, 32))), io.Discard, 10)
	wantRefusal(t, err, "of memory to open")
}

// The colours that libwebp's own dwebp gives for the same file.
func TestLossyWebPKeepsItsColours(t *testing.T) {
	t.Parallel()
	_, img, _ := upright(t, file(t, "lossy.webp"))
	wantQuarters(t, img, [4]color.NRGBA{{224, 33, 31, 255}, {32, 192, 31, 255}, {31, 32, 225, 255}, {240, 240, 240, 255}}, 5)
	_, img, _ = upright(t, file(t, "alpha.webp"))
	wantQuarters(t, img, [4]color.NRGBA{{224, 33, 31, 128}, {32, 192, 31, 128}, {31, 32, 225, 128}, {240, 240, 240, 128}}, 5)
}
