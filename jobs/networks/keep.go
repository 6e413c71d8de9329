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
	return save(ctx, h, name, value)
}

func save(ctx context.Context, h Handles, name, value string) error {
	if err := h.Save(ctx, name, value); err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "not_saved", Say: "Herald could not write down how far it got; it tries again.", Cause: err}
	}
	return nil
}

// KeepAll saves pairs of name and value in one commit.
func KeepAll(ctx context.Context, h Handles, pairs ...string) error {
	last := len(pairs) - 2
	NoteAll(h, pairs[:last]...)
	return save(ctx, h, pairs[last], pairs[last+1])
}

// NoteAll notes pairs of name and value.
func NoteAll(h Handles, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		h.Note(pairs[i], pairs[i+1])
	}
}

// Forget forgets handles in one commit, so that the next run makes new ones.
func Forget(ctx context.Context, h Handles, names ...string) error {
	var pairs []string
	for _, name := range names {
		if h.Get(name) != "" {
			pairs = append(pairs, name, "")
		}
	}
	if pairs == nil {
		return nil
	}
	return KeepAll(ctx, h, pairs...)
}
