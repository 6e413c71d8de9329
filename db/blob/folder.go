package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

const (
	incoming = ".incoming"    // unfinished bodies, on the same disk so that rename works
	leftover = 24 * time.Hour // an unfinished body not written to for so long has no writer
	dirMode  = 0o700
	fileMode = 0o600
)

// Folder is a Store in a local folder. A body is written beside the objects,
// synced, and then renamed into place, so a crash at any moment leaves the old
// object or the new one. The folder is reached through os.Root: not even a
// symbolic link planted in it leads outside.
type Folder struct {
	root   *os.Root
	create func(name string) (*os.File, error) // tests put a full disk here
}

// OpenFolder opens or makes a folder as a store, and clears what writers that
// died left in it.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("make the media folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the media folder: %w", err)
	}
	if err := errors.Join(root.MkdirAll(incoming, dirMode), root.MkdirAll(drafts, dirMode)); err != nil {
		return nil, errors.Join(fmt.Errorf("write in the media folder: %w", err), root.Close())
	}
	f := &Folder{root: root}
	f.create = func(name string) (*os.File, error) {
		return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	}
	return f, errors.Join(f.clear(incoming, time.Now().Add(-leftover)), f.clear(drafts, time.Now().Add(-forgotten)))
}

// clear removes a folder's files last written before t. Other processes may be
// doing the same.
func (f *Folder) clear(dir string, t time.Time) error {
	entries, err := fs.ReadDir(f.root.FS(), dir)
	if err != nil {
		return fmt.Errorf("list the media folder: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.ModTime().After(t) {
			continue
		}
		if err := f.root.Remove(path.Join(dir, e.Name())); err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("clear the media folder: %w", err)
		}
	}
	return nil
}

// Close lets go of the folder. Objects already open stay readable.
func (f *Folder) Close() error { return f.root.Close() }

// Put implements Store.
func (f *Folder) Put(ctx context.Context, key string, r io.Reader, o Options) (_ Info, err error) {
	defer wrap(&err, "put")
	if err := ValidKey(key); err != nil {
		return Info{}, err
	}
	temp := path.Join(incoming, rand.Text())
	defer func() {
		if err != nil {
			_ = f.root.Remove(temp) // if it is there at all
		}
	}()
	if err := f.write(ctx, temp, r, o.Size); err != nil {
		return Info{}, err
	}
	if err := f.place(temp, key); err != nil {
		return Info{}, err
	}
	return f.Stat(context.WithoutCancel(ctx), key)
}

// write fills a new file and makes it durable.
func (f *Folder) write(ctx context.Context, name string, r io.Reader, size int64) (err error) {
	file, err := f.create(name)
	if err != nil {
		return full(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if size >= 0 {
		r = io.LimitReader(r, size+1) // one more tells too long; the rest is not worth reading
	}
	n, err := io.CopyBuffer(onlyWriter{file}, &ctxReader{ctx, r}, make([]byte, 128<<10))
	if err != nil {
		return full(err)
	}
	if size >= 0 && n != size {
		return fmt.Errorf("%w: %d bytes or more came, %d were announced", ErrSize, n, size)
	}
	return full(file.Sync())
}

// place moves a finished file to its key. The folders of the month are made,
// and made durable, by whoever needs them first.
func (f *Folder) place(temp, key string) error {
	dir := path.Dir(key)
	_, err := f.root.Stat(dir)
	isNew := errors.Is(err, ErrNotFound)
	if isNew {
		if err := f.root.MkdirAll(dir, dirMode); err != nil {
			return full(err)
		}
	}
	if err := f.root.Rename(temp, key); err != nil {
		return full(err)
	}
	if err := f.sync(dir); err != nil || !isNew {
		return err
	}
	for dir != "." {
		dir = path.Dir(dir)
		if err := f.sync(dir); err != nil {
			return err
		}
	}
	return nil
}

// sync makes the names in a folder durable.
func (f *Folder) sync(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open implements Store.
func (f *Folder) Open(ctx context.Context, key string) (_ Object, err error) {
	defer wrap(&err, "open")
	if err := ready(ctx, key); err != nil {
		return nil, err
	}
	file, err := f.root.Open(key)
	if err != nil {
		return nil, err
	}
	stat, err := file.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = ErrNotFound
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return folderObject{file, infoOf(key, stat)}, nil
}

// Stat implements Store.
func (f *Folder) Stat(ctx context.Context, key string) (_ Info, err error) {
	defer wrap(&err, "stat")
	if err := ready(ctx, key); err != nil {
		return Info{}, err
	}
	stat, err := f.root.Stat(key)
	if err != nil {
		return Info{}, err
	}
	if !stat.Mode().IsRegular() {
		return Info{}, ErrNotFound
	}
	return infoOf(key, stat), nil
}

// Delete implements Store.
func (f *Folder) Delete(ctx context.Context, key string) (err error) {
	defer wrap(&err, "delete")
	if err := ready(ctx, key); err != nil {
		return err
	}
	err = f.root.Remove(key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Move implements Store.
func (f *Folder) Move(ctx context.Context, from, to string) (err error) {
	defer wrap(&err, "move")
	if err := errors.Join(ready(ctx, from), ValidKey(to)); err != nil {
		return err
	}
	err = f.place(from, to)
	if errors.Is(err, ErrNotFound) {
		_, err = f.Stat(ctx, to)
	}
	return err
}

// Presign implements Store: a folder has no addresses of its own.
func (f *Folder) Presign(ctx context.Context, key string, _ time.Duration) (_ string, _ bool, err error) {
	defer wrap(&err, "presign")
	return "", false, shown(ctx, key)
}

type folderObject struct {
	*os.File
	info Info
}

func (o folderObject) Size() int64 { return o.info.Size }
func (o folderObject) Info() Info  { return o.info }

// OnDisk is the file itself, for those who hand it to another process.
func (o folderObject) OnDisk() *os.File { return o.File }

func infoOf(key string, stat fs.FileInfo) Info {
	return Info{Key: key, Type: TypeOf(key), ETag: fileTag(stat), Size: stat.Size(), Modified: stat.ModTime()}
}

// fileTag tells files apart that were written within one tick of the clock, too:
// a new one is made while the old one is still there.
func fileTag(stat fs.FileInfo) string {
	var number uint64
	if sys, ok := stat.Sys().(*syscall.Stat_t); ok {
		number = sys.Ino
	}
	return fmt.Sprintf("%x-%x-%x", stat.ModTime().UnixNano(), stat.Size(), number)
}

// full adds ErrFull to what a full disk, a quota or a file-size limit answers.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
