package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Extend implements Store. A piece that is too small for a part of S3's waits in
// an object beside, together with those before it, until there are enough. There
// are two such slots, so that the draft before this one stays good.
func (s *S3) Extend(ctx context.Context, d Draft, r io.Reader) (_ Draft, err error) {
	defer wrap(&err, "extend")
	if err := ready(ctx, d.Key); err != nil {
		return d, err
	}
	buffer := s.buffers.Get().(*[part]byte)
	defer s.buffers.Put(buffer)
	rest, err := s.rest(ctx, d, buffer[:])
	if err != nil {
		return d, err
	}
	n, err := io.ReadFull(&ctxReader{ctx, r}, buffer[rest:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return d, err
	}
	if n == 0 {
		return d, nil
	}
	next, err := s.keep(ctx, d, buffer[:rest+n])
	if err != nil {
		return d, err
	}
	next.Size += int64(n)
	return next, nil
}

// keep stores the rest of a draft with its new piece.
func (s *S3) keep(ctx context.Context, d Draft, body []byte) (Draft, error) {
	if len(body) < part {
		d.Slot, d.Rest = 1-d.Slot, int64(len(body))
		return d, s.putWhole(ctx, slotKey(d.Key, d.Slot), body)
	}
	up := upload{s: s, key: d.Key, id: d.Ref, parts: d.Parts}
	if err := up.add(ctx, body); err != nil {
		if d.Ref == "" {
			up.abort(ctx)
		}
		return d, err
	}
	d.Ref, d.Parts, d.Rest = up.id, up.parts, 0
	return d, nil
}

// slotKey is where the rest of a draft waits.
func slotKey(key string, slot int) string {
	return fmt.Sprintf("%s.rest%d", key[:strings.LastIndexByte(key, '.')], slot)
}

// rest reads what waits of a draft into p.
func (s *S3) rest(ctx context.Context, d Draft, p []byte) (int, error) {
	if d.Rest == 0 {
		return 0, nil
	}
	body, info, _, err := s.core.GetObject(ctx, s.bucket, slotKey(d.Key, d.Slot), minio.GetObjectOptions{})
	if err != nil {
		return 0, s.fault(ctx, err)
	}
	defer body.Close()
	if info.Size != d.Rest || d.Rest > int64(len(p)) {
		return 0, fmt.Errorf("%w: the draft's rest has %d bytes, not the %d that were safe", ErrNotFound, info.Size, d.Rest)
	}
	n, err := io.ReadFull(body, p[:d.Rest])
	return n, s.fault(ctx, err)
}

// Finish implements Store.
func (s *S3) Finish(ctx context.Context, d Draft) (_ Info, err error) {
	defer wrap(&err, "finish")
	if err := ready(ctx, d.Key); err != nil {
		return Info{}, err
	}
	err = s.finish(ctx, d)
	info, gone := s.Stat(ctx, d.Key)
	if errors.Is(err, ErrNotFound) && gone == nil && info.Size == d.Size { // finished before
		err = nil
	}
	if err := errors.Join(err, gone); err != nil {
		return Info{}, err
	}
	return info, s.clearSlots(ctx, d.Key)
}

func (s *S3) finish(ctx context.Context, d Draft) error {
	buffer := s.buffers.Get().(*[part]byte)
	defer s.buffers.Put(buffer)
	n, err := s.rest(ctx, d, buffer[:])
	if err != nil {
		return err
	}
	if len(d.Parts) == 0 {
		return s.putWhole(ctx, d.Key, buffer[:n])
	}
	up := upload{s: s, key: d.Key, id: d.Ref, parts: d.Parts}
	if n > 0 {
		if err := up.add(ctx, buffer[:n]); err != nil {
			return err
		}
	}
	return up.complete(ctx)
}

// Abandon implements Store.
func (s *S3) Abandon(ctx context.Context, d Draft) (err error) {
	defer wrap(&err, "abandon")
	if err := ready(ctx, d.Key); err != nil {
		return err
	}
	if d.Ref != "" {
		err = s.fault(ctx, s.core.AbortMultipartUpload(ctx, s.bucket, d.Key, d.Ref))
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
	}
	return errors.Join(err, s.clearSlots(ctx, d.Key))
}

func (s *S3) clearSlots(ctx context.Context, key string) error {
	return errors.Join(s.Delete(ctx, slotKey(key, 0)), s.Delete(ctx, slotKey(key, 1)))
}

var _ Store = (*S3)(nil)
var _ Store = (*Folder)(nil)
