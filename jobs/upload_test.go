package jobs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"herald/db"
	"herald/db/blob"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
	"herald/jobs"
)

// inbox is a store with uploads of an agency.
type inbox struct {
	*rig
	agency *dbtest.Agency
	client model.ClientID
	blobs  *blob.Folder
}

func newInbox(t *testing.T, shard string) *inbox {
	t.Helper()
	r := newRig(t)
	b := &inbox{rig: r, agency: r.Agency(t, "north", shard)}
	b.client = b.agency.Client(t, "bakery")
	blobs, err := blob.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.blobs = blobs
	return b
}

func (b *inbox) sweeper() *jobs.Sweeper {
	return &jobs.Sweeper{Pipe: b.pipe, Blobs: b.blobs, Settings: b.settings, Log: b.pub.Log, Now: b.Clock.Now}
}

// arrive makes an upload of which the first bytes are here.
func (b *inbox) arrive(t *testing.T, size int64, body string) db.Upload {
	t.Helper()
	sc := b.agency.Owner
	u, err := sc.StartUpload(t.Context(), b.client, "a.jpg", size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sc.HoldUpload(t.Context(), u.ID, "me"); err != nil {
		t.Fatal(err)
	}
	draft, err := b.blobs.Extend(t.Context(), blob.Draft{Key: blob.Key(int64(b.agency.ID), b.Clock.Now(), "jpg")}, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	u.Draft, u.Received, u.Type, u.Hash = draft, draft.Size, "image/jpeg", []byte{}
	if err := sc.ExtendUpload(t.Context(), "me", 0, u); err != nil {
		t.Fatal(err)
	}
	return u
}

// become makes an asset of an upload.
func (b *inbox) become(t *testing.T, u db.Upload) bool {
	t.Helper()
	if _, err := b.blobs.Finish(t.Context(), u.Draft); err != nil {
		t.Fatal(err)
	}
	_, again, err := b.agency.Owner.FinishUpload(t.Context(), u.ID, db.Asset{State: db.MediaScanning, Kind: network.Image, Type: u.Type,
		OriginalPath: u.Draft.Key, Sha256: make([]byte, 32), UploadedBytes: u.Size})
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func (b *inbox) sweep(t *testing.T) error {
	t.Helper()
	var errs []error
	for _, shard := range b.pipe.Shards() {
		errs = append(errs, b.sweeper().Uploads(t.Context(), shard))
	}
	return errors.Join(errs...)
}

func (b *inbox) left(t *testing.T) int {
	t.Helper()
	return dbtest.Look[int](t, b.World, b.agency.Shard, `SELECT count(*) FROM tenant.uploads`)
}

func TestUploadsThatNobodyGoesOnWithAreSwept(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		b := newInbox(t, shard)
		partial, whole, asset, again := b.arrive(t, 10, "half"), b.arrive(t, 4, "half"), b.arrive(t, 4, "full"), b.arrive(t, 4, "full")
		if _, err := b.agency.Owner.StartUpload(t.Context(), b.client, "nothing.jpg", 10); err != nil {
			t.Fatal(err)
		}
		if _, err := b.blobs.Finish(t.Context(), whole.Draft); err != nil { // and then its process was killed
			t.Fatal(err)
		}
		if b.become(t, asset) || !b.become(t, again) {
			t.Fatal("the second asset is not the first one again")
		}
		b.Clock.Advance(23 * time.Hour)
		if err := b.sweep(t); err != nil || b.left(t) != 5 {
			t.Fatalf("before their time: %d left, %v", b.left(t), err)
		}
		b.Clock.Advance(50 * time.Hour)
		if err := b.sweep(t); err != nil || b.left(t) != 0 {
			t.Errorf("%d left, %v", b.left(t), err)
		}
		for name, u := range map[string]db.Upload{"partial": partial, "whole": whole, "again": again} {
			_, errDraft := b.blobs.Finish(t.Context(), u.Draft)
			if _, err := b.blobs.Stat(t.Context(), u.Draft.Key); !errors.Is(err, blob.ErrNotFound) || !errors.Is(errDraft, blob.ErrNotFound) {
				t.Errorf("%s left bytes: %v, %v", name, err, errDraft)
			}
		}
		if _, err := b.blobs.Stat(t.Context(), asset.Draft.Key); err != nil {
			t.Errorf("the asset's bytes: %v", err)
		}
	}
}

// stuck is a store that cannot take anything away.
type stuck struct{ *blob.Folder }

func (stuck) Abandon(context.Context, blob.Draft) error { return blob.ErrAway }

func TestAnUploadIsForgottenOnlyOnceItsBytesAre(t *testing.T) {
	t.Parallel()
	b := newInbox(t, db.MainShard)
	u := b.arrive(t, 10, "half")
	b.Clock.Advance(73 * time.Hour)
	s := b.sweeper()
	s.Blobs = stuck{b.blobs}
	if err := s.Uploads(t.Context(), b.agency.Shard); !errors.Is(err, blob.ErrAway) || b.left(t) != 1 {
		t.Errorf("%v, %d left", err, b.left(t))
	}
	if _, err := b.agency.Owner.Upload(t.Context(), u.ID); err == nil || !strings.Contains(err.Error(), "given up") {
		t.Errorf("it can be gone on with: %v", err)
	}
	if err := b.sweep(t); err != nil || b.left(t) != 1 {
		t.Errorf("at once: %v, %d left", err, b.left(t))
	}
	b.Clock.Advance(time.Hour)
	if err := b.sweep(t); err != nil || b.left(t) != 0 {
		t.Errorf("an hour later: %v, %d left", err, b.left(t))
	}
}

// TestAnUploadThatGoesOnIsNotSwept: each piece gives it its time again.
func TestAnUploadThatGoesOnIsNotSwept(t *testing.T) {
	t.Parallel()
	b := newInbox(t, db.MainShard)
	u := b.arrive(t, 10, "half")
	b.Clock.Advance(71 * time.Hour)
	from := u.Received
	u.Received++
	if err := b.agency.Owner.ExtendUpload(t.Context(), "me", from, u); err != nil {
		t.Fatal(err)
	}
	b.Clock.Advance(71 * time.Hour)
	if err := b.sweep(t); err != nil || b.left(t) != 1 {
		t.Errorf("%v, %d left", err, b.left(t))
	}
}
