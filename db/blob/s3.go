package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	part      = 5 << 20            // the smallest that S3 takes as a part of many; 10,000 of them make 48 GB
	longest   = 7 * 24 * time.Hour // a presigned address lives at most
	patience  = 10 * time.Second   // for tidying up after a request that has ended
	s3Retries = 8                  // of a call that a busy store turned away: about five seconds
)

// Credentials are an access key of an S3 store. The session token is empty
// but for temporary ones.
type Credentials struct{ ID, Secret, Session string }

// S3 is a Store in a bucket. A body goes up in parts of 5 MB, each of which is
// sent again if the store was busy; a body of one part is one call. Half an upload
// is no object: S3 shows none before its last call.
type S3 struct {
	core    *minio.Core
	signer  *minio.Client // for addresses as others reach the store; nil makes none
	bucket  string
	host    string // for errors
	buffers sync.Pool
}

// place is where a bucket lies, as an s3:// address says.
type place struct {
	bucket, endpoint, region, public string
	keys                             Credentials
}

func openS3(p place) (*S3, error) {
	s := &S3{bucket: p.bucket, buffers: sync.Pool{New: func() any { return new([part]byte) }}}
	client, err := p.client(p.endpoint)
	if err != nil {
		return nil, err
	}
	s.core, s.host = &minio.Core{Client: client}, client.EndpointURL().Host
	switch p.public {
	case "":
		s.signer = client
	case "none":
	default:
		s.signer, err = p.client(p.public)
	}
	return s, err
}

// client talks to the bucket at an address of http or https.
func (p place) client(address string) (*minio.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("an S3 endpoint is written like https://s3.example.com:9000, without a path")
	}
	look := minio.BucketLookupPath
	if strings.HasSuffix(u.Hostname(), ".amazonaws.com") {
		look = minio.BucketLookupAuto
	}
	client, err := minio.New(u.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(p.keys.ID, p.keys.Secret, p.keys.Session),
		Secure: u.Scheme == "https", Region: p.region, BucketLookup: look, MaxRetries: s3Retries,
	})
	if err != nil {
		return nil, fmt.Errorf("S3 at %s: %w", u.Host, err)
	}
	return client, nil
}

// Put implements Store.
func (s *S3) Put(ctx context.Context, key string, r io.Reader, o Options) (_ Info, err error) {
	defer wrap(&err, "put")
	if err := ready(ctx, key); err != nil {
		return Info{}, err
	}
	up := upload{s: s, key: key}
	if err := up.copy(ctx, r, o.Size); err != nil {
		up.abort(ctx)
		return Info{}, err
	}
	return s.Stat(context.WithoutCancel(ctx), key)
}

// copy sends a body to its end and makes it the object.
func (u *upload) copy(ctx context.Context, r io.Reader, size int64) error {
	buffer := u.s.buffers.Get().(*[part]byte)
	defer u.s.buffers.Put(buffer)
	if size >= 0 {
		r = io.LimitReader(r, size+1) // one more tells too long; the rest is not worth reading
	}
	r = &ctxReader{ctx, r}
	for total := int64(0); ; {
		n, err := io.ReadFull(r, buffer[:])
		total += int64(n)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case err != nil && !last:
			return err
		case size >= 0 && (total > size || last && total != size):
			return fmt.Errorf("%w: %d bytes or more came, %d were announced", ErrSize, total, size)
		case last && len(u.parts) == 0:
			return u.s.putWhole(ctx, u.key, buffer[:n])
		case n > 0:
			if err := u.add(ctx, buffer[:n]); err != nil {
				return err
			}
		}
		if last {
			return u.complete(ctx)
		}
	}
}

func (s *S3) putWhole(ctx context.Context, key string, body []byte) error {
	_, err := s.core.PutObject(ctx, s.bucket, key, bytes.NewReader(body), int64(len(body)), "", "", put(key))
	return s.fault(ctx, err)
}

func put(key string) minio.PutObjectOptions { return minio.PutObjectOptions{ContentType: TypeOf(key)} }

// upload is an object that S3 is given in parts.
type upload struct {
	s     *S3
	key   string
	id    string // S3's, once the first part has come
	parts []string
}

