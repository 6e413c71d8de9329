package darkroom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	pdf "github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"herald/db/model"
	"herald/db/picture"
)

var (
	errLocked = model.Refuse(model.Unprocessable, "This PDF is locked with a password or against changes, and networks refuse it. Export it again without a password and upload that.")
	errBadPDF = model.Refuse(model.Unprocessable, "This PDF is damaged and can't be read. Export it again and upload the new file.")
	errNoPage = model.Refuse(model.Unprocessable, "This PDF has no pages. Export it again and upload the new file.")
)

// Document looks into a PDF and keeps it as it is, in dir, with a thumbnail of its
// first page where there is a tool that draws it and it can.
func (r *Room) Document(ctx context.Context, src *os.File, dir string) (Print, error) {
	a, err := r.child(ctx, order{Step: "document", Dir: dir}, src)
	if errors.Is(err, ErrDied) {
		return Print{}, errors.Join(err, errBadPDF)
	}
	if err != nil {
		return Print{}, err
	}
	p := Print{Published: *a.Published, Peak: a.Peak}
	p.Thumb, p.Placeholder, err = r.page(ctx, src, dir)
	if errors.Is(err, ErrNoTool) || errors.Is(err, ErrUnreadable) {
		err = nil
	}
	return p, err
}

// page draws the first page of a PDF, small.
func (r *Room) page(ctx context.Context, src *os.File, dir string) (thumb File, placeholder []byte, err error) {
	if r.poppler == "" {
		return thumb, nil, ErrNoTool
	}
	ctx, cancel := r.timed(ctx, posterTime)
	defer cancel()
	dir = in(dir, "page")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return thumb, nil, err
	}
	b := bounds{Memory: r.limits.Memory + overhead, Seconds: int64(posterTime / time.Second), FileSize: r.limits.PictureBytes * 2}
	cmd := r.command(ctx, b, "tool", r.poppler, "-q", "-f", "1", "-l", "1", "-singlefile", "-scale-to", strconv.Itoa(2*thumbSide), "-png", "/dev/fd/3", in(dir, "still"))
	cmd.ExtraFiles = []*os.File{src}
	if err := r.run(ctx, cmd); err != nil {
		return thumb, nil, unreadable(err)
	}
	still, err := os.Open(in(dir, "still.png"))
	if err != nil {
		return thumb, nil, fmt.Errorf("%w: no page came of it", ErrUnreadable)
	}
	defer still.Close()
	a, err := r.child(ctx, order{Step: "develop", Dir: dir}, still)
	if err != nil {
		return thumb, nil, err
	}
	return *a.Thumb, a.Placeholder, nil
}

// document counts the pages of a PDF and copies it. It runs in a child, whose limits
// hold what the bytes may make of the library that reads them.
func document(ctx context.Context, src *io.SectionReader, out io.Writer, limits picture.Limits) (f picture.Facts, err error) {
	if f, err = picture.Inspect(ctx, src, limits); err != nil {
		return f, err
	}
	if f.Type != picture.PDF {
		return f, errBadPDF
	}
	if err := leaf(&f, src); err != nil {
		return f, err
	}
	if f.Frames > limits.Pages {
		return f, model.Refuse(model.TooLarge, fmt.Sprintf("This PDF has %d pages; the limit is %d. Make it shorter and upload it again.", f.Frames, limits.Pages))
	}
	_, err = io.Copy(out, io.NewSectionReader(src, 0, src.Size()))
	return f, err
}

// leaf counts the pages, and measures the first in points, as it is read.
func leaf(f *picture.Facts, src io.ReadSeeker) (err error) {
	defer func() {
		if recover() != nil {
			err = errBadPDF
		}
	}()
	api.DisableConfigDir()
	read, err := api.ReadContext(src, pdf.NewDefaultConfiguration())
	switch {
	case errors.Is(err, pdfcpu.ErrWrongPassword), errors.Is(err, pdfcpu.ErrEncrypted), err == nil && read.Encrypt != nil:
		return errLocked
	case err != nil, read.EnsurePageCount() != nil:
		return errBadPDF
	case read.PageCount < 1:
		return errNoPage
	}
	_, _, first, err := read.PageDict(1, false)
	_, _, _, last := read.PageDict(read.PageCount, false)
	if err != nil || last != nil || first == nil || first.MediaBox == nil {
		return errBadPDF
	}
	f.Frames, f.Width, f.Height = read.PageCount, int(first.MediaBox.Width()), int(first.MediaBox.Height())
	if first.Rotate%180 != 0 {
		f.Width, f.Height = f.Height, f.Width
	}
	return nil
}
