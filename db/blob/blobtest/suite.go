// Package blobtest is what a blob.Store must do, as tests. A store passes when
// Run does; it is run against the real place, never against a pretended one.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"herald/db/blob"
)

var month = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Run tests the stores that open makes. Each test has a store of its own, or
// one that it shares: the keys never meet.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for name, test := range map[string]func(*testing.T, blob.Store){
		"GivesBackWhatItWasGiven":         givesBack,
		"KeepsEmptyObjects":               keepsEmpty,
		"ReadsFromAnywhere":               readsFromAnywhere,
		"IsServedInRanges":                servesRanges,
		"SaysNotFound":                    saysNotFound,
		"DeletesTwice":                    deletesTwice,
		"ReplacesWhole":                   replacesWhole,
		"RefusesKeysThatLeaveTheirPlace":  refusesKeys,
		"LeavesNothingWhenTheBodyFails":   leavesNothing,
		"LeavesTheOldWhenTheBodyFails":    leavesTheOld,
		"RefusesABodyOfAnotherLength":     refusesLength,
		"StopsWhenTheRequestEnds":         stopsWithRequest,
		"KeepsOneOfManyWritersAtOnce":     keepsOne,
		"KeepsWorkspacesApart":            keepsApart,
		"PassesItsOwnCheck":               passesCheck,
		"PresignsOnlyWhatItCanAndOnlyKey": presigns,
		"TellsOtherBytesByTheETag":        tellsByETag,
		"MovesWhole":                      movesWhole,
		"WritesInPieces":                  writesInPieces,
		"GoesOnFromTheDraftBefore":        goesBackOne,
		"GoesOnInAnotherProcess":          goesOnElsewhere,
		"ShowsNothingOfADraft":            showsNoDraft,
		"LeavesTheDraftWhenAPieceFails":   leavesDraft,
		"FinishesTwice":                   finishesTwice,
		"GivesADraftUp":                   givesUp,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// Body is n bytes that look random and are the same for the same seed.
func Body(seed uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

func put(t *testing.T, s blob.Store, key string, body []byte) blob.Info {
	t.Helper()
	info, err := s.Put(t.Context(), key, bytes.NewReader(body), blob.Options{Size: int64(len(body))})
	if err != nil {
		t.Fatalf("put: %v", err)
	}
	return info
}

func open(t *testing.T, s blob.Store, key string) blob.Object {
	t.Helper()
	o, err := s.Open(t.Context(), key)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

func wantBody(t *testing.T, s blob.Store, key string, want []byte) {
	t.Helper()
	got, err := io.ReadAll(open(t, s, key))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes, %v; want the %d that were written", len(got), err, len(want))
	}
}

func wantNothing(t *testing.T, s blob.Store, key string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if _, err := s.Stat(ctx, key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("stat: %v, want not found", err)
	}
	if _, err := s.Open(ctx, key); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("open: %v, want not found", err)
	}
}

func givesBack(t *testing.T, s blob.Store) {
	for _, size := range []int{1, 4096, 3<<20 + 17, 10 << 20, 11<<20 + 1} {
		key, body := blob.Key(7, month, "png"), Body(uint64(size), size)
		info, err := s.Put(t.Context(), key, iotest.HalfReader(bytes.NewReader(body)), blob.Options{Size: blob.Unknown})
		if err != nil {
			t.Fatal(err)
		}
		wantBody(t, s, key, body)
		stat, err := s.Stat(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		for from, i := range map[string]blob.Info{"put": info, "stat": stat, "open": open(t, s, key).Info()} {
			if i.Key != key || i.Type != "image/png" || i.ETag == "" || i.ETag != stat.ETag || i.Size != int64(size) || time.Since(i.Modified).Abs() > time.Hour {
				t.Errorf("%s says %+v", from, i)
			}
		}
	}
}

func keepsEmpty(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	put(t, s, key, nil)
	wantBody(t, s, key, nil)
}

func readsFromAnywhere(t *testing.T, s blob.Store) {
	key, body := blob.Key(7, month, "mp4"), Body(1, 1<<20)
	put(t, s, key, body)
	o := open(t, s, key)
	if o.Size() != int64(len(body)) {
		t.Errorf("size is %d", o.Size())
	}
	for _, at := range []int64{0, 1, 4095, 1<<20 - 1} {
		if _, err := o.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.LimitReader(o, 100))
		if want := body[at:min(at+100, 1<<20)]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("from %d by Seek: %d bytes, %v", at, len(got), err)
		}
	}
	if end, err := o.Seek(-10, io.SeekEnd); err != nil || end != 1<<20-10 {
		t.Errorf("seek from the end: %d, %v", end, err)
	}
	readsAt(t, o, body)
}

