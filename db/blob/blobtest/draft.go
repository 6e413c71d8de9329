package blobtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"herald/db/blob"
)

func tellsByETag(t *testing.T, s blob.Store) {
	key := blob.Key(7, month, "jpg")
	one := put(t, s, key, Body(1, 10))
	two := put(t, s, key, Body(2, 10))
	if one.ETag == two.ETag || one.ETag == "" {
		t.Errorf("%q and %q", one.ETag, two.ETag)
	}
}

func movesWhole(t *testing.T, s blob.Store) {
	from := blob.Key(7, month, "jpg")
	to := blob.Quarantined(from)
	put(t, s, from, Body(1, 1000))
	for range 2 {
		if err := s.Move(t.Context(), from, to); err != nil {
			t.Fatal(err)
		}
		wantNothing(t, s, from)
		wantBody(t, s, to, Body(1, 1000))
	}
	if err := s.Move(t.Context(), blob.Key(7, month, "jpg"), blob.Key(7, month, "jpg")); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("moving nothing: %v", err)
	}
}

// extend adds all of body to a draft, a call for each piece.
func extend(t *testing.T, s blob.Store, d blob.Draft, body []byte) blob.Draft {
	t.Helper()
	for r := bytes.NewReader(body); r.Len() > 0; {
		before := r.Len()
		next, err := s.Extend(t.Context(), d, r)
		if err != nil || next.Size-d.Size != int64(before-r.Len()) || next.Size == d.Size {
			t.Fatalf("extend by %d: size %d after %d, %v", before-r.Len(), next.Size, d.Size, err)
		}
		d = next
	}
	return d
}

func finish(t *testing.T, s blob.Store, d blob.Draft) {
	t.Helper()
	if info, err := s.Finish(t.Context(), d); err != nil || info.Size != d.Size || info.Key != d.Key {
		t.Fatalf("finish: %+v, %v", info, err)
	}
}

func writesInPieces(t *testing.T, s blob.Store) {
	for _, sizes := range [][]int{{}, {1}, {100, 200, 300}, {6 << 20}, {100, 5 << 20, 100}, {4 << 20, 4 << 20, 4 << 20}, {5 << 20, 5 << 20}, {35 << 20}} {
		d, all := blob.Draft{Key: blob.Key(7, month, "mp4")}, []byte{}
		for i, n := range sizes {
			d = extend(t, s, d, Body(uint64(i), n))
			all = append(all, Body(uint64(i), n)...)
		}
		finish(t, s, d)
		wantBody(t, s, d.Key, all)
	}
}

// goesBackOne is a writer that was lost before it wrote its last draft down.
func goesBackOne(t *testing.T, s blob.Store) {
	for _, size := range []int{1000, 5<<20 + 1000} {
		d := extend(t, s, blob.Draft{Key: blob.Key(7, month, "mp4")}, Body(1, size))
		for _, lost := range []int{2000, 6 << 20, 3} {
			if _, err := s.Extend(t.Context(), d, bytes.NewReader(Body(2, lost))); err != nil {
				t.Fatal(err)
			}
		}
		d = extend(t, s, d, Body(3, 500))
		finish(t, s, d)
		wantBody(t, s, d.Key, append(Body(1, size), Body(3, 500)...))
	}
}

func goesOnElsewhere(t *testing.T, s blob.Store) {
	d, all := blob.Draft{Key: blob.Key(7, month, "mp4")}, []byte{}
	for i := range 4 {
		d = extend(t, s, d, Body(uint64(i), 2<<20+i))
		all = append(all, Body(uint64(i), 2<<20+i)...)
		kept, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		d = blob.Draft{}
		if err := json.Unmarshal(kept, &d); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, s, d)
	wantBody(t, s, d.Key, all)
}

func showsNoDraft(t *testing.T, s blob.Store) {
	d := extend(t, s, blob.Draft{Key: blob.Key(7, month, "jpg")}, Body(1, 6<<20))
	wantNothing(t, s, d.Key)
	finish(t, s, d)
	wantBody(t, s, d.Key, Body(1, 6<<20))
}

func leavesDraft(t *testing.T, s blob.Store) {
	d := extend(t, s, blob.Draft{Key: blob.Key(7, month, "jpg")}, Body(1, 1000))
	cause := errors.New("the phone went into a tunnel")
	same, err := s.Extend(t.Context(), d, io.MultiReader(bytes.NewReader(Body(2, 500)), iotest.ErrReader(cause)))
	if !errors.Is(err, cause) || same.Size != d.Size {
		t.Errorf("size %d, %v", same.Size, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if same, err = s.Extend(ctx, d, io.MultiReader(bytes.NewReader(Body(2, 500)), onRead(cancel), endless{})); !errors.Is(err, context.Canceled) || same.Size != d.Size {
		t.Errorf("size %d, %v", same.Size, err)
	}
	d = extend(t, s, same, Body(3, 500))
	finish(t, s, d)
	wantBody(t, s, d.Key, append(Body(1, 1000), Body(3, 500)...))
}

func finishesTwice(t *testing.T, s blob.Store) {
	for _, size := range []int{0, 1000, 6 << 20} {
		d := extend(t, s, blob.Draft{Key: blob.Key(7, month, "mp4")}, Body(1, size))
		finish(t, s, d)
		finish(t, s, d)
		wantBody(t, s, d.Key, Body(1, size))
		if err := s.Abandon(t.Context(), d); err != nil {
			t.Errorf("abandon what was finished: %v", err)
		}
		wantBody(t, s, d.Key, Body(1, size))
	}
}

func givesUp(t *testing.T, s blob.Store) {
	for _, size := range []int{1000, 6 << 20, 6<<20 + 1000} {
		d := extend(t, s, blob.Draft{Key: blob.Key(7, month, "mp4")}, Body(1, size))
		for range 2 {
			if err := s.Abandon(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Finish(t.Context(), d); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("finish what was given up: %v", err)
		}
		wantNothing(t, s, d.Key)
	}
}
