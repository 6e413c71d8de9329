package model

import (
	"strings"
	"unicode"
)

// Change is what became of a piece of text.
type Change string

// The changes.
const (
	Same    Change = "same"
	Added   Change = "added"
	Removed Change = "removed"
)

// Piece is a run of text that was kept, added or removed.
type Piece struct {
	Change Change
	Text   string
}

// diffWork bounds what a comparison may cost: past it the middle of the two
// texts counts as replaced as a whole.
const diffWork = 1 << 21

// Difference compares two texts word by word. The pieces that are not Added
// make the old text, those that are not Removed make the new one.
func Difference(before, after string) []Piece {
	a, b := words(before), words(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var d pieces
	d.add(Same, a[:head]...)
	d.middle(a[head:len(a)-tail], b[head:len(b)-tail])
	d.add(Same, a[len(a)-tail:]...)
	return d
}

type pieces []Piece

func (d *pieces) add(c Change, text ...string) {
	for _, t := range text {
		if last := len(*d) - 1; last >= 0 && (*d)[last].Change == c {
			(*d)[last].Text += t
			continue
		}
		*d = append(*d, Piece{c, t})
	}
}

// middle walks the longest common run of words.
func (d *pieces) middle(a, b []string) {
	if len(a)*len(b) > diffWork {
		d.add(Removed, strings.Join(a, ""))
		d.add(Added, strings.Join(b, ""))
		return
	}
	longest := common(a, b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			d.add(Same, a[i])
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			d.add(Removed, a[i])
			i++
		default:
			d.add(Added, b[j])
			j++
		}
	}
	d.add(Removed, a[i:]...)
	d.add(Added, b[j:]...)
}

// common is the table of how long the common run of a[i:] and b[j:] is.
func common(a, b []string) [][]int32 {
	table := make([][]int32, len(a)+1)
	cells := make([]int32, (len(a)+1)*(len(b)+1))
	for i := range table {
		table[i] = cells[i*(len(b)+1) : (i+1)*(len(b)+1)]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// words cuts a text into words, blanks and single signs; joined they are the
// text again.
func words(text string) []string {
	var out []string
	start, last := 0, sign
	for i, r := range text {
		is := kindOf(r)
		if i > start && (is != last || is == sign) {
			out = append(out, text[start:i])
			start = i
		}
		last = is
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

type runeKind int

const (
	sign runeKind = iota
	letter
	blank
)

func kindOf(r rune) runeKind {
	switch {
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return letter
	case unicode.IsSpace(r) && r != '\n':
		return blank
	}
	return sign
}
