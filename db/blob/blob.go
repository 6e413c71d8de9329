// Package blob keeps the bytes of media under keys, in a local folder or in an
// S3 bucket. It promises that an object is there whole or not at all, that a key
// can not leave its place, and that memory does not grow with an object's size.
// It knows nothing of who may see what: that is the caller's. Start with the
// Store interface; blobtest is the suite that every Store passes.
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

// Why a place can not keep or give bytes, as against what was wrong with them.
var (
	ErrFull   = errors.New("no room left where media is kept")
	ErrDenied = errors.New("the object store refuses the credentials")
	ErrBucket = errors.New("the bucket does not exist")
	ErrAway   = errors.New("the object store does not answer")
)

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
	ETag     string // without quotes; another one for other bytes under the same key
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

	// Move gives an object another key; addresses made for the old one lead
	// nowhere from then on. One that was moved before is moved already.
	// ErrNotFound if there is none.
	Move(ctx context.Context, from, to string) error

	// Extend adds a piece to a draft: what r gives until its end, or as much of
	// it as one piece takes; the new draft's size tells. If r or the place fails,
	// the draft is as it was. See Draft for what may be repeated.
	Extend(ctx context.Context, d Draft, r io.Reader) (Draft, error)

	// Finish makes the draft the object of its key, all at once. Finishing twice
	// is finishing. ErrNotFound if the draft was abandoned.
	Finish(ctx context.Context, d Draft) (Info, error)

	// Abandon gives a draft's bytes up. One that is not there is given up
	// already; an object that the draft became stays.
	Abandon(ctx context.Context, d Draft) error

	// Presign makes an address at which anyone can read the object until ttl
	// is over, a week at most. ok is false where the place has no such addresses:
	// then serve it through an address of our own. What is quarantined gets none.
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

// Draft is an object in the making: written piece by piece by one writer at a
// time, over days and by one process after the other if need be. It is plain data
// that the writer keeps between pieces. Of the drafts that Extend gave, the last
// and the one before it are good to go on from, so a writer that is lost between
// Extend and writing the draft down has lost one piece. Start with a Key alone.
type Draft struct {
	Key   string   `json:"key"`
	Size  int64    `json:"size"`            // bytes that are safe
	Ref   string   `json:"ref,omitempty"`   // the place's own name for it
	Parts []string `json:"parts,omitempty"` // what the place answered for each part
	Rest  int64    `json:"rest,omitempty"`  // the last of Size, too few for a part yet
	Slot  int      `json:"slot,omitempty"`  // where the rest lies
}

// Check proves that s can be written, read and emptied, by doing so with a few
// bytes. It is for start-up checks.
func Check(ctx context.Context, s Store) (err error) {
	key := Key(0, time.Now(), "txt")
	const word = "herald was here"
	if _, err := s.Put(ctx, key, strings.NewReader(word), Options{Size: int64(len(word))}); err != nil {
		return err
	}
	defer func() {
		if gone := s.Delete(ctx, key); err == nil {
			err = gone
		}
	}()
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
