package networks

import (
	"context"

	"herald/jobs/networks/fault"
)

// Keep saves a handle, or forgets it with an empty value. What could not be
// saved stops the flow before the next call. Before a commit nothing is public
// yet, so the fault is Transient.
func Keep(ctx context.Context, h Handles, name, value string) error {
	if h.Get(name) == value {
		return nil
	}
	if err := h.Save(ctx, name, value); err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "not_saved", Say: "Herald could not write down how far it got; it tries again.", Cause: err}
	}
	return nil
}

// NoteAll notes pairs of name and value.
func NoteAll(h Handles, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		h.Note(pairs[i], pairs[i+1])
	}
}

// Forget notes that handles are gone, so that what they name is made anew. A process
// that dies before that is written finds out again that they are of no use.
func Forget(h Handles, names ...string) {
	for _, name := range names {
		if h.Get(name) != "" {
			h.Note(name, "")
		}
	}
}
