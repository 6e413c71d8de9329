package picture

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/webp"

	"herald/db/model"
)

// Source is a file that can be read from anywhere: *bytes.Reader,
// *io.SectionReader and an object of the media store are.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Facts is what a file is, found without decoding it.
type Facts struct {
	Type        Type
	Width       int           // as a viewer sees it: after orientation and rotation
	Height      int           // as a viewer sees it
	Orientation int           // of a picture, EXIF 1 to 8; 1 where the file does not say
	Frames      int           // of a GIF; of a PDF its pages; 0 for anything else
	Rotation    int           // of a video, clockwise: 0, 90, 180 or 270
	Duration    time.Duration // of a video; 0 where the file does not say
}

// outline is what a walk over a picture's parts finds.
type outline struct {
	exif     []byte
	icc      []byte // colour profile, at most maxProfile bytes
	scans    int
	animated bool
	frames   int
	depth    int64 // bytes a pixel that decoding takes
}

// Inspect measures a file. It refuses types other than those of this package,
// more bytes, pixels, scans or frames than the limits allow, animated pictures
// other than GIFs, and files that are cut short or whose parts do not fit together. Whether the
// pixels themselves can be decoded is for Darkroom to find out.
func Inspect(ctx context.Context, src Source, limits Limits) (Facts, error) {
	f, _, err := inspect(ctx, src, limits)
	return f, err
}

func inspect(ctx context.Context, src Source, limits Limits) (f Facts, o outline, err error) {
	defer contain(&err, &f.Type)
	in := newInput(ctx, src)
	head := make([]byte, min(HeadSize, max(src.Size(), 0)))
	if n, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return f, o, in.failure(err, cutShort(""))
	} else if n < len(head) {
		return f, o, cutShort("")
	}
	if f.Type, err = Recognize("", head); err != nil {
		return f, o, err
	}
	in.t = f.Type
	if err := limits.CheckBytes(f.Type, src.Size()); err != nil {
		return f, o, err
	}
	f.Orientation = 1
	switch {
	case f.Type.Video():
		return f, o, measureVideo(in, limits, &f)
	case f.Type == HEIC:
		return f, o, measureHEIC(in, limits, &f)
	case f.Type == PDF:
		return f, o, measurePDF(in)
	}
	o, err = measurePicture(in, limits, &f)
	return f, o, err
}

// tailSize is how far from its end a PDF says where its table is.
const tailSize = 4096

// measurePDF looks whether the end is there. What the pages are is for a child
// process to find out, since that takes reading all of it.
func measurePDF(in *input) error {
	tail := make([]byte, min(tailSize, in.src.Size()))
	if _, err := in.ReadAt(tail, in.src.Size()-int64(len(tail))); err != nil && err != io.EOF {
		return in.failure(err, cutShort(PDF))
	}
	if !bytes.Contains(tail, []byte("startxref")) {
		return cutShort(PDF)
	}
	return nil
}

func measurePicture(in *input, limits Limits, f *Facts) (outline, error) {
	config, err := readConfig(f.Type, in.reader())
	if err != nil {
		return outline{}, in.failure(err, unreadable(f.Type, err))
	}
	if err := limits.checkDimensions(f.Type, config.Width, config.Height); err != nil {
		return outline{}, err
	}
	o, err := walks[f.Type](&walk{r: in.reader(), t: f.Type})
	if err != nil {
		return outline{}, in.failure(err, damaged(f.Type))
	}
	switch {
	case o.animated:
		return outline{}, refuse("This picture is animated, and networks would show one frame of it. Upload a still picture, or an MP4 video.")
	case o.frames > limits.Frames:
		return outline{}, refuse("This GIF has %s frames; the limit is %s. Make it shorter, or upload it as an MP4 video.", thousands(o.frames), thousands(limits.Frames))
	case o.scans > limits.Scans:
		return outline{}, refuse("This JPEG is saved in %s passes; the limit is %d. Export it again and upload the new file.", thousands(o.scans), limits.Scans)
	}
	f.Orientation, f.Frames = orientation(o.exif), o.frames
	f.Width, f.Height = config.Width, config.Height
	if f.Orientation >= 5 {
		f.Width, f.Height = f.Height, f.Width
	}
	return o, nil
}

// readConfig asks the decoder itself for the dimensions, so that what is
// measured is what would be decoded.
func readConfig(t Type, r io.Reader) (image.Config, error) {
	switch t {
	case JPEG:
		return jpeg.DecodeConfig(r)
	case PNG:
		return png.DecodeConfig(r)
	case WebP:
		return webp.DecodeConfig(r)
	case GIF:
		return gif.DecodeConfig(r)
	}
	return image.Config{}, fmt.Errorf("%q is not a picture", t)
}

// unreadable tells what is broken from what is merely rare: lossless and
// arithmetic-coded JPEGs, 12-bit ones.
func unreadable(t Type, err error) error {
	_, j := errors.AsType[jpeg.UnsupportedError](err)
	_, p := errors.AsType[png.UnsupportedError](err)
	if j || p {
		return refuse("This picture is saved in a rare way that Herald can't read. Export it as an ordinary JPEG or PNG and upload that.")
	}
	return damaged(t)
}

// contain turns a panic of this goroutine into an error, and says no to the
// person: bytes that make a decoder panic are damaged at best.
func contain(err *error, t *Type) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("picture decoder panicked: %v: %w", p, damaged(*t))
	}
}

// input reads a Source until its context is over, and remembers why reading
// failed: a broken disk is our fault, not a damaged picture.
type input struct {
	ctx context.Context
	src Source
	t   Type // once it is known, for the words of a refusal
	err error
}

func newInput(ctx context.Context, src Source) *input { return &input{ctx: ctx, src: src} }

// ReadAt is that of the source, until ctx is over.
func (in *input) ReadAt(p []byte, at int64) (int, error) {
	if err := in.ctx.Err(); err != nil {
		in.err = err
		return 0, err
	}
	n, err := in.src.ReadAt(p, at)
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

func (in *input) reader() *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(in, 0, in.src.Size()), 64<<10)
}

// failure sorts an error that came while reading: the context's or the disk's
// as it is, a refusal as it is, anything else as no.
func (in *input) failure(err, no error) error {
	if in.err != nil {
		return fmt.Errorf("read media: %w", in.err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return cutShort(in.t)
	}
	if _, ok := model.Refused(err); ok {
		return err
	}
	return no
}
