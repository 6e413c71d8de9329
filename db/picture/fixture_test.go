package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"herald/db/model"
)

// The picture of most tests: red, green, blue and white quarters, 48 by 32.
var (
	red   = color.NRGBA{0xe0, 0x20, 0x20, 0xff}
	green = color.NRGBA{0x20, 0xc0, 0x20, 0xff}
	blue  = color.NRGBA{0x20, 0x20, 0xe0, 0xff}
	white = color.NRGBA{0xf0, 0xf0, 0xf0, 0xff}
)

func quarters(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, c := range []color.NRGBA{red, green, blue, white} {
		x, y := i%2, i/2
		part := image.Rect((x*w+1)/2, (y*h+1)/2, ((x+1)*w+1)/2, ((y+1)*h+1)/2)
		draw.Draw(img, part, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return img
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// asGIF is a GIF of so many frames on a canvas: the first one shows quarters, in a
// part of it, and the others next to nothing.
func asGIF(t testing.TB, frames int, part image.Rectangle) []byte {
	t.Helper()
	colours := color.Palette{red, green, blue, white}
	first := image.NewPaletted(part, colours)
	draw.Draw(first, part, quarters(part.Dx(), part.Dy()), image.Point{}, draw.Src)
	g := gif.GIF{Image: []*image.Paletted{first}, Delay: []int{5}, Config: image.Config{ColorModel: colours, Width: 48, Height: 32}}
	for i := 1; i < frames; i++ {
		g.Image, g.Delay = append(g.Image, image.NewPaletted(image.Rect(0, 0, 1, 1), colours)), append(g.Delay, 5)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// turnedHEIC turns the picture of a HEIC file by a quarter, clockwise, as phones do:
// one more property, that the picture has.
func turnedHEIC(t testing.TB, b []byte) []byte {
	t.Helper()
	out := bytes.Clone(b)
	grow := func(name string, n uint32) int {
		at := bytes.Index(out, []byte(name)) - 4
		if at < 0 {
			t.Fatalf("no %s", name)
		}
		binary.BigEndian.PutUint32(out[at:], binary.BigEndian.Uint32(out[at:])+n)
		return at
	}
	put := func(at int, p ...byte) { out = append(out[:at:at], append(p, out[at:]...)...) }
	grow("meta", 10)
	grow("iprp", 10)
	at := grow("ipco", 9)
	end := at + int(binary.BigEndian.Uint32(out[at:])) - 9
	put(end, 0, 0, 0, 9, 'i', 'r', 'o', 't', 3)
	at = grow("ipma", 1)
	count := at + 8 + 4 + 4 + 2 // version and flags, how many pictures, the number of the only one
	out[count]++
	put(count+int(out[count]), 0x80|4)
	at = bytes.Index(out, []byte("iloc")) + 4 + 4 + 4 // version and flags, sizes, how many
	where := out[at+2+2:]                             // behind its number and which file it lies in
	binary.BigEndian.PutUint32(where, binary.BigEndian.Uint32(where)+10)
	return out
}

// exif is what a camera writes: make, orientation, and a place (GPS) that
// nobody should learn.
func exif(order binary.AppendByteOrder, o int) []byte {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	entry := func(tag, kind uint16, count uint32, value []byte) {
		b = order.AppendUint16(b, tag)
		b = order.AppendUint16(b, kind)
		b = order.AppendUint32(b, count)
		b = append(b, value...)
	}
	entry(0x010f, 2, 4, []byte("Cam\x00"))
	entry(0x0112, 3, 1, append(order.AppendUint16(nil, uint16(o)), 0, 0))
	b = order.AppendUint32(b, 0)
	return append(b, "GPS 52.5200N 13.4050E"...)
}

func withSegment(jpg []byte, marker byte, body []byte) []byte {
	out := append([]byte{}, jpg[:2]...)
	out = append(out, 0xff, marker)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
	return append(append(out, body...), jpg[2:]...)
}

func withEXIF(jpg []byte, exif []byte) []byte {
	return withSegment(jpg, 0xe1, append([]byte("Exif\x00\x00"), exif...))
}

func chunk(name string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, name...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// withChunk puts a chunk behind a PNG's header.
func withChunk(png []byte, name string, body []byte) []byte {
	out := append([]byte{}, png[:33]...)
	return append(append(out, chunk(name, body)...), png[33:]...)
}

// pngHeader is a PNG that claims to be w by h and holds next to nothing.
func pngHeader(w, h int) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, 8, 2, 0, 0, 0))...)
	out = append(out, chunk("IDAT", []byte("x\x9c\x03\x00\x00\x00\x00\x01"))...)
	return append(out, chunk("IEND", nil)...)
}

// jpegSize changes the dimensions that a JPEG claims.
func jpegSize(jpg []byte, w, h int) []byte {
	out := append([]byte{}, jpg...)
	at := bytes.Index(out, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(out[at+5:], uint16(h))
	binary.BigEndian.PutUint16(out[at+7:], uint16(w))
	return out
}

// riff wraps chunks (name, body, name, body) as a WebP file.
func riff(parts ...string) []byte {
	body := "WEBP"
	for i := 0; i < len(parts); i += 2 {
		p := parts[i+1]
		body += parts[i] + string(binary.LittleEndian.AppendUint32(nil, uint32(len(p)))) + p
		body += strings.Repeat("\x00", len(p)%2)
	}
	return []byte("RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body)
}

// vp8x is the header of an extended WebP.
func vp8x(flags byte, w, h int) string {
	b := []byte{flags, 0, 0, 0, byte(w - 1), byte((w - 1) >> 8), byte((w - 1) >> 16), byte(h - 1), byte((h - 1) >> 8), byte((h - 1) >> 16)}
	return string(b)
}

func wantRefusal(t *testing.T, err error, words string) {
	t.Helper()
	no, ok := model.Refused(err)
	if !ok || !strings.Contains(no.Say, words) {
		t.Errorf("got %v, want a refusal with %q", err, words)
	}
}

// wantQuarters checks the middle of each quarter: top left, top right, bottom
// left, bottom right.
func wantQuarters(t *testing.T, img image.Image, want [4]color.NRGBA, off int) {
	t.Helper()
	b := img.Bounds()
	for i, c := range want {
		x, y := b.Min.X+b.Dx()*(1+2*(i%2))/4, b.Min.Y+b.Dy()*(1+2*(i/2))/4
		got := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
		for _, d := range []int{int(got.R) - int(c.R), int(got.G) - int(c.G), int(got.B) - int(c.B), int(got.A) - int(c.A)} {
			if max(d, -d) > off {
				t.Errorf("quarter %d is %v, want %v", i, got, c)
				break
			}
		}
	}
}
