package instagram

import (
	"testing"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
	"herald/jobs/networks/nettest"
)

// drive does what the pipeline does until the post is published, a person has
// to decide, or nothing helps.
func drive(t *testing.T, a *Adapter, job networks.Job, h *nettest.Handles) networks.Verdict {
	t.Helper()
	waits := 0
	for job.Attempt = 1; job.Attempt <= 5; {
		ready, err := a.Prepare(t.Context(), job, h)
		switch f := fault.Of(err); {
		case f != nil && f.Kind == fault.Unknown:
			t.Fatalf("prepare answered %v", f)
		case f != nil && f.Kind == fault.Waiting && waits < 50:
			waits++
			continue
		case f != nil:
			job.Attempt++
			continue
		}
		_, err = a.Commit(t.Context(), ready)
		switch f := fault.Of(err); {
		case f == nil:
			return networks.Found
		case f.Kind == fault.Unknown:
			if v := settle(t, a, job, h); v != networks.Absent {
				return v
			}
		}
		job.Attempt++
	}
	return networks.Absent
}

// settle looks twice before it believes an absence.
func settle(t *testing.T, a *Adapter, job networks.Job, h *nettest.Handles) networks.Verdict {
	t.Helper()
	w := window
	for {
		found, err := a.Find(t.Context(), job, h, w)
		if err != nil {
			if f := fault.Of(err); f.Kind != fault.Transient {
				t.Fatalf("find answered %v", err)
			}
			continue
		}
		if found.Say == "" {
			t.Error("a finding without a sentence")
		}
		if found.Verdict != networks.Absent || w.Looks > 0 {
			return found.Verdict
		}
		w.Looks++
	}
}

// A call that dies, before or after Instagram acted on it, at every place of
// every flow, ends with one public post.
func TestAConnectionThatDiesAnywhereNeverPublishesTwice(t *testing.T) {
	t.Parallel()
	for name, post := range posts() {
		for at := 1; at <= 16; at++ {
			for _, acts := range []bool{false, true} {
				acc, n := newAccount(), 0
				acc.polls = 1
				h := nettest.New(t, func(c nettest.Call) nettest.Answer {
					if n++; n != at {
						return acc.answer(c)
					}
					if acts {
						acc.answer(c)
					}
					return nettest.Answer{Close: true}
				})
				if v := drive(t, adapter(h), jobOf(post), h.Handles()); v != networks.Found || acc.public() != 1 {
					t.Errorf("%s, call %d, acted %v: %s with %d public posts\n%s", name, at, acts, v, acc.public(), h.Log())
				}
			}
		}
	}
}
