package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"strings"
	"testing"

	"herald/db/model"
	"herald/db/network"
)

func render(t *testing.T, b []byte, recipe string) (Facts, image.Image, []byte) {
	t.Helper()
	r, err := network.ParseRecipe(recipe)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	f, err := NewDarkroom(Standard()).Render(t.Context(), bytes.NewReader(b), &out, r)
	if err != nil {
		t.Fatalf("render %s: %v", recipe, err)
	}
	return f, reopened(t, f, out.Bytes()), out.Bytes()
}

// The crop is the upper right and lower right quarter of the upright picture,
// whichever way the camera lay.
func TestRecipesCropTheUprightPicture(t *testing.T) {
	t.Parallel()
	for o := 1; o <= 8; o++ {
		b := withEXIF(asJPEG(t, oriented(o)), exif(binary.BigEndian, o))
		f, img, out := render(t, b, "image/jpeg 24x32 crop=24,0,24,32")
		if f.Width != 24 || f.Height != 32 || f.Type != JPEG {
			t.Errorf("orientation %d: %+v", o, f)
		}
		wantQuarters(t, img, [4]color.NRGBA{green, green, white, white}, 20)
		if bytes.Contains(out, []byte("GPS")) {
			t.Errorf("orientation %d: the place is still in it", o)
		}
		_, img, _ = render(t, b, "image/png 12x8 crop=0,16,24,16")
		wantQuarters(t, img, [4]color.NRGBA{blue, blue, blue, blue}, 20)
	}
}

func TestRecipesPutTransparencyOnWhite(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 40, 20))
	draw.Draw(img, image.Rect(0, 0, 20, 20), image.NewUniform(red), image.Point{}, draw.Src)
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] /= 2
	}
	_, got, _ := render(t, asPNG(t, img), "image/jpeg 40x20")
	pale := color.NRGBA{0xef, 0x8f, 0x8f, 0xff} // half of red over white
	wantQuarters(t, got, [4]color.NRGBA{pale, {255, 255, 255, 255}, pale, {255, 255, 255, 255}}, 12)
}

func TestRecipesKeepWithinTheirBytes(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32()) | byte(i%4/3*255)
	}
	b := asPNG(t, img)
	_, _, free := render(t, b, "image/jpeg 256x256")
	_, _, held := render(t, b, "image/jpeg 256x256 bytes=40000")
	if len(free) < 50_000 || len(held) > 40_000 {
		t.Errorf("free: %d bytes, held to 40,000: %d", len(free), len(held))
	}
	for _, recipe := range []network.Recipe{{Type: "image/jpeg", Width: 256, Height: 256, Bytes: 1000}, {Type: "image/png", Width: 256, Height: 256, Bytes: 1000}} {
		_, err := NewDarkroom(Standard()).Render(t.Context(), bytes.NewReader(b), &bytes.Buffer{}, recipe)
		if no, ok := model.Refused(err); !ok || !strings.Contains(no.Say, "1.0 KB") {
			t.Errorf("%s: %v, want a refusal", recipe, err)
		}
	}
}

func TestRecipesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	b := asPNG(t, quarters(48, 32))
	for _, recipe := range []string{"image/jpeg 49x32", "image/jpeg 0x0", "image/jpeg 10x10 crop=0,0,49,32", "image/jpeg 10x10 crop=40,0,10,10", "image/jpeg 10x10 crop=0,0,5,5",
		"image/gif 10x10", "video/mp4 10x10"} {
		r, err := network.ParseRecipe(recipe)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewDarkroom(Standard()).Render(t.Context(), bytes.NewReader(b), &bytes.Buffer{}, r); err == nil {
			t.Errorf("%s was followed", recipe)
		}
	}
}

func TestPlaceholderLooksLikeThePicture(t *testing.T) {
	t.Parallel()
	for o := 1; o <= 8; o += 5 {
		b := withEXIF(asJPEG(t, oriented(o)), exif(binary.BigEndian, o))
		_, h, err := NewDarkroom(Standard()).Card(t.Context(), bytes.NewReader(b), &bytes.Buffer{}, 640)
		if err != nil || len(h) < 10 || len(h) > 30 {
			t.Fatalf("hash of %d bytes: %v", len(h), err)
		}
		img := Blur(h, 32)
		if d := img.Bounds().Dx() * 100 / img.Bounds().Dy(); d < 120 || d > 180 { // 3:2, told in few bits
			t.Errorf("orientation %d: the placeholder is %v", o, img.Bounds())
		}
		wantQuarters(t, img, [4]color.NRGBA{red, green, blue, white}, 90) // it is a blur
	}
	clear := image.NewNRGBA(image.Rect(0, 0, 30, 60))
	_, h, err := NewDarkroom(Standard()).Card(t.Context(), bytes.NewReader(asPNG(t, clear)), &bytes.Buffer{}, 640)
	if err != nil {
		t.Fatal(err)
	}
	if img := Blur(h, 32); img.Bounds().Dy() != 32 || img.NRGBAAt(5, 5).A > 8 {
		t.Errorf("of a clear picture: %v, %v", img.Bounds(), img.NRGBAAt(5, 5))
	}
}

func FuzzBlur(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 32)
	f.Add(bytes.Repeat([]byte{0xff}, 30), 1)
	f.Fuzz(func(t *testing.T, hash []byte, side int) { Blur(hash, side) })
}

// A public vector: a hash that others made, drawn as they draw it.
func TestPlaceholdersAreThumbHashes(t *testing.T) {
	t.Parallel()
	one := image.NewNRGBA(image.Rect(0, 0, 10, 10))
	draw.Draw(one, one.Rect, image.NewUniform(color.NRGBA{0x80, 0x40, 0x20, 0xff}), image.Point{}, draw.Src)
	// Of one colour only the means matter: light (r+g+b)/3 in 6 bits, (r+g)/2-b and
	// r-g in 6 bits each around 31.5, no scales, shape 7:7.
	got := Hash(one)
	l, p, q := round(63*224.0/255/3), round(31.5+31.5*(96.0-32)/255), round(31.5+31.5*64.0/255)
	if head := int(got[0]) | int(got[1])<<8 | int(got[2])<<16; head != l|p<<6|q<<12 {
		t.Errorf("head %x, want %x", head, l|p<<6|q<<12)
	}
	if tail := int(got[3]) | int(got[4])<<8; tail != 7 {
		t.Errorf("tail %x, want 7", tail)
	}
	if c := Blur(got, 8).NRGBAAt(3, 3); abs(int(c.R)-0x80) > 6 || abs(int(c.G)-0x40) > 6 || abs(int(c.B)-0x20) > 6 {
		t.Errorf("drawn as %v", c)
	}
}

func abs(v int) int { return max(v, -v) }
