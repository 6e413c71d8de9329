package desk

import (
	"fmt"
	"slices"
	"strings"

	"herald/db/model"
	"herald/db/network"
	"herald/handlers/web"
)

// moveFile moves an attachment among the others, or takes it out.
func (e *editing) moveFile() error {
	thing, at, _ := strings.Cut(e.form.arg, ".")
	list, err := ids[model.MediaID]([]string{thing})
	if err != nil {
		return err
	}
	if e.form.do == "remove" {
		e.form.drop(list[0])
		return nil
	}
	media := e.form.content.Media
	i := slices.IndexFunc(media, func(m model.ContentMedia) bool { return m.ID == list[0] })
	to, err := placeOf(e.form.do, at, i)
	if err != nil || i < 0 {
		return err
	}
	e.form.content.Media = moved(media, i, to)
	e.moved = numberWords(e.assets[list[0]].Name, to, len(media))
	return nil
}

// moveOwnFile moves a file among those of one network, which has an order of its own
// from then on.
func (e *editing) moveOwnFile() error {
	name, rest, _ := strings.Cut(e.form.arg, ".")
	thing, at, _ := strings.Cut(rest, ".")
	v, own := e.form.variants[network.Name(name)]
	list, err := ids[model.MediaID]([]string{thing})
	if err != nil || !own {
		return err
	}
	files := v.inOrder(e.form.content.Media)
	i := slices.IndexFunc(files, func(m model.ContentMedia) bool { return m.ID == list[0] })
	to, err := placeOf(strings.TrimPrefix(e.form.do, "own-"), at, i)
	if err != nil || i < 0 {
		return err
	}
	e.form.variants[network.Name(name)] = v.ordered(moved(files, i, to))
	e.moved = numberWords(e.assets[list[0]].Name, to, len(files))
	return nil
}

// placeOf is where a thing that stands at i goes: one up, one down, or to the place
// that it was dragged to.
func placeOf(way, at string, i int) (int, error) {
	switch way {
	case "up":
		return i - 1, nil
	case "down":
		return i + 1, nil
	}
	to, err := web.Count(at)
	if err != nil {
		return 0, errForm
	}
	return to, nil
}

// moved puts what stands at i at to. What would leave the list goes to its end.
func moved[T any](list []T, i, to int) []T {
	thing := list[i]
	rest := slices.Delete(slices.Clone(list), i, i+1)
	return slices.Insert(rest, min(max(to, 0), len(rest)), thing)
}

func numberWords(name string, to, n int) string {
	return fmt.Sprintf("%s is number %d of %d now.", name, min(max(to, 0), n-1)+1, n)
}

// inOrder are the files that a network can choose among: in the post's order, or in
// its own, with those that came since behind them.
func (v variantForm) inOrder(shared []model.ContentMedia) []model.ContentMedia {
	files := slices.Concat(shared, v.extra)
	if !slices.Contains(v.own, partOrder) {
		return files
	}
	place := func(m model.ContentMedia) int {
		if i := slices.Index(v.offered, m.ID); i >= 0 {
			return i
		}
		return len(v.offered)
	}
	slices.SortStableFunc(files, func(a, b model.ContentMedia) int { return place(a) - place(b) })
	return files
}

// takes says whether the network gets a file: one that it chose, or that it had no
// choice about yet.
func (v variantForm) takes(id model.MediaID) bool {
	return !slices.Contains(v.offered, id) || slices.Contains(v.taken, id)
}

// ordered gives the network an order of its own. What it gets stays the same.
func (v variantForm) ordered(files []model.ContentMedia) variantForm {
	offered, taken := []model.MediaID{}, []model.MediaID{}
	for _, m := range files {
		offered = append(offered, m.ID)
		if v.takes(m.ID) {
			taken = append(taken, m.ID)
		}
	}
	v.offered, v.taken = offered, taken
	if !slices.Contains(v.own, partOrder) {
		v.own = append(slices.Clone(v.own), partOrder)
	}
	return v
}

// readFiles reads which files a stored variant gets, and whether their order is its
// own.
func (v *variantForm) readFiles(shared, own []model.ContentMedia) {
	post := composition{content: model.Content{Media: shared}}
	for _, m := range own {
		v.taken = append(v.taken, m.ID)
		if !post.has(m.ID) {
			v.extra = append(v.extra, m)
		}
	}
	for _, m := range slices.Concat(shared, v.extra) {
		v.offered = append(v.offered, m.ID)
	}
	v.own = append(v.own, partMedia)
	follows := slices.DeleteFunc(slices.Clone(v.offered), func(id model.MediaID) bool { return !slices.Contains(v.taken, id) })
	if !slices.Equal(follows, v.taken) {
		v.own = append(v.own, partOrder)
		v.offered = append(slices.Clone(v.taken), slices.DeleteFunc(v.offered, func(id model.MediaID) bool { return slices.Contains(v.taken, id) })...)
	}
}
