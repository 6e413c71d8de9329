package picture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"
)

// stripes is a picture with smooth parts, edges and noise, which JPEG can hold.
func stripes(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(7, 7))
	for y := range h {
		for x := range w {
			v := 128 + 80*math.Sin(float64(x)/37)*math.Cos(float64(y)/53)
			if (x/64+y/48)%3 == 0 {
				v = 230 - v/2
			}
			n := float64(r.IntN(9))
			img.SetRGBA(x, y, color.RGBA{byte(v + n), byte(255 - v + n/2), byte(60 + float64(x)*120/float64(w)), 255})
		}
	}
	return img
}

// jpegs are of every kind that the scaled decoder knows, made by ffmpeg where the
// standard encoder cannot.
func jpegs(t *testing.T) map[string][]byte {
	t.Helper()
	plain := asJPEG(t, stripes(613, 411))
	gray := image.NewGray(image.Rect(0, 0, 613, 411))
	for y := range 411 {
		for x := range 613 {
			gray.Pix[y*gray.Stride+x] = byte(128 + 90*math.Sin(float64(x*y)/9000))
		}
	}
	all := map[string][]byte{"420": plain, "gray": asJPEG(t, gray)}
	for name, format := range map[string]string{"444": "yuvj444p", "422": "yuvj422p", "440": "yuvj440p", "411": "yuvj411p"} {
		cmd := exec.Command("ffmpeg", "-v", "error", "-f", "mjpeg", "-i", "pipe:0", "-pix_fmt", format, "-q:v", "3", "-f", "mjpeg", "pipe:1")
		cmd.Stdin = bytes.NewReader(plain)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("ffmpeg: %v", err)
		}
		all[name] = out
	}
	return all
}

// TestScaledDecodingShowsTheSame holds each scale against the mean of the pixels
// that the standard decoder gives.
func TestScaledDecodingShowsTheSame(t *testing.T) {
	t.Parallel()
	for name, b := range jpegs(t) {
		whole, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, scale := range []int{2, 4, 8} {
			got, err := decodeScaled(bufio.NewReader(bytes.NewReader(b)), scale)
			if err != nil {
				t.Errorf("%s at 1/%d: %v", name, scale, err)
				continue
			}
			if size := got.Bounds().Size(); size != image.Pt((613+scale-1)/scale, (411+scale-1)/scale) {
				t.Errorf("%s at 1/%d has %v", name, scale, size)
			}
			if off := meanOff(whole, got, scale); off > 4 {
				t.Errorf("%s at 1/%d: %.1f levels off in the mean", name, scale, off)
			}
		}
	}
}

// meanOff is how far, in the mean, a small picture's channels are from the mean of
// what they stand for.
func meanOff(whole, small image.Image, scale int) float64 {
	sum, n := 0.0, 0
	for y := 1; y < small.Bounds().Dy()-1; y += 3 {
		for x := 1; x < small.Bounds().Dx()-1; x += 3 {
			var mean [3]float64
			for dy := range scale {
				for dx := range scale {
					c := color.RGBAModel.Convert(whole.At(x*scale+dx, y*scale+dy)).(color.RGBA)
					mean[0], mean[1], mean[2] = mean[0]+float64(c.R), mean[1]+float64(c.G), mean[2]+float64(c.B)
				}
			}
			c := color.RGBAModel.Convert(small.At(x, y)).(color.RGBA)
			for i, v := range []byte{c.R, c.G, c.B} {
				sum += math.Abs(float64(v) - mean[i]/float64(scale*scale))
			}
			n += 3
		}
	}
	return sum / float64(n)
}

// withRestarts is a picture with a row of blocks between restart markers, as
// cameras write it. The encoder's tables are always the same, so rows that were
// encoded by themselves fit under one header.
func withRestarts(t *testing.T, img *image.RGBA) []byte {
	t.Helper()
	const sos = 14 // from the marker to the data, of three components
	w, rows := img.Rect.Dx(), img.Rect.Dy()/16
	data := func(b []byte) []byte { at := bytes.Index(b, []byte{0xff, 0xda}); return b[at+sos : len(b)-2] }
	whole := asJPEG(t, img)
	out := append([]byte{}, whole[:bytes.Index(whole, []byte{0xff, 0xda})+sos]...)
	for y := range rows {
		if y > 0 {
			out = append(out, 0xff, 0xd0+byte((y-1)%8))
		}
		out = append(out, data(asJPEG(t, img.SubImage(image.Rect(0, 16*y, w, 16*y+16))))...)
	}
	return withSegment(append(out, 0xff, 0xd9), 0xdd, binary.BigEndian.AppendUint16(nil, uint16((w+15)/16)))
}

func TestScaledDecodingTakesRestarts(t *testing.T) {
	t.Parallel()
	b := withRestarts(t, stripes(200, 240))
	whole, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeScaled(bufio.NewReader(bytes.NewReader(b)), 4)
	if err != nil || meanOff(whole, got, 4) > 4 {
		t.Errorf("got %v", err)
	}
}

func TestWhatCannotBeScaledIsDecodedWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"progressive.jpg", "cmyk.jpg"} {
		if _, err := decodeScaled(bufio.NewReader(bytes.NewReader(file(t, name))), 2); err == nil {
			t.Errorf("%s was decoded at a half", name)
		}
	}
	big := asJPEG(t, stripes(1600, 1000))
	cut := append([]byte{}, big[:len(big)/2]...)
	cut = append(cut, 0xff, 0xd9)
	if _, err := decodeScaled(bufio.NewReader(bytes.NewReader(cut)), 4); err == nil {
		t.Error("half a picture was decoded")
	}
}

func TestThumbnailsAreTheSameFromEitherDecoder(t *testing.T) {
	t.Parallel()
	b := asJPEG(t, stripes(1600, 1000))
	var thumbs []image.Image
	for _, scale := range []int{1, scaledDown(1600, 1000, 200, 125)} {
		img, did, err := decode(t.Context(), Facts{Type: JPEG}, bytes.NewReader(b), scale)
		if err != nil || did != scale {
			t.Fatalf("decoded at 1/%d: %v", did, err)
		}
		small, err := shrink(t.Context(), img, 200)
		if err != nil {
			t.Fatal(err)
		}
		thumbs = append(thumbs, small)
	}
	if off := meanOff(thumbs[0], thumbs[1], 1); off > 1.5 {
		t.Errorf("%.1f levels apart", off)
	}
}

// FuzzScaledJPEG: what the scaled decoder takes has the size it says.
func FuzzScaledJPEG(f *testing.F) {
	var small bytes.Buffer
	_ = jpeg.Encode(&small, stripes(40, 24), nil)
	f.Add(small.Bytes(), uint8(0))
	f.Add(small.Bytes()[:small.Len()-20], uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, pick uint8) {
		config, err := jpeg.DecodeConfig(bytes.NewReader(b))
		if err != nil || config.Width*config.Height > 1<<22 {
			return // Inspect asks the same first
		}
		img, err := decodeScaled(bufio.NewReader(bytes.NewReader(b)), 2<<(pick%3))
		if err != nil {
			return
		}
		for _, at := range []image.Point{{}, img.Bounds().Max.Sub(image.Pt(1, 1))} {
			img.At(at.X, at.Y)
		}
	})
}
