package picture

import (
	"context"
	"image"
)

// shrink returns img with neither side longer than side, each new pixel the
// mean of the area it covers. It reads the picture once, row by row, and holds
// two rows of the result besides; on one goroutine, see the package comment.
func shrink(ctx context.Context, img image.Image, side int) (image.Image, error) {
	dw, dh := fit(img.Bounds().Dx(), img.Bounds().Dy(), side)
	return shrinkTo(ctx, img, dw, dh)
}

// shrinkTo returns img with dw by dh pixels, no more than it has either way.
func shrinkTo(ctx context.Context, img image.Image, dw, dh int) (image.Image, error) {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	if dw == w && dh == h {
		return img, nil
	}
	s := shrinker{dst: image.NewNRGBA(image.Rect(0, 0, dw, dh)), scale: float32(dw) / float32(w)}
	s.line, s.sum = make([]float32, 4*dw), make([]float32, 4*dw)
	row, read, tall := make([]byte, 4*w), rows(img), float64(dh)/float64(h)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		read(y, row)
		s.narrow(row)
		// Source row y covers [top, bottom) in rows of the result.
		top, bottom := float64(y)*tall, float64(y+1)*tall
		edge := float64(s.y + 1)
		if bottom < edge && y < h-1 {
			s.add(float32(bottom - top))
			continue
		}
		s.add(float32(min(bottom, edge) - top))
		s.flush()
		if s.y < dh {
			s.add(float32(max(bottom-edge, 0)))
		}
	}
	return s.dst, nil
}

func fit(w, h, side int) (int, int) {
	if w <= side && h <= side {
		return w, h
	}
	if w >= h {
		return side, max(1, (h*side+w/2)/w)
	}
	return max(1, (w*side+h/2)/h), side
}

type shrinker struct {
	dst   *image.NRGBA
	scale float32
	line  []float32 // one source row, narrowed: premultiplied sums
	sum   []float32 // the row of the result being gathered
	y     int       // its number
}

// narrow spreads a source row over the columns of the result.
func (s *shrinker) narrow(row []byte) {
	clear(s.line)
	at, room := 0, float32(1) // the column being filled, and how much of it is free
	for i := 0; i+4 <= len(row); i += 4 {
		a := float32(row[i+3])
		r, g, b := float32(row[i]), float32(row[i+1]), float32(row[i+2])
		if a != 255 {
			k := a / 255
			r, g, b = r*k, g*k, b*k
		}
		part := s.scale
		if part > room && at+4 < len(s.line) {
			mix(s.line[at:at+4], r, g, b, a, room)
			part -= room
			at, room = at+4, 1
		}
		mix(s.line[at:at+4], r, g, b, a, part)
		room -= part
	}
}

func mix(p []float32, r, g, b, a, part float32) {
	_ = p[3]
	p[0] += r * part
	p[1] += g * part
	p[2] += b * part
	p[3] += a * part
}

func (s *shrinker) add(part float32) {
	for i, v := range s.line {
		s.sum[i] += v * part
	}
}

// flush writes the gathered row, straight again, and starts the next.
func (s *shrinker) flush() {
	out := s.dst.Pix[s.y*s.dst.Stride:]
	for i := 0; i < len(s.sum); i += 4 {
		a := s.sum[i+3]
		k := float32(0)
		if a > 0 {
			k = 255 / a
		}
		for c := range 3 {
			out[i+c] = clamp(s.sum[i+c] * k)
		}
		out[i+3] = clamp(a)
	}
	clear(s.sum)
	s.y++
}

func clamp(v float32) byte { return byte(min(max(v+0.5, 0), 255)) }
