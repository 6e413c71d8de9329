package networks

import (
	"context"
	"strconv"

	"herald/jobs/networks/fault"
)

// Staged returns what a publisher calls the i-th file of a job: as this job learned
// it before, as a sibling did, or as put answers now. The name is noted in h: a
// file that is staged again does no harm.
func Staged(ctx context.Context, job Job, h Handles, i int, room string, put func(context.Context) (string, error)) (string, error) {
	name := MediaHandle(i)
	if kept := h.Get(name); kept != "" {
		return kept, nil
	}
	stage := job.Post.Media[i].Stage
	if stage == nil {
		stage = func(ctx context.Context, _ string, put func(context.Context) (string, error)) (string, error) {
			return put(ctx)
		}
	}
	called, err := stage(ctx, room, put)
	if err != nil {
		return "", stagingFault(err)
	}
	h.Note(name, called)
	return called, nil
}

// MediaHandle names what a publisher calls the i-th file.
func MediaHandle(i int) string { return "media." + strconv.Itoa(i) }

// stagingFault is what a file that could not be staged means: what the publisher
// said, and for anything of ours another try. Nothing is public yet.
func stagingFault(err error) error {
	if f := fault.Of(err); f.Code != "unsorted" {
		return f
	}
	return &fault.Fault{Kind: fault.Transient, Code: "not_staged", Say: "A file could not be handed to the publisher; Herald tries again.", Cause: err}
}
