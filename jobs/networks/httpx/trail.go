package httpx

import (
	"net/url"
	"strings"
	"time"
)

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

// Hide is trail with every one of secrets replaced in the paths it is given,
// for networks that put a credential into the path.
func Hide(trail Trail, secrets ...string) Trail {
	if trail == nil {
		return nil
	}
	var pairs []string
	for _, s := range secrets {
		if s != "" {
			pairs = append(pairs, s, "***", url.PathEscape(s), "***")
		}
	}
	return hidden{trail, strings.NewReplacer(pairs...)}
}

type hidden struct {
	trail Trail
	hide  *strings.Replacer
}

func (h hidden) Add(c Call) {
	c.Path = h.hide.Replace(c.Path)
	h.trail.Add(c)
}
