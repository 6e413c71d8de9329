package graph

import (
	"context"

	"herald/jobs/networks"
	"herald/jobs/networks/fault"
)

// Trace looks for a post that went through a container: its state is asked first,
// then the account's list of posts. Find says what they prove together.
type Trace struct {
	Network, Upload, Words string // as people call them: Threads, container, text
	Blank                  bool   // it has no words, so that time and kind alone do not prove a post to be ours

	Look func(ctx context.Context) (state string, err error)                           // of the container
	Gone func(err error) bool                                                          // Look says that it is not there
	List func(ctx context.Context) (fits []networks.Receipt, complete bool, err error) // what of the window fits, and whether all of it was read
}

// Find decides. One that failed or expired was not published. One that is published
// is in the list, and until it is, the look-up has no answer; how long to ask is up to
// the caller. One that is ready speaks against a post that fits, which may be somebody
// else's: can't tell, until its state, which may be behind, says more. Where the
// container is not there any more, the list alone decides.
func (t Trace) Find(ctx context.Context) (networks.Finding, error) {
	state, err := t.Look(ctx)
	vanished := t.Gone(err)
	switch {
	case err != nil && !vanished:
		return networks.Finding{}, err
	case !vanished && (state == Failed || state == Expired):
		return networks.NotThere(t.Network + " says that the " + t.Upload + " was never published (" + state + ")."), nil
	}
	fits, complete, err := t.List(ctx)
	switch {
	case err != nil:
		return networks.Finding{}, err
	case !vanished && state == Published:
		return t.locate(fits)
	case !vanished && len(fits) > 0:
		return networks.Unsure("The account has a post of that time with the same " + t.Words + " and kind, but " + t.Network + " says that the " + t.Upload + " was not published."), nil
	}
	return t.judge(fits, complete), nil
}

// locate names the post of a container that is known to be published.
func (t Trace) locate(fits []networks.Receipt) (networks.Finding, error) {
	published := t.Network + " says that the " + t.Upload + " is published, "
	switch {
	case len(fits) == 1:
		return networks.FoundIt(fits[0], published+"and lists the post."), nil
	case len(fits) > 1:
		return networks.Unsure(published + "but lists several posts of that time that look alike."), nil
	}
	return networks.Finding{}, fault.New(fault.Transient, "not_listed", t.Network+" says that the post is published but does not list it yet; Herald looks again.")
}

// judge decides by the list alone.
func (t Trace) judge(fits []networks.Receipt, complete bool) networks.Finding {
	switch {
	case len(fits) > 0 && t.Blank:
		return networks.Unsure("The account has a post of that time and kind, and without a " + t.Words + " nothing says whether it is this one.")
	case len(fits) == 1:
		return networks.FoundIt(fits[0], "The account has a post of that time with the same "+t.Words+" and kind.")
	case len(fits) > 1:
		return networks.Unsure("The account has several posts of that time with this " + t.Words + ", and nothing tells them apart.")
	case !complete:
		return networks.Unsure("The account has more posts of that time than could be read.")
	}
	return networks.NotThere(t.Network + " says that the " + t.Upload + " is not published, and the account's list has no such post.")
}
