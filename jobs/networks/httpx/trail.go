package httpx

import "time"

// Step is where in a publish a call stands. It decides what a failure means.
type Step string

// The steps.
const (
	Prepare  Step = "prepare"
	Commit   Step = "commit"
	Find     Step = "find"
	FollowUp Step = "follow_up"
	Token    Step = "token"
	Check    Step = "check"
)

// Call is the evidence of one request: enough to ask the network about it, and
// nothing secret. Path has no query.
type Call struct {
	Step      Step          `json:"step"`
	Method    string        `json:"method"`
	Host      string        `json:"host"`
	Path      string        `json:"path"`
	Status    int           `json:"status,omitempty"`
	RequestID string        `json:"request_id,omitempty"`
	Began     time.Time     `json:"began"`
	Took      time.Duration `json:"took"`
	Error     string        `json:"error,omitempty"`
}

// Trail takes the evidence of the calls of one run. A nil Trail takes nothing.
type Trail interface{ Add(Call) }
