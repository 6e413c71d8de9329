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

// KeepAll saves pairs of name and value; the last one is what a run looks for.
func KeepAll(ctx context.Context, h Handles, pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if err := Keep(ctx, h, pairs[i], pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Forget forgets handles, so that the next run makes new ones.
func Forget(ctx context.Context, h Handles, names ...string) error {
	for _, name := range names {
		if err := Keep(ctx, h, name, ""); err != nil {
			return err
		}
	}
	return nil
}
