// Package fault sorts what can go wrong at a network into the classes that
// decide what happens next. Adapters return a *Fault; whatever is not one
// counts as Unknown, because it may have been published.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the class of a fault.
type Kind string

// The classes. All but Unknown promise that nothing became public.
const (
	Transient   Kind = "transient"    // certain to have had no effect; try again with back-off
	RateLimited Kind = "rate_limited" // try again after Wait; uses no attempt
	Auth        Kind = "auth"         // the credential is dead; a person reconnects
	Permission  Kind = "permission"   // the credential lives, a right or review is missing
	Validation  Kind = "validation"   // the content has to change
	Unknown     Kind = "unknown"      // may have taken effect; ask the network first
	Waiting     Kind = "waiting"      // Prepare only: not ready yet, ask again after Wait; uses no attempt
)

// Fault is one failure at a network.
type Fault struct {
	Kind      Kind
	Code      string        // normalised and stable, as "190/463" or "http_503"
	Status    int           // HTTP status; 0 if there was none
	RequestID string        // the network's own id of the request; empty if it gave none
	Say       string        // one sentence that a client can act on; never a token, body or address
	Wait      time.Duration // RateLimited and Waiting: how long; 0 if the network did not say
	Everyone  bool          // RateLimited: the whole app is over its limit, not this account alone
	Cause     error         // for the log of the edge; may be nil
}

func (f *Fault) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("%s (%s): %v", f.Kind, f.Code, f.Cause)
	}
	return fmt.Sprintf("%s (%s)", f.Kind, f.Code)
}

func (f *Fault) Unwrap() error { return f.Cause }

// New makes a fault of kind with a code and a sentence.
func New(kind Kind, code, say string) *Fault { return &Fault{Kind: kind, Code: code, Say: say} }

// Wait makes the answer "not ready, ask again after d" of a Prepare.
func Wait(d time.Duration, code, say string) *Fault {
	return &Fault{Kind: Waiting, Code: code, Say: say, Wait: d}
}

// Of returns err as a Fault. An error that no adapter sorted is Unknown.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Kind: Unknown, Code: "unsorted", Say: "The network's answer could not be understood.", Cause: err}
}
