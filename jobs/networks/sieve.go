package networks

import (
	"context"
	"slices"
	"time"
)

// Listed is a post as a network's own list has it.
type Listed struct {
	Receipt Receipt
	Made    time.Time
	Proved  bool // it carries what only ours can have, as our file
	Alike   bool // it reads as ours would
}

// Sieve looks through an account's list of posts for the one that a job made.
type Sieve struct {
	Window    Window
	Marked    bool   // ours carries what no other has, so one that only reads alike proves nothing
	Unordered bool   // the list is not promised to be newest first, so it is read to its end
	Looked    string // where, as a sentence ends: "the board"

	proved, alike []Receipt
	older         int
}

const (
	sievePages = 50
	sieveOlder = 25 // older posts in a row that end a list: one may be pinned or dated back
)

// Read reads the list page by page, each from the cursor that the last one gave,
// and judges. A cursor of "" ends it.
func (s *Sieve) Read(ctx context.Context, page func(ctx context.Context, cursor string) (list []Listed, next string, err error)) (Finding, error) {
	cursor := ""
	for range sievePages {
		list, next, err := page(ctx, cursor)
		if err != nil {
			return Finding{}, err
		}
		for _, l := range list {
			if !s.see(l) {
				return s.judge(true), nil
			}
		}
		if next == "" || next == cursor {
			return s.judge(next == ""), nil
		}
		cursor = next
	}
	return s.judge(false), nil
}

// see takes the next post, and says whether the list may hold more of the window.
func (s *Sieve) see(l Listed) bool {
	if l.Made.Before(s.Window.Since.Truncate(time.Second)) {
		s.older++
		return s.Unordered || s.older < sieveOlder
	}
	s.older = 0
	if l.Made.After(s.Window.Until) || slices.Contains(s.Window.Taken, l.Receipt.ExternalID) {
		return true
	}
	switch {
	case l.Proved:
		s.proved = append(s.proved, l.Receipt)
	case l.Alike:
		s.alike = append(s.alike, l.Receipt)
	}
	return true
}

func (s *Sieve) judge(complete bool) Finding {
	switch {
	case len(s.proved) == 1:
		return FoundIt(s.proved[0], "A post with what only this one carries stands in "+s.Looked+".")
	case len(s.proved) > 1 || len(s.proved) == 0 && !s.Marked && len(s.alike) > 1:
		return Unsure("Several posts of that time in " + s.Looked + " are alike, and nothing tells them apart.")
	case len(s.alike) > 0 && s.Marked:
		return Unsure("A post of that time in " + s.Looked + " reads the same, and does not carry what this one would.")
	case len(s.alike) == 1:
		return FoundIt(s.alike[0], "A post of that time with the same words stands in "+s.Looked+".")
	case !complete:
		return Unsure("There are more posts of that time in " + s.Looked + " than could be read.")
	}
	return NotThere("No such post stands in " + s.Looked + ".")
}
