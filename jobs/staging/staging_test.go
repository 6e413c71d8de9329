package staging

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/db/model"
	"herald/db/network"
)

// fan is a version that goes to many targets of one publisher.
type fan struct {
	*dbtest.World
	agency *dbtest.Agency
	file   db.Staged
}

func newFan(t *testing.T, shard string) *fan {
	t.Helper()
	f := &fan{World: dbtest.New(t)}
	f.agency = f.Agency(t, "north", shard)
	account := f.agency.Account(t, f.agency.Client(t, "bakery"), network.Webhook)
	page, err := f.agency.Owner.SavePost(t.Context(), 0, db.PostForm{Content: model.Content{Text: "Fresh bread", Accounts: []model.AccountID{account}}})
	if err != nil {
		t.Fatal(err)
	}
	f.file = db.Staged{Shard: shard, Tenant: f.agency.ID, Version: page.Version.ID, Publisher: "aggregator", Path: "tenants/1/media/2026/03/a.jpg"}
	return f
}

// watched are the turns of a process, and when it had to wait.
type watched struct {
	Turns
	waits chan struct{} // one for each time that the answer was to wait
	keeps chan bool     // answers of KeepStaging
}

func (w watched) TakeStaging(ctx context.Context, s db.Staged, owner string, until time.Time) (db.StagingTurn, string, error) {
	turn, handle, err := w.Turns.TakeStaging(ctx, s, owner, until)
	if turn == db.StagingWait {
		select {
		case w.waits <- struct{}{}:
		default:
		}
	}
	return turn, handle, err
}

func (w watched) KeepStaging(ctx context.Context, s db.Staged, owner string, until time.Time) (bool, error) {
	kept, err := w.Turns.KeepStaging(ctx, s, owner, until)
	select {
	case w.keeps <- kept:
	default:
	}
	return kept, err
}

// process is one more process, which renews its leases so often.
func (f *fan) process(t *testing.T, renew time.Duration) (*Stager, watched) {
	t.Helper()
	pipe, err := db.OpenPipeline(t.Context(), f.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pipe.Close)
	w := watched{Turns: pipe, waits: make(chan struct{}, 1), keeps: make(chan bool, 1)}
	s := New(w, f.Clock.Now)
	s.renew, s.again = renew, time.Millisecond
	return s, w
}

func answers(value string) func(context.Context) (Handle, error) {
	return func(context.Context) (Handle, error) { return Handle{Value: value}, nil }
}

// TestAFileIsStagedOnceForAllOfTwoProcesses has sixteen targets in two processes
// ask at once, while the first upload is held until the other process waits.
func TestAFileIsStagedOnceForAllOfTwoProcesses(t *testing.T) {
	t.Parallel()
	for _, shard := range []string{db.MainShard, dbtest.SecondShard} {
		f := newFan(t, shard)
		a, watchA := f.process(t, time.Hour)
		b, watchB := f.process(t, time.Hour)
		var puts atomic.Int32
		put := func(context.Context) (Handle, error) {
			n := puts.Add(1)
			select { // whichever process has the turn, the other one waits for it
			case <-watchA.waits:
			case <-watchB.waits:
			}
			return Handle{Value: fmt.Sprint("media-", n)}, nil
		}
		var wg sync.WaitGroup
		for i := range 16 {
			s := []*Stager{a, b}[i%2]
			wg.Go(func() {
				if got, err := s.Stage(t.Context(), f.file, put); err != nil || got != "media-1" {
					t.Errorf("target %d got %q, %v", i, got, err)
				}
			})
		}
		wg.Wait()
		if n := puts.Load(); n != 1 {
			t.Errorf("staged %d times", n)
		}
		if got, err := b.Stage(t.Context(), f.file, answers("again")); err != nil || got != "media-1" {
			t.Errorf("later: %q, %v", got, err)
		}
	}
}

// TestAnOwnerThatDiedGivesItsTurnAway: its lease is not renewed, and runs out.
func TestAnOwnerThatDiedGivesItsTurnAway(t *testing.T) {
	t.Parallel()
	f := newFan(t, db.MainShard)
	dead, _ := f.process(t, time.Hour)
	alive, watch := f.process(t, time.Hour)
	began, wake := make(chan struct{}), make(chan struct{})
	var slept sync.WaitGroup
	slept.Go(func() {
		got, err := dead.Stage(t.Context(), f.file, func(context.Context) (Handle, error) {
			close(began)
			<-wake
			return Handle{Value: "of the one that slept"}, nil
		})
		if err != nil || got != "of the next one" {
			t.Errorf("the one that slept got %q, %v; want what counts", got, err)
		}
	})
	<-began
	var next sync.WaitGroup
	next.Go(func() {
		if got, err := alive.Stage(t.Context(), f.file, answers("of the next one")); err != nil || got != "of the next one" {
			t.Errorf("the next one got %q, %v", got, err)
		}
	})
	<-watch.waits // while the lease holds it waits
	f.Clock.Advance(lease)
	next.Wait()
	close(wake)
	slept.Wait()
}

