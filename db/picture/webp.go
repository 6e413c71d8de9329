package picture

import (
	"image"
	"io"

	"golang.org/x/image/webp"
)

// decodeWebP decodes and corrects what golang.org/x/image/webp leaves as it
// is: a lossy WebP stores its planes in studio range (black is 16 and white
// 235), and image.YCbCr means full range, so that pictures came out gray.
func decodeWebP(r io.Reader) (image.Image, error) {
	img, err := webp.Decode(r)
	if err != nil {
		return nil, err
	}
	switch m := img.(type) {
	case *image.YCbCr:
		fullRange(m)
	case *image.NYCbCrA:
		fullRange(&m.YCbCr)
	}
	return img, nil
}

func fullRange(m *image.YCbCr) {
	var luma, chroma [256]byte
	for i := range 256 {
		luma[i] = clamp((float32(i) - 16) * 255 / 219)
		chroma[i] = clamp((float32(i)-128)*255/224 + 128)
	}
	for _, p := range []struct {
		plane []byte
		table *[256]byte
	}{{m.Y, &luma}, {m.Cb, &chroma}, {m.Cr, &chroma}} {
		for i, v := range p.plane {
			p.plane[i] = p.table[v]
		}
	}
}
