package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
)

// clashWords say what a post collides with, each thing once.
func clashWords(list []db.Collision) string {
	var words []string
	for _, c := range list {
		words = append(words, clashSays(c))
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), ". ")
}

func clashSays(c db.Collision) string {
	if c.Same {
		return fmt.Sprintf("Same words on %s %s", c.Handle, apartWords(c.Other.Sub(c.DueAt)))
	}
	if c.Other.Equal(c.DueAt) {
		return "Another post on " + c.Handle + " at the same time"
	}
	return fmt.Sprintf("Another post on %s %s", c.Handle, apartWords(c.Other.Sub(c.DueAt)))
}

// apartWords is how far one time is from another: "10 minutes later".
func apartWords(d time.Duration) string {
	side := "later"
	if d < 0 {
		d, side = -d, "earlier"
	}
	n, unit := int(d.Round(time.Minute)/time.Minute), "minute"
	switch {
	case d >= 48*time.Hour:
		n, unit = int(d/(24*time.Hour)), "day"
	case d >= 2*time.Hour:
		n, unit = int(d/time.Hour), "hour"
	case n == 0:
		return "at the same time"
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s %s", n, unit, side)
}

// warnOfCollisions adds what the form's time and words collide with to what the
// networks say. Nothing is refused for it.
func (e *editing) warnOfCollisions(ctx context.Context) error {
	when, err := e.form.when.resolve()
	if err != nil || when.At.IsZero() || len(e.checked.Targets) == 0 {
		return nil // the time has its own problem, or there is none
	}
	words := map[model.AccountID]string{}
	for _, t := range e.checked.Targets {
		words[t.AccountID] = t.Draft.Text
	}
	found, err := e.scope.Collisions(ctx, e.form.id, when.At, words)
	if err != nil {
		return err
	}
	for i, t := range e.checked.Targets {
		for _, c := range found {
			if c.Account == t.AccountID {
				e.checked.Targets[i].Problems = append(t.Problems, network.Problem{Field: "when", Code: "collides", Warn: true, Say: clashSays(c) + "."})
				t = e.checked.Targets[i]
			}
		}
	}
	return nil
}
