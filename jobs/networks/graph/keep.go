package graph

import (
	"context"

	"herald/jobs/networks/fault"
)

// Kept is where ids are kept between calls and runs.
type Kept interface {
	Get(name string) string
	Save(ctx context.Context, name, value string) error
}

// Keep saves an id, or forgets it with an empty value. An id that could not be
// saved stops the flow before the next call: nothing is public yet, so the
// fault is Transient.
func Keep(ctx context.Context, h Kept, name, value string) error {
	if err := h.Save(ctx, name, value); err != nil {
		return &fault.Fault{Kind: fault.Transient, Code: "not_saved", Say: "Herald could not write down how far it got; it tries again.", Cause: err}
	}
	return nil
}

// Forget forgets ids, so that the next run makes new ones.
func Forget(ctx context.Context, h Kept, names ...string) error {
	for _, name := range names {
		if h.Get(name) == "" {
			continue
		}
		if err := Keep(ctx, h, name, ""); err != nil {
			return err
		}
	}
	return nil
}
