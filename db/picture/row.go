package picture

import (
	"image"
	"image/color"
	"image/draw"
)

// rows returns a function that writes row y (from 0) of img into p as straight
// (not premultiplied) RGBA, 8 bits each: the one form that turning and
// shrinking work on.
func rows(img image.Image) func(y int, p []byte) {
	b := img.Bounds()
	switch src := img.(type) {
	case *image.NRGBA:
		return func(y int, p []byte) {
			at := src.PixOffset(b.Min.X, b.Min.Y+y)
			copy(p, src.Pix[at:at+4*b.Dx()])
		}
	case *image.NRGBA64:
		return func(y int, p []byte) {
			at := src.PixOffset(b.Min.X, b.Min.Y+y)
			for i := range p[:4*b.Dx()] {
				p[i] = src.Pix[at+2*i] // the high byte of each 16-bit sample
			}
		}
	case *image.Paletted:
		return palettedRows(src)
	case *image.YCbCr, *image.Gray, *image.CMYK:
		return drawnRows(img)
	case *image.RGBA:
		if src.Opaque() {
			return drawnRows(img)
		}
	}
	return func(y int, p []byte) {
		for x := range b.Dx() {
			put(p[4*x:], img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
}

// drawnRows is for opaque types that package draw has a fast way for; without
// transparency, premultiplied and straight are the same.
func drawnRows(img image.Image) func(y int, p []byte) {
	b := img.Bounds()
	return func(y int, p []byte) {
		row := &image.RGBA{Pix: p, Stride: 4 * b.Dx(), Rect: image.Rect(0, 0, b.Dx(), 1)}
		draw.Draw(row, row.Rect, img, b.Min.Add(image.Pt(0, y)), draw.Src)
	}
}

func palettedRows(src *image.Paletted) func(y int, p []byte) {
	b := src.Bounds()
	var table [256][4]byte // an index without an entry is transparent
	for i, c := range src.Palette {
		put(table[i][:], c)
	}
	return func(y int, p []byte) {
		at := src.PixOffset(b.Min.X, b.Min.Y+y)
		for x, i := range src.Pix[at : at+b.Dx()] {
			copy(p[4*x:], table[i][:])
		}
	}
}

func put(p []byte, c color.Color) {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	p[0], p[1], p[2], p[3] = n.R, n.G, n.B, n.A
}
