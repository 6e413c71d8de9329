package network

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Look is how readers of a network see a post. It bounds nothing that may be sent:
// previews keep to it.
type Look struct {
	Fold  Fold
	Ink   Ink
	Grid  int  // files that are shown at once, those beyond them as "+3"; zero: one at a time, to be leafed through
	Reads bool // the network, or its apps, read the page of a link for its card; else the card is what Herald sends
}

// Fold is where a feed stops showing a text until the reader asks for more. No
// network promises its number, and it differs between screens.
type Fold struct {
	At     int    // graphemes; zero: any number is shown
	Lines  int    // zero: any number is shown
	More   string // the network's words for it
	Source string // where the numbers are from, and how sure they are
}

// Ink says which words a reader sees as links.
type Ink struct{ Links, Tags, Mentions bool }

// Cut parts a text where it is folded, between two words where there are any. What
// is shown is the whole text if nothing is folded.
func (f Fold) Cut(text string) (shown string, folded bool) {
	end := f.end(text)
	if end == len(text) || Blank(text[end:]) {
		return text, false
	}
	shown = text[:end]
	if next, _ := utf8.DecodeRuneInString(text[end:]); !unicode.IsSpace(next) {
		if i := strings.LastIndexFunc(shown, unicode.IsSpace); i > len(shown)/2 {
			shown = shown[:i]
		}
	}
	return strings.TrimRightFunc(shown, unicode.IsSpace), true
}

// end is where the fold lies, wherever words part.
func (f Fold) end(text string) int {
	count, lines := 0, 1
	for at := range clusters(text) {
		if text[at] == '\n' || text[at] == '\r' {
			lines++
		}
		if f.Lines > 0 && lines > f.Lines || f.At > 0 && count == f.At {
			return at
		}
		count++
	}
	return len(text)
}

// InkKind is what a stretch of text is to its readers.
type InkKind string

// The kinds of ink.
const (
	Plain   InkKind = ""
	Address InkKind = "link"
	Tag     InkKind = "tag"
	Mention InkKind = "mention"
)

// Stretch is a part of a text that looks alike.
type Stretch struct {
	Kind InkKind
	Text string
}

// Stretches parts a text into what is a link to readers and what is not. Together
// they are the text.
func (k Ink) Stretches(text string) (list []Stretch) {
	at := 0
	for _, m := range k.marks(text) {
		if m.start > at {
			list = append(list, Stretch{Plain, text[at:m.start]})
		}
		list = append(list, Stretch{m.kind, text[m.start:m.end]})
		at = m.end
	}
	if at < len(text) {
		list = append(list, Stretch{Plain, text[at:]})
	}
	return list
}

type inked struct {
	start, end int
	kind       InkKind
}

// marks are the inked stretches, from left to right; a # or an @ within an address
// is part of it.
func (k Ink) marks(text string) (list []inked) {
	links := Links(text)
	for at := 0; at < len(text); {
		if len(links) > 0 && at == links[0].Start {
			if k.Links {
				list = append(list, inked{at, links[0].End, Address})
			}
			at, links = links[0].End, links[1:]
			continue
		}
		if kind, end := k.word(text, at); kind != Plain {
			list = append(list, inked{at, end, kind})
			at = end
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return list
}

// word reads the tag or the mention that begins at a place.
func (k Ink) word(text string, at int) (InkKind, int) {
	r, size := utf8.DecodeRuneInString(text[at:])
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	if at > 0 && (word(before) || before == '&' || before == '/') {
		return Plain, at
	}
	switch {
	case k.Tags && (r == '#' || r == '＃'):
		end := run(text, at+size, func(r rune) bool { return word(r) || unicode.IsMark(r) })
		if strings.IndexFunc(text[at+size:end], unicode.IsLetter) >= 0 {
			return Tag, end
		}
	case k.Mentions && r == '@':
		end := run(text, at+size, func(r rune) bool { return r < utf8.RuneSelf && (word(r) || r == '.' || r == '-' || r == '@') })
		end = at + len(strings.TrimRight(text[at:end], ".-@"))
		if end > at+1 {
			return Mention, end
		}
	}
	return Plain, at
}

func run(text string, from int, in func(rune) bool) int {
	size := strings.IndexFunc(text[from:], func(r rune) bool { return !in(r) })
	if size < 0 {
		return len(text)
	}
	return from + size
}
