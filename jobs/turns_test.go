package jobs_test

import (
	"slices"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// owe has an agency owe something to so many files that nobody has looked at.
func (a *archive) owe(t *testing.T, to *dbtest.Agency, client model.ClientID, kind network.MediaKind, n int) {
	t.Helper()
	a.Super(t, a.Shard, `
		WITH files AS (
			INSERT INTO tenant.media (tenant_id, client_id, state, kind, type, name, path, sha256, bytes, created_at)
			SELECT $1, $2, 'scanning', $3, 'image/jpeg', 'x', '', sha256(($3 || n)::bytea), 1, $5 FROM generate_series(1, $4::int) n RETURNING tenant_id, id)
		INSERT INTO tenant.media_tasks (tenant_id, media_id, next_at, made_at) SELECT tenant_id, id, $5, $5 FROM files`, to.ID, client, kind, n, a.Clock.Now())
}

// line is the media queue of Redis: what is taken stands behind what is there.
type line struct {
	*archive
	waiting []db.MediaTask
}

// tick hands out what may be, as each second and each finished task has it done.
func (l *line) tick(t *testing.T) {
	t.Helper()
	l.waiting = append(l.waiting, l.due(t)...)
}

// next does the first task in the line, for a worker, and hands out again.
func (l *line) next(t *testing.T) db.MediaTask {
	t.Helper()
	first := l.waiting[0]
	l.waiting = l.waiting[1:]
	w, err := l.pipe.BeginMedia(t.Context(), first.MediaKey, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.pipe.DropMedia(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	l.tick(t)
	return first
}

// A workspace with 5,000 new files does not hold up another's one, nor its own of
// the other kind.
func TestFilesOfWorkspacesTakeTurns(t *testing.T) {
	t.Parallel()
	l := &line{archive: newArchive(t)}
	l.owe(t, l.Agency, l.client, network.Image, 5000)
	l.tick(t)
	if n := len(l.waiting); n != 8 {
		t.Fatalf("%d of 5,000 lie in the queue, want a few", n)
	}
	for range 20 {
		l.next(t)
	}
	other := l.World.Agency(t, "south", l.Shard)
	l.owe(t, other, other.Client(t, "single"), network.Image, 1)
	l.owe(t, l.Agency, l.client, network.Video, 1)
	l.tick(t)
	place, film := 0, 0
	for n := 1; place == 0 || film == 0; n++ {
		switch first := l.next(t); {
		case first.Tenant == other.ID:
			place = n
		case first.Video:
			film = n
		}
		if n > 100 {
			t.Fatalf("after %d tasks the single one is still waiting", n)
		}
	}
	if place > 10 || film > 10 {
		t.Errorf("the other workspace's file came as number %d, the video as number %d, want them behind the 8 that lay there", place, film)
	}
	if n := dbtest.Look[int](t, l.World, l.Shard, `SELECT count(*) FROM tenant.media_tasks WHERE queued`); n != 8 {
		t.Errorf("%d lie in the queue, want 8", n)
	}
}

// Whoever comes, all are served as often.
func TestWorkspacesWithManyFilesAreServedAlike(t *testing.T) {
	t.Parallel()
	l := &line{archive: newArchive(t)}
	l.owe(t, l.Agency, l.client, network.Image, 700)
	served := map[model.TenantID]int{}
	for range 30 { // it has a lead
		l.tick(t)
		l.next(t)
	}
	for _, name := range []string{"south", "east"} {
		a := l.World.Agency(t, name, l.Shard)
		l.owe(t, a, a.Client(t, "c"), network.Image, 200)
	}
	l.tick(t)
	for range 300 {
		served[l.next(t).Tenant]++
	}
	for tenant, n := range served {
		if n < 90 || n > 110 {
			t.Errorf("workspace %d was served %d times of 300, want a third", tenant, n)
		}
	}
	if len(served) != 3 {
		t.Errorf("served %v", served)
	}
}

// A deleted video's bytes go at once: they do not wait for conversions.
func TestADeletedVideoDoesNotStandBehindOthers(t *testing.T) {
	t.Parallel()
	l := &line{archive: newArchive(t)}
	done := l.upload(t, network.Video, "video/mp4", "done.mp4", h264(t))
	l.work(t)
	waits := l.upload(t, network.Video, "video/mp4", "waits.mp4", append(h264(t), 0))
	l.owe(t, l.Agency, l.client, network.Video, 50)
	l.tick(t) // the queue of videos is full
	if err := l.Owner.DeleteMedia(t.Context(), []model.MediaID{done, waits}, true); err != nil {
		t.Fatal(err)
	}
	due := slices.DeleteFunc(l.due(t), func(task db.MediaTask) bool { return task.Video })
	if len(due) != 2 {
		t.Fatalf("%d are handed out beside the videos, want both", len(due))
	}
	for _, task := range due {
		if err := l.lib.Work(t.Context(), task.MediaKey); err != nil {
			t.Error(err)
		}
	}
	if n := dbtest.Look[int](t, l.World, l.Shard, `SELECT count(*) FROM tenant.media WHERE state = 'deleted' AND path || thumb_path || original_path <> ''`); n != 0 {
		t.Errorf("%d of them still have bytes", n)
	}
}

// A Redis that was emptied gives back what it held, and nothing that waits for
// something else.
func TestALostQueueGivesBackWhatItHeld(t *testing.T) {
	t.Parallel()
	l := &line{archive: newArchive(t)}
	l.owe(t, l.Agency, l.client, network.Image, 3)
	l.tick(t)
	w, err := l.pipe.BeginMedia(t.Context(), l.waiting[0].MediaKey, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.pipe.WaitMedia(t.Context(), w, time.Hour, "Not yet scanned", "away", true); err != nil {
		t.Fatal(err)
	}
	if n, err := l.pipe.ReleaseMedia(t.Context(), l.Shard); err != nil || n != 2 {
		t.Errorf("%d were given back, want the two that lay in the queue: %v", n, err)
	}
	if n := len(l.due(t)); n != 2 {
		t.Errorf("%d are handed out again, want 2", n)
	}
}
