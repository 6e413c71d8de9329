package desk

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"syscall"

	"herald/db/model"
	"herald/db/picture"
	"herald/handlers/web"
)

// What one form may hold beside its files.
const (
	formTextBytes = 8 << 20
	formParts     = 5000
	formFiles     = 50
)

// parts is a form as it was sent: its fields in memory, its files on disk.
type parts struct {
	url.Values
	files  []*upload
	create func() (*os.File, error) // makes a temporary file; tests put a full disk here
}

// upload is one file of a form, in a temporary file. One that is larger than
// the rule allows was not kept, nor one for which the disk has no room; then over
// is set, or full.
type upload struct {
	name string
	size int64
	over bool
	full error
	file *os.File
}

// close takes the temporary files away.
func (p *parts) close() {
	for _, u := range p.files {
		u.close()
	}
}

func (u *upload) close() {
	if u.file != nil {
		_ = u.file.Close()
		_ = os.Remove(u.file.Name())
	}
}

// uploadBytes is the largest file taken.
func (d *Desk) uploadBytes() int64 {
	if d.Limits.UploadBytes > 0 {
		return d.Limits.UploadBytes
	}
	return picture.Standard().VideoBytes
}

// formMost is the largest file that a form takes: it waits on this machine's disk
// until the whole form is here. Larger ones go up by themselves, as uploads.
const formMost = 512 << 20

func (d *Desk) formBytes() int64 { return min(d.uploadBytes(), formMost) }

// limits are the library's, with the operator's setting.
func (d *Desk) limits() picture.Limits {
	l := picture.Standard()
	l.VideoBytes = d.uploadBytes()
	return l
}

// tooLargeForForm refuses a file of a form. One that is within the rule can go up by
// itself, which takes script.
func (d *Desk) tooLargeForForm(size int64) error {
	if size > d.uploadBytes() || d.uploadBytes() == d.formBytes() {
		return tooLarge(size, d.uploadBytes())
	}
	return model.Refuse(model.TooLarge, fmt.Sprintf("This file has %s; a plain form takes %s. Drop it on the library's page in a browser with JavaScript, which takes %s.", megabytes(size), megabytes(d.formBytes()), megabytes(d.uploadBytes())))
}

func tooLarge(size, limit int64) error {
	return model.Refuse(model.TooLarge, fmt.Sprintf("This file has %s; the limit is %s. Make it smaller and upload it again.", megabytes(size), megabytes(limit)))
}

// readParts reads a form. Files go to disk as they come, so that memory does not
// grow with them; one that is too large, or has no room there, is passed over to
// its end, so that the rest of the form is not lost. It refuses with TooLarge a body beyond that. The
// caller closes the parts.
func (d *Desk) readParts(w http.ResponseWriter, r *http.Request) (p *parts, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, 4*d.formBytes()+formTextBytes)
	reader, err := r.MultipartReader()
	if errors.Is(err, http.ErrNotMultipart) {
		return readFields(w, r)
	}
	if err != nil {
		return nil, errForm
	}
	r.PostForm = url.Values{} // what is read is there for whoever refuses the form
	p = &parts{Values: r.PostForm, create: func() (*os.File, error) { return os.CreateTemp("", "herald-upload-*") }}
	if err := p.read(reader, d.formBytes()); err != nil {
		p.close()
		return nil, err
	}
	web.Clean(p.Values)
	return p, nil
}

var errForm = model.Refuse(model.Unprocessable, "The form did not arrive whole. Go back and send it again.")

func readFields(w http.ResponseWriter, r *http.Request) (*parts, error) {
	r.Body = http.MaxBytesReader(w, r.Body, formTextBytes)
	if err := r.ParseForm(); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, errTooMuch
		}
		return nil, unread(err)
	}
	web.Clean(r.PostForm)
	return &parts{Values: r.PostForm}, nil
}

func (p *parts) read(reader *multipart.Reader, limit int64) error {
	room := int64(formTextBytes)
	for range formParts {
		part, err := reader.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return unread(err)
		}
		if part.FileName() == "" {
			err = p.field(part, &room)
		} else {
			err = p.take(part, limit)
		}
		if err != nil {
			return err
		}
	}
	return errTooMuch
}

var errTooMuch = model.Refuse(model.TooLarge, "That is more than one form can hold. Send it in smaller pieces.")

// field reads a plain field. An empty file input comes as a field without a file
// name too, and says nothing.
func (p *parts) field(part *multipart.Part, room *int64) error {
	value, err := io.ReadAll(io.LimitReader(part, *room+1))
	if err != nil {
		return unread(err)
	}
	if *room -= int64(len(value)); *room < 0 {
		return errTooMuch
	}
	if part.Header.Get("Content-Type") == "" {
		p.Add(part.FormName(), string(value))
	}
	return nil
}

func (p *parts) take(part *multipart.Part, limit int64) error {
	if len(p.files) == formFiles {
		return model.Refuse(model.TooLarge, fmt.Sprintf("At most %d files go up at once. Choose fewer, then add the others.", formFiles))
	}
	u := &upload{name: part.FileName()}
	p.files = append(p.files, u)
	err := u.keep(part, limit, p.create)
	switch {
	case noRoom(err):
		u.full = err
	case err != nil || !u.over:
		return err
	}
	u.close()
	u.file = nil
	rest, err := io.Copy(io.Discard, part)
	u.size += rest
	return unread(err)
}

// noRoom says whether our own disk is full.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// keep writes what comes to disk, as much of it as the rule allows.
func (u *upload) keep(part io.Reader, limit int64, create func() (*os.File, error)) (err error) {
	if u.file, err = create(); err != nil {
		return fmt.Errorf("keep an upload: %w", err)
	}
	u.size, err = io.CopyN(u.file, part, limit+1)
	u.over = err == nil
	if err == io.EOF {
		return nil
	}
	return unread(err)
}

// unread sorts why a body ended early: it was too large, our disk failed, or it
// did not come whole.
func unread(err error) error {
	if err == nil {
		return nil
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return model.Refuse(model.TooLarge, fmt.Sprintf("These files are more than %s together. Upload fewer at once.", megabytes(big.Limit)))
	}
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("keep an upload: %w", err)
	}
	return errForm
}

func megabytes(n int64) string {
	if n >= 1<<30 && n%(1<<30) == 0 {
		return fmt.Sprintf("%d GB", n>>30)
	}
	if n < 10<<20 {
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d MB", n>>20)
}