// servesRanges answers as the address of a file does.
func servesRanges(t *testing.T, s blob.Store) {
	key, body := blob.Key(7, month, "mp4"), Body(1, 1<<20)
	info := put(t, s, key, body)
	ask := func(method string, header ...string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequestWithContext(t.Context(), method, "/", nil), httptest.NewRecorder()
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", info.Type)
		w.Header().Set("ETag", `"`+info.ETag+`"`)
		http.ServeContent(w, r, "", info.Modified, open(t, s, key))
		return w
	}
	for name, c := range map[string]struct {
		w      *httptest.ResponseRecorder
		status int
		body   []byte
	}{
		"whole":       {ask("GET"), 200, body},
		"head":        {ask("HEAD"), 200, nil},
		"middle":      {ask("GET", "Range", "bytes=1000-600000"), 206, body[1000:600001]},
		"end":         {ask("GET", "Range", "bytes=-10"), 206, body[1<<20-10:]},
		"behind":      {ask("GET", "Range", "bytes=1048576-"), 416, []byte("invalid range: failed to overlap\n")},
		"same":        {ask("GET", "If-None-Match", `"`+info.ETag+`"`), 304, nil},
		"range, same": {ask("GET", "Range", "bytes=0-0", "If-Range", `"`+info.ETag+`"`), 206, body[:1]},
		"replaced":    {ask("GET", "Range", "bytes=0-0", "If-Range", `"of before"`), 200, body},
	} {
		if c.w.Code != c.status || !bytes.Equal(c.w.Body.Bytes(), c.body) {
			t.Errorf("%s: %d, %d bytes; want %d, %d bytes", name, c.w.Code, c.w.Body.Len(), c.status, len(c.body))
		}
	}
	two := ask("GET", "Range", "bytes=0-9,500000-500009")
	if two.Code != 206 || !bytes.Contains(two.Body.Bytes(), body[:10]) || !bytes.Contains(two.Body.Bytes(), body[500000:500010]) {
		t.Errorf("two ranges: %d, %d bytes", two.Code, two.Body.Len())
	}
}

func readsAt(t *testing.T, o blob.Object, body []byte) {
	t.Helper()
	p := make([]byte, 100)
	if n, err := o.ReadAt(p, 5000); n != 100 || err != nil || !bytes.Equal(p, body[5000:5100]) {
		t.Errorf("ReadAt in the middle: %d, %v", n, err)
	}
	if n, err := o.ReadAt(p, 1<<20-40); n != 40 || err != io.EOF || !bytes.Equal(p[:40], body[1<<20-40:]) {
		t.Errorf("ReadAt over the end: %d, %v", n, err)
	}
	if n, err := o.ReadAt(p, 1<<20+40); n != 0 || err != io.EOF {
		t.Errorf("ReadAt behind the end: %d, %v", n, err)
	}
}

func saysNotFound(t *testing.T, s blob.Store) {
	wantNothing(t, s, blob.Key(7, month, "jpg"))
}

