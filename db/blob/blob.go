// Package blob keeps the bytes of media under keys, on a local folder or
// wherever else a Store is written for. It promises that an object is there
// whole or not at all, that a key can not leave its place, and that memory does
// not grow with an object's size. It knows nothing of who may see what: that is
// the caller's. Start with the Store interface; blobtest is the suite that
// every Store passes.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// ErrFull: the place where media is kept has no room left.
var ErrFull = errors.New("no room left where media is kept")

// ErrSize: the body was not as long as Options said.
var ErrSize = errors.New("body is not as long as announced")

// ErrNotFound is what Open and Stat return for a key without an object.
var ErrNotFound = fs.ErrNotExist

// Unknown as Options.Size: the length is not known beforehand.
const Unknown = -1

// Options is what Put is told about a body.
type Options struct {
	Size int64 // in bytes, or Unknown; a body of any other length is refused
}

// Info is what is known of an object without reading it.
type Info struct {
	Key      string
	Type     string // by the key's extension, see TypeOf
	Size     int64
	Modified time.Time
}

// Store keeps objects. Any number of goroutines and processes may use one at
// the same time. A key that Key did not make is refused by every method.
type Store interface {
	// Put stores what r gives until its end. Nothing can be seen under key
	// before all of it is safe; if r, ctx or the place fails, nothing stays
	// behind and the error wraps the cause (an error of r as it was, ErrFull,
	// ErrSize). An object already there is replaced whole.
	Put(ctx context.Context, key string, r io.Reader, o Options) (Info, error)

	// Open reads an object, from anywhere in it. ErrNotFound if there is none.
	Open(ctx context.Context, key string) (Object, error)

	// Stat describes an object. ErrNotFound if there is none.
	Stat(ctx context.Context, key string) (Info, error)

	// Delete removes an object. One that is not there is removed already.
	Delete(ctx context.Context, key string) error

	// Presign makes an address at which anyone can read the object until ttl
	// is over. ok is false where the place has no such addresses: then serve
	// it through an address of our own.
	Presign(ctx context.Context, key string, ttl time.Duration) (url string, ok bool, err error)
}

// Object is an open object. It suits http.ServeContent and whatever reads a
// file by offset.
type Object interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
	Info() Info
}

// Check proves that s can be written, read and emptied, by doing so with a few
// bytes. It is for start-up checks.
func Check(ctx context.Context, s Store) (err error) {
	key := Key(0, time.Now(), "txt")
	defer func() { err = errors.Join(err, s.Delete(ctx, key)) }()
	const word = "herald was here"
	if _, err := s.Put(ctx, key, strings.NewReader(word), Options{Size: int64(len(word))}); err != nil {
		return err
	}
	object, err := s.Open(ctx, key)
	if err != nil {
		return err
	}
	defer object.Close()
	got, err := io.ReadAll(io.LimitReader(object, 1<<10))
	if err == nil && string(got) != word {
		err = fmt.Errorf("media storage was given %q and gave back %q", word, got)
	}
	return err
}
