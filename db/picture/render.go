package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"

	"herald/db/model"
	"herald/db/network"
)

// Render writes to out what a recipe makes of the picture in src. The recipe's
// crop counts in pixels of the upright picture, and its size is that of the
// result. It refuses what Inspect refuses, recipes that do not fit the picture,
// and pictures that do not come down to the recipe's bytes.
func (d *Darkroom) Render(ctx context.Context, src Source, out io.Writer, r network.Recipe) (Facts, error) {
	size := func(f Facts) (int, int) {
		if c := r.Crop; !c.Whole() {
			return r.Width * f.Width / max(c.Width, 1), r.Height * f.Height / max(c.Height, 1)
		}
		return r.Width, r.Height
	}
	return d.develop(ctx, src, size, func(n negative) (Facts, error) {
		part, w, h, err := stored(n.facts, r)
		if err != nil {
			return Facts{}, err
		}
		small, err := shrinkTo(n.ctx, crop(n.image, scaledPart(part, n)), w, h)
		if err != nil {
			return Facts{}, err
		}
		if Type(r.Type) == JPEG && !isOpaque(small) {
			small = onWhite(small)
		}
		return n.within(out, turn(small, n.facts.Orientation, Type(r.Type)), Type(r.Type), r.Bytes)
	})
}

// stored is a recipe's crop and size in the picture as it lies in the file, before
// it is turned upright.
func stored(f Facts, r network.Recipe) (part image.Rectangle, w, h int, err error) {
	c := r.Crop
	if c.Whole() {
		c = model.Crop{Width: f.Width, Height: f.Height}
	}
	t := Type(r.Type)
	if !c.Within(f.Width, f.Height) || r.Width < 1 || r.Height < 1 || r.Width > c.Width || r.Height > c.Height || t != JPEG && t != PNG {
		return part, 0, 0, fmt.Errorf("recipe %q does not fit a picture of %d × %d", r, f.Width, f.Height)
	}
	w, h = r.Width, r.Height
	if f.Orientation >= 5 {
		w, h = h, w
	}
	a, b := lies(f, c.X, c.Y), lies(f, c.X+c.Width-1, c.Y+c.Height-1)
	part = image.Rect(min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X)+1, max(a.Y, b.Y)+1)
	return part, w, h, nil
}

// scaledPart is a part of the picture as it was decoded.
func scaledPart(part image.Rectangle, n negative) image.Rectangle {
	s := n.scale
	return image.Rect(part.Min.X/s, part.Min.Y/s, (part.Max.X+s-1)/s, (part.Max.Y+s-1)/s).Intersect(image.Rect(0, 0, n.image.Bounds().Dx(), n.image.Bounds().Dy()))
}

// lies is where a pixel of the upright picture lies in the file.
func lies(f Facts, x, y int) image.Point {
	right, down := f.Width-1, f.Height-1
	switch f.Orientation {
	case 2:
		return image.Pt(right-x, y)
	case 3:
		return image.Pt(right-x, down-y)
	case 4:
		return image.Pt(x, down-y)
	case 5:
		return image.Pt(y, x)
	case 6:
		return image.Pt(y, right-x)
	case 7:
		return image.Pt(down-y, right-x)
	case 8:
		return image.Pt(down-y, x)
	}
	return image.Pt(x, y)
}

// crop is a view of a part of img, counted from its upper left corner.
func crop(img image.Image, part image.Rectangle) image.Image {
	if b := img.Bounds(); part == image.Rect(0, 0, b.Dx(), b.Dy()) {
		return img
	}
	return img.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(part.Add(img.Bounds().Min))
}

// qualities are tried from the best on until a JPEG fits.
var qualities = []int{publishQuality, 84, 76, 66, 54, 40}

// within writes img as t with at most so many bytes; zero is any number. A PNG has
// no qualities to choose from.
func (n negative) within(out io.Writer, img image.Image, t Type, most int64) (f Facts, err error) {
	for _, q := range qualities {
		var file bytes.Buffer
		if f, err = n.write(&file, img, t, q); err != nil {
			return f, err
		}
		if most == 0 || int64(file.Len()) <= most {
			_, err = out.Write(file.Bytes())
			return f, err
		}
		if t != JPEG {
			break
		}
	}
	return f, refuse("This picture does not come down to the %s that the network takes. Make it smaller and upload it again.", sizeText(most))
}

// onWhite puts a picture with transparency on white, which is what networks that
// take only JPEG would show under it.
func onWhite(img image.Image) image.Image {
	b := img.Bounds()
	dst, read := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy())), rows(img)
	for y := range b.Dy() {
		p := dst.Pix[y*dst.Stride : y*dst.Stride+4*b.Dx()]
		read(y, p)
		for i := 0; i < len(p); i += 4 {
			a := int(p[i+3])
			for c := range 3 {
				p[i+c] = byte((int(p[i+c])*a + 255*(255-a) + 127) / 255)
			}
			p[i+3] = 255
		}
	}
	return dst
}