func deletesTwice(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	put(t, s, key, Body(1, 10))
	for range 2 {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	wantNothing(t, s, key)
}

func replacesWhole(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	put(t, s, key, Body(1, 100_000))
	put(t, s, key, Body(2, 10))
	wantBody(t, s, key, Body(2, 10))
}

func refusesKeys(t *testing.T, s blob.Store) {
	good := blob.Key(7, month, "jpg")
	dir, file := good[:strings.LastIndex(good, "/")], good[strings.LastIndex(good, "/"):]
	for _, bad := range []string{
		"", ".", "/", "..", "/etc/passwd", "../" + good, "/" + good, good + "/", good + "/x.jpg",
		"tenants/7/media/2026/11/../../../8/media/2026/11" + file, dir + "/../11" + file, dir + "//" + file,
		strings.ReplaceAll(good, "/", `\`), good + "\x00", good + "\n", "\n" + good, dir + "/cat.jpg", dir + "/.jpg",
		strings.Replace(good, "tenants/7", "tenants/-7", 1), strings.Replace(good, "tenants/7", "tenants/07", 1),
		strings.Replace(good, "/11/", "/13/", 1), strings.ToUpper(good), good[:len(good)-4], good + ".exe.jpg",
		"tenants/7/media/2026/11/%2e%2e" + file, strings.Replace(good, "2026", "２０２６", 1),
	} {
		_, errPut := s.Put(t.Context(), bad, strings.NewReader("x"), blob.Options{Size: blob.Unknown})
		_, errOpen := s.Open(t.Context(), bad)
		_, errStat := s.Stat(t.Context(), bad)
		_, _, errSign := s.Presign(t.Context(), bad, time.Minute)
		errDelete := s.Delete(t.Context(), bad)
		_, errExtend := s.Extend(t.Context(), blob.Draft{Key: bad}, strings.NewReader("x"))
		_, errFinish := s.Finish(t.Context(), blob.Draft{Key: bad, Size: 1})
		for verb, err := range map[string]error{"put": errPut, "open": errOpen, "stat": errStat, "presign": errSign, "delete": errDelete,
			"extend": errExtend, "finish": errFinish, "abandon": s.Abandon(t.Context(), blob.Draft{Key: bad}),
			"move from": s.Move(t.Context(), bad, good), "move to": s.Move(t.Context(), good, bad)} {
			if err == nil || errors.Is(err, blob.ErrNotFound) {
				t.Errorf("%s of %q: %v, want a refusal", verb, bad, err)
			}
		}
	}
}

func leavesNothing(t *testing.T, s blob.Store) {
	key, cause := blob.Key(7, month, "jpg"), errors.New("the phone went into a tunnel")
	for _, size := range []int64{blob.Unknown, 20 << 20} {
		body := io.MultiReader(bytes.NewReader(Body(1, 11<<20)), iotest.ErrReader(cause))
		if _, err := s.Put(t.Context(), key, body, blob.Options{Size: size}); !errors.Is(err, cause) {
			t.Errorf("got %v, want the body's own error", err)
		}
		wantNothing(t, s, key)
	}
}

func leavesTheOld(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	put(t, s, key, Body(1, 1000))
	body := io.MultiReader(bytes.NewReader(Body(2, 100)), iotest.ErrReader(errors.New("gone")))
	if _, err := s.Put(t.Context(), key, body, blob.Options{Size: blob.Unknown}); err == nil {
		t.Error("a broken body was stored")
	}
	wantBody(t, s, key, Body(1, 1000))
}

func refusesLength(t *testing.T, s blob.Store) {
	for _, announced := range []int64{0, 9, 11, 1 << 20} {
		key := blob.Key(7, month, "jpg")
		_, err := s.Put(t.Context(), key, bytes.NewReader(Body(1, 10)), blob.Options{Size: announced})
		if !errors.Is(err, blob.ErrSize) {
			t.Errorf("10 bytes announced as %d: %v", announced, err)
		}
		wantNothing(t, s, key)
	}
}

func stopsWithRequest(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	ctx, cancel := context.WithCancel(t.Context())
	body := io.MultiReader(bytes.NewReader(Body(1, 1<<20)), onRead(cancel), endless{})
	if _, err := s.Put(ctx, key, body, blob.Options{Size: blob.Unknown}); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	wantNothing(t, s, key)
	if _, err := s.Open(ctx, key); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if err := s.Delete(ctx, key); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: %v", err)
	}
}

func keepsOne(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			body := bytes.NewReader(Body(uint64(i), 300_000+i))
			if _, err := s.Put(t.Context(), key, body, blob.Options{Size: blob.Unknown}); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	got, err := io.ReadAll(open(t, s, key))
	if err != nil || len(got) < 300_000 || !bytes.Equal(got, Body(uint64(len(got)-300_000), len(got))) {
		t.Errorf("what stayed is none of the eight: %d bytes, %v", len(got), err)
	}
}

func keepsApart(t *testing.T, s blob.Store) {
	seven := blob.Key(7, month, "jpg")
	put(t, s, seven, Body(1, 10))
	wantNothing(t, s, strings.Replace(seven, "tenants/7/", "tenants/70/", 1))
}

func passesCheck(t *testing.T, s blob.Store) {
	if err := blob.Check(t.Context(), s); err != nil {
		t.Error(err)
	}
}

func presigns(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	put(t, s, key, Body(1, 10))
	url, ok, err := s.Presign(t.Context(), key, time.Minute)
	if err != nil || ok != strings.HasPrefix(url, "http") {
		t.Errorf("presign: %q, %v, %v", url, ok, err)
	}
	if url, ok, err := s.Presign(t.Context(), blob.Quarantined(key), time.Minute); ok || err == nil {
		t.Errorf("presign of what is quarantined: %q, %v, %v", url, ok, err)
	}
	if !ok {
		return
	}
	status, kind, body := fetch(t, url)
	if status != http.StatusOK || kind != "image/jpeg" || !bytes.Equal(body, Body(1, 10)) {
		t.Errorf("the address gives %d, %s, %d bytes", status, kind, len(body))
	}
	for name, bad := range map[string]string{
		"no signature": url[:strings.IndexByte(url, '?')], "a longer life": strings.Replace(url, "Expires=60", "Expires=600", 1),
		"another key": strings.Replace(url, "tenants/7/", "tenants/8/", 1),
	} {
		if status, _, _ := fetch(t, bad); status != http.StatusForbidden {
			t.Errorf("%s: %d, want 403", name, status)
		}
	}
	if err := s.Move(t.Context(), key, blob.Quarantined(key)); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := fetch(t, url); status != http.StatusNotFound {
		t.Errorf("once quarantined, the address gives %d, want 404", status)
	}
}

func fetch(t *testing.T, url string) (status int, kind string, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err = io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, a.Header.Get("Content-Type"), body
}

// onRead calls f once, when it is read.
func onRead(f func()) io.Reader { return &trigger{f} }

type trigger struct{ f func() }

func (t *trigger) Read([]byte) (int, error) { t.f(); return 0, io.EOF }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
