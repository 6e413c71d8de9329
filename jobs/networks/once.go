package networks

import (
	"context"
	"slices"
	"time"

	"herald/jobs/networks/fault"
)

// Once makes something public that follows a post, as a comment or the next post
// of a thread, exactly once on a network that takes no key of ours: it marks that
// it is about to, and whoever finds the mark looks before writing again. What is
// not listed counts as absent only once the list had time to fill.
type Once struct {
	Handles Handles
	Name    string // the handle that holds its id; the mark is beside it
	Now     func() time.Time
	Settle  time.Duration // until the network's list has what was made
	Write   func(ctx context.Context) (id string, err error)
	Look    func(ctx context.Context, since time.Time) (id string, err error) // "" if it is not there
	Ready   func(ctx context.Context) error                                   // what Write needs and nobody sees; may be nil

	// Attempt is the job's, where Prepare makes what nobody sees yet, as a draft:
	// nobody waits for the mark then, since a second attempt stands for it. 0
	// elsewhere.
	Attempt int
}

// oldest is how long ago an attempt may have begun whose mark was lost.
const oldest = 7 * 24 * time.Hour

// Do returns the id of what was made, now or by an earlier run. Its faults are
// those of Write and Look; one that is certain to have had no effect takes the
// mark away.
func (o Once) Do(ctx context.Context) (string, error) {
	if id := o.Handles.Get(o.Name); id != "" {
		return id, nil
	}
	if began, ok := o.began(); ok {
		if id, err := o.again(ctx, began); id != "" || err != nil {
			return id, err
		}
	}
	if o.Ready != nil {
		if err := o.Ready(ctx); err != nil {
			return "", err
		}
	}
	if err := o.keep(ctx, o.mark(), o.Now().UTC().Format(time.RFC3339)); err != nil {
		return "", err
	}
	return o.write(ctx)
}

func (o Once) mark() string { return o.Name + ".began" }

// began is when an earlier run was about to write, if one may have been. A run that
// was killed forgot its mark, but not that it was an attempt.
func (o Once) began() (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, o.Handles.Get(o.mark()))
	if err != nil && o.Attempt > 1 {
		return o.Now().Add(-oldest), true
	}
	return at, err == nil
}

func (o Once) keep(ctx context.Context, name, value string) error {
	if o.Attempt > 0 {
		o.Handles.Note(name, value)
		return nil
	}
	return Keep(ctx, o.Handles, name, value)
}

// again looks for what an earlier run may have made.
func (o Once) again(ctx context.Context, began time.Time) (string, error) {
	id, err := o.Look(ctx, began)
	switch {
	case err != nil:
		return "", err
	case id != "":
		return id, o.keep(ctx, o.Name, id)
	case o.Now().Sub(began) < o.Settle:
		f := fault.New(fault.Transient, "not_listed", "The network may have taken this or not; Herald looks again before it repeats it.")
		f.Wait = o.Settle
		return "", f
	}
	return "", nil
}

func (o Once) write(ctx context.Context) (string, error) {
	id, err := o.Write(ctx)
	if err != nil {
		if noEffect(fault.Of(err)) {
			if lost := o.keep(ctx, o.mark(), ""); lost != nil {
				return "", lost
			}
		}
		return "", err
	}
	return id, o.keep(ctx, o.Name, id)
}

// unsent are the codes of calls of which no byte left.
var unsent = []string{"no_such_host", "connection_refused", "tls", "not_sent", "address_refused", "not_saved"}

// noEffect says whether a failed call is certain to have made nothing: it was
// not sent, or the network plainly refused it.
func noEffect(f *fault.Fault) bool {
	refused := f.Status >= 400 && f.Status < 500 && f.Status != 408 && f.Status != 499
	return f.Kind != fault.Unknown && (refused || slices.Contains(unsent, f.Code))
}
