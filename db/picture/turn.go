package picture

import "image"

// turn returns img as orientation o says a viewer sees it, in a form that the
// encoder of t writes well. An upright picture in such a form is returned as it
// is, so that nothing is copied and no colour is converted twice.
func turn(img image.Image, o int, t Type) image.Image {
	if o == 1 && writesWell(img, t) {
		return img
	}
	if g, ok := img.(*image.Gray16); ok {
		img = gray8(g)
		if o == 1 {
			return img
		}
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	dw, dh := w, h
	if o >= 5 {
		dw, dh = h, w
	}
	row, read := make([]byte, 4*w), rows(img)
	dst := image.NewNRGBA(image.Rect(0, 0, dw, dh))
	for y := range h {
		read(y, row)
		first, step := route(o, y, w, h, dst.Stride)
		for x := range w {
			at := first + x*step
			copy(dst.Pix[at:at+4], row[4*x:4*x+4])
		}
	}
	if t == JPEG {
		// The JPEG encoder has a fast way for RGBA; without transparency the
		// two are the same bytes.
		return &image.RGBA{Pix: dst.Pix, Stride: dst.Stride, Rect: dst.Rect}
	}
	return dst
}

func writesWell(img image.Image, t Type) bool {
	switch img.(type) {
	case *image.YCbCr:
		return t == JPEG
	case *image.NRGBA, *image.Paletted:
		return t == PNG
	case *image.Gray, *image.RGBA:
		return true
	}
	return false
}

// route says where the pixels of row y of a w by h picture go under orientation
// o: the offset of the first one and the way from each to the next.
func route(o, y, w, h, stride int) (first, step int) {
	right, down := w-1, h-1
	switch o {
	case 2: // mirrored
		return y*stride + right*4, -4
	case 3: // upside down
		return (down-y)*stride + right*4, -4
	case 4: // upside down, mirrored
		return (down - y) * stride, 4
	case 5: // on its left side, mirrored
		return y * 4, stride
	case 6: // on its left side
		return (down - y) * 4, stride
	case 7: // on its right side, mirrored
		return right*stride + (down-y)*4, -stride
	case 8: // on its right side
		return right*stride + y*4, -stride
	}
	return y * stride, 4
}

func gray8(src *image.Gray16) *image.Gray {
	b := src.Bounds()
	dst := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		at := src.PixOffset(b.Min.X, b.Min.Y+y)
		for x := range b.Dx() {
			dst.Pix[y*dst.Stride+x] = src.Pix[at+2*x]
		}
	}
	return dst
}
