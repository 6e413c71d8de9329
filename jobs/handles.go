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
	noted map[string]string // of kept, what is not durable yet
	save  func(context.Context, map[string]string) error
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

// Save keeps a handle durably, with all that was noted, and only then remembers it.
func (h *handles) Save(ctx context.Context, name, value string) error {
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
	if len(h.owed(nil)) == 0 {
		return nil
	}
	return h.write(ctx, nil)
}

func (h *handles) write(ctx context.Context, change map[string]string) error {
	change = h.owed(change)
	if err := h.save(ctx, change); err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "not_saved", Say: "Herald could not keep what the network answered and will try again.", Cause: err}
	}
	h.written(change)
	return nil
}

// owed is a change with what was noted before it; the change goes first.
func (h *handles) owed(change map[string]string) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := maps.Clone(h.noted)
	maps.Copy(all, change)
	return all
}

// written takes from the notes what a change made durable, or something newer of it.
func (h *handles) written(change map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.noted, func(name, _ string) bool {
		_, ok := change[name]
		return ok
	})
}

func (h *handles) all() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.kept)
}
