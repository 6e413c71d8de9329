package desk

import (
	"fmt"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
	"herald/views/composer"
)

// readPieces puts the posts of a thread together as the text that they are kept as.
func (v *variantForm) readPieces(list []string) {
	if len(list) == 0 {
		return
	}
	pieces := []string{}
	for _, one := range list {
		pieces = append(pieces, typed(one))
	}
	v.text, v.pieces = network.Together(pieces), true
}

// sent is the text as it is kept: without the posts of a thread that say nothing.
func (v variantForm) sent() string {
	if v.pieces {
		return network.Written(network.Pieces(v.text))
	}
	return v.text
}

// pieceOf is the box in which a post of the thread stands: boxes that say nothing are
// no posts.
func (v variantForm) pieceOf(part int) int {
	for i, one := range network.Pieces(v.text) {
		if !network.Blank(one) {
			part--
		}
		if part <= 0 {
			return i
		}
	}
	return 0
}

func pieceID(name network.Name, i int) string { return fmt.Sprintf("piece-%s-%d", name, i) }

// threadTargets are the chosen accounts of a network that it takes threads from.
func (e *editing) threadTargets(name network.Name) (list []db.CheckedTarget) {
	for _, t := range e.checked.Targets {
		if t.Network != nil && t.Network.Name == name && t.Network.Thread > 0 {
			list = append(list, t)
		}
	}
	return list
}

// writesThread says whether an account gets the network's text as a thread.
func (e *editing) writesThread(name network.Name) bool {
	return slices.ContainsFunc(e.threadTargets(name), func(t db.CheckedTarget) bool {
		return t.Network.Value(t.Draft, network.OptThread) == "true"
	})
}

// tightest is the account with the least room for a post, with the text as it stands
// in the form; false if no account takes a thread.
func (e *editing) tightest(name network.Name, v variantForm) (tight db.CheckedTarget, ok bool) {
	for _, t := range e.threadTargets(name) {
		if !ok || t.Network.LimitOf(t.Draft) < tight.Network.LimitOf(tight.Draft) {
			tight, ok = t, true
		}
	}
	tight.Draft.Text, tight.Draft.Link = v.text, v.link
	return tight, ok
}

// lengths measure the posts of a thread as they go out, with their links tagged.
func lengths(t db.CheckedTarget) []int {
	d := t.Draft
	d.Text, d.Link = network.Retag(d.Text, t.Links), network.Retag(d.Link, t.Links)
	return t.Network.Lengths(d)
}

// thread is the network's text as the posts that it becomes; nil where it takes none.
func (e *editing) thread(name network.Name, v variantForm, own bool) *composer.Thread {
	if !own {
		v = variantForm{text: e.form.content.Text, link: e.form.content.Link}
	}
	tight, ok := e.tightest(name, v)
	if !ok {
		return nil
	}
	t := &composer.Thread{Network: name, On: e.writesThread(name), Own: own, Max: tight.Network.Thread, Limit: tight.Network.LimitOf(tight.Draft), Focus: e.focus}
	counted := lengths(tight)
	for i, text := range network.Pieces(v.text) {
		t.Pieces = append(t.Pieces, composer.Piece{Text: text, Length: counted[i]})
	}
	if e.undo != nil && e.undo.Network == name {
		t.Undo = e.undo
	}
	return t
}

// changeThread carries out what is done to a network's thread or one of its posts.
func (e *editing) changeThread() error {
	arg, rest, _ := strings.Cut(e.form.arg, ".")
	name := network.Name(arg)
	v, own := e.form.variants[name]
	if !own {
		v = variantForm{text: e.form.content.Text, link: e.form.content.Link, comment: e.form.content.FirstComment}
	}
	tight, ok := e.tightest(name, v)
	if !ok {
		return model.Refuse(model.Unprocessable, "None of the chosen accounts takes a thread any more. Choose the accounts again.")
	}
	before, pieces := e.standing(name, v, own), network.Pieces(v.text)
	switch e.form.do {
	case "undo-thread":
		return e.undoThread(name, v, before)
	case "thread":
		pieces = begun(pieces)
		e.focus = pieceID(name, len(pieces)-1)
	case "unthread":
		pieces = []string{strings.ReplaceAll(network.Written(pieces), "\n---\n", "\n\n")}
		before.Say = "The posts are one now."
		e.undo, e.moved = before, before.Say
	case "split":
		pieces = tight.Network.SplitTagged(tight.Draft, tight.Links)
		e.sayParted(before, pieces)
	case "piece-add":
		pieces = append(pieces, "")
		e.focus = pieceID(name, len(pieces)-1)
	default:
		var err error
		if pieces, err = e.changePiece(name, pieces, rest); err != nil {
			return err
		}
	}
	e.writePieces(name, v, pieces)
	return nil
}

// begun is a thread to go on with: its last box is empty.
func begun(pieces []string) []string {
	if network.Blank(pieces[len(pieces)-1]) {
		return pieces
	}
	return append(pieces, "")
}

// writePieces makes the posts the network's own words, and its accounts take them as
// a thread, or as one post again.
func (e *editing) writePieces(name network.Name, v variantForm, pieces []string) {
	v.text, v.pieces = network.Together(pieces), true
	if !slices.Contains(v.own, partText) {
		v.own = append(slices.Clone(v.own), partText)
	}
	e.form.variants[name] = v
	e.chooseThread(name, e.form.do != "unthread")
}

// chooseThread has the accounts of a network take its text as a thread, or not.
func (e *editing) chooseThread(name network.Name, on bool) {
	for _, t := range e.threadTargets(name) {
		if e.form.content.Options[t.AccountID] == nil {
			e.form.content.Options[t.AccountID] = map[string]string{}
		}
		e.form.content.Options[t.AccountID][network.OptThread] = fmt.Sprint(on)
	}
}

// changePiece moves one post of a thread, takes it out, or goes on behind it where it
// was cut. What was dragged stands in its place already.
func (e *editing) changePiece(name network.Name, pieces []string, arg string) ([]string, error) {
	which, at, _ := strings.Cut(arg, ".")
	i, err := web.Count(which)
	if err != nil || i < 0 || i >= len(pieces) {
		return nil, errForm
	}
	way := strings.TrimPrefix(e.form.do, "piece-")
	switch way {
	case "cut":
		e.focus = pieceID(name, min(i+1, len(pieces)-1))
		return pieces, nil
	case "remove":
		pieces = slices.Delete(pieces, i, i+1)
		if len(pieces) == 0 {
			pieces = []string{""}
		}
		e.focus, e.moved = pieceID(name, min(i, len(pieces)-1)), fmt.Sprintf("Post %d was taken out.", i+1)
		return pieces, nil
	}
	to, err := placeOf(way, at, i)
	if err != nil {
		return nil, err
	}
	e.moved = numberWords(fmt.Sprintf("Post %d", i+1), to, len(pieces))
	if way == "place" {
		return pieces, nil
	}
	e.focus = moveFocus(name, way, to, len(pieces))
	return moved(pieces, i, to), nil
}

// moveFocus is the button that moves the post on, or back once it can go no further.
func moveFocus(name network.Name, way string, to, n int) string {
	if to = min(max(to, 0), n-1); to == 0 {
		way = "down"
	} else if to == n-1 {
		way = "up"
	}
	return fmt.Sprintf("do-piece-%s-%s-%d", way, name, to)
}