// TestALongUploadKeepsItsTurn: longer than the lease, which is renewed meanwhile.
func TestALongUploadKeepsItsTurn(t *testing.T) {
	t.Parallel()
	f := newFan(t, db.MainShard)
	s, watch := f.process(t, time.Millisecond)
	other, otherWatch := f.process(t, time.Hour)
	began, end := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if got, err := s.Stage(t.Context(), f.file, func(context.Context) (Handle, error) { close(began); <-end; return Handle{Value: "a film"}, nil }); err != nil || got != "a film" {
			t.Errorf("%q, %v", got, err)
		}
	})
	<-began
	for range 3 {
		f.Clock.Advance(lease / 2)
		for range 2 { // the first answer may be to a question from before
			if !<-watch.keeps {
				t.Fatal("the lease was lost")
			}
		}
	}
	wg.Go(func() {
		if got, err := other.Stage(t.Context(), f.file, answers("another")); err != nil || got != "a film" {
			t.Errorf("a sibling got %q, %v", got, err)
		}
	})
	<-otherWatch.waits
	close(end)
	wg.Wait()
}

// TestALostLeaseCallsTheWorkOff: whoever lost it stops, and takes what counts.
func TestALostLeaseCallsTheWorkOff(t *testing.T) {
	t.Parallel()
	f := newFan(t, db.MainShard)
	s, _ := f.process(t, time.Millisecond)
	got, err := s.Stage(t.Context(), f.file, func(ctx context.Context) (Handle, error) {
		f.Super(t, f.agency.Shard, `UPDATE tenant.staged_media SET owner = gen_random_uuid(), handle = 'of another'`)
		<-ctx.Done()
		return Handle{}, ctx.Err()
	})
	if err != nil || got != "of another" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAFailedStagingIsTheNextOnesTurn(t *testing.T) {
	t.Parallel()
	f := newFan(t, db.MainShard)
	a, _ := f.process(t, time.Hour)
	b, watch := f.process(t, time.Hour)
	refused := errors.New("the aggregator is busy")
	began, end := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		_, err := a.Stage(t.Context(), f.file, func(context.Context) (Handle, error) { close(began); <-end; return Handle{}, refused })
		if !errors.Is(err, refused) {
			t.Errorf("the first one: %v", err)
		}
	})
	<-began
	var second sync.WaitGroup
	second.Go(func() {
		if got, err := b.Stage(t.Context(), f.file, answers("media-2")); err != nil || got != "media-2" {
			t.Errorf("the second one: %q, %v", got, err)
		}
	})
	<-watch.waits
	close(end)
	first.Wait()
	second.Wait()
	if _, err := a.Stage(t.Context(), f.other("b.jpg"), answers("")); err == nil {
		t.Error("a file without a name counts as staged")
	}
}

func (f *fan) other(path string) db.Staged {
	file := f.file
	file.Path = path
	return file
}

// TestOneWhoIsCalledOffLeavesTheOthers: a worker that drains takes nobody along.
func TestOneWhoIsCalledOffLeavesTheOthers(t *testing.T) {
	t.Parallel()
	f := newFan(t, db.MainShard)
	s, _ := f.process(t, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := s.Stage(ctx, f.file, func(ctx context.Context) (Handle, error) { close(began); <-ctx.Done(); return Handle{}, ctx.Err() })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the one called off: %v", err)
		}
	})
	<-began
	for range 4 {
		wg.Go(func() {
			if got, err := s.Stage(t.Context(), f.file, answers("media-2")); err != nil || got != "media-2" {
				t.Errorf("a sibling: %q, %v", got, err)
			}
		})
	}
	cancel()
	wg.Wait()
}

func TestAHandleThatRanOutIsMadeAgain(t *testing.T) {
	t.Parallel()
	f := newFan(t, db.MainShard)
	s, _ := f.process(t, time.Hour)
	good := f.Clock.Now().Add(time.Hour)
	stage := func(value string) string {
		got, err := s.Stage(t.Context(), f.file, func(context.Context) (Handle, error) { return Handle{Value: value, Good: &good}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := stage("first") + stage("second"); got != "firstfirst" {
		t.Errorf("while it is good: %s", got)
	}
	f.Clock.Advance(time.Hour)
	if got := stage("third"); got != "third" {
		t.Errorf("once it ran out: %s", got)
	}
}

func TestFilesPublishersVersionsAndWorkspacesAreApart(t *testing.T) {
	t.Parallel()
	f := newFan(t, db.MainShard)
	s, _ := f.process(t, time.Hour)
	elsewhere, nowhere, path, publisher := f.file, f.file, f.other("b.jpg"), f.file
	elsewhere.Tenant = f.Agency(t, "south", db.MainShard).ID
	nowhere.Version = 999_999
	publisher.Publisher = "direct"
	for i, file := range []db.Staged{f.file, path, publisher} {
		want := fmt.Sprint("media-", i)
		if got, err := s.Stage(t.Context(), file, answers(want)); err != nil || got != want {
			t.Errorf("%+v: %q, %v", file, got, err)
		}
	}
	for _, file := range []db.Staged{elsewhere, nowhere} {
		if got, err := s.Stage(t.Context(), file, answers("stolen")); !errors.Is(err, ErrGone) {
			t.Errorf("%+v: %q, %v", file, got, err)
		}
	}
}

func TestWhatWasStagedLongAgoIsForgotten(t *testing.T) {
	t.Parallel()
	f := newFan(t, dbtest.SecondShard)
	s, w := f.process(t, time.Hour)
	pipe := w.Turns.(*db.Pipeline)
	if _, err := s.Stage(t.Context(), f.file, answers("media-1")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before time.Time
		gone   int
	}{{f.Clock.Now(), 0}, {f.Clock.Now().Add(time.Second), 1}} {
		if n, err := pipe.SweepStaging(t.Context(), f.agency.Shard, c.before, 10); err != nil || n != c.gone {
			t.Errorf("before %v: %d, %v", c.before, n, err)
		}
	}
}
