package desk

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"herald/db"
	"herald/db/model"
	"herald/db/network"
	"herald/views/approvals"
	"herald/views/composer"
)

// comparison holds one version of a post against another. The time is part of
// neither, so it is not compared.
type comparison struct {
	was, now db.Version
	names    map[model.MediaID]string // of the files that the reader may see
}

// parts are the differences: what is the same for all, who gets the post, what single
// networks get of their own, and what is chosen for single accounts.
func (c comparison) parts() []composer.DifferentPart {
	list := []composer.DifferentPart{{Title: "For all networks", Lines: c.shared()}, {Title: "Accounts", Lines: c.accounts()}}
	for _, n := range network.All() {
		list = append(list, composer.DifferentPart{Network: string(n.Name), Label: n.Label, Title: n.Label + " of its own", Lines: c.own(n)})
	}
	for _, a := range c.both() {
		list = append(list, composer.DifferentPart{Network: string(a.Network), Label: network.Label(a.Network), Title: a.Handle, Lines: c.account(a)})
	}
	return slices.DeleteFunc(list, func(p composer.DifferentPart) bool { return len(p.Lines) == 0 })
}

func (c comparison) shared() []approvals.Line {
	was, now := c.was.Content, c.now.Content
	list := wordLines("Text", was.Text, now.Text)
	list = append(list, wordLines("Link", was.Link, now.Link)...)
	list = append(list, wordLines("First comment", was.FirstComment, now.FirstComment)...)
	list = append(list, wordLines("Link tags", tagsWord(was), tagsWord(now))...)
	return append(list, c.files(was.Media, now.Media)...)
}

func wordLines(part, was, now string) []approvals.Line {
	if was == now {
		return nil
	}
	return []approvals.Line{{Part: part, Pieces: model.Difference(was, now)}}
}

// accounts names who gets the post only in one of the two.
func (c comparison) accounts() []approvals.Line {
	return listLines("Who gets it", accountWords(c.was.Accounts), accountWords(c.now.Accounts))
}

func accountWords(list []db.VersionAccount) (words []string) {
	for _, a := range list {
		words = append(words, a.Client+": "+a.Handle+" ("+network.Label(a.Network)+")")
	}
	return words
}

// listLines says what left a list and what came into it, one a line.
func listLines(part string, was, now []string) []approvals.Line {
	var pieces []model.Piece
	add := func(change model.Change, list, other []string) {
		for _, s := range list {
			if slices.Contains(other, s) {
				continue
			}
			if len(pieces) > 0 {
				pieces = append(pieces, model.Piece{Change: model.Same, Text: "\n"})
			}
			pieces = append(pieces, model.Piece{Change: change, Text: s})
		}
	}
	add(model.Removed, was, now)
	add(model.Added, now, was)
	if pieces == nil {
		return nil
	}
	return []approvals.Line{{Part: part, Pieces: pieces}}
}

// own are the parts that a network has of its own in one of the two versions.
func (c comparison) own(n *network.Network) (list []approvals.Line) {
	name := string(n.Name)
	v, w := c.was.Content.Variants[name], c.now.Content.Variants[name]
	was, now := c.was.Content.Written(name, 0), c.now.Content.Written(name, 0)
	list = ownWords("Text", v.Text, w.Text, was.Text, now.Text)
	list = append(list, ownWords("Link", v.Link, w.Link, was.Link, now.Link)...)
	list = append(list, ownWords("First comment", v.FirstComment, w.FirstComment, was.FirstComment, now.FirstComment)...)
	if v.Media == nil && w.Media == nil {
		return list
	}
	if files := c.files(was.Media, now.Media); len(files) > 0 || (v.Media == nil) != (w.Media == nil) {
		list = append(list, approvals.Line{Part: "Files" + ownWord(v.Media != nil, w.Media != nil)})
		list = append(list, files...)
	}
	return list
}

// ownWords is one part of a network. It differs also where the same words became its
// own: they no longer follow what is written for all.
func ownWords(part string, v, w *string, was, now string) []approvals.Line {
	if v == nil && w == nil || was == now && (v == nil) == (w == nil) {
		return nil
	}
	return []approvals.Line{{Part: part + ownWord(v != nil, w != nil), Pieces: model.Difference(was, now)}}
}

func ownWord(was, now bool) string {
	switch {
	case now && !was:
		return ", of its own now"
	case was && !now:
		return ", as for all now"
	}
	return ""
}

