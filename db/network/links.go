package network

import (
	"strings"
	"unicode/utf8"
)

// Link is an address in a text, by byte offsets.
type Link struct {
	Start, End int
	Bare       bool // it has no scheme: "example.com"
}

// Links finds what readers see as web addresses, with a scheme and without, as X
// finds them: a host counts only with a top-level domain that everyone knows, a
// bare one only if it is written in Latin letters, and closing punctuation is no
// part of it.
func Links(text string) []Link {
	var found []Link
	f := finder{text: text}
	for at := 0; ; {
		i := strings.IndexAny(text[at:], ":.")
		if i < 0 {
			return found
		}
		l, ok := f.link(at + i)
		if !ok {
			at += i + 1
			continue
		}
		found = append(found, l)
		at, f.floor = l.End, l.End
	}
}

// link reads the address whose scheme, or whose first label, ends at i.
func (f *finder) link(i int) (Link, bool) {
	if f.text[i] == '.' {
		return f.bare(i)
	}
	if !strings.HasPrefix(f.text[i:], "://") {
		return Link{}, false
	}
	start := i
	for start > f.floor && i-start < 8 && alphanumeric(f.text[start-1]) {
		start--
	}
	scheme := f.text[start:i]
	if !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") || !f.mayPrecede(start) {
		return Link{}, false
	}
	host := i + len("://")
	end := knownHost(f.text, host, hostRune)
	if end == host {
		return Link{}, false
	}
	end = readRest(f.text, readPort(f.text, end))
	return Link{Start: start, End: end}, end-start <= longestLink
}

// longestLink is the length beyond which nobody takes an address for one.
const longestLink = 4096

// bare reads the address without a scheme whose first dot is at i.
func (f *finder) bare(i int) (Link, bool) {
	start := i
	for start > f.floor {
		r, size := utf8.DecodeLastRuneInString(f.text[f.floor:start])
		if !bareRune(r) {
			break
		}
		start -= size
	}
	if start == i || !f.mayPrecedeBare(start) {
		return Link{}, false
	}
	end := knownHost(f.text, start, bareRune)
	if end <= i {
		return Link{}, false
	}
	end = readRest(f.text, readPort(f.text, end))
	return Link{Start: start, End: end, Bare: true}, end-start <= longestLink
}

// bareRune says whether a host without a scheme may hold r: ASCII, or a Latin
// letter with an accent.
func bareRune(r rune) bool {
	return r == '-' || r < utf8.RuneSelf && alphanumeric(byte(r)) || 0xC0 <= r && r <= 0x24F && r != 0xD7 && r != 0xF7
}

func (f *finder) mayPrecedeBare(start int) bool {
	r, size := utf8.DecodeLastRuneInString(f.text[:start])
	return size == 0 || f.mayPrecede(start) && !strings.ContainsRune("-_./", r) && (r < 0x202A || r > 0x202E)
}

// knownHost reads a host at from, of labels of runes that are in, and returns
// where its last top-level domain ends; from if it has none.
func knownHost(text string, from int, in func(rune) bool) int {
	end, at := from, from
	for labels := 0; ; labels++ {
		size := strings.IndexFunc(text[at:], func(r rune) bool { return !in(r) })
		if size < 0 {
			size = len(text) - at
		}
		label := text[at : at+size]
		if size == 0 || label[0] == '-' && labels == 0 {
			return end
		}
		if top := linkTop(label, text[at:]); labels > 0 && top > 0 {
			end = at + top
		}
		at += size
		if at >= len(text) || text[at] != '.' {
			return end
		}
		at++
	}
}

// linkTop is topLevel for readers who end a host at an underscore.
func linkTop(label, rest string) int {
	if head, _, cut := strings.Cut(label, "_"); cut {
		return topLevel(head, head)
	}
	if after := rest[len(label):]; strings.HasPrefix(after, "_") {
		rest = label
	}
	return topLevel(label, rest)
}
