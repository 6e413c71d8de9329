package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"
)

const (
	drafts      = ".drafts"           // objects in the making, on the same disk so that rename works
	forgotten   = 30 * 24 * time.Hour // a draft not written to for so long is nobody's
	folderPiece = 32 << 20            // bytes between two syncs of a draft
)

// draftName is the draft's file: that of the object, without its folders.
func draftName(key string) string { return path.Join(drafts, path.Base(key)) }

// Extend implements Store. The file may be longer than the draft: a writer was
// lost before it wrote its piece down, and that piece is written over.
func (f *Folder) Extend(ctx context.Context, d Draft, r io.Reader) (_ Draft, err error) {
	defer wrap(&err, "extend")
	if err := ready(ctx, d.Key); err != nil {
		return d, err
	}
	file, err := f.openDraft(d)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := io.CopyBuffer(onlyWriter{file}, io.LimitReader(&ctxReader{ctx, r}, folderPiece), make([]byte, 128<<10))
	if err == nil {
		err = errors.Join(file.Sync(), f.sync(drafts))
	}
	if err != nil {
		_ = file.Truncate(d.Size)
		return d, full(err)
	}
	d.Size += n
	return d, nil
}

// openDraft opens a draft's file at the draft's end.
func (f *Folder) openDraft(d Draft) (*os.File, error) {
	name := draftName(d.Key)
	if d.Size == 0 {
		file, err := f.create(name)
		if !errors.Is(err, os.ErrExist) {
			return file, full(err)
		}
	}
	file, err := f.root.OpenFile(name, os.O_WRONLY, fileMode)
	if err != nil {
		return nil, err
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err == nil && end < d.Size {
		err = fmt.Errorf("%w: the draft has %d bytes, not the %d that were safe", ErrNotFound, end, d.Size)
	}
	if err == nil {
		err = file.Truncate(d.Size)
	}
	if err == nil {
		_, err = file.Seek(d.Size, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Finish implements Store.
func (f *Folder) Finish(ctx context.Context, d Draft) (_ Info, err error) {
	defer wrap(&err, "finish")
	if err := ready(ctx, d.Key); err != nil {
		return Info{}, err
	}
	if d.Size == 0 {
		return f.Put(ctx, d.Key, strings.NewReader(""), Options{})
	}
	file, err := f.openDraft(d)
	if errors.Is(err, ErrNotFound) {
		return f.finished(ctx, d)
	}
	if err != nil {
		return Info{}, err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return Info{}, full(err)
	}
	if err := f.place(draftName(d.Key), d.Key); err != nil {
		return Info{}, err
	}
	return f.Stat(context.WithoutCancel(ctx), d.Key)
}

// finished tells a draft that became its object from one that is lost.
func (f *Folder) finished(ctx context.Context, d Draft) (Info, error) {
	info, err := f.Stat(ctx, d.Key)
	if err == nil && info.Size != d.Size {
		err = ErrNotFound
	}
	return info, err
}

// Abandon implements Store.
func (f *Folder) Abandon(ctx context.Context, d Draft) (err error) {
	defer wrap(&err, "abandon")
	if err := ready(ctx, d.Key); err != nil {
		return err
	}
	err = f.root.Remove(draftName(d.Key))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
