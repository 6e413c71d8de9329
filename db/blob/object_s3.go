package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/minio/minio-go/v7"
)

// ahead is how much one call for a few bytes brings: who reads at offsets reads
// on from there, as a rule.
const ahead = 1 << 20

// Open implements Store. The object is not read before the first Read.
func (s *S3) Open(ctx context.Context, key string) (_ Object, err error) {
	info, err := s.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	return &s3Object{s: s, ctx: ctx, info: info}, nil
}

// s3Object reads an object in ranges: Read through one call that goes on, ReadAt
// through a call each, of which the last answer is kept. If the object is
// replaced meanwhile, reading fails: never are two mixed.
type s3Object struct {
	s    *S3
	ctx  context.Context
	info Info

	at   int64
	body io.ReadCloser // what Read goes on with; nil before the first

	lock  sync.Mutex // of what ReadAt keeps
	from  int64
	block []byte
}

func (o *s3Object) Size() int64 { return o.info.Size }
func (o *s3Object) Info() Info  { return o.info }

// get asks for the bytes from up to, without, to.
func (o *s3Object) get(from, to int64) (io.ReadCloser, error) {
	var opts minio.GetObjectOptions
	if err := errors.Join(opts.SetRange(from, to-1), opts.SetMatchETag(o.info.ETag)); err != nil {
		return nil, err
	}
	body, _, _, err := o.s.core.GetObject(o.ctx, o.s.bucket, o.info.Key, opts)
	if err != nil {
		return nil, o.s.fault(o.ctx, err)
	}
	return body, nil
}

func (o *s3Object) Read(p []byte) (n int, err error) {
	if o.at >= o.info.Size {
		return 0, io.EOF
	}
	if o.body == nil {
		if o.body, err = o.get(o.at, o.info.Size); err != nil {
			return 0, err
		}
	}
	n, err = o.body.Read(p)
	o.at += int64(n)
	if err == io.EOF && o.at < o.info.Size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (o *s3Object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.info.Size
	}
	if offset < 0 {
		return o.at, fmt.Errorf("seek before the start: %w", fs.ErrInvalid)
	}
	if offset != o.at {
		_ = o.Close()
		o.at = offset
	}
	return offset, nil
}

// Close lets go of the call under way. The object can be read on after it.
func (o *s3Object) Close() error {
	if o.body == nil {
		return nil
	}
	body := o.body
	o.body = nil
	return body.Close()
}

func (o *s3Object) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 {
		return 0, fmt.Errorf("read before the start: %w", fs.ErrInvalid)
	}
	want := min(int64(len(p)), max(o.info.Size-at, 0))
	if want == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	if at < o.from || at+want > o.from+int64(len(o.block)) {
		if err := o.fill(at, max(want, ahead)); err != nil {
			return 0, err
		}
	}
	n := copy(p, o.block[at-o.from:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// fill keeps n bytes from at, or as many as there are.
func (o *s3Object) fill(at, n int64) error {
	n = min(n, o.info.Size-at)
	body, err := o.get(at, at+n)
	if err != nil {
		return err
	}
	defer body.Close()
	if int64(cap(o.block)) < n {
		o.block = make([]byte, n)
	}
	o.from, o.block = at, o.block[:n]
	if _, err = io.ReadFull(body, o.block); err != nil {
		o.block = o.block[:0]
	}
	return err
}
