package picture

import (
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"

	"golang.org/x/sync/semaphore"
)

const (
	publishQuality = 90
	thumbQuality   = 82
)

// Darkroom decodes pictures and makes new ones from them. Callers wait their
// turn: no more work at once than there are processors, and together it takes
// no more than Limits.Memory. A Darkroom is safe for concurrent use; one for
// the whole process is right.
type Darkroom struct {
	limits Limits
	memory *semaphore.Weighted
	turned bool
}

// NewDarkroom makes a darkroom.
func NewDarkroom(limits Limits) *Darkroom {
	return &Darkroom{limits: limits, memory: semaphore.NewWeighted(limits.Memory)}
}

// Turned is the darkroom for pictures whose pixels are upright already, whatever
// the EXIF data says that came along with them.
func (d *Darkroom) Turned() *Darkroom {
	t := *d
	t.turned = true
	return &t
}

// Upright writes to out what may be published of the picture in src: upright,
// pixels and colour profile only, 8 bits a channel. A JPEG stays a JPEG and a
// PNG a PNG; a WebP, which few networks take and nothing here writes, becomes a
// PNG if it is transparent anywhere and a JPEG if not. A GIF keeps its frames; one
// that has a single one becomes a PNG. The facts are those of what was written.
//
// It refuses what Inspect refuses, videos, and pixels that can't be decoded.
// What out holds after an error is of no use.
func (d *Darkroom) Upright(ctx context.Context, src Source, out io.Writer) (Facts, error) {
	return d.develop(ctx, src, whole, func(n negative) (Facts, error) {
		t := n.facts.Type
		switch {
		case t == GIF && n.facts.Frames > 1:
			return n.facts, StripGIF(n.ctx, src, out)
		case t == WebP && isOpaque(n.image):
			t = JPEG
		case t == WebP, t == GIF:
			t = PNG
		}
		return n.write(out, turn(n.image, n.facts.Orientation, t), t, publishQuality)
	})
}

// Thumbnail writes to out the picture in src, upright and with neither side
// longer than side: a JPEG, or a PNG if it is transparent anywhere. A smaller
// picture keeps its size. It refuses what Upright refuses.
func (d *Darkroom) Thumbnail(ctx context.Context, src Source, out io.Writer, side int) (Facts, error) {
	f, _, err := d.Card(ctx, src, out, side)
	return f, err
}

// Card is Thumbnail, with the picture's ThumbHash besides.
func (d *Darkroom) Card(ctx context.Context, src Source, out io.Writer, side int) (f Facts, placeholder []byte, err error) {
	f, err = d.develop(ctx, src, func(f Facts) (int, int) { return fit(f.Width, f.Height, side) }, func(n negative) (Facts, error) {
		small, err := shrink(n.ctx, n.image, side)
		if err != nil {
			return Facts{}, err
		}
		t := PNG
		if isOpaque(small) {
			t = JPEG
		}
		small = turn(small, n.facts.Orientation, t)
		tiny, err := shrink(n.ctx, small, hashSide)
		if err != nil {
			return Facts{}, err
		}
		placeholder = Hash(tiny)
		return n.write(out, small, t, thumbQuality)
	})
	return f, placeholder, err
}

// negative is a decoded picture on its way through the darkroom.
type negative struct {
	ctx   context.Context
	image image.Image
	scale int // it was decoded at 1/scale of its size
	facts Facts
	icc   []byte
}

// whole wants every pixel.
func whole(f Facts) (int, int) { return f.Width, f.Height }

// develop inspects, waits for its turn, decodes and lets finish write the result.
// size says how many pixels of the upright picture are wanted, all of it being
// shown: where fewer do, fewer are decoded.
func (d *Darkroom) develop(ctx context.Context, src Source, size func(Facts) (w, h int), finish func(negative) (Facts, error)) (_ Facts, err error) {
	facts, o, err := inspect(ctx, src, d.limits)
	if err != nil {
		return Facts{}, err
	}
	if facts.Type.Video() || facts.Type == PDF {
		return Facts{}, refuse("This is a %s, and a picture is needed here.", facts.Type.word())
	}
	if d.turned {
		if facts.Orientation >= 5 {
			facts.Width, facts.Height = facts.Height, facts.Width
		}
		facts.Orientation = 1
	}
	leave, err := d.enter(ctx, int64(facts.Width)*int64(facts.Height)*(o.depth+4))
	if err != nil {
		return Facts{}, err
	}
	defer leave()
	defer contain(&err, &facts.Type)
	w, h := size(facts)
	img, scale, err := decode(ctx, facts, src, scaledDown(facts.Width, facts.Height, w, h))
	if err != nil {
		return Facts{}, err
	}
	return finish(negative{ctx, img, scale, facts, o.icc})
}

// enter waits until need bytes are free. Even the smallest picture counts as
// one processor's share, so that small ones do not crowd in.
func (d *Darkroom) enter(ctx context.Context, need int64) (leave func(), err error) {
	if need > d.limits.Memory {
		return nil, refuse("This picture needs %s of memory to open; the limit is %s. Make it smaller and upload it again.",
			sizeText(need), sizeText(d.limits.Memory))
	}
	need = max(need, d.limits.Memory/int64(runtime.GOMAXPROCS(0)))
	if err := d.memory.Acquire(ctx, need); err != nil {
		return nil, fmt.Errorf("wait for the darkroom: %w", err)
	}
	return func() { d.memory.Release(need) }, nil
}

// decode reads a picture, of a GIF its first frame, a JPEG at 1/scale of its size if
// it can.
func decode(ctx context.Context, f Facts, src Source, scale int) (img image.Image, did int, err error) {
	in, t := newInput(ctx, src), f.Type
	in.t = t
	if t == JPEG && scale > 1 {
		if img, err = decodeScaled(in.reader(), scale); err == nil {
			return img, scale, nil
		}
		if in.err != nil {
			return nil, 0, in.failure(err, damaged(t))
		}
	}
	switch r := in.reader(); t {
	case JPEG:
		img, err = jpeg.Decode(r)
	case PNG:
		img, err = png.Decode(r)
	case WebP:
		img, err = decodeWebP(r)
	case GIF:
		img, err = decodeGIF(r, f.Width, f.Height)
	default:
		err = fmt.Errorf("%s cannot be decoded here", t)
	}
	if err != nil {
		return nil, 0, in.failure(err, unreadable(t, err))
	}
	return img, 1, nil
}

func (n negative) write(out io.Writer, img image.Image, t Type, quality int) (f Facts, err error) {
	w := &ctxWriter{n.ctx, out}
	_, gray := img.(*image.Gray)
	dst := withProfile(w, t, profileFor(n.icc, gray))
	if t == JPEG {
		err = jpeg.Encode(dst, img, &jpeg.Options{Quality: quality})
	} else {
		err = png.Encode(dst, img)
	}
	if err != nil {
		return Facts{}, fmt.Errorf("write picture: %w", err)
	}
	b := img.Bounds()
	return Facts{Type: t, Width: b.Dx(), Height: b.Dy(), Orientation: 1}, nil
}

// ctxWriter stops an encoder once ctx is over.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *ctxWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

func isOpaque(img image.Image) bool {
	o, ok := img.(interface{ Opaque() bool })
	return ok && o.Opaque()
}