// both are the accounts of both versions.
func (c comparison) both() []db.VersionAccount {
	return slices.DeleteFunc(slices.Clone(c.now.Accounts), func(a db.VersionAccount) bool { return !slices.Contains(c.was.Content.Accounts, a.ID) })
}

// account is what was chosen for one account, and what its links became where its
// words are the same.
func (c comparison) account(a db.VersionAccount) []approvals.Line {
	list := optionLines(a, c.was.Content.Options[a.ID], c.now.Content.Options[a.ID])
	name := string(a.Network)
	was, now := c.was.Content.Written(name, a.ID), c.now.Content.Written(name, a.ID)
	if was.Text != now.Text || was.Link != now.Link || was.FirstComment != now.FirstComment {
		return list
	}
	was, now = c.was.Content.For(name, a.ID), c.now.Content.For(name, a.ID)
	list = append(list, wordLines("Text with its link tags", was.Text, now.Text)...)
	list = append(list, wordLines("Link with its tags", was.Link, now.Link)...)
	return append(list, wordLines("First comment with its link tags", was.FirstComment, now.FirstComment)...)
}

func optionLines(a db.VersionAccount, was, now map[string]string) (list []approvals.Line) {
	keys := slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(now)))))
	n, known := network.Get(a.Network)
	for _, key := range keys {
		o := network.Option{Key: key, Label: key}
		if known {
			if i := slices.IndexFunc(n.Options, func(o network.Option) bool { return o.Key == key }); i >= 0 {
				o = n.Options[i]
			}
		}
		list = append(list, exchange(o.Label, chosenWord(o, was[key]), chosenWord(o, now[key]))...)
	}
	return list
}

func chosenWord(o network.Option, value string) string {
	if value == "" {
		return "(not chosen)"
	}
	return cmp.Or(optionWord(o, value), value)
}

// files says which came and went, whether they stand in another order, and what is
// said of each and shown of it.
func (c comparison) files(was, now []model.ContentMedia) []approvals.Line {
	list := listLines("Files", c.fileWords(was), c.fileWords(now))
	before, after := kept(was, now), kept(now, was)
	list = append(list, exchange("Order of the files", strings.Join(c.fileWords(before), ", "), strings.Join(c.fileWords(after), ", "))...)
	for _, m := range after {
		old := before[slices.IndexFunc(before, func(o model.ContentMedia) bool { return o.ID == m.ID })]
		list = append(list, wordLines("Alt text of "+c.file(m), old.Alt, m.Alt)...)
		list = append(list, exchange("What is shown of "+c.file(m), framing(old), framing(m))...)
	}
	return list
}

// exchange sets the old over the new: of numbers and names no word stands for itself.
func exchange(part, was, now string) []approvals.Line {
	if was == now {
		return nil
	}
	return []approvals.Line{{Part: part, Pieces: []model.Piece{{Change: model.Removed, Text: was}, {Change: model.Same, Text: "\n"}, {Change: model.Added, Text: now}}}}
}

func (c comparison) fileWords(list []model.ContentMedia) (words []string) {
	for _, m := range list {
		words = append(words, c.file(m))
	}
	return words
}

// file is its name; two files of one name are two.
func (c comparison) file(m model.ContentMedia) string {
	name := cmp.Or(c.names[m.ID], "a file that is not there any more")
	for id, other := range c.names {
		if id != m.ID && other == name {
			return fmt.Sprintf("%s (%d)", name, m.ID)
		}
	}
	return name
}

// kept are the files of a list that are in the other, too.
func kept(list, other []model.ContentMedia) []model.ContentMedia {
	return slices.DeleteFunc(slices.Clone(list), func(m model.ContentMedia) bool {
		return !slices.ContainsFunc(other, func(o model.ContentMedia) bool { return o.ID == m.ID })
	})
}

// framing is a file's crops and the point that stays in view elsewhere, in words.
func framing(m model.ContentMedia) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(m.Crops)) {
		crop, label := m.Crops[key], key
		for _, kind := range []network.MediaKind{network.Image, network.Video} {
			if p, ok := network.PresetFor(key, kind); ok {
				label = p.Label
			}
		}
		lines = append(lines, fmt.Sprintf("%s: %d × %d, from %d, %d", label, crop.Width, crop.Height, crop.X, crop.Y))
	}
	if _, focal := m.Framed(""); focal != model.Centre {
		lines = append(lines, fmt.Sprintf("Point to keep in view: %d %% from the left, %d %% from the top", focal.X/10, focal.Y/10))
	}
	if lines == nil {
		return "Nothing chosen"
	}
	return strings.Join(lines, "\n")
}
