package jobs

import (
	"context"
	"maps"
	"sync"

	"herald/jobs/networks/fault"
)

// handles are a run's handles; save makes changes durable.
type handles struct {
	mu    sync.Mutex
	kept  map[string]string
	noted map[string]string // of kept, what nobody has begun to write
	save  func(context.Context, map[string]string) error
	// aside gets the end of the checkpoint that is being written; nil if none is.
	aside chan error
}

func newHandles(kept map[string]string, save func(context.Context, map[string]string) error) *handles {
	if kept == nil {
		kept = map[string]string{}
	}
	return &handles{kept: kept, noted: map[string]string{}, save: save}
}

// Get returns a handle saved or noted before.
func (h *handles) Get(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept[name]
}

// Note keeps a handle in memory, for what is written next.
func (h *handles) Note(name, value string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept[name], h.noted[name] = value, value
}

// Checkpoint keeps a handle as Note does, and begins to write what was noted unless an
// earlier checkpoint is still being written: the next takes it along then.
func (h *handles) Checkpoint(ctx context.Context, name, value string) error {
	h.Note(name, value)
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case err := <-h.aside:
		if h.aside = nil; err != nil {
			return err
		}
	default:
		if h.aside != nil {
			return nil
		}
	}
	h.aside = make(chan error, 1)
	go func(end chan error) { end <- h.write(context.WithoutCancel(ctx), nil) }(h.aside)
	return nil
}

// join waits for the checkpoint that is being written, so that nothing older is
// written after what comes next. What it could not write is noted again.
func (h *handles) join() {
	h.mu.Lock()
	aside := h.aside
	h.aside = nil
	h.mu.Unlock()
	if aside != nil {
		<-aside
	}
}

// Save keeps a handle durably, with all that was noted, and only then remembers it.
func (h *handles) Save(ctx context.Context, name, value string) error {
	h.join()
	if err := h.write(ctx, map[string]string{name: value}); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept[name] = value
	return nil
}

// flush makes durable what was noted, if anything was.
func (h *handles) flush(ctx context.Context) error {
	h.join()
	if len(h.noted) == 0 {
		return nil
	}
	return h.write(ctx, nil)
}

func (h *handles) write(ctx context.Context, change map[string]string) error {
	err := h.together(change, func(all map[string]string) error { return h.save(ctx, all) })
	if err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "not_saved", Say: "Herald could not keep what the network answered and will try again.", Cause: err}
	}
	return nil
}

// together has what was noted written with a change, which goes first. If that fails it
// is noted still, but for what was noted anew meanwhile.
func (h *handles) together(change map[string]string, write func(all map[string]string) error) error {
	h.mu.Lock()
	notes := h.noted
	h.noted = map[string]string{}
	h.mu.Unlock()
	all := maps.Clone(notes)
	maps.Copy(all, change)
	err := write(all)
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		maps.Copy(notes, h.noted)
		h.noted = notes
	}
	return err
}

// all is what there is, once nothing is being written any more.
func (h *handles) all() map[string]string {
	h.join()
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.kept)
}
