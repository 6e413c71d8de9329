package facebook

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
	for job.Attempt = 1; job.Attempt <= 5; job.Attempt++ {
		ready, err := a.Prepare(t.Context(), job, h)
		if err != nil {
			if f := fault.Of(err); f.Kind == fault.Unknown {
				t.Fatalf("prepare answered %v", f)
			}
			h.FailAt = 0
			continue
		}
		_, err = a.Commit(t.Context(), ready)
		switch f := fault.Of(err); {
		case f == nil:
			return networks.Found
		case f.Kind != fault.Unknown:
			continue
		}
		if v := settle(t, a, job, h); v != networks.Absent {
			return v
		}
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
			continue // the connection died; it is asked again
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

// A call that dies, before or after the network acted on it, at every place of
// every flow, ends with one public post. The one exception is honest: a video
// that Facebook fetches itself cannot be proved absent, and a person decides.
func TestAConnectionThatDiesAnywhereNeverPublishesTwice(t *testing.T) {
	t.Parallel()
	for name, post := range posts() {
		for at := 1; at <= 9; at++ {
			for _, acts := range []bool{false, true} {
				p, n := newPage(), 0
				h := nettest.New(t, func(c nettest.Call) nettest.Answer {
					if n++; n != at {
						return p.answer(c)
					}
					if acts {
						p.answer(c)
					}
					return nettest.Answer{Close: true}
				})
				v := drive(t, adapter(h), jobOf(post), h.Handles())
				manual := name == "video" && !acts && v == networks.CantTell && p.public() == 0
				if !manual && (v != networks.Found || p.public() != 1) {
					t.Errorf("%s, call %d, acted %v: %s with %d public posts\n%s", name, at, acts, v, p.public(), h.Log())
				}
			}
		}
	}
}

// A process that dies before an id is saved starts again without it and still
// publishes once.
func TestAProcessThatDiesAtAnySaveNeverPublishesTwice(t *testing.T) {
	t.Parallel()
	for name, post := range posts() {
		for at := 1; at <= 6; at++ {
			p := newPage()
			h := host(t, p)
			kept := h.Handles()
			kept.FailAt = at
			if v := drive(t, adapter(h), jobOf(post), kept); v != networks.Found || p.public() != 1 {
				t.Errorf("%s, save %d: %s with %d public posts\n%s", name, at, v, p.public(), h.Log())
			}
		}
	}
}

func TestASaveThatFailsStopsTheFlow(t *testing.T) {
	t.Parallel()
	h := host(t, newPage())
	kept := h.Handles()
	kept.FailAt = 1
	_, err := adapter(h).Prepare(t.Context(), jobOf(posts()["video in bytes"]), kept)
	if f := fault.Of(err); f.Kind != fault.Transient || h.Count("POST 1001/videos") != 2 {
		t.Errorf("got %v after\n%s", err, h.Log())
	}
}
