package desk

import (
	"fmt"
	"slices"

	"herald/db/network"
	"herald/views/composer"
)

// undoForm is what a form says of the words for a network before they were split or put
// together.
type undoForm struct{ text, was string }

// How the words for a network stood.
const (
	wasShared = "shared" // it had none of its own
	wasOne    = "post"
	wasThread = "thread"
)

// standing is how the words for a network stand in the form, to come back to them.
func (e *editing) standing(name network.Name, v variantForm, own bool) *composer.Undo {
	u := &composer.Undo{Network: name, Text: v.text, Was: wasShared}
	if own {
		u.Was = wasOne
		if e.writesThread(name) {
			u.Was = wasThread
		}
	}
	return u
}

// sayParted says what came of a split, which can be taken back if it did anything.
func (e *editing) sayParted(before *composer.Undo, pieces []string) {
	if network.Together(pieces) == network.Written(network.Pieces(before.Text)) {
		before.Say, before.Was = "Each post fits: nothing was split.", ""
	} else {
		before.Say = fmt.Sprintf("What was too long is split: there are %d posts now.", len(pieces))
	}
	e.undo, e.moved = before, before.Say
}

// undoThread puts the words for a network back as they stood before they were split or
// put together. What was written since is not lost by it: it can be taken back, too.
func (e *editing) undoThread(name network.Name, v variantForm, now *composer.Undo) error {
	back := e.form.undo
	switch back.was {
	case wasShared:
		delete(e.form.variants, name)
	case wasOne, wasThread:
		v.text, v.pieces = back.text, back.was == wasThread
		if !slices.Contains(v.own, partText) {
			v.own = append(slices.Clone(v.own), partText)
		}
		e.form.variants[name] = v
	default:
		return errForm
	}
	e.chooseThread(name, back.was == wasThread)
	now.Say = "The words are as they were before."
	e.undo, e.moved = now, now.Say
	return nil
}