// add sends one part; all but the last have at least 5 MB.
func (u *upload) add(ctx context.Context, body []byte) (err error) {
	if u.id == "" {
		if u.id, err = u.s.core.NewMultipartUpload(ctx, u.s.bucket, u.key, put(u.key)); err != nil {
			return u.s.fault(ctx, err)
		}
	}
	done, err := u.s.core.PutObjectPart(ctx, u.s.bucket, u.key, u.id, len(u.parts)+1, bytes.NewReader(body), int64(len(body)), minio.PutObjectPartOptions{})
	if err != nil {
		return u.s.fault(ctx, err)
	}
	u.parts = append(slices.Clip(u.parts), done.ETag)
	return nil
}

func (u *upload) complete(ctx context.Context) error {
	list := make([]minio.CompletePart, len(u.parts))
	for i, etag := range u.parts {
		list[i] = minio.CompletePart{PartNumber: i + 1, ETag: etag}
	}
	_, err := u.s.core.CompleteMultipartUpload(ctx, u.s.bucket, u.key, u.id, list, minio.PutObjectOptions{})
	return u.s.fault(ctx, err)
}

// abort gives the parts up, even after the request for them has ended.
func (u *upload) abort(ctx context.Context) {
	if u.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_ = u.s.core.AbortMultipartUpload(ctx, u.s.bucket, u.key, u.id) // what fails here, the bucket's own rule for old uploads takes
}

// Stat implements Store.
func (s *S3) Stat(ctx context.Context, key string) (_ Info, err error) {
	defer wrap(&err, "stat")
	if err := ready(ctx, key); err != nil {
		return Info{}, err
	}
	o, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if err != nil {
		return Info{}, s.fault(ctx, err)
	}
	return Info{Key: key, Type: TypeOf(key), ETag: o.ETag, Size: o.Size, Modified: o.LastModified}, nil
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, key string) (err error) {
	defer wrap(&err, "delete")
	if err := ready(ctx, key); err != nil {
		return err
	}
	err = s.fault(ctx, s.core.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Move implements Store.
func (s *S3) Move(ctx context.Context, from, to string) (err error) {
	defer wrap(&err, "move")
	if err := errors.Join(ready(ctx, from), ValidKey(to)); err != nil {
		return err
	}
	_, err = s.core.CopyObject(ctx, s.bucket, from, s.bucket, to, map[string]string{"Content-Type": TypeOf(to), "X-Amz-Metadata-Directive": "REPLACE"},
		minio.CopySrcOptions{}, minio.PutObjectOptions{})
	if err = s.fault(ctx, err); errors.Is(err, ErrNotFound) {
		_, err = s.Stat(ctx, to)
		return err
	}
	if err != nil {
		return err
	}
	return s.Delete(ctx, from)
}

// Presign implements Store.
func (s *S3) Presign(ctx context.Context, key string, ttl time.Duration) (_ string, ok bool, err error) {
	defer wrap(&err, "presign")
	if err := shown(ctx, key); err != nil || s.signer == nil {
		return "", false, err
	}
	u, err := s.signer.PresignedGetObject(ctx, s.bucket, key, min(max(ttl, time.Second), longest), nil)
	if err != nil {
		return "", false, s.fault(ctx, err)
	}
	return u.String(), true, nil
}

// fault says in words of ours what S3 answered. The cause stays in it.
func (s *S3) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answer := minio.ToErrorResponse(err)
	switch answer.Code {
	case minio.NoSuchBucket:
		return fmt.Errorf("%w: make %q at %s, or correct HERALD_MEDIA_URL", ErrBucket, s.bucket, s.host)
	case minio.NoSuchKey, minio.NoSuchUpload, "NotFound":
		return fmt.Errorf("%w: %s", ErrNotFound, answer.Code)
	case "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "ServiceQuotaExceededException":
		return fmt.Errorf("%w: %s says %s", ErrFull, s.host, answer.Code)
	}
	switch status := answer.StatusCode; {
	case status == http.StatusInsufficientStorage:
		return fmt.Errorf("%w: %s says %s", ErrFull, s.host, answer.Code)
	case status == http.StatusUnauthorized || status == http.StatusForbidden || answer.Code == "XAdminUserNotFound": // the last is Versity's 404
		return fmt.Errorf("%w: %s says %s", ErrDenied, s.host, answer.Code)
	case status == 0 || status >= 500 || status == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %s: %w", ErrAway, s.host, err)
	}
	return fmt.Errorf("the object store at %s says %s: %w", s.host, answer.Code, err)
}
