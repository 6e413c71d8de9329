package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
	"testing"
)

func TestThumbnailsFitAndKeepTheirShape(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]int{
		{800, 600, 640, 480}, {600, 800, 480, 640}, {641, 640, 640, 639}, {3000, 2, 640, 1}, {2, 3000, 1, 640},
		{640, 640, 640, 640}, {10, 5, 10, 5}, {1, 1, 1, 1}, {999, 751, 640, 481},
	} {
		f, img := thumbnail(t, asPNG(t, quarters(c[0], c[1])), 640)
		if f.Width != c[2] || f.Height != c[3] || f.Type != JPEG {
			t.Errorf("%d by %d gives %+v", c[0], c[1], f)
		}
		if c[2] > 8 && c[3] > 8 {
			wantQuarters(t, img, [4]color.NRGBA{red, green, blue, white}, 20)
		}
	}
}

// Shrinking is a mean: a flat picture stays flat to the last pixel, a fine
// check becomes its middle, and what is transparent lends no colour.
func TestShrinkingIsTheMeanOfWhatIsCovered(t *testing.T) {
	t.Parallel()
	flat, check, ghost := image.NewNRGBA(image.Rect(0, 0, 997, 613)), image.NewNRGBA(image.Rect(0, 0, 800, 600)), image.NewNRGBA(image.Rect(0, 0, 800, 600))
	draw.Draw(flat, flat.Rect, image.NewUniform(red), image.Point{}, draw.Src)
	for y := range 600 {
		for x := range 800 {
			v := byte(255 * ((x + y) % 2))
			check.Set(x, y, color.NRGBA{v, v, v, 255})
			ghost.Set(x, y, color.NRGBA{255 - v, v, 0, v}) // red where nobody sees it
		}
	}
	for name, c := range map[string]struct {
		img  image.Image
		want color.NRGBA
	}{"flat": {flat, red}, "check": {check, color.NRGBA{128, 128, 128, 255}}, "ghost": {ghost, color.NRGBA{0, 255, 0, 128}}} {
		got, err := shrink(t.Context(), c.img, 100)
		if err != nil {
			t.Fatal(err)
		}
		small := got.(*image.NRGBA)
		for i := 0; i < len(small.Pix); i += 4 {
			if p := (color.NRGBA{small.Pix[i], small.Pix[i+1], small.Pix[i+2], small.Pix[i+3]}); p != c.want {
				t.Fatalf("%s: pixel %d of %v is %v", name, i/4, small.Rect, p)
			}
		}
	}
}

func BenchmarkTwelveMegapixels(b *testing.B) {
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, Paint(Coast, 1, 4000, 3000), &jpeg.Options{Quality: 92}); err != nil {
		b.Fatal(err)
	}
	room := NewDarkroom(Standard())
	turned := withEXIF(buf.Bytes(), exif(binary.BigEndian, 6))
	run := func(name string, f func() (Facts, error)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("inspect", func() (Facts, error) {
		return Inspect(b.Context(), bytes.NewReader(buf.Bytes()), Standard())
	})
	run("thumbnail", func() (Facts, error) {
		return room.Thumbnail(b.Context(), bytes.NewReader(buf.Bytes()), io.Discard, 640)
	})
	run("upright", func() (Facts, error) {
		return room.Upright(b.Context(), bytes.NewReader(turned), io.Discard)
	})
}
