package picture

import (
	"context"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"io"
	"strings"
)

// The parts of a GIF.
const (
	gifExtension = 0x21
	gifFrame     = 0x2c
	gifEnd       = 0x3b
	// of extensions:
	gifControl     = 0xf9 // how long the next frame stands, and what of it is transparent
	gifApplication = 0xff
)

// walkGIF goes from part to part and counts the frames.
func walkGIF(w *walk) (outline, error) {
	o := outline{depth: 5} // an index, and the canvas if a frame does not cover it
	err := w.gif(nil, func(kind, label byte) bool {
		if kind == gifFrame {
			o.frames++
		}
		return false
	})
	if err == nil && o.frames == 0 {
		err = damaged(GIF)
	}
	return o, err
}

// StripGIF writes to out the GIF in src with nothing but its frames, their timing
// and how often they are shown: what it says besides (comments, places, the program
// that made it) stays behind, and so does what lies behind its end.
func StripGIF(ctx context.Context, src Source, out io.Writer) (err error) {
	t := GIF
	defer contain(&err, &t)
	in := newInput(ctx, src)
	in.t = GIF
	w := &walk{r: in.reader(), t: GIF}
	err = w.gif(&ctxWriter{ctx, out}, func(kind, label byte) bool { return kind == gifFrame || label == gifControl })
	if err != nil {
		return in.failure(err, err)
	}
	return nil
}

// gif goes over the parts of a GIF, and copies to out those that keep says; and
// the application's extension that says how often it loops.
func (w *walk) gif(out io.Writer, keep func(kind, label byte) bool) error {
	c := gifCopy{w, out}
	if err := c.header(); err != nil {
		return err
	}
	for {
		kind, err := w.r.ReadByte()
		if err != nil {
			return err
		}
		switch kind {
		case gifEnd:
			return c.write([]byte{gifEnd})
		case gifFrame:
			err = c.frame(keep(gifFrame, 0))
		case gifExtension:
			err = c.extension(keep)
		default:
			return damaged(GIF)
		}
		if err != nil {
			return err
		}
	}
}

// gifCopy reads parts of a GIF and writes those that are kept.
type gifCopy struct {
	*walk
	out io.Writer
}

func (c gifCopy) write(p []byte) error {
	if c.out == nil {
		return nil
	}
	if _, err := c.out.Write(p); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// pass reads n bytes on, and writes them if they are kept.
func (c gifCopy) pass(n int64, kept bool) ([]byte, error) {
	p, err := c.bytes(n)
	if err == nil && kept {
		err = c.write(p)
	}
	return p, err
}

// header is the name, the canvas and the colours that frames share.
func (c gifCopy) header() error {
	p, err := c.pass(13, true)
	if err != nil {
		return err
	}
	return c.colours(p[10], true)
}

// colours is a table of colours, if flags say that there is one.
func (c gifCopy) colours(flags byte, kept bool) error {
	if flags&0x80 == 0 {
		return nil
	}
	_, err := c.pass(3<<(flags&7+1), kept)
	return err
}

// frame is a frame behind its first byte: where it lies, its colours, its pixels.
func (c gifCopy) frame(kept bool) error {
	if kept {
		if err := c.write([]byte{gifFrame}); err != nil {
			return err
		}
	}
	p, err := c.pass(9, kept)
	if err != nil {
		return err
	}
	if err := c.colours(p[8], kept); err != nil {
		return err
	}
	if _, err := c.pass(1, kept); err != nil { // the width of a code
		return err
	}
	return c.blocks(kept)
}

// extension is an extension behind its first byte.
func (c gifCopy) extension(keep func(kind, label byte) bool) error {
	label, err := c.r.ReadByte()
	if err != nil {
		return err
	}
	kept := keep(gifExtension, label)
	if label == gifApplication {
		name, _ := c.r.Peek(12)
		kept = len(name) == 12 && (strings.HasSuffix(string(name), "NETSCAPE2.0") || strings.HasSuffix(string(name), "ANIMEXTS1.0"))
	}
	if kept {
		if err := c.write([]byte{gifExtension, label}); err != nil {
			return err
		}
	}
	return c.blocks(kept)
}

// blocks are runs of up to 255 bytes, each behind its length, and an empty one.
func (c gifCopy) blocks(kept bool) error {
	for {
		n, err := c.pass(1, kept)
		if err != nil || n[0] == 0 {
			return err
		}
		if _, err := c.pass(int64(n[0]), kept); err != nil {
			return err
		}
	}
}

// decodeGIF decodes the first frame, on a canvas of w by h.
func decodeGIF(r io.Reader, w, h int) (image.Image, error) {
	img, err := gif.Decode(r)
	if err != nil || img.Bounds() == image.Rect(0, 0, w, h) {
		return img, err
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(canvas, img.Bounds(), img, img.Bounds().Min, draw.Src)
	return canvas, nil
}
