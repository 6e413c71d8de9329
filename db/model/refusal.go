package model

import "errors"

// Kind sorts refusals by what the person can do about them.
type Kind string

// The kinds of refusal.
const (
	Unprocessable Kind = "invalid"   // the form holds something that cannot be
	NotFound      Kind = "not_found" // no such thing, or none that this person may know of
	Conflict      Kind = "conflict"  // it changed since the person looked
	Forbidden     Kind = "forbidden" // known, but not for this role
	TooMany       Kind = "too_many"  // throttled; wait
	TooLarge      Kind = "too_large" // more bytes than the rule allows
	Gone          Kind = "gone"      // a link that was good once
	Unavailable   Kind = "away"      // something that Herald leans on does not answer, or has no room
)

// Refusal is a "no" in one sentence for the person. Anything that is not a
// Refusal is our own fault and is shown as a reference only.
type Refusal struct {
	Kind  Kind
	Say   string
	Field string // the form field it is about; empty if it is about the whole
}

func (r *Refusal) Error() string { return r.Say }

// Refuse makes a refusal.
func Refuse(kind Kind, say string) error { return &Refusal{Kind: kind, Say: say} }

// RefuseField makes a refusal about one form field.
func RefuseField(field, say string) error {
	return &Refusal{Kind: Unprocessable, Say: say, Field: field}
}

// Refused tells a refusal from a fault of ours.
func Refused(err error) (*Refusal, bool) {
	var r *Refusal
	ok := errors.As(err, &r)
	return r, ok
}
