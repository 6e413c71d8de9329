package blob_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"herald/db/blob"
	"herald/db/blob/blobtest"
)

// store opens the fake's bucket.
func (f *fakeS3) store(t *testing.T, keys blob.Credentials, name string) blob.Store {
	t.Helper()
	s, err := blob.OpenURL("s3://"+name+"?endpoint="+f.server.URL, keys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func right() blob.Credentials { return blob.Credentials{ID: accessID, Secret: secret} }

func TestS3PassesTheStoreSuiteOnAPretendedServer(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store { return newFakeS3(t).store(t, right(), bucket) })
}

// body is how large a body makes one call of S3's, and how large several.
var bodies = map[string]int{"one call": 1000, "parts": 6 << 20}

func put(t *testing.T, s blob.Store, size int) (string, error) {
	t.Helper()
	key := blob.Key(7, time.Now(), "jpg")
	_, err := s.Put(t.Context(), key, iotest.HalfReader(bytes.NewReader(blobtest.Body(1, size))), blob.Options{Size: blob.Unknown})
	return key, err
}

func TestS3IsAskedAgainWhileItIsBusy(t *testing.T) {
	t.Parallel()
	for name, size := range bodies {
		f := newFakeS3(t)
		busy := map[string]int{}
		f.trouble = func(r *http.Request) (int, string) {
			call := r.Method + r.URL.String()
			if busy[call]++; busy[call] <= 2 {
				return http.StatusServiceUnavailable, "SlowDown"
			}
			return 0, ""
		}
		s := f.store(t, right(), bucket)
		key, err := put(t, s, size)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o, err := s.Open(t.Context(), key)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := io.ReadAll(o); err != nil || !bytes.Equal(got, blobtest.Body(1, size)) {
			t.Errorf("%s: %d bytes back, %v", name, len(got), err)
		}
	}
}

func TestS3SaysWhatIsWrongAndLeavesNothing(t *testing.T) {
	t.Parallel()
	always := func(status int, code string) func(*fakeS3) {
		return func(f *fakeS3) { f.trouble = func(*http.Request) (int, string) { return status, code } }
	}
	second := func(status int, code string) func(*fakeS3) { // all goes well until a part
		return func(f *fakeS3) {
			f.trouble = func(r *http.Request) (int, string) {
				if r.URL.Query().Get("partNumber") == "2" {
					return status, code
				}
				return 0, ""
			}
		}
	}
	for name, c := range map[string]struct {
		keys   blob.Credentials
		bucket string
		set    func(*fakeS3)
		is     error
		says   string
	}{
		"an unknown key":         {keys: blob.Credentials{ID: "nobody", Secret: secret}, is: blob.ErrDenied, says: "the object store refuses the credentials: 127.0.0.1:"},
		"a wrong secret":         {keys: blob.Credentials{ID: accessID, Secret: "guess"}, is: blob.ErrDenied, says: "SignatureDoesNotMatch"},
		"no bucket":              {bucket: "elsewhere", is: blob.ErrBucket, says: `the bucket does not exist: make "elsewhere" at 127.0.0.1:`},
		"not for this bucket":    {set: always(403, "AccessDenied"), is: blob.ErrDenied, says: "AccessDenied"},
		"full":                   {set: always(507, "XMinioStorageFull"), is: blob.ErrFull, says: "no room left"},
		"full at the second":     {set: second(507, "InsufficientStorage"), is: blob.ErrFull, says: "no room left"},
		"refused at the second":  {set: second(403, "AccessDenied"), is: blob.ErrDenied, says: "AccessDenied"},
		"a code of its own":      {set: second(400, "Whatever"), says: "the object store at 127.0.0.1:"},
		"a quota of the account": {set: second(400, "QuotaExceeded"), is: blob.ErrFull, says: "QuotaExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeS3(t)
			if c.set != nil {
				c.set(f)
			}
			if c.keys.ID == "" {
				c.keys = right()
			}
			if c.bucket == "" {
				c.bucket = bucket
			}
			key, err := put(t, f.store(t, c.keys, c.bucket), 11<<20)
			if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want %v: %s", err, c.is, c.says)
			}
			if left := f.keys(); len(left) != 0 {
				t.Errorf("left behind %v of %s", left, key)
			}
		})
	}
}

func TestAnS3StoreThatIsAwaySaysSo(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	s := f.store(t, right(), bucket)
	f.server.Close()
	var wg sync.WaitGroup
	for verb, call := range map[string]func() error{
		"put":   func() error { _, err := put(t, s, 10); return err },
		"stat":  func() error { _, err := s.Stat(t.Context(), blob.Key(7, time.Now(), "jpg")); return err },
		"check": func() error { return blob.Check(t.Context(), s) },
	} {
		wg.Go(func() {
			if err := call(); !errors.Is(err, blob.ErrAway) || errors.Is(err, blob.ErrNotFound) || !strings.Contains(err.Error(), "the object store does not answer: 127.0.0.1:") {
				t.Errorf("%s: %v", verb, err)
			}
		})
	}
	wg.Wait()
}

func TestAnS3ObjectThatWasReplacedIsNotReadOn(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	s := f.store(t, right(), bucket)
	key, _ := put(t, s, 3<<20)
	o, err := s.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), key, bytes.NewReader(blobtest.Body(2, 3<<20)), blob.Options{Size: blob.Unknown}); err != nil {
		t.Fatal(err)
	}
	if n, err := o.Read(make([]byte, 10)); err == nil {
		t.Errorf("read %d bytes of another object", n)
	}
	if n, err := o.ReadAt(make([]byte, 10), 5); err == nil {
		t.Errorf("read %d bytes of another object at an offset", n)
	}
}

// TestReadingAnS3ObjectInSmallStepsCostsFewCalls: a picture's header is read in
// steps of some bytes.
func TestReadingAnS3ObjectInSmallStepsCostsFewCalls(t *testing.T) {
	t.Parallel()
	f := newFakeS3(t)
	s := f.store(t, right(), bucket)
	key, _ := put(t, s, 3<<20)
	var calls atomic.Int32
	f.trouble = func(r *http.Request) (int, string) { calls.Add(1); return 0, "" }
	o, err := s.Open(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	if err != nil || !bytes.Equal(got, blobtest.Body(1, 3<<20)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if n := calls.Load(); n > 5 {
		t.Errorf("%d calls for 3 MB, want one to open and one a megabyte", n)
	}
}
