package networks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// notes keeps handles in memory; the n-th save from now kills the run.
type notes struct {
	kept map[string]string
	die  int
}

func (n *notes) Get(name string) string { return n.kept[name] }

func (n *notes) Save(_ context.Context, name, value string) error {
	if n.die--; n.die == 0 {
		return errors.New("died")
	}
	n.kept[name] = value
	return nil
}

func (n *notes) Note(name, value string) { n.kept[name] = value }

func (n *notes) Checkpoint(_ context.Context, name, value string) error {
	n.Note(name, value)
	return nil
}

// wall is what the public sees, with a list that lags.
type wall struct {
	made []time.Time
	now  time.Time
	fail []*fault.Fault // of the next writes; with storing they take effect all the same
	does bool
}

func (w *wall) once(h networks.Handles) networks.Once {
	return networks.Once{
		Handles: h, Name: "part", Now: func() time.Time { return w.now }, Settle: time.Minute,
		Write: func(context.Context) (string, error) {
			if len(w.fail) > 0 {
				f := w.fail[0]
				w.fail = w.fail[1:]
				if w.does {
					w.made = append(w.made, w.now)
				}
				return "", f
			}
			w.made = append(w.made, w.now)
			return fmt.Sprint(len(w.made)), nil
		},
		Look: func(context.Context, time.Time) (string, error) {
			for i, at := range w.made {
				if w.now.Sub(at) >= 40*time.Second {
					return fmt.Sprint(i + 1), nil
				}
			}
			return "", nil
		},
	}
}

func TestOnceWritesOnceWhateverIsLost(t *testing.T) {
	t.Parallel()
	lost := fault.New(fault.Transient, "connection_closed", "Gone.")
	busy := &fault.Fault{Kind: fault.Transient, Code: "http_503", Status: 503, Say: "Busy."}
	no := &fault.Fault{Kind: fault.RateLimited, Code: "http_429", Status: 429, Say: "Slow down."}
	for name, c := range map[string]struct {
		fail  []*fault.Fault
		does  bool
		die   int
		runs  int // until it is done, a quarter of a minute apart
		looks bool
	}{
		"plain":                     {nil, false, 0, 1, false},
		"answer lost":               {[]*fault.Fault{lost}, true, 0, 4, true},
		"call lost":                 {[]*fault.Fault{lost}, false, 0, 5, true},
		"a failure of the server":   {[]*fault.Fault{busy}, true, 0, 4, true},
		"refused, so written again": {[]*fault.Fault{no, no}, false, 0, 3, false},
		"killed before the mark":    {nil, false, 1, 2, false},
		"killed before the id":      {nil, false, 2, 4, true},
	} {
		h := &notes{kept: map[string]string{}, die: c.die}
		w := &wall{now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), fail: c.fail, does: c.does}
		runs, id := 0, ""
		var err error
		for id == "" && runs < 9 {
			id, err = w.once(h).Do(t.Context())
			if err != nil {
				id = ""
			}
			w.now = w.now.Add(15 * time.Second)
			runs++
		}
		if err != nil || id != "1" || len(w.made) != 1 || runs != c.runs {
			t.Errorf("%s: id %q after %d runs, %d made, %v", name, id, runs, len(w.made), err)
		}
		if again, err := w.once(h).Do(t.Context()); again != "1" || err != nil || len(w.made) != 1 {
			t.Errorf("%s, again: %q, %v, %d made", name, again, err, len(w.made))
		}
	}
}

// draftNotes keep what is noted until the process is killed.
type draftNotes struct {
	notes
	saves int
}

func (n *draftNotes) Save(ctx context.Context, name, value string) error {
	n.saves++
	return n.notes.Save(ctx, name, value)
}

// What nobody sees yet is made once too, though nobody waits for its mark: a killed
// run leaves none, and the attempt that follows looks because it is the second.
func TestADraftIsMadeOnceWithoutACommitOfItsOwn(t *testing.T) {
	t.Parallel()
	w := &wall{now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	looks := 0
	make := func(h networks.Handles, attempt int) string {
		t.Helper()
		o := w.once(h)
		o.Attempt = attempt
		look := o.Look
		o.Look = func(ctx context.Context, since time.Time) (string, error) { looks++; return look(ctx, since) }
		id, err := o.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	h := &draftNotes{notes: notes{kept: map[string]string{}}}
	if id := make(h, 1); id != "1" || looks != 0 || h.saves != 0 {
		t.Errorf("made %q after %d looks and %d saves", id, looks, h.saves)
	}
	w.now = w.now.Add(time.Minute)
	clear(h.kept) // killed before the move to in flight
	if id := make(h, 2); id != "1" || looks != 1 || len(w.made) != 1 || h.saves != 0 {
		t.Errorf("after a kill: %q of %d, %d looks and %d saves", id, len(w.made), looks, h.saves)
	}
	if id := make(h, 3); id != "1" || looks != 1 {
		t.Errorf("once it is known: %q after %d looks", id, looks)
	}
}
