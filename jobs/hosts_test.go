package jobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"herald/db"
	"herald/db/dbtest"
	"herald/jobs"
)

// zone is a DNS and what answers at addresses, as a test sets them.
type zone struct {
	mu      sync.Mutex
	asked   int
	silent  bool
	records []string
	site    string
}

func (z *zone) Records(context.Context, string) ([]string, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked++
	if z.silent {
		return nil, errors.New("no answer")
	}
	return z.records, nil
}

func (z *zone) Reads(_ context.Context, address string) (string, error) {
	if address != "https://review.agency.example/.well-known/herald-review" || z.site == "" {
		return "", errors.New("nothing answers")
	}
	return z.site, nil
}

// TestAHostNameIsLookedAtByItself at growing waits until it works, daily then, and is out
// of use after several looks that missed, and no sooner.
func TestAHostNameIsLookedAtByItself(t *testing.T) {
	t.Parallel()
	b := newInbox(t, dbtest.SecondShard)
	z := &zone{}
	s := &jobs.Sweeper{Pipe: b.pipe, Blobs: b.blobs, Hosts: z, Base: "https://herald.example", Settings: b.settings, Log: b.pub.Log, Now: b.Clock.Now}
	if err := b.agency.Owner.KeepReviewHost(t.Context(), 0, "review.agency.example", "herald.example"); err != nil {
		t.Fatal(err)
	}
	read := func() db.ReviewHost {
		h, err := b.agency.Owner.ReviewHost(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	// look is what is known after the next look, which comes when it is due and not before.
	look := func(wait time.Duration) db.ReviewHost {
		t.Helper()
		h := read()
		if got := h.NextAt.Sub(b.Clock.Now()); got != wait {
			t.Fatalf("the next look comes in %v, want %v", got, wait)
		}
		before := z.asked
		b.Clock.Advance(wait - time.Second)
		if err := s.LookAtHosts(t.Context()); err != nil || z.asked != before {
			t.Fatalf("looked %d times too early, %v", z.asked-before, err)
		}
		b.Clock.Advance(time.Second)
		for range 2 {
			if err := s.LookAtHosts(t.Context()); err != nil || z.asked != before+1 {
				t.Fatalf("looked %d times, %v", z.asked-before, err)
			}
		}
		return read()
	}
	const minute = time.Minute
	for _, wait := range []time.Duration{5 * minute, 5 * minute, 10 * minute, 20 * minute} {
		if h := look(wait); h.OwnedAt != nil || h.LookedAt == nil || !h.LookedAt.Equal(b.Clock.Now()) || h.Say == "" {
			t.Fatalf("without its record: %+v", h)
		}
	}
	z.records = []string{"herald-review=" + read().Token}
	if h := look(40 * minute); h.OwnedAt == nil || h.LiveAt != nil {
		t.Fatalf("shown to be theirs, leading nowhere: %+v", h)
	}
	z.site = read().Token
	if h := look(80 * minute); h.LiveAt == nil || h.Say != "" || h.Misses != 0 {
		t.Fatalf("it works: %+v", h)
	}
	z.site = ""
	for _, wait := range []time.Duration{24 * time.Hour, 5 * minute} {
		if h := look(wait); h.LiveAt == nil || h.Say == "" {
			t.Fatalf("out of use after a look that missed: %+v", h)
		}
	}
	if h := look(10 * minute); h.LiveAt != nil || h.OwnedAt == nil {
		t.Fatalf("in use after three looks that missed: %+v", h)
	}
	z.silent = true
	if h := look(20 * minute); h.OwnedAt == nil {
		t.Fatalf("a DNS that does not answer took the name away: %+v", h)
	}
	for verb, want := range map[string]int{"host_set": 1, "host_live": 1, "host_lost": 1} {
		if n := dbtest.Look[int](t, b.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE tenant_id = $1 AND verb = $2 AND subject = 'workspace' AND (name = 'Herald') = ($2 <> 'host_set')`, b.agency.ID, verb); n != want {
			t.Errorf("%s: %d lines", verb, n)
		}
	}
	if n := dbtest.Look[int](t, b.World, db.MainShard, `SELECT count(*) FROM control.review_host_deeds`); n != 0 {
		t.Errorf("%d lines are still owed", n)
	}
}

// TestALogLineThatSomebodyOwedIsWrittenOnce: who changed the name died before it was.
func TestALogLineThatSomebodyOwedIsWrittenOnce(t *testing.T) {
	t.Parallel()
	b := newInbox(t, dbtest.SecondShard)
	s := &jobs.Sweeper{Pipe: b.pipe, Blobs: b.blobs, Settings: b.settings, Log: b.pub.Log, Now: b.Clock.Now}
	const owe = `INSERT INTO control.review_host_deeds (id, workspace_id, client_id, verb, user_id, name, at) OVERRIDING SYSTEM VALUE VALUES (7, $1, $2, 'host_set', 1, 'Anna', $3)`
	at := b.Clock.Now()
	b.Super(t, db.MainShard, owe, b.agency.ID, b.client, at)
	for i, late := range []time.Duration{0, 2 * time.Minute, 0} {
		b.Clock.Advance(late)
		if err := s.LookAtHosts(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := dbtest.Look[int](t, b.World, dbtest.SecondShard, `SELECT count(*) FROM tenant.audit WHERE tenant_id = $1 AND client_id = $2 AND verb = 'host_set' AND name = 'Anna' AND at = $3`, b.agency.ID, b.client, at)
		if n != min(i, 1) {
			t.Errorf("%d lines after %d sweeps", n, i+1)
		}
		if i == 1 { // as if that sweeper died before it took it off the list
			b.Super(t, db.MainShard, owe, b.agency.ID, b.client, at)
		}
	}
	if n := dbtest.Look[int](t, b.World, db.MainShard, `SELECT count(*) FROM control.review_host_deeds`); n != 0 {
		t.Errorf("%d lines are still owed", n)
	}
}
