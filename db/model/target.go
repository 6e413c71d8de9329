package model

import "slices"

// State is where a target stands between draft and published.
type State string

// The states of a target.
const (
	Draft          State = "draft"
	Invalid        State = "invalid"
	Ready          State = "ready"
	Scheduled      State = "scheduled"
	Queued         State = "queued"
	Publishing     State = "publishing"
	Published      State = "published"
	RetryScheduled State = "retry_scheduled"
	UnknownOutcome State = "unknown_outcome"
	NeedsReconnect State = "needs_reconnect"
	Failed         State = "failed"
	Cancelled      State = "cancelled"
)

// States lists every state in the order a target usually meets them.
func States() []State {
	return []State{Draft, Invalid, Ready, Scheduled, Queued, Publishing, Published,
		RetryScheduled, UnknownOutcome, NeedsReconnect, Failed, Cancelled}
}

// moves is the whole state machine. The table tenant.target_moves holds the
// same rows and refuses whatever is not among them; a test compares the two.
var moves = map[State][]State{
	Draft:          {Invalid, Ready, Cancelled},
	Invalid:        {Draft, Cancelled},
	Ready:          {Scheduled, Draft, Cancelled},
	Scheduled:      {Queued, Cancelled, Draft},
	Queued:         {Publishing, RetryScheduled, NeedsReconnect, Failed, Cancelled, Draft},
	Publishing:     {Published, RetryScheduled, Failed, NeedsReconnect, UnknownOutcome},
	RetryScheduled: {Queued, Failed, Cancelled, Draft},
	UnknownOutcome: {Published, RetryScheduled, Failed},
	NeedsReconnect: {Scheduled, Published, Cancelled, Draft},
	Failed:         {Scheduled, Published, Cancelled, Draft},
	Published:      nil,
	Cancelled:      nil,
}

// Moves returns the states that s may become.
func Moves(s State) []State { return slices.Clone(moves[s]) }

// MayBecome says whether a target may move from s to t.
func (s State) MayBecome(t State) bool { return slices.Contains(moves[s], t) }

// From returns the states that may become t, for the guard of an UPDATE.
func From(t State) []State {
	var from []State
	for _, s := range States() {
		if s.MayBecome(t) {
			from = append(from, s)
		}
	}
	return from
}

// OnItsWay says whether Herald still owes the target something.
func (s State) OnItsWay() bool {
	switch s {
	case Scheduled, Queued, Publishing, RetryScheduled, UnknownOutcome:
		return true
	}
	return false
}

// Ended says whether nothing more happens to the target unless a person acts.
func (s State) Ended() bool { return s == Published || s == Failed || s == Cancelled }

// PostState is the aggregate that a post shows for its targets.
type PostState string

// The states of a post. The first six come from the editorial side, the rest
// from its targets.
const (
	PostDraft            PostState = "draft"
	PostInvalid          PostState = "invalid"
	PostReady            PostState = "ready"
	PostInReview         PostState = "in_review"
	PostChangesRequested PostState = "changes_requested"
	PostApproved         PostState = "approved"
	PostScheduled        PostState = "scheduled"
	PostPublishing       PostState = "publishing"
	PostPublished        PostState = "published"
	PostPartiallyFailed  PostState = "partially_failed"
	PostFailed           PostState = "failed"
	PostCancelled        PostState = "cancelled"
)
